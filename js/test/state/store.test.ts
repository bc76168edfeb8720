import { describe, expect, test, vi } from "vitest";
import { actionFor } from "../../src/app/keyboard";
import { Signal } from "../../src/state/signal";
import { Store } from "../../src/state/store";
import { readHash } from "../../src/state/url";
import { store } from "../support/fixtures";

describe("a cell", () => {
  test("tells of changes, and not of the same again", () => {
    const cell = new Signal<number[]>([1]);
    const told = vi.fn();
    cell.watch(told, new AbortController().signal);
    cell.set([1]);
    expect(told).not.toHaveBeenCalled();
    cell.set([2]);
    expect(told).toHaveBeenCalledOnce();
    expect(cell.value).toEqual([2]);
  });

  test("forgets those whose scope has ended", () => {
    const cell = new Signal(0);
    const told = vi.fn();
    const scope = new AbortController();
    cell.watch(told, scope.signal);
    scope.abort();
    cell.watch(told, scope.signal);
    cell.set(1);
    expect(told).not.toHaveBeenCalled();
    expect(cell.watcherCount).toBe(0);
  });
});

describe("a state", () => {
  test("of the alignment draws the cross stream along, and leaves with it", () => {
    const chosen = store();
    chosen.choose({ view: "alignment" });
    expect(chosen.state.value).toMatchObject({ view: "alignment", stream: "cross", layer: 1 });
    chosen.choose({ ...chosen.state.value, stream: "encoder" });
    expect(chosen.state.value).toMatchObject({ view: "flow", stream: "encoder" });
  });

  test("of the alignment is not for one text", () => {
    const { header, state } = store();
    const [encoder] = header.flows[0].streams;
    const alone = { ...header, flows: [{ ...header.flows[0], streams: [encoder] }] };
    const chosen = new Store(alone, state.value);
    chosen.choose({ view: "alignment" });
    expect(chosen.state.value.view).toBe("flow");
    expect(readHash("#view=alignment", alone, state.value).problems).toEqual(["view=alignment"]);
  });

  test("of another stream lets go of what it does not have", () => {
    const chosen = store({ measure: "attention", layer: 2, heads: [3], token: 2 });
    chosen.choose({ stream: "cross" });
    expect(chosen.state.value).toMatchObject({
      measure: "weight",
      layer: 1,
      heads: null,
      token: null,
    });
    chosen.choose({ stream: "encoder", measure: "nothing" });
    expect(chosen.state.value.measure).toBe("weight");
  });

  test("of a measure alone ends a comparison with another, and no other comparison", () => {
    const pair = { measure: "weight", compare: "weighted-norm", difference: true };
    const chosen = store(pair);
    chosen.chooseMeasure("attention");
    expect(chosen.state.value).toMatchObject({
      measure: "attention",
      compare: null,
      difference: false,
    });
    const layers = store({ compare: 2 });
    layers.chooseMeasure("weight");
    expect(layers.state.value).toMatchObject({ measure: "weight", compare: 2 });
    const [flow] = layers.header.flows;
    const flows = new Store({ ...layers.header, flows: [flow, flow] }, layers.state.value);
    flows.choose({ compare: "other" });
    flows.chooseMeasure("attention");
    expect(flows.state.value).toMatchObject({ measure: "attention", compare: "other" });
  });

  test("of all heads is the state of none in particular", () => {
    const chosen = store();
    chosen.choose({ heads: [1, 3] });
    expect(chosen.state.value.heads).toBeNull();
  });

  test("of a head leaves it alone, then adds, then takes away, and ends with all", () => {
    const chosen = store();
    chosen.toggleHead(3);
    expect(chosen.state.value.heads).toEqual([3]);
    chosen.toggleHead(3);
    expect(chosen.state.value.heads).toBeNull();
  });

  test("of a layer steps among those held and stops at the ends", () => {
    const chosen = store();
    chosen.stepLayer(-1);
    expect(chosen.state.value.layer).toBe(0);
    chosen.stepLayer(1);
    expect(chosen.state.value.layer).toBe(2);
    chosen.stepLayer(1);
    expect(chosen.state.value.layer).toBe(2);
  });

  test("of what is not there is an error with a name", () => {
    expect(() => store({ stream: "decoder" }).stream).toThrow("has no stream decoder");
    expect(() => store({ measure: "magic" }).measure).toThrow("has no measure magic");
  });
});

describe("the focus", () => {
  test("is what the pointer is at, before what is pinned", () => {
    const chosen = store();
    expect(chosen.focus).toBeNull();
    chosen.pin({ role: "key", token: 0 });
    expect(chosen.focus).toEqual({ role: "key", token: 0 });
    chosen.hover.set({ role: "query", token: 1 });
    expect(chosen.focus).toEqual({ role: "query", token: 1 });
    chosen.unpin();
    expect(chosen.focus).toBeNull();
  });

  test("is freed by pinning the same token again, but not the same place on the other role", () => {
    const chosen = store();
    chosen.pin({ role: "key", token: 0 });
    chosen.pin({ role: "query", token: 0 });
    expect(chosen.focus).toEqual({ role: "query", token: 0 });
    chosen.pin({ role: "query", token: 0 });
    expect(chosen.focus).toBeNull();
  });
});

describe("the keyboard", () => {
  const press = (chosen: ReturnType<typeof store>, ...keys: string[]) => {
    for (const key of keys) actionFor(chosen, key)?.();
    return chosen.state.value;
  };

  test("chooses measures by number, as many as there are", () => {
    expect(press(store(), "1").measure).toBe("weight");
    expect(press(store(), "4").measure).toBe("attention");
    expect(press(store({ compare: "weight" }), "4").compare).toBeNull();
    expect(actionFor(store(), "5")).toBeNull();
    expect(actionFor(store(), "0")).toBeNull();
  });

  test("walks from the first token to the last and no further", () => {
    expect(press(store(), "ArrowDown").token).toBe(0);
    expect(press(store(), "ArrowUp", "ArrowUp").token).toBe(0);
    expect(press(store(), ...new Array(5).fill("ArrowDown")).token).toBe(2);
  });

  test("crosses to a shorter column without falling off", () => {
    const chosen = store({ stream: "cross", measure: "weight", layer: 1, role: "key", token: 2 });
    expect(press(chosen, "ArrowRight")).toMatchObject({ role: "query", token: 1 });
  });

  test("steps layers and lets go", () => {
    expect(press(store({ token: 1 }), "]", "Escape")).toMatchObject({ layer: 2, token: null });
  });

  test("leaves other keys to the host", () => {
    expect(actionFor(store(), "a")).toBeNull();
  });
});

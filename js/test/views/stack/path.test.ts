import { beforeEach, describe, expect, test } from "vitest";
import { rowSizeFor } from "../../../src/data/ribbons";
import { PALETTES } from "../../../src/draw/colors";
import type { Pane } from "../../../src/state/pane";
import { stackView } from "../../../src/views/stack/view";
import type { Focus } from "../../../src/wire/types";
import { deep, scribe } from "../../support/deep";
import { rolloutOf } from "../../support/measures";

/** Three layers of three tokens: t2 reads t1 in layer 2, which stays t1 in layer 1 and 0. */
const stay = [
  [
    [1, 0, 0],
    [0.2, 0.8, 0],
    [0.1, 0.3, 0.6],
  ],
];
const THREE = [stay, stay, [[...stay[0].slice(0, 2), [0, 0.9, 0.1]]]];

/** A view with a pinned token, and a field of 316 pixels: columns at 8, 108, 208 and 308. */
function pinnedAt(pinned: Focus | null, pane: Pane = deep(THREE)) {
  const { actions, told } = scribe();
  const scope = new AbortController();
  let now = pinned;
  const view = stackView({ ...actions, pinned: () => now }, scope.signal);
  document.body.append(view.node);
  const field = view.node.querySelector(".nv-field") as HTMLElement;
  const figure = view.node.querySelector(".nv-stack") as HTMLElement;
  Object.defineProperty(field, "offsetWidth", { value: 316 });
  view.draw(pane, PALETTES.light);
  view.highlight(pinned);
  /** Rows are 64 pixels high here; tests name their places in rows of 20. */
  const point = (type: string, x: number, twenties: number) => {
    const y = (twenties / 20) * rowSizeFor(3, 640).pitch;
    field.dispatchEvent(new MouseEvent(type, { clientX: x, clientY: y, bubbles: true }));
    view.highlight(now);
  };
  const press = (key: string, shiftKey = true) => {
    const event = new KeyboardEvent("keydown", { key, shiftKey, bubbles: true, cancelable: true });
    figure.dispatchEvent(event);
    view.highlight(now);
    return event.defaultPrevented;
  };
  const pin = (other: Focus | null) => {
    now = other;
    view.highlight(now);
  };
  const sentence = () => view.describe(now).sentence;
  const names = () =>
    [...view.node.querySelectorAll(".nv-names span")].map((name) => name.textContent);
  const line = () =>
    [...(view.vectors?.().values() ?? [])].flat().filter((mark) => /="3"/.test(mark));
  return { view, told, point, press, pin, sentence, names, line };
}

const T2: Focus = { role: "query", token: 2 };
const PATH = "α, head 0: the strongest path ‘t2’ (layer 2) ← ‘t1’ (layer 1) ← ‘t1’ (input)";

beforeEach(() => document.body.replaceChildren());

describe("a path between two tokens", () => {
  test("is shown and told while a token at the input is pointed at", () => {
    const { view, told, point, sentence, line, names } = pinnedAt(T2);
    expect(sentence()).toContain("‘t2’ after layer 2 is made of");
    point("pointermove", 8, 30);
    expect(told.at(-1)).toBe("refresh");
    expect(told).not.toContain("hover key 1");
    expect(sentence()).toBe(`${PATH} carries 58% of ‘t2’; all paths between the two carry 62%.`);
    expect(view.describe(T2).rows).toEqual([
      ["2", "t2 (layer 2)", "90%"],
      ["1", "t1 (layer 1 to input)", "64%"],
    ]);
    expect(line()).toHaveLength(1);
    expect(names()).toContain("t1");
    expect(view.legend().join(" · ")).toContain("dark line: the strongest path");
    point("pointerleave", 0, 0);
    expect(sentence()).toContain("‘t2’ after layer 2 is made of");
    expect(line()).toHaveLength(0);
  });

  test("may end in any layer below", () => {
    const { point, sentence } = pinnedAt(T2);
    point("pointermove", 108, 30);
    expect(sentence()).toContain("‘t2’ (layer 2) ← ‘t1’ (layer 1) ← ‘t1’ (layer 0) carries 72%");
  });

  test("is not shown for a token above, which is looked at as ever", () => {
    const pane = deep(THREE, { changes: { layer: 1 } });
    const { told, point } = pinnedAt(T2, pane);
    point("pointermove", 308, 30);
    expect(told).toEqual(["hover query 1"]);
  });

  test("leads up from a token at the input", () => {
    const { point, sentence } = pinnedAt({ role: "key", token: 1 });
    point("pointermove", 308, 50);
    expect(sentence()).toContain(`${PATH} carries 58% of ‘t2’`);
  });

  test("is said not to exist if nothing connects the two", () => {
    const { point, sentence, line } = pinnedAt({ role: "query", token: 0 });
    point("pointermove", 8, 50);
    expect(sentence()).toBe("α, head 0: no path leads from ‘t0’ (layer 2) back to ‘t2’ (input).");
    expect(line()).toHaveLength(0);
  });

  test("is one step for a measure that reaches the input by itself", () => {
    const pane = deep(THREE, { measure: { ...rolloutOf("weight"), label: "rollout" } });
    const { point, sentence } = pinnedAt(T2, pane);
    point("pointermove", 8, 30);
    expect(sentence()).toContain("the path ‘t2’ (layer 2) ← ‘t1’ (input) carries 90% of ‘t2’");
    point("pointermove", 108, 30);
    expect(sentence()).not.toContain("path");
  });
});

describe("a click on the end of a path", () => {
  test("keeps the path, and a second one pins the token", () => {
    const { told, point, sentence } = pinnedAt(T2);
    point("click", 8, 30);
    point("pointerleave", 0, 0);
    expect(sentence()).toContain(PATH);
    expect(told.join()).not.toContain("pin");
    point("click", 8, 30);
    expect(told.at(-1)).toBe("pin key 1");
  });

  test("is forgotten when another token is pinned", () => {
    const { point, pin, sentence } = pinnedAt(T2);
    point("click", 8, 30);
    point("pointerleave", 0, 0);
    pin({ role: "query", token: 1 });
    expect(sentence()).not.toContain("path");
    pin(null);
    expect(sentence()).toContain("all tokens together");
  });

  test("pins as ever where no token is pinned", () => {
    const { told, point } = pinnedAt(null);
    point("click", 8, 30);
    expect(told).toEqual(["pin key 1"]);
  });
});

describe("shift and arrows", () => {
  test("choose the end of a path, first the largest share, and Escape forgets it", () => {
    const { press, sentence } = pinnedAt(T2);
    expect(press("ArrowDown")).toBe(true);
    expect(sentence()).toContain("← ‘t1’ (input) carries");
    press("ArrowUp");
    expect(sentence()).toContain("← ‘t0’ (input) carries");
    press("ArrowRight");
    expect(sentence()).toContain("‘t0’ (layer 0) carries");
    expect(press("Escape", false)).toBe(true);
    expect(sentence()).toContain("is made of");
    expect(press("Escape", false)).toBe(false);
  });

  test("do nothing without a pinned token, and arrows alone are left to the page", () => {
    expect(pinnedAt(null).press("ArrowDown")).toBe(false);
    expect(pinnedAt(T2).press("ArrowDown", false)).toBe(false);
  });

  test("stop at the edges", () => {
    const { press, sentence } = pinnedAt(T2);
    for (const key of ["ArrowDown", "ArrowLeft", "ArrowLeft"]) press(key);
    expect(sentence()).toContain("← ‘t1’ (input) carries");
    for (let at = 0; at < 5; at++) press("ArrowRight");
    expect(sentence()).toContain("the path ‘t2’ (layer 2) ← ‘t1’ (layer 1) carries 90%");
  });
});

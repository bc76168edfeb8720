import { describe, expect, test, vi } from "vitest";
import { PALETTES } from "../../../src/draw/colors";
import { Tiles } from "../../../src/state/tiles";
import { pointChart } from "../../../src/views/profile/layout";
import { type Scatter, scatterOf } from "../../../src/views/profile/scatter";
import { profileView } from "../../../src/views/profile/view";
import type { Stream, ViewState } from "../../../src/wire/types";
import { STREAM, smallPane } from "../../support/overviews";
import { scoped } from "../../support/scope";

const scope = scoped();

function shown(changes: Partial<ViewState> = {}, stream: Stream = STREAM) {
  const actions = { hover: vi.fn(), pin: vi.fn(), choose: vi.fn(), refresh: vi.fn() };
  const view = profileView(actions, scope.signal);
  document.body.append(view.node);
  view.draw(smallPane(changes, stream), PALETTES.light);
  const find = (which: string) => view.node.querySelector(which) as Element;
  const all = (which: string) => [...view.node.querySelectorAll(which)];
  const at = (which: string, kind: string, clientX: number, clientY = 0) =>
    find(which).dispatchEvent(new MouseEvent(kind, { clientX, clientY, bubbles: true }));
  return { view, actions, find, all, at };
}

describe("the curves of a profile", () => {
  test("are drawn once for each kind, dashed and hollow for what is compared", () => {
    expect(shown().all(".nv-line")).toHaveLength(4);
    const { all } = shown({ compare: "weighted-norm" });
    expect(all(".nv-line")).toHaveLength(8);
    expect(all(".nv-line[stroke-dasharray]")).toHaveLength(4);
    expect(all(".nv-curve .nv-hollow")).toHaveLength(8);
    expect(all(".nv-name text").map((name) => name.textContent)).toContain("[CLS] ‖αf(x)‖");
  });

  test("say what their axes are", () => {
    const { find } = shown();
    const text = find(".nv-curves .nv-axes").textContent;
    expect(text).toContain("share of all that the layer's queries take");
    for (const label of ["0%", "25%", "50%", "75%", "100%", "layer"]) expect(text).toContain(label);
    expect(shown({ measure: "value-norm" }).find(".nv-curves .nv-axes").textContent).toContain(
      "share of the layer's sum",
    );
  });

  test("have a line at the layer that is chosen", () => {
    const { find } = shown({ layer: 4 });
    expect(find(".nv-here").getAttribute("x1")).not.toBeNull();
    expect(find(".nv-axes .nv-chosen").textContent).toBe("4");
  });

  test("show the numbers of the layer under the pointer, and choose it when clicked", () => {
    const { view, actions, at, all } = shown();
    at(".nv-curves", "pointermove", 60);
    expect(actions.refresh).toHaveBeenCalledOnce();
    view.highlight(null);
    expect(all(".nv-values text").map((text) => text.textContent)).toEqual([
      "38%",
      "2.0%",
      "10%",
      "50%",
    ]);
    expect(view.describe(null).sentence).toMatch(/^Layer 1:/);
    at(".nv-curves", "click", 190);
    expect(actions.choose).toHaveBeenCalledWith({ layer: 4 });
    at(".nv-curves", "pointerleave", 0);
    view.highlight(null);
    expect(all(".nv-values")).toHaveLength(0);
  });

  test("bring out the kind of the token in focus", () => {
    const { view, all } = shown();
    const dim = () => all(".nv-curve.nv-dim").map((curve) => curve.getAttribute("data-kind"));
    view.highlight({ role: "query", token: 4 });
    expect(dim().sort()).toEqual(["[CLS]", "other", "punctuation"]);
    view.highlight(null);
    expect(dim()).toEqual([]);
  });
});

describe("the points of a profile", () => {
  /** Where the point of a head and a row is drawn, at the width of a page that is not laid out. */
  const placeOf = (index: number) => {
    const { places } = pointChart(scatterOf(smallPane()) as Scatter, 280, 300);
    return [places[index * 2], places[index * 2 + 1]] as const;
  };

  test("say what their axes are", () => {
    const text = shown().find(".nv-points .nv-axes").textContent;
    expect(text).toContain("mean α of a key in a head");
    expect(text).toContain("‖f(x)‖ of the key in the head, in the model's units");
  });

  test("let their token be looked at and pinned", () => {
    const { actions, at } = shown();
    at(".nv-points", "pointermove", ...placeOf(6));
    expect(actions.hover).toHaveBeenLastCalledWith({ role: "key", token: 1 });
    at(".nv-points", "click", ...placeOf(6));
    expect(actions.pin).toHaveBeenCalledWith({ role: "key", token: 1 });
    at(".nv-points", "pointermove", 2, 2);
    expect(actions.hover).toHaveBeenLastCalledWith(null);
    at(".nv-points", "click", 2, 2);
    expect(actions.pin).toHaveBeenCalledOnce();
    at(".nv-points", "pointerleave", 0);
    expect(actions.hover).toHaveBeenLastCalledWith(null);
  });

  test("are dimmed but for the token in focus, which is named, with its heads", () => {
    const { view, find, all } = shown();
    view.highlight({ role: "key", token: 4 });
    expect(find(".nv-base").classList.contains("nv-faint")).toBe(true);
    expect(find(".nv-named").textContent).toBe("[SEP]");
    expect(find(".nv-named").getAttribute("dir")).toBe("auto");
    expect(all(".nv-tags text").map((tag) => tag.textContent)).toEqual(["0", "3"]);
    expect(view.legend()).toContain("numbers beside points: heads");
    view.highlight(null);
    expect(find(".nv-base").classList.contains("nv-faint")).toBe(false);
    expect(find(".nv-named").textContent).toBe("");
    expect(all(".nv-tags")).toHaveLength(0);
  });

  test("are missed with a sentence", () => {
    const stream = { ...STREAM, measures: ["weight"] };
    const { view, find, all } = shown({}, stream);
    expect(find(".nv-excuse").textContent).toContain("value-norm is not held here");
    expect(all(".nv-points .nv-axes")).toHaveLength(0);
    expect(all(".nv-line")).toHaveLength(4);
    expect(view.describe({ role: "key", token: 0 }).sentence).toMatch(/^Layer 1: words get/);
  });
});

test("a profile waits for numbers that are on their way", () => {
  const view = profileView({ hover: vi.fn(), pin: vi.fn(), choose: vi.fn() }, scope.signal);
  const asked: string[] = [];
  const tiles = new Tiles([], new DataView(new ArrayBuffer(0)), (name) => asked.push(name));
  const pane = { ...smallPane({ compare: "weighted-norm" }), tiles };
  expect(view.draw(pane, PALETTES.light)).toBe(false);
  expect(asked.sort()).toEqual([
    "0/encoder/value-norm/1/all",
    "0/encoder/weight/1/all",
    "0/encoder/weight/overview",
    "0/encoder/weighted-norm/overview",
  ]);
  tiles.close();
});

test("a profile waits for its points when the curves are here", () => {
  const view = profileView({ hover: vi.fn(), pin: vi.fn(), choose: vi.fn() }, scope.signal);
  const pane = smallPane();
  const layer = vi.spyOn(pane.tiles, "layer").mockReturnValue(null);
  expect(view.draw(pane, PALETTES.light)).toBe(false);
  expect(view.legend()).toEqual([]);
  layer.mockRestore();
  expect(view.draw(pane, PALETTES.light)).toBe(true);
});

test("a profile that has ended hears nothing", () => {
  const { actions, at } = shown();
  scope.abort();
  at(".nv-curves", "pointermove", 60);
  at(".nv-curves", "click", 60);
  at(".nv-points", "pointermove", 100, 100);
  for (const use of Object.values(actions)) expect(use).not.toHaveBeenCalled();
});

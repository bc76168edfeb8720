import { describe, expect, test, vi } from "vitest";
import { PALETTES } from "../../../src/draw/colors";
import { Tiles } from "../../../src/state/tiles";
import { targetIndex } from "../../../src/views/grid/board";
import { gridView } from "../../../src/views/grid/view";
import type { ViewState } from "../../../src/wire/types";
import { smallPane } from "../../support/overviews";
import { scoped } from "../../support/scope";

const scope = scoped();

function shown(changes: Partial<ViewState> = {}) {
  const actions = { hover: vi.fn(), pin: vi.fn(), choose: vi.fn(), refresh: vi.fn() };
  const view = gridView(actions, scope.signal);
  document.body.append(view.node);
  const draw = (more: Partial<ViewState> = {}) =>
    view.draw(smallPane({ ...changes, ...more }), PALETTES.light);
  draw();
  const pictures = () => [...view.node.querySelectorAll<HTMLElement>(".nv-thumb")];
  const names = () => pictures().map(({ dataset }) => dataset.name);
  const press = (key: string) => {
    const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
    document.activeElement?.dispatchEvent(event);
    return event;
  };
  const order = view.node.querySelector("select") as HTMLSelectElement;
  const under = () => pictures().map((cell) => cell.querySelector(".nv-under")?.textContent);
  return { view, actions, draw, pictures, names, press, order, under };
}

const sortBy = (order: HTMLSelectElement, value: string) => {
  order.value = value;
  order.dispatchEvent(new Event("change"));
};

describe("the grid", () => {
  test("has a row for each layer and a column for each head, with the model's numbers", () => {
    const { view, names } = shown();
    const text = (role: string) =>
      [...view.node.querySelectorAll(`[role=${role}]`)].map((title) =>
        title.getAttribute("aria-label"),
      );
    expect(text("rowheader")).toEqual(["layer 1", "layer 4"]);
    expect(text("columnheader").slice(1)).toEqual(["head 0", "head 3"]);
    expect(names()).toEqual([
      "layer 1, head 0",
      "layer 1, head 3",
      "layer 4, head 0",
      "layer 4, head 3",
    ]);
    expect(view.node.querySelector("[role=grid]")?.getAttribute("aria-label")).toContain(
      "α by layer",
    );
  });

  test("has one column for a measure without heads", () => {
    const { view, names, pictures, actions } = shown({ measure: "attention" });
    expect(view.node.querySelector(".nv-column")?.textContent).toBe("all heads");
    expect(names()).toEqual(["layer 1", "layer 4"]);
    pictures()[1].click();
    expect(actions.choose).toHaveBeenCalledWith({ view: "flow", layer: 4, heads: null });
  });

  test("waits for numbers that are on their way", () => {
    const view = gridView({ hover: vi.fn(), pin: vi.fn(), choose: vi.fn() }, scope.signal);
    const ask = vi.fn();
    const tiles = new Tiles([], new DataView(new ArrayBuffer(0)), ask);
    expect(view.draw({ ...smallPane(), tiles }, PALETTES.light)).toBe(false);
    expect(ask).toHaveBeenCalledWith("0/encoder/weight/overview");
    expect(view.legend()).toEqual([]);
    tiles.close();
  });

  test("opens a head when its picture is clicked", () => {
    const { pictures, actions } = shown();
    pictures()[3].querySelector<HTMLElement>(".nv-box")?.click();
    expect(actions.choose).toHaveBeenCalledWith({ view: "flow", layer: 4, heads: [3] });
  });

  test("tells about the picture under the pointer, once", () => {
    const { view, pictures, actions } = shown();
    const over = () => pictures()[1].dispatchEvent(new Event("pointerover", { bubbles: true }));
    over();
    over();
    expect(actions.refresh).toHaveBeenCalledOnce();
    expect(view.describe(null).sentence).toMatch(/^Layer 1, head 3, α: the largest is 0.300/);
    view.node.querySelector(".nv-thumbs")?.dispatchEvent(new Event("pointerleave"));
    expect(view.describe(null).sentence).toMatch(/^α: strongest is/);
  });

  test("goes on telling about it when another measure is drawn", () => {
    const { view, pictures, draw } = shown();
    pictures()[1].dispatchEvent(new Event("pointerover", { bubbles: true }));
    draw({ measure: "weighted-norm" });
    expect(view.describe(null).sentence).toMatch(
      /^Layer 1, head 3, ‖αf\(x\)‖: the largest is 1.80/,
    );
  });

  test("marks what is chosen", () => {
    const { pictures, draw, view } = shown({ layer: 4, heads: [3] });
    const chosen = () => pictures().map((cell) => cell.getAttribute("aria-selected"));
    expect(chosen()).toEqual(["false", "false", "false", "true"]);
    const titles = () =>
      [...view.node.querySelectorAll(".nv-chosen")].map((title) => title.textContent);
    expect(titles()).toEqual(["3", "4"]);
    draw({ layer: 1, heads: null });
    expect(chosen()).toEqual(["true", "true", "false", "false"]);
    expect(titles()).toEqual(["1"]);
  });
});

describe("with the keyboard the grid", () => {
  test("is one stop, at what is chosen", () => {
    const { pictures } = shown({ layer: 4 });
    expect(pictures().map(({ tabIndex }) => tabIndex)).toEqual([-1, -1, 0, -1]);
  });

  test("is walked with the arrows, which do not walk the tokens too", () => {
    const { pictures, press, view } = shown();
    const outside = vi.fn();
    document.body.addEventListener("keydown", outside, { signal: scope.signal });
    pictures()[0].focus();
    for (const [key, place] of [
      ["ArrowRight", 1],
      ["ArrowDown", 3],
      ["ArrowLeft", 2],
      ["ArrowUp", 0],
      ["End", 1],
      ["Home", 0],
    ] as const) {
      expect(press(key).defaultPrevented).toBe(true);
      expect(document.activeElement).toBe(pictures()[place]);
      expect(
        pictures()
          .map(({ tabIndex }) => tabIndex)
          .indexOf(0),
      ).toBe(place);
    }
    expect(outside).not.toHaveBeenCalled();
    expect(view.describe(null).sentence).toMatch(/^Layer 1, head 0, α/);
    expect(press("]").defaultPrevented).toBe(false);
    expect(outside).toHaveBeenCalledOnce();
  });

  test.each(["Enter", " "])("opens a head with %j", (key) => {
    const { pictures, press, actions } = shown();
    pictures()[1].focus();
    press(key);
    expect(actions.choose).toHaveBeenCalledWith({ view: "flow", layer: 1, heads: [3] });
  });

  test("keeps the focus on a head when the order changes", () => {
    const { pictures, draw, view } = shown();
    pictures()[1].focus();
    draw({ compare: "weighted-norm" });
    expect((document.activeElement as HTMLElement).dataset.name).toBe("layer 1, head 3");
    expect(view.node.querySelectorAll("[tabindex='0']")).toHaveLength(1);
  });

  test("stops at the edges", () => {
    expect(targetIndex("ArrowRight", 2, 3, 8)).toBe(2);
    expect(targetIndex("ArrowLeft", 3, 3, 8)).toBe(3);
    expect(targetIndex("ArrowDown", 5, 3, 8)).toBe(5);
    expect(targetIndex("ArrowUp", 1, 3, 8)).toBe(1);
    expect(targetIndex("End", 6, 3, 8)).toBe(7);
    expect(targetIndex("x", 6, 3, 8)).toBeNull();
  });
});

describe("the order of the grid", () => {
  test("is the model's, until something is compared", () => {
    const { draw, names, under, order } = shown();
    expect(order.value).toBe("");
    expect(under()).toEqual(["", "", "", ""]);
    draw({ compare: "weighted-norm" });
    expect(order.value).toBe("weighted-norm");
    expect(names()[0]).toBe("layer 1, head 3");
    expect(under()[0]).toBe("1·3 0.62");
  });

  test("can be chosen, and stays while the same is compared", () => {
    const { draw, names, under, order, actions } = shown({ compare: "weighted-norm" });
    sortBy(order, "");
    expect(names()[0]).toBe("layer 1, head 0");
    expect(under()).toEqual(["0.10", "0.62", "0.30", "0.30"]);
    expect(actions.refresh).toHaveBeenCalled();
    draw({ layer: 4 });
    expect(names()[0]).toBe("layer 1, head 0");
    draw({ compare: null });
    draw({ compare: "weighted-norm" });
    expect(names()[0]).toBe("layer 1, head 3");
  });

  test("can be by disagreement when nothing is compared", () => {
    const { names, order, view } = shown();
    expect([...order.options].map(({ text }) => text)).toEqual([
      "in the model's order",
      "by disagreement with ‖αf(x)‖",
    ]);
    sortBy(order, "weighted-norm");
    expect(names()[0]).toBe("layer 1, head 3");
    expect(view.describe(null).sentence).toContain("disagrees most (0.62)");
  });

  test("is the model's where a measure cannot be compared", () => {
    const { order, names, view } = shown({ measure: "attention", compare: "weighted-norm" });
    expect(names()).toEqual(["layer 1", "layer 4"]);
    expect(order.parentElement?.hidden).toBe(true);
    expect(view.describe(null).sentence).toMatch(/^‖Σ αf\(x\)‖: strongest/);
  });

  test.each([4, "other"])("is the model's when %j is compared", (compare) => {
    const { names } = shown({ compare });
    expect(names()[0]).toBe("layer 1, head 0");
  });
});

describe("when a token is in focus the grid", () => {
  test("says so in its legend and its sentence", () => {
    const { view } = shown();
    view.highlight({ role: "query", token: 3 });
    expect(view.legend().map(String)).toContain("highlighted: ‘.’");
    expect(view.describe({ role: "query", token: 3 }).sentence).toContain("‘.’ takes most in");
    view.highlight(null);
    expect(view.legend().map(String)).not.toContain("highlighted: ‘.’");
  });
});

test("a grid that has ended hears nothing", () => {
  const { pictures, actions, press } = shown();
  scope.abort();
  pictures()[1].click();
  pictures()[1].focus();
  press("Enter");
  pictures()[0].dispatchEvent(new Event("pointerover", { bubbles: true }));
  expect(actions.choose).not.toHaveBeenCalled();
  expect(actions.refresh).not.toHaveBeenCalled();
});

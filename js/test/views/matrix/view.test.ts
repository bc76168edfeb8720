import { beforeEach, describe, expect, test } from "vitest";
import { PALETTES } from "../../../src/draw/colors";
import type { Pane } from "../../../src/state/pane";
import { matrixView } from "../../../src/views/matrix/view";
import { keyMove } from "../../../src/views/shared/gestures";
import { blockOf } from "../../../src/views/shared/heatmap";
import type { Focus } from "../../../src/wire/types";
import { deep, scribe } from "../../support/deep";
import { contractPane } from "../../support/fixtures";

/** Weights of so many tokens: each takes most from itself. */
const square = (count: number) => [
  [
    Array.from({ length: count }, (_, query) =>
      Array.from({ length: count }, (_, key) => (query === key ? 3 : 1)),
    ),
  ],
];

/** A view on the page; its field begins at 0, and four tokens have cells of 40 pixels. */
function shown(pane: Pane) {
  const { actions, told } = scribe();
  const scope = new AbortController();
  const view = matrixView(actions, scope.signal);
  document.body.append(view.node);
  view.draw(pane, PALETTES.light);
  view.highlight(null);
  const plot = view.node.querySelector(".nv-plot") as HTMLElement;
  const point = (type: string, x: number, y: number, more: PointerEventInit = {}) =>
    plot.dispatchEvent(
      new PointerEvent(type, { clientX: x, clientY: y, bubbles: true, cancelable: true, ...more }),
    );
  const wheel = (x: number, y: number, more: WheelEventInit) => {
    const event = new WheelEvent("wheel", { cancelable: true, ...more });
    // The test's page forgets these.
    for (const [name, value] of Object.entries({ clientX: x, clientY: y, ...more })) {
      Object.defineProperty(event, name, { value });
    }
    plot.dispatchEvent(event);
    return event;
  };
  const press = (key: string, more: KeyboardEventInit = {}) =>
    plot.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, ...more }));
  const axis = (role: string) => [
    ...view.node.querySelectorAll<HTMLElement>(`.nv-axis.nv-${role} li`),
  ];
  const texts = (role: string) => axis(role).map((item) => item.textContent);
  const button = (name: string) =>
    view.node.querySelector(`button[title="${name}"]`) as HTMLButtonElement;
  const sight = () => view.node.querySelector(".nv-sight")?.textContent;
  return {
    view,
    told,
    point,
    wheel,
    press,
    axis,
    texts,
    button,
    sight,
    leave: () => scope.abort(),
  };
}

const query = (token: number): Focus => ({ role: "query", token });
const key = (token: number): Focus => ({ role: "key", token });

beforeEach(() => document.body.replaceChildren());

describe("the matrix", () => {
  test("has queries at the left and keys along the top", () => {
    const { texts, view } = shown(deep(square(4)));
    expect(texts("query")).toEqual(["t0", "t1", "t2", "t3"]);
    expect(texts("key")).toEqual(["t0", "t1", "t2", "t3"]);
    expect(view.node.querySelector(".nv-corner")?.textContent).toBe("read from →receives ↓");
  });

  test("shows every n-th label where there is no room for all", () => {
    const { texts } = shown(deep(square(200)));
    expect(texts("key").length).toBeLessThan(60);
    expect(texts("key").length).toBeGreaterThan(20);
    expect(texts("key")[0]).toBe("t0");
  });

  test("marks the row of a token that takes and dims the others", () => {
    const { view, axis } = shown(deep(square(4)));
    view.highlight(query(2));
    expect(axis("query").map((item) => item.className)).toEqual([
      "nv-dim",
      "nv-dim",
      "nv-on",
      "nv-dim",
    ]);
    expect(axis("key").map((item) => item.className)).toEqual(["", "", "", ""]);
    view.highlight(null);
    expect(view.node.querySelectorAll(".nv-on, .nv-dim")).toHaveLength(0);
  });

  test("marks the column of a token that gives", () => {
    const { view, axis } = shown(deep(square(4)));
    view.highlight(key(1));
    expect(axis("key").map((item) => item.className)).toEqual([
      "nv-dim",
      "nv-on",
      "nv-dim",
      "nv-dim",
    ]);
    expect(axis("query").map((item) => item.className)).toEqual(["", "", "", ""]);
  });

  test("says what the picture of one layer says", () => {
    const { view } = shown(deep(square(4)));
    expect(view.describe(query(2)).sentence).toBe(
      "Layer 0, head 0, α: ‘t2’ takes 50% from ‘t2’, 17% from ‘t0’, 17% from ‘t1’ (of all it takes).",
    );
    expect(Array.from(view.ranking?.(query(2))?.values ?? [])).toEqual([1, 1, 3, 1]);
    const legend = view
      .legend()
      .map((line) => (typeof line === "string" ? line : line.textContent));
    expect(legend[0]).toBe("03.00 (the largest cell of this layer)");
  });

  test("has a row for each head where there are no queries", () => {
    const { texts, point, told } = shown(contractPane({ measure: "value-norm" }));
    expect(texts("query")).toEqual(["head 1", "head 3"]);
    point("pointermove", 45, 5);
    expect(told).toEqual(["hover key 1"]);
  });
});

describe("pointing at a cell", () => {
  test("looks at its query and tells its number", () => {
    const { told, point, sight } = shown(deep(square(4)));
    expect(sight()).toBe("point at a cell to see its value");
    point("pointermove", 130, 90);
    expect(told).toEqual(["hover query 2"]);
    expect(sight()).toBe("‘t2’ from ‘t3’: 1.00, 17% of all it takes");
    point("pointerleave", 0, 0);
    expect(told.at(-1)).toBe("hover nothing");
    expect(sight()).toBe("point at a cell to see its value");
  });

  test("marks its row and its column", () => {
    const { point, axis, view } = shown(deep(square(4)));
    point("pointermove", 130, 90);
    view.highlight(query(2));
    expect(axis("query")[2].className).toBe("nv-on");
    expect(axis("key")[3].className).toBe("nv-on");
    expect(axis("key")[2].className).toBe("nv-dim");
  });

  test("in the same row needs no other focus", () => {
    const { told, point, sight, view } = shown(deep(square(4)));
    point("pointermove", 130, 90);
    view.highlight(query(2));
    point("pointermove", 90, 90);
    expect(told).toEqual(["hover query 2"]);
    expect(sight()).toContain("‘t2’ from ‘t2’: 3.00");
  });

  test("and clicking pins its query; the labels pin too", () => {
    const { told, point, axis } = shown(deep(square(4)));
    point("click", 10, 50);
    axis("key")[3].click();
    expect(told).toEqual(["pin query 1", "pin key 3"]);
  });
});

describe("zoom", () => {
  test("comes from the wheel with a key, and the labels follow", () => {
    const { wheel, texts, point } = shown(deep(square(200)));
    const before = texts("query");
    point("pointermove", 100, 100);
    const event = wheel(100, 100, { ctrlKey: true, deltaY: -600 });
    expect(event.defaultPrevented).toBe(true);
    const after = texts("query").map((text) => Number(text?.slice(1)));
    expect(texts("query")).not.toEqual(before);
    expect(after.slice(1).every((token, at) => token === after[at] + 1)).toBe(true);
  });

  test("comes from the buttons, which know their ends", () => {
    const { button, texts } = shown(deep(square(60)));
    const [into, out, all] = ["zoom in", "zoom out", "the whole field"].map(button);
    expect([into.disabled, out.disabled, all.disabled]).toEqual([false, true, true]);
    // A sign says too little to those who cannot see it.
    expect([into, out].map((made) => made.getAttribute("aria-label"))).toEqual([
      "zoom in",
      "zoom out",
    ]);
    const whole = texts("query");
    into.click();
    expect([out.disabled, all.disabled]).toEqual([false, false]);
    for (let step = 0; step < 20; step++) into.click();
    expect(into.disabled).toBe(true);
    all.click();
    expect(texts("query")).toEqual(whole);
    expect(out.disabled).toBe(true);
  });

  test("comes from keys and the double click", () => {
    const { press, point, button } = shown(deep(square(60)));
    const out = button("zoom out");
    for (const [come, go] of [
      [() => press("+"), () => press("-")],
      [() => press("="), () => press("0")],
      [() => point("dblclick", 50, 50), () => point("dblclick", 50, 50, { shiftKey: true })],
    ]) {
      come();
      expect(out.disabled).toBe(false);
      go();
      expect(out.disabled).toBe(true);
    }
  });

  test("comes from two fingers that part", () => {
    const { point, button } = shown(deep(square(60)));
    point("pointerdown", 100, 100, { pointerId: 1 });
    point("pointerdown", 120, 100, { pointerId: 2 });
    point("pointermove", 200, 100, { pointerId: 2 });
    expect(button("zoom out").disabled).toBe(false);
  });

  test("stays for another layer and goes with another text", () => {
    const { view, button } = shown(deep(square(60)));
    button("zoom in").click();
    view.draw(deep(square(60), { changes: { normalize: "query" } }), PALETTES.dark);
    expect(button("zoom out").disabled).toBe(false);
    view.draw(deep(square(61)), PALETTES.dark);
    expect(button("zoom out").disabled).toBe(true);
  });

  test("has the legend told anew when cells no longer share a pixel", () => {
    const { view, told, press } = shown(deep(square(450)));
    const lines = () => view.legend().join("; ");
    expect(lines()).toContain("each pixel is the largest of 2 × 2 cells");
    for (let step = 0; step < 4; step++) press("+");
    expect(told).toContain("refresh");
    expect(lines()).not.toContain("every mark");
  });
});

describe("panning", () => {
  test("by the wheel moves the field once it is zoomed, else the page", () => {
    const { wheel, button, texts } = shown(deep(square(60)));
    expect(wheel(50, 50, { deltaY: 100 }).defaultPrevented).toBe(false);
    button("zoom in").click();
    const before = texts("query");
    expect(wheel(50, 50, { deltaY: 60 }).defaultPrevented).toBe(true);
    expect(texts("query")).not.toEqual(before);
    expect(wheel(50, 50, { deltaY: 9999 }).defaultPrevented).toBe(true);
    expect(wheel(50, 50, { deltaY: 9999 }).defaultPrevented).toBe(false);
  });

  test("by dragging moves it too, and the click that ends it pins nothing", () => {
    const { point, button, texts, told } = shown(deep(square(60)));
    button("zoom in").click();
    const before = texts("key");
    point("pointerdown", 200, 100, { pointerId: 1 });
    point("pointermove", 120, 100, { pointerId: 1 });
    point("pointerup", 120, 100, { pointerId: 1 });
    point("click", 120, 100);
    expect(texts("key")).not.toEqual(before);
    expect(told.some((line) => line.startsWith("pin"))).toBe(false);
    point("pointerdown", 120, 100, { pointerId: 1 });
    point("pointerup", 120, 100, { pointerId: 1 });
    point("click", 120, 100);
    expect(told.at(-1)).toMatch(/^pin query/);
  });

  test("by shift and arrows is kept from the page, which has plain arrows", () => {
    const { press, button, texts } = shown(deep(square(60)));
    const passed: string[] = [];
    document.body.addEventListener("keydown", ({ key: name }) => passed.push(name), { once: true });
    button("zoom in").click();
    const before = texts("query");
    press("ArrowDown", { shiftKey: true });
    expect(texts("query")).not.toEqual(before);
    expect(passed).toEqual([]);
    press("ArrowDown");
    expect(passed).toEqual(["ArrowDown"]);
  });

  test("follows a token that comes into focus from elsewhere", () => {
    const { view, button, texts } = shown(deep(square(60)));
    for (let step = 0; step < 3; step++) button("zoom in").click();
    expect(texts("query")).not.toContain("t59");
    view.highlight(query(59));
    expect(texts("query")).toContain("t59");
    view.highlight(key(0));
    expect(texts("key")).toContain("t0");
  });
});

test("keys that are none of its own do nothing", () => {
  const moves = { zoom: () => {}, pan: () => true, whole: () => {} };
  const size = { width: 10, height: 10 };
  expect(keyMove({ key: "ArrowUp", shiftKey: false }, moves, size)).toBeNull();
  expect(keyMove({ key: "x", shiftKey: true }, moves, size)).toBeNull();
});

test("several cells share a pixel only where a cell is smaller than one", () => {
  const room = { rows: 9, columns: 9, wide: 0.4, tall: 1 };
  expect(blockOf(room, { zoom: 1, left: 0, top: 0 }, 1)).toEqual({ rows: 1, columns: 3 });
  expect(blockOf(room, { zoom: 1, left: 0, top: 0 }, 2)).toEqual({ rows: 1, columns: 2 });
  expect(blockOf(room, { zoom: 2.5, left: 0, top: 0 }, 1)).toEqual({ rows: 1, columns: 1 });
});

test("after the end nothing listens", () => {
  const { told, point, wheel, press, button, axis, leave } = shown(deep(square(60)));
  leave();
  point("pointermove", 30, 30);
  point("click", 30, 30);
  wheel(30, 30, { ctrlKey: true, deltaY: -600 });
  press("+");
  button("zoom in").click();
  axis("key")[0].click();
  expect(told).toEqual([]);
  expect(button("zoom out").disabled).toBe(true);
});

import { beforeEach, describe, expect, test } from "vitest";
import { middle, rowSizeFor } from "../../../src/data/ribbons";
import { stackOf } from "../../../src/data/stack";
import { headColor, PALETTES } from "../../../src/draw/colors";
import type { Pane } from "../../../src/state/pane";
import { strandColor } from "../../../src/views/stack/strands";
import { stackView } from "../../../src/views/stack/view";
import { deep, type Extras, scribe } from "../../support/deep";
import { labels } from "../../support/fixtures";
import { measureWith } from "../../support/measures";

const TWO = [
  [
    [
      [1, 0, 0],
      [0.5, 0.5, 0],
      [0.2, 0.2, 0.6],
    ],
  ],
  [
    [
      [0, 1, 0],
      [0, 0, 1],
      [0.5, 0, 0.5],
    ],
  ],
];

const CROSS: Extras = {
  stream: { name: "cross", kind: "cross", queries: labels("q", 2), keys: labels("k", 3) },
};

/** The middles of its three rows. */
const ROW = [0, 1, 2].map((row) => middle(row, rowSizeFor(3, 640).pitch));

/** A view on the page, with a field of 216 pixels: columns at 8, 108 and 208. */
function shown(pane: Pane) {
  const { actions, told } = scribe();
  const scope = new AbortController();
  const view = stackView(actions, scope.signal);
  document.body.append(view.node);
  const field = view.node.querySelector(".nv-field") as HTMLElement;
  Object.defineProperty(field, "offsetWidth", { value: 216 });
  const draw = (now: Pane) => {
    const isDrawn = view.draw(now, PALETTES.light);
    view.highlight(null);
    return isDrawn;
  };
  draw(pane);
  const point = (type: string, x: number, y: number) =>
    field.dispatchEvent(new MouseEvent(type, { clientX: x, clientY: y, bubbles: true }));
  const items = (role: string) => [
    ...view.node.querySelectorAll<HTMLElement>(`.nv-tokens.nv-${role} li`),
  ];
  return { view, told, point, items, draw, leave: () => scope.abort() };
}

beforeEach(() => document.body.replaceChildren());

describe("the stack", () => {
  test("has the tokens at both roles and a title for each layer", () => {
    const { view, items } = shown(deep(TWO));
    expect(items("key").map((item) => item.textContent)).toEqual(["t0", "t1", "t2"]);
    expect(items("query")).toHaveLength(3);
    const titles = [...view.node.querySelectorAll(".nv-number")];
    expect(titles.map((title) => title.textContent)).toEqual(["0", "1"]);
  });

  test("shows all tokens from the last layer while none is in focus", () => {
    const { view } = shown(deep(TWO, { changes: { layer: 0 } }));
    expect(view.describe(null).sentence).toContain("all tokens together after layer 1");
    expect(view.node.querySelector(".nv-number.nv-on")?.textContent).toBe("1");
  });

  test("follows a token from the chosen layer, and dims what it is not made of", () => {
    const { view, items } = shown(deep(TWO, { changes: { layer: 0 } }));
    view.highlight({ role: "query", token: 1 });
    expect(view.describe({ role: "query", token: 1 }).sentence).toContain(
      "‘t1’ after layer 0 is made of 50% ‘t0’, 50% ‘t1’",
    );
    const dim = items("key").map((item) => item.classList.contains("nv-dim"));
    expect(dim).toEqual([false, false, true]);
    expect(items("query")[1].classList).toContain("nv-on");
    expect(view.node.querySelector(".nv-base")?.classList).toContain("nv-faint");
    expect(
      view.legend().map((line) => (typeof line === "string" ? line : line.textContent)),
    ).toContain("all of the mass shown, in 2 ribbons");
    view.highlight(null);
    expect(view.node.querySelectorAll(".nv-dim, .nv-faint")).toHaveLength(0);
  });

  test("follows a token that gives up to the last layer", () => {
    const { view, items } = shown(deep(TWO, { changes: { layer: 0 } }));
    view.highlight({ role: "key", token: 2 });
    expect(view.describe({ role: "key", token: 2 }).sentence).toContain(
      "‘t2’ makes up 60% of ‘t1’, 30% of ‘t2’ after layer 1",
    );
    expect(items("key")[2].classList).toContain("nv-on");
    expect(items("query").map((item) => item.classList.contains("nv-dim"))).toEqual([
      true,
      false,
      false,
    ]);
  });

  test("names the token that is followed where no tokens stand beside it", () => {
    const { view } = shown(deep(TWO, { changes: { layer: 0 } }));
    view.highlight({ role: "query", token: 1 });
    const names = [...view.node.querySelectorAll(".nv-names .nv-on")];
    expect(names.map((name) => name.textContent)).toEqual(["t1"]);
    view.highlight(null);
    expect(view.node.querySelector(".nv-names")?.childElementCount).toBe(0);
  });
});

describe("pointing", () => {
  test("at a place of the field looks at the token of that layer", () => {
    const { view, told, point } = shown(deep(TWO));
    point("pointermove", 108, ROW[1]);
    expect(told).toEqual(["hover query 1"]);
    view.highlight({ role: "query", token: 1 });
    expect(view.describe({ role: "query", token: 1 }).sentence).toContain("‘t1’ after layer 0");
    point("pointermove", 110, ROW[1] + 3);
    expect(told).toHaveLength(1);
    point("pointerleave", 0, 0);
    expect(told.at(-1)).toBe("hover nothing");
  });

  test("at the same token in another layer has it told anew", () => {
    const { view, told, point } = shown(deep(TWO));
    point("pointermove", 108, ROW[1]);
    view.highlight({ role: "query", token: 1 });
    point("pointermove", 208, ROW[1]);
    expect(told).toEqual(["hover query 1", "refresh"]);
    view.highlight({ role: "query", token: 1 });
    expect(view.describe({ role: "query", token: 1 }).sentence).toContain("‘t1’ after layer 1");
  });

  test("at the first column looks at a token that gives", () => {
    const { told, point } = shown(deep(TWO));
    point("pointermove", 8, ROW[2]);
    expect(told).toEqual(["hover key 2"]);
  });

  test("beyond the tokens looks at nothing", () => {
    const { told, point } = shown(deep(TWO));
    point("pointermove", 100, 5);
    point("pointermove", 100, 500);
    expect(told).toEqual(["hover query 0", "hover nothing"]);
  });
});

describe("a click", () => {
  test("pins a token of the chosen layer", () => {
    const { told, point } = shown(deep(TWO));
    point("click", 208, ROW[1]);
    expect(told).toEqual(["pin query 1"]);
  });

  test("in another layer chooses that layer too, and pins in any case", () => {
    const { told, point } = shown(deep(TWO));
    point("click", 108, ROW[1]);
    expect(told).toEqual(['choose {"layer":0,"token":null}', "pin query 1"]);
  });

  test("changes the second layer in the second of two compared layers", () => {
    const pane = deep(TWO, { changes: { layer: 1, compare: 1 }, title: "layer 1" });
    const { told, point } = shown(pane);
    point("click", 108, ROW[1]);
    expect(told[0]).toBe('choose {"compare":0,"token":null}');
  });

  test("on the tokens at the roles pins what gives, or what stands after the last layer", () => {
    const { told, items } = shown(deep(TWO, { changes: { layer: 0 } }));
    items("key")[2].click();
    items("query")[0].click();
    expect(told).toEqual(["pin key 2", 'choose {"layer":1,"token":null}', "pin query 0"]);
  });
});

describe("where nothing can be traced", () => {
  test("another text is shown layer by layer", () => {
    const layer = [
      [
        [0.5, 0.3, 0.2],
        [0, 0, 1],
      ],
    ];
    const { view, told, point, items } = shown(deep([layer, layer], CROSS));
    expect(view.describe(null).sentence).toContain("all tokens together in layer 1 take");
    point("click", 70, ROW[1]);
    expect(told).toEqual(['choose {"layer":0,"token":null}', "pin key 1"]);
    items("query")[1].click();
    expect(told.at(-1)).toBe("pin query 1");
  });

  test("a norm says so in place of the picture", () => {
    const { view } = shown(
      deep(TWO, { measure: { label: "‖f(x)‖", axes: ["layer", "head", "key"] } }),
    );
    expect(view.node.querySelector(".nv-remark")?.textContent).toContain("nothing to trace");
    expect(view.node.querySelector<HTMLElement>(".nv-lanes")?.hidden).toBe(true);
    expect(view.ranking?.(null)).toBeNull();
  });
});

describe("without the residual connection", () => {
  const block = measureWith({
    id: "attention-block",
    label: "+ LayerNorm",
    family: "ladder",
    has_residual: true,
  });
  const holding = (changes: Extras["changes"] = {}) => {
    const pane = deep(TWO, { stream: { measures: ["weight", "attention-block"] }, changes });
    pane.flow.measures.push(block);
    return pane;
  };
  const noteIn = (node: HTMLElement) => node.querySelector<HTMLElement>(".nv-residual");

  test("a note says so, and offers the measure that includes it", () => {
    const { view, told } = shown(holding());
    expect(noteIn(view.node)?.textContent).toContain("α does not include it");
    noteIn(view.node)?.querySelector("button")?.click();
    expect(told).toEqual(['choose {"measure":"attention-block"}']);
  });

  test("a flow that cannot tell says what to ask for", () => {
    const { view } = shown(deep(TWO));
    expect(noteIn(view.node)?.querySelector("code")?.textContent).toBe(
      'measures=[…, "attention-block"]',
    );
    expect(noteIn(view.node)?.querySelector("button")).toBeNull();
  });

  test("nothing is offered beside the measure itself, nor by the second of two", () => {
    const beside = shown(holding({ compare: "attention-block" }));
    expect(noteIn(beside.view.node)?.querySelector("button")).toBeNull();
    const second = shown(holding({ compare: "weight" }));
    expect(noteIn(second.view.node)?.querySelector("button")).toBeNull();
  });

  test("the note goes when the measure includes it", () => {
    const { view, draw } = shown(deep(TWO));
    draw(deep(TWO, { measure: { id: "attention-block", has_residual: true } }));
    expect(noteIn(view.node)?.hidden).toBe(true);
  });
});

test("all heads have the hue of the measure, and a head its own", () => {
  const color = (extras: Extras) => {
    const stack = stackOf(deep(TWO, extras));
    return stack && strandColor(stack, PALETTES.light);
  };
  expect(color({})).toBe(PALETTES.light.hues.weight);
  expect(color({ measure: { of_weights: false } })).toBe(PALETTES.light.hues.norm);
  expect(color({ changes: { heads: [0] } })).toBe(headColor(0, PALETTES.light));
});

test("it waits until all layers are here", () => {
  const { view } = shown(deep(TWO));
  const pane = deep(TWO, { changes: { heads: [0] } });
  pane.tiles.layer = () => null;
  expect(view.draw(pane, PALETTES.light)).toBe(false);
});

test("the layers are gathered once for all that is asked of them", () => {
  const pane = deep(TWO);
  const { draw } = shown(pane);
  pane.tiles.layer = () => {
    throw new Error("gathered again");
  };
  expect(draw({ ...pane, state: { ...pane.state, layer: 0, threshold: 0.5 } })).toBe(true);
  const words = { ...pane, state: { ...pane.state, words: true } };
  expect(() => draw(words)).toThrow("gathered again");
});

test("the layers of the last three measures are kept, and no more", () => {
  const pane = deep(TWO);
  const { draw } = shown(pane);
  const others = [true, false].map((words) => ({
    ...pane,
    state: { ...pane.state, words, special: "hidden" as const },
  }));
  for (const other of others) draw(other);
  const gather = pane.tiles.layer.bind(pane.tiles);
  pane.tiles.layer = () => {
    throw new Error("gathered again");
  };
  for (const known of [pane, ...others]) expect(draw(known)).toBe(true);
  pane.tiles.layer = gather;
  draw({ ...pane, state: { ...pane.state, heads: [0] } });
  pane.tiles.layer = () => {
    throw new Error("gathered again");
  };
  expect(() => draw(pane)).toThrow("gathered again");
});

test("beside another picture it tells who gives how much, alone it does not", () => {
  const focus = { role: "query" as const, token: 2 };
  expect(shown(deep(TWO)).view.ranking?.(focus)).toBeNull();
  const standing = shown(deep(TWO, { title: "α" })).view.ranking?.(focus);
  expect(standing?.labels).toEqual(["t0", "t1", "t2"]);
  const values = Array.from(standing?.values ?? [], (share) => share.toFixed(2));
  expect(values).toEqual(["0.60", "0.10", "0.30"]);
});

test("after the end nothing listens", () => {
  const { told, point, items, leave } = shown(deep(TWO));
  leave();
  point("pointermove", 108, ROW[1]);
  point("click", 108, ROW[1]);
  items("key")[0].click();
  expect(told).toEqual([]);
});

import { describe, expect, test, vi } from "vitest";
import { headColor, measureColor, PALETTES } from "../../../src/draw/colors";
import { type Pane, panesOf } from "../../../src/state/pane";
import { flowView } from "../../../src/views/flow/view";
import type { ViewState } from "../../../src/wire/types";
import { scribe } from "../../support/deep";
import { contractPane, header, pane, store, tiles } from "../../support/fixtures";
import { scoped } from "../../support/scope";

const scope = scoped();
const { light } = PALETTES;

/** A view on the page, whose ribbons go from 0 to 200 pixels. */
function shown(given: Pane) {
  const { actions, told } = scribe();
  const view = flowView(actions, scope.signal);
  document.body.append(view.node);
  const find = <T extends HTMLElement>(which: string) => view.node.querySelector(which) as T;
  const size = (which: string, name: string, value: number) =>
    Object.defineProperty(find(which), name, { value });
  size(".nv-tokens.nv-key", "offsetWidth", 0);
  size(".nv-tokens.nv-key", "offsetLeft", -7);
  size(".nv-tokens.nv-query", "offsetLeft", 207);
  const draw = (now: Pane) => {
    const isDrawn = view.draw(now, light);
    view.highlight(null);
    return isDrawn;
  };
  draw(given);
  const marks = () => [...(view.vectors?.().values() ?? [])].flat();
  const bars = () => [...view.node.querySelectorAll<HTMLElement>(".nv-shares li i")];
  const numbers = () =>
    [...view.node.querySelectorAll(".nv-shares li span")].map((one) => one.textContent);
  const point = (type: string, x: number, y: number) =>
    find(".nv-stage").dispatchEvent(new MouseEvent(type, { clientX: x, clientY: y }));
  return { view, told, find, draw, marks, bars, numbers, point };
}

const WEIGHTS = [
  [
    [0.5, 0.25, 0.25],
    [0.2, 0.4, 0.4],
  ],
  [
    [0.5, 0.5, 0],
    [0, 0, 1],
  ],
];
const NORMS = [
  [1, 2, 4],
  [3, 2, 4],
];

const colorsOf = (marks: string[]) =>
  new Set(marks.map((mark) => /(?:stroke|fill)="(#[0-9a-f]{6})"/.exec(mark)?.[1]));

describe("the colors of the flow", () => {
  test("are one hue for all heads, that of the measure", () => {
    const weight = pane(WEIGHTS, {}, NORMS);
    expect(colorsOf(shown(weight).marks())).toEqual(new Set([light.hues.weight]));
    const moved = pane(WEIGHTS, { measure: "weighted-norm" }, NORMS);
    expect(colorsOf(shown(moved).marks())).toEqual(new Set([light.hues.norm]));
  });

  test("are that hue too where there is only one head", () => {
    const moved = pane(WEIGHTS.slice(1), { measure: "weighted-norm" }, NORMS.slice(1));
    expect(colorsOf(shown(moved).marks())).toEqual(new Set([light.hues.norm]));
  });

  test("are those of the heads where some are chosen", () => {
    const three = [...WEIGHTS, WEIGHTS[0]];
    const { marks } = shown(pane(three, { heads: [0, 1] }));
    expect(colorsOf(marks())).toEqual(new Set([headColor(0, light), headColor(1, light)]));
  });

  test("of a difference are those of its two measures", () => {
    const changes = { measure: "weight", compare: "weighted-norm", difference: true };
    const { marks, bars } = shown(pane(WEIGHTS, changes, NORMS));
    const both = new Set([light.hues.weight, light.hues.norm]);
    expect(colorsOf(marks())).toEqual(both);
    expect(new Set(bars().map(({ style }) => style.background))).toEqual(both);
  });
});

describe("the shares beside the keys", () => {
  test("are of all, then of what the query in focus takes", () => {
    const { view, numbers, bars } = shown(pane(WEIGHTS));
    expect(numbers()).toEqual(["30%", "29%", "41%"]);
    view.highlight({ role: "query", token: 0 });
    expect(numbers()).toEqual(["50%", "38%", "13%"]);
    view.highlight(null);
    expect(numbers()).toEqual(["30%", "29%", "41%"]);
    expect(bars()[2].style.width).toBe("60px");
    expect(bars()[0].style.background).toBe(measureColor({ of_weights: true }, light));
  });

  test("have one scale for two measures side by side", () => {
    const changes = { measure: "weight", compare: "weighted-norm" };
    const both = panesOf(header, store(changes).state.value, tiles());
    const widths = both.map((one) =>
      shown(one)
        .bars()
        .map(({ style }) => Number.parseFloat(style.width)),
    );
    const longest = widths.map((some) => Math.max(...some));
    expect(Math.max(...longest)).toBe(60);
    expect(Math.min(...longest)).toBeLessThan(59);
  });

  test("are hidden for a measure without queries, which has bars instead of ribbons", () => {
    const { find, marks, bars } = shown(pane(WEIGHTS, { measure: "value-norm" }, NORMS));
    expect(find(".nv-shares").hidden).toBe(true);
    expect(find(".nv-given").hidden).toBe(true);
    expect(bars()).toHaveLength(0);
    expect(marks()).toHaveLength(3);
    expect(colorsOf(marks())).toEqual(new Set([light.hues.norm]));
    const one = shown(
      pane([...WEIGHTS, WEIGHTS[0]], { measure: "value-norm", heads: [0, 1] }, [
        ...NORMS,
        NORMS[0],
      ]),
    );
    expect(colorsOf(one.marks())).toEqual(new Set([headColor(0, light), headColor(1, light)]));
  });
});

describe("a long text", () => {
  const many = (count: number) => [
    Array.from({ length: count }, (_, query) =>
      Array.from({ length: count }, (_, key) => 1 + ((query * 7 + key * 13) % 31)),
    ),
  ];
  const drawn = ({ view }: ReturnType<typeof shown>) =>
    view
      .legend()
      .map((line) => (typeof line === "string" ? line : line.textContent))
      .join();

  test("has only the strongest links of each token, and says so", () => {
    expect(drawn(shown(pane(many(60))))).toContain("the 3 strongest links of each token drawn");
    expect(drawn(shown(pane(many(59))))).not.toContain("links of each token");
  });

  test("has all above a threshold, where one is set", () => {
    expect(drawn(shown(pane(many(60), { threshold: 0.5 })))).not.toContain("links of each");
  });
});

describe("pointing at a ribbon", () => {
  test("says what it is, until the pointer leaves it", () => {
    const { find, point } = shown(pane([[[1]]]));
    const tip = find(".nv-tip");
    expect(tip.hidden).toBe(true);
    point("pointermove", 100, 32);
    expect(tip.hidden).toBe(false);
    expect(tip.textContent).toBe("‘k0’ → ‘q0’: α 1.00, 100% of what ‘q0’ takes");
    point("pointermove", 300, 32);
    expect(tip.hidden).toBe(true);
    point("pointermove", 100, 32);
    point("pointerleave", 100, 32);
    expect(tip.hidden).toBe(true);
  });

  test("changes nothing else, and nothing after the end", () => {
    const { find, point, told } = shown(pane([[[1]]]));
    point("pointermove", 100, 32);
    expect(told).toEqual([]);
    point("pointerleave", 0, 0);
    scope.abort();
    point("pointermove", 100, 32);
    expect(find(".nv-tip").hidden).toBe(true);
  });
});

test("it waits for the picture beside it, with which it shares its scale", () => {
  const changes: Partial<ViewState> = { measure: "weight", compare: 2 };
  const given = contractPane(changes);
  const layer = given.tiles.layer.bind(given.tiles);
  const late = vi.fn((...[index, stream, name, at, part]: Parameters<typeof layer>) =>
    at === 2 ? null : layer(index, stream, name, at, part),
  );
  given.tiles.layer = late;
  const { draw } = shown(given);
  expect(draw(given)).toBe(false);
  given.tiles.layer = layer;
  expect(draw(given)).toBe(true);
});

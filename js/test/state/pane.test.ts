import { describe, expect, test } from "vitest";
import { panesOf, translateFocus } from "../../src/state/pane";
import type { Header, ViewState } from "../../src/wire/types";
import { header, state, tiles } from "../support/fixtures";

const two: Header = {
  ...header,
  flows: [header.flows[0], { ...header.flows[0], model: "another" }],
  counterparts: [
    {
      encoder: {
        queries: { there: [2, null, 0], back: [2, null, 0] },
        keys: { there: [1, 1, null], back: [null, 0, null] },
      },
    },
  ],
};

const panes = (changes: Partial<ViewState>, of: Header = header) =>
  panesOf(of, { ...state, ...changes }, tiles());

describe("panes", () => {
  test("there is one, without a title, when nothing is compared", () => {
    expect(panes({}).map(({ title }) => title)).toEqual([""]);
  });

  test("another measure stands beside, in the same layer", () => {
    const [left, right] = panes({ measure: "weight", compare: "attention", layer: 2 });
    expect([left.title, right.title]).toEqual(["α", "‖Σ αf(x)‖"]);
    expect([right.measure.id, right.state.layer, right.index]).toEqual(["attention", 2, 0]);
  });

  test("another layer stands beside, in the same measure", () => {
    const [left, right] = panes({ compare: 2 });
    expect([left.title, right.title]).toEqual(["layer 0", "layer 2"]);
    expect([right.measure.id, right.state.layer]).toEqual([left.measure.id, 2]);
  });

  test("another flow stands beside, under the name of its model", () => {
    const [left, right] = panes({ compare: "other" }, two);
    expect([left.title, right.title]).toEqual(["tiny", "another"]);
    expect(right.index).toBe(1);
  });

  test("each knows the one beside it", () => {
    const [left, right] = panes({ compare: 2 });
    expect(left.beside?.map(({ state: { layer } }) => layer)).toEqual([2]);
    expect(right.beside?.map(({ state: { layer } }) => layer)).toEqual([0]);
    expect(panes({})[0].beside).toEqual([]);
  });

  test("what the other flow lacks is refused with a sentence", () => {
    const [full, other] = two.flows;
    const stream = { ...other.streams[0], layers: [0], heads: [1], measures: ["weight"] };
    const less = { ...two, flows: [full, { ...other, streams: [stream] }] };
    const ask = (changes: Partial<ViewState>) => panes({ compare: "other", ...changes }, less);
    expect(() => ask({ measure: "attention" })).toThrow("The other flow has no measure attention.");
    expect(() => ask({ measure: "weight", layer: 2 })).toThrow("has no layer 2");
    expect(ask({ measure: "weight", heads: [1, 3] })[1].state.heads).toEqual([1]);
    expect(ask({ measure: "weight", heads: [3] })[1].state.heads).toBeNull();
    expect(() => panes({ compare: "other" })).toThrow("no other flow");
  });
});

describe("a difference", () => {
  const pair = { measure: "weight", compare: "weighted-norm", difference: true };

  test("is one pane, of a signed measure that knows its two", () => {
    const shown = panes(pair);
    expect(shown).toHaveLength(1);
    const { measure, title } = shown[0];
    expect(title).toBe("");
    expect(measure).toMatchObject({
      id: "difference:weight:weighted-norm",
      label: "‖αf(x)‖ − α",
      signed: true,
      axes: ["layer", "query", "key"],
    });
    expect(measure.meaning).toBe("share by ‖αf(x)‖ minus share by α, of what each token takes");
    expect(measure.pair?.map(({ id }) => id)).toEqual(["weight", "weighted-norm"]);
  });

  test("is none where a measure has no queries, or none is compared", () => {
    expect(panes({ ...pair, compare: "value-norm" }).map(({ measure }) => measure.id)).toEqual([
      "weight",
      "value-norm",
    ]);
    expect(panes({ ...pair, compare: null })[0].measure.id).toBe("weight");
    expect(panes({ ...pair, compare: 2 })).toHaveLength(2);
  });

  test("is shown only by views that can compute it from a layer", () => {
    const shown = (view: ViewState["view"]) =>
      panes({ ...pair, view }).map(({ measure }) => measure.id);
    for (const view of ["flow", "matrix", "text"] as const) {
      expect(shown(view)).toEqual(["difference:weight:weighted-norm"]);
    }
    for (const view of ["stack", "grid", "profile", "alignment"] as const) {
      expect(shown(view)).toEqual(["weight", "weighted-norm"]);
    }
  });
});

describe("a token of another flow", () => {
  const [, right] = panes({ compare: "other" }, two);

  test("is found across, and back", () => {
    expect(translateFocus(two, right, { role: "query", token: 0 }, "there")).toEqual({
      role: "query",
      token: 2,
    });
    expect(translateFocus(two, right, { role: "key", token: 1 }, "back")?.token).toBe(0);
  });

  test("is none where it has no counterpart, or nothing is in focus", () => {
    expect(translateFocus(two, right, { role: "query", token: 1 }, "there")).toBeNull();
    expect(translateFocus(two, right, null, "there")).toBeNull();
  });

  test("is itself in the first flow", () => {
    const [left] = panes({});
    const focus = { role: "query", token: 1 } as const;
    expect(translateFocus(header, left, focus, "there")).toBe(focus);
  });
});

import { describe, expect, test } from "vitest";
import { focusedRow, type TokenRow } from "../../../src/data/layer";
import { headsPhrase, modeOf, stackOf, tracedLayer } from "../../../src/data/stack";
import { linksOf } from "../../../src/math/trace";
import type { Pane } from "../../../src/state/pane";
import { makeupOf } from "../../../src/views/stack/makeup";
import { caveats, describeMakeup, stackLegend } from "../../../src/views/stack/words";
import { CROSS, deep, type Extras, gathered, TWO } from "../../support/deep";
import { labels, tilesWith } from "../../support/fixtures";
import { REACHING_INPUT, rolloutOf } from "../../support/measures";

const PAST = "without the residual connection";

const query = (row: number): TokenRow => ({ role: "query", row });
const key = (row: number): TokenRow => ({ role: "key", row });

describe("the layers of a pane", () => {
  test("are divided, with the mean of the chosen heads", () => {
    const heads = [
      [
        [1, 0],
        [0, 1],
      ],
      [
        [0, 1],
        [0, 1],
      ],
    ];
    const all = gathered(deep([heads]));
    expect([...all.divisions[0]]).toEqual([0.5, 0.5, 0, 1]);
    expect(all.heads).toBe("mean of 2 heads");
    const one = gathered(deep([heads], { changes: { heads: [1] } }));
    expect([...one.divisions[0]]).toEqual([0, 1, 0, 1]);
    expect([one.heads, one.head]).toEqual(["head 1", 1]);
  });

  test("are all asked for before any is missed", () => {
    const asked: string[] = [];
    const pane = deep(TWO);
    const tiles = tilesWith({});
    tiles.layer = (_flow, _stream, _measure, layer, heads) => {
      asked.push(`${layer} ${heads}`);
      return null;
    };
    expect(stackOf({ ...pane, tiles })).toBeNull();
    expect(asked).toEqual(["0 sum", "1 sum"]);
  });

  test("are named by their heads", () => {
    const many = Array.from({ length: 6 }, () => [[1]]);
    const named = (heads: number[] | null) => headsPhrase(deep([many], { changes: { heads } }));
    expect(named([1, 4])).toBe("mean of heads 1, 4");
    expect(named([0, 1, 2, 3, 4])).toBe("mean of 5 of 6 heads");
    const plain = deep([[[[1]]]], { measure: { axes: ["layer", "query", "key"] } });
    expect(headsPhrase(plain)).toBe("all heads together");
  });
});

describe("how layers are shown together", () => {
  const mode = (extras: Extras) => {
    const { stream, measure } = deep(TWO, extras);
    return modeOf(stream, measure);
  };

  test("is a trace, except for another text, and for what reaches back already", () => {
    expect(mode({})).toBe("traced");
    expect(mode(CROSS)).toBe("separate");
    expect(mode({ stream: { name: "text.cross", kind: "cross" } })).toBe("separate");
    expect(mode({ measure: rolloutOf("attention-block") })).toBe("direct");
    expect(mode({ ...CROSS, measure: REACHING_INPUT })).toBe("separate");
    expect(mode({ measure: { axes: ["layer", "head", "key"] } })).toBe("none");
  });

  test("starts at the chosen layer for a token that takes, else at the last", () => {
    const pane = deep(TWO, { changes: { layer: 0 } });
    expect(tracedLayer(pane, "traced", { role: "query", token: 0 })).toBe(0);
    expect(tracedLayer(pane, "traced", null)).toBe(1);
    expect(tracedLayer(pane, "traced", { role: "key", token: 0 })).toBe(1);
    expect(tracedLayer(pane, "direct", null)).toBe(1);
    expect(tracedLayer(pane, "separate", null)).toBe(0);
    const compared = deep(TWO, { changes: { layer: 0, compare: 1 } });
    expect(tracedLayer(compared, "traced", null)).toBe(0);
  });
});

describe("the sentence", () => {
  test("says what a token is made of, and that the residual connection is left out", () => {
    const { sentence, caption, columns, rows } = describeMakeup(
      makeupOf(gathered(deep(TWO)), query(2), 1),
    );
    expect(sentence).toBe(
      "α, head 0: ‘t2’ after layer 1 is made of 60% ‘t0’, 30% ‘t2’, 10% ‘t1’ of the first " +
        `layer's tokens (${PAST}).`,
    );
    expect(caption).toBe("α: what ‘t2’ (2) is made of after layer 1");
    expect(columns).toEqual(["#", "made of", "share"]);
    expect(rows).toEqual([
      ["0", "t0", "60%"],
      ["2", "t2", "30%"],
      ["1", "t1", "10%"],
    ]);
  });

  test("starts after the layer it names", () => {
    const { sentence } = describeMakeup(makeupOf(gathered(deep(TWO)), query(2), 0));
    expect(sentence).toContain("‘t2’ after layer 0 is made of 60% ‘t2’, 20% ‘t0’, 20% ‘t1’");
  });

  test("says it of all tokens alike", () => {
    const { sentence } = describeMakeup(makeupOf(gathered(deep(TWO)), null, 1));
    expect(sentence).toContain("all tokens together after layer 1 are made of 43% ‘t0’, 30% ‘t2’");
  });

  test("says what is made of a token", () => {
    const { sentence, columns, rows } = describeMakeup(makeupOf(gathered(deep(TWO)), key(0), 1));
    expect(sentence).toContain("‘t0’ makes up 60% of ‘t2’, 50% of ‘t0’, 20% of ‘t1’ after layer 1");
    expect(columns).toEqual(["#", "found in", "of it"]);
    expect(rows).toHaveLength(3);
  });

  test("says what went to hidden tokens, of all that there was", () => {
    const tokens = { ...labels("t", 3), special: [true, false, false] };
    const pane = deep(TWO, {
      stream: { queries: tokens, keys: tokens },
      changes: { special: "hidden" },
    });
    const stack = gathered(pane);
    const { sentence, rows } = describeMakeup(
      makeupOf(stack, focusedRow(stack, { role: "query", token: 2 }), 1),
    );
    expect(sentence).toContain("is made of 30% ‘t2’, 10% ‘t1’");
    expect(sentence).toContain(
      "(60% went to hidden special tokens; without the residual connection)",
    );
    expect(rows.at(-1)).toEqual(["", "hidden special tokens", "60%"]);
    expect(focusedRow(stack, { role: "query", token: 0 })).toBeNull();
  });

  test("says where a mass rests that nothing takes further", () => {
    const stuck = deep([
      [
        [
          [0, 0],
          [0, 1],
        ],
      ],
      [
        [
          [1, 0],
          [0.5, 0.5],
        ],
      ],
    ]);
    const { sentence } = describeMakeup(makeupOf(gathered(stuck), query(1), 1));
    expect(sentence).toContain("(50% stays at tokens that take nothing;");
    expect(describeMakeup(makeupOf(gathered(stuck), query(0), 1)).sentence).toContain(
      "is made of nothing that is shown",
    );
  });

  test("names the first layer that is held, and those that are not", () => {
    const stack = gathered(deep(TWO, { layers: [2, 5] }));
    const { sentence } = describeMakeup(makeupOf(stack, query(2), 5));
    expect(sentence).toContain("of the tokens before layer 2, the first layer held");
    expect(sentence).toContain("not held, and left out of the trace: layer 3, 4)");
  });

  test("says of another text what a token takes in one layer, and that nothing is traced", () => {
    const cross = gathered(
      deep(
        [
          [
            [
              [0.5, 0.3, 0.2],
              [0, 0, 1],
            ],
          ],
        ],
        CROSS,
      ),
    );
    const takes = describeMakeup(makeupOf(cross, query(0), 0));
    expect(takes.sentence).toBe(
      "α, head 0: ‘q0’ in layer 0 takes 50% from ‘k0’, 30% from ‘k1’, 20% from ‘k2’ " +
        "(each layer by itself: the keys are another text, so nothing is traced).",
    );
    expect(takes.columns).toEqual(["#", "read from", "share"]);
    const gives = describeMakeup(makeupOf(cross, key(2), 0));
    expect(gives.sentence).toContain("‘k2’ gives 100% of ‘q1’, 20% of ‘q0’ in layer 0");
    const all = describeMakeup(makeupOf(cross, null, 0));
    expect(all.sentence).toContain("all tokens together in layer 0 take 60% from ‘k2’");
  });

  test("says that a norm has nothing to trace", () => {
    const norm = gathered(
      deep(TWO, { measure: { label: "‖f(x)‖", axes: ["layer", "head", "key"] } }),
    );
    const { sentence, rows } = describeMakeup(makeupOf(norm, null, 1));
    expect(sentence).toBe(
      "‖f(x)‖ has no queries, so there is nothing to trace. " +
        "Choose a measure between tokens, such as α.",
    );
    expect(rows).toEqual([]);
  });
});

describe("the remark about the residual connection", () => {
  const remarks = (measure: Extras["measure"]) =>
    caveats(gathered(deep(TWO, measure ? { measure } : {}))).join("; ");

  test("stands beside measures without it, and only those", () => {
    expect(remarks({ has_residual: false })).toBe(PAST);
    expect(remarks({ has_residual: true })).toBe("");
    const cross = gathered(deep([[[[1]]]], { stream: { name: "text.cross", kind: "cross" } }));
    expect(caveats(cross).join("; ")).not.toContain("residual");
  });

  test("stands beside measures that reach back to the input, too", () => {
    const direct = "α reaches back to the input by itself, so no layer is traced";
    expect(remarks({ reaches: "input", has_residual: true })).toBe(direct);
    expect(remarks({ reaches: "input" })).toBe(`${direct}; ${PAST}`);
  });
});

describe("the legend", () => {
  const lines = (pane: Pane, share = 0.95) => {
    const makeup = makeupOf(gathered(pane), query(2), 1);
    const enough = { share, limit: 99, least: pane.state.threshold };
    return stackLegend(makeup, makeup.trace && linksOf(makeup.trace, 3, enough), 0.2);
  };

  test("says how the whole is divided, what a width stands for and how much is shown", () => {
    expect(lines(deep(TWO), 0.5)).toEqual([
      "each token is divided in proportion to α (head 0)",
      "columns: the first layer's tokens, then the tokens after each layer",
      "this width: 20% of ‘t2’",
      "the strongest 2 ribbons: 50% of the mass shown",
    ]);
    expect(lines(deep(TWO), 1)).toContain("all of the mass shown, in 6 ribbons");
  });

  test("restates the share when a threshold leaves links out", () => {
    const told = lines(deep(TWO, { changes: { threshold: 0.5 } }), 1);
    expect(told).toContain("no link below 25% is drawn");
    expect(told).toContain("the strongest 4 ribbons: 90% of the mass shown, least 80% in layer 0");
  });

  test("says what the longest bar is where each layer is for itself", () => {
    const cross = gathered(
      deep(
        [
          [
            [
              [0.5, 0.3, 0.2],
              [0, 0, 1],
            ],
          ],
        ],
        CROSS,
      ),
    );
    expect(stackLegend(makeupOf(cross, query(0), 0), null, 0.5)).toEqual([
      "each token is divided in proportion to α (head 0)",
      "one column: layer 0",
      "longest bar: 50% of ‘q0’",
    ]);
  });
});

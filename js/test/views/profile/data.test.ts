import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { kindsOf, outlineOf, SHAPES, specialKinds } from "../../../src/data/tokenKinds";
import { contrast, PALETTES } from "../../../src/draw/colors";
import { otherMeasure, type Profile, profileOf } from "../../../src/views/profile/data";
import { curveChart, layerAt, nearest, pointChart, tags } from "../../../src/views/profile/layout";
import {
  meansOf,
  missingReason,
  type Scatter,
  scatterOf,
  scatterRow,
} from "../../../src/views/profile/scatter";
import { describeProfile, profileLines } from "../../../src/views/profile/words";
import type { Stream, ViewState } from "../../../src/wire/types";
import { opened } from "../../support/fixtures";
import { STREAM, smallPane } from "../../support/overviews";

const both = { compare: "weighted-norm" };

function profile(changes: Partial<ViewState> = {}): Profile {
  return profileOf(smallPane(changes), PALETTES.light) as Profile;
}

function scatter(changes: Partial<ViewState> = {}, stream: Stream = STREAM): Scatter {
  return scatterOf(smallPane(changes, stream)) as Scatter;
}

const say = (changes: Partial<ViewState> = {}, token: number | null = null, layer = 1) =>
  describeProfile(
    profile(changes),
    scatter(changes),
    token === null ? null : { role: "key", token },
    { layer, isPointed: false },
  );

describe("the kinds of token", () => {
  const ids = ["other", "[SEP]", "visual", "[CLS]", "punctuation", "special"];

  test("have colors that can be seen and shapes that differ", () => {
    for (const palette of Object.values(PALETTES)) {
      const kinds = kindsOf(ids, palette);
      expect(new Set(kinds.map(({ shape }) => shape)).size).toBe(ids.length);
      expect(new Set(kinds.map(({ color }) => color)).size).toBe(ids.length);
      for (const { color } of kinds) {
        expect(contrast(color, palette.paper)).toBeGreaterThan(4);
      }
    }
  });

  test("come in one order, whatever the text", () => {
    const names = (some: string[]) => kindsOf(some, PALETTES.light).map(({ name }) => name);
    expect(names(ids)).toEqual(["[CLS]", "[SEP]", "punctuation", "special", "words", "visual"]);
    expect(names(["[SEP]", "other"])).toEqual(["[SEP]", "words"]);
  });

  test("are special where all their tokens are", () => {
    expect([...specialKinds(STREAM.keys)]).toEqual(["[CLS]", "[SEP]"]);
  });

  test("have marks around their point", () => {
    for (const shape of SHAPES) {
      const numbers =
        outlineOf(shape, 100, 50, 4)
          .match(/[\d.]+/g)
          ?.map(Number) ?? [];
      expect(numbers.length).toBeGreaterThanOrEqual(6);
      numbers.forEach((value, at) => {
        expect(Math.abs(value - (at % 2 === 0 ? 100 : 50))).toBeLessThanOrEqual(6);
      });
    }
  });
});

describe("the curves", () => {
  test("are the shares of each kind in the chosen measure", () => {
    const { curves, measures } = profile();
    expect(measures.map(({ id }) => id)).toEqual(["weight"]);
    expect(curves.map(({ kind }) => kind.name)).toEqual(["[CLS]", "[SEP]", "punctuation", "words"]);
    expect(curves[0].shares).toEqual([0.38, 0.2]);
  });

  test("are there twice when a measure is compared, and only then", () => {
    const { curves } = profile(both);
    expect(curves).toHaveLength(8);
    expect(curves[4]).toMatchObject({ isOther: true, shares: [0.031, 0.1] });
    for (const compare of [4, "other", "weight", null]) {
      expect(otherMeasure(smallPane({ compare }))).toBeNull();
    }
  });

  test("leave special tokens out without making the rest larger", () => {
    const { curves, hidden } = profile({ special: "hidden" });
    expect(curves.map(({ kind }) => kind.id)).toEqual(["punctuation", "other"]);
    expect(curves[1].shares).toEqual([0.5, 0.5]);
    expect(hidden).toEqual(["[CLS]", "[SEP]"]);
  });

  test("have names that do not lie on each other, at the end of each", () => {
    fc.assert(
      fc.property(fc.integer({ min: 300, max: 700 }), (width) => {
        const { labels, frame } = curveChart(profile(both), width, 300);
        const heights = labels.map(({ y }) => y).sort((a, b) => a - b);
        heights.slice(1).forEach((y, at) => {
          expect(y - heights[at]).toBeGreaterThan(13.9);
        });
        expect(frame.right - frame.left).toBeGreaterThan(80);
        expect(labels[4].text).toBe("[CLS] ‖αf(x)‖");
      }),
    );
    expect(curveChart(profile(), 400, 300).labels[0].text).toBe("[CLS]");
  });

  test("stand at the model's own numbers", () => {
    const wide: Profile = { ...profile(), layers: [0, 1, 4] };
    const { xs } = curveChart(wide, 400, 300);
    expect((xs[2] - xs[0]) / (xs[1] - xs[0])).toBeCloseTo(4);
    expect(layerAt(xs, xs[1] + 5)).toBe(1);
    expect(layerAt(xs, 9999)).toBe(2);
  });

  test("number as many layers as fit", () => {
    const layers = Array.from({ length: 48 }, (_, layer) => layer);
    const deep: Profile = { ...profile(), layers };
    expect(curveChart(deep, 400, 300).numbered).toEqual([0, 5, 10, 15, 20, 25, 30, 35, 40, 45]);
    expect(curveChart(profile(), 400, 300).numbered).toEqual([1, 4]);
    const one: Profile = { ...profile(), layers: [7] };
    expect(curveChart(one, 400, 300).numbered).toEqual([7]);
  });
});

describe("the points", () => {
  test("are the mean weight and the norm of each key in each head", () => {
    const { points } = scatter();
    expect(points).toHaveLength(10);
    expect(points[0]).toMatchObject({ head: 0, row: 0, norm: 1 });
    expect(points[0].weight).toBeCloseTo(0.6);
    expect(points[6]).toMatchObject({ head: 3, row: 1, norm: 6 });
    expect(points[6].weight).toBeCloseTo(0.3);
  });

  test("are of the chosen heads", () => {
    const { points, heads } = scatter({ heads: [3] });
    expect(heads).toEqual([3]);
    expect(points.map(({ norm }) => norm)).toEqual([2, 6, 4, 5, 3]);
  });

  test("of words add up their weights and average their norms", () => {
    const { points, rows } = scatter({ words: true });
    expect(rows.labels[1]).toBe("undo");
    expect(points[1]).toMatchObject({ norm: 4 });
    expect(points[1].weight).toBeCloseTo(0.2);
  });

  test("leave hidden tokens out", () => {
    expect(scatter({ special: "hidden" }).points).toHaveLength(6);
  });

  test("have their correlation by rank", () => {
    expect(scatter({ heads: [0] }).correlation).toBeCloseTo(-Math.SQRT1_2);
    expect(scatter({ heads: [0] }).isLog).toBe(false);
  });

  test("of a decoder are means over the queries that can see the key", () => {
    const causal = Float32Array.from([1, 0, 0, 0.5, 0.5, 0, 0.2, 0.3, 0.5]);
    const rounded = (values: Float64Array) => [...values].map((value) => Number(value.toFixed(3)));
    expect(rounded(meansOf(causal, 3, true))).toEqual([0.567, 0.4, 0.5]);
    expect(rounded(meansOf(causal, 3, false))).toEqual([0.567, 0.267, 0.167]);
  });

  test("need two measures, and say which are missing", () => {
    const without = (...gone: string[]) => ({
      ...STREAM,
      measures: STREAM.measures.filter((id) => !gone.includes(id)),
    });
    expect(missingReason(smallPane())).toBeNull();
    expect(missingReason(smallPane({}, without("value-norm")))).toContain(
      "needs the measures weight and value-norm; value-norm is not held here",
    );
    expect(missingReason(smallPane({}, without("value-norm", "weight")))).toContain("are not held");
  });

  test("lie inside their axes, also where a weight is nothing", () => {
    const weights = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1 });
    fc.assert(
      fc.property(weights, fc.boolean(), (some, isLog) => {
        const points = some.map((weight, row) => ({ head: 0, row, norm: row, weight }));
        const isPositive = some.some((weight) => weight > 1e-300);
        const chart = pointChart({ ...scatter(), points, isLog: isLog && isPositive }, 400, 300);
        const { left, right, top, bottom } = chart.frame;
        chart.places.forEach((place, at) => {
          const [low, high] = at % 2 === 0 ? [left, right] : [top, bottom];
          expect(place).toBeGreaterThanOrEqual(low - 0.01);
          expect(place).toBeLessThanOrEqual(high + 0.01);
        });
      }),
    );
  });

  test("are on a log scale when they span more than two powers of ten", () => {
    const { places, y, up } = pointChart({ ...scatter(), isLog: true }, 400, 300);
    expect(places).toHaveLength(20);
    expect(y(0.1) - y(0.2)).toBeCloseTo(y(0.2) - y(0.4));
    expect(up).toContain(0.2);
  });

  test("are found near the pointer, and not from afar", () => {
    const places = Float32Array.from([10, 10, 20, 20, 22, 20]);
    expect(nearest(places, { x: 21.5, y: 21, reach: 14 })).toBe(2);
    expect(nearest(places, { x: 50, y: 50, reach: 14 })).toBeNull();
  });

  test("have numbers beside them that do not lie on each other", () => {
    const points = [0.1, 0.2, 0.3].map((weight, head) => ({ head, row: 0, norm: 1, weight }));
    const places = Float32Array.from([10, 80, 12, 75, 12, 20]);
    expect(tags(points, places, [0, 1, 2])).toEqual([2, 1]);
  });

  test("of a query are those of the same token as a key, but not across texts", () => {
    const focus = { role: "query", token: 4 } as const;
    expect(scatterRow(scatter(), focus)).toBe(4);
    expect(
      scatterRow({ ...scatter(), stream: { ...STREAM, name: "text.cross", kind: "cross" } }, focus),
    ).toBeNull();
    expect(scatterRow(scatter({ special: "hidden" }), focus)).toBeNull();
    expect(scatterRow(scatter(), null)).toBeNull();
  });

  test("average α over the queries that can see a key in any causal stream, by its kind", () => {
    const isCausal = (stream: string) => scatterOf(opened("towers", { stream }).pane())?.isCausal;
    expect([isCausal("text"), isCausal("vision")]).toEqual([true, false]);
  });
});

describe("in words the profile", () => {
  test("says where two measures differ most", () => {
    const { sentence, columns, rows } = say(both);
    expect(sentence).toBe("Layer 1: [CLS] gets 38% of α and 3.1% of ‖αf(x)‖.");
    expect(columns).toEqual(["n", "kind of token", "α", "‖αf(x)‖"]);
    expect(rows).toContainEqual(["2", "words", "50%", "50%"]);
    expect(rows).toContainEqual(["1", "[CLS]", "38%", "3.1%"]);
  });

  test("says who gets most of one", () => {
    expect(say().sentence).toBe("Layer 1: words get 50% of α, [CLS] 38%, punctuation 10%.");
    expect(say({}, null, 4).sentence).toMatch(/^Layer 4: words get 50% of α, \[CLS\] 20%/);
  });

  test("tells of a token what it gets and what it has to give", () => {
    const { sentence, rows, columns } = say({}, 0);
    expect(sentence).toBe(
      "Layer 1, all 2 heads: ‘[CLS]’ gets mean α 0.400 (number 1 of 5) " +
        "and has mean ‖f(x)‖ 1.50 (number 5 of 5).",
    );
    expect(columns[1]).toBe("rank among 5");
    expect(rows[0]).toEqual(["0", "1 by α, 5 by ‖f(x)‖", "0.600", "1.00"]);
  });

  test("tells of the layer under the pointer rather than of a token", () => {
    const at = { layer: 4, isPointed: true };
    const told = describeProfile(profile(), scatter(), { role: "key", token: 0 }, at);
    expect(told.sentence).toMatch(/^Layer 4: words/);
  });

  test("has a legend that says of what, over what, and what is left out", () => {
    const lines = profileLines(profile(both), scatter(), null);
    expect(lines[0]).toContain("in all that a layer's queries take, all heads together");
    expect(lines).toContain("solid α, dashed ‖αf(x)‖");
    expect(lines).toContainEqual(expect.stringMatching(/^Spearman ρ = −0\.\d\d over 10 points$/));
    const state = { special: "hidden", words: true } as const;
    const fewer = profileLines(profile(state), scatter(state), null);
    expect(fewer).toContain(
      "hidden: [CLS], [SEP]; shares still refer to everything, so they add up to less",
    );
    expect(fewer).toContainEqual(expect.stringContaining("curves show pieces, points show words"));
  });

  test("has a legend that says how the points lie", () => {
    const focus = { role: "key", token: 0 } as const;
    const points = [...scatter().points, { head: 0, row: 1, norm: 1, weight: 0 }];
    const deep = { ...scatter(), points, isLog: true, isCausal: true, correlation: null };
    const lines = profileLines(profile(), deep, focus);
    expect(lines).toContain("α on a log scale");
    expect(lines).toContain("points on the lower edge (α = 0): 1");
    expect(lines).toContain("mean α over the queries that can see the key");
    expect(lines).toContain("numbers beside points: heads");
    expect(lines).toContain("too few different points (11) for a rank correlation");
    expect(profileLines(profile(), null, focus)).toHaveLength(1);
  });
});

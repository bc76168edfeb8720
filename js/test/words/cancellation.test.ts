import { describe, expect, test } from "vitest";
import { readout } from "../../src/app/readout";
import { type Picture, type Projections, pictureOf } from "../../src/data/layer";
import { ribbonsOf } from "../../src/data/ribbons";
import { formatSignedNumber, formatSignedPercent } from "../../src/draw/signedCells";
import { panesOf } from "../../src/state/pane";
import type { ViewState } from "../../src/wire/types";
import { describe as say } from "../../src/words/describe";
import { ribbonLines } from "../../src/words/legend";
import { picture } from "../support/fixtures";
import { header, statistics, store, tiles } from "../support/rungs";

const query = { role: "query", token: 0 } as const;

/** A picture of parts 4, 2 and 1 long, that reach so far along the whole. */
function leaning(along: number[], changes: Partial<Picture> = {}): Picture {
  const found: Projections = {
    values: Float32Array.from(along),
    lengths: Float64Array.of(7),
    reach: Float64Array.of(along.reduce((sum, value) => sum + value, 0)),
    hasOtherText: false,
  };
  return { ...picture([[[4, 2, 1]]]), projections: found, ...changes };
}

describe("the readout of a token whose parts are held against the whole", () => {
  test("says how much cancels, and who points against it", () => {
    expect(say(leaning([4, -1, 0.9]), query).notes).toEqual([
      "Parts of total length 7.00 add up to 3.90 along the whole vector of tokens and biases: 44% cancels.",
      "‘k1’ (−26%) points against it.",
    ]);
  });

  test("says nothing of tokens against it where there are none", () => {
    expect(say(leaning([4, 2, 0.5]), query).notes).toHaveLength(1);
  });

  test("says so where all cancels, and then gives lengths instead of shares", () => {
    const { notes, rows } = say(leaning([1, -2, 0.5]), query);
    expect(notes).toEqual([
      "Parts of total length 7.00 come to −0.500 along the whole vector of tokens and biases: they cancel completely.",
    ]);
    expect(rows.map((row) => row[4])).toMatchObject([
      { text: "1.00" },
      { text: "−2.00", part: -1 },
      { text: "0.500" },
    ]);
  });

  test("has a column with each part's share, signed", () => {
    const { columns, rows, caption } = say(leaning([4, -1, 0.5]), query);
    expect(columns).toEqual(["#", "read from", "share", "α", "along"]);
    expect(rows.map((row) => row[4])).toEqual([
      { text: "114%", part: 1 },
      { text: "−29%", part: -0.25 },
      { text: "14%", part: 0.125 },
    ]);
    expect(caption).toContain("along: the projection of each part on the whole vector");
  });

  test("adds up the shares of those it does not list", () => {
    const many = Array.from({ length: 10 }, (_, at) => 10 - at);
    const base = picture([[many]]);
    const along: Projections = {
      values: Float32Array.from(many, (value) => (value > 2 ? value : -value)),
      lengths: Float64Array.of(55),
      reach: Float64Array.of(49),
      hasOtherText: false,
    };
    const { rows } = say({ ...base, projections: along }, query);
    expect(rows.at(-1)).toMatchObject(["", "2 others", "5.5%", "3.00", { text: "−6.1%" }]);
  });

  test("has no such column for a token that gives, or where nothing is known", () => {
    expect(say(leaning([4, -1, 0.5]), { role: "key", token: 0 }).columns).toHaveLength(4);
    expect(say(picture([[[4, 2, 1]]]), query).columns).toHaveLength(4);
  });

  test("marks what points against the whole by a minus, a role, a word and a color", () => {
    const shown = readout();
    shown.show(say(leaning([4, -1, 0.5]), query));
    const [one, other] = shown.node.querySelectorAll<HTMLElement>(".nv-signed");
    expect(one.dataset.sign).toBe("with");
    expect(other.dataset.sign).toBe("against");
    expect(other.textContent).toBe("−29%");
    expect(other.title).toBe("points against the whole");
    expect(other.querySelector<HTMLElement>("i")?.style.getPropertyValue("--nv-part")).toBe(
      "0.250",
    );
    expect(shown.node.querySelectorAll(".nv-aside")).toHaveLength(2);
  });
});

describe("the parts that Python read", () => {
  const pane = (changes: Partial<ViewState> = {}) =>
    panesOf(header, store({ measure: "layer-output", ...changes }).state.value, tiles())[0];
  const shown = (changes: Partial<ViewState> = {}) => {
    const found = pictureOf(pane(changes));
    if (!found) throw new Error("the contract lacks these numbers");
    return found;
  };
  const wanted = statistics.find(
    ({ statistic, layer }) => statistic === "projection:feed-forward-residual" && layer === 0,
  );

  test("lie beside the lengths, row by row", () => {
    const { projections: along } = shown();
    expect([...(along?.values ?? [])].map((value) => value.toFixed(3))).toEqual(
      wanted?.values.map((value) => value.toFixed(3)),
    );
  });

  test("count hidden tokens in the sums", () => {
    const [all, some] = [shown(), shown({ special: "hidden" })];
    expect(some.queries).toBeLessThan(all.queries);
    expect(some.projections?.reach[0]).toBeCloseTo(all.projections?.reach[1] ?? 0, 5);
    expect(say(some, { role: "query", token: 1 }).notes?.[0]).toContain(
      "(including hidden tokens)",
    );
  });

  test("share their vectors with another text where one is read", () => {
    const [flow] = header.flows;
    const alone = pane({ measure: "layer-output" });
    const cross = {
      ...flow,
      streams: [...flow.streams, { ...alone.stream, name: "text.cross", kind: "cross" as const }],
    };
    const decoder = { ...alone.stream, name: "text", kind: "decoder" as const };
    const from = (shown: typeof alone, changes: Partial<typeof alone>) =>
      pictureOf({ ...shown, tiles: { ...anywhere }, ...changes } as typeof alone)?.projections
        ?.hasOtherText;
    const anywhere = { layer: () => new Float32Array(9), isLarge: () => false };
    expect(from(alone, { flow: cross })).toBe(false);
    expect(from(alone, { stream: decoder })).toBe(false);
    expect(from(alone, { flow: cross, stream: decoder })).toBe(true);
    const both = leaning([4, 2, 0.5]);
    const shared = {
      ...both,
      projections: { ...(both.projections as Projections), hasOtherText: true },
    };
    expect(say(shared, query).notes?.[0]).toContain("vector of both texts and biases");
  });

  test("are none on rungs without statistics", () => {
    expect(shown({ measure: "weight" }).projections).toBeNull();
  });

  test("come with the share of no token, in the legend and in the readout", () => {
    const found = shown();
    const share = header.flows[0].streams[0].bias_share["feed-forward-residual"][0];
    expect(found.bias_share).toBe(share);
    const legend = ribbonLines(found, ribbonsOf(found, 20, { share: 1, limit: 99 }));
    expect(legend).toContain("20% from biases");
    expect(legend).toContain("in this model the same as whole layer");
    const told = "On average, 20% of the vectors of layer 0 comes from biases.";
    expect(say(found, null).notes).toEqual([told]);
    expect(say(found, query).notes).toContain(told);
  });

  test("come from tokens alone in a model without biases", () => {
    const found = { ...shown(), bias_share: 0 };
    expect(say(found, null).notes).toEqual([]);
    const legend = ribbonLines(found, ribbonsOf(found, 20, { share: 1, limit: 99 }));
    expect(legend).toContain("nothing from biases");
  });

  test("say nothing of biases where that is not known", () => {
    expect(say(shown({ measure: "weight" }), null).notes).toEqual([]);
  });
});

test("a share keeps its sign, however small, and may be more than all", () => {
  const told = [-0.25, 0, 0.0004, -0.0004, 1.24, -1.5].map(formatSignedPercent);
  expect(told).toEqual(["−25%", "0%", "0.0%", "−0.0%", "124%", "−150%"]);
  expect([-2, 0.5].map(formatSignedNumber)).toEqual(["−2.00", "0.500"]);
});

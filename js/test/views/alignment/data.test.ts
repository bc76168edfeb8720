import { describe, expect, test } from "vitest";
import { panesOf } from "../../../src/state/pane";
import { Tiles } from "../../../src/state/tiles";
import {
  alignmentMeasure,
  alignmentOf,
  linksOf,
  shareOf,
  specialShareOf,
  splitWords,
} from "../../../src/views/alignment/data";
import { marksOf, scoresOf } from "../../../src/views/alignment/gold";
import { specialSentence, specialTokensOf } from "../../../src/views/alignment/special";
import type { Header, ViewState } from "../../../src/wire/types";
import contract from "../../support/contract.json";

const { alignments } = contract;
const header = alignments.header as unknown as Header;
const first = alignments.state as unknown as ViewState;

function paneOf(changes: object) {
  const bytes = Uint8Array.from(atob(alignments.data), (letter) => letter.charCodeAt(0));
  const tiles = new Tiles(header.tiles, new DataView(bytes.buffer));
  return panesOf(header, { ...first, ...changes } as ViewState, tiles)[0];
}

function aligned(changes: object) {
  const found = alignmentOf(paneOf(changes));
  if (!found) throw new Error("the contract lacks these numbers");
  return found;
}

describe("links", () => {
  test.each(alignments.found)("are those of Python: $choice", (expected) => {
    const found = aligned(expected.state);
    expect(linksOf(found)).toEqual(expected.links);
    expected.soft.forEach((row, target) => {
      row.forEach((share, source) => {
        expect(shareOf(found, target, source)).toBeCloseTo(share, 5);
      });
      expect(specialShareOf(found, target)).toBeCloseTo(expected.none[target], 5);
    });
  });

  test.each(alignments.found)("are judged as Python judges them: $choice", (expected) => {
    const { gold = null } = header.flows[0];
    const { aer, precision, recall } = scoresOf(marksOf(linksOf(aligned(expected.state)), gold));
    [aer, precision, recall].forEach((score, at) => {
      expect(score).toBeCloseTo(expected.scores[at], 8);
    });
  });

  test("are of words, and special tokens are none", () => {
    const { queries, keys } = paneOf({}).stream;
    expect(splitWords(keys).words.map(({ label }) => label)).toEqual([
      "Tengo",
      "tres",
      "gatos",
      ".",
    ]);
    expect(splitWords(keys).special).toEqual([{ label: "</s>", pieces: [6] }]);
    expect(splitWords(queries).words[3]).toEqual({ label: "cats", pieces: [4, 5] });
  });

  test("through all heads are read off the length of the sum, where it is held", () => {
    expect(alignmentMeasure(paneOf({ measure: "weighted-norm" })).id).toBe("attention");
    expect(alignmentMeasure(paneOf({ measure: "weighted-norm", heads: [1] })).id).toBe(
      "weighted-norm",
    );
    expect(alignmentMeasure(paneOf({ measure: "weight" })).id).toBe("weight");
    const pane = paneOf({ measure: "weighted-norm" });
    const without = { ...pane, stream: { ...pane.stream, measures: ["weight", "weighted-norm"] } };
    expect(alignmentMeasure(without).id).toBe("weighted-norm");
  });

  test("are missing where no row predicts a word", () => {
    const pane = paneOf({ target_row: "output" });
    const queries = {
      ...pane.stream.queries,
      special: pane.stream.queries.special.map(() => false),
    };
    const found = alignmentOf({ ...pane, stream: { ...pane.stream, queries } });
    expect(found?.best[0]).toBeNull();
    expect(found?.best[1]).not.toBeNull();
    expect(found && linksOf(found).some(([, target]) => target === 0)).toBe(false);
  });
});

describe("a verdict", () => {
  const gold = {
    sure: [
      [0, 0],
      [1, 1],
      [2, 2],
    ],
    possible: [
      [0, 1],
      [3, 3],
    ],
  } as never;

  test("is right, extra, missed or open", () => {
    const marks = marksOf(
      [
        [0, 0],
        [0, 1],
        [3, 2],
      ],
      gold,
    );
    expect(
      marks.map(({ source, target, verdict, gold: said }) => [source, target, verdict, said]),
    ).toEqual([
      [0, 0, "right", "sure"],
      [0, 1, "right", "possible"],
      [1, 1, "miss", "sure"],
      [2, 2, "miss", "sure"],
      [3, 2, "extra", null],
      [3, 3, "open", "possible"],
    ]);
  });

  test("counts as alignment error rate does", () => {
    const scores = scoresOf(
      marksOf(
        [
          [0, 0],
          [0, 1],
          [3, 2],
        ],
        gold,
      ),
    );
    expect(scores).toMatchObject({ right: 2, extra: 1, miss: 2 });
    expect(scores.aer).toBeCloseTo(1 - (1 + 2) / (3 + 3));
    expect(scores.precision).toBeCloseTo(2 / 3);
    expect(scores.recall).toBeCloseTo(1 / 3);
  });

  test("is not given where nobody says what is right", () => {
    expect(marksOf([[0, 0]], null)).toEqual([
      { source: 0, target: 0, isLinked: true, gold: null, verdict: "plain" },
    ]);
  });
});

describe("why the end of the sentence", () => {
  test("is told by weight, by what is moved and by the lengths themselves", () => {
    const pane = paneOf({ measure: "weight", heads: [1], layer: 1 });
    const why = specialTokensOf(pane);
    if (!why) throw new Error("it is not known");
    const weights = pane.tiles.layer(0, pane.stream, "weight", 1, 1) as Float32Array;
    const norms = pane.tiles.layer(0, pane.stream, "value-norm", 1) as Float32Array;
    const own = [...norms].slice(7, 14);
    // Rows 1 to 6 are of words, of which 4 and 5 are one; key 6 is the end.
    const parts = [1, 2, 3, 6, 4, 5].map(
      (query, at) => (at < 4 ? 1 : 0.5) * weights[7 * query + 6],
    );
    const sum = (numbers: number[]) => numbers.reduce((all, one) => all + one, 0);
    expect(why.bars[0].share).toBeCloseTo(sum(parts) / 5, 5);
    expect(why.bars.map(({ label }) => label)).toEqual(["α", "‖αf(x)‖"]);
    expect(why.norms.special).toBeCloseTo(own[6], 5);
    expect(why.norms.words).toBeCloseTo(sum(own.slice(0, 6)) / 6, 5);
    expect(specialSentence(why)).toMatch(/^‘<\/s>’: .*% of the weight, .*% of what is moved/);
  });

  test("is not asked where the source has no special token, or lengths are not held", () => {
    const pane = paneOf({});
    const keys = { ...pane.stream.keys, special: pane.stream.keys.special.map(() => false) };
    expect(specialTokensOf({ ...pane, stream: { ...pane.stream, keys } })).toBeNull();
    expect(
      specialTokensOf({ ...pane, stream: { ...pane.stream, measures: ["weight"] } }),
    ).toBeNull();
  });
});

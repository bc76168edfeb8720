import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { pictureOf } from "../../src/data/layer";
import { sumOf } from "../../src/math/arrays";
import { keysToRows, pairsToRows, rowsOf } from "../../src/math/rows";
import type { Tokens } from "../../src/wire/types";
import contract from "../support/contract.json";
import { pane } from "../support/fixtures";

const [stream] = contract.wordy.streams;
const tokens: Tokens = stream.keys;

const PIECES = { words: false, special: "shown" } as const;
const WORDS = { words: true, special: "shown" } as const;
const HIDDEN = { words: true, special: "hidden" } as const;

describe("rows", () => {
  test("are the pieces themselves, unless words are wanted", () => {
    expect(rowsOf(tokens, PIECES).labels).toEqual(tokens.pieces);
    const { labels, pieces, rowOf } = rowsOf(tokens, WORDS);
    expect(labels).toEqual(["[CLS]", "unbelievable", "cats", "[SEP]"]);
    expect(pieces).toEqual([[0], [1, 2, 3], [4, 5], [6]]);
    expect(rowOf).toEqual([0, 1, 1, 1, 2, 2, 3]);
  });

  test("leave hidden tokens out, and only those", () => {
    const { labels, rowOf } = rowsOf(tokens, HIDDEN);
    expect(labels).toEqual(["unbelievable", "cats"]);
    expect(rowOf).toEqual([-1, 0, 0, 0, 1, 1, -1]);
    expect(rowsOf(tokens, { ...PIECES, special: "dimmed" }).labels).toEqual(tokens.pieces);
  });

  test("are never none: a text of special tokens only is shown as it is", () => {
    const only = { ...tokens, special: tokens.special.map(() => true) };
    expect(rowsOf(only, HIDDEN).labels).toHaveLength(4);
  });
});

describe("numbers between rows", () => {
  const numbers = fc.array(fc.float({ min: 0, max: 1, noNaN: true }), {
    minLength: 49,
    maxLength: 49,
  });

  test("keep each word's whole: added over keys, averaged over queries", () => {
    fc.assert(
      fc.property(numbers, (given) => {
        const values = Float32Array.from(given);
        const rows = rowsOf(tokens, WORDS);
        const found = pairsToRows(values, rows, rows);
        const second = sumOf(found.subarray(4, 8));
        expect(second).toBeCloseTo(sumOf(values.subarray(7, 28)) / 3, 4);
      }),
    );
  });

  test("are the same numbers where nothing is merged or hidden", () => {
    const values = Float32Array.from({ length: 49 }, (_, at) => at);
    const rows = rowsOf(tokens, PIECES);
    expect(pairsToRows(values, rows, rows)).toBe(values);
    expect(keysToRows(values, rows)).toBe(values);
  });

  test("of norms are averaged over the pieces of a word", () => {
    const norms = Float32Array.from([9, 1, 2, 3, 4, 6, 9, 9, 10, 20, 30, 40, 60, 9]);
    expect([...keysToRows(norms, rowsOf(tokens, HIDDEN))]).toEqual([2, 5, 20, 50]);
  });
});

test("a picture says how much of the sum is hidden with the special tokens", () => {
  const shown = pane([
    [
      [0.5, 0.25, 0.25],
      [0.1, 0.7, 0.2],
      [0.2, 0.3, 0.5],
    ],
  ]);
  for (const role of [shown.stream.keys, shown.stream.queries]) role.special[0] = true;
  shown.state = { ...shown.state, special: "hidden" };
  const picture = pictureOf(shown);
  expect(picture?.hiddenShare).toBeCloseTo(0.3 / 2, 6);
  expect(picture?.rows.key.labels).toEqual(["k1", "k2"]);
  expect(picture?.received[0]).toBeCloseTo(0.9, 6);
});

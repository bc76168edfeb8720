import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { total } from "../../src/math/arrays";
import { against, alignments, cancellation, wholes } from "../../src/math/cancellation";
import { rowsOf } from "../../src/math/rows";
import { labels } from "../support/fixtures";

/** Vectors of tokens and one of biases, in the plane. */
const size = fc.double({ min: -9, max: 9, noNaN: true });
const vectors = fc.array(fc.tuple(size, size), { minLength: 2, maxLength: 8 });

/** Lengths of the tokens' parts, and how far each reaches along the whole. */
function parts(all: [number, number][]) {
  const [x, y] = [0, 1].map((axis) => total(all.map((vector) => vector[axis])));
  const length = Math.hypot(x, y);
  const tokens = all.slice(1); // the first is no token's
  return {
    length,
    lengths: tokens.map(([a, b]) => Math.hypot(a, b)),
    along: tokens.map(([a, b]) => (length > 0 ? (a * x + b * y) / length : 0)),
    bias: length > 0 ? (all[0][0] * x + all[0][1] * y) / length : 0,
  };
}

describe("what cancels", () => {
  test("is nothing where all parts point the same way, and all where they undo each other", () => {
    expect(cancellation(6, 6).canceled).toBe(0);
    expect(cancellation(6, 0)).toMatchObject({ canceled: 1, isLeft: false });
  });

  test("is what a reader would work out: 7.3 in all, 4.1 left, 44% gone", () => {
    expect(cancellation(7.3, 4.1).canceled).toBeCloseTo(0.438, 3);
  });

  test("is nothing of nothing", () => {
    expect(cancellation(0, 0)).toEqual({ lengths: 0, reach: 0, canceled: 1, isLeft: false });
  });

  test("lies between nothing and all, and with the biases the parts reach as far as the whole", () => {
    fc.assert(
      fc.property(vectors, (all) => {
        const { lengths, along, bias, length } = parts(all);
        const found = cancellation(total(lengths), total(along));
        expect(found.canceled).toBeGreaterThanOrEqual(-1e-9);
        expect(found.canceled).toBeLessThanOrEqual(1);
        expect(found.reach + bias).toBeCloseTo(length, 6);
      }),
    );
  });
});

describe("alignments", () => {
  test("add up to one, and are negative for parts that point against the whole", () => {
    const shares = alignments([5, -1, 0], cancellation(6, 4));
    expect(shares).toEqual([1.25, -0.25, 0]);
    expect(total(shares)).toBe(1);
  });

  test("stay lengths where there is nothing to be a share of", () => {
    expect(alignments([2, -2], cancellation(4, 0))).toEqual([2, -2]);
  });

  test("name those against the whole, the furthest first, unless it is next to nothing", () => {
    expect(against([0.9, -0.02, 0.4, -0.3, -0.001], 0.005)).toEqual([3, 1]);
  });
});

test("wholes take in hidden keys, and are means over the pieces of a word", () => {
  const tokens = { ...labels("t", 3), words: [0, 0, 1], special: [false, false, true] };
  const values = Float32Array.from([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  const rows = rowsOf({ ...tokens, word_texts: ["t", "t2"] }, { words: true, special: "hidden" });
  expect([...wholes(values, rows, 3)]).toEqual([(6 + 15) / 2]);
});

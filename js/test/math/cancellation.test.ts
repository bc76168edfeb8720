import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sumOf } from "../../src/math/arrays";
import {
  cancellationOf,
  opposingRows,
  projectionShares,
  rowTotals,
} from "../../src/math/cancellation";
import { rowsOf } from "../../src/math/rows";
import { labels } from "../support/fixtures";

/**
 * Vectors of tokens and one of biases, in the plane.
 *
 * Components are zero or at least 1e-6. The dot products below would underflow for components near
 * 1e-160, and their rounding errors would be those of this test, not of the code.
 */
const size = fc
  .double({ min: -9, max: 9, noNaN: true })
  .map((value) => (Math.abs(value) < 1e-6 ? 0 : value));
const vectors = fc.array(fc.tuple(size, size), { minLength: 2, maxLength: 8 });

/** Lengths of the tokens' parts, and how far each reaches along the whole. */
function parts(all: [number, number][]) {
  const [x, y] = [0, 1].map((axis) => sumOf(all.map((vector) => vector[axis])));
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
    expect(cancellationOf(6, 6).canceled).toBe(0);
    expect(cancellationOf(6, 0)).toMatchObject({ canceled: 1, hasRemainder: false });
  });

  test("is what a reader would work out: 7.3 in all, 4.1 left, 44% gone", () => {
    expect(cancellationOf(7.3, 4.1).canceled).toBeCloseTo(0.438, 3);
  });

  test("is nothing of nothing", () => {
    expect(cancellationOf(0, 0)).toEqual({
      lengths: 0,
      reach: 0,
      canceled: 1,
      hasRemainder: false,
    });
  });

  test("lies between nothing and all, and with the biases the parts reach as far as the whole", () => {
    fc.assert(
      fc.property(vectors, (all) => {
        const { lengths, along, bias, length } = parts(all);
        const found = cancellationOf(sumOf(lengths), sumOf(along));
        expect(found.canceled).toBeGreaterThanOrEqual(-1e-9);
        expect(found.canceled).toBeLessThanOrEqual(1);
        expect(found.reach + bias).toBeCloseTo(length, 6);
      }),
    );
  });
});

describe("alignments", () => {
  test("add up to one, and are negative for parts that point against the whole", () => {
    const shares = projectionShares([5, -1, 0], cancellationOf(6, 4));
    expect(shares).toEqual([1.25, -0.25, 0]);
    expect(sumOf(shares)).toBe(1);
  });

  test("stay lengths where there is nothing to be a share of", () => {
    expect(projectionShares([2, -2], cancellationOf(4, 0))).toEqual([2, -2]);
  });

  test("name those against the whole, the furthest first, unless it is next to nothing", () => {
    expect(opposingRows([0.9, -0.02, 0.4, -0.3, -0.001], 0.005)).toEqual([3, 1]);
  });
});

test("wholes take in hidden keys, and are means over the pieces of a word", () => {
  const tokens = { ...labels("t", 3), words: [0, 0, 1], special: [false, false, true] };
  const values = Float32Array.from([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  const rows = rowsOf({ ...tokens, word_texts: ["t", "t2"] }, { words: true, special: "hidden" });
  expect([...rowTotals(values, rows, 3)]).toEqual([(6 + 15) / 2]);
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  argmax,
  columnOf,
  pickPlanes,
  rankOrder,
  rowOf,
  sharesOf,
  sumByKey,
  sumByQuery,
  sumOf,
  weightByNorm,
} from "../../src/math/arrays";

const sizes = fc.record({
  heads: fc.integer({ min: 1, max: 4 }),
  queries: fc.integer({ min: 1, max: 5 }),
  keys: fc.integer({ min: 1, max: 5 }),
});

/** Numbers with axes [head query key], each saying where it stands. */
function marked({ heads, queries, keys }: { heads: number; queries: number; keys: number }) {
  const at = (head: number, query: number, key: number) => head * 100 + query * 10 + key;
  const values = new Float32Array(heads * queries * keys);
  for (let head = 0; head < heads; head++)
    for (let query = 0; query < queries; query++)
      for (let key = 0; key < keys; key++)
        values[(head * queries + query) * keys + key] = at(head, query, key);
  return { values, at };
}

test("the weighted norm is each weight times the norm of its head and key", () => {
  fc.assert(
    fc.property(sizes, ({ heads, queries, keys }) => {
      const { values } = marked({ heads, queries, keys });
      const norms = Float32Array.from({ length: heads * keys }, (_, index) => index + 2);
      const found = weightByNorm(values, norms, keys);
      for (let head = 0; head < heads; head++)
        for (let query = 0; query < queries; query++)
          for (let key = 0; key < keys; key++) {
            const at = (head * queries + query) * keys + key;
            expect(found[at]).toBe(values[at] * norms[head * keys + key]);
          }
    }),
  );
});

test("planes are picked in the order asked", () => {
  const values = Float32Array.of(1, 2, 3, 4, 5, 6);
  expect([...pickPlanes(values, 2, [2, 0])]).toEqual([5, 6, 1, 2]);
});

test("rows, columns and totals add up over heads", () => {
  fc.assert(
    fc.property(sizes, (size) => {
      const { heads, queries, keys } = size;
      const { values, at } = marked(size);
      const every = Array.from({ length: heads }, (_, head) => head);
      const pair = (query: number, key: number) =>
        every.reduce((sum, head) => sum + at(head, query, key), 0);
      const row = rowOf(values, queries, keys, queries - 1);
      const column = columnOf(values, queries, keys, keys - 1);
      expect([...row]).toEqual([...row.keys()].map((key) => pair(queries - 1, key)));
      expect([...column]).toEqual([...column.keys()].map((query) => pair(query, keys - 1)));
      expect(sumByQuery(values, queries, keys)[queries - 1]).toBe(sumOf(row));
      expect(sumByKey(values, keys)[keys - 1]).toBe(sumOf(column));
    }),
  );
});

describe("shares", () => {
  test("add up to one and keep proportions", () => {
    expect(sharesOf([1, 3])).toEqual([0.25, 0.75]);
  });

  test("are zero where there is nothing", () => {
    expect(sharesOf([0, 0])).toEqual([0, 0]);
  });
});

test("rank puts the greatest first and keeps the order of equals", () => {
  expect(rankOrder([2, 5, 2, 9])).toEqual([3, 1, 0, 2]);
});

test("greatest finds the first of the greatest, also at place 0", () => {
  expect(argmax([7, 1, 7])).toBe(0);
  expect(argmax([])).toBe(-1);
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { averageRanks, spearman } from "../../src/math/correlation";

describe("ranks", () => {
  test("are counted from one", () => {
    expect([...averageRanks([10, 30, 20])]).toEqual([1, 3, 2]);
  });

  test("are shared by equals", () => {
    expect([...averageRanks([2, 1, 2, 3, 2])]).toEqual([3, 1, 3, 5, 3]);
  });

  test("always have the same sum", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 9 })), (values) => {
        const sum = averageRanks(values).reduce((a, b) => a + b, 0);
        expect(sum).toBeCloseTo((values.length * (values.length + 1)) / 2);
      }),
    );
  });
});

describe("Spearman's correlation", () => {
  test("has the textbook's value without ties", () => {
    const cleverness = [106, 100, 86, 101, 99, 103, 97, 113, 112, 110];
    const hours = [7, 27, 2, 50, 28, 29, 20, 12, 6, 17];
    expect(spearman(cleverness, hours)).toBeCloseTo(-29 / 165, 12);
  });

  test("has scipy's value with ties", () => {
    expect(spearman([1, 2, 2, 3, 5], [1, 3, 2, 4, 2])).toBeCloseTo(0.5, 12);
  });

  test("is one for what rises together, however, and minus one for what falls", () => {
    const distinct = fc.uniqueArray(fc.integer({ min: -50, max: 50 }), { minLength: 3 });
    fc.assert(
      fc.property(distinct, (values) => {
        const risen = values.map((value) => Math.exp(value / 10));
        expect(spearman(values, risen)).toBeCloseTo(1);
        expect(
          spearman(
            values,
            risen.map((value) => -value),
          ),
        ).toBeCloseTo(-1);
      }),
    );
  });

  test("stays between minus one and one, and does not mind the order of its arguments", () => {
    const pairs = fc.array(fc.tuple(fc.nat(5), fc.nat(5)), { minLength: 3 });
    fc.assert(
      fc.property(pairs, (some) => {
        const [xs, ys] = [some.map(([x]) => x), some.map(([, y]) => y)];
        const found = spearman(xs, ys);
        expect(spearman(ys, xs)).toBe(found);
        if (found !== null) expect(Math.abs(found)).toBeLessThanOrEqual(1 + 1e-12);
      }),
    );
  });

  test("says nothing about too few, or about what does not vary", () => {
    expect(spearman([1, 2], [1, 2])).toBeNull();
    expect(spearman([1, 2, 3], [4, 4, 4])).toBeNull();
    expect(() => spearman([1, 2, 3], [1])).toThrow("3 numbers against 1");
  });
});

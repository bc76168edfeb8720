import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  agreementByHead,
  BEST,
  COMPARISONS,
  type HeadAgreement,
  type LayerValues,
  rowAgreement,
} from "../../src/math/agreement";
import contract from "../support/contract.json";

const layerOf = ({ values, hasHead, hasQuery }: (typeof contract.agreements)[0]["layers"][0]) => ({
  values: Float32Array.from(values),
  hasHead,
  hasQuery,
});

function expectSame(found: HeadAgreement[], wanted: HeadAgreement[]) {
  expect(found).toHaveLength(wanted.length);
  found.forEach((told, head) => {
    expect(told.worst).toEqual(wanted[head].worst);
    for (const by of COMPARISONS) {
      if (wanted[head][by] === null) expect(told[by]).toBeNull();
      else expect(told[by]).toBeCloseTo(wanted[head][by] as number, 6);
    }
  });
}

const row = fc.array(fc.constantFrom(0, 0, 0.5, 1, 2, 3, -1), { minLength: 5, maxLength: 5 });
const rows = fc.tuple(row, row).filter(([one, other]) => one.some(Boolean) && other.some(Boolean));

describe("agreement", () => {
  test.each(contract.agreements)("is what Python says: $of", ({ layers, size, heads }) => {
    const [first, second] = layers.map(layerOf);
    expectSame([...agreementByHead(first, second, size)], heads);
  });

  test("is mutual", () => {
    for (const { layers, size } of contract.agreements) {
      const [first, second] = layers.map(layerOf);
      expectSame(
        [...agreementByHead(first, second, size)],
        [...agreementByHead(second, first, size)],
      );
    }
  });

  test("stays within its bounds and does not see the scale of a row", () => {
    fc.assert(
      fc.property(rows, fc.constantFrom(0.5, 4), ([one, other], factor) => {
        const found = rowAgreement(one, other);
        const scaled = rowAgreement(
          one.map((value) => value * factor),
          other,
        );
        for (const by of COMPARISONS) {
          const value = found[by];
          if (value === null) expect(scaled[by]).toBeNull();
          else {
            expect(scaled[by]).toBeCloseTo(value, 7);
            expect(value).toBeGreaterThanOrEqual(by === "rank" ? -1 - 1e-9 : 0);
            expect(value).toBeLessThanOrEqual(1 + 1e-9);
          }
        }
      }),
    );
  });

  test("of a measure with itself is as good as can be", () => {
    const values = Float32Array.from([1, 2, 3, 4, 5, 6, 9, 8, 7]);
    const layer: LayerValues = { values, hasHead: false, hasQuery: true };
    const [told] = agreementByHead(layer, layer, { queries: 3, keys: 3 });
    for (const by of COMPARISONS) expect(told[by]).toBeCloseTo(BEST[by]);
  });

  test("of rows without an order is told by their distance alone", () => {
    const { rank, overlap, distance } = rowAgreement([1, 1, 1], [1, 2, 3]);
    expect([rank, overlap]).toEqual([null, null]);
    expect(distance).toBeGreaterThan(0);
    expect(rowAgreement([1], [2])).toEqual({ rank: null, overlap: null, distance: null });
    expect(rowAgreement([0, 0], [1, 2]).distance).toBeNull();
  });
});

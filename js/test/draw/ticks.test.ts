import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { linearTicks, logTicks, roundStep, spreadLabels } from "../../src/draw/ticks";

describe("ticks", () => {
  test.each([
    [0, 8.3, [0, 2, 4, 6, 8]],
    [0, 0.31, [0, 0.1, 0.2, 0.3]],
    [0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]],
    [0, 0, [0]],
  ])("from %f to %f are round", (low, high, ticks) => {
    expect(linearTicks(low, high, 5)).toEqual(ticks);
  });

  test("are few, in order and within bounds", () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-6, max: 1e6, noNaN: true }), (high) => {
        const ticks = linearTicks(0, high, 5);
        expect(ticks.length).toBeGreaterThanOrEqual(3);
        expect(ticks.length).toBeLessThanOrEqual(6);
        expect([...ticks].sort((a, b) => a - b)).toEqual(ticks);
        expect(ticks[ticks.length - 1]).toBeLessThanOrEqual(high * (1 + 1e-9));
      }),
    );
  });

  test("go up by ones, twos and fives", () => {
    expect([0.3, 1, 1.1, 4, 6, 0].map(roundStep)).toEqual([0.5, 1, 2, 5, 10, 0]);
  });

  test("of a log scale are powers of ten, and more where those are few", () => {
    expect(logTicks(0.0004, 0.8)).toEqual([0.001, 0.01, 0.1]);
    expect(logTicks(0.004, 0.8)).toEqual([0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5]);
  });
});

describe("labels", () => {
  test("that do not touch stay where they are", () => {
    expect(spreadLabels([50, 10, 30], 14, 0, 100)).toEqual([50, 10, 30]);
  });

  test("that touch move apart around their middle", () => {
    expect(spreadLabels([50, 50], 14, 0, 100)).toEqual([43, 57]);
    expect(spreadLabels([50, 48, 52], 10, 0, 100)).toEqual([50, 40, 60]);
  });

  test("never overlap, never leave, never change places, as long as there is room", () => {
    const heights = fc.array(fc.double({ min: 0, max: 200, noNaN: true }), { maxLength: 12 });
    fc.assert(
      fc.property(heights, (wanted) => {
        const found = spreadLabels(wanted, 14, 0, 200);
        const order = wanted.map((_, at) => at).sort((a, b) => wanted[a] - wanted[b] || a - b);
        order.forEach((at, rank) => {
          expect(found[at]).toBeGreaterThanOrEqual(-1e-9);
          expect(found[at]).toBeLessThanOrEqual(200 + 1e-9);
          if (rank > 0)
            expect(found[at] - found[order[rank - 1]]).toBeGreaterThanOrEqual(14 - 1e-9);
        });
      }),
    );
  });

  test("stand closer where there is no room", () => {
    expect(spreadLabels([5, 5, 5], 14, 0, 10)).toEqual([0, 5, 10]);
    expect(spreadLabels([], 14, 0, 10)).toEqual([]);
  });
});

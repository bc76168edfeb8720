import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  barsOf,
  curveBetween,
  middle,
  type Ribbon,
  ribbonsAt,
  ribbonsOf,
  rowSizeFor,
} from "../../src/data/ribbons";
import { sumOf } from "../../src/math/arrays";
import { cutoffFor, filterFor } from "../../src/math/topMass";
import { picture } from "../support/fixtures";

const ALL = { share: 1, limit: 1e6 };
const PITCH = 20;
const FULL = PITCH * 0.84;

/** Weights [head query key] of any small size, not all zero. */
const weights = fc
  .tuple(
    fc.integer({ min: 1, max: 3 }),
    fc.integer({ min: 1, max: 4 }),
    fc.integer({ min: 1, max: 4 }),
  )
  .chain(([heads, queries, keys]) => {
    const number = fc.float({ min: Math.fround(0.01), max: 1, noNaN: true });
    const row = fc.array(number, { minLength: keys, maxLength: keys });
    const plane = fc.array(row, { minLength: queries, maxLength: queries });
    return fc.array(plane, { minLength: heads, maxLength: heads });
  });

const scale = fc.constantFrom("absolute" as const, "layer" as const, "query" as const);

describe("rowsFor", () => {
  test("has 20 px and 13 px for usual texts, then shrinks, then stops at 9 px", () => {
    expect(rowSizeFor(21, 640)).toEqual({ pitch: 20, font: 13 });
    expect(rowSizeFor(32, 640)).toEqual({ pitch: 20, font: 13 });
    expect(rowSizeFor(40, 640)).toEqual({ pitch: 16, font: 11 });
    expect(rowSizeFor(500, 640)).toEqual({ pitch: 12, font: 9 });
  });

  test("has taller rows for few tokens, up to 64 px and 16 px", () => {
    expect(rowSizeFor(14, 640)).toEqual({ pitch: 30, font: 15 });
    expect(rowSizeFor(8, 640)).toEqual({ pitch: 52, font: 16 });
    expect(rowSizeFor(3, 640)).toEqual({ pitch: 64, font: 16 });
    expect(rowSizeFor(0, 640)).toEqual({ pitch: 64, font: 16 });
  });

  test("is never taller for more tokens, nor too tall for the height", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 600 }), (count) => {
        const [one, next] = [rowSizeFor(count, 640), rowSizeFor(count + 1, 640)];
        expect(next.pitch).toBeLessThanOrEqual(one.pitch);
        expect(next.font).toBeLessThanOrEqual(one.font);
        if (one.pitch > 12) expect(one.pitch * count).toBeLessThanOrEqual(640);
      }),
    );
  });
});

describe("ribbons", () => {
  test("are as wide as they weigh, in every scaling", () => {
    fc.assert(
      fc.property(weights, scale, (numbers, kind) => {
        const shown = picture(numbers, { normalize: kind });
        for (const { plane, query, key, width } of ribbonsOf(shown, PITCH, ALL).ribbons) {
          expect(plane).toBe(0);
          const mean = sumOf(numbers.map((head) => head[query][key])) / numbers.length;
          expect(width).toBeCloseTo((mean / shown.units[query]) * FULL, 4);
        }
      }),
    );
  });

  test("of chosen heads are as wide as each one's part of their mean", () => {
    const numbers = [[[0.5, 0.5]], [[0.2, 0.8]], [[1, 0]]];
    const shown = picture(numbers, { heads: [1, 2], normalize: "query" });
    const { ribbons } = ribbonsOf(shown, PITCH, ALL);
    const widths = ribbons.map(({ plane, key, width }) => [plane, key, width / FULL]);
    expect(shown.heads).toEqual([1, 2]);
    for (const [plane, key, width] of widths) {
      expect(width).toBeCloseTo(numbers[plane + 1][0][key] / 2, 5);
    }
    expect(widths).toHaveLength(3);
  });

  test("fill every row when each query is scaled to itself, and the fullest row otherwise", () => {
    const numbers = [
      [
        [0.6, 0.4],
        [0.1, 0.1],
      ],
    ];
    const rows = (kind: "query" | "layer") => {
      const { ribbons } = ribbonsOf(picture(numbers, { normalize: kind }), PITCH, ALL);
      const filled = [0, 0];
      for (const { query, width } of ribbons) filled[query] += width / FULL;
      return filled.map((row) => row.toFixed(3));
    };
    expect(rows("query")).toEqual(["1.000", "1.000"]);
    expect(rows("layer")).toEqual(["1.000", "0.200"]);
  });

  test("never reach beyond the rows they join", () => {
    fc.assert(
      fc.property(weights, fc.constantFrom("layer" as const, "query" as const), (numbers, kind) => {
        for (const ribbon of ribbonsOf(picture(numbers, { normalize: kind }), PITCH, ALL).ribbons) {
          const half = FULL / 2 - ribbon.width / 2 + 1e-3;
          expect(Math.abs(ribbon.from - middle(ribbon.key, PITCH))).toBeLessThanOrEqual(half);
          expect(Math.abs(ribbon.to - middle(ribbon.query, PITCH))).toBeLessThanOrEqual(half);
        }
      }),
    );
  });

  test("lie side by side at a query, in the order of the keys", () => {
    const numbers = [[[0.5, 0.3, 0.2]], [[0.1, 0.1, 0.8]], [[1, 0, 0]]];
    const shown = picture(numbers, { heads: [0, 1] });
    const { ribbons } = ribbonsOf(shown, PITCH, ALL);
    const stacked = [...ribbons].sort((a, b) => a.to - b.to);
    expect(stacked.map(({ key, plane }) => [key, plane])).toEqual([
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
      [2, 0],
      [2, 1],
    ]);
    for (let next = 1; next < stacked.length; next++) {
      const [above, below] = [stacked[next - 1], stacked[next]];
      expect(below.to - below.width / 2).toBeCloseTo(above.to + above.width / 2, 4);
    }
  });

  test("share a key's row in the order of the queries, overlapping when they must", () => {
    const rows = [[1], [1], [1]];
    const { ribbons } = ribbonsOf(picture([rows]), PITCH, ALL);
    for (const { from } of ribbons) expect(from).toBeCloseTo(10, 4);
    const narrow = ribbonsOf(
      picture([
        [
          [0.4, 0.6],
          [0.4, 0.6],
          [0.4, 0.6],
        ],
      ]),
      PITCH,
      ALL,
    ).ribbons;
    const first = narrow.filter(({ key }) => key === 0).sort((a, b) => a.query - b.query);
    expect(first[0].from).toBeLessThan(first[1].from);
    expect(first[1].from).toBeLessThan(first[2].from);
  });

  test("come weakest first, so that the strongest is drawn last", () => {
    const { ribbons } = ribbonsOf(picture([[[0.2, 0.7, 0.1]]]), PITCH, ALL);
    expect(ribbons.map(({ key }) => key)).toEqual([2, 0, 1]);
  });

  test("stop at the share asked for, and say what share that is", () => {
    const { ribbons, shown } = ribbonsOf(picture([[[0.6, 0.35, 0.04, 0.01]]]), PITCH, {
      share: 0.95,
      limit: 100,
    });
    expect(ribbons.map(({ key }) => key)).toEqual([1, 0]);
    expect(shown).toBeCloseTo(0.95, 3);
  });

  test("are the strongest of each query where there is such a limit", () => {
    const shown = picture([
      [
        [0.5, 0.3, 0.2],
        [0.01, 0.03, 0.02],
      ],
    ]);
    const { ribbons, shown: part, perQuery } = ribbonsOf(shown, PITCH, { ...ALL, perQuery: 2 });
    const pairs = ribbons.map(({ query, key }) => [query, key]);
    expect(pairs).toEqual([
      [1, 2],
      [1, 1],
      [0, 1],
      [0, 0],
    ]);
    expect(perQuery).toBe(2);
    expect(part).toBeCloseTo(0.85 / 1.06, 4);
    expect(ribbonsOf(shown, PITCH, ALL).perQuery).toBeNull();
    expect(ribbonsOf(shown, PITCH, { ...ALL, perQuery: 9 }).ribbons).toHaveLength(6);
  });

  test("are none where every number is zero", () => {
    expect(ribbonsOf(picture([[[0, 0]]]), PITCH, ALL)).toMatchObject({ ribbons: [], shown: 1 });
  });
});

describe("the ribbons of one token", () => {
  const numbers = [
    [
      [0.6, 0.4],
      [0.2, 0.8],
    ],
  ];

  test.each(["query", "key"] as const)("are all those of a %s, and no others", (role) => {
    const { ribbons, zoom } = ribbonsAt(picture(numbers), PITCH, { role, row: 1 });
    const among = ribbonsOf(picture(numbers), PITCH, ALL).ribbons.filter((one) => one[role] === 1);
    const widths = (found: Ribbon[]) => found.map(({ query, key, width }) => [query, key, width]);
    expect(zoom).toBe(1);
    expect(widths(ribbons)).toEqual(widths(among));
  });

  test("end in the middle of the rows they come from", () => {
    const { ribbons } = ribbonsAt(picture(numbers), PITCH, { role: "query", row: 0 });
    for (const { key, from } of ribbons) expect(from).toBeCloseTo(middle(key, PITCH), 4);
  });

  test("are widened alike until the strongest can be seen", () => {
    const even = [[new Array(40).fill(0.025)]];
    const { ribbons, zoom } = ribbonsAt(picture(even), PITCH, { role: "query", row: 0 });
    expect(zoom).toBe(7);
    for (const { width } of ribbons) expect(width).toBeCloseTo(7 * 0.025 * FULL, 4);
  });

  test("stay on the page, even of the first and last token", () => {
    const even = [new Array(40).fill(new Array(40).fill(0.025))];
    for (const role of ["query", "key"] as const) {
      for (const row of [0, 39]) {
        const { ribbons } = ribbonsAt(picture(even), PITCH, { role, row });
        for (const { from, to, width } of ribbons) {
          expect(Math.min(from, to) - width / 2).toBeGreaterThanOrEqual(-1e-3);
          expect(Math.max(from, to) + width / 2).toBeLessThanOrEqual(40 * PITCH + 1e-3);
        }
      }
    }
  });
});

describe("the cut", () => {
  const numbers = fc.float32Array({ min: 0, max: 1000, noNaN: true, minLength: 1, maxLength: 300 });

  test("covers the share, and not a number more than it needs by much", () => {
    fc.assert(
      fc.property(numbers, fc.double({ min: 0.1, max: 1, noNaN: true }), (values, share) => {
        const whole = values.reduce((sum, value) => sum + value, 0);
        const kept = [...values].filter(filterFor(cutoffFor(values, share, 1e6)));
        const mass = kept.reduce((sum, value) => sum + value, 0);
        const largest = Math.max(...values);
        expect(mass).toBeGreaterThanOrEqual(share * whole * (1 - 1 / 15) - largest);
        expect(mass).toBeLessThanOrEqual(share * whole * (1 + 1 / 15) + largest);
      }),
    );
  });

  test("keeps to the limit and never to nothing", () => {
    fc.assert(
      fc.property(numbers, fc.integer({ min: 1, max: 50 }), (values, limit) => {
        const kept = [...values].filter(filterFor(cutoffFor(values, 1, limit)));
        expect(kept.length).toBeLessThanOrEqual(limit);
        if (Math.max(...values) > 0) expect(kept.length).toBeGreaterThan(0);
      }),
    );
  });

  test("takes an even sample of numbers that are all alike", () => {
    const values = new Float32Array(100).fill(0.25);
    const passes = filterFor(cutoffFor(values, 1, 10));
    const kept = [...values.keys()].filter((at) => passes(values[at]));
    expect(kept).toHaveLength(10);
    expect(Math.min(...kept.slice(1).map((at, index) => at - kept[index]))).toBe(10);
  });
});

test("a curve is flat at both ends", () => {
  expect(curveBetween(0, 5, 100, 45)).toEqual([0, 5, 50, 5, 50, 45, 100, 45]);
});

test("bars lay the heads of a key end to end, the longest to the full length", () => {
  const lengths = [
    [1, 2],
    [3, 0],
  ];
  const { norms } = picture([[[1, 1]], [[1, 1]]], { measure: "value-norm" }, lengths);
  if (!norms) throw new Error("no norms");
  expect(barsOf(norms)).toEqual([
    { plane: 0, key: 0, start: 0, end: 0.25 },
    { plane: 0, key: 1, start: 0, end: 0.5 },
    { plane: 1, key: 0, start: 0.25, end: 1 },
    { plane: 1, key: 1, start: 0.5, end: 0.5 },
  ]);
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { evenMass, linksOf, massAt, traceBack } from "../../../src/math/trace";
import {
  bandCenter,
  columnsBetween,
  isNumbered,
  type Lanes,
  numberedColumns,
  ribbonsIn,
  tokenUnder,
  widthOf,
  yardstick,
} from "../../../src/views/stack/layout";

const ALL = { share: 1, limit: 1e6, least: 0 };
const lanes = (rows: number): Lanes => ({
  pitch: 20,
  rows,
  posts: columnsBetween(10, 110, { layers: 2 }).posts,
});

/** Two layers in which every row of three tokens is divided. */
const division = fc
  .array(fc.float({ min: Math.fround(0.01), max: 1, noNaN: true }), { minLength: 9, maxLength: 9 })
  .map((values) => {
    const whole = (row: number) => values.slice(row * 3, row * 3 + 3).reduce((a, b) => a + b, 0);
    return Float32Array.from(values, (value, place) => value / whole(Math.floor(place / 3)));
  });

test("the posts stand at even distances", () => {
  expect(columnsBetween(0, 30, { layers: 3 }).posts).toEqual([0, 10, 20, 30]);
});

describe("the numbers of many layers", () => {
  const xs = (layers: number, gap: number) => Array.from({ length: layers }, (_, at) => at * gap);

  test("are all there while they fit", () => {
    expect(numberedColumns(xs(4, 24), 3)).toEqual([0, 1, 2, 3]);
  });

  test("are every second, fifth or tenth, and the one in focus, and never overlap", () => {
    expect(numberedColumns(xs(10, 12), -1)).toEqual([0, 2, 4, 6, 8]);
    expect(numberedColumns(xs(30, 12), 29).slice(-2)).toEqual([26, 29]);
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 96 }),
        fc.float({ min: 3, max: 60, noNaN: true }),
        fc.integer({ min: -1, max: 95 }),
        (layers, gap, focus) => {
          const on = Math.min(focus, layers - 1);
          const places = numberedColumns(xs(layers, gap), on);
          if (on >= 0) expect(places).toContain(on);
          const apart = places.slice(1).map((at, index) => (at - places[index]) * gap);
          for (const distance of apart) expect(distance).toBeGreaterThanOrEqual(21.9);
        },
      ),
    );
  });
});

test("a band keeps its number while there is room, and is thin where there is none", () => {
  const gap = { first: 10, last: 12, part: "Conv", before: 1 };
  const [roomy, tight] = [false, true].map(
    (isTight) => columnsBetween(0, 200, { layers: 2, gaps: [gap], isTight }).bands[0],
  );
  expect(isNumbered(roomy)).toBe(true);
  expect(isNumbered(tight)).toBe(false);
  expect(tight.right - tight.left).toBeLessThan(roomy.right - roomy.left);
});

test("every place of the field is a token of a column", () => {
  expect(tokenUnder(10, 5, lanes(3))).toEqual({ row: 0, column: 0 });
  expect(tokenUnder(36, 25, lanes(3))).toEqual({ row: 1, column: 1 });
  expect(tokenUnder(500, 59, lanes(3))).toEqual({ row: 2, column: 2 });
  expect(tokenUnder(50, 61, lanes(3))).toBeNull();
  expect(tokenUnder(50, 5, lanes(3), true)).toEqual({ row: 0, column: 0 });
  expect(tokenUnder(500, 5, lanes(3), true)).toEqual({ row: 0, column: 1 });
});

test("a band stays in the picture", () => {
  expect(bandCenter(0, 30, lanes(3))).toBe(15);
  expect(bandCenter(1, 30, lanes(3))).toBe(30);
  expect(bandCenter(2, 30, lanes(3))).toBe(45);
  expect(bandCenter(0, 90, lanes(3))).toBe(30);
});

describe("ribbons", () => {
  test("are as wide as the mass they carry and lie within the bands of their tokens", () => {
    fc.assert(
      fc.property(division, division, fc.nat(2), (one, other, row) => {
        const trace = traceBack([one, other], massAt(row, 3));
        const links = linksOf(trace, 3, ALL);
        const room = lanes(3);
        const width = widthOf(trace, links, room);
        links.layers.forEach((some, layer) => {
          const ends = { keys: trace.nodes[layer], queries: trace.nodes[layer + 1] };
          for (const ribbon of ribbonsIn(some, ends, room, width)) {
            const link = some.find((l) => l.query === ribbon.query && l.key === ribbon.key);
            expect(ribbon.width).toBeCloseTo((link?.mass ?? 0) * width, 6);
            for (const [masses, token, y] of [
              [ends.keys, ribbon.key, ribbon.from],
              [ends.queries, ribbon.query, ribbon.to],
            ] as const) {
              const band = masses[token] * width;
              const reach = (band - ribbon.width) / 2 + 1e-4;
              expect(Math.abs(y - bandCenter(token, band, room))).toBeLessThanOrEqual(reach);
            }
          }
        });
      }),
    );
  });

  test("lie side by side at the token that takes, in the order of those that give", () => {
    const trace = traceBack([Float32Array.from([0.5, 0.3, 0.2, 0, 1, 0, 0, 0, 1])], massAt(0, 3));
    const links = linksOf(trace, 3, ALL);
    const ends = { keys: trace.nodes[0], queries: trace.nodes[1] };
    const ribbons = ribbonsIn(links.layers[0], ends, lanes(3), 40);
    const ordered = [...ribbons].sort((a, b) => a.to - b.to);
    expect(ordered.map(({ key }) => key)).toEqual([0, 1, 2]);
    expect(ordered[1].to - ordered[0].to).toBeCloseTo(16);
    expect(ribbons.map(({ width }) => width)).toEqual(
      ribbons.map(({ width }) => width).sort((a, b) => a - b),
    );
  });

  test("overlap where one token is in many", () => {
    const links = [0, 1, 2].map((query) => ({ query, key: 0, mass: 0.5 }));
    const ends = {
      keys: Float64Array.from([1, 0, 0]),
      queries: Float64Array.from([0.5, 0.5, 0.5]),
    };
    const ribbons = ribbonsIn(links, ends, lanes(3), 30);
    expect(ribbons.map(({ from }) => from)).toEqual([7.5, 15, 22.5]);
  });
});

describe("the width of all mass", () => {
  const even = new Float32Array(9).fill(1 / 3);

  test("lets the largest of all tokens cover a few lanes", () => {
    const trace = traceBack([even], evenMass(3));
    const wide = { ...lanes(3), posts: [0, 400] };
    expect(widthOf(trace, linksOf(trace, 3, ALL), wide) / 3).toBeCloseTo(2.4 * 20);
  });

  test("makes one token taller, so that its parts can be seen, but not the whole picture", () => {
    const rows = 30;
    const flat = new Float32Array(rows * rows).fill(1 / rows);
    const trace = traceBack([flat], massAt(4, rows));
    const room = { pitch: 20, rows, posts: [0, 100] };
    expect(widthOf(trace, linksOf(trace, rows, ALL), room)).toBeCloseTo(0.36 * rows * 20);
  });

  test("is bounded by the gap, in which the widest ribbon has to bend", () => {
    const same = Float32Array.from([1, 0, 0, 0, 1, 0, 0, 0, 1]);
    const trace = traceBack([same], massAt(0, 3));
    const room = { pitch: 20, rows: 3, posts: [0, 30] };
    expect(widthOf(trace, linksOf(trace, 3, ALL), room)).toBeLessThanOrEqual(20);
  });
});

test("a mark in the legend stands for a round share and fits a line", () => {
  fc.assert(
    fc.property(fc.double({ min: 10, max: 5000, noNaN: true }), (width) => {
      expect(yardstick(width) * width).toBeLessThanOrEqual(13);
    }),
  );
  expect(yardstick(40)).toBe(0.2);
  expect(yardstick(200)).toBe(0.05);
});

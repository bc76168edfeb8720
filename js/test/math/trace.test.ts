import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sumOf } from "../../src/math/arrays";
import { rowsOf } from "../../src/math/rows";
import { divide, evenMass, linksOf, massAt, traceBack, traceForward } from "../../src/math/trace";
import { labels } from "../support/fixtures";

const SIZE = { min: 1, max: 5 };

/** Some layers of positive numbers [query key], and how many tokens there are. */
const layers = fc.tuple(fc.integer(SIZE), fc.integer({ min: 1, max: 4 })).chain(([size, depth]) => {
  const number = fc.float({ min: Math.fround(0.01), max: 1, noNaN: true });
  const layer = fc.array(number, { minLength: size * size, maxLength: size * size });
  return fc.record({
    size: fc.constant(size),
    values: fc.array(layer, { minLength: depth, maxLength: depth }),
    start: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), {
      minLength: size,
      maxLength: size,
    }),
  });
});

function divided(values: number[][], size: number): Float32Array[] {
  const rows = rowsOf(labels("t", size), { words: false, special: "shown" });
  return values.map((layer) => divide(Float32Array.from(layer), rows, rows));
}

/** The divisions one after the other, as one matrix [query key]: the slow way. */
function product(divisions: Float32Array[], size: number): number[][] {
  const identity = Array.from({ length: size }, (_, row) =>
    Array.from({ length: size }, (_, column) => Number(row === column)),
  );
  return divisions.reduce(
    (below, division) =>
      Array.from({ length: size }, (_, query) =>
        Array.from({ length: size }, (_, key) =>
          below.reduce((sum, row, between) => sum + division[query * size + between] * row[key], 0),
        ),
      ),
    identity,
  );
}

describe("a division", () => {
  test("gives every row shares of its whole", () => {
    const [division] = divided([[1, 3, 1, 1]], 2);
    expect([...division]).toEqual([0.25, 0.75, 0.5, 0.5]);
  });

  test("leaves a query that takes nothing without shares", () => {
    const [division] = divided([[0, 0, 1, 1]], 2);
    expect([...division]).toEqual([0, 0, 0.5, 0.5]);
  });

  test("counts hidden keys among the whole", () => {
    const tokens = { ...labels("t", 3), special: [true, false, false] };
    const rows = rowsOf(tokens, { words: false, special: "hidden" });
    const division = divide(Float32Array.from([9, 9, 9, 5, 3, 2, 0, 1, 3]), rows, rows);
    expect([...division].map((share) => share.toFixed(2))).toEqual([
      "0.30",
      "0.20",
      "0.25",
      "0.75",
    ]);
  });

  test("merges words by adding keys and averaging queries", () => {
    const tokens = { ...labels("t", 3), words: [0, 0, 1], word_texts: ["ab", "c"] };
    const rows = rowsOf(tokens, { words: true, special: "shown" });
    const division = divide(Float32Array.from([1, 1, 2, 0, 0, 12, 1, 2, 1]), rows, rows);
    expect([...division]).toEqual([0.125, 0.875, 0.75, 0.25]);
  });
});

describe("a trace back", () => {
  test("keeps the mass at every layer", () => {
    fc.assert(
      fc.property(layers, ({ size, values, start }) => {
        const { nodes, flows } = traceBack(divided(values, size), Float64Array.from(start));
        for (const masses of [...nodes, ...flows])
          expect(sumOf(masses)).toBeCloseTo(sumOf(start), 4);
      }),
    );
  });

  test("is the product of the divisions", () => {
    fc.assert(
      fc.property(layers, ({ size, values, start }) => {
        const divisions = divided(values, size);
        const { nodes } = traceBack(divisions, Float64Array.from(start));
        const matrix = product(divisions, size);
        for (let key = 0; key < size; key++) {
          const wanted = start.reduce((sum, mass, query) => sum + mass * matrix[query][key], 0);
          expect(nodes[0][key]).toBeCloseTo(wanted, 5);
        }
      }),
    );
  });

  test("is linear in what it starts with", () => {
    fc.assert(
      fc.property(
        layers,
        fc.double({ min: 0.1, max: 3, noNaN: true }),
        ({ size, values, start }, by) => {
          const divisions = divided(values, size);
          const one = traceBack(divisions, Float64Array.from(start)).nodes[0];
          const other = traceBack(divisions, evenMass(size)).nodes[0];
          const both = start.map((mass) => mass * by + 1 / size);
          const sum = traceBack(divisions, Float64Array.from(both)).nodes[0];
          sum.forEach((mass, key) => {
            expect(mass).toBeCloseTo(one[key] * by + other[key], 5);
          });
        },
      ),
    );
  });

  test("loses exactly what goes to hidden keys", () => {
    const tokens = { ...labels("t", 3), special: [true, false, false] };
    const rows = rowsOf(tokens, { words: false, special: "hidden" });
    const layer = divide(Float32Array.from([1, 1, 1, 2, 4, 4, 5, 5, 0]), rows, rows);
    const { nodes } = traceBack([layer, layer], massAt(0, 2));
    expect(nodes.map(sumOf).map((mass) => mass.toFixed(2))).toEqual(["0.52", "0.80", "1.00"]);
  });
});

describe("a trace on", () => {
  test("says of every token what part of it comes from one", () => {
    fc.assert(
      fc.property(layers, ({ size, values }) => {
        const divisions = divided(values, size);
        const matrix = product(divisions, size);
        for (let key = 0; key < size; key++) {
          const parts = traceForward(divisions, massAt(key, size)).nodes[values.length];
          parts.forEach((part, query) => {
            expect(part).toBeCloseTo(matrix[query][key], 5);
          });
        }
      }),
    );
  });
});

describe("the links", () => {
  const flows = [Float32Array.from([0.5, 0.3, 0.15, 0.05]), Float32Array.from([0, 1, 0, 0])];
  const trace = { nodes: [], flows };

  test("come strongest first, until enough of the mass is there", () => {
    const { layers: found, shown } = linksOf(trace, 2, { share: 0.9, limit: 99, least: 0 });
    expect(found[0].map(({ mass }) => mass.toFixed(2))).toEqual(["0.50", "0.30", "0.15"]);
    expect(found[1]).toEqual([{ query: 0, key: 1, mass: 1 }]);
    expect(shown[0]).toBeCloseTo(0.95);
    expect(shown[1]).toBe(1);
  });

  test("are limited for all layers together", () => {
    const { layers: found, shown } = linksOf(trace, 2, { share: 1, limit: 4, least: 0 });
    expect(found.map((links) => links.length)).toEqual([2, 1]);
    expect(shown[0]).toBeCloseTo(0.8);
  });

  test("leave out what is small beside the largest, and say how small", () => {
    const first = { nodes: [], flows: flows.slice(0, 1) };
    const found = linksOf(first, 2, { share: 1, limit: 99, least: 0.5 });
    expect(found.least).toBeCloseTo(0.25);
    expect(found.layers[0]).toHaveLength(2);
    expect(found.shown[0]).toBeCloseTo(0.8);
  });

  test("are sorted whatever they are, and never carry more than there is", () => {
    fc.assert(
      fc.property(layers, ({ size, values }) => {
        const found = traceBack(divided(values, size), evenMass(size));
        const { layers: drawn, masses } = linksOf(found, size, {
          share: 0.95,
          limit: 40,
          least: 0,
        });
        drawn.forEach((links, layer) => {
          const numbers = links.map(({ mass }) => mass);
          expect(numbers).toEqual([...numbers].sort((a, b) => b - a));
          expect(sumOf(numbers)).toBeLessThanOrEqual(masses[layer] + 1e-6);
        });
      }),
    );
  });
});

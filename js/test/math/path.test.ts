import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { strongestPath } from "../../src/math/path";
import { massAt, traceBack } from "../../src/math/trace";

/** Every path of rows from `upper` to `lower`, with its product: the slow way. */
function everyPath(divisions: Float32Array[], size: number, upper: number, lower: number) {
  let paths = [{ rows: [upper], share: 1 }];
  for (const division of [...divisions].reverse()) {
    paths = paths.flatMap(({ rows, share }) =>
      Array.from({ length: size }, (_, key) => ({
        rows: [key, ...rows],
        share: share * division[rows[0] * size + key],
      })),
    );
  }
  return paths.filter(({ rows }) => rows[0] === lower);
}

const layers = fc.integer({ min: 2, max: 3 }).chain((size) =>
  fc.record({
    size: fc.constant(size),
    divisions: fc.array(
      fc
        .array(fc.float({ min: 0, max: 1, noNaN: true }), {
          minLength: size * size,
          maxLength: size * size,
        })
        .map((values) => Float32Array.from(values)),
      { minLength: 1, maxLength: 4 },
    ),
    upper: fc.nat(size - 1),
    lower: fc.nat(size - 1),
  }),
);

describe("the strongest path", () => {
  test("is as strong as the strongest of all, and knows their sum", () => {
    fc.assert(
      fc.property(layers, ({ size, divisions, upper, lower }) => {
        const all = everyPath(divisions, size, upper, lower);
        const most = Math.max(...all.map(({ share }) => share));
        const path = strongestPath(divisions, upper, lower);
        if (!(most > 0)) return expect(path).toBeNull();
        expect(path?.share).toBeCloseTo(most, 10);
        const own = all.find(({ rows }) => rows.join() === path?.rows.join());
        expect(own?.share).toBeCloseTo(most, 10);
        const traced = traceBack(divisions, massAt(upper, size)).nodes[0][lower];
        expect(path?.whole).toBeCloseTo(traced, 5);
      }),
    );
  });

  test("is none if nothing connects the two tokens", () => {
    expect(strongestPath([Float32Array.of(1, 0, 0, 1)], 0, 1)).toBeNull();
  });
});

import { describe, expect, test } from "vitest";
import { CHOICES, FORMAT } from "../src/model";
import { forget, tilesOf } from "../src/tiles";
import { buffer, choice, choices, header, numbers, tiles } from "./fixtures";

describe("what Python wrote", () => {
  test("has the layout this code reads", () => {
    expect(header.format).toBe(FORMAT);
  });

  test("offers the same choices, in the same order", () => {
    expect(choices).toEqual([...CHOICES]);
    expect(Object.keys(choice).sort()).toEqual([...CHOICES].sort());
  });

  test.each(numbers)("is read within 0.5%: $stream $measure layer $layer", (expected) => {
    for (const source of [tiles(), tilesOf(header, buffer(13))]) {
      const stream = header.streams.find(({ name }) => name === expected.stream);
      if (!stream) throw new Error("no such stream");
      const found = source.get(stream, expected.measure, expected.layer);
      expect(found).toHaveLength(expected.values.length);
      expected.values.forEach((value, at) => {
        expect(Math.abs((found?.[at] ?? Number.NaN) - value)).toBeLessThanOrEqual(0.005 * value);
      });
    }
  });

  test("leaves the product to the view", () => {
    expect(header.tiles.map(({ measure }) => measure)).not.toContain("weighted-norm");
    expect(numbers.map(({ measure }) => measure)).toContain("weighted-norm");
  });

  test("says null for numbers it does not hold", () => {
    expect(tiles().get(header.streams[0], "weight", 1)).toBeNull();
    expect(tiles().get(header.streams[1], "weighted-norm", 1)).toBeNull();
  });
});

test("what was used longest ago is forgotten first, but never the tiles of one picture", () => {
  const tile = () => new Float32Array(10);
  const kept = new Map("abcde".split("").map((name) => [name, tile()]));
  forget(kept, 40);
  expect([...kept.keys()]).toEqual(["b", "c", "d", "e"]);
  forget(kept, 5);
  expect([...kept.keys()]).toEqual(["c", "d", "e"]);
});

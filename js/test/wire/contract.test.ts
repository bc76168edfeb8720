import { describe, expect, test } from "vitest";
import { along, between, rowsOf } from "../../src/math/rows";
import { forget, Tiles } from "../../src/state/tiles";
import { CHOICES, FORMAT } from "../../src/wire/types";
import contract from "../support/contract.json";
import { buffer, choice, choices, header, numbers, tiles } from "../support/fixtures";

describe("what Python wrote", () => {
  test("has the layout this code reads", () => {
    expect(header.format).toBe(FORMAT);
  });

  test("offers the same choices, in the same order", () => {
    expect(choices).toEqual([...CHOICES]);
    expect(Object.keys(choice).sort()).toEqual([...CHOICES].sort());
  });

  test.each(numbers)("is read within 0.5%: $stream $measure layer $layer", (expected) => {
    for (const source of [tiles(), new Tiles(header.tiles, buffer(13))]) {
      const stream = header.flows[0].streams.find(({ name }) => name === expected.stream);
      if (!stream) throw new Error("no such stream");
      const found = source.layer(0, stream, expected.measure, expected.layer);
      expect(found).toHaveLength(expected.values.length);
      expected.values.forEach((value, at) => {
        expect(Math.abs((found?.[at] ?? Number.NaN) - value)).toBeLessThanOrEqual(0.005 * value);
      });
    }
  });

  test("leaves the product to the view", () => {
    expect(header.tiles.map(({ name }) => name)).not.toContain("0/encoder/weighted-norm/0/all");
    expect(numbers.map(({ measure }) => measure)).toContain("weighted-norm");
  });

  test("says so in a sentence where it does not hold what is wanted", () => {
    const [encoder, cross] = header.flows[0].streams;
    expect(() => tiles().layer(0, encoder, "weight", 1)).toThrow("are not in this file");
    expect(() => tiles().layer(0, cross, "weighted-norm", 1)).toThrow("are not in this file");
  });

  test.each(contract.words)("has the same words: $measure layer $layer", (expected) => {
    const [stream] = contract.wordy.streams;
    const look = { words: true, special: "shown" } as const;
    const [queries, keys] = [rowsOf(stream.queries, look), rowsOf(stream.keys, look)];
    const pieces = Float32Array.from(expected.pieces);
    const found =
      expected.measure === "value-norm" ? along(pieces, keys) : between(pieces, queries, keys);
    expect([...found].map((value) => value.toFixed(5))).toEqual(
      expected.values.map((value) => value.toFixed(5)),
    );
    expect(keys.labels).toEqual(stream.keys.word_texts);
  });
});

test("what was used longest ago is forgotten first, but never the tiles of one picture", () => {
  const tile = () => ({ values: new Float32Array(10), about: {} });
  const kept = new Map("abcde".split("").map((name) => [name, tile()]));
  forget(kept, 40);
  expect([...kept.keys()]).toEqual(["b", "c", "d", "e"]);
  forget(kept, 5);
  expect([...kept.keys()]).toEqual(["c", "d", "e"]);
});

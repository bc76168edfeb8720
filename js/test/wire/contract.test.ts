import { describe, expect, test } from "vitest";
import { keysToRows, pairsToRows, rowsOf } from "../../src/math/rows";
import { defaultsOf } from "../../src/state/store";
import { evictTiles, Tiles } from "../../src/state/tiles";
import { FORMAT, STATE_KEYS } from "../../src/wire/types";
import contract from "../support/contract.json";
import { buffer, header, numbers, state, tiles } from "../support/fixtures";

describe("what Python wrote", () => {
  test("has the format this code reads", () => {
    expect(header.format).toBe(FORMAT);
  });

  test("has the same state, in the same order", () => {
    expect(Object.keys(state)).toEqual([...STATE_KEYS]);
  });

  test("has defaults for every stream, each of them allowed", () => {
    const { allowed, defaults } = header.state;
    expect(Object.keys(defaults)).toEqual(header.flows[0].streams.map(({ name }) => name));
    for (const stream of header.flows[0].streams) {
      const first = defaultsOf(header, stream);
      for (const [key, values] of Object.entries(allowed)) {
        expect(values).toContain(first[key as keyof typeof first]);
      }
      expect(stream.measures).toContain(first.measure);
      expect(stream.layers).toContain(first.layer);
    }
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
    expect(() => tiles().layer(0, encoder, "weight", 1)).toThrow(
      "This file does not contain layer 1 (weight).",
    );
    expect(() => tiles().layer(0, cross, "weighted-norm", 1)).toThrow(
      "This file does not contain layer 1",
    );
  });

  test.each(contract.words)("has the same words: $measure layer $layer", (expected) => {
    const [stream] = contract.wordy.streams;
    const look = { words: true, special: "shown" } as const;
    const [queries, keys] = [rowsOf(stream.queries, look), rowsOf(stream.keys, look)];
    const pieces = Float32Array.from(expected.pieces);
    const found =
      expected.measure === "value-norm"
        ? keysToRows(pieces, keys)
        : pairsToRows(pieces, queries, keys);
    expect([...found].map((value) => value.toFixed(5))).toEqual(
      expected.values.map((value) => value.toFixed(5)),
    );
    expect(keys.labels).toEqual(stream.keys.word_texts);
  });
});

test("what was used longest ago is forgotten first, but never the tiles of one picture", () => {
  const tile = () => ({ values: new Float32Array(10), about: {} });
  const kept = new Map("abcde".split("").map((name) => [name, tile()]));
  evictTiles(kept, 40);
  expect([...kept.keys()]).toEqual(["b", "c", "d", "e"]);
  evictTiles(kept, 5);
  expect([...kept.keys()]).toEqual(["c", "d", "e"]);
});

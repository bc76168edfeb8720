import { describe, expect, test } from "vitest";
import { gapLabel, gapsOf, gapsPhrase, shortenLists } from "../../src/data/otherLayers";
import { opened } from "../support/fixtures";

const of = (layers: number[], ...others: [number, string][]) => ({
  layers,
  other_layers: Object.fromEntries(others),
});

describe("layers without attention", () => {
  test("are in runs that have the same instead, each at its place among the others", () => {
    const gaps = gapsOf(opened("hybrid").store.stream);
    expect(gaps.map((gap) => [gapLabel(gap), gap.part, gap.before])).toEqual([
      ["0", "JambaMambaMixer", 0],
      ["2–3", "JambaMambaMixer", 1],
      ["5–6", "Conv", 2],
    ]);
  });

  test("are ordered by number, not by letter", () => {
    const gaps = gapsOf(of([3], [10, "a"], [9, "a"], [2, "a"]));
    expect(gaps.map(gapLabel)).toEqual(["2", "9–10"]);
  });

  test("are not joined over a layer that has attention but is not held", () => {
    expect(gapsOf(of([5], [0, "a"], [2, "a"])).map(gapLabel)).toEqual(["0", "2"]);
  });

  test("are not joined with those that have something else", () => {
    expect(gapsOf(of([5], [0, "a"], [1, "b"])).map(gapLabel)).toEqual(["0", "1"]);
  });

  test("are listed in a phrase, by what they have", () => {
    const { stream } = opened("hybrid").store;
    expect(gapsPhrase(stream)).toBe("layers 0, 2–3 (JambaMambaMixer), 5–6 (Conv)");
    expect(gapsPhrase(of([0], [1, "a"]))).toBe("layer 1 (a)");
    expect(gapsPhrase(of([0]))).toBe("");
  });
});

test("long lists in a sentence are shortened, and nothing else in it", () => {
  expect(shortenLists("none in layer 0, 1, 2, 4, 6, 7 (Mixer2, 3)")).toBe(
    "none in layer 0–2, 4, 6–7 (Mixer2, 3)",
  );
  expect(shortenLists("its tokens are divided")).toBe("its tokens are divided");
});

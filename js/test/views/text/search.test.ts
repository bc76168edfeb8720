import { describe, expect, test } from "vitest";
import { findMatches, matchAfter } from "../../../src/views/text/search";
import { runsOf } from "../../support/texts";

describe("a search", () => {
  const runs = runsOf(["The", "cat", "saw", ["cat", "er", "pillars"], ".", "the", "End"]);

  test("finds every match, whatever its case", () => {
    expect(findMatches(runs, "CAT")).toEqual([
      { from: 1, to: 2 },
      { from: 3, to: 4 },
    ]);
    expect(findMatches(runs, "the")).toHaveLength(2);
  });

  test("finds words of several pieces, and several words", () => {
    expect(findMatches(runs, "caterpillar")).toEqual([{ from: 3, to: 6 }]);
    expect(findMatches(runs, "  the   cat ")).toEqual([{ from: 0, to: 2 }]);
    expect(findMatches(runs, "pillars. the")).toEqual([{ from: 5, to: 8 }]);
  });

  test("finds nothing for nothing, and no pattern is one", () => {
    for (const query of ["", "  ", "dog", ".*", "[", "thecat"]) {
      expect(findMatches(runs, query)).toEqual([]);
    }
  });

  test("finds text without spaces, and letters that grow in lower case", () => {
    expect(findMatches(runsOf(["漢", "字", "漢", "字"]), "字漢")).toEqual([{ from: 1, to: 3 }]);
    expect(findMatches(runsOf(["İ", "x", "y"]), "y")).toEqual([{ from: 2, to: 3 }]);
  });

  test("goes on from what is in sight, then from the start", () => {
    const matches = findMatches(runs, "cat");
    expect([0, 2, 4].map((run) => matchAfter(matches, run))).toEqual([0, 1, 0]);
    expect(matchAfter([], 3)).toBe(0);
  });
});

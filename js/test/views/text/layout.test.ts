import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { breakText, lineOfRuns, linesInSight } from "../../../src/views/text/layout";
import type { Run } from "../../../src/views/text/reading";
import { runsOf, spelled } from "../../support/texts";

/** Every letter is one wide. */
const widthOf = (text: string) => [...text].length;

function linesOf(runs: Run[], width: number): string[] {
  return breakText(runs, width, widthOf).map(({ from, to }) => spelled(runs.slice(from, to)));
}

describe("lines", () => {
  test("are filled word by word", () => {
    const runs = runsOf(["the", "old", "cat", "sat", ".", "it", "slept"]);
    expect(linesOf(runs, 8)).toEqual(["the old", "cat sat.", "it slept"]);
    expect(linesOf(runs, 7)).toEqual(["the old", "cat", "sat. it", "slept"]);
  });

  test("break inside of a word only if it is wider than a line", () => {
    const runs = runsOf(["a", ["un", "believ", "able"], "cat"]);
    expect(linesOf(runs, 12)).toEqual(["a", "unbelievable", "cat"]);
    expect(linesOf(runs, 9)).toEqual(["a un", "believ", "able cat"]);
    expect(linesOf(runs, 2)).toEqual(["a", "un", "believ", "able", "cat"]);
    expect(breakText(runs, 2, widthOf).map(({ isCut }) => isCut)).toEqual([
      ...[false, false, true, true, true],
    ]);
  });

  test("break between ideographs, but never before a stop", () => {
    expect(linesOf(runsOf(["漢", "字", "文", "。", "漢"]), 3)).toEqual(["漢字", "文。漢"]);
  });

  test("end where the text has a line break, with empty lines between paragraphs", () => {
    const runs = runsOf(["a", "\n", "b", "\n\n", "c", "\n\n\n\n\n\n", "d"]);
    expect(linesOf(runs, 20)).toEqual(["a ↵", "b ↵↵", "", "c ↵↵↵↵↵↵", "", "", "d"]);
  });

  test("read from right to left by the first letter of their paragraph", () => {
    const runs = runsOf(["[CLS]", "مرحبا", "hello", "עולם", "\n", "one", "שלום"]);
    const lines = breakText(runs, 8, widthOf);
    expect(lines.map(({ isRtl }) => isRtl)).toEqual([true, true, true, true, false]);
  });

  test("hold every run once and in order, and are never too wide if they can be broken", () => {
    const words = fc.array(
      fc.oneof(
        fc.string({ minLength: 1, maxLength: 6 }),
        fc.array(fc.constantFrom("un", "do", "ing"), { minLength: 1, maxLength: 4 }),
        fc.constantFrom("\n", "\n\n", ".", "漢", "שלום", "(", '"'),
      ),
      { minLength: 1, maxLength: 40 },
    );
    fc.assert(
      fc.property(words, fc.integer({ min: 3, max: 40 }), (text, width) => {
        const runs = runsOf(text);
        const lines = breakText(runs, width, widthOf);
        const order = lines.flatMap(({ from, to }) =>
          Array.from({ length: to - from }, (_, at) => from + at),
        );
        expect(order).toEqual(runs.map((_, at) => at));
        for (const { from, to } of lines) {
          const wide = widthOf(spelled(runs.slice(from, to)));
          expect(wide <= width || to === from + 1).toBe(true);
        }
        const lineOf = lineOfRuns(lines, runs.length);
        lineOf.forEach((line, run) => {
          expect(lines[line].from <= run && run < lines[line].to).toBe(true);
        });
      }),
    );
  });
});

describe("the lines in sight", () => {
  test("are those between the edges, and some around them", () => {
    const sight = { top: 280, height: 560 };
    expect(linesInSight(sight, 28, 1000, 0)).toEqual({ first: 10, last: 29 });
    expect(linesInSight(sight, 28, 1000, 8)).toEqual({ first: 2, last: 37 });
  });

  test("stay within the text", () => {
    expect(linesInSight({ top: 0, height: 560 }, 28, 5, 8)).toEqual({ first: 0, last: 4 });
    expect(linesInSight({ top: 0, height: 560 }, 28, 0, 8)).toEqual({ first: 0, last: -1 });
  });
});

import { describe, expect, test } from "vitest";
import {
  type Bitext,
  bandBetween,
  bitextOf,
  lineBetween,
} from "../../../src/views/alignment/layout";
import {
  clockOf,
  momentLines,
  momentsOf,
  spanAround,
  spanText,
} from "../../../src/views/shared/time";

const words = (count: number) => Array.from({ length: count }, (_, at) => `word${at}`);

/** Whether neighbors stand apart, and all within bounds. */
function isApart({ way, width, height, tall, source, target }: Bitext): boolean {
  return [source, target].every((row) =>
    row.every(({ x, y, width: wide }, at) => {
      const isIn = x - wide / 2 >= -0.5 && x + wide / 2 <= width + 0.5;
      const isInside = y - tall / 2 >= -0.5 && y + tall / 2 <= height + 0.5;
      const next = row[at + 1];
      const gap = next && (way === "rows" ? next.x - next.width / 2 - x - wide / 2 : next.y - y);
      return isIn && isInside && (gap === undefined || gap >= (way === "rows" ? 0 : tall - 0.5));
    }),
  );
}

describe("two texts", () => {
  test.each([
    [1, 1, 400],
    [8, 7, 700],
    [8, 7, 330],
    [40, 44, 700],
    [80, 96, 700],
    [3, 60, 420],
  ])("of %i and %i words stand apart in %i pixels", (source, target, width) => {
    const place = bitextOf(words(source), words(target), width, false);
    expect(isApart(place)).toBe(true);
    expect(place.width).toBeLessThanOrEqual(width);
    expect(place.from).toBeLessThan(place.to);
  });

  test("stand above each other as long as they fit, then side by side", () => {
    expect(bitextOf(words(8), words(8), 700, false).way).toBe("rows");
    expect(bitextOf(words(40), words(40), 700, false).way).toBe("columns");
  });

  test("are joined by lines that begin and end at their words", () => {
    for (const width of [700, 300]) {
      const place = bitextOf(words(6), words(6), width, false);
      const ends =
        lineBetween(place, [1, 4])
          .match(/-?[\d.]+/g)
          ?.map(Number) ?? [];
      const [one, other] = [place.source[1], place.target[4]];
      const wanted =
        place.way === "rows"
          ? [one.x, place.from, other.x, place.to]
          : [place.from, one.y, place.to, other.y];
      [...ends.slice(0, 2), ...ends.slice(-2)].forEach((end, at) => {
        expect(end).toBeCloseTo(wanted[at], 0);
      });
    }
  });

  test("may be a sound and a text: the sound is a ruler along the whole role", () => {
    const place = bitextOf(words(300), words(6), 600, true);
    expect(place.way).toBe("rows");
    expect(place.width).toBe(600);
    expect(place.source[299].x).toBeCloseTo(599, 0);
    const band = bandBetween(place, { from: 150, to: 160 }, 2);
    expect(band).toMatch(/^M300\.0 /);
    expect(band).toContain("320.0");
    expect(bitextOf(words(300), words(60), 400, true).way).toBe("columns");
  });
});

describe("time", () => {
  test("is read off labels that are all times, at an even pace", () => {
    expect(clockOf(["0.00 s", "0.02 s", "0.04 s"])).toEqual({ first: 0, step: 0.02 });
    expect(clockOf(["0.00 s", "le", "0.04 s"])).toBeNull();
    expect(clockOf(["5", "6"])).toBeNull();
    expect(clockOf(["0.00 s"])).toBeNull();
  });

  test("has ticks at round seconds", () => {
    const ticks = momentsOf({ first: 0, step: 0.02 }, 300, 6);
    expect(ticks.map(({ text }) => text)).toEqual([
      "0 s",
      "1 s",
      "2 s",
      "3 s",
      "4 s",
      "5 s",
      "6 s",
    ]);
    expect(ticks[2].at).toBeCloseTo(100);
  });

  test("labels the round moments of an axis that are in sight, and the one in focus", () => {
    const clock = { first: 0, step: 0.02 };
    const whole = { first: 0, seen: 300, count: 300 };
    expect(momentLines(clock, whole, 1, null)).toEqual([0, 50, 100, 150, 200, 250]);
    expect(momentLines(clock, whole, 1, 103)).toEqual([0, 50, 150, 200, 250, 103]);
    expect(momentLines(clock, { first: 100, seen: 30, count: 300 }, 10, null)).toEqual([
      100, 105, 110, 115, 120, 125, 130,
    ]);
  });

  test("is read in the stretch around the best moment that has half as much", () => {
    expect(spanAround([1, 4, 6, 8, 5, 3, 8], 3)).toEqual({ from: 1, to: 5 });
    expect(spanAround([1, 0, 0], 0)).toEqual({ from: 0, to: 1 });
    expect(spanText({ first: 0, step: 0.02 }, { from: 21, to: 29 })).toBe("0.42–0.58 s");
  });
});

/** Breaks running text into lines of equal height, and finds those in sight. Pure. */

import type { Run } from "./reading";

/** The runs of one line, from the first to before the last. */
export interface TextLine {
  from: number;
  to: number;
  isRtl: boolean;
  /** Whether its only run is wider than the line. */
  isCut: boolean;
}

/** At most this many empty lines for a run of line breaks. */
const MAX_EMPTY = 2;

/** The lines of a text in a width; `widthOf` measures a string. */
export function breakText(
  runs: Run[],
  width: number,
  widthOf: (text: string) => number,
): TextLine[] {
  const lines: TextLine[] = [];
  const space = widthOf(" ");
  let [used, isRtl] = [0, false];
  const addLine = (from: number): void => {
    lines.push({ from, to: from, isRtl, isCut: false });
    used = 0;
  };
  const place = (from: number, to: number, gap: number, wide: number): void => {
    if (used > 0 && used + gap + wide > width) addLine(from);
    used += (used > 0 ? gap : 0) + wide;
    lines[lines.length - 1].to = to;
  };
  for (let from = 0; from < runs.length; ) {
    const { joint } = runs[from];
    if (joint === "line") {
      isRtl = isRightToLeft(runs, from);
      if (from > 0) {
        const empty = Math.min(MAX_EMPTY, runs[from - 1].breaks - 1);
        for (let count = 0; count < empty; count++) addLine(from);
      }
      addLine(from);
    }
    const to = unitEnd(runs, from);
    const gap = joint === "space" ? space : 0;
    const wide = widthOf(textOf(runs, from, to));
    if (wide <= width) place(from, to, gap, wide);
    else {
      // A word wider than the line may break between its pieces.
      for (let at = from; at < to; at++) {
        const own = widthOf(runs[at].text);
        place(at, at + 1, at === from ? gap : 0, own);
        if (own > width) lines[lines.length - 1].isCut = true;
      }
    }
    from = to;
  }
  return lines;
}

/** The end of the runs that must stay together. */
function unitEnd(runs: Run[], from: number): number {
  let to = from + 1;
  while (to < runs.length && runs[to].joint === "glued") to++;
  return to;
}

function textOf(runs: Run[], from: number, to: number): string {
  return to === from + 1
    ? runs[from].text
    : runs
        .slice(from, to)
        .map(({ text }) => text)
        .join("");
}

const LETTER = /\p{L}/u;
const RTL_LETTER =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

/** Whether a paragraph reads from right to left, by its first letter; special tokens do not count. */
function isRightToLeft(runs: Run[], from: number): boolean {
  for (let at = from; at < runs.length && (at === from || runs[at].joint !== "line"); at++) {
    const [letter] = runs[at].special ? [] : (LETTER.exec(runs[at].text) ?? []);
    if (letter) return RTL_LETTER.test(letter);
  }
  return false;
}

/** The line of each run. */
export function lineOfRuns(lines: TextLine[], count: number): Int32Array {
  const lineOf = new Int32Array(count);
  lines.forEach(({ from, to }, line) => {
    lineOf.fill(line, from, to);
  });
  return lineOf;
}

/** The first and last line in sight, and some around them. */
export function linesInSight(
  { top, height }: { top: number; height: number },
  pitch: number,
  count: number,
  around: number,
): { first: number; last: number } {
  return {
    first: Math.max(0, Math.floor(top / pitch) - around),
    last: Math.min(count - 1, Math.ceil((top + height) / pitch) - 1 + around),
  };
}

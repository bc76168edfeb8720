/** Finds words in running text, also across tokens. Pure. */

import type { Run } from "./reading";

/** The runs of one match, from the first to before the last. */
export interface Match {
  from: number;
  to: number;
}

/** Every match of a query, in the order of the text. */
export function findMatches(runs: Run[], query: string): Match[] {
  const sought = query.toLowerCase().replace(/\s+/g, " ").trim();
  if (sought === "") return [];
  const { text, ends } = joinRuns(runs);
  const matches: Match[] = [];
  for (let at = text.indexOf(sought); at >= 0; at = text.indexOf(sought, at + sought.length)) {
    const [first, last] = [at, at + sought.length - 1].map((place) => runAt(ends, place));
    matches.push({ from: first, to: last + 1 });
  }
  return matches;
}

/** The text of all runs, and the place where each one ends. */
function joinRuns(runs: Run[]): { text: string; ends: number[] } {
  let text = "";
  const ends = runs.map(({ sought, joint }, at) => {
    const isApart = at > 0 && (joint === "space" || joint === "line");
    text += isApart ? ` ${sought}` : sought;
    return text.length;
  });
  return { text, ends };
}

/** The first run that ends after a place. */
function runAt(ends: number[], place: number): number {
  let [low, high] = [0, ends.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ends[middle] > place) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The index of the first match that begins at a run or after it; the first one if none does. */
export function matchAfter(matches: Match[], run: number): number {
  return Math.max(
    0,
    matches.findIndex(({ from }) => from >= run),
  );
}

/** Who rises and who falls between two measures, in words. */

import { rank } from "../math/arrays";
import type { Standing } from "../views/view";
import { quoted } from "./describe";

/** Only tokens that are among the first so many in one of the two are worth a word. */
const NOTABLE = 5;
const NAMED = 3;

interface Move {
  label: string;
  from: number;
  to: number;
}

/** The places of the numbers, the greatest first: 1 for the first. */
export function places(values: ArrayLike<number>): number[] {
  const found: number[] = [];
  rank(values).forEach((at, place) => {
    found[at] = place + 1;
  });
  return found;
}

/** The moves worth naming, the widest first. */
export function moves(before: Standing, after: Standing): Move[] {
  const [old, now] = [places(before.values), places(after.values)];
  return after.labels
    .map((label, at) => ({ label, from: old[at], to: now[at] }))
    .filter(({ from, to }) => from !== to && Math.min(from, to) <= NOTABLE)
    .sort((a, b) => Math.abs(b.from - b.to) - Math.abs(a.from - a.to))
    .slice(0, NAMED);
}

/** "From α to ‖αf(x)‖: ‘[CLS]’ falls from 1st to 14th." */
export function changes(names: [string, string], before: Standing, after: Standing): string {
  if (before.labels.join("\0") !== after.labels.join("\0")) return "";
  const told = moves(before, after).map(
    ({ label, from, to }) =>
      `${quoted(label)} ${to > from ? "falls" : "rises"} from ${ordinal(from)} to ${ordinal(to)}`,
  );
  return told.length > 0
    ? `From ${names[0]} to ${names[1]}: ${told.join(", ")}.`
    : `From ${names[0]} to ${names[1]} none of the first ${NOTABLE} changes its place.`;
}

/** 1st, 2nd, 3rd, 4th … */
export function ordinal(place: number): string {
  const teen = place % 100 >= 11 && place % 100 <= 13;
  const ending = teen ? "th" : (["th", "st", "nd", "rd"][place % 10] ?? "th");
  return `${place}${ending}`;
}

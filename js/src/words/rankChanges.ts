/** Which tokens rise and fall between two measures, in words. */

import type { Ranking } from "../data/layer";
import { rankOrder } from "../math/arrays";
import { quote } from "./describe";

/** Only tokens among the first few in one of the two rankings are named. */
const NOTABLE = 5;
const NAMED = 3;

interface Move {
  label: string;
  from: number;
  to: number;
}

/** The rank of each value: 1 for the largest. */
export function ranksOf(values: ArrayLike<number>): number[] {
  const ranks: number[] = [];
  rankOrder(values).forEach((at, place) => {
    ranks[at] = place + 1;
  });
  return ranks;
}

/** The moves to name, the largest first. */
export function notableMoves(before: Ranking, after: Ranking): Move[] {
  const [old, now] = [ranksOf(before.values), ranksOf(after.values)];
  return after.labels
    .map((label, at) => ({ label, from: old[at], to: now[at] }))
    .filter(({ from, to }) => from !== to && Math.min(from, to) <= NOTABLE)
    .sort((a, b) => Math.abs(b.from - b.to) - Math.abs(a.from - a.to))
    .slice(0, NAMED);
}

/** "From α to ‖αf(x)‖: ‘[CLS]’ falls from 1st to 14th." */
export function rankChangesPhrase(
  names: [string, string],
  before: Ranking,
  after: Ranking,
): string {
  if (before.labels.join("\0") !== after.labels.join("\0")) return "";
  const texts = notableMoves(before, after).map(
    ({ label, from, to }) =>
      `${quote(label)} ${to > from ? "falls" : "rises"} from ${ordinal(from)} to ${ordinal(to)}`,
  );
  return texts.length > 0
    ? `From ${names[0]} to ${names[1]}: ${texts.join(", ")}.`
    : `From ${names[0]} to ${names[1]}, none of the top ${NOTABLE} changes its rank.`;
}

/** 1st, 2nd, 3rd, 4th … */
export function ordinal(place: number): string {
  const teen = place % 100 >= 11 && place % 100 <= 13;
  const ending = teen ? "th" : (["th", "st", "nd", "rd"][place % 10] ?? "th");
  return `${place}${ending}`;
}

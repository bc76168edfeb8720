/** Keys that are moments of a sound: where they lie in time, and which stretch a word reads. */

import { linearTicks } from "../../draw/ticks";
import type { Word } from "../alignment/data";

/** When the first key begins, and how far it is to the next, in seconds. */
export interface Clock {
  first: number;
  step: number;
}

const TIME = /^(\d+\.\d+) s$/;

/** The clock of keys that are all named by when they begin; null of any others. */
export function clockOf(labels: string[]): Clock | null {
  if (labels.length < 2) return null;
  const found = labels.map((label) => Number(TIME.exec(label)?.[1] ?? Number.NaN));
  const last = found[found.length - 1];
  const step = (last - found[0]) / (labels.length - 1);
  return found.every(Number.isFinite) && step > 0 ? { first: found[0], step } : null;
}

/** The clock of words, where each is a moment. */
export function clockOfWords(words: Word[]): Clock | null {
  return clockOf(words.map(({ label }) => label));
}

/** Round moments, about so many, and the place of each among the keys, in parts of a key. */
export function momentsOf({ first, step }: Clock, keys: number, count: number) {
  return linearTicks(first, first + keys * step, count).map((time) => ({
    text: `${time} s`,
    at: (time - first) / step,
  }));
}

/** How far apart round moments stand along an axis, and how near they may come to another label. */
const APART = 44;
const NEAR = 12;

/** The lines of an axis that get a label: round moments in sight, and always `own`. */
export function momentLines(
  { first: start, step }: Clock,
  { first, seen, count }: { first: number; seen: number; count: number },
  pitch: number,
  own: number | null,
): number[] {
  const sight = { first: start + first * step, step };
  const round = momentsOf(sight, seen, Math.max(2, (seen * pitch) / APART))
    .map(({ at }) => Math.round(first + at))
    .filter((line) => line < count);
  const free = round.filter((line) => own === null || Math.abs(line - own) * pitch >= NEAR);
  return own === null ? free : [...free, own];
}

/** A stretch of keys, from one up to another that is not in it. */
export interface Span {
  from: number;
  to: number;
}

/** The keys around the best one of which a word takes at least half as much as of the best. */
export function spanAround(row: ArrayLike<number>, best: number): Span {
  const isIn = (at: number) => at >= 0 && at < row.length && row[at] >= row[best] / 2;
  let [from, to] = [best, best + 1];
  while (isIn(from - 1)) from--;
  while (isIn(to)) to++;
  return { from, to };
}

/** A stretch in words, such as `0.42–0.58 s`. */
export function spanText({ first, step }: Clock, { from, to }: Span): string {
  const at = (place: number) => (first + place * step).toFixed(2);
  return `${at(from)}–${at(to)} s`;
}

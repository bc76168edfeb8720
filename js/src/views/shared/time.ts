/** Keys that are moments of audio: their times, and the stretch that a word reads. */

import { linearTicks } from "../../draw/ticks";

/** The start of the first key and the distance between keys, in seconds. */
export interface Clock {
  first: number;
  step: number;
}

const TIME = /^(\d+\.\d+) s$/;

/** The clock of keys whose labels are all times; null for other keys. */
export function clockOf(labels: string[]): Clock | null {
  if (labels.length < 2) return null;
  const times = labels.map((label) => Number(TIME.exec(label)?.[1] ?? Number.NaN));
  const last = times[times.length - 1];
  const step = (last - times[0]) / (labels.length - 1);
  return times.every(Number.isFinite) && step > 0 ? { first: times[0], step } : null;
}

/** About `count` round times, and the position of each in units of keys. */
export function momentsOf({ first, step }: Clock, keys: number, count: number) {
  return linearTicks(first, first + keys * step, count).map((time) => ({
    text: `${time} s`,
    at: (time - first) / step,
  }));
}

/** The distance between round times along an axis, and the minimum distance to another label. */
const APART = 44;
const NEAR = 12;

/** The lines of an axis that get a label: visible round times, and always `own`. */
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

/** A half-open range of keys. */
export interface Span {
  from: number;
  to: number;
}

/** The keys around the best one from which a word takes at least half as much. */
export function spanAround(row: ArrayLike<number>, best: number): Span {
  const isIn = (at: number) => at >= 0 && at < row.length && row[at] >= row[best] / 2;
  let [from, to] = [best, best + 1];
  while (isIn(from - 1)) from--;
  while (isIn(to)) to++;
  return { from, to };
}

/** A range as text, such as `0.42–0.58 s`. */
export function spanText({ first, step }: Clock, { from, to }: Span): string {
  const at = (place: number) => (first + place * step).toFixed(2);
  return `${at(from)}–${at(to)} s`;
}

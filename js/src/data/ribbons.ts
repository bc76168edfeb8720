/** Pure geometry: where every token, ribbon and bar goes, in pixels. */

import { columnOf, given, most, rowOf, total } from "../math/arrays";
import { cut, sieve } from "../math/topMass";
import type { Side } from "../wire/types";
import type { Norms, Picture } from "./layer";

/** How tall a row is and how large its letters are. */
export interface Pitch {
  pitch: number;
  font: number;
}

/** How much of a row the ribbons of one token may fill; the rest keeps neighbors apart. */
const FILL = 0.84;

const PITCH = { least: 12, most: 20 };
const FONT = { least: 9, most: 13 };

/** Rows that fit a height, as long as they stay legible; beyond that the column scrolls. */
export function rowsFor(count: number, height: number): Pitch {
  const pitch = Math.min(
    PITCH.most,
    Math.max(PITCH.least, Math.floor(height / Math.max(1, count))),
  );
  const grown = (pitch - PITCH.least) / (PITCH.most - PITCH.least);
  return { pitch, font: Math.round(FONT.least + grown * (FONT.most - FONT.least)) };
}

/** The middle of a row. */
export function middle(row: number, pitch: number): number {
  return (row + 0.5) * pitch;
}

/** One strand of what a key gives to a query: a head's part, or one side of zero. */
export interface Ribbon {
  plane: number;
  query: number;
  key: number;
  width: number;
  /** The height of its middle at the key's end, and at the query's. */
  from: number;
  to: number;
}

/** What is drawn, weakest first; the share of the whole it covers; how tall a full row is. */
export interface Ribbons {
  ribbons: Ribbon[];
  shown: number;
  full: number;
}

/** The strongest ribbons, until `share` of the sum is drawn or there are `limit` of them. */
export function ribbonsOf(
  picture: Picture,
  pitch: number,
  { share, limit }: { share: number; limit: number },
): Ribbons {
  const full = pitch * FILL;
  const { values, unit } = scaled(picture);
  const passes = sieve(cut(values, share, limit));
  const ribbons = place(picture, values, full / unit, pitch, passes).filter(
    ({ plane, query, key }) => sizeAt(picture, plane, query, key) >= picture.least,
  );
  ribbons.sort((a, b) => a.width - b.width);
  const whole = (scaledSum(picture) / unit) * full;
  const drawn = total(ribbons.map(({ width }) => width));
  return { ribbons, shown: whole > 0 ? drawn / whole : 1, full };
}

/** How much one strand has between two tokens. */
export function sizeAt(
  { sizes, queries, keys }: Picture,
  plane: number,
  query: number,
  key: number,
): number {
  return sizes[(plane * queries + query) * keys + key];
}

/** Sizes whose width is their part of one unit: as they are, or as shares of their query. */
function scaled({ sizes, units, scale, queries, keys }: Picture): {
  values: Float32Array;
  unit: number;
} {
  if (scale !== "query") return { values: sizes, unit: units[0] ?? 1 };
  const found = new Float32Array(sizes.length);
  for (let at = 0, query = 0; at < sizes.length; query = (query + 1) % queries) {
    for (const end = at + keys; at < end; at++) found[at] = sizes[at] / units[query];
  }
  return { values: found, unit: 1 };
}

/** The sum of all such numbers. */
function scaledSum({ scale, received }: Picture): number {
  return scale === "query" ? received.filter((sum) => sum > 0).length : total(received);
}

/**
 * Stack every ribbon at both ends, and keep those that are wanted.
 *
 * At a query they lie side by side in the order of the keys. At a key they share one row in the
 * order of the queries, and overlap evenly when they are wider than it together.
 */
function place(
  { queries, keys, strands, received, gifts, units, scale }: Picture,
  values: Float32Array,
  width: number,
  pitch: number,
  isWanted: (value: number) => boolean,
): Ribbon[] {
  const columns = scale === "query" ? given(values, keys) : gifts;
  const used = new Float64Array(keys);
  const ribbons: Ribbon[] = [];
  const plane = queries * keys;
  for (let query = 0; query < queries; query++) {
    const row = scale === "query" ? received[query] / units[query] : received[query];
    const top = middle(query, pitch) - (row * width) / 2;
    let before = 0;
    for (let key = 0; key < keys; key++) {
      for (
        let strand = 0, at = query * keys + key;
        strand < strands.length;
        strand++, at += plane
      ) {
        const value = values[at];
        if (value > 0 && isWanted(value)) {
          const [wide, whole] = [value * width, columns[key] * width];
          const strip = squeeze(used[key] * width, wide, whole, pitch * FILL);
          const from = middle(key, pitch) + strip + wide / 2;
          const to = top + before * width + wide / 2;
          ribbons.push({ plane: strand, query, key, width: wide, from, to });
        }
        before += value;
        used[key] += value;
      }
    }
  }
  return ribbons;
}

/** Where a strip begins, from the middle of a row that has room for only part of the whole. */
function squeeze(before: number, width: number, whole: number, room: number): number {
  if (whole <= room) return before - whole / 2;
  const spread = whole - width > 0 ? before / (whole - width) : 0;
  return spread * (room - width) - room / 2;
}

/** How wide the strongest pair of a token in focus should be, and how far to go for it. */
const SEEN = 3;
const MOST = 12;

/** Nobody sees a ribbon of less than this, in pixels. */
const HAIR = 0.02;

/** All ribbons of one token, so many times wider that the strongest can be seen. */
export function ribbonsAt(
  picture: Picture,
  pitch: number,
  { side, row: token }: { side: Side; row: number },
): { ribbons: Ribbon[]; zoom: number } {
  const { sizes, queries, keys, strands, units } = picture;
  const takes = side === "query";
  const wide = (query: number) => (pitch * FILL) / units[query];
  const sums = takes ? rowOf(sizes, queries, keys, token) : columnOf(sizes, queries, keys, token);
  const pairs = sums.map((sum, other) => sum * wide(takes ? token : other));
  const zoom = Math.min(MOST, Math.max(1, Math.floor(SEEN / (most(pairs) || SEEN))));
  const whole = total(pairs) * zoom;
  const room = Math.min(whole, pitch * FILL * zoom);
  const center = within(middle(token, pitch), room / 2, Math.max(queries, keys) * pitch);
  const ribbons: Ribbon[] = [];
  let used = 0;
  pairs.forEach((pair, other) => {
    let end = middle(other, pitch) - (pair * zoom) / 2;
    for (let plane = 0; plane < strands.length; plane++) {
      const [query, key] = takes ? [token, other] : [other, token];
      const width = sizeAt(picture, plane, query, key) * wide(query) * zoom;
      const own = center + squeeze(used, width, whole, room) + width / 2;
      const far = end + width / 2;
      if (width >= HAIR && sizeAt(picture, plane, query, key) >= picture.least) {
        ribbons.push({ plane, query, key, width, from: takes ? far : own, to: takes ? own : far });
      }
      used += width;
      end += width;
    }
  });
  ribbons.sort((a, b) => a.width - b.width);
  return { ribbons, zoom };
}

/** A middle moved so far that half a height fits on both sides of it. */
function within(wanted: number, half: number, height: number): number {
  return half * 2 > height ? height / 2 : Math.min(height - half, Math.max(half, wanted));
}

/** An S-curve from one column to the next, flat where it meets each token. */
export function curve(left: number, from: number, right: number, to: number): Curve {
  const bend = (left + right) / 2;
  return [left, from, bend, from, bend, to, right, to];
}

/** Start, two handles and end, as x and y in turn. */
export type Curve = [number, number, number, number, number, number, number, number];

/** One head's part of a key's bar, from `start` to `end`, as shares of the full length. */
export interface Bar {
  plane: number;
  key: number;
  start: number;
  end: number;
}

/** The bars beside the keys, the planes of each laid end to end. */
export function barsOf({ values, heads, unit }: Norms): Bar[] {
  const keys = values.length / heads.length;
  const reached = new Float64Array(keys);
  return Array.from(values, (value, at) => {
    const key = at % keys;
    const start = reached[key];
    reached[key] += value / unit;
    return { plane: Math.floor(at / keys), key, start, end: reached[key] };
  });
}

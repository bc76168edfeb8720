/** Pure geometry: where every token, ribbon and bar goes, in pixels. */

import { columnOf, given, received, rowOf, total } from "./derive";
import type { Focus } from "./model";
import type { Norms, Picture } from "./picture";
import { cut, sieve } from "./strongest";

/** How tall a row is and how large its letters are. */
export interface Rows {
  pitch: number;
  font: number;
}

/** How much of a row the ribbons of one token may fill; the rest keeps neighbours apart. */
const FILL = 0.84;

const PITCH = { least: 12, most: 20 };
const FONT = { least: 9, most: 13 };

/** Rows that fit a height, as long as they stay legible; beyond that the column scrolls. */
export function rowsFor(count: number, height: number): Rows {
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

/** One head's part of what a key gives to a query. */
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
  const widths = widthsOf(picture, pitch * FILL);
  const isStrong = sieve(cut(widths, share, limit));
  const ribbons = place(picture, widths, pitch, isStrong);
  ribbons.sort((a, b) => a.width - b.width);
  const whole = total(widths);
  const drawn = total(ribbons.map(({ width }) => width));
  return { ribbons, shown: whole > 0 ? drawn / whole : 1, full: pitch * FILL };
}

/** How wide each number is drawn [plane query key]. */
function widthsOf({ values, units, queries, keys }: Picture, full: number): Float32Array {
  return values.map((value, at) => (value / units[Math.floor(at / keys) % queries]) * full);
}

/**
 * Stack every ribbon at both ends, and keep those that are wanted.
 *
 * At a query they lie side by side in the order of the keys. At a key they share one row in the
 * order of the queries, and overlap evenly when they are wider than it together.
 */
function place(
  { queries, keys, heads }: Picture,
  widths: Float32Array,
  pitch: number,
  isWanted: (width: number) => boolean,
): Ribbon[] {
  const rows = received(widths, queries, keys);
  const columns = given(widths, keys);
  const used = new Float64Array(keys);
  const ribbons: Ribbon[] = [];
  for (let query = 0; query < queries; query++) {
    let to = middle(query, pitch) - rows[query] / 2;
    for (let key = 0; key < keys; key++) {
      for (let plane = 0; plane < heads.length; plane++) {
        const width = widths[(plane * queries + query) * keys + key];
        if (isWanted(width)) {
          const top = squeeze(used[key], width, columns[key], pitch * FILL);
          const from = middle(key, pitch) + top + width / 2;
          ribbons.push({ plane, query, key, width, from, to: to + width / 2 });
        }
        to += width;
        used[key] += width;
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

/** All ribbons of one token, so many times wider that the strongest can be seen. */
export function ribbonsAt(
  picture: Picture,
  pitch: number,
  { side, token }: Focus,
): { ribbons: Ribbon[]; zoom: number } {
  const { queries, keys, heads } = picture;
  const widths = widthsOf(picture, pitch * FILL);
  const takes = side === "query";
  const pairs = takes
    ? rowOf(widths, queries, keys, token)
    : columnOf(widths, queries, keys, token);
  const zoom = Math.min(MOST, Math.max(1, Math.floor(SEEN / (Math.max(...pairs) || SEEN))));
  const whole = total(pairs) * zoom;
  const room = Math.min(whole, pitch * FILL * zoom);
  const centre = within(middle(token, pitch), room / 2, Math.max(queries, keys) * pitch);
  const ribbons: Ribbon[] = [];
  let used = 0;
  pairs.forEach((pair, other) => {
    let end = middle(other, pitch) - (pair * zoom) / 2;
    for (let plane = 0; plane < heads.length; plane++) {
      const [query, key] = takes ? [token, other] : [other, token];
      const width = widths[(plane * queries + query) * keys + key] * zoom;
      const own = centre + squeeze(used, width, whole, room) + width / 2;
      const far = end + width / 2;
      ribbons.push({ plane, query, key, width, from: takes ? far : own, to: takes ? own : far });
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

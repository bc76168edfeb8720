/** Pure geometry: the positions of tokens, ribbons and bars, in pixels. */

import { columnOf, maxOf, rowOf, sumByKey, sumOf } from "../math/arrays";
import { cutoffFor, filterFor } from "../math/topMass";
import type { Role } from "../wire/types";
import type { Norms, Picture } from "./layer";

/** The height of a row and its font size. */
export interface RowSize {
  pitch: number;
  font: number;
}

/** The fraction of a row that ribbons may fill; the rest separates neighbors. */
const FILL = 0.84;

const PITCH = { least: 12, most: 20 };
const FONT = { least: 9, most: 13 };

/** Few rows are taller, until they fill this height. */
const ROOMY = { pitch: 64, font: 16, height: 420 };

/** Rows that fit a height if they stay legible; otherwise the column scrolls. */
export function rowSizeFor(count: number, height: number): RowSize {
  const most = Math.max(
    PITCH.most,
    Math.min(ROOMY.pitch, Math.floor(ROOMY.height / Math.max(1, count))),
  );
  const pitch = Math.min(most, Math.max(PITCH.least, Math.floor(height / Math.max(1, count))));
  if (pitch > PITCH.most) {
    const grown = Math.min(1, (pitch - PITCH.most) / PITCH.most);
    return { pitch, font: Math.round(FONT.most + grown * (ROOMY.font - FONT.most)) };
  }
  const grown = (pitch - PITCH.least) / (PITCH.most - PITCH.least);
  return { pitch, font: Math.round(FONT.least + grown * (FONT.most - FONT.least)) };
}

/** The middle of a row. */
export function middle(row: number, pitch: number): number {
  return (row + 0.5) * pitch;
}

/** One strand of what a key gives to a query: a head's part, or one sign. */
export interface Ribbon {
  plane: number;
  query: number;
  key: number;
  width: number;
  /** The y position of its middle at the key and at the query. */
  from: number;
  to: number;
}

/** The ribbons to draw, narrowest first; the share of the sum they cover; the height of a full row. */
export interface Ribbons {
  ribbons: Ribbon[];
  shown: number;
  full: number;
  /** The most ribbons of each query; null if there is no such limit. */
  perQuery: number | null;
}

/** Which ribbons are drawn. */
export interface RibbonLimits {
  /** The share of the sum that is enough, and the most ribbons. */
  share: number;
  limit: number;
  /** The most ribbons of each query; null or absent for any number. */
  perQuery?: number | null;
}

/** The widest ribbons, until they cover enough of the sum or there are too many. */
export function ribbonsOf(
  picture: Picture,
  pitch: number,
  { share, limit, perQuery = null }: RibbonLimits,
): Ribbons {
  const full = pitch * FILL;
  const { values, unit } = scaleSizes(picture);
  const passes = filterFor(cutoffFor(values, share, limit));
  const least = perQuery ? leastOfEach(picture, perQuery) : null;
  const ribbons = stackRibbons(picture, values, full / unit, pitch, passes).filter(
    ({ plane, query, key }) => {
      const size = sizeAt(picture, plane, query, key);
      return size >= picture.minSize && size >= (least?.[query] ?? 0);
    },
  );
  ribbons.sort((a, b) => a.width - b.width);
  const whole = (scaledSum(picture) / unit) * full;
  const drawn = sumOf(ribbons.map(({ width }) => width));
  return { ribbons, shown: whole > 0 ? drawn / whole : 1, full, perQuery };
}

/** For each query, the size of the last of its `count` largest strands. */
function leastOfEach({ sizes, queries, keys }: Picture, count: number): Float64Array {
  return Float64Array.from({ length: queries }, (_, query) => {
    const top = new Float64Array(count);
    for (let start = query * keys; start < sizes.length; start += queries * keys) {
      for (let at = start; at < start + keys; at++) insertInOrder(top, sizes[at]);
    }
    return top[count - 1];
  });
}

/** Insert a value into a short list, largest first, whose last one drops out. */
function insertInOrder(top: Float64Array, value: number): void {
  let at = top.length - 1;
  if (value <= top[at]) return;
  for (; at > 0 && top[at - 1] < value; at--) top[at] = top[at - 1];
  top[at] = value;
}

/** The size of one strand between two tokens. */
export function sizeAt(
  { sizes, queries, keys }: Picture,
  plane: number,
  query: number,
  key: number,
): number {
  return sizes[(plane * queries + query) * keys + key];
}

/** The sizes and their common unit: as they are, or as shares of their query. */
function scaleSizes({ sizes, units, scale, queries, keys }: Picture): {
  values: Float32Array;
  unit: number;
} {
  if (scale !== "query") return { values: sizes, unit: units[0] ?? 1 };
  const scaled = new Float32Array(sizes.length);
  for (let at = 0, query = 0; at < sizes.length; query = (query + 1) % queries) {
    for (const end = at + keys; at < end; at++) scaled[at] = sizes[at] / units[query];
  }
  return { values: scaled, unit: 1 };
}

/** The sum of the scaled sizes. */
function scaledSum({ scale, received }: Picture): number {
  return scale === "query" ? received.filter((sum) => sum > 0).length : sumOf(received);
}

/**
 * Stack every ribbon at both ends, and keep the selected ones.
 *
 * At a query they lie side by side in the order of the keys. At a key they share one row in the
 * order of the queries, and overlap evenly if they do not fit.
 */
function stackRibbons(
  { queries, keys, strands, received, given, units, scale }: Picture,
  values: Float32Array,
  width: number,
  pitch: number,
  isWanted: (value: number) => boolean,
): Ribbon[] {
  const columns = scale === "query" ? sumByKey(values, keys) : given;
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
          const strip = stripStart(used[key] * width, wide, whole, pitch * FILL);
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

/** The start of a strip, relative to the middle of a row that may be too small for all strips. */
function stripStart(before: number, width: number, whole: number, room: number): number {
  if (whole <= room) return before - whole / 2;
  const spread = whole - width > 0 ? before / (whole - width) : 0;
  return spread * (room - width) - room / 2;
}

/** The width the widest ribbon of a focused token should have, and the largest zoom. */
const VISIBLE_WIDTH = 3;
const MAX_ZOOM = 12;

/** Narrower ribbons are invisible, in pixels. */
const MIN_WIDTH = 0.02;

/** All ribbons of one token, zoomed so that the widest is visible. */
export function ribbonsAt(
  picture: Picture,
  pitch: number,
  { role, row: token }: { role: Role; row: number },
): { ribbons: Ribbon[]; zoom: number } {
  const { sizes, queries, keys, strands, units } = picture;
  const takes = role === "query";
  const wide = (query: number) => (pitch * FILL) / units[query];
  const sums = takes ? rowOf(sizes, queries, keys, token) : columnOf(sizes, queries, keys, token);
  const pairs = sums.map((sum, other) => sum * wide(takes ? token : other));
  const zoom = Math.min(
    MAX_ZOOM,
    Math.max(1, Math.floor(VISIBLE_WIDTH / (maxOf(pairs) || VISIBLE_WIDTH))),
  );
  const whole = sumOf(pairs) * zoom;
  const room = Math.min(whole, pitch * FILL * zoom);
  const center = clampCenter(middle(token, pitch), room / 2, Math.max(queries, keys) * pitch);
  const ribbons: Ribbon[] = [];
  let used = 0;
  pairs.forEach((pair, other) => {
    let end = middle(other, pitch) - (pair * zoom) / 2;
    for (let plane = 0; plane < strands.length; plane++) {
      const [query, key] = takes ? [token, other] : [other, token];
      const width = sizeAt(picture, plane, query, key) * wide(query) * zoom;
      const own = center + stripStart(used, width, whole, room) + width / 2;
      const far = end + width / 2;
      if (width >= MIN_WIDTH && sizeAt(picture, plane, query, key) >= picture.minSize) {
        ribbons.push({ plane, query, key, width, from: takes ? far : own, to: takes ? own : far });
      }
      used += width;
      end += width;
    }
  });
  ribbons.sort((a, b) => a.width - b.width);
  return { ribbons, zoom };
}

/** A center moved so that `half` fits on both sides of it. */
function clampCenter(center: number, half: number, height: number): number {
  return half * 2 > height ? height / 2 : Math.min(height - half, Math.max(half, center));
}

/** An S-curve from one column to the next, flat where it meets each token. */
export function curveBetween(left: number, from: number, right: number, to: number): Curve {
  const bend = (left + right) / 2;
  return [left, from, bend, from, bend, to, right, to];
}

/** Start, two control points and end, as alternating x and y. */
export type Curve = [number, number, number, number, number, number, number, number];

/** One head's part of a key's bar, from `start` to `end`, as fractions of the full length. */
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

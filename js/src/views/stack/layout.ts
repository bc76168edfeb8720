/** Pure geometry of the stack: a lane for each token, a post for each layer, ribbons between. */

import { middle, type Ribbon } from "../../data/ribbons";
import { most } from "../../math/arrays";
import type { Link, Links, Trace } from "../../math/trace";

/** Where the posts stand and how tall the lanes are, in pixels. */
export interface Lanes {
  pitch: number;
  rows: number;
  /** The place of each column of tokens: before the first layer, then after each. */
  posts: number[];
}

/** How many lanes a token may cover, and how much of the height the one that is followed. */
const COVER = 2.4;
const BESIDE = 1.25;
const TALLEST = 0.36;

/** How much of the gap between two posts the widest ribbon may take, to bend without a fold. */
const OF_GAP = 0.5;

/** Posts at even distances from one place to another. */
export function postsBetween(left: number, right: number, layers: number): number[] {
  return Array.from({ length: layers + 1 }, (_, at) => left + ((right - left) * at) / layers);
}

/**
 * How many pixels all mass is wide.
 *
 * Of all tokens alike the largest covers a few lanes. One that is followed may be much taller, so
 * that what it is made of, far away and in many parts, can still be seen.
 */
export function widthOf({ nodes }: Trace, links: Links, { pitch, rows, posts }: Lanes): number {
  const peaks = nodes.map(most);
  const gap = posts.length > 1 ? posts[1] - posts[0] : pitch;
  const widest = most(links.layers.map(([first]) => first?.mass ?? 0)) || 1;
  const bend = Math.max(0.6 * pitch, gap * OF_GAP) / widest;
  const isOne = peaks.some((peak) => peak > 1 - 1e-9);
  if (!isOne) return Math.min(bend, (COVER * pitch) / (most(peaks) || 1));
  const rest = most(peaks.filter((peak) => peak <= 1 - 1e-9)) || 1;
  return Math.max(pitch, Math.min(bend, (BESIDE * pitch) / rest, TALLEST * rows * pitch));
}

/** A round share that a short mark can stand for, when all mass is so wide. */
export function yardstick(width: number): number {
  const steps = [0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002];
  return steps.find((share) => share * width <= MARK) ?? 0.001;
}

/** The tallest mark that a line of text has room for. */
const MARK = 13;

/** The middle of a token's band, moved so far that the band stays in the picture. */
export function center(row: number, band: number, { pitch, rows }: Lanes): number {
  const height = rows * pitch;
  if (band >= height) return height / 2;
  return Math.min(height - band / 2, Math.max(band / 2, middle(row, pitch)));
}

/**
 * The links of one layer as ribbons, weakest first.
 *
 * At both ends they lie side by side in the order of the tokens they come from or go to, and
 * overlap evenly where they are wider than the band of the token together.
 */
export function ribbonsIn(
  links: Link[],
  ends: { keys: Float64Array; queries: Float64Array },
  lanes: Lanes,
  width: number,
): Ribbon[] {
  const ordered = [...links].sort((a, b) => a.query - b.query || a.key - b.key);
  const to = stacked(ordered, "query", ends.queries, lanes, width);
  const from = stacked(ordered, "key", ends.keys, lanes, width);
  return ordered
    .map(({ query, key, mass }, at) => {
      return { plane: 0, query, key, width: mass * width, from: from[at], to: to[at] };
    })
    .sort((a, b) => a.width - b.width);
}

/** The middle of each link at one of its ends. */
function stacked(
  links: Link[],
  end: "query" | "key",
  nodes: Float64Array,
  lanes: Lanes,
  width: number,
): number[] {
  const wholes = new Float64Array(nodes.length);
  for (const link of links) wholes[link[end]] += link.mass;
  const used = new Float64Array(nodes.length);
  return links.map((link) => {
    const row = link[end];
    const [whole, room] = [wholes[row], Math.min(nodes[row], wholes[row])];
    const spread = whole > link.mass ? used[row] / (whole - link.mass) : 0;
    used[row] += link.mass;
    const top = center(row, nodes[row] * width, lanes) - (room * width) / 2;
    return top + (spread * (room - link.mass) + link.mass / 2) * width;
  });
}

/** The token and the column under a point: the nearest post, or the gap that begins at one. */
export function under(x: number, y: number, { pitch, rows, posts }: Lanes, isGap = false) {
  const gap = posts.length > 1 ? posts[1] - posts[0] : 1;
  const place = (x - posts[0]) / gap;
  const last = posts.length - (isGap ? 2 : 1);
  const column = Math.min(last, Math.max(0, isGap ? Math.floor(place) : Math.round(place)));
  const row = Math.floor(y / pitch);
  return row < 0 || row >= rows ? null : { row, column };
}

/** Geometry of the stack: a lane per token, a post per layer, ribbons between posts. */

import { type Gap, gapLabel } from "../../data/otherLayers";
import { middle, type Ribbon } from "../../data/ribbons";
import { isConnected, type TraceMode } from "../../data/stack";
import { roundStep } from "../../draw/ticks";
import { maxOf, sumOf } from "../../math/arrays";
import type { Trace, TraceLink, TraceLinks } from "../../math/trace";

/** The posts and lanes, in pixels. */
export interface Lanes {
  pitch: number;
  rows: number;
  /** The x position of each column of tokens: before the first layer, then after each. */
  posts: number[];
  /** The places of layers without attention. */
  bands?: Band[];
}

/** A horizontal range for layers without attention. */
export interface Band {
  left: number;
  right: number;
  gap: Gap;
}

/** How many lanes a token may cover, and how much of the height the traced token may. */
const COVER = 2.4;
const BESIDE = 1.25;
const TALLEST = 0.36;

/** The largest width of a ribbon as a fraction of the gap between posts, so that it bends smoothly. */
const OF_GAP = 0.5;

/** The width of a letter above the columns, and the least width of a band. */
const LETTER = 6.5;
const THIN = 16;
/** The space before a band if the number of the layer before it is on the post between them. */
const LEAD = 12;

/** The width of a gap: its band is as wide as its label needs, or thin if there is little room. */
export function gapWidth(gap: Gap, mode: TraceMode, isTight = false): number {
  return isTight ? THIN : Math.max(THIN, labelWidth(gap)) + leadOf(mode);
}

function labelWidth(gap: Gap): number {
  return Math.ceil(gapLabel(gap).length * LETTER) + 6;
}

/** Whether the number of a gap fits above its band. */
export function isNumbered({ left, right, gap }: Band): boolean {
  return right - left >= labelWidth(gap);
}

function leadOf(mode: TraceMode): number {
  return isConnected(mode) ? LEAD : 0;
}

interface ColumnOptions {
  layers: number;
  gaps?: Gap[];
  mode?: TraceMode;
  isTight?: boolean;
}

/** Columns of even width for the layers, and bands in the gaps between them. */
export function columnsBetween(
  left: number,
  right: number,
  { layers, gaps = [], mode = "traced", isTight = false }: ColumnOptions,
): Required<Pick<Lanes, "posts" | "bands">> {
  const widths = gaps.map((gap) => gapWidth(gap, mode, isTight));
  const width = (right - left - sumOf(widths)) / layers;
  const posts = Array.from({ length: layers + 1 }, (_, at) => {
    return left + width * at + sumOf(widths.filter((_, gap) => gaps[gap].before < at));
  });
  const bands = gaps.map((gap, at): Band => {
    const start = left + width * gap.before + sumOf(widths.slice(0, at));
    return { left: start + (isTight ? 0 : leadOf(mode)), right: start + widths[at], gap };
  });
  return { posts, bands };
}

/** Where the column of a layer begins: at the post before it, or after the bands between. */
export function columnStart({ posts, bands = [] }: Lanes, layer: number): number {
  const between = bands.filter(({ gap }) => gap.before === layer);
  return maxOf([posts[layer], ...between.map(({ right }) => right)]);
}

/** The least distance between the numbers of two layers. */
const NUMBER = 22;

/** The columns that are numbered: every one, or every second, fifth, tenth …, and the one in focus. */
export function numberedColumns(xs: number[], focus: number): number[] {
  const closest = leastGap({ posts: xs });
  const step = closest > 0 ? Math.max(1, roundStep(NUMBER / closest)) : 1;
  const isClear = (at: number) => at === focus || Math.abs(xs[at] - xs[focus]) >= NUMBER;
  return [...xs.keys()].filter(
    (at) => at === focus || (at % step === 0 && (step === 1 || focus < 0 || isClear(at))),
  );
}

/** The least distance between two posts. */
export function leastGap({ posts }: Pick<Lanes, "posts">): number {
  return posts.slice(1).reduce((least, x, at) => Math.min(least, x - posts[at]), Infinity);
}

/**
 * The width of the total mass in pixels.
 *
 * For all tokens together, the largest covers a few lanes. A single traced token may be much taller,
 * so that its small shares are still visible.
 */
export function widthOf(
  { nodes }: Trace,
  links: TraceLinks,
  { pitch, rows, posts }: Lanes,
): number {
  const peaks = nodes.map(maxOf);
  const gap = posts.length > 1 ? leastGap({ posts }) : pitch;
  const widest = maxOf(links.layers.map(([first]) => first?.mass ?? 0)) || 1;
  const bend = Math.max(0.6 * pitch, gap * OF_GAP) / widest;
  const isOne = peaks.some((peak) => peak > 1 - 1e-9);
  if (!isOne) return Math.min(bend, (COVER * pitch) / (maxOf(peaks) || 1));
  const rest = maxOf(peaks.filter((peak) => peak <= 1 - 1e-9)) || 1;
  return Math.max(pitch, Math.min(bend, (BESIDE * pitch) / rest, TALLEST * rows * pitch));
}

/** A round share for the swatch of the legend. */
export function yardstick(width: number): number {
  const steps = [0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002];
  return steps.find((share) => share * width <= MARK) ?? 0.001;
}

/** The tallest swatch that fits in a line of text. */
const MARK = 13;

/** The middle of a token's band, moved so that the band stays in the view. */
export function bandCenter(row: number, band: number, { pitch, rows }: Lanes): number {
  const height = rows * pitch;
  if (band >= height) return height / 2;
  return Math.min(height - band / 2, Math.max(band / 2, middle(row, pitch)));
}

/**
 * The links of one layer as ribbons, weakest first.
 *
 * At both ends they lie side by side in the order of the tokens at the other end, and
 * overlap evenly if they do not fit in the token's band.
 */
export function ribbonsIn(
  links: TraceLink[],
  ends: { keys: Float64Array; queries: Float64Array },
  lanes: Lanes,
  width: number,
): Ribbon[] {
  const ordered = [...links].sort((a, b) => a.query - b.query || a.key - b.key);
  const to = stackEnds(ordered, "query", ends.queries, lanes, width);
  const from = stackEnds(ordered, "key", ends.keys, lanes, width);
  return ordered
    .map(({ query, key, mass }, at) => {
      return { plane: 0, query, key, width: mass * width, from: from[at], to: to[at] };
    })
    .sort((a, b) => a.width - b.width);
}

/** The middle of each link at one of its ends. */
function stackEnds(
  links: TraceLink[],
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
    const top = bandCenter(row, nodes[row] * width, lanes) - (room * width) / 2;
    return top + (spread * (room - link.mass) + link.mass / 2) * width;
  });
}

/**
 * The row and the column under a point: the nearest post, or the column after a post.
 *
 * Layers without attention have no tokens to point at.
 */
export function tokenUnder(x: number, y: number, lanes: Lanes, isColumn = false) {
  const { pitch, rows, posts, bands = [] } = lanes;
  const row = Math.floor(y / pitch);
  const isBand = isColumn && bands.some(({ left, right }) => x >= left && x < right);
  if (row < 0 || row >= rows || isBand) return null;
  return { row, column: isColumn ? columnUnder(x, posts) : nearestPost(x, posts) };
}

function columnUnder(x: number, posts: number[]): number {
  const last = posts.length - 2;
  const column = posts.slice(1).findIndex((end) => x < end);
  return column < 0 ? last : column;
}

function nearestPost(x: number, posts: number[]): number {
  return posts.reduce((best, at, index) => {
    return Math.abs(at - x) <= Math.abs(posts[best] - x) ? index : best;
  }, 0);
}

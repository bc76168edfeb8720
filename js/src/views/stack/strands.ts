/** The marks of the stack: ribbons through the layers, or bars if each layer is shown by itself. */

import { middle } from "../../data/ribbons";
import type { Stack } from "../../data/stack";
import { headColor, measureColor, type Palette } from "../../draw/colors";
import type { Pen } from "../../draw/pen";
import { maxOf, rankOrder } from "../../math/arrays";
import { linksOf, type TraceLinks } from "../../math/trace";
import { paintRibbons } from "../shared/paint";
import {
  bandCenter,
  columnStart,
  type Lanes,
  leastGap,
  ribbonsIn,
  widthOf,
  yardstick,
} from "./layout";
import { layerShares, type Makeup } from "./makeup";

/** The share of mass to draw, and the most curves; fewer for long texts, which take longer. */
const SHARE = 0.95;
const LIMIT = { short: 4000, long: 2400 };
const LONG = 64;

/** How many curves each token of each layer has at most, if all tokens are shown together. */
const PER_TOKEN = 4;

/** The opacity of ribbons, so that posts stand out, and of everything behind a path. */
const SOLID = 0.5;
const FAINT = 0.2;

/** The fraction of the height that the ribbons of all tokens cover, to leave gaps. */
const OPEN = 0.7;

/** Half the width of a post, less between narrow columns, and of a dot. */
const POST = { most: 2, least: 0.5, ofGap: 0.12 };
const DOT = 1;

/** How many tokens of a column are named, and their minimum share. */
const NAMED = { most: 3, least: 0.05 };

/** What is drawn of a makeup. */
export interface Strands {
  makeup: Makeup;
  /** The links by layer; null if each layer is shown by itself. */
  links: TraceLinks | null;
  /** The width of the total mass in pixels. */
  width: number;
  /** The share of the legend's swatch, or of the longest bar. */
  unit: number;
  /** The shares of each layer, if each is shown by itself. */
  layers: Float64Array[];
}

export function strandsOf(makeup: Makeup, lanes: Lanes, threshold: number): Strands {
  const { trace, stack, about, columns } = makeup;
  if (trace) {
    const most = lanes.rows > LONG ? LIMIT.long : LIMIT.short;
    const limit = about ? most : Math.min(most, PER_TOKEN * lanes.rows * trace.flows.length);
    const links = linksOf(trace, trace.nodes[0].length, { share: SHARE, limit, least: threshold });
    const posts = columns.map((column) => lanes.posts[column]);
    const room = about ? Infinity : OPEN * lanes.rows * lanes.pitch;
    const width = Math.min(room, widthOf(trace, links, { ...lanes, posts }));
    return { makeup, links, width, unit: yardstick(width), layers: [] };
  }
  const row = about?.role === "query" ? about : null;
  const layers = stack.divisions.map((_, index) => layerShares(stack, row, index));
  return { makeup, links: null, width: 0, unit: maxOf(layers.map(maxOf)), layers };
}

/** A vertical range, in pixels. */
export interface Stretch {
  top: number;
  bottom: number;
}

/** The color of a head that is shown by itself, else of the measure. */
export function strandColor({ head, measure }: Stack, palette: Palette): string {
  return head === null ? measureColor(measure, palette) : headColor(head, palette);
}

/** Paint everything within a range, with a dot for every token of every column. */
export function paintStrands(
  context: Pen,
  strands: Strands,
  lanes: Lanes,
  palette: Palette,
  stretch: Stretch,
  isBehind = false,
): void {
  const { trace, stack, columns } = strands.makeup;
  const posts = columns.map((column) => lanes.posts[column]);
  const color = strandColor(stack, palette);
  if (stack.mode === "separate") paintApart(context, strands, lanes, color, palette);
  if (!trace) return;
  paintDots(context, lanes, palette, stretch);
  strands.links?.layers.forEach((links, layer) => {
    const ends = { keys: trace.nodes[layer], queries: trace.nodes[layer + 1] };
    const span = { left: posts[layer], right: posts[layer + 1] };
    const ribbons = ribbonsIn(links, ends, lanes, strands.width).filter(({ from, to, width }) =>
      touches(stretch, Math.min(from, to), Math.max(from, to), width),
    );
    paintRibbons(context, ribbons, span, [color], isBehind ? FAINT : SOLID);
  });
  const half = Math.max(POST.least, Math.min(POST.most, POST.ofGap * leastGap(lanes)));
  context.fillStyle = color;
  context.globalAlpha = isBehind ? FAINT : 1;
  trace.nodes.forEach((masses, column) => {
    masses.forEach((mass, row) => {
      const band = mass * strands.width;
      if (band < 0.5) return;
      const top = bandCenter(row, band, lanes) - band / 2;
      if (!touches(stretch, top, top + band)) return;
      context.fillRect(posts[column] - half, top, 2 * half, band);
    });
  });
  context.globalAlpha = 1;
}

function touches({ top, bottom }: Stretch, from: number, to: number, around = 0): boolean {
  return from - around / 2 < bottom && to + around / 2 > top;
}

function paintDots(
  context: Pen,
  { posts, rows, pitch }: Lanes,
  { ink }: Palette,
  { top, bottom }: Stretch,
): void {
  context.globalAlpha = 0.25;
  context.fillStyle = ink;
  const [first, last] = [Math.floor(top / pitch), Math.min(rows, Math.ceil(bottom / pitch))];
  for (const x of posts) {
    for (let row = first; row < last; row++) {
      context.fillRect(x - DOT, middle(row, pitch) - DOT, 2 * DOT, 2 * DOT);
    }
  }
  context.globalAlpha = 1;
}

/** Paint a bar for every key in every layer. */
function paintApart(
  context: Pen,
  { layers, unit }: Strands,
  lanes: Lanes,
  color: string,
  { ink }: Palette,
): void {
  const { posts, rows, pitch } = lanes;
  const height = Math.max(2, Math.round(pitch * 0.5));
  layers.forEach((shares, layer) => {
    const start = columnStart(lanes, layer);
    const reach = (posts[layer + 1] - start) * 0.86;
    context.fillStyle = ink;
    context.globalAlpha = 0.25;
    context.fillRect(start - 0.5, 0, 1, rows * pitch);
    context.globalAlpha = 1;
    context.fillStyle = color;
    shares.forEach((share, row) => {
      const length = unit > 0 ? (share / unit) * reach : 0;
      context.fillRect(start + 0.5, middle(row, pitch) - height / 2, length, height);
    });
  });
}

/** A token named inside the field. */
export interface Name {
  label: string;
  column: number;
  row: number;
  /** Whether it is the traced token. */
  isOwn: boolean;
}

/** The largest tokens between the ends of a trace, and the traced token. */
export function namesIn({ makeup }: Strands): Name[] {
  const { trace, stack, about, columns } = makeup;
  if (!trace || !about) return [];
  const { labels } = stack.rows.query;
  const named = (node: number, row: number, isOwn: boolean): Name => {
    return { label: labels[row], column: columns[node], row, isOwn };
  };
  const inner = trace.nodes.slice(1, -1).flatMap((masses, at) =>
    rankOrder(masses)
      .slice(0, NAMED.most)
      .filter((row) => masses[row] >= NAMED.least)
      .map((row) => named(at + 1, row, false)),
  );
  const start = about.role === "query" ? trace.nodes.length - 1 : 0;
  return [...inner, named(start, about.row, true)];
}

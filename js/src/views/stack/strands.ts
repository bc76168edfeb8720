/** The marks of the stack: ribbons through the layers, or bars where each layer is for itself. */

import { middle } from "../../data/ribbons";
import { headColor, type Palette } from "../../draw/colors";
import type { Pen } from "../../draw/pen";
import { most, rank } from "../../math/arrays";
import { type Links, linksOf } from "../../math/trace";
import { paintRibbons } from "../shared/paint";
import { center, type Lanes, ribbonsIn, widthOf, yardstick } from "./layout";
import { type Makeup, partsApart } from "./makeup";

/** How far to go in drawing: so many curves a canvas draws while a reader waits; long ones take longer. */
const SHARE = 0.95;
const LIMIT = { short: 4000, long: 2400 };
const LONG = 64;

/** How solid a ribbon is; they cross, and the posts should stand out. */
const SOLID = 0.5;

/** How much of the height all tokens alike cover where ribbons go straight, to leave gaps. */
const OPEN = 0.7;

/** Half the width of a post, and of the dots where nothing lies. */
const POST = 2;
const DOT = 1;

/** So many tokens of a column are named between the others, from this share on. */
const NAMED = { most: 3, least: 0.05 };

/** What is drawn of a makeup. */
export interface Strands {
  makeup: Makeup;
  /** The links by layer; null where each layer is for itself. */
  links: Links | null;
  /** How wide all mass is in pixels, or how long a bar. */
  width: number;
  /** The share that the mark in the legend stands for, or the longest bar. */
  unit: number;
  /** What each layer shows where each is for itself. */
  apart: Float64Array[];
}

export function strandsOf(makeup: Makeup, lanes: Lanes, threshold: number): Strands {
  const { trace, depth, about, columns } = makeup;
  if (trace) {
    const limit = lanes.rows > LONG ? LIMIT.long : LIMIT.short;
    const links = linksOf(trace, trace.nodes[0].length, { share: SHARE, limit, least: threshold });
    const posts = columns.map((column) => lanes.posts[column]);
    const isEven = depth.way === "carried" && !about;
    const room = isEven ? OPEN * lanes.rows * lanes.pitch : Infinity;
    const width = Math.min(room, widthOf(trace, links, { ...lanes, posts }));
    return { makeup, links, width, unit: yardstick(width), apart: [] };
  }
  const row = about?.side === "query" ? about : null;
  const apart = depth.divisions.map((_, index) => partsApart(depth, row, index));
  return { makeup, links: null, width: 0, unit: most(apart.map(most)), apart };
}

/** A part of the lanes, from top to bottom, in pixels. */
export interface Stretch {
  top: number;
  bottom: number;
}

/** Everything that reaches into a stretch, with a dot for every token of every column. */
export function paintStrands(
  context: Pen,
  strands: Strands,
  lanes: Lanes,
  palette: Palette,
  stretch: Stretch,
): void {
  const { trace, depth, columns } = strands.makeup;
  const posts = columns.map((column) => lanes.posts[column]);
  const color = headColor(depth.head, palette);
  if (depth.way === "apart") paintApart(context, strands, lanes, color, palette);
  if (!trace) return;
  paintDots(context, lanes, palette, stretch);
  strands.links?.layers.forEach((links, layer) => {
    const ends = { keys: trace.nodes[layer], queries: trace.nodes[layer + 1] };
    const span = { left: posts[layer], right: posts[layer + 1] };
    const ribbons = ribbonsIn(links, ends, lanes, strands.width).filter(({ from, to, width }) =>
      touches(stretch, Math.min(from, to), Math.max(from, to), width),
    );
    paintRibbons(context, ribbons, span, [color], SOLID);
  });
  context.fillStyle = color;
  trace.nodes.forEach((masses, column) => {
    masses.forEach((mass, row) => {
      const band = mass * strands.width;
      if (band < 0.5) return;
      const top = center(row, band, lanes) - band / 2;
      if (!touches(stretch, top, top + band)) return;
      context.fillRect(posts[column] - POST, top, 2 * POST, band);
    });
  });
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

/** A bar for every key in every layer, from a line that they share. */
function paintApart(
  context: Pen,
  { apart, unit }: Strands,
  { posts, rows, pitch }: Lanes,
  color: string,
  { ink }: Palette,
): void {
  const height = Math.max(2, Math.round(pitch * 0.5));
  apart.forEach((shares, layer) => {
    const reach = (posts[layer + 1] - posts[layer]) * 0.86;
    context.fillStyle = ink;
    context.globalAlpha = 0.25;
    context.fillRect(posts[layer] - 0.5, 0, 1, rows * pitch);
    context.globalAlpha = 1;
    context.fillStyle = color;
    shares.forEach((share, row) => {
      const length = unit > 0 ? (share / unit) * reach : 0;
      context.fillRect(posts[layer] + 0.5, middle(row, pitch) - height / 2, length, height);
    });
  });
}

/** A token that is worth naming where it stands. */
export interface Name {
  label: string;
  column: number;
  row: number;
  /** Whether it is the one that is followed. */
  isOwn: boolean;
}

/** The tokens that carry most of a trace, between its ends, and the one that is followed. */
export function namesIn({ makeup }: Strands): Name[] {
  const { trace, depth, about, columns } = makeup;
  if (!trace || !about) return [];
  const { labels } = depth.rows.query;
  const named = (node: number, row: number, isOwn: boolean): Name => {
    return { label: labels[row], column: columns[node], row, isOwn };
  };
  const inner = trace.nodes.slice(1, -1).flatMap((masses, at) =>
    rank(masses)
      .slice(0, NAMED.most)
      .filter((row) => masses[row] >= NAMED.least)
      .map((row) => named(at + 1, row, false)),
  );
  const start = about.side === "query" ? trace.nodes.length - 1 : 0;
  return [...inner, named(start, about.row, true)];
}

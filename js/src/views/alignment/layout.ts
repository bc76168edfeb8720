/** The layout of two texts facing each other, and the lines between them. */

import { emsOf } from "../../draw/viewport";
import { sumOf } from "../../math/arrays";

/** The middle of a word's box, and its width. */
export interface Spot {
  x: number;
  y: number;
  width: number;
}

export interface Bitext {
  /** One text above the other, or side by side if they are too long. */
  way: "rows" | "columns";
  width: number;
  height: number;
  font: number;
  /** The height of a word's box. */
  tall: number;
  source: Spot[];
  target: Spot[];
  /** Where lines start and end: below and above the words, or right and left of them. */
  from: number;
  to: number;
}

const FONT = 13;
const TALL = 22;
const GAP = { least: 12, most: 44 };
/** The space between two rows, and the minimum between two columns. */
const BETWEEN = { rows: 92, columns: 120 };
const PITCH = { least: 14, most: 22 };
/** The height that columns should fill, and the maximum width of a word. */
const HEIGHT = 660;
const WORD = 130;
const RULER = 44;

/** Lay out two texts in a width; audio is a ruler without words. */
export function bitextOf(
  source: string[],
  target: string[],
  width: number,
  isSound: boolean,
): Bitext {
  const wide = (label: string) => Math.round(emsOf(label) * FONT * 0.95 + 8);
  const [above, below] = [isSound ? [] : source.map(wide), target.map(wide)];
  const least = Math.max(...[above, below].map((row) => sumOf(row) + (row.length - 1) * GAP.least));
  return least <= width
    ? inRows(above, below, least, width, isSound ? source.length : 0)
    : inColumns(source, target, width, isSound);
}

function inRows(
  above: number[],
  below: number[],
  least: number,
  room: number,
  moments: number,
): Bitext {
  const loose = Math.max(...[above, below].map((row) => sumOf(row) + (row.length - 1) * GAP.most));
  const width = moments > 0 ? room : Math.min(room, Math.max(least, Math.min(loose, 1.35 * least)));
  const height = 2 * TALL + BETWEEN.rows;
  const ruler = evenly(moments, width).map((x) => ({ x, y: TALL / 2, width: width / moments }));
  return {
    ...{ way: "rows", width, height, font: FONT, tall: TALL },
    source: moments > 0 ? ruler : row(above, width, TALL / 2),
    target: row(below, width, height - TALL / 2),
    from: TALL,
    to: height - TALL,
  };
}

/** Words in a centered line, as far apart as possible. */
function row(widths: number[], width: number, y: number): Spot[] {
  const gap = Math.min(GAP.most, (width - sumOf(widths)) / Math.max(1, widths.length - 1));
  let left = (width - sumOf(widths) - gap * (widths.length - 1)) / 2;
  return widths.map((wide) => {
    const x = left + wide / 2;
    left += wide + gap;
    return { x, y, width: wide };
  });
}

function inColumns(source: string[], target: string[], width: number, isSound: boolean): Bitext {
  const lines = Math.max(isSound ? 0 : source.length, target.length);
  const pitch = Math.min(PITCH.most, Math.max(PITCH.least, HEIGHT / lines));
  const height = Math.round(lines * pitch);
  const font = Math.min(FONT, Math.round(pitch * 0.76));
  const [left, right] = [source, target].map((labels) =>
    Math.min(WORD, width * 0.3, Math.max(30, ...labels.map((label) => emsOf(label) * font + 10))),
  );
  const used = Math.min(width, left + right + Math.max(BETWEEN.columns, 0.55 * height));
  const from = isSound ? RULER : left;
  const to = used - right;
  const spots = (count: number, x: number, wide: number) =>
    evenly(count, height).map((y) => ({ x, y, width: wide }));
  return {
    ...{ way: "columns", width: used, height, font, tall: Math.min(TALL, pitch) },
    source: spots(source.length, from / 2, from),
    target: spots(target.length, to + right / 2, right),
    from,
    to,
  };
}

/** The middles of equal parts of a length. */
function evenly(count: number, length: number): number[] {
  return Array.from({ length: count }, (_, at) => ((at + 0.5) * length) / count);
}

/** A curve from a source word to a target word, straight at both ends. */
export function lineBetween({ way, source, target, from, to }: Bitext, ends: [number, number]) {
  const [one, other] = [source[ends[0]], target[ends[1]]];
  const middle = (from + to) / 2;
  return way === "rows"
    ? `M${at(one.x, from)}C${at(one.x, middle)} ${at(other.x, middle)} ${at(other.x, to)}`
    : `M${at(from, one.y)}C${at(middle, one.y)} ${at(middle, other.y)} ${at(to, other.y)}`;
}

/** A band from a range of the source, in units of words, to a target word. */
export function bandBetween(
  { way, source, target, from, to, width, height, font }: Bitext,
  span: { from: number; to: number },
  word: number,
): string {
  const length = way === "rows" ? width : height;
  const [start, end] = [span.from, span.to].map((part) => (part / source.length) * length);
  const spot = target[word];
  const half = way === "rows" ? Math.min(spot.width / 2, 16) : font / 2;
  const center = way === "rows" ? spot.x : spot.y;
  const middle = (from + to) / 2;
  const point = (along: number, across: number) =>
    way === "rows" ? at(along, across) : at(across, along);
  const edge = (one: number, other: number, end: number) =>
    `C${point(one, middle)} ${point(other, middle)} ${point(other, end)}`;
  return (
    `M${point(start, from)}${edge(start, center - half, to)}` +
    `L${point(center + half, to)}${edge(center + half, end, from)}Z`
  );
}

function at(x: number, y: number): string {
  return `${x.toFixed(1)} ${y.toFixed(1)}`;
}

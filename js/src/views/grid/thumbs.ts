/** Every layer and head of a measure in small: what each shows, at what scale, in what order. */

import { apart } from "../../math/agreement";
import { most, sizesOf } from "../../math/arrays";
import { measureOf, type Pane } from "../../state/pane";
import type { Choice, Focus, Measure, Scale, Side, Stream } from "../../wire/types";
import type { Coloring } from "./coloring";

/** One layer of one head in small. */
export interface Thumb {
  layer: number;
  /** By the model's number; null for all heads in one. */
  head: number | null;
  /** Its cells, the number furthest from zero of each run of queries and keys [row column]. */
  values: Float32Array;
  /** The same without signs. */
  sizes: Float32Array;
  /** The largest of these, which is also the largest before it was made small. */
  peak: number;
  /** What full color stands for. */
  top: number;
  /** How far the rival divides otherwise; null where there is none. */
  apart: number | null;
}

export interface Thumbs {
  stream: Stream;
  measure: Measure;
  scale: Scale;
  heads: (number | null)[];
  rows: number;
  columns: number;
  hasQuery: boolean;
  /** In the model's order: layer by layer, head by head. */
  thumbs: Thumb[];
  /** The measures it can be told apart from, and the one it is told apart from now. */
  rivals: Measure[];
  rival: Measure | null;
  /** Nothing below this part of `top` is drawn. */
  threshold: number;
  /** How far it agrees with the rival, where the pictures are colored by that. */
  coloring: Coloring | null;
}

/** The small pictures of a pane, told apart from the first of `wanted` that can be; or null yet. */
export function thumbsOf(
  { tiles, index, stream, flow, measure, choice }: Pane,
  wanted: Choice["compare"][],
  coloring: Coloring | null = null,
): Thumbs | null {
  const tile = tiles.overview(index, stream, measure.id);
  if (!tile) return null;
  const { rows = 1, columns = 1, disagreement = {} } = tile.about;
  const heads = measure.axes.includes("head") ? stream.heads : [null];
  const rival = wanted.map(String).find((id) => id in disagreement) ?? null;
  const size = rows * columns;
  const found = stream.layers.flatMap((layer, down) =>
    heads.map((head, across): Thumb => {
      const plane = down * heads.length + across;
      const values = tile.values.subarray(plane * size, (plane + 1) * size);
      const sizes = sizesOf(values, measure);
      const apart = rival === null ? null : (disagreement[rival][down]?.[across] ?? null);
      return { layer, head, values, sizes, peak: most(sizes), top: 1, apart };
    }),
  );
  const small: Thumbs = {
    stream,
    measure,
    scale: choice.normalize,
    heads,
    rows,
    columns,
    hasQuery: measure.axes.includes("query"),
    thumbs: scaled(found, choice.normalize),
    rivals: Object.keys(disagreement).map((id) => measureOf(flow, id)),
    rival: rival === null ? null : measureOf(flow, rival),
    threshold: choice.threshold,
    coloring: null,
  };
  return coloring ? colored(small, coloring) : small;
}

/** The same, told apart by how far they agree with what they are colored by. */
function colored(small: Thumbs, coloring: Coloring): Thumbs {
  const { by, second, cells } = coloring;
  const thumbs = small.thumbs.map((thumb) => {
    const value = cells.get(thumb.layer)?.[small.heads.indexOf(thumb.head)]?.[by] ?? null;
    return { ...thumb, apart: value === null ? null : apart(by, value) };
  });
  return { ...small, thumbs, rivals: [second], rival: second, coloring };
}

/** The same, each with what its full color stands for. */
export function scaled(thumbs: Thumb[], scale: Scale): Thumb[] {
  const among = (some: Thumb[]) => most(some.map(({ peak }) => peak)) || 1;
  const everywhere = among(thumbs);
  const layers = new Map<number, number>();
  for (const { layer } of thumbs) {
    if (!layers.has(layer))
      layers.set(layer, among(thumbs.filter((other) => other.layer === layer)));
  }
  const tops: Record<Scale, (thumb: Thumb) => number> = {
    absolute: () => everywhere,
    layer: ({ layer }) => layers.get(layer) ?? 1,
    query: ({ peak }) => peak || 1,
  };
  return thumbs.map((thumb) => ({ ...thumb, top: tops[scale](thumb) }));
}

/** The most disagreeing first; equals stay in the model's order. */
export function byDisagreement(thumbs: Thumb[]): Thumb[] {
  return [...thumbs].sort((one, other) => (other.apart ?? 0) - (one.apart ?? 0));
}

/** The first piece of a cell, as `normviz/tiles.py` cuts a side into even runs. */
export function startOf(cell: number, count: number, cells: number): number {
  return Math.trunc(cell * (count / cells));
}

/** The cell that a piece fell into. */
export function cellOf(piece: number, count: number, cells: number): number {
  let cell = Math.min(cells - 1, Math.floor((piece * cells) / count));
  while (cell + 1 < cells && startOf(cell + 1, count, cells) <= piece) cell++;
  while (cell > 0 && startOf(cell, count, cells) > piece) cell--;
  return cell;
}

/** The first and the last piece of a cell. */
export function runOf(cell: number, count: number, cells: number): [first: number, last: number] {
  const next = cell + 1 < cells ? startOf(cell + 1, count, cells) : count;
  return [startOf(cell, count, cells), next - 1];
}

/** How many pieces stand along a side of a small picture, and in how many cells. */
export function sideOf({ stream, rows, columns }: Thumbs, side: Side) {
  return side === "query"
    ? { tokens: stream.queries, count: stream.queries.pieces.length, cells: rows }
    : { tokens: stream.keys, count: stream.keys.pieces.length, cells: columns };
}

/** A row or a column of every small picture. */
export interface Band {
  side: Side;
  cell: number;
}

/** The band of a token in focus; null where nothing is, or where there are no queries to show. */
export function bandOf(thumbs: Thumbs, focus: Focus | null): Band | null {
  if (focus === null || (focus.side === "query" && !thumbs.hasQuery)) return null;
  const { count, cells } = sideOf(thumbs, focus.side);
  return { side: focus.side, cell: cellOf(focus.token, count, cells) };
}

/** The places of a band's cells in a small picture. */
export function cellsOf({ rows, columns }: Thumbs, { side, cell }: Band): number[] {
  return side === "query"
    ? Array.from({ length: columns }, (_, column) => cell * columns + column)
    : Array.from({ length: rows }, (_, row) => row * columns + cell);
}

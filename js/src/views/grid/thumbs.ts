/** Thumbnails of every layer and head of a measure: their values, scale and order. */

import { disagreementOf } from "../../math/agreement";
import { maxOf, sizesOf } from "../../math/arrays";
import { measureOf, type Pane } from "../../state/pane";
import type { Focus, Measure, Role, Scale, Stream, ViewState } from "../../wire/types";
import type { Coloring } from "./coloring";

/** The thumbnail of one layer and head. */
export interface Thumb {
  layer: number;
  /** By the model's number; null for all heads together. */
  head: number | null;
  /** Its cells: the value furthest from zero of each run of queries and keys [row column]. */
  values: Float32Array;
  /** The absolute values. */
  sizes: Float32Array;
  /** The largest of them, which is also the largest of the full layer. */
  peak: number;
  /** The value of the full color. */
  top: number;
  /** The distance from the compared measure; null if there is none. */
  disagreement: number | null;
}

export interface Thumbs {
  stream: Stream;
  measure: Measure;
  scale: Scale;
  heads: (number | null)[];
  rows: number;
  columns: number;
  hasQuery: boolean;
  /** In the model's order: by layer, then by head. */
  thumbs: Thumb[];
  /** The measures it can be compared with, and the one it is compared with now. */
  comparable: Measure[];
  compared: Measure | null;
  /** Values below this fraction of `top` are not drawn. */
  threshold: number;
  /** The agreement with the compared measure, if tiles are colored by it. */
  coloring: Coloring | null;
}

/** The thumbnails of a pane, compared with the first possible of `candidates`; null while loading. */
export function thumbsOf(
  { tiles, index, stream, flow, measure, state }: Pane,
  candidates: ViewState["compare"][],
  coloring: Coloring | null = null,
): Thumbs | null {
  const tile = tiles.overview(index, stream, measure.id);
  if (!tile) return null;
  const { rows = 1, columns = 1, disagreement = {} } = tile.about;
  const heads = measure.axes.includes("head") ? stream.heads : [null];
  const comparedId = candidates.map(String).find((id) => id in disagreement) ?? null;
  const size = rows * columns;
  const unscaled = stream.layers.flatMap((layer, down) =>
    heads.map((head, across): Thumb => {
      const plane = down * heads.length + across;
      const values = tile.values.subarray(plane * size, (plane + 1) * size);
      const sizes = sizesOf(values, measure);
      const apart = comparedId === null ? null : (disagreement[comparedId][down]?.[across] ?? null);
      return { layer, head, values, sizes, peak: maxOf(sizes), top: 1, disagreement: apart };
    }),
  );
  const small: Thumbs = {
    stream,
    measure,
    scale: state.normalize,
    heads,
    rows,
    columns,
    hasQuery: measure.axes.includes("query"),
    thumbs: withScale(unscaled, state.normalize),
    comparable: Object.keys(disagreement).map((id) => measureOf(flow, id)),
    compared: comparedId === null ? null : measureOf(flow, comparedId),
    threshold: state.threshold,
    coloring: null,
  };
  return coloring ? withColoring(small, coloring) : small;
}

/** The same thumbnails, with the distances of the coloring. */
function withColoring(small: Thumbs, coloring: Coloring): Thumbs {
  const { by, second, cells } = coloring;
  const thumbs = small.thumbs.map((thumb) => {
    const value = cells.get(thumb.layer)?.[small.heads.indexOf(thumb.head)]?.[by] ?? null;
    return { ...thumb, disagreement: value === null ? null : disagreementOf(by, value) };
  });
  return { ...small, thumbs, comparable: [second], compared: second, coloring };
}

/** The same thumbnails, each with the value of its full color. */
export function withScale(thumbs: Thumb[], scale: Scale): Thumb[] {
  const among = (some: Thumb[]) => maxOf(some.map(({ peak }) => peak)) || 1;
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

/** The largest disagreement first; ties stay in the model's order. */
export function sortByDisagreement(thumbs: Thumb[]): Thumb[] {
  return [...thumbs].sort((one, other) => (other.disagreement ?? 0) - (one.disagreement ?? 0));
}

/** The first piece of a cell; `normviz/view/tiles.py` cuts an axis into even runs. */
export function startOf(cell: number, count: number, cells: number): number {
  return Math.trunc(cell * (count / cells));
}

/** The cell of a piece. */
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

/** The tokens, pieces and cells along an axis of a thumbnail. */
export function axisOf({ stream, rows, columns }: Thumbs, role: Role) {
  return role === "query"
    ? { tokens: stream.queries, count: stream.queries.pieces.length, cells: rows }
    : { tokens: stream.keys, count: stream.keys.pieces.length, cells: columns };
}

/** A row or a column of every thumbnail. */
export interface Band {
  role: Role;
  cell: number;
}

/** The band of the token in focus; null if there is none, or if there are no queries. */
export function bandOf(thumbs: Thumbs, focus: Focus | null): Band | null {
  if (focus === null || (focus.role === "query" && !thumbs.hasQuery)) return null;
  const { count, cells } = axisOf(thumbs, focus.role);
  return { role: focus.role, cell: cellOf(focus.token, count, cells) };
}

/** The indices of a band's cells. */
export function cellsOf({ rows, columns }: Thumbs, { role, cell }: Band): number[] {
  return role === "query"
    ? Array.from({ length: columns }, (_, column) => cell * columns + column)
    : Array.from({ length: rows }, (_, row) => row * columns + cell);
}

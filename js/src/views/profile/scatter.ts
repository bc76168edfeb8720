/** α against ‖f(x)‖ in one layer: a point for each head and key. */

import { maxOf } from "../../math/arrays";
import { spearman } from "../../math/correlation";
import { rowsOf, type TokenRows } from "../../math/rows";
import type { Pane } from "../../state/pane";
import type { Focus, Stream, ViewState } from "../../wire/types";

export interface Point {
  head: number;
  row: number;
  /** ‖f(x)‖ of the key in that head. */
  norm: number;
  /** The mean α that it gets in that head. */
  weight: number;
}

export interface Scatter {
  stream: Stream;
  state: ViewState;
  layer: number;
  heads: number[];
  rows: TokenRows;
  points: Point[];
  /** Spearman's rank correlation over the points; null if it is undefined. */
  correlation: number | null;
  /** Whether α spans more than a factor of 100. */
  isLog: boolean;
  /** Whether a key is visible only to the queries after it. */
  isCausal: boolean;
}

/** The measures of the two axes. */
const NEEDED = ["weight", "value-norm"];

/** Why there are no points; null if there are. */
export function missingReason({ tiles, stream, state }: Pane): string | null {
  const missing = NEEDED.filter((id) => !stream.measures.includes(id));
  if (missing.length > 0) {
    return (
      `The scatter plot needs the measures weight and value-norm; ` +
      `${missing.join(" and ")} ${missing.length > 1 ? "are" : "is"} not held here. ` +
      "Analyze again with both measures, or pass value_norms with the weights."
    );
  }
  return tiles.isLarge(stream) && state.heads === null
    ? "This text is too long to load all heads: choose some heads to see their points."
    : null;
}

/** The points of a pane's layer and heads, or null while their numbers are loading. */
export function scatterOf(pane: Pane): Scatter | null {
  const { tiles, index, stream, state } = pane;
  const { layer } = state;
  const heads = state.heads ?? stream.heads;
  const isCausal = stream.kind === "decoder";
  const norms = tiles.layer(index, stream, "value-norm", layer);
  const weights = planesOf(pane, heads);
  if (!norms || !weights) return null;
  const rows = rowsOf(stream.keys, state);
  const across = stream.keys.pieces.length;
  const points = heads.flatMap((head, at) => {
    const means = meansOf(weights[at], across, isCausal);
    const from = stream.heads.indexOf(head) * across;
    return rows.pieces.map((pieces, row): Point => {
      const norm = pieces.reduce((sum, piece) => sum + norms[from + piece], 0) / pieces.length;
      return { head, row, norm, weight: pieces.reduce((sum, piece) => sum + means[piece], 0) };
    });
  });
  const ys = points.map(({ weight }) => weight);
  const correlation = spearman(
    points.map(({ norm }) => norm),
    ys,
  );
  return {
    stream,
    state,
    layer,
    heads,
    rows,
    points,
    correlation,
    isLog: ratioOfExtremes(ys) > 100,
    isCausal,
  };
}

/** α of each of these heads [query key]; a large layer is loaded head by head. */
function planesOf(
  { tiles, index, stream, state: { layer } }: Pane,
  heads: number[],
): Float32Array[] | null {
  if (tiles.isLarge(stream)) {
    const planes = heads.map((head) => tiles.layer(index, stream, "weight", layer, head));
    const here = planes.filter((plane) => plane !== null);
    return here.length === heads.length ? here : null;
  }
  const all = tiles.layer(index, stream, "weight", layer);
  const size = stream.queries.pieces.length * stream.keys.pieces.length;
  const at = (head: number) => stream.heads.indexOf(head) * size;
  return all && heads.map((head) => all.subarray(at(head), at(head) + size));
}

/** The mean of each key over the queries that can see it [query key -> key]. */
export function meansOf(weights: Float32Array, keys: number, isCausal: boolean): Float64Array {
  const queries = keys > 0 ? weights.length / keys : 0;
  const means = new Float64Array(keys);
  for (let query = 0; query < queries; query++) {
    for (let key = 0; key < keys; key++) means[key] += weights[query * keys + key];
  }
  return means.map((sum, key) => sum / Math.max(1, isCausal ? queries - key : queries));
}

/** The largest value divided by the smallest positive one. */
function ratioOfExtremes(values: number[]): number {
  const least = values.reduce((low, value) => (value > 0 && value < low ? value : low), Infinity);
  return least < Infinity ? maxOf(values) / least : 1;
}

/**
 * The row of the token in focus as a key; null if it has none.
 *
 * In self-attention a query is also a key.
 */
export function scatterRow({ stream, rows }: Scatter, focus: Focus | null): number | null {
  if (focus === null || (focus.role === "query" && stream.kind === "cross")) return null;
  const row = rows.rowOf[focus.token] ?? -1;
  return row < 0 ? null : row;
}

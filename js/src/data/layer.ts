/** Everything a view shows of one layer, computed once per state and shared by all who show it. */

import {
  argmax,
  columnOf,
  maxOf,
  pickPlanes,
  rowOf,
  rowShares,
  type Sums,
  sharesOf,
  sizesOf,
  sumByKey,
  sumOf,
  sumPlanes,
  sumsOf,
} from "../math/arrays";
import { rowTotals } from "../math/cancellation";
import { keysToRows, pairsToRows, rowsOf, type TokenRows } from "../math/rows";
import { crossStream, type Pane } from "../state/pane";
import type { Tiles } from "../state/tiles";
import type { Focus, Measure, Role, Scale, Stream } from "../wire/types";
import { aliasLabels } from "./ladder";

/** A measure without queries, ‖f(x)‖ [plane key], and the sum over planes of a full bar. */
export interface Norms {
  values: Float32Array;
  heads: (number | null)[];
  unit: number;
}

/** What ribbons of one color represent: a head, all heads, or one sign. */
export type Strand = number | null | "above" | "below";

/** How far the parts reach along the vectors they add up to. */
export interface Projections {
  /** [query key], by row; negative if a part points against the whole vector. */
  values: Float32Array;
  /** For each query: the summed lengths and projections of all parts, hidden keys included. */
  lengths: Float64Array;
  reach: Float64Array;
  /** Whether the vectors also contain tokens of another text, besides the keys. */
  hasOtherText: boolean;
}

/** A row of tokens in one of the two roles. */
export interface TokenRow {
  role: Role;
  row: number;
}

export interface Picture extends Sums {
  stream: Stream;
  measure: Measure;
  layer: number;
  scale: Scale;
  /**
   * The head of each plane, by the model's number; null for all heads in one plane, averaged. A
   * difference has one plane for all of its heads.
   */
  heads: (number | null)[];
  rows: { query: TokenRows; key: TokenRows };
  queries: number;
  keys: number;
  /** [plane query key]; empty if the measure has no query axis. */
  values: Float32Array;
  /** The magnitudes to draw and to sum [strand query key]; never negative. */
  sizes: Float32Array;
  /** What each plane of the sizes represents. */
  strands: Strand[];
  /** The value of a full row, for each query. */
  units: Float64Array;
  /** Smaller sizes are not drawn. */
  minSize: number;
  /** The share of the sum that belongs to hidden special tokens. */
  hiddenShare: number;
  /** Null if the measure has queries. */
  norms: Norms | null;
  /** Known only for rungs of the ladder. */
  projections: Projections | null;
  /** The share of the layer's vectors that comes from biases; null if unknown. */
  bias_share: number | null;
  /** The labels of other rungs that coincide with the measure. */
  aliases: string[];
}

/** How many pictures are kept: two panes, and the measure shown before. */
const MAX_KEPT = 3;

/** The pictures of each set of tiles, the most recently used last. */
const pictures = new WeakMap<Tiles, Map<string, Picture>>();

/** The picture of a pane, or null while its numbers are loading. */
export function pictureOf(pane: Pane): Picture | null {
  const { tiles, index, stream, measure, state } = pane;
  const { layer, heads, normalize, words, special, threshold } = state;
  const key = JSON.stringify([
    ...[index, stream.name, measure.id, layer, heads],
    ...[normalize, words, special, threshold],
  ]);
  const kept = pictures.get(tiles) ?? new Map<string, Picture>();
  pictures.set(tiles, kept);
  const known = kept.get(key);
  const picture = known?.stream === stream ? known : computePicture(pane);
  if (!picture) return null;
  kept.delete(key);
  kept.set(key, picture);
  if (kept.size > MAX_KEPT) kept.delete([...kept.keys()][0]);
  return picture;
}

function computePicture(pane: Pane): Picture | null {
  const { stream, measure, state } = pane;
  const planes = measure.pair ? differenceOf(pane, measure.pair) : averagedPlanes(pane);
  if (!planes) return null;
  const rows = { query: rowsOf(stream.queries, state), key: rowsOf(stream.keys, state) };
  const hasQuery = measure.axes.includes("query");
  const values = hasQuery ? pairsToRows(planes.values, rows.query, rows.key) : new Float32Array();
  const [queries, keys] = [rows.query.pieces.length, rows.key.pieces.length];
  const sizes = measure.signed ? splitBySign(values, queries * keys) : values;
  const sums = sumsOf(sizes, queries, keys);
  const isAbsolute = state.normalize === "absolute" && !measure.pair;
  const top = isAbsolute ? maxReceived(pane, measure.id) : maxOf(sums.received);
  const norms = hasQuery ? null : normsOf(pane, rows.key);
  const projections = projectionsOf(pane, planes.values, rows);
  if (top === null || norms === undefined || projections === undefined) return null;
  return {
    stream,
    measure,
    layer: state.layer,
    scale: state.normalize,
    heads: planes.heads,
    rows,
    queries,
    keys,
    values,
    sizes,
    strands: measure.signed ? ["above", "below"] : planes.heads,
    ...sums,
    units: sums.received.map((sum) => (state.normalize === "query" ? sum : top) || 1),
    minSize: state.threshold * (sizes[sums.peak] ?? 0),
    hiddenShare: hasQuery ? hiddenShareOf(sizesOf(planes.values, measure), rows) : 0,
    norms,
    projections,
    bias_share: stream.bias_share[measure.id]?.[stream.layers.indexOf(state.layer)] ?? null,
    aliases: aliasLabels(pane.flow, stream, measure.id),
  };
}

/** The positive values summed over heads, then the negative ones [sign query key]. */
function splitBySign(values: Float32Array, size: number): Float32Array {
  const split = new Float32Array(2 * size);
  values.forEach((value, at) => {
    split[(at % size) + (value < 0 ? size : 0)] += Math.abs(value);
  });
  return split;
}

/** The projections of the parts; null if unknown, undefined while loading. */
function projectionsOf(
  { tiles, index, flow, stream, measure, state }: Pane,
  lengths: Float32Array,
  { query, key }: Picture["rows"],
): Projections | null | undefined {
  const name = `projection:${measure.id}`;
  if (!stream.statistics.includes(name)) return null;
  const tile = tiles.layer(index, stream, name, state.layer);
  if (!tile) return undefined;
  const keys = key.rowOf.length;
  return {
    values: pairsToRows(tile, query, key),
    lengths: rowTotals(lengths, query, keys),
    reach: rowTotals(tile, query, keys),
    hasOtherText: stream.kind !== "encoder" && crossStream(flow.streams) !== undefined,
  };
}

/** The values of a pane's layer [plane query key], by piece, and the head of each plane. */
export interface Planes {
  values: Float32Array;
  heads: (number | null)[];
}

/** The planes of a pane, or null while they are loading. */
export function planesOf({ tiles, index, stream, measure, state }: Pane): Planes | null {
  const { layer } = state;
  const byHead = measure.axes.includes("head");
  const isLarge = byHead && tiles.isLarge(stream);
  if (isLarge && state.heads === null) {
    const sum = tiles.layer(index, stream, measure.id, layer, "sum");
    return sum && { values: sum, heads: [null] };
  }
  const heads = state.heads ?? stream.heads;
  if (isLarge) {
    const planes = heads.map((head) => tiles.layer(index, stream, measure.id, layer, head));
    return planes.every((plane) => plane !== null) ? { values: concatPlanes(planes), heads } : null;
  }
  const tile = tiles.layer(index, stream, measure.id, layer);
  if (!tile) return null;
  if (!byHead) return { values: tile, heads: [null] };
  const indices = heads.map((head) => stream.heads.indexOf(head));
  const isAll = indices.length === stream.heads.length;
  const size = tile.length / stream.heads.length;
  return { values: isAll ? tile : pickPlanes(tile, size, indices), heads };
}

/** The planes of a picture: all heads as their mean in one plane, or each as its part of the mean. */
function averagedPlanes(pane: Pane): Planes | null {
  const { stream, measure, state } = pane;
  const planes = planesOf(pane);
  if (!planes || !measure.axes.includes("head") || !measure.axes.includes("query")) return planes;
  const count = state.heads?.length ?? stream.heads.length;
  const isMerged = state.heads === null;
  const size = planes.values.length / planes.heads.length;
  const values = isMerged ? sumPlanes(planes.values, size) : planes.values;
  if (count === 1 && !isMerged) return planes;
  return { values: values.map((value) => value / count), heads: isMerged ? [null] : planes.heads };
}

/** By how much the share of one measure exceeds that of another, of what each query takes. */
function differenceOf(pane: Pane, pair: [less: Measure, more: Measure]): Planes | null {
  const [less, more] = pair.map((measure) => {
    const planes = planesOf({ ...pane, measure });
    if (!planes) return null;
    const size = planes.values.length / planes.heads.length;
    return rowShares(sumPlanes(planes.values, size), pane.stream.keys.pieces.length);
  });
  if (!less || !more) return null;
  return { values: more.map((value, at) => value - less[at]), heads: pane.state.heads ?? [null] };
}

function concatPlanes(planes: Float32Array[]): Float32Array {
  const all = new Float32Array(planes.reduce((sum, { length }) => sum + length, 0));
  let start = 0;
  for (const plane of planes) {
    all.set(plane, start);
    start += plane.length;
  }
  return all;
}

/** How much of the sum over the visible queries belongs to hidden keys. */
function hiddenShareOf(values: Float32Array, { query, key }: Picture["rows"]): number {
  const keys = key.rowOf.length;
  if (!key.rowOf.includes(-1)) return 0;
  const queries = query.rowOf.length;
  let [sum, hidden] = [0, 0];
  for (let line = 0; line * keys < values.length; line++) {
    if (query.rowOf[line % queries] < 0) continue;
    for (let at = 0; at < keys; at++) {
      const value = values[line * keys + at];
      sum += value;
      if (key.rowOf[at] < 0) hidden += value;
    }
  }
  return sum > 0 ? hidden / sum : 0;
}

/** The row of the token in focus; null if it is hidden or nothing is in focus. */
export function focusedRow({ rows }: Pick<Picture, "rows">, focus: Focus | null): TokenRow | null {
  if (focus === null) return null;
  const row = rows[focus.role].rowOf[focus.token] ?? -1;
  return row < 0 ? null : { role: focus.role, row };
}

/** For one row: the sum over planes for each row of the other role [plane query key -> other]. */
export function sumsAtRow(
  { queries, keys }: Picture,
  values: Float32Array,
  { role, row }: TokenRow,
): Float64Array {
  return role === "query"
    ? rowOf(values, queries, keys, row)
    : columnOf(values, queries, keys, row);
}

/** Each key's share of what the query in focus takes, else of all; a difference as it is. */
export function keyShares(picture: Picture, at: TokenRow | null): ArrayLike<number> {
  const { measure, values, sizes, given, keys, queries } = picture;
  const isQuery = at?.role === "query";
  if (!measure.pair) return sharesOf(isQuery ? sumsAtRow(picture, sizes, at) : given);
  if (isQuery) return sumsAtRow(picture, values, at);
  return sumByKey(values, keys).map((sum) => sum / queries);
}

/** A quantity of each key, to say which tokens rise and which fall. */
export interface Ranking {
  labels: string[];
  values: ArrayLike<number>;
}

/** What each key gives to the query in focus, or to all. */
export function rankingOf(picture: Picture, focus: Focus | null): Ranking {
  const row = focusedRow(picture, focus);
  const { labels } = picture.rows.key;
  if (picture.norms) return { labels, values: meanNorms(picture.norms, picture.keys) };
  const values = row?.role === "query" ? sumsAtRow(picture, picture.sizes, row) : picture.given;
  return { labels, values };
}

/** The head, query and key of the widest ribbon, and its value. */
export function peakOf(picture: Picture): {
  head: number | null;
  query: number;
  key: number;
  value: number;
} {
  const { queries, keys, peak, sizes } = picture;
  const strand = picture.strands[Math.floor(peak / (queries * keys))];
  return {
    head: typeof strand === "number" ? strand : null,
    query: Math.floor(peak / keys) % queries,
    key: peak % keys,
    value: strand === "below" ? -sizes[peak] : sizes[peak],
  };
}

/** The most that any token can receive in any layer, on average over the chosen heads. */
function maxReceived({ tiles, index, stream, state }: Pane, measure: string): number | null {
  const peaks = tiles.overview(index, stream, measure)?.about.peaks;
  if (!peaks) return null;
  const indices = (state.heads ?? stream.heads).map((head) => stream.heads.indexOf(head));
  return Math.max(
    ...peaks.map((heads) =>
      heads.length === 1 ? heads[0] : sumOf(indices.map((head) => heads[head])) / indices.length,
    ),
  );
}

/** The numbers of a measure without queries; undefined while they are loading. */
function normsOf(pane: Pane, keys: TokenRows): Norms | undefined {
  const { tiles, index, stream, measure, state } = pane;
  const tile = tiles.layer(index, stream, measure.id, state.layer);
  const top = state.normalize === "absolute" ? maxReceived(pane, measure.id) : 0;
  if (!tile || top === null) return undefined;
  const heads = state.heads ?? stream.heads;
  const indices = heads.map((head) => stream.heads.indexOf(head));
  const values = keysToRows(pickPlanes(tile, stream.keys.pieces.length, indices), keys);
  return {
    values,
    heads,
    unit: top * heads.length || maxOf(sumByKey(values, keys.pieces.length)) || 1,
  };
}

/** The mean over planes, for each key. */
export function meanNorms({ values, heads }: Norms, keys: number): Float64Array {
  return sumByKey(values, keys).map((sum) => sum / heads.length);
}

/** The head with the largest share for the token in focus, or overall if none is in focus. */
export function strongestHead(pane: Pane, focus: Focus | null): number | null {
  const { stream, measure, state } = pane;
  const planes = measure.axes.includes("head")
    ? planesOf({ ...pane, state: { ...state, heads: null } })
    : null;
  if (!planes) return null;
  const rows = { query: rowsOf(stream.queries, state), key: rowsOf(stream.keys, state) };
  const hasQuery = measure.axes.includes("query");
  const focused = hasQuery || focus?.role === "key" ? focusedRow({ rows }, focus) : null;
  const keys = stream.keys.pieces.length;
  const queries = hasQuery ? stream.queries.pieces.length : 1;
  const sums = new Float64Array(planes.heads.length);
  planes.values.forEach((value, at) => {
    const piece = focused?.role === "key" ? at % keys : Math.floor(at / keys) % queries;
    if (focused === null || rows[focused.role].rowOf[piece] === focused.row) {
      sums[Math.floor(at / (queries * keys))] += Math.abs(value);
    }
  });
  return planes.heads[argmax(sums)] ?? null;
}

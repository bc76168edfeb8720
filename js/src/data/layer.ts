/** Everything one picture shows, computed once for each choice and shared by all that show it. */

import { given, greatest, most, planes, type Sums, sizesOf, sumsOf, total } from "../math/arrays";
import { wholes } from "../math/cancellation";
import { along, between, type Rows, rowsOf } from "../math/rows";
import type { Pane } from "../state/pane";
import type { Focus, Measure, Scale, Stream } from "../wire/types";
import { secondNames } from "./ladder";

/** The bars beside the keys: ‖f(x)‖ [plane key], and what a bar of full length stands for. */
export interface Norms {
  values: Float32Array;
  heads: (number | null)[];
  unit: number;
}

/** What ribbons of one color stand for. */
export type Strand = number | null | "above" | "below";

/** How far parts reach along the vectors they make. */
export interface Along {
  /** [query key], by row; negative where a part points against the whole. */
  values: Float32Array;
  /** For each query the lengths of all parts, and how far they reach, hidden keys and all. */
  lengths: Float64Array;
  reach: Float64Array;
  /** Whether tokens of another text are in the vectors too, beside the keys. */
  isShared: boolean;
}

export interface Picture extends Sums {
  stream: Stream;
  measure: Measure;
  layer: number;
  scale: Scale;
  /** The head of each plane, by the model's number; null for all heads in one. */
  heads: (number | null)[];
  /** What stands along the two sides. */
  rows: { query: Rows; key: Rows };
  queries: number;
  keys: number;
  /** [plane query key]; empty where the measure has no query axis. */
  values: Float32Array;
  /** How much there is to draw [strand query key], and what all sums are of; never negative. */
  sizes: Float32Array;
  /** What each plane of the sizes stands for: a head, or one side of zero through all heads. */
  strands: Strand[];
  /** What a full row stands for, at each query. */
  units: Float64Array;
  /** Nothing smaller is drawn. */
  least: number;
  /** The share of the sum that is hidden with the special tokens. */
  hidden: number;
  norms: Norms | null;
  /** Only of rungs whose parts were held against the whole. */
  along: Along | null;
  /** The share of the layer's vectors that comes from no token; null where it is not known. */
  bias_share: number | null;
  /** What else the measure is called, where rungs coincide. */
  also: string[];
}

/** The picture of a pane, or null while its numbers are on their way. */
export function pictureOf(pane: Pane): Picture | null {
  const { stream, measure, layer, choice } = pane;
  const found = layerOf(pane);
  if (!found) return null;
  const rows = { query: rowsOf(stream.queries, choice), key: rowsOf(stream.keys, choice) };
  const hasQuery = measure.axes.includes("query");
  const values = hasQuery ? between(found.values, rows.query, rows.key) : new Float32Array();
  const [queries, keys] = [rows.query.pieces.length, rows.key.pieces.length];
  const sizes = measure.signed ? bySign(values, queries * keys) : values;
  const sums = sumsOf(sizes, queries, keys);
  const top = choice.normalize === "absolute" ? ceiling(pane, measure.id) : most(sums.received);
  const norms = normsOf(pane, rows.key);
  const leaning = alongOf(pane, found.values, rows);
  if (top === null || norms === undefined || leaning === undefined) return null;
  return {
    stream,
    measure,
    layer,
    scale: choice.normalize,
    heads: found.heads,
    rows,
    queries,
    keys,
    values,
    sizes,
    strands: measure.signed ? ["above", "below"] : found.heads,
    ...sums,
    units: sums.received.map((sum) => (choice.normalize === "query" ? sum : top) || 1),
    least: choice.threshold * (sizes[sums.peak] ?? 0),
    hidden: hasQuery ? hiddenShare(sizesOf(found.values, measure), rows) : 0,
    norms,
    along: leaning,
    bias_share: stream.bias_share[measure.id]?.[stream.layers.indexOf(layer)] ?? null,
    also: secondNames(pane.flow, stream, measure.id),
  };
}

/** What all heads have above zero, then what they have below it [side query key]. */
function bySign(values: Float32Array, size: number): Float32Array {
  const found = new Float32Array(2 * size);
  values.forEach((value, at) => {
    found[(at % size) + (value < 0 ? size : 0)] += Math.abs(value);
  });
  return found;
}

/** How parts lie to their wholes; null where it is not known, undefined while it is on its way. */
function alongOf(
  { tiles, index, flow, stream, measure, layer }: Pane,
  lengths: Float32Array,
  { query, key }: Picture["rows"],
): Along | null | undefined {
  const name = `projection:${measure.id}`;
  if (!stream.statistics.includes(name)) return null;
  const tile = tiles.layer(index, stream, name, layer);
  if (!tile) return undefined;
  const keys = key.rowOf.length;
  return {
    values: between(tile, query, key),
    lengths: wholes(lengths, query, keys),
    reach: wholes(tile, query, keys),
    isShared: stream.name !== "encoder" && flow.streams.some(({ name }) => name === "cross"),
  };
}

/** The numbers of a pane's layer [plane query key], by piece, and the heads of the planes. */
export function layerOf({
  tiles,
  index,
  stream,
  measure,
  layer,
  choice,
}: Pane): { values: Float32Array; heads: (number | null)[] } | null {
  const byHead = measure.axes.includes("head");
  const isLarge = byHead && tiles.isLarge(stream);
  if (isLarge && choice.heads === null) {
    const sum = tiles.layer(index, stream, measure.id, layer, "sum");
    return sum && { values: sum, heads: [null] };
  }
  const heads = choice.heads ?? stream.heads;
  if (isLarge) {
    const parts = heads.map((head) => tiles.layer(index, stream, measure.id, layer, head));
    return parts.every((part) => part !== null) ? { values: strung(parts), heads } : null;
  }
  const tile = tiles.layer(index, stream, measure.id, layer);
  if (!tile) return null;
  if (!byHead) return { values: tile, heads: [null] };
  const chosen = heads.map((head) => stream.heads.indexOf(head));
  const isAll = chosen.length === stream.heads.length;
  return { values: isAll ? tile : planes(tile, tile.length / stream.heads.length, chosen), heads };
}

function strung(parts: Float32Array[]): Float32Array {
  const all = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** How much of the sum, at the queries that are shown, lies with keys that are hidden. */
function hiddenShare(values: Float32Array, { query, key }: Picture["rows"]): number {
  const across = key.rowOf.length;
  if (!key.rowOf.includes(-1)) return 0;
  const down = query.rowOf.length;
  let [whole, hidden] = [0, 0];
  for (let line = 0; line * across < values.length; line++) {
    if (query.rowOf[line % down] < 0) continue;
    for (let at = 0; at < across; at++) {
      const value = values[line * across + at];
      whole += value;
      if (key.rowOf[at] < 0) hidden += value;
    }
  }
  return whole > 0 ? hidden / whole : 0;
}

/** The row of a token in focus; null where it is hidden or nothing is in focus. */
export function rowIn(
  { rows }: Picture,
  focus: Focus | null,
): { side: Focus["side"]; row: number } | null {
  if (focus === null) return null;
  const row = rows[focus.side].rowOf[focus.token] ?? -1;
  return row < 0 ? null : { side: focus.side, row };
}

/** The head, query and key of the widest ribbon, and its number. */
export function peakOf(picture: Picture): {
  head: number | null;
  query: number;
  key: number;
  value: number;
} {
  const { queries, keys, peak: at, sizes } = picture;
  const strand = picture.strands[Math.floor(at / (queries * keys))];
  return {
    head: typeof strand === "number" ? strand : null,
    query: Math.floor(at / keys) % queries,
    key: at % keys,
    value: strand === "below" ? -sizes[at] : sizes[at],
  };
}

/** The most that any token can receive in any layer, through the chosen heads. */
function ceiling({ tiles, index, stream, choice }: Pane, measure: string): number | null {
  const peaks = tiles.overview(index, stream, measure)?.about.peaks;
  if (!peaks) return null;
  const rows = (choice.heads ?? stream.heads).map((head) => stream.heads.indexOf(head));
  return Math.max(
    ...peaks.map((heads) => (heads.length === 1 ? heads[0] : total(rows.map((row) => heads[row])))),
  );
}

/** The bars; null where the flow has none, undefined while they are on their way. */
function normsOf(pane: Pane, keys: Rows): Norms | null | undefined {
  const { tiles, index, stream, measure, layer, choice } = pane;
  if (!stream.measures.includes("value-norm")) return null;
  const tile = tiles.layer(index, stream, "value-norm", layer);
  const top = choice.normalize === "absolute" ? ceiling(pane, "value-norm") : 0;
  if (!tile || top === null) return undefined;
  const every = stream.heads;
  const chosen = measure.axes.includes("head") ? (choice.heads ?? every) : every;
  const picked = chosen.map((head) => every.indexOf(head));
  const values = along(planes(tile, stream.keys.pieces.length, picked), keys);
  const sums = given(values, keys.pieces.length);
  const unit = top || most(sums) || 1;
  const isLarge = tiles.isLarge(stream) && choice.heads === null;
  // Where hues stand for signs, the heads of a bar cannot be told apart.
  if (measure.axes.includes("head") && !isLarge && !measure.signed) {
    return { values, heads: chosen, unit };
  }
  return { values: Float32Array.from(sums), heads: [null], unit };
}

/** The head with most of what the token in focus takes or gives; of everything where none is. */
export function strongestHead(picture: Picture, focus: Focus | null): number | null {
  const at = rowIn(picture, focus);
  const { values, queries, keys, heads } = picture;
  const sums = new Float64Array(heads.length);
  values.forEach((value, place) => {
    const row = at?.side === "key" ? place % keys : Math.floor(place / keys) % queries;
    if (at === null || row === at.row)
      sums[Math.floor(place / (queries * keys))] += Math.abs(value);
  });
  return heads[greatest(sums)] ?? null;
}

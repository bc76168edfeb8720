/** Everything one picture shows, computed once for each choice and shared by all that show it. */

import { given, greatest, planes, received } from "./derive";
import type { Choice, Measure, Scale, Stream } from "./model";
import type { Tiles } from "./tiles";

/** The bars beside the keys: ‖f(x)‖ [plane key], and what a bar of full length stands for. */
export interface Norms {
  values: Float32Array;
  heads: (number | null)[];
  unit: number;
}

export interface Picture {
  stream: Stream;
  measure: Measure;
  layer: number;
  scale: Scale;
  /** The head of each plane, by the model's number; null for all heads in one. */
  heads: (number | null)[];
  queries: number;
  keys: number;
  /** [plane query key]; empty where the measure has no query axis. */
  values: Float32Array;
  /** What each query receives from all keys, all planes together. */
  received: Float64Array;
  /** What a full row stands for, at each query. */
  units: Float64Array;
  norms: Norms | null;
}

/** The picture of a choice, or null while its numbers are not here. */
export function pictureOf(
  stream: Stream,
  measure: Measure,
  choice: Choice,
  tiles: Tiles,
): Picture | null {
  const { layer, normalize: scale } = choice;
  const queries = stream.queries.pieces.length;
  const keys = stream.keys.pieces.length;
  const tile = tiles.get(stream, measure.id, layer);
  if (!tile) return null;
  const byHead = measure.axes.includes("head");
  const chosen = choice.heads ?? stream.heads;
  const rows = chosen.map((head) => stream.heads.indexOf(head));
  const drawn = measure.axes.includes("query") ? tile : new Float32Array();
  const values = byHead && drawn.length > 0 ? planes(drawn, queries * keys, rows) : drawn;
  const heads = byHead ? chosen : [null];
  const sums = received(values, queries, keys);
  const norms = normsOf(stream, layer, scale, byHead ? rows : null, tiles);
  const units = unitsOf(sums, scale, ceiling(stream, measure.id, byHead ? rows : [0]));
  return {
    stream,
    measure,
    layer,
    scale,
    heads,
    queries,
    keys,
    values,
    received: sums,
    units,
    norms,
  };
}

/** The head, query and key of the largest single number. */
export function peakOf(picture: Picture): {
  head: number | null;
  query: number;
  key: number;
  value: number;
} {
  const at = greatest(picture.values);
  const { queries, keys } = picture;
  return {
    head: picture.heads[Math.floor(at / (queries * keys))],
    query: Math.floor(at / keys) % queries,
    key: at % keys,
    value: picture.values[at],
  };
}

function unitsOf(sums: Float64Array, scale: Scale, top: number): Float64Array {
  const whole = scale === "absolute" ? top : Math.max(...sums);
  return sums.map((sum) => (scale === "query" ? sum : whole) || 1);
}

/** The most that any token can receive in any layer, through these heads. */
function ceiling(stream: Stream, measure: string, rows: number[]): number {
  return Math.max(
    ...stream.peaks[measure].map((peaks) => rows.reduce((sum, row) => sum + peaks[row], 0)),
  );
}

function normsOf(
  stream: Stream,
  layer: number,
  scale: Scale,
  rows: number[] | null,
  tiles: Tiles,
): Norms | null {
  const tile = tiles.get(stream, "value-norm", layer);
  if (!tile) return null;
  const keys = stream.keys.pieces.length;
  const every = stream.heads.map((_, row) => row);
  const unit =
    scale === "absolute"
      ? ceiling(stream, "value-norm", rows ?? every)
      : Math.max(...given(planes(tile, keys, rows ?? every), keys));
  return rows
    ? {
        values: planes(tile, keys, rows),
        heads: rows.map((row) => stream.heads[row]),
        unit: unit || 1,
      }
    : { values: Float32Array.from(given(tile, keys)), heads: [null], unit: unit || 1 };
}

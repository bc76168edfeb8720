/** All layers of a pane: how each one divides what its queries take, and how they connect. */

import { sizesOf, sumPlanes } from "../math/arrays";
import { rowsOf, type TokenRows } from "../math/rows";
import { type Division, divide } from "../math/trace";
import type { Pane } from "../state/pane";
import type { Focus, Measure, Stream } from "../wire/types";
import { planesOf } from "./layer";

/**
 * How the layers of a measure are shown together.
 *
 * `traced`: each layer's shares are divided again by the layer below. `direct`: the measure itself
 * reaches back to the input. `separate`: each layer is shown by itself. `none`: the measure has no
 * queries, so there is nothing to trace.
 */
export type TraceMode = "traced" | "direct" | "separate" | "none";

export interface Stack {
  mode: TraceMode;
  stream: Stream;
  measure: Measure;
  /** Which heads were added up, in words. */
  heads: string;
  /** The head, if it is only one. */
  head: number | null;
  rows: { query: TokenRows; key: TokenRows };
  /** One per layer of the stream; empty if there is nothing to divide. */
  divisions: Division[];
}

/** The layers of a pane, or null while some are loading. */
export function stackOf(pane: Pane): Stack | null {
  const { stream, measure, state } = pane;
  const rows = { query: rowsOf(stream.queries, state), key: rowsOf(stream.keys, state) };
  const mode = modeOf(stream, measure);
  // Request all layers before returning, so that they load together.
  const layers = mode === "none" ? [] : stream.layers.map((layer) => sumHeads(pane, layer));
  const loaded = layers.filter((values) => values !== null);
  if (loaded.length < layers.length) return null;
  const divisions = loaded.map((values) => divide(values, rows.query, rows.key));
  const { heads } = state;
  const head = heads?.length === 1 && measure.axes.includes("head") ? heads[0] : null;
  return { mode, stream, measure, heads: headsPhrase(pane), head, rows, divisions };
}

/** The magnitudes of a layer [query key], by piece, summed over the chosen heads. */
export function sumHeads(pane: Pane, layer: number): Float32Array | null {
  const { tiles, index, stream, measure, state } = pane;
  if (state.heads === null || !measure.axes.includes("head")) {
    const sum = tiles.layer(index, stream, measure.id, layer, "sum");
    return sum && sizesOf(sum, measure);
  }
  const planes = planesOf({ ...pane, state: { ...state, layer } });
  if (!planes) return null;
  return sizesOf(sumPlanes(planes.values, planes.values.length / planes.heads.length), measure);
}

/** Which heads are added up, in words. */
export function headsPhrase({ stream, measure, state }: Pane): string {
  const heads = state.heads ?? stream.heads;
  if (!measure.axes.includes("head")) return "all heads together";
  if (heads.length === 1) return `head ${heads[0]}`;
  if (heads.length === stream.heads.length) return `mean of ${heads.length} heads`;
  return heads.length <= 4
    ? `mean of heads ${heads.join(", ")}`
    : `mean of ${heads.length} of ${stream.heads.length} heads`;
}

/** Whether the keys of a stream are its queries. */
export function isSelfAttention({ kind, queries, keys }: Stream): boolean {
  return kind !== "cross" && queries.pieces.join("\0") === keys.pieces.join("\0");
}

/** Whether a measure can be shown through the layers: it needs queries. */
export function canTrace({ axes }: Measure): boolean {
  return axes.includes("query");
}

export function modeOf(stream: Stream, measure: Measure): TraceMode {
  if (!canTrace(measure)) return "none";
  if (!isSelfAttention(stream)) return "separate";
  if (measure.reaches === "input") return "direct";
  return stream.interruption === "" ? "traced" : "separate";
}

/** Whether ribbons connect the columns of tokens. */
export function isConnected(mode: TraceMode): boolean {
  return mode === "traced" || mode === "direct";
}

/**
 * The layer that the trace ends at.
 *
 * A query is traced from the chosen layer. All tokens together, and a key, are traced through the
 * last layer, unless two layers are compared or each layer is shown by itself.
 */
export function tracedLayer({ stream, state }: Pane, mode: TraceMode, focus: Focus | null): number {
  const isChosen =
    focus?.role === "query" || typeof state.compare === "number" || mode === "separate";
  return isChosen ? state.layer : stream.layers[stream.layers.length - 1];
}

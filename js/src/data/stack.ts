/** All layers of a pane at once: how each divides what its queries take, and how they join. */

import { sizesOf, summed } from "../math/arrays";
import { type Rows, rowsOf } from "../math/rows";
import { type Division, divide } from "../math/trace";
import type { Pane } from "../state/pane";
import type { Focus, Measure, Stream } from "../wire/types";
import { layerOf } from "./layer";

/**
 * How the layers of a measure are shown together.
 *
 * `traced`: what one layer gives is divided again by the layer below. `carried`: the measure
 * itself reaches back to the input. `apart`: each layer stands for itself. `nothing`: there is no
 * query that could be made of anything.
 */
export type Way = "traced" | "carried" | "apart" | "nothing";

export interface Depth {
  way: Way;
  stream: Stream;
  measure: Measure;
  /** Which heads were added up, in words, and the one head where it is only one. */
  heads: string;
  head: number | null;
  rows: { query: Rows; key: Rows };
  /** One for each layer of the stream; none where there is nothing to divide. */
  divisions: Division[];
}

/** The layers of a pane, or null while some are on their way. */
export function depthOf(pane: Pane): Depth | null {
  const { stream, measure, choice } = pane;
  const rows = { query: rowsOf(stream.queries, choice), key: rowsOf(stream.keys, choice) };
  const way = wayOf(stream, measure);
  // All are asked for at once, before any is missed.
  const layers = way === "nothing" ? [] : stream.layers.map((layer) => addedUp(pane, layer));
  const here = layers.filter((values) => values !== null);
  if (here.length < layers.length) return null;
  const divisions = here.map((values) => divide(values, rows.query, rows.key));
  const { heads } = choice;
  const head = heads?.length === 1 && measure.axes.includes("head") ? heads[0] : null;
  return { way, stream, measure, heads: headsAdded(pane), head, rows, divisions };
}

/** A layer of a pane's measure [query key], by piece, the chosen heads added up, signs aside. */
export function addedUp(pane: Pane, layer: number): Float32Array | null {
  const { tiles, index, stream, measure, choice } = pane;
  if (choice.heads === null || !measure.axes.includes("head")) {
    const sum = tiles.layer(index, stream, measure.id, layer, "sum");
    return sum && sizesOf(sum, measure);
  }
  const found = layerOf({ ...pane, layer });
  return found && sizesOf(summed(found.values, found.values.length / found.heads.length), measure);
}

/** Which heads are added up, in words. */
export function headsAdded({ stream, measure, choice }: Pane): string {
  const heads = choice.heads ?? stream.heads;
  if (!measure.axes.includes("head")) return "all heads together";
  if (heads.length === 1) return `head ${heads[0]}`;
  if (heads.length === stream.heads.length) return `all ${heads.length} heads added up`;
  return heads.length <= 4
    ? `heads ${heads.join(", ")} added up`
    : `${heads.length} of ${stream.heads.length} heads added up`;
}

/** Whether a measure speaks of the first layer's tokens in every layer. */
export function isCarried(measure: string): boolean {
  return /^(rollout:|(decomposition|attention-flow|hidden-attribution|head-attribution)$)/.test(
    measure,
  );
}

/** Whether the keys of a stream are the tokens that receive. */
export function isWithin({ name, queries, keys }: Stream): boolean {
  return name !== "cross" && queries.pieces.join("\0") === keys.pieces.join("\0");
}

export function wayOf(stream: Stream, measure: Measure): Way {
  if (!measure.axes.includes("query")) return "nothing";
  if (!isWithin(stream)) return "apart";
  return isCarried(measure.id) ? "carried" : "traced";
}

/** Whether tokens before the first layer and after each stand in columns that ribbons join. */
export function isJoined(way: Way): boolean {
  return way === "traced" || way === "carried";
}

/**
 * The layer that the picture is about.
 *
 * A receiving token is followed from the chosen layer; all tokens together from the last, and a
 * token that gives up to the last, unless two layers are compared or each is for itself.
 */
export function aboutLayer({ stream, layer, choice }: Pane, way: Way, focus: Focus | null): number {
  const isChosen = focus?.side === "query" || typeof choice.compare === "number" || way === "apart";
  return isChosen ? layer : stream.layers[stream.layers.length - 1];
}

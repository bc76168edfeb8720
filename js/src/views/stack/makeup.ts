/** What a token is made of, in numbers. */

import { type Depth, isJoined } from "../../data/stack";
import { total } from "../../math/arrays";
import { at, everywhere, type Trace, traceBack, traceOn } from "../../math/trace";
import type { Focus } from "../../wire/types";

/** A row on one of the two sides. */
export interface Row {
  side: Focus["side"];
  row: number;
}

/** The row of a token in focus; null where it is hidden or nothing is in focus. */
export function rowAt({ rows }: Depth, focus: Focus | null): Row | null {
  const row = focus ? (rows[focus.side].rowOf[focus.token] ?? -1) : -1;
  return focus && row >= 0 ? { side: focus.side, row } : null;
}

/** What one picture of the stack is about. */
export interface Makeup {
  depth: Depth;
  /** The token in focus; null for all tokens alike. */
  about: Row | null;
  /** After which layer, by the model's number. */
  layer: number;
  /** Of every token the share: before the first layer, or for a token that gives, after `layer`. */
  parts: Float64Array;
  /** What was lost on the way: to hidden tokens, or to those that take nothing. */
  lost: number;
  /** The way through the layers; null where each stands for itself. */
  trace: Trace | null;
  /** The columns that it goes through; only the first and the last where the way is straight. */
  columns: number[];
}

/** What the token in focus is made of after a layer, or what is made of it. */
export function makeupOf(depth: Depth, about: Row | null, layer: number): Makeup {
  const { way, stream, divisions, rows } = depth;
  const index = stream.layers.indexOf(layer);
  const gives = about?.side === "key";
  if (!isJoined(way)) {
    const parts = way === "apart" ? partsApart(depth, about, index) : new Float64Array();
    const lost = gives || way === "nothing" ? 0 : 1 - total(parts);
    return { depth, about, layer, parts, lost, trace: null, columns: [] };
  }
  const isStraight = way === "carried";
  const below = divisions.slice(isStraight ? index : 0, index + 1);
  const columns = isStraight ? [0, index + 1] : [0, ...below.map((_, layer) => layer + 1)];
  const size = rows.query.pieces.length;
  const start = about ? at(about.row, size) : everywhere(size);
  const trace = gives ? traceOn(below, start) : traceBack(below, start);
  const parts = trace.nodes[gives ? below.length : 0];
  return { depth, about, layer, parts, lost: gives ? 0 : 1 - total(parts), trace, columns };
}

/** The shares of one layer alone: of a query, of a key among all queries, of all queries alike. */
export function partsApart(
  { divisions, rows }: Depth,
  about: Row | null,
  index: number,
): Float64Array {
  const [queries, keys] = [rows.query.pieces.length, rows.key.pieces.length];
  const division = divisions[index];
  const share = (query: number, key: number) => division[query * keys + key];
  if (about?.side === "key") {
    return Float64Array.from({ length: queries }, (_, query) => share(query, about.row));
  }
  const found = new Float64Array(keys);
  const chosen = about ? [about.row] : [...Array(queries).keys()];
  for (const query of chosen) {
    for (let key = 0; key < keys; key++) found[key] += share(query, key) / chosen.length;
  }
  return found;
}

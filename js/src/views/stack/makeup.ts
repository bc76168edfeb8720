/** What a token is made of: shares of the tokens below. */

import type { TokenRow } from "../../data/layer";
import { isConnected, type Stack } from "../../data/stack";
import { sumOf } from "../../math/arrays";
import { evenMass, massAt, type Trace, traceBack, traceForward } from "../../math/trace";

/** What the stack shows. */
export interface Makeup {
  stack: Stack;
  /** The token in focus; null for all tokens together. */
  about: TokenRow | null;
  /** The layer it ends at, by the model's number. */
  layer: number;
  /** The share of every token before the first layer; for a key, its share in every token after `layer`. */
  shares: Float64Array;
  /** The share lost to hidden tokens, or to tokens that take nothing. */
  lost: number;
  /** The trace through the layers; null if each layer is shown by itself. */
  trace: Trace | null;
  /** The columns of the trace; only the first and the last for a direct measure. */
  columns: number[];
}

/** What a query is made of after a layer, or where a key ends up. */
export function makeupOf(stack: Stack, about: TokenRow | null, layer: number): Makeup {
  const { mode, stream, divisions, rows } = stack;
  const index = stream.layers.indexOf(layer);
  const gives = about?.role === "key";
  if (!isConnected(mode)) {
    const shares = mode === "separate" ? layerShares(stack, about, index) : new Float64Array();
    const lost = gives || mode === "none" ? 0 : 1 - sumOf(shares);
    return { stack, about, layer, shares, lost, trace: null, columns: [] };
  }
  const isStraight = mode === "direct";
  const below = divisions.slice(isStraight ? index : 0, index + 1);
  const columns = isStraight ? [0, index + 1] : [0, ...below.map((_, layer) => layer + 1)];
  const size = rows.query.pieces.length;
  const start = about ? massAt(about.row, size) : evenMass(size);
  const trace = gives ? traceForward(below, start) : traceBack(below, start);
  const shares = trace.nodes[gives ? below.length : 0];
  return { stack, about, layer, shares, lost: gives ? 0 : 1 - sumOf(shares), trace, columns };
}

/** The shares of one layer: of a query, of a key in all queries, or the mean over queries. */
export function layerShares(
  { divisions, rows }: Stack,
  about: TokenRow | null,
  index: number,
): Float64Array {
  const [queries, keys] = [rows.query.pieces.length, rows.key.pieces.length];
  const division = divisions[index];
  const share = (query: number, key: number) => division[query * keys + key];
  if (about?.role === "key") {
    return Float64Array.from({ length: queries }, (_, query) => share(query, about.row));
  }
  const shares = new Float64Array(keys);
  const chosen = about ? [about.row] : [...Array(queries).keys()];
  for (const query of chosen) {
    for (let key = 0; key < keys; key++) shares[key] += share(query, key) / chosen.length;
  }
  return shares;
}

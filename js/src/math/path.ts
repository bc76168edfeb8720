/** The strongest path through the layers from one token back to another. */

import type { Division } from "./trace";

/** A path: the row at each column, the lowest first, and the share of the upper token it carries. */
export interface Path {
  rows: number[];
  share: number;
  /** What all paths between the two tokens carry together. */
  whole: number;
}

/**
 * The path of the largest product of shares, in layer order.
 *
 * `upper` is a row after the last of the divisions, `lower` a row before the first. Null if no path
 * connects the two.
 */
export function strongestPath(divisions: Division[], upper: number, lower: number): Path | null {
  const size = Math.sqrt(divisions[0]?.length ?? 0);
  let best = new Float64Array(size).fill(1, lower, lower + 1);
  let sums = best;
  const origins = divisions.map((division) => {
    const [nextBest, nextSums] = [new Float64Array(size), new Float64Array(size)];
    const from = new Int32Array(size);
    for (let query = 0; query < size; query++) {
      for (let key = 0; key < size; key++) {
        const share = division[query * size + key];
        nextSums[query] += share * sums[key];
        const product = share * best[key];
        if (product <= nextBest[query]) continue;
        nextBest[query] = product;
        from[query] = key;
      }
    }
    [best, sums] = [nextBest, nextSums];
    return from;
  });
  if (!(best[upper] > 0)) return null;
  const rows = [upper];
  for (const from of [...origins].reverse()) rows.unshift(from[rows[0]]);
  return { rows, share: best[upper], whole: sums[upper] };
}

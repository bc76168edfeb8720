/** How much the parts of a vector cancel, and which parts point against it. */

import { sumOf } from "./arrays";
import type { TokenRows } from "./rows";

/**
 * The parts of one vector, by their lengths and their projections on it.
 *
 * The whole vector is the sum of the tokens' parts and of biases. What a part has perpendicular to
 * the vector is canceled by the other parts.
 */
export interface Cancellation {
  /** The summed lengths of all parts. */
  lengths: number;
  /** The summed projections of all parts. */
  reach: number;
  /** The share of the lengths that cancels. */
  canceled: number;
  /** Whether anything remains along the vector. */
  hasRemainder: boolean;
}

/** A smaller share of the lengths is rounding. */
const ROUNDING = 1e-3;

export function cancellationOf(lengths: number, reach: number): Cancellation {
  const part = lengths > 0 ? reach / lengths : 0;
  return { lengths, reach, canceled: Math.min(1, 1 - part), hasRemainder: part > ROUNDING };
}

/** Each projection as a share of their sum; negative if the part points against the vector. */
export function projectionShares(
  along: ArrayLike<number>,
  { reach, hasRemainder }: Cancellation,
): number[] {
  return Array.from(along, (value) => (hasRemainder ? value / reach : value));
}

/** The rows that point against the whole by at least `least`, the largest first. */
export function opposingRows(shares: ArrayLike<number>, least: number): number[] {
  return Array.from(shares, (_, row) => row)
    .filter((row) => shares[row] <= -least)
    .sort((one, other) => shares[one] - shares[other]);
}

/** For each row of queries, the mean over its pieces of the sum over all keys, hidden or not. */
export function rowTotals(values: Float32Array, { pieces }: TokenRows, keys: number): Float64Array {
  return Float64Array.from(pieces, (row) => {
    const sums = row.map((piece) => sumOf(values.subarray(piece * keys, (piece + 1) * keys)));
    return sumOf(sums) / row.length;
  });
}

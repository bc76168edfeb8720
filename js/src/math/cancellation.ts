/** How much of what tokens give to a vector cancels, and which of them point against it. */

import { total } from "./arrays";
import type { Rows } from "./rows";

/**
 * The parts of one vector, by their lengths and by how far each reaches along it.
 *
 * The whole vector is made of the tokens' parts and of biases. What a part has beside the vector's
 * own direction is canceled by the others, for the whole has nothing beside itself.
 */
export interface Cancellation {
  /** The lengths of all parts, added up. */
  lengths: number;
  /** How far all parts together reach along the whole vector. */
  reach: number;
  /** The share of the lengths that cancels. */
  canceled: number;
  /** What is left: nothing where the parts together do not point along the vector at all. */
  isLeft: boolean;
}

/** Less than this of the lengths is the rounding of the others. */
const NOTHING = 1e-3;

export function cancellation(lengths: number, reach: number): Cancellation {
  const part = lengths > 0 ? reach / lengths : 0;
  return { lengths, reach, canceled: Math.min(1, 1 - part), isLeft: part > NOTHING };
}

/** Each part's reach as a share of what all of them reach; negative where it points against it. */
export function alignments(along: ArrayLike<number>, { reach, isLeft }: Cancellation): number[] {
  return Array.from(along, (value) => (isLeft ? value / reach : value));
}

/** The rows that point against the whole, the furthest first, and only those worth a word. */
export function against(shares: ArrayLike<number>, least: number): number[] {
  return Array.from(shares, (_, row) => row)
    .filter((row) => shares[row] <= -least)
    .sort((one, other) => shares[one] - shares[other]);
}

/** For each row of queries what its pieces take from all keys, hidden or not, on average. */
export function wholes(values: Float32Array, { pieces }: Rows, keys: number): Float64Array {
  return Float64Array.from(pieces, (row) => {
    const sums = row.map((piece) => total(values.subarray(piece * keys, (piece + 1) * keys)));
    return total(sums) / row.length;
  });
}

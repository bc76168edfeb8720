/** Rank correlation. */

/** The rank of each number from 1; equal numbers share the mean of their ranks. */
export function averageRanks(values: ArrayLike<number>): Float64Array {
  // Sorting the values and looking each one up is many times faster than sorting indices.
  const ordered = new Float64Array(values).sort();
  const ranks = new Float64Array(values.length);
  for (let at = 0; at < values.length; at++) {
    const below = countBelow(ordered, values[at], false);
    const upTo = countBelow(ordered, values[at], true);
    ranks[at] = (below + upTo + 1) / 2;
  }
  return ranks;
}

/** The number of sorted values below a value, or up to it. */
function countBelow(ordered: Float64Array, value: number, isUpTo: boolean): number {
  let low = 0;
  let high = ordered.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ordered[middle] < value || (isUpTo && ordered[middle] === value)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Spearman's rank correlation; null for fewer than three pairs, or if all values are equal. */
export function spearman(xs: ArrayLike<number>, ys: ArrayLike<number>): number | null {
  if (xs.length !== ys.length) throw new Error(`${xs.length} numbers against ${ys.length}.`);
  return xs.length < 3 ? null : rankCorrelation(xs, ys);
}

/** The same for any number of pairs; null only if all values of one side are equal. */
export function rankCorrelation(xs: ArrayLike<number>, ys: ArrayLike<number>): number | null {
  return pearson(averageRanks(xs), averageRanks(ys));
}

function pearson(xs: Float64Array, ys: Float64Array): number | null {
  const [x, y] = [mean(xs), mean(ys)];
  let [both, left, right] = [0, 0, 0];
  for (let at = 0; at < xs.length; at++) {
    both += (xs[at] - x) * (ys[at] - y);
    left += (xs[at] - x) ** 2;
    right += (ys[at] - y) ** 2;
  }
  return left > 0 && right > 0 ? both / Math.sqrt(left * right) : null;
}

function mean(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

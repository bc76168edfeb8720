/** How far two quantities rise together, by their ranks. */

/** The rank of each number from 1; equal numbers share the mean of their ranks. */
export function averageRanks(values: ArrayLike<number>): Float64Array {
  const order = Array.from(values, (_, place) => place).sort((a, b) => values[a] - values[b]);
  const ranks = new Float64Array(values.length);
  let start = 0;
  while (start < order.length) {
    let end = start;
    while (end + 1 < order.length && values[order[end + 1]] === values[order[start]]) end++;
    for (let at = start; at <= end; at++) ranks[order[at]] = (start + end) / 2 + 1;
    start = end + 1;
  }
  return ranks;
}

/** Spearman's rank correlation; null where it says nothing: under three pairs, or all equal. */
export function spearman(xs: ArrayLike<number>, ys: ArrayLike<number>): number | null {
  if (xs.length !== ys.length) throw new Error(`${xs.length} numbers against ${ys.length}.`);
  return xs.length < 3 ? null : rankCorrelation(xs, ys);
}

/** The same for any number of pairs; null only where one side has no order. */
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

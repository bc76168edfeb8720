/** Arithmetic on flat arrays; comments name the axes in order. */

/** `weighted-norm` [head query key]: each weight [head query key] times its key's norm [head key]. */
export function weightByNorm(
  weights: Float32Array,
  norms: Float32Array,
  keys: number,
): Float32Array {
  const heads = norms.length / keys;
  const queries = weights.length / (heads * keys);
  const weighted = new Float32Array(weights.length);
  let at = 0;
  for (let head = 0; head < heads; head++) {
    for (let query = 0; query < queries; query++) {
      for (let key = 0; key < keys; key++, at++)
        weighted[at] = weights[at] * norms[head * keys + key];
    }
  }
  return weighted;
}

/** Sums and the maximum of an array [plane query key], computed in one pass. */
export interface Sums {
  /** For each query, the sum over keys and planes. */
  received: Float64Array;
  /** For each key, the sum over queries and planes. */
  given: Float64Array;
  /** The index of the largest value; -1 if there is none. */
  peak: number;
  /** The number of nonzero values. */
  present: number;
}

export function sumsOf(values: Float32Array, queries: number, keys: number): Sums {
  const received = new Float64Array(queries);
  const given = new Float64Array(keys);
  let [peak, top, present] = [values.length > 0 ? 0 : -1, values[0] ?? 0, 0];
  for (let at = 0, query = 0; at < values.length; query = (query + 1) % queries) {
    let row = 0;
    for (let key = 0; key < keys; key++, at++) {
      const value = values[at];
      if (value === 0) continue;
      present++;
      row += value;
      given[key] += value;
      if (value > top) {
        top = value;
        peak = at;
      }
    }
    received[query] += row;
  }
  return { received, given, peak, present };
}

/** The absolute values; the array itself if the measure is never negative. */
export function sizesOf(values: Float32Array, { signed }: { signed: boolean }): Float32Array {
  return signed ? values.map(Math.abs) : values;
}

/** Some planes of an array. */
export function pickPlanes(values: Float32Array, size: number, chosen: number[]): Float32Array {
  const picked = new Float32Array(size * chosen.length);
  chosen.forEach((plane, index) => {
    picked.set(values.subarray(plane * size, (plane + 1) * size), index * size);
  });
  return picked;
}

/** The sum for each query [plane query key -> query]. */
export function sumByQuery(values: Float32Array, queries: number, keys: number): Float64Array {
  return sumsOf(values, queries, keys).received;
}

/** The sum for each key [plane query key -> key]. */
export function sumByKey(values: Float32Array, keys: number): Float64Array {
  const totals = new Float64Array(keys);
  for (let at = 0; at < values.length; at++) totals[at % keys] += values[at];
  return totals;
}

/** What one query receives from each key, summed over planes. */
export function rowOf(
  values: Float32Array,
  queries: number,
  keys: number,
  query: number,
): Float64Array {
  const row = new Float64Array(keys);
  for (let start = query * keys; start < values.length; start += queries * keys) {
    for (let key = 0; key < keys; key++) row[key] += values[start + key];
  }
  return row;
}

/** What one key gives to each query, summed over planes. */
export function columnOf(
  values: Float32Array,
  queries: number,
  keys: number,
  key: number,
): Float64Array {
  const column = new Float64Array(queries);
  for (let line = 0; line * keys < values.length; line++) {
    column[line % queries] += values[line * keys + key];
  }
  return column;
}

/** Each value as a share of the sum; all zero if the sum is zero. */
export function sharesOf(values: ArrayLike<number>): number[] {
  const whole = sumOf(values);
  return Array.from(values, (value) => (whole > 0 ? value / whole : 0));
}

/** Each value as a share of its row [... key]; rows that sum to zero stay zero. */
export function rowShares(values: Float32Array, keys: number): Float32Array {
  const shares = new Float32Array(values.length);
  for (let start = 0; start < values.length; start += keys) {
    const whole = sumOf(values.subarray(start, start + keys));
    for (let at = start; at < start + keys; at++) shares[at] = whole > 0 ? values[at] / whole : 0;
  }
  return shares;
}

/** The indices of the values, largest first; equal values keep their order. */
export function rankOrder(values: ArrayLike<number>): number[] {
  return Array.from(values, (_, place) => place).sort((a, b) => values[b] - values[a] || a - b);
}

/** The index of the largest value; the first of equal ones, or -1 if there is none. */
export function argmax(values: ArrayLike<number>): number {
  let best = values.length > 0 ? 0 : -1;
  for (let index = 1; index < values.length; index++) {
    if (values[index] > values[best]) best = index;
  }
  return best;
}

export function sumOf(values: ArrayLike<number>): number {
  let sum = 0;
  for (let index = 0; index < values.length; index++) sum += values[index];
  return sum;
}

/** The sum over planes. */
export function sumPlanes(values: Float32Array, size: number): Float32Array {
  const sum = new Float32Array(size);
  for (let start = 0; start < values.length; start += size) {
    for (let at = 0; at < size; at++) sum[at] += values[start + at];
  }
  return sum;
}

/** The largest value, or 0 if there is none; safe for very long arrays. */
export function maxOf(values: ArrayLike<number>): number {
  return values.length > 0 ? values[argmax(values)] : 0;
}

/** Arithmetic on measures that have arrived. Arrays are flat, with the axes named in order. */

/** `weighted-norm` [head query key]: each weight [head query key] times its key's norm [head key]. */
export function product(weights: Float32Array, norms: Float32Array, keys: number): Float32Array {
  const heads = norms.length / keys;
  const queries = weights.length / (heads * keys);
  const found = new Float32Array(weights.length);
  let at = 0;
  for (let head = 0; head < heads; head++) {
    for (let query = 0; query < queries; query++) {
      for (let key = 0; key < keys; key++, at++) found[at] = weights[at] * norms[head * keys + key];
    }
  }
  return found;
}

/** Everything that takes a walk over all numbers [plane query key], found in one walk. */
export interface Sums {
  /** For each query, what it receives from all keys, all planes together. */
  received: Float64Array;
  /** For each key, what it gives to all queries, all planes together. */
  gifts: Float64Array;
  /** Where the greatest number is; -1 among none. */
  peak: number;
  /** How many numbers are not zero. */
  present: number;
}

export function sumsOf(values: Float32Array, queries: number, keys: number): Sums {
  const received = new Float64Array(queries);
  const gifts = new Float64Array(keys);
  let [peak, top, present] = [values.length > 0 ? 0 : -1, values[0] ?? 0, 0];
  for (let at = 0, query = 0; at < values.length; query = (query + 1) % queries) {
    let row = 0;
    for (let key = 0; key < keys; key++, at++) {
      const value = values[at];
      if (value === 0) continue;
      present++;
      row += value;
      gifts[key] += value;
      if (value > top) {
        top = value;
        peak = at;
      }
    }
    received[query] += row;
  }
  return { received, gifts, peak, present };
}

/** Numbers without their signs; the numbers themselves where none can be negative. */
export function sizesOf(values: Float32Array, { signed }: { signed: boolean }): Float32Array {
  return signed ? values.map(Math.abs) : values;
}

/** Some planes of an array, one after the other. */
export function planes(values: Float32Array, size: number, chosen: number[]): Float32Array {
  const picked = new Float32Array(size * chosen.length);
  chosen.forEach((plane, index) => {
    picked.set(values.subarray(plane * size, (plane + 1) * size), index * size);
  });
  return picked;
}

/** For each query, what it receives from all keys together [plane query key -> query]. */
export function received(values: Float32Array, queries: number, keys: number): Float64Array {
  return sumsOf(values, queries, keys).received;
}

/** For each key, what it gives to all queries together [plane query key -> key]. */
export function given(values: Float32Array, keys: number): Float64Array {
  const totals = new Float64Array(keys);
  for (let at = 0; at < values.length; at++) totals[at % keys] += values[at];
  return totals;
}

/** What one query receives from each key, all planes together. */
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

/** What one key gives to each query, all planes together. */
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

/** Each number as a share of their sum; all zero where there is nothing to share. */
export function shares(values: ArrayLike<number>): number[] {
  const whole = total(values);
  return Array.from(values, (value) => (whole > 0 ? value / whole : 0));
}

/** The places of the numbers, greatest first; equal numbers keep their order. */
export function rank(values: ArrayLike<number>): number[] {
  return Array.from(values, (_, place) => place).sort((a, b) => values[b] - values[a] || a - b);
}

/** The place of the greatest number; the first of equals, or -1 among none. */
export function greatest(values: ArrayLike<number>): number {
  let best = values.length > 0 ? 0 : -1;
  for (let place = 1; place < values.length; place++) {
    if (values[place] > values[best]) best = place;
  }
  return best;
}

export function total(values: ArrayLike<number>): number {
  let sum = 0;
  for (let place = 0; place < values.length; place++) sum += values[place];
  return sum;
}

/** All planes added up. */
export function summed(values: Float32Array, size: number): Float32Array {
  const sum = new Float32Array(size);
  for (let start = 0; start < values.length; start += size) {
    for (let at = 0; at < size; at++) sum[at] += values[start + at];
  }
  return sum;
}

/** The greatest number, or 0 among none; also of very many. */
export function most(values: ArrayLike<number>): number {
  return values.length > 0 ? values[greatest(values)] : 0;
}

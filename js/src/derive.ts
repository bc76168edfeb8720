/** Arithmetic on measures that have arrived. Arrays are flat, with the axes named in order. */

/** `weighted-norm` [head query key]: each weight [head query key] times its key's norm [head key]. */
export function product(weights: Float32Array, norms: Float32Array, keys: number): Float32Array {
  const heads = norms.length / keys;
  const plane = weights.length / heads;
  return weights.map((weight, at) => weight * norms[Math.floor(at / plane) * keys + (at % keys)]);
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
  const totals = new Float64Array(queries);
  for (let at = 0; at < values.length; at++) totals[Math.floor(at / keys) % queries] += values[at];
  return totals;
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

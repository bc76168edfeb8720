/** Selects the largest of many values, until they cover enough of the sum. */

/** The selection: all values from `above` on, and an even sample of those between `from` and `above`. */
export interface Cutoff {
  above: number;
  from: number;
  sample: number;
}

/** The upper bits of a positive float sort like its value, so they serve as bins: 16 per octave. */
const SHIFT = 19;
const BINS = 1 << (32 - SHIFT - 1);

/** The cutoff at which `share` of the sum is covered by at most `limit` values, in linear time. */
export function cutoffFor(values: Float32Array, share: number, limit: number): Cutoff {
  const { counts, masses, sum } = histogramOf(values);
  let mass = share * sum;
  let room = limit;
  for (let bin = BINS - 1; bin >= 0; bin--) {
    if (counts[bin] === 0) continue;
    const sample = Math.min(mass / masses[bin], room / counts[bin], 1);
    if (sample < 1) return { above: binEdge(bin + 1), from: binEdge(bin), sample };
    mass -= masses[bin];
    room -= counts[bin];
    if (mass <= 1e-9 * sum || room <= 0)
      return { above: binEdge(bin), from: binEdge(bin), sample: 0 };
  }
  return { above: 0, from: 0, sample: 0 };
}

/** A test for each value in order; it samples evenly, not at random. */
export function filterFor({ above, from, sample }: Cutoff): (value: number) => boolean {
  let due = 0.5;
  return (value) => {
    if (value >= above) return value > 0;
    if (value < from) return false;
    due += sample;
    if (due < 1) return false;
    due -= 1;
    return true;
  };
}

function histogramOf(values: Float32Array): {
  counts: Uint32Array;
  masses: Float64Array;
  sum: number;
} {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const counts = new Uint32Array(BINS);
  const masses = new Float64Array(BINS);
  let sum = 0;
  for (let at = 0; at < values.length; at++) {
    if (!(values[at] > 0)) continue;
    const bin = bits[at] >>> SHIFT;
    counts[bin] += 1;
    masses[bin] += values[at];
    sum += values[at];
  }
  return { counts, masses, sum };
}

/** The smallest float of a bin. */
function binEdge(bin: number): number {
  return new Float32Array(new Uint32Array([bin << SHIFT]).buffer)[0];
}

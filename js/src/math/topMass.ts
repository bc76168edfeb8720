/** Which of very many numbers to draw: the strongest, until enough of their sum is covered. */

/** Which numbers are in: all from `above` on, and an even sample of those between `from` and it. */
export interface Cut {
  above: number;
  from: number;
  sample: number;
}

/** A positive float's upper bits sort as the number does, so they serve as bins: 16 per octave. */
const SHIFT = 19;
const BINS = 1 << (32 - SHIFT - 1);

/** Where to cut so that `share` of the sum is covered by at most `limit` numbers, in linear time. */
export function cut(values: Float32Array, share: number, limit: number): Cut {
  const { counts, masses, sum } = bins(values);
  let mass = share * sum;
  let room = limit;
  for (let bin = BINS - 1; bin >= 0; bin--) {
    if (counts[bin] === 0) continue;
    const sample = Math.min(mass / masses[bin], room / counts[bin], 1);
    if (sample < 1) return { above: edge(bin + 1), from: edge(bin), sample };
    mass -= masses[bin];
    room -= counts[bin];
    if (mass <= 1e-9 * sum || room <= 0) return { above: edge(bin), from: edge(bin), sample: 0 };
  }
  return { above: 0, from: 0, sample: 0 };
}

/** A test to put every number to, in order; it samples evenly rather than at random. */
export function sieve({ above, from, sample }: Cut): (value: number) => boolean {
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

function bins(values: Float32Array): { counts: Uint32Array; masses: Float64Array; sum: number } {
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

/** The least float of a bin. */
function edge(bin: number): number {
  return new Float32Array(new Uint32Array([bin << SHIFT]).buffer)[0];
}

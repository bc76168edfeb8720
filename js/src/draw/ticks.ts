/** Axis ticks, and labels that do not overlap. */

/** Round numbers from `low` to `high`, about `count` of them. */
export function linearTicks(low: number, high: number, count: number): number[] {
  const step = roundStep((high - low) / Math.max(1, count));
  if (!(step > 0) || !Number.isFinite(step)) return [low];
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, at) => roundOff((first + at) * step));
}

/** The smallest of 1, 2 or 5 times a power of ten that is not below a size. */
export function roundStep(size: number): number {
  if (!(size > 0)) return 0;
  const power = 10 ** Math.floor(Math.log10(size));
  return roundOff(([1, 2, 5].find((part) => part * power >= size * (1 - 1e-9)) ?? 10) * power);
}

/** Powers of ten between two positive numbers; with 2 and 5 between them if they are few. */
export function logTicks(low: number, high: number): number[] {
  const parts = Math.log10(high / low) > 2.5 ? [1] : [1, 2, 5];
  const first = Math.floor(Math.log10(low));
  const last = Math.ceil(Math.log10(high));
  const ticks: number[] = [];
  for (let power = first; power <= last; power++) {
    for (const part of parts) ticks.push(roundOff(part * 10 ** power));
  }
  return ticks.filter((tick) => tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9));
}

/** A number without binary rounding errors. */
function roundOff(value: number): number {
  return Number(value.toPrecision(12));
}

/**
 * Positions as near as possible to the wanted ones, `gap` apart, in the same order, within bounds.
 *
 * Labels that would touch move apart together, so that their middle stays in place.
 */
export function spreadLabels(
  positions: number[],
  gap: number,
  low: number,
  high: number,
): number[] {
  const order = positions.map((_, at) => at).sort((a, b) => positions[a] - positions[b] || a - b);
  const space = Math.min(gap, positions.length > 1 ? (high - low) / (positions.length - 1) : gap);
  const groups: { sum: number; size: number }[] = [];
  order.forEach((at, rank) => {
    // The position of the group's first label if the group is packed.
    let group = { sum: positions[at] - rank * space, size: 1 };
    let above = groups.at(-1);
    while (above && above.sum / above.size >= group.sum / group.size) {
      group = { sum: above.sum + group.sum, size: above.size + group.size };
      groups.pop();
      above = groups.at(-1);
    }
    groups.push(group);
  });
  const bases = groups.flatMap(({ sum, size }) => new Array<number>(size).fill(sum / size));
  const top = high - (positions.length - 1) * space;
  const spread = new Array<number>(positions.length);
  order.forEach((at, rank) => {
    spread[at] = Math.min(top, Math.max(low, bases[rank])) + rank * space;
  });
  return spread;
}

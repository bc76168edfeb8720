/** How many pixels of a canvas lie on one of CSS: the screen's own, or more for paper. */

let wanted: number | null = null;

export function density(): number {
  return wanted ?? (window.devicePixelRatio || 1);
}

/** Do some drawing at another density. */
export function atDensity<T>(ratio: number, work: () => T): T {
  wanted = ratio;
  try {
    return work();
  } finally {
    wanted = null;
  }
}

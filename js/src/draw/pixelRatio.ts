/** The number of canvas pixels per CSS pixel: the screen's, or more for files. */

let override: number | null = null;

export function pixelRatio(): number {
  return override ?? (window.devicePixelRatio || 1);
}

/** Draw at another pixel ratio. */
export function withPixelRatio<T>(ratio: number, work: () => T): T {
  override = ratio;
  try {
    return work();
  } finally {
    override = null;
  }
}

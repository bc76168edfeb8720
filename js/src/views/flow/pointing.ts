/** Which ribbon the pointer is on, and what it says. */

import type { Picture } from "../../data/layer";
import { type Ribbon, sizeAt } from "../../data/ribbons";
import { formatPercent } from "../../draw/colors";
import { formatSignedNumber } from "../../draw/signedCells";
import { quote } from "../../words/describe";

/** How far from a ribbon's edge the pointer may be, in pixels. */
const NEAR = 3;

/** The ribbon at a point, between the edges of the columns; the one on top if there are several. */
export function ribbonAt(
  ribbons: Ribbon[],
  { left, right }: { left: number; right: number },
  x: number,
  y: number,
): Ribbon | null {
  const part = (x - left) / (right - left);
  if (!(part >= 0 && part <= 1)) return null;
  const climb = climbAt(part);
  const distance = ({ from, to, width }: Ribbon) =>
    Math.max(0, Math.abs(from + (to - from) * climb - y) - width / 2);
  const least = ribbons.reduce((best, ribbon) => Math.min(best, distance(ribbon)), NEAR);
  return ribbons.filter((ribbon) => distance(ribbon) <= least).at(-1) ?? null;
}

/** How far a ribbon has climbed, as a fraction, where it has come this far across. */
export function climbAt(across: number): number {
  // Both coordinates of the curve depend on one parameter; across grows with it.
  let [low, high] = [0, 1];
  for (let step = 0; step < 20; step++) {
    const middle = (low + high) / 2;
    const reached = 1.5 * middle * (1 - middle) + middle ** 3;
    if (reached < across) low = middle;
    else high = middle;
  }
  return 3 * low ** 2 - 2 * low ** 3;
}

/** From which token to which, through which head, how much, and which share. */
export function ribbonText(picture: Picture, ribbon: Ribbon): string {
  const { rows, strands, measure, received } = picture;
  const strand = strands[ribbon.plane];
  const size = sizeAt(picture, ribbon.plane, ribbon.query, ribbon.key);
  const value = strand === "below" ? -size : size;
  const from = quote(rows.key.labels[ribbon.key]);
  const to = quote(rows.query.labels[ribbon.query]);
  const head = typeof strand === "number" ? `, head ${strand}` : "";
  const share = received[ribbon.query] > 0 ? size / received[ribbon.query] : 0;
  return (
    `${from} → ${to}${head}: ${measure.label} ${formatSignedNumber(value)}, ` +
    `${formatPercent(share)} of what ${to} takes`
  );
}

/** Marks on a canvas; where they go was decided by the layout. */

import { type Bar, curve, middle, type Ribbon } from "../../data/ribbons";
import type { Pen } from "../../draw/pen";
import { density } from "../../draw/pixelRatio";

/** How solid a mark is: among all others, and when it is brought out. */
export const AMONG = 0.75;
export const ALONE = 1;

/** The tallest picture that every browser's canvas can hold, in device pixels. */
const TALLEST = 16000;

/** A canvas of this size in CSS pixels, wiped, or null where the browser refuses to draw. */
export function sheet(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
): CanvasRenderingContext2D | null {
  const ratio = Math.min(density(), TALLEST / Math.max(1, height));
  const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
  const context = canvas.getContext("2d");
  if (canvas.width === across && canvas.height === down) {
    context?.clearRect(0, 0, width, height); // a new sheet would cost new memory
    return context;
  }
  canvas.width = across;
  canvas.height = down;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  context?.scale(ratio, ratio);
  return context;
}

/** Ribbons between two columns, the last on top. */
export function paintRibbons(
  context: Pen,
  ribbons: Ribbon[],
  { left, right }: { left: number; right: number },
  colors: string[],
  solidity: number,
): void {
  context.globalAlpha = solidity;
  for (const { plane, width, from, to } of ribbons) {
    const [x, y, ...rest] = curve(left, from, right, to);
    context.beginPath();
    context.moveTo(x, y);
    context.bezierCurveTo(...rest);
    context.lineWidth = width;
    context.strokeStyle = colors[plane];
    context.stroke();
  }
  context.globalAlpha = 1;
}

/** Bars that grow from `base` by `reach`, to the left where that is negative. */
export function paintBars(
  context: Pen,
  bars: Bar[],
  { base, reach, pitch }: { base: number; reach: number; pitch: number },
  colors: string[],
): void {
  const height = Math.max(2, Math.round(pitch * 0.4));
  context.globalAlpha = AMONG;
  for (const { plane, key, start, end } of bars) {
    context.fillStyle = colors[plane];
    context.fillRect(
      base + start * reach,
      middle(key, pitch) - height / 2,
      (end - start) * reach,
      height,
    );
  }
  context.globalAlpha = 1;
}

/** Paints marks on a canvas, at positions computed by the layout. */

import { type Bar, curveBetween, middle, type Ribbon } from "../../data/ribbons";
import type { Pen } from "../../draw/pen";
import { pixelRatio } from "../../draw/pixelRatio";

/** The opacity of a mark: among all others, and when highlighted. */
export const AMONG = 0.8;
export const ALONE = 1;

/** The tallest canvas that every browser supports, in device pixels. */
const TALLEST = 16000;

/** The context of an empty canvas of this size in CSS pixels, or null if there is none. */
export function prepareCanvas(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
): CanvasRenderingContext2D | null {
  const ratio = Math.min(pixelRatio(), TALLEST / Math.max(1, height));
  const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
  const context = canvas.getContext("2d");
  if (canvas.width === across && canvas.height === down) {
    context?.clearRect(0, 0, width, height); // resizing would allocate new memory
    return context;
  }
  canvas.width = across;
  canvas.height = down;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  context?.scale(ratio, ratio);
  return context;
}

/** The opacity of the narrowest ribbon, as a fraction of that of the widest. */
const FAINT = 0.3;

/** Paint ribbons between two columns, the last and widest on top and most solid. */
export function paintRibbons(
  context: Pen,
  ribbons: Ribbon[],
  { left, right }: { left: number; right: number },
  colors: string[],
  solidity: number,
): void {
  const widest = ribbons.at(-1)?.width ?? 1;
  for (const { plane, width, from, to } of ribbons) {
    context.globalAlpha = solidity * (FAINT + (1 - FAINT) * Math.sqrt(Math.min(1, width / widest)));
    const [x, y, ...rest] = curveBetween(left, from, right, to);
    context.beginPath();
    context.moveTo(x, y);
    context.bezierCurveTo(...rest);
    context.lineWidth = width;
    context.strokeStyle = colors[plane];
    context.stroke();
  }
  context.globalAlpha = 1;
}

/** Paint bars from `base` with length `reach`, to the left if that is negative. */
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

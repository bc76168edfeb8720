/** A strip beside a long figure that shows the whole of it; click or drag to scroll. */

import type { Palette } from "../../draw/colors";
import { element } from "../../draw/dom";
import { prepareCanvas } from "./paint";

/** Its width in pixels; the same in the style sheet. */
export const STRIP = 22;

/** Paints the whole figure in the width of the strip and this height. */
export type PaintWhole = (context: CanvasRenderingContext2D, height: number) => void;

export interface ScrollStrip {
  node: HTMLElement;
  show(paintWhole: PaintWhole, palette: Palette): void;
}

/** A strip for a figure that scrolls; hidden if everything is visible. */
export function scrollStrip(figure: HTMLElement, signal: AbortSignal): ScrollStrip {
  const canvas = element("canvas", { class: "nv-strip", "aria-hidden": "true" });
  let shown: { paintWhole: PaintWhole; palette: Palette } | null = null;
  const paint = (): void => {
    const { scrollHeight, clientHeight, scrollTop } = figure;
    canvas.hidden = scrollHeight <= clientHeight + 1;
    if (canvas.hidden || !shown) return;
    const context = prepareCanvas(canvas, STRIP, clientHeight);
    if (!context) return;
    shown.paintWhole(context, clientHeight);
    context.strokeStyle = shown.palette.ink;
    const scale = clientHeight / scrollHeight;
    context.strokeRect(0.5, scrollTop * scale + 0.5, STRIP - 1, clientHeight * scale - 1);
  };
  const go = (event: PointerEvent): void => {
    if (event.buttons === 0 && event.type !== "pointerdown") return;
    const { top, height } = canvas.getBoundingClientRect();
    const part = (event.clientY - top) / height;
    figure.scrollTop = part * figure.scrollHeight - figure.clientHeight / 2;
  };
  figure.addEventListener("scroll", paint, { signal, passive: true });
  canvas.addEventListener("pointerdown", go, { signal });
  canvas.addEventListener("pointermove", go, { signal });
  const show = (paintWhole: PaintWhole, palette: Palette): void => {
    shown = { paintWhole, palette };
    paint();
  };
  return { node: canvas, show };
}

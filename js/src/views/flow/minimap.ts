/** A minimap of a long text; click or drag to scroll. */

import { meanNorms, type Picture } from "../../data/layer";
import { measureColor, type Palette } from "../../draw/colors";
import { element } from "../../draw/dom";
import { maxOf } from "../../math/arrays";
import { prepareCanvas } from "../shared/paint";

const WIDTH = 22;

export interface Minimap {
  node: HTMLElement;
  show(picture: Picture, palette: Palette): void;
}

/** A minimap for a figure that scrolls; hidden if everything is visible. */
export function minimap(figure: HTMLElement, signal: AbortSignal): Minimap {
  const canvas = element("canvas", { class: "nv-strip", "aria-hidden": "true" });
  let shown: { picture: Picture; palette: Palette } | null = null;
  const paint = (): void => {
    const { scrollHeight, clientHeight, scrollTop } = figure;
    canvas.hidden = scrollHeight <= clientHeight + 1;
    if (canvas.hidden || !shown) return;
    const context = prepareCanvas(canvas, WIDTH, clientHeight);
    if (!context) return;
    paintRows(context, shown.picture, shown.palette, clientHeight);
    context.strokeStyle = shown.palette.ink;
    const scale = clientHeight / scrollHeight;
    context.strokeRect(0.5, scrollTop * scale + 0.5, WIDTH - 1, clientHeight * scale - 1);
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
  const show = (picture: Picture, palette: Palette): void => {
    shown = { picture, palette };
    paint();
  };
  return { node: canvas, show };
}

/** Paint what each key gives on the left, and what each query receives on the right. */
function paintRows(
  context: CanvasRenderingContext2D,
  picture: Picture,
  palette: Palette,
  height: number,
): void {
  const { keys, queries, received, norms, measure } = picture;
  const given = norms ? meanNorms(norms, keys) : picture.given;
  const pitch = height / Math.max(keys, queries);
  context.fillStyle = measure.signed ? palette.soft : measureColor(measure, palette);
  for (const [amounts, left] of [
    [given, 2],
    [received, WIDTH / 2 + 1],
  ] as const) {
    const top = maxOf(amounts) || 1;
    amounts.forEach((amount, row) => {
      const length = (amount / top) * (WIDTH / 2 - 3);
      context.fillRect(left, row * pitch, length, Math.max(1, pitch * 0.8));
    });
  }
}

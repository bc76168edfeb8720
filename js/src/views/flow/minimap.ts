/** A minimap of a long text; click or drag to scroll. */

import { meanNorms, type Picture } from "../../data/layer";
import { measureColor, type Palette } from "../../draw/colors";
import { maxOf } from "../../math/arrays";
import { STRIP, scrollStrip } from "../shared/scrollStrip";

export interface Minimap {
  node: HTMLElement;
  show(picture: Picture, palette: Palette): void;
}

/** A minimap for a figure that scrolls; hidden if everything is visible. */
export function minimap(figure: HTMLElement, signal: AbortSignal): Minimap {
  const strip = scrollStrip(figure, signal);
  const show = (picture: Picture, palette: Palette): void =>
    strip.show((context, height) => paintRows(context, picture, palette, height), palette);
  return { node: strip.node, show };
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
    [received, STRIP / 2 + 1],
  ] as const) {
    const top = maxOf(amounts) || 1;
    amounts.forEach((amount, row) => {
      const length = (amount / top) * (STRIP / 2 - 3);
      context.fillRect(left, row * pitch, length, Math.max(1, pitch * 0.8));
    });
  }
}

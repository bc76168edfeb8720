/** Pixels: a canvas as a picture inside a figure, and a figure as a picture. */

import type { Box } from "./place";

/** The part of a canvas that is seen, as the address of a PNG; null where it is blank. */
export function pictureOf(canvas: HTMLCanvasElement, seen: Box): string | null {
  const { left, top, width, height } = canvas.getBoundingClientRect();
  if (canvas.width === 0 || canvas.height === 0 || width === 0 || height === 0) return null;
  const [across, down] = [canvas.width / width, canvas.height / height];
  const part = document.createElement("canvas");
  part.width = Math.max(1, Math.round((seen.right - seen.left) * across));
  part.height = Math.max(1, Math.round((seen.bottom - seen.top) * down));
  const context = part.getContext("2d");
  if (!context) return null;
  context.drawImage(canvas, (left - seen.left) * across, (top - seen.top) * down);
  const { data } = context.getImageData(0, 0, part.width, part.height);
  const isBlank = !new Uint32Array(data.buffer).some((pixel) => pixel !== 0);
  return isBlank ? null : part.toDataURL("image/png");
}

/** How many pixels of a saved picture lie on one of the screen, and the most there may be. */
const SHARP = 2;
const MOST = 64e6;

/** A figure as a PNG. */
export async function pngOf(figure: { svg: string; width: number; height: number }): Promise<Blob> {
  const { svg, width, height } = figure;
  const sharp = Math.min(SHARP, Math.sqrt(MOST / (width * height)));
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(width * sharp);
  canvas.height = Math.round(height * sharp);
  const context = canvas.getContext("2d");
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  try {
    await image.decode();
  } catch {
    throw new Error("This page may not draw it as a PNG here; it can be saved as an SVG.");
  }
  context?.drawImage(image, 0, 0, canvas.width, canvas.height);
  const made = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
  if (!context || !made) throw new Error("This browser refuses to draw it as a PNG.");
  return made;
}

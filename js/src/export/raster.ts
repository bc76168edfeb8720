/** Pixels: a canvas as an image in a figure, and a figure as a PNG. */

import type { Box } from "./geometry";

/** The visible part of a canvas as a PNG data URL; null if it is blank. */
export function imageOf(canvas: HTMLCanvasElement, seen: Box): string | null {
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

/** The pixel ratio of a saved PNG, and the most pixels it may have. */
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
    throw new Error("This page does not allow PNG export. Save it as SVG instead.");
  }
  context?.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
  if (!context || !blob) throw new Error("This browser cannot export a PNG.");
  return blob;
}

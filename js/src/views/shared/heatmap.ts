/** A field of cells on a canvas: one pixel per cell, enlarged without blur. */

import { contrast, type Palette } from "../../draw/colors";
import { heatOf, type Rgb } from "../../draw/heat";
import { formatSignedNumber, formatSignedPercent } from "../../draw/signedCells";
import { type CellField, sizeOf, type Viewport } from "../../draw/viewport";
import { type Cells, poolCells } from "./cells";

/** The cell sizes from which lines separate cells, and from which numbers fit. */
const LINED = 9;
const NUMBERED = { wide: 38, tall: 15 };

/** The opacity of the cover over everything out of focus. */
const COVER = 0.78;

type Context = CanvasRenderingContext2D;

/** How many cells share a device pixel, along each axis. */
export function blockOf({ wide, tall }: CellField, { zoom }: Viewport, ratio: number) {
  const share = (size: number) => Math.max(1, Math.ceil(1 / (size * zoom * ratio) - 1e-6));
  return { rows: share(tall), columns: share(wide) };
}

/** One pixel per block of cells; null if the browser provides no canvas. */
export function imageOf(
  depths: Float32Array,
  columns: number,
  block: { rows: number; columns: number },
  color: (part: number) => Rgb,
): HTMLCanvasElement | null {
  const field = poolCells(depths, columns, block);
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, field.columns);
  canvas.height = Math.max(1, field.rows);
  const context = canvas.getContext("2d");
  if (!context) return null;
  const image = context.createImageData(canvas.width, canvas.height);
  field.values.forEach((depth, at) => {
    if (Number.isNaN(depth)) return;
    const [red, green, blue] = color(depth);
    image.data[4 * at] = red;
    image.data[4 * at + 1] = green;
    image.data[4 * at + 2] = blue;
    image.data[4 * at + 3] = 255;
  });
  context.putImageData(image, 0, 0);
  return canvas;
}

/** Paint the visible part of the image. */
export function paintField(
  context: Context,
  image: HTMLCanvasElement,
  block: { rows: number; columns: number },
  room: CellField,
  port: Viewport,
  { paper }: Palette,
): void {
  const [wide, tall] = [room.wide * port.zoom, room.tall * port.zoom];
  const { width, height } = sizeOf(room);
  context.imageSmoothingEnabled = false;
  context.drawImage(
    image,
    -port.left * wide,
    -port.top * tall,
    image.width * block.columns * wide,
    image.height * block.rows * tall,
  );
  if (Math.min(wide, tall) < LINED) return;
  context.fillStyle = paper;
  for (let at = Math.ceil(port.left); at * wide < port.left * wide + width; at++) {
    context.fillRect(Math.round((at - port.left) * wide) - 0.5, 0, 1, height);
  }
  for (let at = Math.ceil(port.top); at * tall < port.top * tall + height; at++) {
    context.fillRect(0, Math.round((at - port.top) * tall) - 0.5, width, 1);
  }
}

/** Paint the numbers in the cells, if they fit. */
export function paintNumbers(
  context: Context,
  { cells, depths }: { cells: Cells; depths: Float32Array },
  room: CellField,
  port: Viewport,
  palette: Palette,
): void {
  const [wide, tall] = [room.wide * port.zoom, room.tall * port.zoom];
  if (wide < NUMBERED.wide || tall < NUMBERED.tall) return;
  const color = heatOf(cells.picture.measure, palette);
  context.font = "10px system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "middle";
  const seen = (first: number, count: number) =>
    Array.from({ length: Math.ceil(count / port.zoom) + 1 }, (_, at) => Math.floor(first) + at);
  for (const row of seen(port.top, room.rows)) {
    for (const column of seen(port.left, room.columns)) {
      const at = row * room.columns + column;
      if (row >= room.rows || column >= room.columns || Number.isNaN(depths[at])) continue;
      context.fillStyle = legible(color(depths[at]), palette);
      context.fillText(
        textOf(cells, row, at),
        (column + 0.5 - port.left) * wide,
        (row + 0.5 - port.top) * tall,
      );
    }
  }
}

/** A cell's value, or its share if rows are divided by their sum. */
function textOf({ values, wholes, isDivided }: Cells, row: number, at: number): string {
  return isDivided
    ? formatSignedPercent(values[at] / (wholes[row] || 1))
    : formatSignedNumber(values[at]);
}

/** Ink or paper, whichever has more contrast. */
function legible(color: readonly number[], { ink, paper }: Palette): string {
  const hex = `#${color.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
  return contrast(hex, ink) >= contrast(hex, paper) ? ink : paper;
}

/** The row and column in focus. */
export interface Aim {
  row: number | null;
  column: number | null;
}

/** Cover all but a row and a column; frame the cell where they cross. */
export function paintAim(
  context: Context,
  { row, column }: Aim,
  room: CellField,
  port: Viewport,
  { paper, ink }: Palette,
): void {
  if (row === null && column === null) return;
  const { width, height } = sizeOf(room);
  const rows = bandsAround(row, port.top, room.tall * port.zoom, height);
  const columns = bandsAround(column, port.left, room.wide * port.zoom, width);
  context.fillStyle = paper;
  context.globalAlpha = COVER;
  for (const [top, bottom] of rows) {
    for (const [left, right] of columns) context.fillRect(left, top, right - left, bottom - top);
  }
  context.globalAlpha = 1;
  if (row === null || column === null) return;
  const [wide, tall] = [room.wide * port.zoom, room.tall * port.zoom];
  context.strokeStyle = ink;
  context.lineWidth = 1.5;
  context.strokeRect((column - port.left) * wide, (row - port.top) * tall, wide, tall);
}

/** The ranges before and after a line; everything if there is none. */
function bandsAround(line: number | null, first: number, size: number, whole: number): Band[] {
  if (line === null) return [[0, whole]];
  const [start, end] = [(line - first) * size, (line + 1 - first) * size];
  return [
    [0, Math.min(whole, Math.max(0, start))],
    [Math.min(whole, Math.max(0, end)), whole],
  ];
}

type Band = [from: number, to: number];

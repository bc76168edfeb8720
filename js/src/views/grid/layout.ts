/** The layout of the thumbnails, and their pixels. */

import { gapsOf } from "../../data/otherLayers";
import type { Rgb } from "../../draw/heat";
import type { Band, Thumb, Thumbs } from "./thumbs";

/** The height in pixels beyond which the board scrolls. */
const HEIGHT = 690;

const LEAST = 22;
const MOST = 72;
/** Thumbnails shrink to this size to fit the height; further only to fit the width. */
const COSY = 36;

const GAP = 4;
/** The rim of a colored tile, and the gap between tiles. */
export const RIM = 3;
const LOOSE = 2 * RIM + 3;
const CAPTION = 14;
/** The width of a caption such as `11·11 0.62`. */
const WORDS = 62;

/** The space for headings in the model's order: layers to the left, heads above. */
const GUTTER = 38;
const HEADING = 36;

/** The height of a row for layers without attention. */
export const THIN_ROW = 22;

/** The layout of the board, in CSS pixels. */
export interface Board {
  /** The number of columns. */
  across: number;
  /** The width and height of one thumbnail. */
  size: number;
  tall: number;
  /** The distance from one to the next. */
  pitch: { across: number; down: number };
  gutter: number;
  heading: number;
  width: number;
  height: number;
  /** For each thin row, how many rows of thumbnails are above it. */
  thin: number[];
}

export interface BoardSpace {
  width: number;
  /** Device pixels for each pixel of CSS. */
  ratio: number;
  isSorted: boolean;
}

/** The largest thumbnails that are all visible, or else the smallest legible ones. */
export function boardFor(thumbs: Thumbs, room: BoardSpace): Board {
  return room.isSorted ? sortedBoard(thumbs, room) : modelBoard(thumbs, room);
}

/** Layers down, heads across. */
function modelBoard(thumbs: Thumbs, { width, ratio }: BoardSpace): Board {
  const across = thumbs.heads.length;
  const down = thumbs.stream.layers.length;
  const below = thumbs.compared ? CAPTION : 0;
  const gap = gapOf(thumbs);
  const wide = Math.floor((width - GUTTER) / across) - gap;
  const thin = gapsOf(thumbs.stream).map(({ before }) => before);
  const high = Math.floor((HEIGHT - HEADING - thin.length * THIN_ROW) / down) - gap - below;
  const size = snapToPixels(clampSize(Math.min(wide, Math.max(high, COSY))), thumbs.columns, ratio);
  const least = across === 1 ? MOST : 0;
  const edges = { gutter: GUTTER, heading: HEADING };
  return boardOf(thumbs, { across, size, down, below, least, thin, ...edges });
}

/** One after the other, each with its name. */
function sortedBoard(thumbs: Thumbs, { width, ratio }: BoardSpace): Board {
  const { length } = thumbs.thumbs;
  const gap = gapOf(thumbs);
  const rim = thumbs.coloring ? RIM : 0;
  const at = (size: number): Board => {
    const exact = snapToPixels(size, thumbs.columns, ratio);
    const across = Math.max(1, Math.floor((width + GAP) / Math.max(exact + gap, WORDS + rim)));
    const down = Math.ceil(length / across);
    const rest = { below: CAPTION, least: WORDS + rim, gutter: rim, heading: rim, thin: [] };
    return boardOf(thumbs, { across, size: exact, down, ...rest });
  };
  for (let size = MOST; size > COSY; size--) {
    const board = at(size);
    if (board.height <= HEIGHT) return board;
  }
  return at(COSY);
}

interface Sizes {
  across: number;
  down: number;
  size: number;
  below: number;
  least: number;
  gutter: number;
  heading: number;
  thin: number[];
}

function boardOf(thumbs: Thumbs, sizes: Sizes): Board {
  const { across, down, size, below, least, gutter, heading, thin } = sizes;
  // Without queries a thumbnail is one row of cells.
  const tall = thumbs.hasQuery ? size : Math.min(20, Math.max(8, Math.round(size / 3)));
  const pitch = {
    across: Math.max(Math.ceil(size) + gapOf(thumbs), least),
    down: Math.ceil(tall) + gapOf(thumbs) + below,
  };
  const width = gutter + across * pitch.across;
  const height = heading + down * pitch.down + thin.length * THIN_ROW;
  return { across, size, tall, pitch, gutter, heading, width, height, thin };
}

/** The gap between two thumbnails. */
function gapOf({ coloring }: Thumbs): number {
  return coloring ? LOOSE : GAP;
}

function clampSize(size: number): number {
  return Math.min(MOST, Math.max(LEAST, size));
}

/** A size at which every cell has the same number of device pixels, if it is close. */
export function snapToPixels(size: number, cells: number, ratio: number): number {
  const exact = (Math.floor((size * ratio) / cells) * cells) / ratio;
  return exact >= LEAST && exact >= 0.75 * size ? exact : size;
}

/** The upper left corner of a thumbnail, by its index. */
export function cornerOf({ across, pitch, gutter, heading, thin }: Board, place: number) {
  const row = Math.floor(place / across);
  const above = thin.filter((before) => before <= row).length;
  return {
    x: gutter + (place % across) * pitch.across,
    y: heading + row * pitch.down + above * THIN_ROW,
  };
}

/** The tile under a thumbnail and its number. */
export function tileOf(board: Board, place: number) {
  const { x, y } = cornerOf(board, place);
  const [width, height] = [board.pitch.across, board.pitch.down].map((pitch) => pitch - RIM);
  return { x: x - RIM, y: y - RIM, width, height };
}

/** The pixels of a thumbnail, four bytes each. */
export function pixelsOf(
  { values, top }: Thumb,
  { rows, columns, threshold }: Thumbs,
  { width, height }: { width: number; height: number },
  color: (part: number) => Rgb,
): Uint8ClampedArray<ArrayBuffer> {
  const pixels = new Uint8ClampedArray(width * height * 4);
  const cells = Array.from(values, (value) =>
    color(Math.abs(value) / top >= threshold ? value / top : 0),
  );
  for (let y = 0; y < height; y++) {
    const row = Math.floor((y * rows) / height) * columns;
    for (let x = 0; x < width; x++) {
      const [red, green, blue] = cells[row + Math.floor((x * columns) / width)];
      const at = (y * width + x) * 4;
      pixels[at] = red;
      pixels[at + 1] = green;
      pixels[at + 2] = blue;
      pixels[at + 3] = 255;
    }
  }
  return pixels;
}

/** The two parts of a thumbnail outside a band, as x y width height. */
export function outsideBand(
  { role, cell }: Band,
  { rows, columns }: Pick<Thumbs, "rows" | "columns">,
  { size, tall }: Pick<Board, "size" | "tall">,
): [number, number, number, number][] {
  if (role === "query") {
    const [from, to] = [(cell / rows) * tall, ((cell + 1) / rows) * tall];
    return [
      [0, 0, size, from],
      [0, to, size, tall - to],
    ];
  }
  const [from, to] = [(cell / columns) * size, ((cell + 1) / columns) * size];
  return [
    [0, 0, from, tall],
    [to, 0, size - to, tall],
  ];
}

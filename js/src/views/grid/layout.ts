/** Where the small pictures go, how large they are, and their pixels. */

import type { Rgb } from "../../draw/heat";
import type { Band, Thumb, Thumbs } from "./thumbs";

/** The height that all of them should fit before the board scrolls. */
const HEIGHT = 690;

const LEAST = 22;
const MOST = 72;
/** They shrink to this size to be seen all at once; further only where the width demands it. */
const COSY = 36;

const GAP = 4;
/** Around a picture that lies on a colored tile, and between tiles. */
export const RIM = 3;
const LOOSE = 2 * RIM + 3;
const CAPTION = 14;
/** The room that a caption such as `11·11 0.62` takes. */
const WORDS = 62;

/** The headings, in the model's order: the layers' to the left, the heads' above. */
const GUTTER = 38;
const HEADING = 36;

/** Everything about the board, in CSS pixels. */
export interface Board {
  /** How many stand beside each other. */
  across: number;
  /** The width and height of one picture. */
  size: number;
  tall: number;
  /** From one to the next. */
  pitch: { across: number; down: number };
  gutter: number;
  heading: number;
  width: number;
  height: number;
}

export interface Room {
  width: number;
  /** Device pixels for each pixel of CSS. */
  ratio: number;
  isSorted: boolean;
}

/** The largest pictures that can be seen all at once, or else the smallest that are legible. */
export function boardFor(thumbs: Thumbs, room: Room): Board {
  return room.isSorted ? listed(thumbs, room) : ranked(thumbs, room);
}

/** Layers down, heads across. */
function ranked(thumbs: Thumbs, { width, ratio }: Room): Board {
  const across = thumbs.heads.length;
  const down = thumbs.stream.layers.length;
  const below = thumbs.rival ? CAPTION : 0;
  const gap = gapOf(thumbs);
  const wide = Math.floor((width - GUTTER) / across) - gap;
  const high = Math.floor((HEIGHT - HEADING) / down) - gap - below;
  const size = snapped(bounded(Math.min(wide, Math.max(high, COSY))), thumbs.columns, ratio);
  const least = across === 1 ? MOST : 0;
  return placed(thumbs, { across, size, down, below, least, gutter: GUTTER, heading: HEADING });
}

/** One after the other, each under its name. */
function listed(thumbs: Thumbs, { width, ratio }: Room): Board {
  const { length } = thumbs.thumbs;
  const gap = gapOf(thumbs);
  const rim = thumbs.coloring ? RIM : 0;
  const at = (size: number): Board => {
    const exact = snapped(size, thumbs.columns, ratio);
    const across = Math.max(1, Math.floor((width + GAP) / Math.max(exact + gap, WORDS + rim)));
    const down = Math.ceil(length / across);
    const rest = { below: CAPTION, least: WORDS + rim, gutter: rim, heading: rim };
    return placed(thumbs, { across, size: exact, down, ...rest });
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
}

function placed(thumbs: Thumbs, sizes: Sizes): Board {
  const { across, down, size, below, least, gutter, heading } = sizes;
  // Without queries a picture is one row of cells.
  const tall = thumbs.hasQuery ? size : Math.min(20, Math.max(8, Math.round(size / 3)));
  const pitch = {
    across: Math.max(Math.ceil(size) + gapOf(thumbs), least),
    down: Math.ceil(tall) + gapOf(thumbs) + below,
  };
  const width = gutter + across * pitch.across;
  return { across, size, tall, pitch, gutter, heading, width, height: heading + down * pitch.down };
}

/** What lies between two pictures. */
function gapOf({ coloring }: Thumbs): number {
  return coloring ? LOOSE : GAP;
}

function bounded(size: number): number {
  return Math.min(MOST, Math.max(LEAST, size));
}

/** A size that gives every cell the same number of device pixels, if that costs little. */
export function snapped(size: number, cells: number, ratio: number): number {
  const exact = (Math.floor((size * ratio) / cells) * cells) / ratio;
  return exact >= LEAST && exact >= 0.75 * size ? exact : size;
}

/** Where a picture's upper left corner is, by its place in the order. */
export function cornerOf({ across, pitch, gutter, heading }: Board, place: number) {
  return {
    x: gutter + (place % across) * pitch.across,
    y: heading + Math.floor(place / across) * pitch.down,
  };
}

/** The tile under a picture and its number. */
export function tileOf(board: Board, place: number) {
  const { x, y } = cornerOf(board, place);
  const [width, height] = [board.pitch.across, board.pitch.down].map((pitch) => pitch - RIM);
  return { x: x - RIM, y: y - RIM, width, height };
}

/** The pixels of a small picture, four bytes each. */
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

/** The two parts of a picture, before and after a band, as x y width height. */
export function besides(
  { side, cell }: Band,
  { rows, columns }: Pick<Thumbs, "rows" | "columns">,
  { size, tall }: Pick<Board, "size" | "tall">,
): [number, number, number, number][] {
  if (side === "query") {
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

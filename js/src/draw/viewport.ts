/** The part of a large field of cells that is in sight: pure geometry, in pixels and cells. */

/** A field of cells and how large each is when all are in sight. */
export interface Room {
  rows: number;
  columns: number;
  wide: number;
  tall: number;
}

/** How many times larger than when all is in sight, and the cell at the upper left, in parts. */
export interface Port {
  zoom: number;
  left: number;
  top: number;
}

export const WHOLE: Port = { zoom: 1, left: 0, top: 0 };

/** The largest a cell is shown, and the size below which short sides are stretched. */
const LARGEST = { whole: 40, zoomed: 64 };
const STRETCHED = 14;

/** Cells that fill a space: square, but stretched along a side that is much the shorter one. */
export function roomFor(rows: number, columns: number, width: number, height: number): Room {
  const [across, down] = [width / Math.max(1, columns), height / Math.max(1, rows)];
  const side = Math.min(across, down, LARGEST.whole);
  const even = (size: number) => (size >= 4 ? Math.floor(size) : size);
  const fitted = (count: number, other: number, most: number) =>
    even(2 * count <= other ? Math.max(side, Math.min(STRETCHED, most)) : side);
  const [wide, tall] = [fitted(columns, rows, across), fitted(rows, columns, down)];
  return { rows, columns, wide, tall };
}

/** The size of the field in pixels; zooming does not change it. */
export function sizeOf({ rows, columns, wide, tall }: Room): { width: number; height: number } {
  return { width: columns * wide, height: rows * tall };
}

/** How far one can zoom in. */
export function limitOf({ wide, tall }: Room): number {
  return Math.max(1, LARGEST.zoomed / Math.min(wide, tall));
}

/** A port that shows nothing beyond the field. */
export function within({ zoom, left, top }: Port, room: Room): Port {
  const fit = bounded(zoom, 1, limitOf(room));
  return {
    zoom: fit,
    left: bounded(left, 0, room.columns * (1 - 1 / fit)),
    top: bounded(top, 0, room.rows * (1 - 1 / fit)),
  };
}

function bounded(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}

/** Zoom by a factor, so that what is at a point in pixels stays there. */
export function zoomed(port: Port, room: Room, factor: number, x: number, y: number): Port {
  const zoom = bounded(port.zoom * factor, 1, limitOf(room));
  const stays = (size: number) => 1 / (port.zoom * size) - 1 / (zoom * size);
  const left = port.left + x * stays(room.wide);
  const top = port.top + y * stays(room.tall);
  return within({ zoom, left, top }, room);
}

/** Move the field by some pixels. */
export function panned(port: Port, room: Room, across: number, down: number): Port {
  const left = port.left - across / (room.wide * port.zoom);
  const top = port.top - down / (room.tall * port.zoom);
  return within({ ...port, left, top }, room);
}

/** The cell at a point in pixels; null beyond the field. */
export function cellAt(
  { zoom, left, top }: Port,
  { rows, columns, wide, tall }: Room,
  x: number,
  y: number,
): { row: number; column: number } | null {
  const [row, column] = [Math.floor(top + y / (tall * zoom)), Math.floor(left + x / (wide * zoom))];
  const isIn = row >= 0 && row < rows && column >= 0 && column < columns;
  return isIn ? { row, column } : null;
}

/** Move as little as it takes to have a row or a column in sight. */
export function revealed(
  port: Port,
  room: Room,
  { row, column }: { row?: number; column?: number },
): Port {
  const into = (first: number, seen: number, cell: number | undefined) =>
    cell === undefined ? first : bounded(first, cell + 1 - seen, cell);
  const left = into(port.left, room.columns / port.zoom, column);
  const top = into(port.top, room.rows / port.zoom, row);
  return within({ ...port, left, top }, room);
}

/** Letters of this size, and the least distance between two lines of them. */
const FONT = { least: 9, most: 13 };
const LINE = 11;

/** The letters that suit lines so far apart. */
export function fontFor(pitch: number): number {
  return Math.round(bounded(pitch * 0.72, FONT.least, FONT.most));
}

/** Which lines of an axis get a label: every one, or every n-th that fits, and always `own`. */
export function labeled(
  { first, seen, count }: { first: number; seen: number; count: number },
  pitch: number,
  own: number | null,
): number[] {
  const step = Math.max(1, Math.ceil(LINE / pitch));
  const lines = Array.from({ length: Math.ceil(count / step) }, (_, at) => at * step);
  const isInSight = (line: number) => line + 0.5 >= first && line + 0.5 <= first + seen;
  const isFree = (line: number) => own === null || line === own || Math.abs(line - own) >= step;
  const all = own === null || own % step === 0 ? lines : [...lines, own];
  return all.filter((line) => isInSight(line) && isFree(line));
}

/** The width of a text, in units of its size: wide scripts are twice as wide. */
export function emsOf(text: string): number {
  return [...text].reduce(
    (sum, letter) => sum + ((letter.codePointAt(0) ?? 0) > 0x2e80 ? 1 : 0.6),
    0,
  );
}

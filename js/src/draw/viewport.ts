/** The visible part of a field of cells: pure geometry, in pixels and cells. */

/** A field of cells, and the size of each cell when all are visible. */
export interface CellField {
  rows: number;
  columns: number;
  wide: number;
  tall: number;
}

/** The zoom factor, and the cell at the upper left, as fractions. */
export interface Viewport {
  zoom: number;
  left: number;
  top: number;
}

export const WHOLE: Viewport = { zoom: 1, left: 0, top: 0 };

/** The largest cell sizes, and the size below which the shorter side is stretched. */
const LARGEST = { whole: 40, zoomed: 64 };
const STRETCHED = 14;

/** Cells that fill a space: square, but stretched along a much shorter side. */
export function fieldFor(rows: number, columns: number, width: number, height: number): CellField {
  const [across, down] = [width / Math.max(1, columns), height / Math.max(1, rows)];
  const size = Math.min(across, down, LARGEST.whole);
  const even = (length: number) => (length >= 4 ? Math.floor(length) : length);
  const fitted = (count: number, other: number, most: number) =>
    even(2 * count <= other ? Math.max(size, Math.min(STRETCHED, most)) : size);
  const [wide, tall] = [fitted(columns, rows, across), fitted(rows, columns, down)];
  return { rows, columns, wide, tall };
}

/** The size of the field in pixels; zooming does not change it. */
export function sizeOf({ rows, columns, wide, tall }: CellField): {
  width: number;
  height: number;
} {
  return { width: columns * wide, height: rows * tall };
}

/** The largest zoom factor. */
export function maxZoom({ wide, tall }: CellField): number {
  return Math.max(1, LARGEST.zoomed / Math.min(wide, tall));
}

/** A viewport that stays within the field. */
export function clampViewport({ zoom, left, top }: Viewport, room: CellField): Viewport {
  const fit = clamp(zoom, 1, maxZoom(room));
  return {
    zoom: fit,
    left: clamp(left, 0, room.columns * (1 - 1 / fit)),
    top: clamp(top, 0, room.rows * (1 - 1 / fit)),
  };
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}

/** Zoom by a factor around a point in pixels. */
export function zoomAt(
  port: Viewport,
  room: CellField,
  factor: number,
  x: number,
  y: number,
): Viewport {
  const zoom = clamp(port.zoom * factor, 1, maxZoom(room));
  const stays = (size: number) => 1 / (port.zoom * size) - 1 / (zoom * size);
  const left = port.left + x * stays(room.wide);
  const top = port.top + y * stays(room.tall);
  return clampViewport({ zoom, left, top }, room);
}

/** Pan by some pixels. */
export function panBy(port: Viewport, room: CellField, across: number, down: number): Viewport {
  const left = port.left - across / (room.wide * port.zoom);
  const top = port.top - down / (room.tall * port.zoom);
  return clampViewport({ ...port, left, top }, room);
}

/** The cell at a point in pixels; null outside the field. */
export function cellAt(
  { zoom, left, top }: Viewport,
  { rows, columns, wide, tall }: CellField,
  x: number,
  y: number,
): { row: number; column: number } | null {
  const [row, column] = [Math.floor(top + y / (tall * zoom)), Math.floor(left + x / (wide * zoom))];
  const isIn = row >= 0 && row < rows && column >= 0 && column < columns;
  return isIn ? { row, column } : null;
}

/** Pan as little as possible to make a row or a column visible. */
export function revealCell(
  port: Viewport,
  room: CellField,
  { row, column }: { row?: number; column?: number },
): Viewport {
  const into = (first: number, seen: number, cell: number | undefined) =>
    cell === undefined ? first : clamp(first, cell + 1 - seen, cell);
  const left = into(port.left, room.columns / port.zoom, column);
  const top = into(port.top, room.rows / port.zoom, row);
  return clampViewport({ ...port, left, top }, room);
}

/** Font sizes, and the minimum distance between two lines. */
const FONT = { least: 9, most: 13 };
const LINE = 11;

/** The font size for lines at this distance. */
export function fontFor(pitch: number): number {
  return Math.round(clamp(pitch * 0.72, FONT.least, FONT.most));
}

/** The lines of an axis that get a label: all, or every n-th that fits, and always `own`. */
export function labeledLines(
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

/** The approximate width of a text in em; wide scripts are wider. */
export function emsOf(text: string): number {
  return [...text].reduce(
    (sum, letter) => sum + ((letter.codePointAt(0) ?? 0) > 0x2e80 ? 1 : 0.6),
    0,
  );
}

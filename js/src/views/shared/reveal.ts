/** Keeps a row of tokens in sight. */

/** The height of the fixed titles above the rows; the same in the style sheets. */
export const HEADING = 24;

/** How many rows around a pinned token are kept visible. */
const NEIGHBORS = 8;

/** Scroll a figure until the row and its neighbors are visible. */
export function revealRow(figure: HTMLElement, row: number, pitch: number): void {
  if (figure.matches(":hover")) return; // do not move what the pointer is over
  const top = (row - NEIGHBORS) * pitch;
  const bottom = (row + 1 + NEIGHBORS) * pitch + HEADING;
  const height = figure.clientHeight;
  if (top < figure.scrollTop) figure.scrollTop = top;
  if (bottom > figure.scrollTop + height) figure.scrollTop = bottom - height;
}

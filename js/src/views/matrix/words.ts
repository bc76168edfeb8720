/** The matrix in words: one cell, and what its colors mean. */

import { formatNumber, formatPercent } from "../../draw/colors";
import { formatSignedNumber } from "../../draw/signedCells";
import { quote } from "../../words/describe";
import { omissionNotes, signsPhrase } from "../../words/legend";
import { type Cells, extremes } from "../shared/cells";

/** One cell in a line: its tokens, value and share. */
export function cellLine(cells: Cells, row: number, column: number): string {
  const { down, across, values, wholes, picture } = cells;
  const value = values[row * across.labels.length + column];
  if (down.role === null) return `${pairName(cells, row, column)}: ${formatNumber(value)}`;
  const share = wholes[row] > 0 ? formatPercent(Math.abs(value) / wholes[row]) : "0%";
  const aside = picture.measure.signed ? ", signs aside" : "";
  return `${pairName(cells, row, column)}: ${formatSignedNumber(value)}, ${share} of all it takes${aside}`;
}

/** The names of a cell's row and column. */
function pairName({ down, across }: Cells, row: number, column: number): string {
  const key = quote(across.labels[column]);
  return down.role === null
    ? `${down.labels[row]}, ${key}`
    : `${quote(down.labels[row])} from ${key}`;
}

/** What the full color means. */
export function fullColor({ full, isDivided }: Cells): string {
  return `${fullValue(full.value, isDivided)} (${full.words})`;
}

/** What the other end of the color ramp means. */
export function noColor({ full, isDivided, picture }: Cells): string {
  return picture.measure.signed ? `−${fullValue(full.value, isDivided)}` : "0";
}

function fullValue(value: number, isDivided: boolean): string {
  return isDivided ? formatPercent(value) : formatNumber(value);
}

/** The legend after the bar of colors, phrase by phrase. */
export function cellLegend(cells: Cells, block: { rows: number; columns: number }): string[] {
  const { picture, heads } = cells;
  const { measure, scale } = picture;
  const isNorm = cells.down.role === null;
  const shown = isNorm ? "one row for each head" : heads;
  const isPooled = block.rows > 1 || block.columns > 1;
  const largest = measure.signed ? "furthest from zero" : "largest";
  return [
    `${measure.label}: ${measure.meaning}; ${shown}`,
    ...(measure.signed ? [signsPhrase(measure)] : []),
    rangePhrase(cells),
    ...(isNorm && scale === "query" ? ["scaled per layer, because it has no queries"] : []),
    ...(isPooled
      ? [
          `each pixel is the ${largest} of ${block.rows} × ${block.columns} cells; zoom in to see them all`,
        ]
      : []),
    ...omissionNotes(picture),
  ];
}

/** The range of the cells, and where the largest is. */
function rangePhrase(cells: Cells): string {
  const ends = extremes(cells);
  if (!ends) return "no cell is drawn";
  const { values, across } = cells;
  const columns = across.labels.length;
  const largest = pairName(cells, Math.floor(ends.most / columns), ends.most % columns);
  const [least, most] = [
    formatSignedNumber(values[ends.least]),
    formatSignedNumber(values[ends.most]),
  ];
  const zero = values.includes(0) ? "; 0 is blank" : "";
  return `cells from ${least} to ${most} (${largest})${zero}`;
}

/** A field of cells in words: one cell, and what its colors stand for. */

import { number, percent } from "../../draw/colors";
import { signedNumber } from "../../draw/signedCells";
import { quoted } from "../../words/describe";
import { asides, SIGNS } from "../../words/legend";
import { type Cells, extremes } from "../shared/cells";

/** One cell, in a line: who takes how much from whom, and what part that is. */
export function cellLine(cells: Cells, row: number, column: number): string {
  const { down, across, values, wholes, picture } = cells;
  const value = values[row * across.labels.length + column];
  if (down.side === null) return `${pairOf(cells, row, column)}: ${number(value)}`;
  const share = wholes[row] > 0 ? percent(Math.abs(value) / wholes[row]) : "0%";
  const aside = picture.measure.signed ? ", signs aside" : "";
  return `${pairOf(cells, row, column)}: ${signedNumber(value)}, ${share} of all it takes${aside}`;
}

/** The names of a cell's row and column. */
function pairOf({ down, across }: Cells, row: number, column: number): string {
  const key = quoted(across.labels[column]);
  return down.side === null
    ? `${down.labels[row]}, ${key}`
    : `${quoted(down.labels[row])} from ${key}`;
}

/** What the full color stands for. */
export function fullColor({ full, isDivided }: Cells): string {
  return `${fullValue(full.value, isDivided)} (${full.words})`;
}

/** What the other end of the colors stands for: nothing, or as much below zero. */
export function noColor({ full, isDivided, picture }: Cells): string {
  return picture.measure.signed ? `−${fullValue(full.value, isDivided)}` : "0";
}

function fullValue(value: number, isDivided: boolean): string {
  return isDivided ? percent(value) : number(value);
}

/** The legend after the bar of colors, phrase by phrase. */
export function cellLegend(cells: Cells, block: { rows: number; columns: number }): string[] {
  const { picture, heads } = cells;
  const { measure, scale } = picture;
  const isNorm = cells.down.side === null;
  const shown = isNorm ? "one row for each head" : heads;
  const isPooled = block.rows > 1 || block.columns > 1;
  const largest = measure.signed ? "furthest from zero" : "largest";
  return [
    `${measure.label}: ${measure.meaning}; ${shown}`,
    ...(measure.signed ? [SIGNS] : []),
    span(cells),
    ...(isNorm && scale === "query" ? ["scaled per layer, for it has no query"] : []),
    ...(isPooled
      ? [`every mark is the ${largest} of ${block.rows} × ${block.columns} cells; zoom in for each`]
      : []),
    ...asides(picture),
  ];
}

/** From which number to which the cells go, and where the largest is. */
function span(cells: Cells): string {
  const found = extremes(cells);
  if (!found) return "no cell is drawn";
  const { values, across } = cells;
  const columns = across.labels.length;
  const place = pairOf(cells, Math.floor(found.most / columns), found.most % columns);
  const [least, most] = [signedNumber(values[found.least]), signedNumber(values[found.most])];
  const zero = values.includes(0) ? "; 0 is blank" : "";
  return `cells from ${least} to ${most} (${place})${zero}`;
}

/** Signed values in tables: with a minus sign and a bar to the left or right. */

import { maxOf } from "../math/arrays";
import { formatNumber, formatPercent } from "./colors";
import { element } from "./dom";

/** A signed value as text, and the length of its bar from -1 to 1. */
export interface SignedCell {
  text: string;
  part: number;
}

const MINUS = "−";

/** A share with its sign, even if it is very small. */
export function formatSignedPercent(share: number): string {
  const size = Math.abs(share);
  const text = size > 0 && size < 0.001 ? "0.0%" : formatPercent(size);
  return share < 0 ? `${MINUS}${text}` : text;
}

/** A number with its sign. */
export function formatSignedNumber(value: number): string {
  return value < 0 ? `${MINUS}${formatNumber(-value)}` : formatNumber(value);
}

/** Values as cells with comparable bars. */
export function signedCells(values: number[], format: (value: number) => string): SignedCell[] {
  const longest = maxOf(values.map(Math.abs)) || 1;
  return values.map((value) => ({ text: format(value), part: value / longest }));
}

/** A cell with a bar: to the right and filled, or to the left, hollow and in the second hue. */
export function signedCell({ text, part }: SignedCell): HTMLElement {
  const sign = part < 0 ? "against" : "with";
  const bar = element("i", { class: "nv-lean", "aria-hidden": "true" });
  bar.style.setProperty("--nv-part", Math.abs(part).toFixed(3));
  const title = part < 0 ? "points against the whole" : "points with the whole";
  return element("td", { class: "nv-signed", "data-sign": sign, title }, bar, text);
}

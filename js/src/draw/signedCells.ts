/** Numbers that may be negative, as a table shows them: with a minus, a side and a color. */

import { most } from "../math/arrays";
import { number, percent } from "./colors";
import { element } from "./dom";

/** A number with its sign, and how far it reaches to its side, from -1 to 1. */
export interface Signed {
  text: string;
  part: number;
}

const MINUS = "−";

/** A share with its sign; the least ones keep theirs. */
export function signedPercent(share: number): string {
  const size = Math.abs(share);
  const text = size > 0 && size < 0.001 ? "0.0%" : percent(size);
  return share < 0 ? `${MINUS}${text}` : text;
}

/** A number with its sign. */
export function signedNumber(value: number): string {
  return value < 0 ? `${MINUS}${number(-value)}` : number(value);
}

/** Numbers as cells whose bars can be compared with each other. */
export function signedCells(values: number[], told: (value: number) => string): Signed[] {
  const longest = most(values.map(Math.abs)) || 1;
  return values.map((value) => ({ text: told(value), part: value / longest }));
}

/** A cell with a bar: to the right and full, or to the left, hollow and in the second hue. */
export function signedCell({ text, part }: Signed): HTMLElement {
  const sign = part < 0 ? "against" : "with";
  const bar = element("i", { class: "nv-lean", "aria-hidden": "true" });
  bar.style.setProperty("--nv-part", Math.abs(part).toFixed(3));
  const title = part < 0 ? "points against the whole" : "points with the whole";
  return element("td", { class: "nv-signed", "data-sign": sign, title }, bar, text);
}

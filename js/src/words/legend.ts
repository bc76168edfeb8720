/** What widths and colors stand for, and how much is left out. */

import { type Picture, peakOf } from "../data/layer";
import type { Ribbons } from "../data/ribbons";
import { number, type Palette, percent } from "../draw/colors";
import { element } from "../draw/dom";
import { signedNumber } from "../draw/signedCells";
import { given, most } from "../math/arrays";
import type { Scale } from "../wire/types";
import { headsShown, quoted } from "./describe";

export interface Legend {
  node: HTMLElement;
  show(phrases: (string | HTMLElement)[]): void;
}

const FULL_ROW = "full row";

/** What the two hues stand for, wherever numbers may be negative. */
export const SIGNS = "blue: above zero, orange: below";

/** What the full width of a row is, under each scaling. */
const FULL: Record<Scale, string> = {
  absolute: "the most any token takes in any layer",
  layer: "the most any token takes in this layer",
  query: "all that the row's token takes",
};

export function legend(): Legend {
  const node = element("ul", { class: "nv-legend", "aria-label": "legend" });
  const show = (phrases: (string | HTMLElement)[]): void => {
    node.replaceChildren(...phrases.map((phrase) => element("li", {}, phrase)));
  };
  return { node, show };
}

/** How many ribbons of the token in focus are brought out, and how many times wider. */
export interface Own {
  count: number;
  zoom: number;
}

/** The legend of ribbons, with a swatch as tall as a full row. */
export function ribbonLegend(
  picture: Picture,
  drawn: Ribbons,
  own: Own | null,
  palette: Palette,
): (string | HTMLElement)[] {
  const swatch = element("i", { class: "nv-swatch", "aria-hidden": "true" });
  swatch.style.height = `${drawn.full}px`;
  const rest = leftOut(picture, drawn);
  const phrases = lines(picture, drawn).map((line) => {
    if (line.startsWith(FULL_ROW)) return element("span", {}, swatch, line);
    if (line.startsWith(SIGNS)) return element("span", {}, signMarks(palette), line);
    return own && line === rest ? `${own.count} ribbons of the token in focus brought out` : line;
  });
  const wider = `the token in focus: ${own?.zoom ?? 1} times wider`;
  return own && own.zoom > 1 ? [...phrases, wider] : phrases;
}

/** A mark in each of the two hues, side by side. */
function signMarks({ signs }: Palette): HTMLElement {
  const marks = signs.map((color) => {
    const mark = element("i", { class: "nv-sign" });
    mark.style.background = color;
    return mark;
  });
  return element("span", { class: "nv-signs", "aria-hidden": "true" }, ...marks);
}

/** The legend, phrase by phrase. */
export function lines(picture: Picture, drawn: Ribbons): string[] {
  const { measure, norms } = picture;
  const longest = norms ? `longest bar: ${number(most(given(norms.values, picture.keys)))}` : "";
  if (picture.values.length === 0) {
    return [
      `${measure.label}: ${measure.meaning}; it has no query, so there are bars only`,
      longest,
    ];
  }
  const { head, query, key, value } = peakOf(picture);
  const { rows } = picture;
  const through = head === null ? "" : `, head ${head}`;
  const pair = `${quoted(rows.query.labels[query])} from ${quoted(rows.key.labels[key])}${through}`;
  return [
    `${measure.label}: ${measure.meaning}; ${headsShown(picture)}`,
    `${FULL_ROW}: ${fullRow(picture)}`,
    `largest ribbon: ${signedNumber(value)} (${pair})`,
    ...(measure.signed ? [`${SIGNS}; widths and sums go by size`] : []),
    ...(longest ? [longest] : []),
    leftOut(picture, drawn),
    ...asides(picture),
  ];
}

/** What was merged, hidden or cut away before anything was drawn. */
export function asides(picture: Picture): string[] {
  const { rows, hidden, least, measure, also, bias_share } = picture;
  const merged = rows.key.rowOf.length - rows.key.rowOf.filter((row) => row < 0).length;
  const isWords = merged > rows.key.pieces.length;
  const gone = rows.key.rowOf.filter((row) => row < 0).length;
  return [
    ...(also.length > 0 ? [`in this model the same as ${also.join(", ")}`] : []),
    ...(bias_share === null ? [] : [fromBiases(bias_share)]),
    ...(isWords ? ["pieces merged to words: added over keys, averaged over queries"] : []),
    ...(gone > 0
      ? [`${gone} special tokens hidden, and with them ${percent(hidden)} of the sum`]
      : []),
    ...(least > 0 ? [`nothing below ${number(least)} (${measure.label}) is drawn`] : []),
  ];
}

function fromBiases(share: number): string {
  return share > 0
    ? `${percent(share)} from no token (biases)`
    : "all of it from tokens, no biases";
}

function fullRow({ scale, units }: Picture): string {
  return scale === "query" ? `100% (${FULL.query})` : `${number(units[0])} (${FULL[scale]})`;
}

/** How much of the sum is drawn; nothing is dropped without being said. */
export function leftOut({ present, scale, measure }: Picture, { ribbons, shown }: Ribbons): string {
  if (ribbons.length === present) return `all ${present} ribbons drawn`;
  const sum = measure.signed ? "of all sizes" : "of the sum";
  const of = scale === "query" ? "of all shares" : sum;
  return (
    `the strongest ${ribbons.length} of ${present} ribbons drawn: ${percent(shown)} ${of}; ` +
    `${percent(1 - shown)} is left out`
  );
}

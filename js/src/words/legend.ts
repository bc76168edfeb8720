/** Legends: what widths and colors mean, and what is left out. */

import { meanNorms, type Picture, peakOf } from "../data/layer";
import type { Ribbon, Ribbons } from "../data/ribbons";
import { formatNumber, formatPercent, type Palette, signColors } from "../draw/colors";
import { element } from "../draw/dom";
import { formatSignedNumber } from "../draw/signedCells";
import { maxOf } from "../math/arrays";
import type { Measure, Scale } from "../wire/types";
import { headsLabel, quote } from "./describe";

export interface Legend {
  node: HTMLElement;
  show(phrases: (string | HTMLElement)[]): void;
}

const FULL_ROW = "full row";

/** In pixels, so that lines of the legend stay together. */
const TALLEST_SWATCH = 17;

/** What the two hues of a signed measure mean. */
export function signsPhrase({ pair }: Measure): string {
  if (!pair || pair[0].of_weights === pair[1].of_weights) return "blue: above zero, orange: below";
  const [less, more] = pair.map(({ label, of_weights }) => {
    return `${of_weights ? "blue" : "orange"}: more by ${label}`;
  });
  return `${more}, ${less}`;
}

/** What the full height of a row means, for each scale. */
const FULL: Record<Scale, string> = {
  absolute: "the most any token takes in any layer",
  layer: "the most any token takes in this layer",
  query: "all that the row's token takes",
};

export function createLegend(): Legend {
  const node = element("ul", { class: "nv-legend", "aria-label": "legend" });
  const show = (phrases: (string | HTMLElement)[]): void => {
    node.replaceChildren(...phrases.map((phrase) => element("li", {}, phrase)));
  };
  return { node, show };
}

/** The ribbons of the token in focus, and their zoom. */
export interface FocusedRibbons {
  ribbons: Ribbon[];
  zoom: number;
}

/** The legend of ribbons, with a swatch as tall as a full row. */
export function ribbonLegend(
  picture: Picture,
  drawn: Ribbons,
  own: FocusedRibbons | null,
  palette: Palette,
): (string | HTMLElement)[] {
  const swatch = element("i", { class: "nv-swatch", "aria-hidden": "true" });
  swatch.style.height = `${Math.min(TALLEST_SWATCH, drawn.full)}px`;
  const rest = drawnPhrase(picture, drawn);
  const signs = signsPhrase(picture.measure);
  const phrases = ribbonLines(picture, drawn).map((line) => {
    if (line.startsWith(FULL_ROW)) return element("span", {}, swatch, line);
    if (line.startsWith(signs))
      return element("span", {}, signMarks(picture.measure, palette), line);
    return own && line === rest
      ? `${own.ribbons.length} ribbons of the token in focus highlighted`
      : line;
  });
  const wider = `the token in focus: ${own?.zoom ?? 1} times wider`;
  return own && own.zoom > 1 ? [...phrases, wider] : phrases;
}

/** A mark in each of the two hues, side by side. */
function signMarks(measure: Measure, palette: Palette): HTMLElement {
  const marks = signColors(measure, palette).map((color) => {
    const mark = element("i", { class: "nv-sign" });
    mark.style.background = color;
    return mark;
  });
  return element("span", { class: "nv-signs", "aria-hidden": "true" }, ...marks);
}

/** The legend, phrase by phrase. */
export function ribbonLines(picture: Picture, drawn: Ribbons): string[] {
  const { measure, norms } = picture;
  if (norms) {
    return [
      `${measure.label}: ${measure.meaning}; it has no queries, so only bars are shown`,
      `longest bar: ${formatNumber(maxOf(meanNorms(norms, picture.keys)))}`,
    ];
  }
  const { head, query, key, value } = peakOf(picture);
  const { rows } = picture;
  const through = head === null ? "" : `, head ${head}`;
  const pair = `${quote(rows.query.labels[query])} from ${quote(rows.key.labels[key])}${through}`;
  return [
    `${measure.label}: ${measure.meaning}; ${headsLabel(picture)}`,
    `${FULL_ROW}: ${fullRow(picture)}`,
    `largest ribbon: ${formatSignedNumber(value)} (${pair})`,
    ...(measure.signed ? [`${signsPhrase(measure)}; widths and sums go by size`] : []),
    drawnPhrase(picture, drawn),
    ...omissionNotes(picture),
  ];
}

/** What was merged, hidden or cut off before drawing. */
export function omissionNotes(picture: Picture): string[] {
  const { rows, hiddenShare, minSize, measure, aliases, bias_share } = picture;
  const merged = rows.key.rowOf.length - rows.key.rowOf.filter((row) => row < 0).length;
  const isWords = merged > rows.key.pieces.length;
  const gone = rows.key.rowOf.filter((row) => row < 0).length;
  return [
    ...(aliases.length > 0 ? [`in this model the same as ${aliases.join(", ")}`] : []),
    ...(bias_share === null ? [] : [biasPhrase(bias_share)]),
    ...(isWords ? ["pieces merged into words: added over keys, averaged over queries"] : []),
    ...(gone > 0
      ? [`${gone} special tokens hidden, and with them ${formatPercent(hiddenShare)} of the sum`]
      : []),
    ...(minSize > 0 ? [`nothing below ${formatNumber(minSize)} (${measure.label}) is drawn`] : []),
  ];
}

function biasPhrase(share: number): string {
  return share > 0 ? `${formatPercent(share)} from biases` : "nothing from biases";
}

function fullRow({ scale, units }: Picture): string {
  return scale === "query" ? `100% (${FULL.query})` : `${formatNumber(units[0])} (${FULL[scale]})`;
}

/** How much of the sum is drawn. */
export function drawnPhrase(
  { present, scale, measure }: Picture,
  { ribbons, shown, perQuery }: Ribbons,
): string {
  if (ribbons.length === present) return `all ${present} ribbons drawn`;
  const which = perQuery
    ? `the ${perQuery} strongest links of each token drawn`
    : `the strongest ${ribbons.length} of ${present} ribbons drawn`;
  const sum = measure.signed ? "of all sizes" : "of the sum";
  const of = scale === "query" ? "of all shares" : sum;
  return `${which}: ${formatPercent(shown)} ${of}; ` + `${formatPercent(1 - shown)} is left out`;
}

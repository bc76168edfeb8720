/** The grid in words: names, a sentence, a table, a legend. */

import { formatNumber, formatPercent, type Palette } from "../../draw/colors";
import { element } from "../../draw/dom";
import { heatGradient } from "../../draw/heat";
import { formatSignedNumber } from "../../draw/signedCells";
import { argmax, maxOf, rankOrder } from "../../math/arrays";
import type { Focus, Measure, ViewState } from "../../wire/types";
import { type Description, quote } from "../../words/describe";
import { signsPhrase } from "../../words/legend";
import { agreementPhrase, describeAgreement, washLegend } from "./agreementWords";
import { axisOf, type Band, bandOf, cellsOf, runOf, type Thumb, type Thumbs } from "./thumbs";

/** How many rows a table has. */
const ROWS = 8;

/** A layer and head by the model's numbers. */
export function nameOf({ layer, head }: Thumb): string {
  return head === null ? `layer ${layer}` : `layer ${layer}, head ${head}`;
}

/** The short name under a thumbnail. */
export function shortName({ layer, head }: Thumb): string {
  return head === null ? `${layer}` : `${layer}·${head}`;
}

/** A disagreement with two decimals. */
export function formatDisagreement(disagreement: number): string {
  return disagreement.toFixed(2);
}

/** The label of a thumbnail for screen readers. */
export function ariaLabelOf(thumbs: Thumbs, thumb: Thumb): string {
  const { measure, compared, coloring } = thumbs;
  const { disagreement, peak } = thumb;
  if (coloring) return `${nameOf(thumb)}: ${measure.label}, ${agreementPhrase(thumbs, thumb)}`;
  const detail =
    compared && disagreement !== null
      ? disagreementPhrase(compared, disagreement)
      : `largest ${formatNumber(peak)}`;
  return `${nameOf(thumb)}: ${measure.label}, ${detail}`;
}

/** The token of a cell, or the first and the last. */
function tokensAt(thumbs: Thumbs, { role, cell }: Band): string {
  const { tokens, count, cells } = axisOf(thumbs, role);
  const [first, last] = runOf(cell, count, cells);
  const name = (piece: number) => quote(tokens.pieces[piece] ?? "");
  return first === last ? name(first) : `${name(first)} … ${name(last)}`;
}

/** The token in focus, with the tokens that share its cell. */
function bandName(thumbs: Thumbs, band: Band, { token }: Focus): string {
  const { tokens, count, cells } = axisOf(thumbs, band.role);
  const own = quote(tokens.pieces[token] ?? "");
  const [first, last] = runOf(band.cell, count, cells);
  return first === last ? own : `the run of ${own} (${tokensAt(thumbs, band)})`;
}

/** The tokens of a cell. */
function tokensBetween(thumbs: Thumbs, place: number): string {
  const { columns } = thumbs;
  const from = tokensAt(thumbs, { role: "key", cell: place % columns });
  if (!thumbs.hasQuery) return from;
  const to = tokensAt(thumbs, { role: "query", cell: Math.floor(place / columns) });
  return `${to} from ${from}`;
}

/** The description of the thumbnail under the pointer, the token in focus, or everything. */
export function describeThumbs(
  thumbs: Thumbs,
  focus: Focus | null,
  pointed: Thumb | null,
): Description {
  if (pointed) return describeOne(thumbs, pointed);
  const band = bandOf(thumbs, focus);
  if (focus && band) return describeBand(thumbs, band, bandName(thumbs, band, focus));
  if (thumbs.coloring) return describeAgreement(thumbs, thumbs.coloring, nameOf);
  return thumbs.compared
    ? describeDisagreement(thumbs, thumbs.compared.label)
    : describePeaks(thumbs);
}

function describeOne(thumbs: Thumbs, thumb: Thumb): Description {
  const { measure, compared } = thumbs;
  const { values, sizes, peak, disagreement } = thumb;
  const highest = maxOf(thumbs.thumbs.map((other) => other.peak)) || 1;
  const peakIndex = argmax(sizes);
  const largest =
    peak > 0
      ? `the ${largestOf(measure)} is ${formatSignedNumber(values[peakIndex])}, ${thumbs.hasQuery ? "to" : "of"} ` +
        `${tokensBetween(thumbs, peakIndex)} (${formatPercent(peak / highest)} of the largest anywhere)`
      : "nothing is taken";
  const others = thumbs.thumbs.filter(
    (other) => (other.disagreement ?? 0) > (disagreement ?? 0),
  ).length;
  const comparison =
    compared && disagreement !== null
      ? `; ${thumbs.coloring ? agreementPhrase(thumbs, thumb) : disagreementPhrase(compared, disagreement)} ` +
        `(number ${others + 1} of ${thumbs.thumbs.length})`
      : "";
  const cells = rankOrder(sizes).filter((at) => sizes[at] > 0);
  return {
    sentence: `${capitalize(nameOf(thumb))}, ${measure.label}: ${largest}${comparison}.`,
    caption: `${measure.label} in ${nameOf(thumb)}: the largest cells`,
    columns: ["rank", thumbs.hasQuery ? "receives from" : "token", measure.label, "of peak"],
    rows: cells
      .slice(0, ROWS)
      .map((at, row) => [
        String(row + 1),
        tokensBetween(thumbs, at),
        formatSignedNumber(values[at]),
        formatPercent(sizes[at] / peak),
      ]),
  };
}

function disagreementPhrase({ label }: Measure, disagreement: number): string {
  return `disagreement with ${label} ${formatDisagreement(disagreement)}`;
}

function describeDisagreement(thumbs: Thumbs, compared: string): Description {
  const distances = thumbs.thumbs.map(({ disagreement }) => disagreement ?? 0);
  const order = rankOrder(distances);
  const name = (at: number) => nameOf(thumbs.thumbs[at]);
  const [first, last] = [order[0], order[order.length - 1]];
  const { label } = thumbs.measure;
  return {
    sentence:
      `${label} against ${compared}: ${name(first)} disagrees most ` +
      `(${formatDisagreement(distances[first])}), ${name(last)} least (${formatDisagreement(distances[last])}).`,
    caption: `Where ${label} and ${compared} disagree most`,
    columns: ["rank", whereTitle(thumbs), "distance", "largest"],
    rows: order
      .slice(0, ROWS)
      .map((at, row) => [
        String(row + 1),
        name(at),
        formatDisagreement(distances[at]),
        formatNumber(thumbs.thumbs[at].peak),
      ]),
  };
}

function describePeaks(thumbs: Thumbs): Description {
  const peaks = thumbs.thumbs.map(({ peak }) => peak);
  const order = rankOrder(peaks);
  const first = thumbs.thumbs[order[0]];
  const last = thumbs.thumbs[order[order.length - 1]];
  const { label } = thumbs.measure;
  const where = `${thumbs.hasQuery ? "to" : "of"} ${tokensBetween(thumbs, argmax(first.sizes))}`;
  return {
    sentence:
      `${label}: strongest is ${nameOf(first)} (up to ${formatNumber(first.peak)}, ${where}), ` +
      `weakest ${nameOf(last)} (up to ${formatNumber(last.peak)}).`,
    caption: `Where ${label} is largest`,
    columns: ["rank", whereTitle(thumbs), "largest", "of peak"],
    rows: peakRows(thumbs, order, peaks),
  };
}

/** The description of a token's row or column in every thumbnail. */
function describeBand(thumbs: Thumbs, band: Band, who: string): Description {
  const places = cellsOf(thumbs, band);
  const peaks = thumbs.thumbs.map(({ sizes }) => maxOf(places.map((at) => sizes[at])));
  const order = rankOrder(peaks);
  const [first, last] = [order[0], order[order.length - 1]];
  const verb = band.role === "query" ? "takes" : thumbs.hasQuery ? "gives" : "has";
  const peakPhrase = (at: number) =>
    `${nameOf(thumbs.thumbs[at])} (up to ${formatNumber(peaks[at])})`;
  const { label } = thumbs.measure;
  return {
    sentence: `${label}: ${who} ${verb} most in ${peakPhrase(first)}, least in ${peakPhrase(last)}.`,
    caption: `${label}: the most that ${who} ${verb} at once`,
    columns: ["rank", whereTitle(thumbs), "largest", "of peak"],
    rows: peakRows(thumbs, order, peaks),
  };
}

function whereTitle({ heads }: Thumbs): string {
  return heads[0] === null ? "layer" : "layer and head";
}

function peakRows({ thumbs }: Thumbs, order: number[], peaks: number[]): string[][] {
  const highest = peaks[order[0]] || 1;
  return order
    .slice(0, ROWS)
    .map((at, row) => [
      String(row + 1),
      nameOf(thumbs[at]),
      formatNumber(peaks[at]),
      formatPercent(peaks[at] / highest),
    ]);
}

/** Which of several values a cell shows. */
function largestOf({ signed }: Measure): string {
  return signed ? "furthest from zero" : "largest";
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What color, position and number mean; the color ramp comes first. */
export function thumbLegend(
  thumbs: Thumbs,
  state: ViewState,
  focus: Focus | null,
  palette: Palette,
): (string | HTMLElement)[] {
  const ramp = element("i", { class: "nv-heat", "aria-hidden": "true" });
  ramp.style.background = heatGradient(thumbs.measure, palette);
  const [what, range, ...rest] = thumbLines(thumbs, state, focus);
  const tiles = thumbs.coloring ? washLegend(thumbs.coloring, palette) : [];
  return [what, element("span", {}, ramp, range), ...tiles, ...rest];
}

/** The legend, phrase by phrase. */
export function thumbLines(thumbs: Thumbs, state: ViewState, focus: Focus | null): string[] {
  const { measure, compared, hasQuery } = thumbs;
  const shape = hasQuery
    ? "rows receive, columns are read from"
    : "columns are tokens; it has no queries, so there are no rows";
  const band = bandOf(thumbs, focus);
  return [
    `${measure.label}: ${measure.meaning}; ${shape}`,
    measure.signed
      ? `${signsPhrase(thumbs.measure)}; full color in either: ${fullColor(thumbs)}`
      : `from 0 to ${fullColor(thumbs)}`,
    ...poolingNote(thumbs),
    ...(compared && !thumbs.coloring
      ? [
          `the number below: total variation distance from ${compared.label} ` +
            "(0 same shares, 1 no key in common; mean over queries)",
        ]
      : []),
    ...(focus && band ? [`highlighted: ${bandName(thumbs, band, focus)}`] : []),
    ...ignoredSettings(state),
  ];
}

/** What the full color means, for each scale. */
function fullColor({ thumbs, scale }: Thumbs): string {
  const tops = thumbs.map(({ top }) => top);
  const [least, highest] = [tops.reduce((a, b) => Math.min(a, b), tops[0]), maxOf(tops)];
  const range =
    formatNumber(least) === formatNumber(highest)
      ? formatNumber(highest)
      : `${formatNumber(least)} to ${formatNumber(highest)}`;
  if (scale === "absolute") return `${formatNumber(highest)} (the largest in any layer and head)`;
  return scale === "layer"
    ? `the largest in each layer (${range})`
    : `each thumbnail's own largest (${range}); per query means per thumbnail here`;
}

/** How many values share a cell, if any do. */
function poolingNote(thumbs: Thumbs): string[] {
  const widths = (["query", "key"] as const).map((role) => {
    const { count, cells } = axisOf(thumbs, role);
    return role === "query" && !thumbs.hasQuery ? 1 : Math.ceil(count / cells);
  });
  const widest = maxOf(widths);
  const largest = `the ${largestOf(thumbs.measure)} of up to`;
  return widest > 1 ? [`each cell: ${largest} ${widths.join(" × ")} numbers`] : [];
}

/** Settings that thumbnails ignore, and the threshold. */
function ignoredSettings({ words, special, threshold }: ViewState): string[] {
  return [
    ...(words ? ["in pieces, not in words"] : []),
    ...(special === "hidden" ? ["special tokens are not hidden here"] : []),
    ...(threshold > 0 ? [`nothing below ${formatPercent(threshold)} of full color is drawn`] : []),
  ];
}

/** The small pictures in words: names, a sentence, a table, a legend. */

import { number, type Palette, percent } from "../../draw/colors";
import { element } from "../../draw/dom";
import { heatGradient } from "../../draw/heat";
import { signedNumber } from "../../draw/signedCells";
import { greatest, most, rank } from "../../math/arrays";
import type { Choice, Focus, Measure } from "../../wire/types";
import { type Description, quoted } from "../../words/describe";
import { SIGNS } from "../../words/legend";
import { agreementTold, describeAgreement, washLegend } from "./agreementWords";
import { type Band, bandOf, cellsOf, runOf, sideOf, type Thumb, type Thumbs } from "./thumbs";

/** How many rows a table has. */
const ROWS = 8;

/** A layer and head by the model's numbers. */
export function nameOf({ layer, head }: Thumb): string {
  return head === null ? `layer ${layer}` : `layer ${layer}, head ${head}`;
}

/** The same in as few letters as go under a picture. */
export function shortName({ layer, head }: Thumb): string {
  return head === null ? `${layer}` : `${layer}·${head}`;
}

/** How far two measures are apart, in two digits. */
export function apartness(apart: number): string {
  return apart.toFixed(2);
}

/** What a picture is called when it is read aloud. */
export function spoken(thumbs: Thumbs, thumb: Thumb): string {
  const { measure, rival, coloring } = thumbs;
  const { apart, peak } = thumb;
  if (coloring) return `${nameOf(thumb)}: ${measure.label}, ${agreementTold(thumbs, thumb)}`;
  const told = rival && apart !== null ? disagreementTold(rival, apart) : `largest ${number(peak)}`;
  return `${nameOf(thumb)}: ${measure.label}, ${told}`;
}

/** The tokens of a cell: the only one, or the first and the last. */
function tokensAt(thumbs: Thumbs, { side, cell }: Band): string {
  const { tokens, count, cells } = sideOf(thumbs, side);
  const [first, last] = runOf(cell, count, cells);
  const name = (piece: number) => quoted(tokens.pieces[piece] ?? "");
  return first === last ? name(first) : `${name(first)} … ${name(last)}`;
}

/** The token in focus, and those that share its cell. */
function bandName(thumbs: Thumbs, band: Band, { token }: Focus): string {
  const { tokens, count, cells } = sideOf(thumbs, band.side);
  const own = quoted(tokens.pieces[token] ?? "");
  const [first, last] = runOf(band.cell, count, cells);
  return first === last ? own : `the run of ${own} (${tokensAt(thumbs, band)})`;
}

/** Which tokens a cell lies between. */
function between(thumbs: Thumbs, place: number): string {
  const { columns } = thumbs;
  const from = tokensAt(thumbs, { side: "key", cell: place % columns });
  if (!thumbs.hasQuery) return from;
  const to = tokensAt(thumbs, { side: "query", cell: Math.floor(place / columns) });
  return `${to} from ${from}`;
}

/** What is said about the picture under the pointer, the token in focus, or everything. */
export function describeThumbs(
  thumbs: Thumbs,
  focus: Focus | null,
  pointed: Thumb | null,
): Description {
  if (pointed) return describeOne(thumbs, pointed);
  const band = bandOf(thumbs, focus);
  if (focus && band) return describeBand(thumbs, band, bandName(thumbs, band, focus));
  if (thumbs.coloring) return describeAgreement(thumbs, thumbs.coloring, nameOf);
  return thumbs.rival ? describeApart(thumbs, thumbs.rival.label) : describePeaks(thumbs);
}

function describeOne(thumbs: Thumbs, thumb: Thumb): Description {
  const { measure, rival } = thumbs;
  const { values, sizes, peak, apart } = thumb;
  const highest = most(thumbs.thumbs.map((other) => other.peak)) || 1;
  const place = greatest(sizes);
  const largest =
    peak > 0
      ? `the ${largestOf(measure)} is ${signedNumber(values[place])}, ${thumbs.hasQuery ? "to" : "of"} ` +
        `${between(thumbs, place)} (${percent(peak / highest)} of the largest anywhere)`
      : "nothing is taken";
  const others = thumbs.thumbs.filter((other) => (other.apart ?? 0) > (apart ?? 0)).length;
  const apartTold =
    rival && apart !== null
      ? `; ${thumbs.coloring ? agreementTold(thumbs, thumb) : disagreementTold(rival, apart)} ` +
        `(number ${others + 1} of ${thumbs.thumbs.length})`
      : "";
  const cells = rank(sizes).filter((at) => sizes[at] > 0);
  return {
    sentence: `${capital(nameOf(thumb))}, ${measure.label}: ${largest}${apartTold}.`,
    caption: `${measure.label} in ${nameOf(thumb)}: the largest cells`,
    columns: ["rank", thumbs.hasQuery ? "receives from" : "token", measure.label, "of peak"],
    rows: cells
      .slice(0, ROWS)
      .map((at, row) => [
        String(row + 1),
        between(thumbs, at),
        signedNumber(values[at]),
        percent(sizes[at] / peak),
      ]),
  };
}

function disagreementTold({ label }: Measure, apart: number): string {
  return `disagreement with ${label} ${apartness(apart)}`;
}

function describeApart(thumbs: Thumbs, rival: string): Description {
  const aparts = thumbs.thumbs.map(({ apart }) => apart ?? 0);
  const order = rank(aparts);
  const told = (at: number) => nameOf(thumbs.thumbs[at]);
  const [first, last] = [order[0], order[order.length - 1]];
  const { label } = thumbs.measure;
  return {
    sentence:
      `${label} against ${rival}: ${told(first)} disagrees most ` +
      `(${apartness(aparts[first])}), ${told(last)} least (${apartness(aparts[last])}).`,
    caption: `Where ${label} and ${rival} disagree most`,
    columns: ["rank", whereTitle(thumbs), "apart", "largest"],
    rows: order
      .slice(0, ROWS)
      .map((at, row) => [
        String(row + 1),
        told(at),
        apartness(aparts[at]),
        number(thumbs.thumbs[at].peak),
      ]),
  };
}

function describePeaks(thumbs: Thumbs): Description {
  const peaks = thumbs.thumbs.map(({ peak }) => peak);
  const order = rank(peaks);
  const first = thumbs.thumbs[order[0]];
  const last = thumbs.thumbs[order[order.length - 1]];
  const { label } = thumbs.measure;
  const where = `${thumbs.hasQuery ? "to" : "of"} ${between(thumbs, greatest(first.sizes))}`;
  return {
    sentence:
      `${label}: strongest is ${nameOf(first)} (up to ${number(first.peak)}, ${where}), ` +
      `weakest ${nameOf(last)} (up to ${number(last.peak)}).`,
    caption: `Where ${label} is largest`,
    columns: ["rank", whereTitle(thumbs), "largest", "of peak"],
    rows: listed(thumbs, order, peaks),
  };
}

/** What is said of the row or column of a token in every small picture. */
function describeBand(thumbs: Thumbs, band: Band, who: string): Description {
  const places = cellsOf(thumbs, band);
  const peaks = thumbs.thumbs.map(({ sizes }) => most(places.map((at) => sizes[at])));
  const order = rank(peaks);
  const [first, last] = [order[0], order[order.length - 1]];
  const verb = band.side === "query" ? "takes" : thumbs.hasQuery ? "gives" : "has";
  const told = (at: number) => `${nameOf(thumbs.thumbs[at])} (up to ${number(peaks[at])})`;
  const { label } = thumbs.measure;
  return {
    sentence: `${label}: ${who} ${verb} most in ${told(first)}, least in ${told(last)}.`,
    caption: `${label}: the most that ${who} ${verb} at once`,
    columns: ["rank", whereTitle(thumbs), "largest", "of peak"],
    rows: listed(thumbs, order, peaks),
  };
}

function whereTitle({ heads }: Thumbs): string {
  return heads[0] === null ? "layer" : "layer and head";
}

function listed({ thumbs }: Thumbs, order: number[], peaks: number[]): string[][] {
  const highest = peaks[order[0]] || 1;
  return order
    .slice(0, ROWS)
    .map((at, row) => [
      String(row + 1),
      nameOf(thumbs[at]),
      number(peaks[at]),
      percent(peaks[at] / highest),
    ]);
}

/** What a cell shows of several numbers. */
function largestOf({ signed }: Measure): string {
  return signed ? "furthest from zero" : "largest";
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What color, place and number stand for; the ramp of colors comes first. */
export function thumbLegend(
  thumbs: Thumbs,
  choice: Choice,
  focus: Focus | null,
  palette: Palette,
): (string | HTMLElement)[] {
  const ramp = element("i", { class: "nv-heat", "aria-hidden": "true" });
  ramp.style.background = heatGradient(thumbs.measure, palette);
  const [what, range, ...rest] = thumbLines(thumbs, choice, focus);
  const tiles = thumbs.coloring ? washLegend(thumbs.coloring, palette) : [];
  return [what, element("span", {}, ramp, range), ...tiles, ...rest];
}

/** The legend, phrase by phrase. */
export function thumbLines(thumbs: Thumbs, choice: Choice, focus: Focus | null): string[] {
  const { measure, rival, hasQuery } = thumbs;
  const shape = hasQuery
    ? "rows receive, columns are read from"
    : "columns are the tokens, and there are no rows, for it has no query";
  const band = bandOf(thumbs, focus);
  return [
    `${measure.label}: ${measure.meaning}; ${shape}`,
    measure.signed
      ? `${SIGNS}; full color in either: ${fullColor(thumbs)}`
      : `from 0 to ${fullColor(thumbs)}`,
    ...pooled(thumbs),
    ...(rival && !thumbs.coloring
      ? [
          `the number below: how far ${rival.label} divides otherwise, as the part of what a query ` +
            "takes that would have to come from elsewhere (0 none, 1 all; mean over queries)",
        ]
      : []),
    ...(focus && band ? [`brought out: ${bandName(thumbs, band, focus)}`] : []),
    ...asides(choice),
  ];
}

/** What full color stands for under each scaling. */
function fullColor({ thumbs, scale }: Thumbs): string {
  const tops = thumbs.map(({ top }) => top);
  const [least, highest] = [tops.reduce((a, b) => Math.min(a, b), tops[0]), most(tops)];
  const range =
    number(least) === number(highest) ? number(highest) : `${number(least)} to ${number(highest)}`;
  if (scale === "absolute") return `${number(highest)} (the largest in any layer and head)`;
  return scale === "layer"
    ? `the largest in each layer (${range})`
    : `each picture's own largest (${range}); per query means per picture here`;
}

/** How many tokens share a cell, if any do. */
function pooled(thumbs: Thumbs): string[] {
  const widths = (["query", "key"] as const).map((side) => {
    const { count, cells } = sideOf(thumbs, side);
    return side === "query" && !thumbs.hasQuery ? 1 : Math.ceil(count / cells);
  });
  const widest = most(widths);
  const largest = `the ${largestOf(thumbs.measure)} of up to`;
  return widest > 1 ? [`each cell: ${largest} ${widths.join(" × ")} numbers`] : [];
}

/** Choices that small pictures cannot follow, and the threshold, which they can. */
function asides({ words, special, threshold }: Choice): string[] {
  return [
    ...(words ? ["in pieces, not in words"] : []),
    ...(special === "hidden" ? ["special tokens are kept here"] : []),
    ...(threshold > 0 ? [`nothing below ${percent(threshold)} of full color is drawn`] : []),
  ];
}

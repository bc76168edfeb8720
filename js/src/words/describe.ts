/** A picture in words: a sentence and a table. */

import {
  focusedRow,
  keyShares,
  meanNorms,
  type Picture,
  peakOf,
  sumsAtRow,
  type TokenRow,
} from "../data/layer";
import { formatNumber, formatPercent } from "../draw/colors";
import { visibleText } from "../draw/dom";
import { formatSignedNumber, type SignedCell } from "../draw/signedCells";
import { argmax, rankOrder, sharesOf, sumByKey } from "../math/arrays";
import type { TokenRows } from "../math/rows";
import type { Focus } from "../wire/types";
import {
  addProjectionColumn,
  cancellationNotes,
  PROJECTION_CAPTION,
  queryCancellation,
} from "./cancellation";

export interface Table {
  caption: string;
  columns: string[];
  rows: TableCell[][];
  /** A CSS class for tables with another layout. */
  style?: string;
}

/** What the readout shows. */
export interface Description extends Table {
  sentence: string;
  /** Further sentences. */
  notes?: string[];
  /** Further tables below the first. */
  also?: Table[];
}

/** What one chart adds to the description of a view. */
export type Aside = Required<Pick<Description, "notes" | "also">>;

/** The content of a table cell. */
export type TableCell = string | SignedCell;

/** How many rows a table has before the rest is summed. */
const ROWS = 8;

/** What the picture shows for the token in focus, or overall. */
export function describe(picture: Picture, focus: Focus | null): Description {
  const at = focusedRow(picture, focus);
  if (picture.norms) return describeNorms(picture, at);
  if (picture.measure.pair) return describeDifference(picture, at);
  return at === null ? describeAll(picture) : describeToken(picture, at);
}

/** Right-to-left letters and direction marks. */
const TURNING =
  /[\u0590-\u08ff\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Isolation marks, which would break the isolation below. */
const ENCLOSING = /[\u2066-\u2069]/g;

/** A token in quotes, isolated so that right-to-left text does not reorder the sentence. */
export function quote(piece: string): string {
  const text = visibleText(piece);
  if (!TURNING.test(text)) return `\u2018${text}\u2019`;
  return `\u2018\u2068${text.replace(ENCLOSING, "")}\u2069\u2019`;
}

/** The heads that are shown; of several, their mean. */
export function headsLabel({ heads, stream, measure }: Picture): string {
  const [first] = heads;
  const count = stream.heads.length;
  const { axes } = measure.pair?.[0] ?? measure;
  if (first === null && !axes.includes("head")) return "all heads together";
  if (first === null) return count > 1 ? `mean of ${count} heads` : `head ${stream.heads[0]}`;
  if (heads.length === 1) return `head ${first}`;
  if (heads.length === count) return `mean of ${count} heads`;
  return heads.length <= 4
    ? `mean of heads ${heads.join(", ")}`
    : `mean of ${heads.length} of ${count} heads`;
}

function locationPhrase(picture: Picture): string {
  return `Layer ${picture.layer}, ${headsLabel(picture)}, ${picture.measure.label}`;
}

/** Which heads, in a caption. */
function headsCaveat(picture: Picture): string {
  return picture.heads.length > 1 || picture.heads[0] === null ? `, ${headsLabel(picture)}` : "";
}

/** How to read the shares of a signed measure, in a caption. */
function signsCaveat({ measure }: Picture): string {
  return measure.signed ? "; shares are of sizes, signs aside" : "";
}

/** How to read the shares of a signed measure, in a sentence. */
function signsPhrase({ measure }: Picture): string {
  return measure.signed ? ", signs aside" : "";
}

function describeToken(picture: Picture, at: TokenRow): Description {
  const { rows, measure } = picture;
  const takes = at.role === "query";
  const parts = sumsAtRow(picture, picture.sizes, at);
  const others = takes ? rows.key : rows.query;
  const self = quote(rows[at.role].labels[at.row]);
  const token = rows[at.role].pieces[at.row][0];
  const net = sumsAtRow(picture, picture.values, at);
  const portion = sharesOf(parts);
  const order = rankOrder(parts).filter((other) => parts[other] > 0);
  const preposition = takes ? "from" : "to";
  const texts = order.slice(0, 3).map((other) => {
    const sign = net[other] < 0 ? " (negative)" : "";
    return `${formatPercent(portion[other])} ${preposition} ${quote(others.labels[other])}${sign}`;
  });
  const whole = `${takes ? "of all it takes" : "of all it gives"}${signsPhrase(picture)}`;
  const sentence = texts.length
    ? `${locationPhrase(picture)}: ${self} ${takes ? "takes" : "gives"} ${texts.join(", ")} (${whole}).`
    : `${locationPhrase(picture)}: ${self} ${takes ? "takes nothing" : "gives nothing"}.`;
  const cancellation = takes ? queryCancellation(picture, at.row) : null;
  const table: TableCell[][] = topRows(order, net, portion, others);
  return {
    sentence,
    notes: [
      ...(cancellation ? cancellationNotes(cancellation, rows.key.labels.map(quote)) : []),
      ...biasNotes(picture),
    ],
    caption: `${measure.label}${headsCaveat(picture)}: what ${self} (${token}) ${takes ? "takes" : "gives"}${signsCaveat(picture)}${cancellation ? `; ${PROJECTION_CAPTION}` : ""}`,
    columns: [
      ...["#", takes ? "read from" : "received by", "share", measure.label],
      ...(cancellation ? ["along"] : []),
    ],
    rows: cancellation
      ? addProjectionColumn(
          table,
          { listed: order.slice(0, ROWS), others: order.slice(ROWS) },
          cancellation,
        )
      : table,
  };
}

/** The share that comes from biases, if known. */
function biasNotes({ bias_share, layer }: Picture): string[] {
  if (bias_share === null || bias_share === 0) return [];
  return [
    `On average, ${formatPercent(bias_share)} of the vectors of layer ${layer} comes from biases.`,
  ];
}

function topRows(
  order: number[],
  parts: ArrayLike<number>,
  portion: number[],
  { labels, pieces }: TokenRows,
): string[][] {
  const rows = order
    .slice(0, ROWS)
    .map((at) => [
      String(pieces[at][0]),
      visibleText(labels[at]),
      formatPercent(portion[at]),
      formatSignedNumber(parts[at]),
    ]);
  const rest = order.slice(ROWS);
  if (rest.length === 0) return rows;
  const left = rest.reduce((sum, at) => sum + parts[at], 0);
  const leftShare = rest.reduce((sum, at) => sum + portion[at], 0);
  return [
    ...rows,
    ["", `${rest.length} others`, formatPercent(leftShare), formatSignedNumber(left)],
  ];
}

function describeAll(picture: Picture): Description {
  const { rows, given, measure } = picture;
  const sums = measure.signed ? sumByKey(picture.values, picture.keys) : given;
  const net = sums.map((sum) => sum / picture.queries);
  const portion = sharesOf(given);
  const order = rankOrder(given).filter((at) => given[at] > 0);
  return {
    sentence: `${locationPhrase(picture)}: ${overallPhrase(picture, order, portion)}.`,
    notes: biasNotes(picture),
    caption: `${measure.label}${headsCaveat(picture)}: what each token gives, as a share of all and on average${signsCaveat(picture)}`,
    columns: ["#", "read from", "share", `${measure.label}, mean`],
    rows: topRows(order, net, portion, rows.key),
  };
}

/** Which tokens give most; of a signed measure, the value furthest from zero. */
function overallPhrase(picture: Picture, order: number[], portion: number[]): string {
  const { rows, measure, heads } = picture;
  if (order.length === 0) return "nothing is given";
  if (!measure.signed) {
    const most = order
      .slice(0, 3)
      .map((at) => `${quote(rows.key.labels[at])} (${formatPercent(portion[at])})`);
    return `most is read from ${most.join(", ")}`;
  }
  const { head, query, key, value } = peakOf(picture);
  const through = head === null || heads.length === 1 ? "" : ` through head ${head}`;
  const pair = `${quote(rows.query.labels[query])} from ${quote(rows.key.labels[key])}${through}`;
  const sign = value < 0 ? ", negative" : "";
  return `the value furthest from zero goes to ${pair} (${formatSignedNumber(value)}${sign})`;
}

/** By how much the shares of two measures differ, in percentage points. */
function describeDifference(picture: Picture, at: TokenRow | null): Description {
  const { rows, measure } = picture;
  const isKey = at?.role === "key";
  const parts = isKey ? sumsAtRow(picture, picture.values, at) : keyShares(picture, at);
  const others = isKey ? rows.query : rows.key;
  const order = rankOrder(Array.from(parts, Math.abs)).filter((other) => parts[other] !== 0);
  const self = at ? quote(rows[at.role].labels[at.row]) : "";
  const whole = at ? (isKey ? `what ${self} gives` : `what ${self} takes`) : "what a token takes";
  const points = (other: number) => formatPoints(parts[other]);
  const texts = order.slice(0, 3).map((other) => `${quote(others.labels[other])} ${points(other)}`);
  return {
    sentence: `${locationPhrase(picture)}: ${texts.join(", ") || "no difference"} (of ${whole}).`,
    caption: `${measure.meaning}, in percentage points${headsCaveat(picture)}`,
    columns: ["#", isKey ? "received by" : "read from", "points"],
    rows: order
      .slice(0, ROWS)
      .map((other) => [
        String(others.pieces[other][0]),
        visibleText(others.labels[other]),
        points(other),
      ]),
  };
}

/** A difference of shares, always with its sign. */
function formatPoints(difference: number): string {
  return `${difference > 0 ? "+" : ""}${formatSignedNumber(difference * 100)}`;
}

function describeNorms(picture: Picture, at: TokenRow | null): Description {
  const { rows, norms, measure, keys } = picture;
  const sums = norms ? meanNorms(norms, keys) : new Float64Array(keys);
  const order = rankOrder(sums);
  const piece = (key: number) => `${quote(rows.key.labels[key])} (${formatNumber(sums[key])})`;
  const key = at?.role === "key" ? at.row : null;
  const sentence =
    key === null
      ? `${locationPhrase(picture)}: longest is ${piece(argmax(sums))}, shortest ${piece(order[keys - 1])}.`
      : `${locationPhrase(picture)}: ${piece(key)} is number ${order.indexOf(key) + 1} of ${keys}.`;
  return {
    sentence,
    caption: `${measure.label}${headsCaveat(picture)}: ${measure.meaning}`,
    columns: ["#", "token", "share", measure.label],
    rows: topRows(order, sums, sharesOf(sums), rows.key),
  };
}

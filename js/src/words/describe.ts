/** A picture in words: a sentence and a table. */

import { focusedRow, type Picture, peakOf, sumsAtRow, type TokenRow } from "../data/layer";
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
  if (picture.values.length === 0) return describeNorms(picture, at);
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

/** The heads that are shown. */
export function headsLabel({ heads, stream }: Picture): string {
  const [first] = heads;
  if (first === null) return "all heads together";
  if (heads.length === 1) return `head ${first}`;
  if (heads.length === stream.heads.length) return `all ${heads.length} heads`;
  return heads.length <= 4
    ? `heads ${heads.join(", ")}`
    : `${heads.length} of ${stream.heads.length} heads`;
}

function locationPhrase(picture: Picture): string {
  return `Layer ${picture.layer}, ${headsLabel(picture)}, ${picture.measure.label}`;
}

/** How several heads are combined. */
function addedPhrase(picture: Picture): string {
  return picture.heads.length > 1 ? ", added over heads" : "";
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
    caption: `${measure.label}${addedPhrase(picture)}: what ${self} (${token}) ${takes ? "takes" : "gives"}${signsCaveat(picture)}${cancellation ? `; ${PROJECTION_CAPTION}` : ""}`,
    columns: [
      ...["#", takes ? "read from" : "received by", measure.label, "share"],
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
      formatSignedNumber(parts[at]),
      formatPercent(portion[at]),
    ]);
  const rest = order.slice(ROWS);
  if (rest.length === 0) return rows;
  const left = rest.reduce((sum, at) => sum + parts[at], 0);
  const leftShare = rest.reduce((sum, at) => sum + portion[at], 0);
  return [
    ...rows,
    ["", `${rest.length} others`, formatSignedNumber(left), formatPercent(leftShare)],
  ];
}

function describeAll(picture: Picture): Description {
  const { rows, given, measure } = picture;
  const { head, query, key, value } = peakOf(picture);
  const through = head === null || picture.heads.length === 1 ? "" : ` through head ${head}`;
  const pair = `${quote(rows.query.labels[query])} from ${quote(rows.key.labels[key])}${through}`;
  const most = measure.signed ? "the value furthest from zero goes to" : "most goes to";
  const sign = value < 0 ? ", negative" : "";
  const sentence = `${locationPhrase(picture)}: ${most} ${pair} (${formatSignedNumber(value)}${sign}).`;
  const net = measure.signed ? sumByKey(picture.values, picture.keys) : given;
  const portion = sharesOf(given);
  const order = rankOrder(given).filter((at) => given[at] > 0);
  return {
    sentence,
    notes: biasNotes(picture),
    caption: `${measure.label}${addedPhrase(picture)}: what each token gives to all${signsCaveat(picture)}`,
    columns: ["#", "read from", measure.label, "share"],
    rows: topRows(order, net, portion, rows.key),
  };
}

function describeNorms(picture: Picture, at: TokenRow | null): Description {
  const { rows, norms, measure, keys } = picture;
  const sums = sumByKey(norms?.values ?? new Float32Array(), keys);
  const order = rankOrder(sums);
  const piece = (key: number) => `${quote(rows.key.labels[key])} (${formatNumber(sums[key])})`;
  const key = at?.role === "key" ? at.row : null;
  const sentence =
    key === null
      ? `${locationPhrase(picture)}: longest is ${piece(argmax(sums))}, shortest ${piece(order[keys - 1])}.`
      : `${locationPhrase(picture)}: ${piece(key)} is number ${order.indexOf(key) + 1} of ${keys}.`;
  return {
    sentence,
    caption: `${measure.label}${addedPhrase(picture)}: ${measure.meaning}`,
    columns: ["#", "token", measure.label, "share"],
    rows: topRows(order, sums, sharesOf(sums), rows.key),
  };
}

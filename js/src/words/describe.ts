/** The picture in words: one sentence, and the rows of a table. */

import { type Picture, peakOf, rowIn } from "../data/layer";
import { number, percent } from "../draw/colors";
import { visible } from "../draw/dom";
import { type Signed, signedNumber } from "../draw/signedCells";
import { columnOf, given, greatest, rank, rowOf, shares } from "../math/arrays";
import type { Rows } from "../math/rows";
import type { Focus } from "../wire/types";
import { ALONG, leanNotes, leanOf, withLean } from "./cancellation";

export interface Table {
  caption: string;
  columns: string[];
  rows: Cell[][];
  /** A class of its own, for tables that look otherwise. */
  style?: string;
}

/** What the readout shows. */
export interface Description extends Table {
  sentence: string;
  /** What else there is to say, a sentence each. */
  notes?: string[];
  /** Further tables below the first. */
  also?: Table[];
}

/** What one picture adds to the description of another. */
export type Aside = Required<Pick<Description, "notes" | "also">>;

/** What stands in a table. */
export type Cell = string | Signed;

/** How many rows a table has before the others are added up. */
const ROWS = 8;

/** What the picture says about the token in focus, or on the whole. */
export function describe(picture: Picture, focus: Focus | null): Description {
  const at = rowIn(picture, focus);
  if (picture.values.length === 0) return describeNorms(picture, at);
  return at === null ? describeAll(picture) : describeToken(picture, at);
}

/** Letters that are read from right to left, and marks that turn the text after them. */
const TURNING =
  /[\u0590-\u08ff\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Marks that open or close an enclosure, which would end ours too soon or not at all. */
const ENCLOSING = /[\u2066-\u2069]/g;

/** A token in quotes; one that is read from right to left does not turn the sentence round. */
export function quoted(piece: string): string {
  const text = visible(piece);
  if (!TURNING.test(text)) return `\u2018${text}\u2019`;
  return `\u2018\u2068${text.replace(ENCLOSING, "")}\u2069\u2019`;
}

/** Which heads are shown. */
export function headsShown({ heads, stream }: Picture): string {
  const [first] = heads;
  if (first === null) return "all heads together";
  if (heads.length === 1) return `head ${first}`;
  if (heads.length === stream.heads.length) return `all ${heads.length} heads`;
  return heads.length <= 4
    ? `heads ${heads.join(", ")}`
    : `${heads.length} of ${stream.heads.length} heads`;
}

function place(picture: Picture): string {
  return `Layer ${picture.layer}, ${headsShown(picture)}, ${picture.measure.label}`;
}

/** How a number over several heads came about. */
function added(picture: Picture): string {
  return picture.heads.length > 1 ? ", added over heads" : "";
}

/** How a table's shares are to be read, where numbers may be negative. */
function caveat({ measure }: Picture): string {
  return measure.signed ? "; shares are of sizes, signs aside" : "";
}

type At = NonNullable<ReturnType<typeof rowIn>>;

/** How much one row takes from, or gives to, every row of the other side, signs aside. */
export function partsOf(picture: Picture, at: At): Float64Array {
  return summedAt(picture, picture.sizes, at);
}

function summedAt({ queries, keys }: Picture, values: Float32Array, { side, row }: At) {
  return side === "query"
    ? rowOf(values, queries, keys, row)
    : columnOf(values, queries, keys, row);
}

/** What shares are of, where numbers may be negative. */
function aside({ measure }: Picture): string {
  return measure.signed ? ", signs aside" : "";
}

function describeToken(picture: Picture, at: At): Description {
  const { rows, measure } = picture;
  const takes = at.side === "query";
  const parts = partsOf(picture, at);
  const others = takes ? rows.key : rows.query;
  const self = quoted(rows[at.side].labels[at.row]);
  const token = rows[at.side].pieces[at.row][0];
  const net = summedAt(picture, picture.values, at);
  const portion = shares(parts);
  const order = rank(parts).filter((other) => parts[other] > 0);
  const preposition = takes ? "from" : "to";
  const told = order.slice(0, 3).map((other) => {
    const sign = net[other] < 0 ? " (negative)" : "";
    return `${percent(portion[other])} ${preposition} ${quoted(others.labels[other])}${sign}`;
  });
  const whole = `${takes ? "of all it takes" : "of all it gives"}${aside(picture)}`;
  const sentence = told.length
    ? `${place(picture)}: ${self} ${takes ? "takes" : "gives"} ${told.join(", ")} (${whole}).`
    : `${place(picture)}: ${self} ${takes ? "takes nothing" : "gives nothing"}.`;
  const lean = takes ? leanOf(picture, at.row) : null;
  const table: Cell[][] = topRows(order, net, portion, others);
  return {
    sentence,
    notes: [...(lean ? leanNotes(lean, rows.key.labels.map(quoted)) : []), ...biases(picture)],
    caption: `${measure.label}${added(picture)}: what ${self} (${token}) ${takes ? "takes" : "gives"}${caveat(picture)}${lean ? `; ${ALONG}` : ""}`,
    columns: [
      ...["#", takes ? "read from" : "received by", measure.label, "share"],
      ...(lean ? ["along"] : []),
    ],
    rows: lean
      ? withLean(table, { listed: order.slice(0, ROWS), others: order.slice(ROWS) }, lean)
      : table,
  };
}

/** What comes from no token, where it is known. */
function biases({ bias_share, layer }: Picture): string[] {
  if (bias_share === null || bias_share === 0) return [];
  return [
    `On average ${percent(bias_share)} of the vectors of layer ${layer} comes from no token (biases).`,
  ];
}

function topRows(
  order: number[],
  parts: ArrayLike<number>,
  portion: number[],
  { labels, pieces }: Rows,
): string[][] {
  const rows = order
    .slice(0, ROWS)
    .map((at) => [
      String(pieces[at][0]),
      visible(labels[at]),
      signedNumber(parts[at]),
      percent(portion[at]),
    ]);
  const rest = order.slice(ROWS);
  if (rest.length === 0) return rows;
  const left = rest.reduce((sum, at) => sum + parts[at], 0);
  const leftShare = rest.reduce((sum, at) => sum + portion[at], 0);
  return [...rows, ["", `${rest.length} others`, signedNumber(left), percent(leftShare)]];
}

function describeAll(picture: Picture): Description {
  const { rows, gifts, measure } = picture;
  const { head, query, key, value } = peakOf(picture);
  const through = head === null || picture.heads.length === 1 ? "" : ` through head ${head}`;
  const pair = `${quoted(rows.query.labels[query])} from ${quoted(rows.key.labels[key])}${through}`;
  const most = measure.signed ? "furthest from zero is what goes to" : "most goes to";
  const sign = value < 0 ? ", negative" : "";
  const sentence = `${place(picture)}: ${most} ${pair} (${signedNumber(value)}${sign}).`;
  const net = measure.signed ? given(picture.values, picture.keys) : gifts;
  const portion = shares(gifts);
  const order = rank(gifts).filter((at) => gifts[at] > 0);
  return {
    sentence,
    notes: biases(picture),
    caption: `${measure.label}${added(picture)}: what each token gives to all${caveat(picture)}`,
    columns: ["#", "read from", measure.label, "share"],
    rows: topRows(order, net, portion, rows.key),
  };
}

function describeNorms(picture: Picture, at: At | null): Description {
  const { rows, norms, measure, keys } = picture;
  const sums = given(norms?.values ?? new Float32Array(), keys);
  const order = rank(sums);
  const piece = (key: number) => `${quoted(rows.key.labels[key])} (${number(sums[key])})`;
  const key = at?.side === "key" ? at.row : null;
  const sentence =
    key === null
      ? `${place(picture)}: longest is ${piece(greatest(sums))}, shortest ${piece(order[keys - 1])}.`
      : `${place(picture)}: ${piece(key)} is number ${order.indexOf(key) + 1} of ${keys}.`;
  return {
    sentence,
    caption: `${measure.label}${added(picture)}: ${measure.meaning}`,
    columns: ["#", "token", measure.label, "share"],
    rows: topRows(order, sums, shares(sums), rows.key),
  };
}

/** The picture in words: one sentence, and the rows of a table. */

import { columnOf, given, greatest, rank, rowOf, shares } from "./derive";
import { visible } from "./dom";
import type { Focus } from "./model";
import { type Picture, peakOf } from "./picture";
import { number, percent } from "./scales";

/** What the readout shows. */
export interface Description {
  sentence: string;
  caption: string;
  columns: string[];
  rows: string[][];
}

/** How many rows a table has before the others are added up. */
const ROWS = 8;

/** What the picture says about the token in focus, or on the whole. */
export function describe(picture: Picture, focus: Focus | null): Description {
  if (picture.values.length === 0) return describeNorms(picture, focus);
  return focus === null ? describeAll(picture) : describeToken(picture, focus);
}

/** A token in quotes. */
export function quoted(piece: string): string {
  return `\u2018${visible(piece)}\u2019`;
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

function describeToken(picture: Picture, { side, token }: Focus): Description {
  const { stream, values, queries, keys, measure } = picture;
  const takes = side === "query";
  const parts = takes
    ? rowOf(values, queries, keys, token)
    : columnOf(values, queries, keys, token);
  const others = takes ? stream.keys : stream.queries;
  const self = quoted((takes ? stream.queries : stream.keys).pieces[token]);
  const portion = shares(parts);
  const order = rank(parts).filter((other) => parts[other] > 0);
  const preposition = takes ? "from" : "to";
  const told = order
    .slice(0, 3)
    .map((other) => `${percent(portion[other])} ${preposition} ${quoted(others.pieces[other])}`);
  const whole = takes ? "of all it takes" : "of all it gives";
  const sentence = told.length
    ? `${place(picture)}: ${self} ${takes ? "takes" : "gives"} ${told.join(", ")} (${whole}).`
    : `${place(picture)}: ${self} ${takes ? "takes nothing" : "gives nothing"}.`;
  return {
    sentence,
    caption: `${measure.label}${added(picture)}: what ${self} (${token}) ${takes ? "takes" : "gives"}`,
    columns: ["#", takes ? "read from" : "received by", measure.label, "share"],
    rows: topRows(order, parts, portion, others.pieces),
  };
}

function topRows(
  order: number[],
  parts: ArrayLike<number>,
  portion: number[],
  pieces: string[],
): string[][] {
  const rows = order
    .slice(0, ROWS)
    .map((at) => [String(at), visible(pieces[at]), number(parts[at]), percent(portion[at])]);
  const rest = order.slice(ROWS);
  if (rest.length === 0) return rows;
  const left = rest.reduce((sum, at) => sum + parts[at], 0);
  const leftShare = rest.reduce((sum, at) => sum + portion[at], 0);
  return [...rows, ["", `${rest.length} others`, number(left), percent(leftShare)]];
}

function describeAll(picture: Picture): Description {
  const { stream, values, keys, measure } = picture;
  const { head, query, key, value } = peakOf(picture);
  const through = head === null || picture.heads.length === 1 ? "" : ` through head ${head}`;
  const pieces = { query: stream.queries.pieces, key: stream.keys.pieces };
  const sentence =
    `${place(picture)}: most goes to ${quoted(pieces.query[query])} from ` +
    `${quoted(pieces.key[key])}${through} (${number(value)}).`;
  const gifts = given(values, keys);
  const portion = shares(gifts);
  const order = rank(gifts).filter((at) => gifts[at] > 0);
  return {
    sentence,
    caption: `${measure.label}${added(picture)}: what each token gives to all`,
    columns: ["#", "read from", measure.label, "share"],
    rows: topRows(order, gifts, portion, pieces.key),
  };
}

function describeNorms(picture: Picture, focus: Focus | null): Description {
  const { stream, norms, measure, keys } = picture;
  const sums = given(norms?.values ?? new Float32Array(), keys);
  const order = rank(sums);
  const piece = (key: number) => `${quoted(stream.keys.pieces[key])} (${number(sums[key])})`;
  const key = focus?.side === "key" ? focus.token : null;
  const sentence =
    key === null
      ? `${place(picture)}: longest is ${piece(greatest(sums))}, shortest ${piece(order[keys - 1])}.`
      : `${place(picture)}: ${piece(key)} is number ${order.indexOf(key) + 1} of ${keys}.`;
  return {
    sentence,
    caption: `${measure.label}${added(picture)}: ${measure.meaning}`,
    columns: ["#", "token", measure.label, "share"],
    rows: topRows(order, sums, shares(sums), stream.keys.pieces),
  };
}

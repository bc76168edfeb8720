/** Visible text: broken into lines, cut off at an ellipsis. Pure. */

import { type Attributes, escapeXml, markup, opacityOrNull } from "../draw/xml";
import type { Ink } from "./color";
import { type Box, onPage, type Span } from "./geometry";

/** The style of a text. */
export interface Look {
  size: number;
  weight: string;
  ink: Ink;
  /** The text stroke, in pixels. */
  stroke: number;
  /** The color of the halo. */
  halo: string | null;
}

/** One line of text with the same look. */
export interface Line extends Look {
  text: string;
  span: Span;
  /** The distance from the top of the span to the baseline. */
  ascent: number;
  /** The edge that stays in place if the font changes. */
  edge: "left" | "middle" | "right";
  isRtl: boolean;
  isTurned: boolean;
  /** Adjacent lines of the same block may be joined. */
  block: unknown;
}

/** A grapheme and its position. */
export interface Letter {
  text: string;
  span: Span | null;
}

/** Letters grouped by line; those without a position stay with the previous one. */
export function breakLines(letters: Letter[]): Letter[][] {
  const lines: Letter[][] = [];
  let middle = Number.NaN;
  for (const letter of letters) {
    const { span } = letter;
    const here = span ? (span.top + span.bottom) / 2 : middle;
    const isSame = Math.abs(here - middle) < (span ? (span.bottom - span.top) / 2 : 1);
    if (lines.length === 0 || (span !== null && !isSame && !Number.isNaN(middle))) lines.push([]);
    if (span) middle = here;
    lines[lines.length - 1].push(letter);
  }
  return lines;
}

/** The span of some letters; null if none has a position. */
export function spanOf(letters: Letter[]): Span | null {
  return letters.reduce<Span | null>(
    (all, { span }) => (span ? unionOfSpans(all, span) : all),
    null,
  );
}

function unionOfSpans(one: Span | null, other: Span): Span {
  if (!one) return other;
  return {
    start: Math.min(one.start, other.start),
    end: Math.max(one.end, other.end),
    top: Math.min(one.top, other.top),
    bottom: Math.max(one.bottom, other.bottom),
  };
}

/**
 * The position of a text that a style sheet puts before the `first` text of an element.
 *
 * It has no position of its own: it is the part of the element's boxes without text. If a line
 * breaks inside it, only its end is on the line of the first.
 */
export function positionBefore(
  text: string,
  width: number,
  boxes: Span[],
  first: Span | null,
): { text: string; span: Span } {
  const middle = ({ top, bottom }: Span) => (top + bottom) / 2;
  const level = boxes.find(
    (box) => first && Math.abs(middle(box) - middle(first)) < (box.bottom - box.top) / 2,
  );
  const room = first && level ? first.start - level.start : 0;
  if (!first || !level || room < 1) {
    return { text, span: { ...boxes[0], end: boxes[0].start + width } };
  }
  const isWhole = room > width - 1;
  return { text: isWhole ? text : text.trimStart(), span: { ...level, end: first.start } };
}

const ELLIPSIS = "…";

/** What remains of a line that is too long, with an ellipsis of width `dots`. */
export function ellipsize(
  letters: Letter[],
  limit: number,
  dots: number,
  isRtl: boolean,
): { text: string; span: Span } | null {
  const seen = letters.filter(({ span }) => span === null || span.end <= limit - dots + 0.01);
  const span = spanOf(seen) ?? spanOf(letters.slice(0, 1));
  if (!span) return null;
  const text = seen.map((letter) => letter.text).join("");
  const start = Math.min(span.start, limit - dots);
  const end = seen.length > 0 ? Math.min(limit, span.end + dots) : limit;
  // The ellipsis is at the right, where right-to-left text begins.
  return { text: isRtl ? ELLIPSIS + text : text + ELLIPSIS, span: { ...span, start, end } };
}

/** The largest gap between two pieces of one line, as a fraction of the font size. */
const APART = 0.5;

/** A gap as wide as this is a space. */
const SPACE = 0.18;

/** Markup, or a line that may still be joined with the next. */
export type Mark = Line | string;

/** Joins pieces of text that follow each other on one line. */
export function joinLines(marks: Mark[]): Mark[] {
  const all: Mark[] = [];
  for (const mark of marks) {
    const before = all.at(-1);
    const both = isLine(before) && isLine(mark) ? joinPair(before, mark) : null;
    if (both) all[all.length - 1] = both;
    else all.push(mark);
  }
  return all;
}

function isLine(mark: Mark | undefined): mark is Line {
  return typeof mark === "object";
}

function joinPair(one: Line, other: Line): Line | null {
  const facts = ({ text, span, ascent, ...rest }: Line) => JSON.stringify({ ...rest, block: 0 });
  if (one.block !== other.block || facts(one) !== facts(other)) return null;
  if (one.isRtl || one.edge !== "left") return null;
  const isLevel = Math.abs(one.span.top - other.span.top) < 1;
  const gap = other.span.start - one.span.end;
  if (!isLevel || Math.abs(gap) > APART * one.size) return null;
  const isWritten = /\s$/.test(one.text) || /^\s/.test(other.text);
  const space = gap > SPACE * one.size && !isWritten ? " " : "";
  const text = one.text + space + other.text;
  return { ...one, text, span: unionOfSpans(one.span, other.span) };
}

/** The box of a line on the page. */
export function boxOf({ span, isTurned }: Line): Box {
  return onPage(span, isTurned);
}

/** A line as SVG; a halo is a second text, because few tools support paint-order. */
export function lineToSvg(line: Line): string {
  const spaced = line.text.replace(/\s+/g, " ");
  // Trailing spaces are useless in left-aligned text.
  const text = line.edge === "left" && !line.isRtl ? spaced.trimEnd() : spaced;
  if (text.trim() === "") return "";
  const { size, weight, span, ascent, edge, isRtl, isTurned } = line;
  const x = { left: span.start, middle: (span.start + span.end) / 2, right: span.end }[edge];
  const at = {
    x,
    y: span.top + ascent,
    "font-size": size,
    "font-weight": weight === "400" ? null : weight,
    "text-anchor": anchorOf(edge, isRtl),
    direction: isRtl ? "rtl" : null,
    transform: isTurned ? "rotate(-90)" : null,
    "xml:space": text === text.trim() ? null : "preserve",
  };
  return haloToSvg(line, at, text);
}

function haloToSvg({ ink, stroke, halo }: Look, at: Attributes, text: string): string {
  const fill = { fill: ink.color, "fill-opacity": opacityOrNull(ink.alpha) };
  const bold = stroke > 0 ? { stroke: ink.color, "stroke-width": stroke } : {};
  const own = markup("text", { ...at, ...fill, ...bold }, escapeXml(text));
  if (halo === null) return own;
  const edge = { stroke: halo, "stroke-width": 3, "stroke-linejoin": "round" };
  return (
    markup("text", { ...at, fill: halo, ...edge, "aria-hidden": "true" }, escapeXml(text)) + own
  );
}

/** The text-anchor for an edge, which depends on the reading direction. */
function anchorOf(edge: Line["edge"], isRtl: boolean): string | null {
  if (edge === "middle") return "middle";
  return (edge === "right") !== isRtl ? "end" : null;
}

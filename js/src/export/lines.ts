/** Text as it is seen: broken into lines, cut where an ellipsis stands. Pure. */

import { type Attributes, escaped, markup, part } from "../draw/xml";
import type { Ink } from "./color";
import { type Box, onPage, type Span } from "./place";

/** How a text looks. */
export interface Look {
  size: number;
  weight: string;
  ink: Ink;
  /** What makes it bolder without being wider, in pixels. */
  stroke: number;
  /** The color around its letters. */
  halo: string | null;
}

/** One line of text with the same look. */
export interface Line extends Look {
  text: string;
  span: Span;
  /** How far below the span's top the letters stand. */
  ascent: number;
  /** Which edge stays where it is when the fonts are others. */
  edge: "left" | "middle" | "right";
  isRtl: boolean;
  isTurned: boolean;
  /** Lines of the same block may be joined where they touch. */
  block: unknown;
}

/** A letter, or what is shown as one, and where it is. */
export interface Letter {
  text: string;
  span: Span | null;
}

/** Letters by the line they are on; those without a place stay with the one before. */
export function broken(letters: Letter[]): Letter[][] {
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

/** The span of some letters; null where none has a place. */
export function spanOf(letters: Letter[]): Span | null {
  return letters.reduce<Span | null>((all, { span }) => (span ? union(all, span) : all), null);
}

function union(one: Span | null, other: Span): Span {
  if (!one) return other;
  return {
    start: Math.min(one.start, other.start),
    end: Math.max(one.end, other.end),
    top: Math.min(one.top, other.top),
    bottom: Math.max(one.bottom, other.bottom),
  };
}

/**
 * Where a text stands that a style sheet puts before the `first` of an element's own.
 *
 * It has no place of its own: it is what an element's boxes have more than the text in them. Where
 * a line breaks inside it, only its end is on the line of the first.
 */
export function placeBefore(
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

/** What is left of a line that is too long for its room, with an ellipsis `dots` wide. */
export function cut(
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
  // The dots stand at the right; that is where a text from right to left begins.
  return { text: isRtl ? ELLIPSIS + text : text + ELLIPSIS, span: { ...span, start, end } };
}

/** How far apart two pieces of one line may be, as a part of the letters' size. */
const APART = 0.5;

/** Markup, or a line that may still be joined with the next. */
export type Mark = Line | string;

/** Pieces of text that follow each other on one line, as one. */
export function joined(marks: Mark[]): Mark[] {
  const all: Mark[] = [];
  for (const mark of marks) {
    const before = all.at(-1);
    const both = isLine(before) && isLine(mark) ? together(before, mark) : null;
    if (both) all[all.length - 1] = both;
    else all.push(mark);
  }
  return all;
}

function isLine(mark: Mark | undefined): mark is Line {
  return typeof mark === "object";
}

function together(one: Line, other: Line): Line | null {
  const facts = ({ text, span, ascent, ...rest }: Line) => JSON.stringify({ ...rest, block: 0 });
  if (one.block !== other.block || facts(one) !== facts(other)) return null;
  if (one.isRtl || one.edge !== "left") return null;
  const isLevel = Math.abs(one.span.top - other.span.top) < 1;
  const gap = other.span.start - one.span.end;
  if (!isLevel || Math.abs(gap) > APART * one.size) return null;
  return { ...one, text: one.text + other.text, span: union(one.span, other.span) };
}

/** The box of a line on the page. */
export function boxOf({ span, isTurned }: Line): Box {
  return onPage(span, isTurned);
}

/** A line as SVG; what glows is written twice, since few tools know how to paint the edge first. */
export function written(line: Line): string {
  const spaced = line.text.replace(/\s+/g, " ");
  // At the end of what is held at its start, a space is of no use.
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
  return haloed(line, at, text);
}

function haloed({ ink, stroke, halo }: Look, at: Attributes, text: string): string {
  const fill = { fill: ink.color, "fill-opacity": part(ink.alpha) };
  const bold = stroke > 0 ? { stroke: ink.color, "stroke-width": stroke } : {};
  const own = markup("text", { ...at, ...fill, ...bold }, escaped(text));
  if (halo === null) return own;
  const edge = { stroke: halo, "stroke-width": 3, "stroke-linejoin": "round" };
  return markup("text", { ...at, fill: halo, ...edge, "aria-hidden": "true" }, escaped(text)) + own;
}

/** What is fixed at an edge of the page is the start or the end of a text, as it is read. */
function anchorOf(edge: Line["edge"], isRtl: boolean): string | null {
  if (edge === "middle") return "middle";
  return (edge === "right") !== isRtl ? "end" : null;
}

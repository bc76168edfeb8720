/** The lines of text of an element, measured on the page. */

import { inkOf, inksIn } from "./color";
import { alongText, type Box, type Span } from "./geometry";
import {
  breakLines,
  ellipsize,
  type Letter,
  type Line,
  type Look,
  positionBefore,
  spanOf,
} from "./lines";

/** What an element passes on to its children. */
export interface Inherited {
  opacity: number;
  /** Nothing outside is visible. */
  clip: Box;
  /** Whether content may be covered by something that does not scroll. */
  isScrolled: boolean;
  isTurned: boolean;
}

/** The lines of a text node. */
export function linesOf(node: Text, inherited: Inherited): Line[] {
  const element = node.parentElement;
  if (!element || node.data.trim() === "") return [];
  const look = lookOf(element, inherited.opacity);
  if (!look) return [];
  const whole = rangeOver(node, 0, node.length);
  const rects = [...whole.getClientRects()].map((rect) => alongText(rect, inherited.isTurned));
  if (rects.length === 0) return [];
  const frame = frameOf(element, inherited.isTurned);
  const fits = rects.length === 1 && rects[0].end <= frame.limit + 0.5;
  const lines = fits
    ? [{ text: node.data, span: rects[0] }]
    : breakLines(lettersOf(node, inherited.isTurned)).map((letters) =>
        lineIn(letters, element, frame),
      );
  return lines.flatMap((line) => (line ? [{ ...look, ...frame.facts, ...line }] : []));
}

/** The `::before` text of an element. */
export function linesBefore(element: Element, inherited: Inherited): Line[] {
  const text = /^"(.*)"$/.exec(getComputedStyle(element, "::before").content)?.[1];
  const boxes = [...element.getClientRects()].map((rect) => alongText(rect, inherited.isTurned));
  const look = text && boxes.length > 0 ? lookOf(element, inherited.opacity) : null;
  if (!text || !look) return [];
  const inside = document.createRange();
  inside.selectNodeContents(element);
  const [rect] = inside.getClientRects();
  const first = rect ? alongText(rect, inherited.isTurned) : null;
  const position = positionBefore(text, widthOf(text, element), boxes, first);
  return [{ ...look, ...frameOf(element, inherited.isTurned).facts, ...position }];
}

function rangeOver(node: Text, from: number, to: number): Range {
  const range = document.createRange();
  range.setStart(node, from);
  range.setEnd(node, to);
  return range;
}

function lettersOf(node: Text, isTurned: boolean): Letter[] {
  let from = 0;
  return graphemes(node.data).map((text) => {
    const range = rangeOver(node, from, from + text.length);
    from += text.length;
    const [rect] = [...range.getClientRects()].filter(({ width, height }) => width * height > 0);
    return { text, span: rect ? alongText(rect, isTurned) : null };
  });
}

/** The graphemes of a text. */
function graphemes(text: string): string[] {
  if (!("Segmenter" in Intl)) return [...text];
  const parts = new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text);
  return [...parts].map(({ segment }) => segment);
}

function lineIn(letters: Letter[], element: Element, { limit, facts }: Frame) {
  const span = spanOf(letters);
  if (!span) return null;
  if (span.end <= limit + 0.5) return { text: letters.map(({ text }) => text).join(""), span };
  return ellipsize(letters, limit, widthOf("…", element), facts.isRtl);
}

/** The facts shared by all lines of a block. */
interface Frame {
  /** The position where text is cut off with an ellipsis. */
  limit: number;
  facts: Pick<Line, "edge" | "isRtl" | "isTurned" | "block" | "ascent">;
}

function frameOf(element: Element, isTurned: boolean): Frame {
  const block = blockOf(element);
  const style = getComputedStyle(block);
  const span = alongText(block.getBoundingClientRect(), isTurned);
  const isCut = style.textOverflow === "ellipsis" && style.overflowX !== "visible";
  const limit = isCut ? span.end - Number.parseFloat(style.paddingRight) : Number.POSITIVE_INFINITY;
  const isRtl = getComputedStyle(element).direction === "rtl";
  const facts = { edge: edgeOf(block, style, span, isTurned), isRtl, isTurned, block };
  return { limit, facts: { ...facts, ascent: ascentOf(element) } };
}

function blockOf(element: Element): Element {
  const isInline = getComputedStyle(element).display === "inline";
  return isInline && element.parentElement ? blockOf(element.parentElement) : element;
}

/** The edge at which a block's text is aligned: by its style, or by the block's own position. */
function edgeOf(
  block: Element,
  style: CSSStyleDeclaration,
  span: Span,
  isTurned: boolean,
): Line["edge"] {
  const { textAlign, direction, position } = style;
  if (textAlign === "center") return "middle";
  if (textAlign === "right" || (textAlign === "start" && direction === "rtl")) return "right";
  if (position !== "absolute" || !block.parentElement) return "left";
  const around = alongText(block.parentElement.getBoundingClientRect(), isTurned);
  const isRight = Math.abs(span.end - around.end) < 1 && span.start - around.start > 1;
  return isRight ? "right" : "left";
}

function lookOf(element: Element, opacity: number): Look | null {
  const style = getComputedStyle(element);
  const ink = inkOf(style.color);
  if (!ink || style.visibility !== "visible") return null;
  const stroke = Number.parseFloat(style.webkitTextStrokeWidth) || 0;
  const [halo] = inksIn(style.textShadow);
  return {
    size: Number.parseFloat(style.fontSize),
    weight: style.fontWeight,
    ink: { ...ink, alpha: ink.alpha * opacity },
    stroke,
    halo: halo?.color ?? null,
  };
}

const ascents = new Map<string, number>();
let canvas: CanvasRenderingContext2D | null = null;

/** The metrics of a text in an element's font. */
function metricsOf(text: string, element: Element): TextMetrics | null {
  canvas ??= document.createElement("canvas").getContext("2d");
  if (!canvas) return null;
  canvas.font = fontOf(element);
  return canvas.measureText(text);
}

function fontOf(element: Element): string {
  const { fontStyle, fontWeight, fontSize, fontFamily } = getComputedStyle(element);
  return `${fontStyle} ${fontWeight} ${fontSize} ${fontFamily}`;
}

function widthOf(text: string, element: Element): number {
  return metricsOf(text, element)?.width ?? 0;
}

/** The distance from the top of the box to the baseline. */
function ascentOf(element: Element): number {
  const font = fontOf(element);
  const known = ascents.get(font) ?? metricsOf("x", element)?.fontBoundingBoxAscent;
  const ascent = known ?? Number.parseFloat(getComputedStyle(element).fontSize) * 0.93;
  ascents.set(font, ascent);
  return ascent;
}

/** Everything that can be seen of a part of the page, as marks from the lowest to the topmost. */

import { markup, part } from "../draw/xml";
import { platesOf } from "./boxes";
import { copied } from "./inline";
import { boxOf, joined, type Line, type Mark, written } from "./lines";
import { around, type Box, placed, shared } from "./place";
import { pictureOf } from "./raster";
import { linesBefore, linesOf, type Setting } from "./runs";

/** What serves the reader of a screen only. */
const TOOLS = "button, select, input, output, label, .nv-strip, .nv-tools, .nv-sorter";

export interface Walk {
  markup: string;
  /** What all marks together cover; null where there are none. */
  extent: Box | null;
  /** Whether part of something that scrolls was out of sight. */
  isPartial: boolean;
}

/** The marks that canvases have instead of their pixels. */
export type Vectors = Map<HTMLCanvasElement, string[]>;

/** What the walk has come across so far. */
interface Found extends Omit<Walk, "markup"> {
  vectors: Vectors;
  paper: string;
  names: number;
}

const EVERYWHERE: Box = {
  left: Number.NEGATIVE_INFINITY,
  top: Number.NEGATIVE_INFINITY,
  right: Number.POSITIVE_INFINITY,
  bottom: Number.POSITIVE_INFINITY,
};

export function walk(root: Element, vectors: Vectors, paper: string): Walk {
  const found: Found = { vectors, paper, names: 0, extent: null, isPartial: false };
  const setting = { opacity: 1, clip: EVERYWHERE, isScrolled: false, isTurned: false };
  const marks = marksOf(root, setting, found);
  return { markup: put(marks), extent: found.extent, isPartial: found.isPartial };
}

function put(marks: Mark[]): string {
  return joined(marks)
    .map((mark) => (typeof mark === "string" ? mark : written(mark)))
    .filter((mark) => mark !== "")
    .join("\n");
}

function marksOf(element: Element, above: Setting, found: Found): Mark[] {
  const style = getComputedStyle(element);
  const opacity = above.opacity * Number(style.opacity);
  if (element.matches(TOOLS) || style.display === "none" || opacity < 0.01) return [];
  const setting = { ...above, opacity, isTurned: above.isTurned || isTurned(style.transform) };
  if (element instanceof HTMLCanvasElement) return canvasMarks(element, setting, found);
  if (element instanceof SVGSVGElement) return drawingMarks(element, setting, found);
  const paper = above.isScrolled ? null : found.paper;
  const plates = platesOf(element, opacity, paper, () => name(found))
    .filter(({ box }) => sees(box, setting, found))
    .map((plate) => plate.markup);
  const window = windowOf(element, style);
  if (!window) return [...plates, ...inside(element, setting, found)];
  found.isPartial = true;
  const clip = shared(window, setting.clip);
  if (!clip) return plates;
  const marks = inside(element, { ...setting, clip, isScrolled: true }, found);
  return [...plates, clipped(marks, clip, found)];
}

/** Whether a box can be seen; if so, the figure is at least so large. */
function sees(box: Box, { clip }: Setting, found: Found): boolean {
  const seen = shared(box, clip);
  if (seen) found.extent = around(found.extent, seen);
  return seen !== null;
}

function name(found: Found): string {
  found.names++;
  return `part-${found.names}`;
}

/** Whether lines are read upwards. */
function isTurned(transform: string): boolean {
  const [, sine] = /^matrix\([^,]+,\s*([^,]+),/.exec(transform) ?? [];
  return Number(sine ?? 0) < -0.9;
}

/** The part of an element through which what is too large for it is seen. */
function windowOf(element: Element, { overflowX, textOverflow }: CSSStyleDeclaration): Box | null {
  const { scrollWidth, clientWidth, scrollHeight, clientHeight } = element;
  const isLarge = scrollWidth > clientWidth + 1 || scrollHeight > clientHeight + 1;
  if (overflowX === "visible" || textOverflow === "ellipsis" || !isLarge) return null;
  const rect = element.getBoundingClientRect();
  const [left, top] = [rect.left + element.clientLeft, rect.top + element.clientTop];
  return { left, top, right: left + clientWidth, bottom: top + clientHeight };
}

function clipped(marks: Mark[], clip: Box, found: Found): string {
  const id = name(found);
  const hole = markup("clipPath", { id }, markup("rect", placed(clip)));
  return `${hole}\n${markup("g", { "clip-path": `url(#${id})` }, put(marks))}`;
}

/** Text and elements inside, in the order in which a browser paints them. */
function inside(element: Element, setting: Setting, found: Found): Mark[] {
  const isSeen = (line: Line) => sees(boxOf(line), setting, found);
  const layers = [...element.childNodes].map((node) => {
    if (node instanceof Text) return { height: 0, marks: linesOf(node, setting).filter(isSeen) };
    if (!(node instanceof Element)) return { height: 0, marks: [] };
    return { height: heightOf(node), marks: marksOf(node, setting, found) };
  });
  layers.sort((one, other) => one.height - other.height);
  return [...linesBefore(element, setting).filter(isSeen), ...layers.flatMap(({ marks }) => marks)];
}

/** Higher is nearer to the reader: what is positioned lies above what is not. */
function heightOf(element: Element): number {
  const { zIndex, position } = getComputedStyle(element);
  return zIndex === "auto" ? (position === "static" ? 0 : 0.5) : Number(zIndex) + 0.5;
}

function drawingMarks(drawing: SVGSVGElement, setting: Setting, found: Found): Mark[] {
  return sees(drawing.getBoundingClientRect(), setting, found)
    ? [copied(drawing, setting.opacity)]
    : [];
}

function canvasMarks(canvas: HTMLCanvasElement, setting: Setting, found: Found): Mark[] {
  const box = canvas.getBoundingClientRect();
  const vectors = found.vectors.get(canvas);
  const opacity = part(setting.opacity);
  if (vectors) {
    if (vectors.length === 0 || !sees(box, setting, found)) return [];
    const transform = `translate(${box.left.toFixed(2)} ${box.top.toFixed(2)})`;
    return [markup("g", { class: "marks", transform, opacity }, vectors.join("\n"))];
  }
  const seen = shared(box, setting.clip);
  const picture = seen && pictureOf(canvas, seen);
  if (!picture || !sees(seen, setting, found)) return [];
  const image = { ...placed(seen), preserveAspectRatio: "none", opacity, "xlink:href": picture };
  return [markup("image", image)];
}

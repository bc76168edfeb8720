/** Everything visible in a part of the page, as SVG marks from bottom to top. */

import { markup, opacityOrNull } from "../draw/xml";
import { platesOf } from "./boxes";
import { type Box, intersectionOf, rectOf, unionOf } from "./geometry";
import { copySvg } from "./inline";
import { boxOf, joinLines, type Line, lineToSvg, type Mark } from "./lines";
import { imageOf } from "./raster";
import { type Inherited, linesBefore, linesOf } from "./runs";

/** Controls, which are not saved. */
const TOOLS = "button, select, input, output, label, .nv-strip, .nv-tools, .nv-sorter";

export interface Walk {
  markup: string;
  /** The extent of all marks; null if there are none. */
  extent: Box | null;
  /** Whether something that scrolls was partly out of sight. */
  isPartial: boolean;
}

/** The vector marks of canvases. */
export type Vectors = Map<HTMLCanvasElement, string[]>;

/** What the walk has found so far. */
interface WalkState extends Omit<Walk, "markup"> {
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
  const walkState: WalkState = { vectors, paper, names: 0, extent: null, isPartial: false };
  const inherited = { opacity: 1, clip: EVERYWHERE, isScrolled: false, isTurned: false };
  const marks = marksOf(root, inherited, walkState);
  return { markup: joinMarks(marks), extent: walkState.extent, isPartial: walkState.isPartial };
}

function joinMarks(marks: Mark[]): string {
  return joinLines(marks)
    .map((mark) => (typeof mark === "string" ? mark : lineToSvg(mark)))
    .filter((mark) => mark !== "")
    .join("\n");
}

function marksOf(element: Element, above: Inherited, found: WalkState): Mark[] {
  const style = getComputedStyle(element);
  const opacity = above.opacity * Number(style.opacity);
  if (element.matches(TOOLS) || style.display === "none" || opacity < 0.01) return [];
  const inherited = { ...above, opacity, isTurned: above.isTurned || isTurned(style.transform) };
  if (element instanceof HTMLCanvasElement) return canvasMarks(element, inherited, found);
  if (element instanceof SVGSVGElement) return drawingMarks(element, inherited, found);
  const paper = above.isScrolled ? null : found.paper;
  const plates = platesOf(element, opacity, paper, () => nextId(found))
    .filter(({ box }) => growIfVisible(box, inherited, found))
    .map((plate) => plate.markup);
  const window = windowOf(element, style);
  if (!window) return [...plates, ...childMarks(element, inherited, found)];
  found.isPartial = true;
  const clip = intersectionOf(window, inherited.clip);
  if (!clip) return plates;
  const marks = childMarks(element, { ...inherited, clip, isScrolled: true }, found);
  return [...plates, clipMarks(marks, clip, found)];
}

/** Whether a box is visible; if so, the extent grows to include it. */
function growIfVisible(box: Box, { clip }: Inherited, found: WalkState): boolean {
  const seen = intersectionOf(box, clip);
  if (seen) found.extent = unionOf(found.extent, seen);
  return seen !== null;
}

function nextId(found: WalkState): string {
  found.names++;
  return `part-${found.names}`;
}

/** Whether text is rotated upwards. */
function isTurned(transform: string): boolean {
  const [, sine] = /^matrix\([^,]+,\s*([^,]+),/.exec(transform) ?? [];
  return Number(sine ?? 0) < -0.9;
}

/** The visible box of an element whose content is larger; null if it fits. */
function windowOf(element: Element, { overflowX, textOverflow }: CSSStyleDeclaration): Box | null {
  const { scrollWidth, clientWidth, scrollHeight, clientHeight } = element;
  const isLarge = scrollWidth > clientWidth + 1 || scrollHeight > clientHeight + 1;
  if (overflowX === "visible" || textOverflow === "ellipsis" || !isLarge) return null;
  const rect = element.getBoundingClientRect();
  const [left, top] = [rect.left + element.clientLeft, rect.top + element.clientTop];
  return { left, top, right: left + clientWidth, bottom: top + clientHeight };
}

function clipMarks(marks: Mark[], clip: Box, found: WalkState): string {
  const id = nextId(found);
  const hole = markup("clipPath", { id }, markup("rect", rectOf(clip)));
  return `${hole}\n${markup("g", { "clip-path": `url(#${id})` }, joinMarks(marks))}`;
}

/** The marks of text and elements inside, in painting order. */
function childMarks(element: Element, inherited: Inherited, found: WalkState): Mark[] {
  const isSeen = (line: Line) => growIfVisible(boxOf(line), inherited, found);
  const layers = [...element.childNodes].map((node) => {
    if (node instanceof Text) return { height: 0, marks: linesOf(node, inherited).filter(isSeen) };
    if (!(node instanceof Element)) return { height: 0, marks: [] };
    return { height: heightOf(node), marks: marksOf(node, inherited, found) };
  });
  layers.sort((one, other) => one.height - other.height);
  return [
    ...linesBefore(element, inherited).filter(isSeen),
    ...layers.flatMap(({ marks }) => marks),
  ];
}

/** The stacking order: positioned elements are above others. */
function heightOf(element: Element): number {
  const { zIndex, position } = getComputedStyle(element);
  return zIndex === "auto" ? (position === "static" ? 0 : 0.5) : Number(zIndex) + 0.5;
}

function drawingMarks(drawing: SVGSVGElement, inherited: Inherited, found: WalkState): Mark[] {
  return growIfVisible(drawing.getBoundingClientRect(), inherited, found)
    ? [copySvg(drawing, inherited.opacity)]
    : [];
}

function canvasMarks(canvas: HTMLCanvasElement, inherited: Inherited, found: WalkState): Mark[] {
  const box = canvas.getBoundingClientRect();
  const vectors = found.vectors.get(canvas);
  const opacity = opacityOrNull(inherited.opacity);
  if (vectors) {
    if (vectors.length === 0 || !growIfVisible(box, inherited, found)) return [];
    const transform = `translate(${box.left.toFixed(2)} ${box.top.toFixed(2)})`;
    return [markup("g", { class: "marks", transform, opacity }, vectors.join("\n"))];
  }
  const seen = intersectionOf(box, inherited.clip);
  const picture = seen && imageOf(canvas, seen);
  if (!picture || !growIfVisible(seen, inherited, found)) return [];
  const image = { ...rectOf(seen), preserveAspectRatio: "none", opacity, "xlink:href": picture };
  return [markup("image", image)];
}

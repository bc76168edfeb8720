/** Running text in a box that scrolls; only the lines in and near sight are in the page. */

import type { Palette } from "../../draw/colors";
import { element } from "../../draw/dom";
import { emsOf } from "../../draw/viewport";
import { STRIP, scrollStrip } from "../shared/scrollStrip";
import { breakText, lineOfRuns, linesInSight, type TextLine } from "./layout";
import type { Run } from "./reading";
import { lineNode, paintLine, type TokenLook } from "./tokens";

/** The height of a line and the size of its text; the same in the style sheet. */
const LINE = 28;
const FONT = 15;

/** Lines beyond the edges that are kept in the page, and those kept around a revealed token. */
const AROUND = 8;
const NEIGHBORS = 2;

/** The width of the mark of a match in the strip. */
const DOT = 4;

/** The size to assume before the box is on a page. */
const UNSEEN = { width: 480, height: 560 };

/** How the tokens of a text look. */
export interface Looks {
  token(run: number): TokenLook;
  /** The part of a full shade, and the color of a full shade. */
  part(run: number): number;
  color(run: number): string;
  isMatch(run: number): boolean;
  palette: Palette;
}

export interface Passage {
  node: HTMLElement;
  /** The part that scrolls and holds the tokens. */
  box: HTMLElement;
  show(runs: Run[]): void;
  /** Give every token in sight its look, and later those that come into sight. */
  paint(looks: Looks): void;
  /** Scroll as little as possible until a token and its neighbors are in sight. */
  reveal(run: number): void;
  /** The first token in sight. */
  top(): number;
}

export function passage(name: string, signal: AbortSignal): Passage {
  const body = element("div", { class: "nv-passage-lines" });
  const attributes = { class: "nv-passage", tabindex: "0", role: "group", "aria-label": name };
  const box = element("div", attributes, body);
  const strip = scrollStrip(box, signal);
  const node = element("div", { class: "nv-passage-frame" }, box, strip.node);
  const inPage = new Map<number, HTMLElement>();
  let runs: Run[] = [];
  let laid: Laid = { lines: [], lineOf: new Int32Array() };
  let key = "";
  let looks: Looks | null = null;

  const render = (): void => {
    const { lines } = laid;
    const sight = { top: box.scrollTop, height: box.clientHeight || UNSEEN.height };
    const { first, last } = linesInSight(sight, LINE, lines.length, AROUND);
    for (const [line, old] of inPage) {
      if (line >= first && line <= last) continue;
      old.remove();
      inPage.delete(line);
    }
    for (let line = first; line <= last; line++) {
      if (inPage.has(line)) continue;
      const made = lineNode(runs, lines[line], line * LINE);
      inPage.set(line, made);
      body.append(made);
      if (looks) paintLine(made, looks.token);
    }
  };
  const top = (): number => laid.lines[Math.ceil(box.scrollTop / LINE)]?.from ?? 0;
  const show = (next: Run[]): void => {
    const nextKey = JSON.stringify(next);
    const [width, wasWide] = [String(node.clientWidth), node.dataset.width];
    if (nextKey === key && width === wasWide) return;
    const anchor = nextKey === key ? top() : 0;
    [key, runs, node.dataset.width] = [nextKey, next, width];
    looks = null; // those of another text
    laid = layOut(runs, { node, box, body });
    for (const old of inPage.values()) old.remove();
    inPage.clear();
    box.scrollTop = (laid.lineOf[anchor] ?? 0) * LINE;
    render();
  };
  const paint = (next: Looks): void => {
    looks = next;
    for (const line of inPage.values()) paintLine(line, next.token);
    strip.show((context, height) => paintLines(context, height, laid.lines, next), next.palette);
  };
  const reveal = (run: number): void => {
    const height = box.clientHeight || UNSEEN.height;
    const start = (laid.lineOf[run] - NEIGHBORS) * LINE;
    const end = (laid.lineOf[run] + 1 + NEIGHBORS) * LINE;
    if (start < box.scrollTop) box.scrollTop = Math.max(0, start);
    if (end > box.scrollTop + height) box.scrollTop = end - height;
    render();
  };
  box.addEventListener("scroll", render, { signal });
  return { node, box, show, paint, reveal, top };
}

/** The lines of a text, and the line of each run. */
interface Laid {
  lines: TextLine[];
  lineOf: Int32Array;
}

/** Break a text into lines as wide as its box, which is narrower where it scrolls. */
function layOut(
  runs: Run[],
  { node, box, body }: Record<"node" | "box" | "body", HTMLElement>,
): Laid {
  const widthOf = measurer(box);
  const fit = (isScrolled: boolean): Laid => {
    node.classList.toggle("nv-scrolls", isScrolled);
    const lines = breakText(runs, body.clientWidth || UNSEEN.width, widthOf);
    body.style.height = `${lines.length * LINE}px`;
    return { lines, lineOf: lineOfRuns(lines, runs.length) };
  };
  const laid = fit(false);
  return box.scrollHeight > box.clientHeight + 1 ? fit(true) : laid;
}

/** Measures text in the font of a node, each string once. */
function measurer(node: HTMLElement): (text: string) => number {
  const context = document.createElement("canvas").getContext("2d");
  if (context) context.font = `${FONT}px ${getComputedStyle(node).fontFamily}`;
  const widths = new Map<string, number>();
  return (text) => {
    const known = widths.get(text);
    if (known !== undefined) return known;
    const width = context ? context.measureText(text).width : FONT * emsOf(text);
    widths.set(text, width);
    return width;
  };
}

/** Paint each line of the text as a bar as long as its strongest shade, and matches as dots. */
function paintLines(
  context: CanvasRenderingContext2D,
  height: number,
  lines: TextLine[],
  { part, color, isMatch, palette }: Looks,
): void {
  const pitch = height / lines.length;
  const tall = Math.max(1.5, pitch * 0.8);
  lines.forEach(({ from, to }, line) => {
    let [strongest, hasMatch] = [from, false];
    for (let run = from; run < to; run++) {
      if (part(run) > part(strongest)) strongest = run;
      hasMatch ||= isMatch(run);
    }
    const length = from < to ? part(strongest) * (STRIP - DOT - 5) : 0;
    context.fillStyle = color(strongest);
    if (length >= 0.5) context.fillRect(2, line * pitch, length, tall);
    context.fillStyle = palette.ink;
    if (hasMatch) context.fillRect(STRIP - DOT - 2, line * pitch, DOT, tall);
  });
}

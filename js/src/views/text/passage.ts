/** Running text in a box that scrolls; only the lines in and near sight are in the page. */

import { element } from "../../draw/dom";
import { emsOf } from "../../draw/viewport";
import { breakText, lineOfRuns, linesInSight, type TextLine } from "./layout";
import type { Run } from "./reading";

/** The height of a line and the size of its text; the same in the style sheet. */
export const LINE = 28;
const FONT = 15;

/** Lines beyond the edges that are kept in the page, and those kept around a revealed token. */
const AROUND = 8;
const NEIGHBORS = 2;

/** The size to assume before the box is on a page. */
const UNSEEN = { width: 480, height: 560 };

/** How one token looks. */
export interface TokenLook {
  shade: string | null;
  /** The muted ink would not be legible on this shade. */
  isStrong: boolean;
  title: string;
  isOn: boolean;
  isPinned: boolean;
  match: "current" | "other" | null;
}

export interface Passage {
  node: HTMLElement;
  show(runs: Run[]): void;
  /** Give every token in sight its look, and later those that come into sight. */
  paint(lookOf: (run: number) => TokenLook): void;
  /** Scroll as little as possible until a token and its neighbors are in sight. */
  reveal(run: number): void;
  /** The first token in sight. */
  top(): number;
}

export function passage(name: string, signal: AbortSignal): Passage {
  const body = element("div", { class: "nv-passage-lines" });
  const node = element("div", { class: "nv-passage", tabindex: "0", role: "group" }, body);
  node.setAttribute("aria-label", name);
  const shown = new Map<number, HTMLElement>();
  let runs: Run[] = [];
  let lines: TextLine[] = [];
  let lineOf: Int32Array = new Int32Array();
  let key = "";
  let look: ((run: number) => TokenLook) | null = null;

  const render = (): void => {
    const sight = { top: node.scrollTop, height: node.clientHeight || UNSEEN.height };
    const { first, last } = linesInSight(sight, LINE, lines.length, AROUND);
    for (const [line, old] of shown) {
      if (line >= first && line <= last) continue;
      old.remove();
      shown.delete(line);
    }
    for (let line = first; line <= last; line++) {
      if (shown.has(line)) continue;
      const made = lineNode(runs, lines[line], line);
      shown.set(line, made);
      body.append(made);
      if (look) paintLine(made, look);
    }
  };
  const show = (next: Run[]): void => {
    const width = innerWidth(node);
    const nextKey = JSON.stringify([width, next]);
    if (nextKey === key) return;
    const isSameText = JSON.stringify(next) === JSON.stringify(runs);
    const anchor = isSameText ? top() : 0;
    [key, runs] = [nextKey, next];
    lines = breakText(runs, width, measurer(node));
    lineOf = lineOfRuns(lines, runs.length);
    for (const old of shown.values()) old.remove();
    shown.clear();
    body.style.height = `${lines.length * LINE}px`;
    node.scrollTop = (lineOf[anchor] ?? 0) * LINE;
    render();
  };
  const top = (): number => lines[Math.ceil(node.scrollTop / LINE)]?.from ?? 0;
  const paint = (lookOf: (run: number) => TokenLook): void => {
    look = lookOf;
    for (const line of shown.values()) paintLine(line, lookOf);
  };
  const reveal = (run: number): void => {
    const height = node.clientHeight || UNSEEN.height;
    const start = (lineOf[run] - NEIGHBORS) * LINE;
    const end = (lineOf[run] + 1 + NEIGHBORS) * LINE;
    if (start < node.scrollTop) node.scrollTop = Math.max(0, start);
    if (end > node.scrollTop + height) node.scrollTop = end - height;
    render();
  };
  node.addEventListener("scroll", render, { signal });
  return { node, show, paint, reveal, top };
}

/** The index of the token that contains an element; null if it is in none. */
export function runAt(target: Element | null): number | null {
  const token = target?.closest<HTMLElement>("[data-run]");
  return token ? Number(token.dataset.run) : null;
}

function innerWidth(node: HTMLElement): number {
  const { paddingLeft, paddingRight } = getComputedStyle(node);
  const padding = (Number.parseFloat(paddingLeft) || 0) + (Number.parseFloat(paddingRight) || 0);
  return node.clientWidth > 0 ? node.clientWidth - padding : UNSEEN.width;
}

/** Measures text in the font of a node, each string once. */
function measurer(node: HTMLElement): (text: string) => number {
  const context = document.createElement("canvas").getContext?.("2d") ?? null;
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

function lineNode(runs: Run[], { from, to, isRtl }: TextLine, line: number): HTMLElement {
  const tokens = runs
    .slice(from, to)
    .map((run, at) => tokenNode(run, runs[from + at + 1], from + at));
  const node = element("div", { class: "nv-passage-line", dir: isRtl ? "rtl" : "ltr" }, ...tokens);
  node.style.top = `${line * LINE}px`;
  return node;
}

/** Marks that change the direction of all text after them. */
const TURNS = /[\u202a-\u202e\u2066-\u2069]/;

/** A token: the area that reacts, with the space after it, around the part that is shaded. */
function tokenNode(run: Run, after: Run | undefined, index: number): HTMLElement {
  const isJoined = run.joint === "glued" || run.joint === "direct";
  const isFollowed = after?.joint === "glued" || after?.joint === "direct";
  const names = [
    "nv-piece",
    ...(run.special ? ["nv-special"] : []),
    ...(isJoined ? ["nv-joined"] : []),
    ...(isFollowed ? ["nv-followed"] : []),
    ...(run.continues ? ["nv-continued"] : []),
    ...(isBlank(run) ? ["nv-blank"] : []),
  ];
  // Other tokens are not isolated, because words of one script must be ordered together.
  const isIsolated = run.special || TURNS.test(run.text);
  const piece = element(
    "span",
    { class: names.join(" "), ...(isIsolated ? { dir: "auto" } : {}) },
    run.text,
  );
  const space = after?.joint === "space" ? [" "] : [];
  return element("span", { class: "nv-touch", "data-run": String(index) }, piece, ...space);
}

/** Whether only signs for spaces and the like are written. */
function isBlank({ text }: Run): boolean {
  return [...text].every((letter) => "↵␣⇥∅·".includes(letter));
}

function paintLine(line: HTMLElement, lookOf: (run: number) => TokenLook): void {
  for (const token of line.children) {
    const look = lookOf(Number((token as HTMLElement).dataset.run));
    const piece = token.firstElementChild as HTMLElement;
    token.setAttribute("title", look.title);
    piece.style.backgroundColor = look.shade ?? "";
    piece.classList.toggle("nv-strong", look.isStrong);
    piece.classList.toggle("nv-on", look.isOn);
    piece.classList.toggle("nv-pinned", look.isPinned);
    piece.classList.toggle("nv-match", look.match !== null);
    piece.classList.toggle("nv-current", look.match === "current");
  }
}

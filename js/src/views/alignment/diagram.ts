/** Two texts facing each other, with a line from each target word to its source word. */

import { element, visibleText } from "../../draw/dom";
import { svg } from "../../draw/svg";
import type { Role } from "../../wire/types";
import { type Clock, momentsOf } from "../shared/time";
import { listenToPointer } from "../shared/tokens";
import type { ViewActions } from "../view";
import { shareOf, type Word } from "./data";
import type { Mark } from "./gold";
import { type Bitext, bandBetween, bitextOf, lineBetween } from "./layout";
import { type Aligned, spanOf, type WordPosition } from "./words";

export function diagram(actions: ViewActions, signal: AbortSignal) {
  let aligned: Aligned | null = null;
  const elements = buildElements();
  const { source, target, lines } = elements;
  const piece = (words: (shown: Aligned) => Word[]) => (child: number) =>
    (aligned && words(aligned)[child]?.pieces[0]) ?? null;
  const [read, written] = [
    piece(({ alignment }) => alignment.source),
    piece(({ alignment }) => alignment.target),
  ];
  listenToPointer(source, read, "key", actions, signal);
  listenToPointer(target, written, "query", actions, signal);
  const show = (now: Aligned, width: number): void => {
    aligned = now;
    fill(elements, now, width);
  };
  const mark = (at: WordPosition | null): void => {
    for (const line of lines.querySelectorAll<SVGElement>("[data-target]")) {
      const own = at?.role === "query" ? line.dataset.target : line.dataset.source;
      line.classList.toggle("nv-dim", at !== null && own !== String(at.word));
    }
    markWords(source, at, "key", lines);
    markWords(target, at, "query", lines);
    if (at) reveal(elements.node, (at.role === "query" ? target : source).children[at.word]);
  };
  return { node: elements.node, show, mark };
}

function buildElements() {
  const lines = svg("svg", { class: "nv-links", role: "img" });
  const [source, target] = [list("key", "source words"), list("query", "target words")];
  const stage = element("div", { class: "nv-bitext" }, source, target);
  stage.prepend(lines);
  const node = element("div", { class: "nv-facing" }, stage);
  return { node, stage, lines, source, target };
}

/** Scroll to a word, unless the pointer is over the diagram. */
function reveal(node: HTMLElement, word: Element | undefined): void {
  if (!(word instanceof HTMLElement) || node.matches(":hover")) return;
  const { scrollTop, clientHeight } = node;
  const isSeen = word.offsetTop >= scrollTop && word.offsetTop <= scrollTop + clientHeight - 20;
  if (!isSeen) node.scrollTop = word.offsetTop - clientHeight / 2;
}

/** Lay out words and lines. */
function fill(
  { stage, lines, source, target }: ReturnType<typeof buildElements>,
  now: Aligned,
  width: number,
): void {
  const { alignment, clock, marks } = now;
  const labels = (words: Word[]) => words.map(({ label }) => visibleText(label));
  const isSound = clock !== null;
  const layout = bitextOf(labels(alignment.source), labels(alignment.target), width, isSound);
  for (const dimension of ["width", "height"] as const) {
    stage.style[dimension] = `${layout[dimension]}px`;
    lines.setAttribute(dimension, String(layout[dimension]));
  }
  stage.dataset.way = layout.way;
  stage.style.fontSize = `${layout.font}px`;
  const linked = marks.filter(({ isLinked }) => isLinked);
  lines.setAttribute("aria-label", `${linked.length} links; they are also in the table`);
  lines.replaceChildren(...(clock ? ruler(layout, clock) : []), ...linksIn(now, layout));
  source.replaceChildren(...(clock ? [] : words(alignment.source, layout, "source")));
  target.replaceChildren(...words(alignment.target, layout, "target"));
  [...target.children].forEach((item, word) => {
    if (linked.some((mark) => mark.target === word)) return;
    item.classList.add("nv-free");
    item.firstElementChild?.setAttribute("title", "no link: it takes most from a special token");
  });
}

function list(role: Role, name: string): HTMLElement {
  return element("ol", { class: `nv-facing-words nv-${role}`, "aria-label": name });
}

/** The words of one text, each at its position. */
function words(held: Word[], place: Bitext, language: "source" | "target"): HTMLElement[] {
  return held.map(({ label, pieces }, at) => {
    const { x, y, width } = place[language][at];
    const title = `${pieces.join(", ")}: ${label}`;
    const item = element("li", {}, element("span", { dir: "auto", title }, visibleText(label)));
    Object.assign(item.style, {
      left: `${x - width / 2}px`,
      top: `${y - place.tall / 2}px`,
      width: `${width}px`,
      height: `${place.tall}px`,
      lineHeight: `${place.tall}px`,
    });
    return item;
  });
}

/** Mark the word in focus, and dim words without a line to it. */
function markWords(
  node: HTMLElement,
  at: WordPosition | null,
  role: Role,
  lines: SVGElement,
): void {
  const [own, other] = role === "query" ? ["target", "source"] : ["source", "target"];
  const joined = new Set(
    [...lines.querySelectorAll<SVGElement>("[data-target]")]
      .filter((line) => at !== null && line.dataset[other] === String(at.word))
      .map((line) => Number(line.dataset[own])),
  );
  [...node.children].forEach((item, word) => {
    const isOwn = at?.role === role && at.word === word;
    item.classList.toggle("nv-on", isOwn);
    item.classList.toggle(
      "nv-dim",
      at !== null && !isOwn && (at.role === role || !joined.has(word)),
    );
  });
}

/** Missed links are below found ones; links that are only possible have no line. */
function linksIn(aligned: Aligned, place: Bitext): SVGElement[] {
  const order = (mark: Mark) => (mark.isLinked ? 1 : 0);
  return aligned.marks
    .filter(({ verdict }) => verdict !== "open")
    .sort((one, other) => order(one) - order(other))
    .map((mark) => linkOf(aligned, mark, place));
}

function linkOf(aligned: Aligned, mark: Mark, place: Bitext): SVGElement {
  const { source, target, verdict, isLinked } = mark;
  const { alignment, clock } = aligned;
  const about = { class: `nv-link nv-${verdict}`, "data-source": source, "data-target": target };
  const share = shareOf(alignment, target, source);
  if (clock && isLinked) {
    const d = bandBetween(place, spanOf(alignment, target, source), target);
    return svg("path", { ...about, class: `${about.class} nv-stretch`, d });
  }
  const width = isLinked ? (1.2 + 2.6 * share).toFixed(2) : 1.6;
  const d = lineBetween(place, [source, target]);
  return svg("path", { ...about, d, "stroke-width": width });
}

/** A time axis for audio. */
function ruler({ way, width, height, from, source }: Bitext, clock: Clock): SVGElement[] {
  const length = way === "rows" ? width : height;
  const count = Math.max(2, length / (way === "rows" ? 90 : 60));
  const line = (along: number, until: number, short: number) =>
    way === "rows"
      ? svg("line", { x1: along, x2: until, y1: short, y2: from })
      : svg("line", { x1: short, x2: from, y1: along, y2: until });
  const base =
    way === "rows"
      ? svg("line", { x1: 0, x2: width, y1: from, y2: from })
      : svg("line", { x1: from, x2: from, y1: 0, y2: height });
  const ticks = momentsOf(clock, source.length, count).flatMap(({ text, at }) => {
    const along = (at / source.length) * length;
    const isEnd = along > length - 24;
    const anchor = way === "rows" ? (along < 12 ? "start" : isEnd ? "end" : "middle") : "end";
    const low = Math.min(height - 2, Math.max(9, along + 4));
    const spot = way === "rows" ? { x: along, y: from - 9 } : { x: from - 8, y: low };
    return [line(along, along, from - 5), svg("text", { ...spot, "text-anchor": anchor }, text)];
  });
  return [svg("g", { class: "nv-ruler" }, base, ...ticks)];
}

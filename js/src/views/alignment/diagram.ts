/** Two texts facing each other, with a line from each target word to its source word. */

import { element, visible } from "../../draw/dom";
import { svg } from "../../draw/svg";
import type { Side } from "../../wire/types";
import { type Clock, momentsOf } from "../shared/time";
import { pointing } from "../shared/tokens";
import type { Hand } from "../view";
import { shareOf, type Word } from "./data";
import type { Mark } from "./gold";
import { type Bitext, bandBetween, bitextOf, lineBetween } from "./layout";
import { type Aligned, type At, spanOf } from "./words";

export function diagram(hand: Hand, signal: AbortSignal) {
  let aligned: Aligned | null = null;
  const parts = build();
  const { source, target, lines } = parts;
  const piece = (words: (shown: Aligned) => Word[]) => (child: number) =>
    (aligned && words(aligned)[child]?.pieces[0]) ?? null;
  const [read, written] = [
    piece(({ alignment }) => alignment.source),
    piece(({ alignment }) => alignment.target),
  ];
  pointing(source, read, "key", hand, signal);
  pointing(target, written, "query", hand, signal);
  const show = (now: Aligned, width: number): void => {
    aligned = now;
    fill(parts, now, width);
  };
  const mark = (at: At | null): void => {
    for (const line of lines.querySelectorAll<SVGElement>("[data-target]")) {
      const own = at?.side === "query" ? line.dataset.target : line.dataset.source;
      line.classList.toggle("nv-dim", at !== null && own !== String(at.word));
    }
    lit(source, at, "key", lines);
    lit(target, at, "query", lines);
    if (at) reveal(parts.node, (at.side === "query" ? target : source).children[at.word]);
  };
  return { node: parts.node, show, mark };
}

function build() {
  const lines = svg("svg", { class: "nv-links", role: "img" });
  const [source, target] = [list("key", "source words"), list("query", "target words")];
  const stage = element("div", { class: "nv-bitext" }, source, target);
  stage.prepend(lines);
  const node = element("div", { class: "nv-facing" }, stage);
  return { node, stage, lines, source, target };
}

/** Have a word in sight, unless the reader points at the diagram itself. */
function reveal(node: HTMLElement, word: Element | undefined): void {
  if (!(word instanceof HTMLElement) || node.matches(":hover")) return;
  const { scrollTop, clientHeight } = node;
  const isSeen = word.offsetTop >= scrollTop && word.offsetTop <= scrollTop + clientHeight - 20;
  if (!isSeen) node.scrollTop = word.offsetTop - clientHeight / 2;
}

/** Put words and lines in their places. */
function fill(
  { stage, lines, source, target }: ReturnType<typeof build>,
  now: Aligned,
  width: number,
): void {
  const { alignment, clock, marks } = now;
  const labels = (words: Word[]) => words.map(({ label }) => visible(label));
  const isSound = clock !== null;
  const place = bitextOf(labels(alignment.source), labels(alignment.target), width, isSound);
  for (const side of ["width", "height"] as const) {
    stage.style[side] = `${place[side]}px`;
    lines.setAttribute(side, String(place[side]));
  }
  stage.dataset.way = place.way;
  stage.style.fontSize = `${place.font}px`;
  const linked = marks.filter(({ isLinked }) => isLinked);
  lines.setAttribute("aria-label", `${linked.length} links; the table has them`);
  lines.replaceChildren(...(clock ? ruler(place, clock) : []), ...linksIn(now, place));
  source.replaceChildren(...(clock ? [] : words(alignment.source, place, "source")));
  target.replaceChildren(...words(alignment.target, place, "target"));
  [...target.children].forEach((item, word) => {
    if (linked.some((mark) => mark.target === word)) return;
    item.classList.add("nv-free");
    item.firstElementChild?.setAttribute("title", "no link: it takes most of what is no word");
  });
}

function list(side: Side, name: string): HTMLElement {
  return element("ol", { class: `nv-facing-words nv-${side}`, "aria-label": name });
}

/** The words of one text, each at its place. */
function words(held: Word[], place: Bitext, side: "source" | "target"): HTMLElement[] {
  return held.map(({ label, pieces }, at) => {
    const { x, y, width } = place[side][at];
    const title = `${pieces.join(", ")}: ${label}`;
    const item = element("li", {}, element("span", { dir: "auto", title }, visible(label)));
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

/** Mark the word in focus, and dim those that no line joins to it. */
function lit(node: HTMLElement, at: At | null, side: Side, lines: SVGElement): void {
  const [own, other] = side === "query" ? ["target", "source"] : ["source", "target"];
  const joined = new Set(
    [...lines.querySelectorAll<SVGElement>("[data-target]")]
      .filter((line) => at !== null && line.dataset[other] === String(at.word))
      .map((line) => Number(line.dataset[own])),
  );
  [...node.children].forEach((item, word) => {
    const isOwn = at?.side === side && at.word === word;
    item.classList.toggle("nv-on", isOwn);
    item.classList.toggle(
      "nv-dim",
      at !== null && !isOwn && (at.side === side || !joined.has(word)),
    );
  });
}

/** What is missed lies below what is linked; what is merely possible has no line. */
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

/** The time, along the side on which a sound lies. */
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

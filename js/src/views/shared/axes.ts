/** The tokens along the two sides of a field, as many as there is room for. */

import { element, visible } from "../../draw/dom";
import { emsOf, fontFor, labeled } from "../../draw/viewport";
import type { Hand } from "../view";
import type { Edge } from "./cells";
import { type Clock, clockOf, momentLines } from "./time";
import { pointing } from "./tokens";

export interface AxisView {
  node: HTMLElement;
  /** Label the lines from `first` on, each `pitch` pixels from the next. */
  show(edge: Edge, sight: Sight): void;
}

export interface Sight {
  first: number;
  /** How many lines are in sight. */
  seen: number;
  pitch: number;
  /** The largest letters there is room for. */
  letters: number;
  /** The line in focus; the others are dimmed. */
  own: number | null;
  /** The line under the pointer on the other side. */
  met: number | null;
}

export function axisView(place: "down" | "across", hand: Hand, signal: AbortSignal): AxisView {
  const side = place === "down" ? "query" : "key";
  const name = place === "down" ? "tokens that receive" : "tokens read from";
  const node = element("ol", { class: `nv-axis nv-${side}`, "aria-label": name });
  let edge: Edge | null = null;
  let lines: number[] = [];
  let clock: Clock | null = null;
  const show = (now: Edge, { first, seen, pitch, letters, own, met }: Sight): void => {
    if (edge !== now) clock = clockOf(now.labels);
    edge = now;
    const room = { first, seen, count: now.labels.length };
    const held = own ?? met;
    lines = clock ? momentLines(clock, room, pitch, held) : labeled(room, pitch, held);
    node.style.fontSize = `${Math.min(letters, fontFor(pitch))}px`;
    node.replaceChildren(
      ...lines.map((line) => {
        const made = labelOf(now, line);
        made.style.setProperty("--nv-at", `${(line + 0.5 - first) * pitch}px`);
        made.classList.toggle("nv-on", line === own || line === met);
        made.classList.toggle("nv-dim", own !== null && line !== own && line !== met);
        return made;
      }),
    );
  };
  const pieceOf = (child: number) => edge?.pieces[lines[child]]?.[0] ?? null;
  pointing(node, pieceOf, side, hand, signal);
  return { node, show };
}

function labelOf({ labels, special, pieces, side }: Edge, line: number): HTMLElement {
  const title = side ? `${pieces[line].join(", ")}: ${labels[line]}` : labels[line];
  const text = element("span", { dir: "auto", title }, visible(labels[line]));
  return element("li", special[line] ? { class: "nv-special" } : {}, text);
}

/** About how long the longest label is, in pixels, within bounds. */
export function lengthOf({ labels }: Edge, font: number, least: number, most: number): number {
  const ems = labels.reduce((longest, label) => Math.max(longest, emsOf(visible(label))), 0);
  return Math.round(Math.min(most, Math.max(least, ems * font + 10)));
}

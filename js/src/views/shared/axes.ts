/** The tokens along the axes of a heatmap, as many as fit. */

import { element, visibleText } from "../../draw/dom";
import { emsOf, fontFor, labeledLines } from "../../draw/viewport";
import type { ViewActions } from "../view";
import type { Edge } from "./cells";
import { type Clock, clockOf, momentLines } from "./time";
import { listenToPointer } from "./tokens";

export interface AxisView {
  node: HTMLElement;
  /** Label the lines from `first` on, `pitch` pixels apart. */
  show(edge: Edge, sight: Sight): void;
}

export interface Sight {
  first: number;
  /** The number of visible lines. */
  seen: number;
  pitch: number;
  /** The largest font size. */
  letters: number;
  /** The line in focus; all others are dimmed. */
  own: number | null;
  /** The line under the pointer on the other axis. */
  met: number | null;
}

export function axisView(
  place: "down" | "across",
  actions: ViewActions,
  signal: AbortSignal,
): AxisView {
  const role = place === "down" ? "query" : "key";
  const name = place === "down" ? "tokens that receive" : "tokens read from";
  const node = element("ol", { class: `nv-axis nv-${role}`, "aria-label": name });
  let edge: Edge | null = null;
  let lines: number[] = [];
  let clock: Clock | null = null;
  const show = (now: Edge, { first, seen, pitch, letters, own, met }: Sight): void => {
    if (edge !== now) clock = clockOf(now.labels);
    edge = now;
    const room = { first, seen, count: now.labels.length };
    const focused = own ?? met;
    lines = clock ? momentLines(clock, room, pitch, focused) : labeledLines(room, pitch, focused);
    node.style.fontSize = `${Math.min(letters, fontFor(pitch))}px`;
    node.replaceChildren(
      ...lines.map((line) => {
        const label = labelOf(now, line);
        label.style.setProperty("--nv-at", `${(line + 0.5 - first) * pitch}px`);
        label.classList.toggle("nv-on", line === own || line === met);
        label.classList.toggle("nv-dim", own !== null && line !== own && line !== met);
        return label;
      }),
    );
  };
  const pieceOf = (child: number) => edge?.pieces[lines[child]]?.[0] ?? null;
  listenToPointer(node, pieceOf, role, actions, signal);
  return { node, show };
}

function labelOf({ labels, special, pieces, role }: Edge, line: number): HTMLElement {
  const title = role ? `${pieces[line].join(", ")}: ${labels[line]}` : labels[line];
  const text = element("span", { dir: "auto", title }, visibleText(labels[line]));
  return element("li", special[line] ? { class: "nv-special" } : {}, text);
}

/** The approximate length of the longest label in pixels, within bounds. */
export function lengthOf({ labels }: Edge, font: number, least: number, most: number): number {
  const ems = labels.reduce((longest, label) => Math.max(longest, emsOf(visibleText(label))), 0);
  return Math.round(Math.min(most, Math.max(least, ems * font + 10)));
}

/** A column of tokens that can be pointed at and pinned. */

import { element, visible } from "../../draw/dom";
import type { Rows } from "../../math/rows";
import type { Side } from "../../wire/types";
import type { Hand } from "../view";

export interface Column {
  node: HTMLElement;
  show(rows: Rows, isDimmed: boolean): void;
  /** Mark the row in focus; dim those that are not in `lit`. */
  mark(row: number | null, lit: Set<number> | null): void;
}

export function column(side: Side, hand: Hand, signal: AbortSignal): Column {
  const name = side === "query" ? "tokens that receive" : "tokens read from";
  const node = element("ol", { class: `nv-tokens nv-${side}`, "aria-label": name });
  let shown: Rows | null = null;
  let key = "";
  const show = (rows: Rows, isDimmed: boolean): void => {
    shown = rows;
    node.classList.toggle("nv-quiet", isDimmed);
    const wanted = JSON.stringify([rows.labels, rows.pieces]);
    if (wanted === key) return;
    key = wanted;
    node.replaceChildren(...rows.labels.map((_, row) => label(rows, row)));
  };
  const mark = (own: number | null, lit: Set<number> | null): void => {
    [...node.children].forEach((item, row) => {
      item.classList.toggle("nv-on", row === own);
      item.classList.toggle("nv-dim", lit !== null && !lit.has(row) && row !== own);
    });
  };
  pointing(node, (row) => shown?.pieces[row]?.[0] ?? null, side, hand, signal);
  return { node, show, mark };
}

/** Let the children of a node stand for tokens: point at them to look, click to pin. */
export function pointing(
  node: HTMLElement,
  pieceOf: (child: number) => number | null,
  side: Side,
  hand: Hand,
  signal: AbortSignal,
): void {
  const under = (event: Event) => {
    const target = event.target instanceof Element ? event.target : null;
    const child = [...node.children].findIndex((item) => item.contains(target));
    const token = child < 0 ? null : pieceOf(child);
    return token === null ? null : { side, token };
  };
  node.addEventListener("pointerover", (event) => hand.hover(under(event)), { signal });
  node.addEventListener("pointerleave", () => hand.hover(null), { signal });
  const clicked = (event: Event): void => {
    const focus = under(event);
    if (focus) hand.pin(focus);
  };
  node.addEventListener("click", clicked, { signal });
}

function label({ labels, special, pieces }: Rows, row: number): HTMLElement {
  const title = `${pieces[row].join(", ")}: ${labels[row]}`;
  const text = element("span", { dir: "auto", title }, visible(labels[row]));
  return element("li", special[row] ? { class: "nv-special" } : {}, text);
}

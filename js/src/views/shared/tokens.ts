/** A column of tokens that can be pointed at and pinned. */

import { element, visibleText } from "../../draw/dom";
import type { TokenRows } from "../../math/rows";
import type { Focus, Role } from "../../wire/types";
import type { ViewActions } from "../view";

export interface Column {
  node: HTMLElement;
  show(rows: TokenRows, isDimmed: boolean): void;
  /** Mark the row in focus; dim rows that are not in `lit`. */
  mark(row: number | null, lit: Set<number> | null): void;
}

export function tokenColumn(role: Role, actions: ViewActions, signal: AbortSignal): Column {
  const name = role === "query" ? "tokens that receive" : "tokens read from";
  const node = element("ol", { class: `nv-tokens nv-${role}`, "aria-label": name });
  let shown: TokenRows | null = null;
  let key = "";
  const show = (rows: TokenRows, isDimmed: boolean): void => {
    shown = rows;
    node.classList.toggle("nv-quiet", isDimmed);
    const nextKey = JSON.stringify([rows.labels, rows.pieces]);
    if (nextKey === key) return;
    key = nextKey;
    node.replaceChildren(...rows.labels.map((_, row) => tokenLabel(rows, row)));
  };
  const mark = (own: number | null, lit: Set<number> | null): void => {
    [...node.children].forEach((item, row) => {
      item.classList.toggle("nv-on", row === own);
      item.classList.toggle("nv-dim", lit !== null && !lit.has(row) && row !== own);
    });
  };
  listenToPointer(node, (row) => shown?.pieces[row]?.[0] ?? null, role, actions, signal);
  return { node, show, mark };
}

/** Make the children of a node act as tokens: pointing previews, clicking pins. */
export function listenToPointer(
  node: HTMLElement,
  pieceOf: (child: number) => number | null,
  role: Role,
  actions: ViewActions,
  signal: AbortSignal,
): void {
  const focusAt = (target: Element | null) => {
    const child = [...node.children].findIndex((item) => item.contains(target));
    const token = child < 0 ? null : pieceOf(child);
    return token === null ? null : { role, token };
  };
  listenToFocus(node, focusAt, actions, signal);
}

/** Make tokens anywhere inside a node react: pointing previews, clicking pins. */
export function listenToFocus(
  node: HTMLElement,
  focusAt: (target: Element | null) => Focus | null,
  actions: ViewActions,
  signal: AbortSignal,
): void {
  const under = ({ target }: Event) => focusAt(target instanceof Element ? target : null);
  node.addEventListener("pointerover", (event) => actions.hover(under(event)), { signal });
  node.addEventListener("pointerleave", () => actions.hover(null), { signal });
  const clicked = (event: Event): void => {
    const focus = under(event);
    if (focus) actions.pin(focus);
  };
  node.addEventListener("click", clicked, { signal });
}

function tokenLabel({ labels, special, pieces }: TokenRows, row: number): HTMLElement {
  const title = `${pieces[row].join(", ")}: ${labels[row]}`;
  const text = element("span", { dir: "auto", title }, visibleText(labels[row]));
  return element("li", special[row] ? { class: "nv-special" } : {}, text);
}

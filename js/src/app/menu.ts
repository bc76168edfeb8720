/** A button that opens a box below it, and a row that can be put away. */

import { element } from "../draw/dom";

/** A box that opens over the view; Escape, or a click elsewhere, closes it. */
export function menu(content: HTMLElement, signal: AbortSignal) {
  const title = element("button", { type: "button", class: "nv-menu", "aria-expanded": "false" });
  const box = element("div", { class: "nv-popup", hidden: "" }, content);
  const node = element("div", { class: "nv-group nv-opening" }, title, box);
  const open = (isOpen: boolean): void => {
    box.hidden = !isOpen;
    title.setAttribute("aria-expanded", String(isOpen));
  };
  title.addEventListener("click", () => open(box.hidden === true), { signal });
  const close = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" || box.hidden) return;
    event.stopPropagation();
    open(false);
    title.focus();
  };
  node.addEventListener("keydown", close, { signal });
  const leave = (event: Event): void => {
    if (!event.composedPath().includes(node)) open(false);
  };
  document.addEventListener("pointerdown", leave, { signal });
  const shut = (): void => {
    // The focus stays in the view, so that its keys go on working.
    if (box.matches(":focus-within")) node.closest<HTMLElement>("[tabindex]")?.focus();
    open(false);
  };
  return { node, title, shut };
}

const MORE = "normviz.more";

/** A row of further controls that opens in place; the browser remembers whether it is open. */
export function moreRow(controls: HTMLElement[], signal: AbortSignal) {
  const title = element("button", { type: "button", class: "nv-menu" }, "more");
  const row = element("div", { class: "nv-controls nv-more" }, ...controls);
  const open = (isOpen: boolean): void => {
    row.hidden = !isOpen;
    title.setAttribute("aria-expanded", String(isOpen));
  };
  open(recall(MORE) === "open");
  const toggle = (): void => {
    open(row.hidden === true);
    remember(MORE, row.hidden ? "closed" : "open");
  };
  title.addEventListener("click", toggle, { signal });
  return { title, row };
}

/** What the browser remembers; null in a frame without storage. */
export function recall(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function remember(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // A frame without storage forgets.
  }
}

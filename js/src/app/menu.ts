/** A button that opens a box below it, and a row that can be put away. */

import { element } from "../draw/dom";

/** A box that opens over the view; Escape, or a click elsewhere, closes it. */
export function menu(content: HTMLElement, signal: AbortSignal) {
  const title = element("button", { type: "button", class: "nv-menu", "aria-expanded": "false" });
  const box = element("div", { class: "nv-popup", hidden: "" }, content);
  const node = element("div", { class: "nv-group nv-opening" }, title, box);
  const open = opener(title, box);
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

/** A function that shows or hides what a button opens. */
function opener(title: HTMLElement, content: HTMLElement): (isOpen: boolean) => void {
  return (isOpen) => {
    content.hidden = !isOpen;
    title.setAttribute("aria-expanded", String(isOpen));
  };
}

const MORE = "normviz.more";

/** A row of further controls that opens in place; the browser remembers whether it is open. */
export function moreRow(controls: HTMLElement[], signal: AbortSignal) {
  const title = element("button", { type: "button", class: "nv-menu" }, "more");
  const row = element("div", { class: "nv-controls nv-more" }, ...controls);
  const open = opener(title, row);
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

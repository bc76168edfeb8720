/** The small pictures as one thing that the keyboard can go through, like a table of buttons. */

import { element } from "../../draw/dom";
import { cellAt, digits } from "./agreementWords";
import type { Board } from "./layout";
import type { Thumb, Thumbs } from "./thumbs";
import { apartness, nameOf, shortName, spoken } from "./words";

/** What is on the board: which pictures, in which order, where, and which are chosen. */
export interface Shown {
  thumbs: Thumbs;
  order: Thumb[];
  board: Board;
  isSorted: boolean;
  isChosen(thumb: Thumb): boolean;
}

/** What happens when a picture is pointed at, left, or opened. */
export interface Use {
  point(thumb: Thumb | null): void;
  open(thumb: Thumb): void;
}

export function cells(use: Use, signal: AbortSignal) {
  const node = element("div", { class: "nv-thumbs", role: "grid", "aria-readonly": "true" });
  let shown: Shown | null = null;
  let built = "";

  const show = (next: Shown): void => {
    shown = next;
    const { thumbs, order, board, isSorted } = next;
    const key = JSON.stringify([isSorted, board.across, order.map(nameOf)]);
    const held = nameIn(node.contains(document.activeElement) ? document.activeElement : null);
    if (key !== built) node.replaceChildren(...rowsFor(next));
    const goal = thumbs.coloring ? "the token where the two differ most" : "a head";
    const label = `${thumbs.measure.label} by layer and head; Enter opens ${goal}`;
    node.setAttribute("aria-label", label);
    fill(node, next);
    if (key !== built) restore(node, order, next, held);
    built = key;
  };
  const thumbAt = (target: EventTarget | null): Thumb | null => {
    const cell = target instanceof Element ? target.closest<HTMLElement>(".nv-thumb") : null;
    return (cell && shown?.order[Number(cell.dataset.place)]) ?? null;
  };
  listen(node, use, thumbAt, () => shown, signal);
  return { node, show };
}

function listen(
  node: HTMLElement,
  use: Use,
  thumbAt: (target: EventTarget | null) => Thumb | null,
  shown: () => Shown | null,
  signal: AbortSignal,
): void {
  const leave = () => use.point(node.contains(document.activeElement) ? here() : null);
  const here = () => thumbAt(document.activeElement);
  const open = (event: Event): void => {
    const thumb = thumbAt(event.target);
    if (thumb) use.open(thumb);
  };
  const pressed = (event: KeyboardEvent): void => {
    const thumb = thumbAt(event.target);
    const now = shown();
    if (!thumb || !now || event.ctrlKey || event.metaKey || event.altKey) return;
    const place = now.order.indexOf(thumb);
    const next = target(event.key, place, now.board.across, now.order.length);
    const opens = event.key === "Enter" || event.key === " ";
    if (next === null && !opens) return;
    // Otherwise the page would walk the tokens or scroll.
    event.preventDefault();
    event.stopPropagation();
    if (opens) use.open(thumb);
    else if (next !== null) step(node, next);
  };
  node.addEventListener("pointerover", (event) => use.point(thumbAt(event.target)), { signal });
  node.addEventListener("pointerleave", leave, { signal });
  node.addEventListener("focusin", (event) => use.point(thumbAt(event.target)), { signal });
  node.addEventListener("focusout", () => use.point(null), { signal });
  node.addEventListener("click", open, { signal });
  node.addEventListener("keydown", pressed, { signal });
}

/** Where a key leads from a place on the board; null for keys that lead nowhere. */
export function target(key: string, place: number, across: number, count: number): number | null {
  const start = place - (place % across);
  const end = Math.min(count, start + across) - 1;
  const places: Record<string, number> = {
    ArrowLeft: Math.max(start, place - 1),
    ArrowRight: Math.min(end, place + 1),
    ArrowUp: place >= across ? place - across : place,
    ArrowDown: place + across < count ? place + across : place,
    Home: start,
    End: end,
  };
  return places[key] ?? null;
}

/** Move the focus; only the picture that has it can be reached with the tab key. */
function step(node: HTMLElement, place: number): void {
  const every = pictures(node);
  for (const cell of every) cell.tabIndex = -1;
  every[place].tabIndex = 0;
  every[place].focus();
}

function pictures(node: HTMLElement): HTMLElement[] {
  return [...node.querySelectorAll<HTMLElement>(".nv-thumb")];
}

function nameIn(cell: Element | null): string | null {
  return cell instanceof HTMLElement ? (cell.dataset.name ?? null) : null;
}

/** Let the tab key find the picture that had the focus, or else the first that is chosen. */
function restore(node: HTMLElement, order: Thumb[], shown: Shown, held: string | null): void {
  const every = pictures(node);
  const before = order.findIndex((thumb) => nameOf(thumb) === held);
  const place = before >= 0 ? before : Math.max(0, order.findIndex(shown.isChosen));
  if (every[place]) every[place].tabIndex = 0;
  if (before >= 0) every[before].focus({ preventScroll: true });
}

/** The rows of the board, and in the model's order their headings. */
function rowsFor({ thumbs, order, board, isSorted }: Shown): HTMLElement[] {
  const rows: HTMLElement[] = isSorted ? [] : [heading(thumbs)];
  for (let start = 0; start < order.length; start += board.across) {
    const some = order.slice(start, start + board.across);
    const { layer } = some[0];
    const attributes = { class: "nv-rowname", role: "rowheader", "aria-label": `layer ${layer}` };
    const first = isSorted ? [] : [element("span", attributes, String(layer))];
    const made = some.map((thumb, at) => cell(thumb, start + at));
    rows.push(element("div", { class: "nv-row", role: "row" }, ...first, ...made));
  }
  return rows;
}

function heading({ heads }: Thumbs): HTMLElement {
  const corner = element("span", { class: "nv-rowname", role: "columnheader" }, "layer");
  const titles = heads.map((head) => {
    const label = head === null ? "all heads" : `head ${head}`;
    const attributes = { class: "nv-column", role: "columnheader", "aria-label": label };
    return element("span", attributes, head === null ? label : String(head));
  });
  const above = element("span", { class: "nv-above", "aria-hidden": "true" }, "head");
  above.hidden = heads[0] === null;
  return element("div", { class: "nv-row nv-columns", role: "row" }, above, corner, ...titles);
}

function cell(thumb: Thumb, place: number): HTMLElement {
  const attributes = {
    class: "nv-thumb",
    role: "gridcell",
    tabindex: "-1",
    "data-place": String(place),
    "data-name": nameOf(thumb),
  };
  const under = element("span", { class: "nv-under", "aria-hidden": "true" });
  return element("div", attributes, element("i", { class: "nv-box" }), under);
}

/** What every picture and heading says now, and whether it is chosen. */
function fill(node: HTMLElement, { thumbs, order, isSorted, isChosen }: Shown): void {
  pictures(node).forEach((made, place) => {
    const thumb = order[place];
    made.setAttribute("aria-label", spoken(thumbs, thumb));
    made.setAttribute("aria-selected", String(isChosen(thumb)));
    const apart = underOf(thumbs, thumb);
    const name = element("b", {}, shortName(thumb));
    made.lastElementChild?.replaceChildren(...(isSorted ? [name, ` ${apart}`] : [apart]));
  });
  const chosen = order.filter(isChosen);
  mark(node, ".nv-row > [role=rowheader]", (at) => {
    return chosen.some(({ layer }) => layer === thumbs.stream.layers[at]);
  });
  const some = chosen.length < thumbs.heads.length;
  mark(node, ".nv-column", (at) => some && chosen.some(({ head }) => head === thumbs.heads[at]));
}

/** The number below a picture; nothing where there is no rival. */
function underOf(thumbs: Thumbs, thumb: Thumb): string {
  const { coloring } = thumbs;
  if (coloring) return digits(cellAt(thumbs, thumb)?.[coloring.by]);
  return thumb.apart === null ? "" : apartness(thumb.apart);
}

function mark(node: HTMLElement, which: string, isOn: (at: number) => boolean): void {
  [...node.querySelectorAll(which)].forEach((title, at) => {
    title.classList.toggle("nv-chosen", isOn(at));
  });
}

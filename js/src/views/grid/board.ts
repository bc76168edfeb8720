/** The thumbnails as an accessible grid that the keyboard can navigate. */

import { type Gap, gapLabel, gapsOf, gapText } from "../../data/otherLayers";
import { element } from "../../draw/dom";
import { agreementAt, formatAgreement } from "./agreementWords";
import type { Board } from "./layout";
import type { Thumb, Thumbs } from "./thumbs";
import { ariaLabelOf, formatDisagreement, nameOf, shortName } from "./words";

/** What is on the board: the thumbnails, their order and positions, and which are chosen. */
export interface ShownBoard {
  thumbs: Thumbs;
  order: Thumb[];
  board: Board;
  isSorted: boolean;
  isChosen(thumb: Thumb): boolean;
}

/** What happens when a thumbnail is pointed at, left, or opened. */
export interface BoardActions {
  point(thumb: Thumb | null): void;
  open(thumb: Thumb): void;
}

export function createBoard(use: BoardActions, signal: AbortSignal) {
  const node = element("div", { class: "nv-thumbs", role: "grid", "aria-readonly": "true" });
  let shown: ShownBoard | null = null;
  let built = "";

  const show = (next: ShownBoard): void => {
    shown = next;
    const { thumbs, order, board, isSorted } = next;
    const key = JSON.stringify([isSorted, board.across, order.map(nameOf)]);
    const focused = nameIn(node.contains(document.activeElement) ? document.activeElement : null);
    if (key !== built) node.replaceChildren(...rowsFor(next));
    const goal = thumbs.coloring ? "the token where the two differ most" : "a head";
    const label = `${thumbs.measure.label} by layer and head; Enter opens ${goal}`;
    node.setAttribute("aria-label", label);
    fill(node, next);
    if (key !== built) restore(node, order, next, focused);
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
  use: BoardActions,
  thumbAt: (target: EventTarget | null) => Thumb | null,
  shown: () => ShownBoard | null,
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
    const index = now.order.indexOf(thumb);
    const next = targetIndex(event.key, index, now.board.across, now.order.length);
    const opens = event.key === "Enter" || event.key === " ";
    if (next === null && !opens) return;
    // Otherwise the page would step through the tokens or scroll.
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

/** The index that a key leads to; null for other keys. */
export function targetIndex(
  key: string,
  place: number,
  across: number,
  count: number,
): number | null {
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

/** Move the focus; only the focused thumbnail is reachable with the tab key. */
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

/** Make the thumbnail that had the focus, or else the first chosen one, reachable with the tab key. */
function restore(node: HTMLElement, order: Thumb[], shown: ShownBoard, held: string | null): void {
  const every = pictures(node);
  const before = order.findIndex((thumb) => nameOf(thumb) === held);
  const index = before >= 0 ? before : Math.max(0, order.findIndex(shown.isChosen));
  if (every[index]) every[index].tabIndex = 0;
  if (before >= 0) every[before].focus({ preventScroll: true });
}

/** The rows of the board; in the model's order with headings, and layers without attention. */
function rowsFor({ thumbs, order, board, isSorted }: ShownBoard): HTMLElement[] {
  const rows: HTMLElement[] = isSorted ? [] : [heading(thumbs)];
  const gaps = isSorted ? [] : gapsOf(thumbs.stream);
  const thinRows = (above: number) =>
    gaps.filter(({ before }) => before === above).map((gap) => thinRow(gap, thumbs.heads.length));
  for (let start = 0; start < order.length; start += board.across) {
    rows.push(...thinRows(start / board.across));
    const row = order.slice(start, start + board.across);
    const { layer } = row[0];
    const attributes = { class: "nv-rowname", role: "rowheader", "aria-label": `layer ${layer}` };
    const first = isSorted ? [] : [element("span", attributes, String(layer))];
    const cells = row.map((thumb, at) => thumbCell(thumb, start + at));
    rows.push(element("div", { class: "nv-row", role: "row" }, ...first, ...cells));
  }
  return [...rows, ...thinRows(thumbs.stream.layers.length)];
}

/** A row for layers without attention, which the keyboard skips. */
function thinRow(gap: Gap, columns: number): HTMLElement {
  const [label, text] = [gapLabel(gap), gapText(gap)];
  const number = element("span", { class: "nv-rowname", role: "rowheader" }, label);
  number.setAttribute("aria-label", `layer ${label}`);
  const attributes = { role: "gridcell", "aria-colspan": String(columns), title: text };
  const cell = element("span", attributes, `· ${text}`);
  return element("div", { class: "nv-thin", role: "row" }, number, cell);
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

function thumbCell(thumb: Thumb, place: number): HTMLElement {
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

/** Update the labels of thumbnails and headings, and whether they are chosen. */
function fill(node: HTMLElement, { thumbs, order, isSorted, isChosen }: ShownBoard): void {
  pictures(node).forEach((made, place) => {
    const thumb = order[place];
    made.setAttribute("aria-label", ariaLabelOf(thumbs, thumb));
    made.setAttribute("aria-selected", String(isChosen(thumb)));
    const apart = captionOf(thumbs, thumb);
    const name = element("b", {}, shortName(thumb));
    made.lastElementChild?.replaceChildren(...(isSorted ? [name, ` ${apart}`] : [apart]));
  });
  const chosen = order.filter(isChosen);
  markChosen(node, ".nv-row > [role=rowheader]", (at) => {
    return chosen.some(({ layer }) => layer === thumbs.stream.layers[at]);
  });
  const isPartial = chosen.length < thumbs.heads.length;
  markChosen(
    node,
    ".nv-column",
    (at) => isPartial && chosen.some(({ head }) => head === thumbs.heads[at]),
  );
}

/** The number below a thumbnail; empty if nothing is compared. */
function captionOf(thumbs: Thumbs, thumb: Thumb): string {
  const { coloring } = thumbs;
  if (coloring) return formatAgreement(agreementAt(thumbs, thumb)?.[coloring.by]);
  return thumb.disagreement === null ? "" : formatDisagreement(thumb.disagreement);
}

function markChosen(node: HTMLElement, which: string, isOn: (at: number) => boolean): void {
  [...node.querySelectorAll(which)].forEach((title, at) => {
    title.classList.toggle("nv-chosen", isOn(at));
  });
}

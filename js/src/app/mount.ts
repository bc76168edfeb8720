/** A whole view in an element: controls, panes, legends, readout and receipt. */

import { PALETTES } from "../draw/colors";
import { element, notice } from "../draw/dom";
import { shadeFor, watchHost } from "../draw/theme";
import { saverFor } from "../export/save";
import { type Pane, panesOf } from "../state/pane";
import { isEqual } from "../state/signal";
import type { Store } from "../state/store";
import type { Tiles } from "../state/tiles";
import { KINDS } from "../views/index";
import { type Flow, FORMAT } from "../wire/types";
import { createControls } from "./controls";
import { headline } from "./headline";
import { listenToKeys } from "./keyboard";
import { Gallery } from "./panes";
import { trackRankings } from "./rankChanges";

const KEYS =
  "Keys: 1 to 9 choose a measure, [ and ] a layer, " +
  "arrows move between tokens, Escape clears the selection.";

/** Show a flow in an element until the signal is aborted; errors appear as a notice. */
export function mount(root: HTMLElement, store: Store, tiles: Tiles, signal: AbortSignal): void {
  root.classList.add("normviz");
  const attributes = { tabindex: "0", role: "group", "data-lm-suppress-shortcuts": "true" };
  for (const [name, value] of Object.entries(attributes)) root.setAttribute(name, value);
  const leave = () => {
    tiles.close();
    root.replaceChildren();
  };
  signal.addEventListener("abort", leave, { once: true });
  withErrorNotice(root, () => {
    requireFormat(store.header.format);
    assemble(root, store, tiles, signal);
  })();
}

/** The same work, which shows a notice above the view if it fails. */
export function withErrorNotice(root: HTMLElement, work: () => void): () => void {
  return () => {
    try {
      work();
    } catch (reason) {
      console.error(reason);
      for (const old of root.querySelectorAll(".nv-notice")) old.remove();
      const text = reason instanceof Error ? reason.message : String(reason);
      root.prepend(notice(`The view could not be drawn. ${text}`));
    }
  };
}

function assemble(root: HTMLElement, store: Store, tiles: Tiles, signal: AbortSignal): void {
  root.setAttribute("aria-label", `What attention moves in ${store.flow.model}. ${KEYS}`);
  const gallery = new Gallery(store, signal);
  const save = saverFor({ root, store, gallery, panes: () => panesFor(store, tiles) });
  const controls = createControls(store, tiles, signal, save);
  const ranks = trackRankings(store, tiles);
  const finding = headline(store);
  const waiting = element("p", { class: "nv-waiting", role: "status" });
  const changes = element("p", { class: "nv-changes", "aria-live": "polite" });
  const { flows } = store.header;
  const above = [...flows.map(titleLine), finding.node, controls.node, waiting];
  root.replaceChildren(...above, gallery.node, changes, ...flows.map(receiptBox));
  let drawn: unknown = null;

  const preview = withErrorNotice(root, () => {
    if (drawn === null) return;
    gallery.highlight(store.focus);
    gallery.tell(store.focus);
    changes.textContent = ranks.describe(gallery.frames, store.focus);
  });
  const draw = withErrorNotice(root, () => {
    const state = store.state.value;
    const shade = shadeFor(state.theme);
    // A pinned token changes what is highlighted, not what is drawn.
    const next = { ...state, token: 0, role: "", shade, width: gallery.node.clientWidth };
    for (const control of [finding, controls]) control.show(PALETTES[shade]);
    if (isEqual(next, drawn)) return preview();
    drawn = null;
    for (const old of root.querySelectorAll(".nv-notice")) old.remove();
    root.dataset.shade = shade;
    const panes = panesFor(store, tiles);
    const isLoaded = gallery.draw(panes, shade);
    waiting.textContent = isLoaded ? "" : `Loading layer ${state.layer} …`;
    if (!isLoaded) return;
    drawn = next;
    ranks.record(panes);
    preview();
  });
  draw();
  store.state.watch(draw, signal);
  store.hover.watch(preview, signal);
  tiles.changed.watch(draw, signal);
  watchHost(draw, signal);
  listenToKeys(root, store, signal);
  watchSize(gallery.node, draw, signal);
}

/** The panes to show: two only for views that are shown in pairs. */
function panesFor({ header, state }: Store, tiles: Tiles): Pane[] {
  const panes = panesOf(header, state.value, tiles);
  return KINDS[state.value.view].pairs ? panes : [{ ...panes[0], title: "" }];
}

/** Throw if this code cannot read the header's format. */
export function requireFormat(format: number): void {
  if (format === FORMAT) return;
  throw new Error(
    `The data has format ${format}, but this view reads format ${FORMAT}. ` +
      "Restart the kernel and reload the page, so that both use the same version of normviz.",
  );
}

/** Draw again whenever the size changes, including when a hidden cell appears. */
export function watchSize(node: HTMLElement, draw: () => void, signal: AbortSignal): void {
  const observer = new ResizeObserver(draw);
  observer.observe(node);
  signal.addEventListener("abort", () => observer.disconnect(), { once: true });
}

function titleLine({ model, size = "", title: text, note = "" }: Flow): HTMLElement {
  const name = element("span", { class: "nv-model" }, size ? `${model} (${size})` : model);
  const aside = note ? [element("span", { class: "nv-note", role: "note" }, ` ${note}`)] : [];
  const words = element("span", { dir: "auto" }, text); // a right-to-left text must not turn the note
  return element("p", { class: "nv-title", title: text }, name, words, ...aside);
}

/** Whether the parts add up, in one line; opened, the full receipt. */
function receiptBox({ receipt: { ok, headline, text } }: Flow): HTMLElement {
  const summary = element("summary", { title: "show the full receipt" }, headline);
  const attributes = { class: "nv-receipt", "data-ok": String(ok) };
  return element("details", attributes, summary, element("pre", { tabindex: "0" }, text));
}

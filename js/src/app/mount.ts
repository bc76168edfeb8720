/** A whole view in an element: controls, pictures, legends, readout and receipt. */

import { PALETTES } from "../draw/colors";
import { element, notice } from "../draw/dom";
import { shadeFor, watchHost } from "../draw/theme";
import { saver } from "../export/save";
import { type Pane, panesOf } from "../state/pane";
import { same } from "../state/signal";
import type { Store } from "../state/store";
import type { Tiles } from "../state/tiles";
import { KINDS } from "../views/index";
import { type Flow, FORMAT } from "../wire/types";
import { controls } from "./controls";
import { listen } from "./keyboard";
import { Gallery } from "./panes";
import { rankings } from "./rankChanges";
import { readout } from "./readout";

const KEYS = "Keys: 1 to 9 measure, [ and ] layer, arrows token, Escape lets go.";

/** Show a flow in an element until the signal says stop; a failure shows as a sentence. */
export function mount(root: HTMLElement, store: Store, tiles: Tiles, signal: AbortSignal): void {
  root.classList.add("normviz");
  const attributes = { tabindex: "0", role: "group", "data-lm-suppress-shortcuts": "true" };
  for (const [name, value] of Object.entries(attributes)) root.setAttribute(name, value);
  const leave = () => {
    tiles.close();
    root.replaceChildren();
  };
  signal.addEventListener("abort", leave, { once: true });
  guard(root, () => {
    refuseOther(store.header.format);
    assemble(root, store, tiles, signal);
  })();
}

/** Work that puts a sentence in place of the picture when it fails. */
export function guard(root: HTMLElement, work: () => void): () => void {
  return () => {
    try {
      work();
    } catch (reason) {
      console.error(reason);
      for (const old of root.querySelectorAll(".nv-notice")) old.remove();
      const text = reason instanceof Error ? reason.message : String(reason);
      root.prepend(notice(`The picture could not be drawn. ${text}`));
    }
  };
}

function assemble(root: HTMLElement, store: Store, tiles: Tiles, signal: AbortSignal): void {
  root.setAttribute("aria-label", `What attention moves in ${store.flow.model}. ${KEYS}`);
  const pictures = new Gallery(store, signal);
  const save = saver({ root, store, pictures, panes: () => panesFor(store, tiles) });
  const panel = controls(store, tiles, signal, save);
  const changes = rankings(store, tiles);
  const text = readout();
  const waiting = element("p", { class: "nv-waiting", role: "status" });
  const body = element("div", { class: "nv-body" }, pictures.node, text.node);
  const receipts = store.header.flows.map(receipt);
  root.replaceChildren(...store.header.flows.map(title), panel.node, waiting, body, ...receipts);
  let drawn: unknown = null;

  const glance = guard(root, () => {
    if (drawn === null) return;
    pictures.highlight(store.focus);
    text.show(pictures.describe(store.focus), changes.told(pictures.frames, store.focus));
  });
  const draw = guard(root, () => {
    const choice = store.choice.value;
    const shade = shadeFor(choice.theme);
    // A pinned token changes what is brought out, not what is drawn.
    const wanted = { ...choice, token: 0, side: "", shade, width: pictures.node.clientWidth };
    panel.show(PALETTES[shade]);
    if (same(wanted, drawn)) return glance();
    drawn = null;
    for (const old of root.querySelectorAll(".nv-notice")) old.remove();
    root.dataset.shade = shade;
    const panes = panesFor(store, tiles);
    const isHere = pictures.draw(panes, shade);
    waiting.textContent = isHere ? "" : `The numbers of layer ${choice.layer} are on their way …`;
    if (!isHere) return;
    drawn = wanted;
    changes.note(panes);
    glance();
  });
  draw();
  store.choice.watch(draw, signal);
  store.hover.watch(glance, signal);
  tiles.news.watch(draw, signal);
  watchHost(draw, signal);
  listen(root, store, signal);
  watchSize(pictures.node, draw, signal);
}

/** The panes to show: two only of a kind that stands side by side. */
function panesFor({ header, choice }: Store, tiles: Tiles): Pane[] {
  const panes = panesOf(header, choice.value, tiles);
  return KINDS[choice.value.view].pairs ? panes : [{ ...panes[0], title: "" }];
}

/** Refuse a header whose layout this code does not know. */
export function refuseOther(format: number): void {
  if (format === FORMAT) return;
  throw new Error(
    `It was written in layout ${format} and this view reads layout ${FORMAT}. ` +
      "Restart the kernel and reload the page, so that both sides of normviz have one version.",
  );
}

/** Draw again whenever the room for the picture changes, also when a hidden cell appears. */
export function watchSize(node: HTMLElement, draw: () => void, signal: AbortSignal): void {
  const observer = new ResizeObserver(draw);
  observer.observe(node);
  signal.addEventListener("abort", () => observer.disconnect(), { once: true });
}

function title({ model, title: text, note = "" }: Flow): HTMLElement {
  const name = element("span", { class: "nv-model" }, model);
  const aside = note ? [element("span", { class: "nv-note", role: "note" }, ` ${note}`)] : [];
  const words = element("span", { dir: "auto" }, text); // it cannot turn the note round
  return element("p", { class: "nv-title", title: text }, name, words, ...aside);
}

/** Whether it adds up, in one line; opened, the whole proof. */
function receipt({ receipt: { ok, headline, text } }: Flow): HTMLElement {
  const summary = element("summary", { title: "the whole receipt" }, headline);
  const attributes = { class: "nv-receipt", "data-ok": String(ok) };
  return element("details", attributes, summary, element("pre", { tabindex: "0" }, text));
}

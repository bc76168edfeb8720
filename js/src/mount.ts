/** A whole view in an element: controls, picture, legend, readout and receipt. */

import { same } from "./cell";
import { controls } from "./controls";
import { describe } from "./describe";
import { element, notice } from "./dom";
import { listen } from "./keys";
import { legend } from "./legend";
import { FORMAT, type Receipt } from "./model";
import { type Picture, pictureOf } from "./picture";
import { readout } from "./readout";
import { PALETTES } from "./scales";
import type { Store } from "./store";
import { shadeFor, watchHost } from "./theme";
import type { Tiles } from "./tiles";
import { flowView } from "./views/flow";

const KEYS = "Keys: 1 to 9 measure, [ and ] layer, arrows token, Escape lets go.";

/** Show a flow in an element until the signal says stop; a failure shows as a sentence. */
export function mount(root: HTMLElement, store: Store, tiles: Tiles, signal: AbortSignal): void {
  root.classList.add("normviz");
  const attributes = { tabindex: "0", role: "group", "data-lm-suppress-shortcuts": "true" };
  for (const [name, value] of Object.entries(attributes)) root.setAttribute(name, value);
  root.setAttribute("aria-label", `What attention moves in ${store.header.model}. ${KEYS}`);
  signal.addEventListener("abort", () => root.replaceChildren(), { once: true });
  guard(root, () => assemble(root, store, tiles, signal))();
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
  refuseOther(store.header.format);
  const panel = controls(store, signal);
  const view = flowView(store, signal);
  const key = legend();
  const text = readout();
  const body = element("div", { class: "nv-body" }, view.node, text.node);
  root.replaceChildren(title(store), panel.node, body, key.node, receipt(store.header.receipt));
  let picture: Picture | null = null;
  let drawn: unknown = null;

  const glance = guard(root, () => {
    if (!picture) return;
    key.magnify(view.highlight(store.focus));
    text.show(describe(picture, store.focus));
  });
  const draw = guard(root, () => {
    const choice = store.choice.value;
    const shade = shadeFor(choice.theme);
    // A pinned token changes what is brought out, not what is drawn.
    const wanted = { ...choice, token: 0, side: "", shade, width: view.node.clientWidth };
    if (same(wanted, drawn)) return glance();
    drawn = wanted;
    for (const old of root.querySelectorAll(".nv-notice")) old.remove();
    root.dataset.shade = shade;
    panel.show(PALETTES[shade]);
    picture = pictureOf(store.stream, store.measure, choice, tiles);
    for (const node of [body, key.node]) node.hidden = picture === null;
    if (!picture) throw new Error(missing(store));
    key.show(picture, view.draw(picture, PALETTES[shade]));
    glance();
  });
  draw();
  store.choice.watch(draw, signal);
  store.hover.watch(glance, signal);
  watchHost(draw, signal);
  listen(root, store, signal);
  watchSize(view.node, draw, signal);
}

/** Refuse a header whose layout this code does not know. */
function refuseOther(format: number): void {
  if (format === FORMAT) return;
  throw new Error(
    `It was written in layout ${format} and this view reads layout ${FORMAT}. ` +
      "Restart the kernel and reload the page, so that both sides of normviz have one version.",
  );
}

function missing(store: Store): string {
  const { layer } = store.choice.value;
  return `The numbers of ${store.measure.label} in layer ${layer} are not in this file.`;
}

/** Draw again whenever the room for the picture changes, also when a hidden cell appears. */
function watchSize(node: HTMLElement, draw: () => void, signal: AbortSignal): void {
  const observer = new ResizeObserver(draw);
  observer.observe(node);
  signal.addEventListener("abort", () => observer.disconnect(), { once: true });
}

function title({ header }: Store): HTMLElement {
  const model = element("span", { class: "nv-model" }, header.model);
  return element("p", { class: "nv-title" }, model, header.title);
}

/** Whether it adds up, in one line; opened, the whole proof. */
function receipt({ ok, headline, text }: Receipt): HTMLElement {
  const summary = element("summary", { title: "the whole receipt" }, headline);
  const attributes = { class: "nv-receipt", "data-ok": String(ok) };
  return element("details", attributes, summary, element("pre", { tabindex: "0" }, text));
}

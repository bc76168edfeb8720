/** The elements of the stack: tokens at both ends, a field of columns between, titles above. */

import { gapLabel, gapText } from "../../data/otherLayers";
import { isConnected, type Stack } from "../../data/stack";
import type { Palette } from "../../draw/colors";
import { element } from "../../draw/dom";
import type { Pane } from "../../state/pane";
import { tokenColumn } from "../shared/tokens";
import type { ViewActions } from "../view";
import {
  type Band,
  columnStart,
  isNumbered,
  type Lanes,
  numberedColumns,
  tokenUnder,
} from "./layout";
import { createNote } from "./notes";
import type { Spot } from "./route";
import type { Strands } from "./strands";

/** What is drawn, and where. */
export interface Scene {
  pane: Pane;
  palette: Palette;
  stack: Stack;
  lanes: Lanes;
  width: number;
  /** All tokens together, shown while none is in focus. */
  whole: Strands;
}

/** What the elements may ask of the view. */
interface StageActions {
  look(spot: Spot | null): void;
  pick(spot: Spot): void;
  /** A key was pressed; true if it did something. */
  press(event: KeyboardEvent): boolean;
  /** Trace another measure. */
  choose(measure: string): void;
  scrolled(): void;
  scene(): Scene | null;
}

export type Elements = ReturnType<typeof buildElements>;

export function buildElements(reach: StageActions, signal: AbortSignal) {
  const last = () => {
    const scene = reach.scene();
    return scene && isConnected(scene.stack.mode)
      ? (scene.stack.stream.layers.at(-1) ?? null)
      : null;
  };
  const handFor = (layer: () => number | null): ViewActions => ({
    hover: (focus) => reach.look(focus && { focus, layer: layer() }),
    pin: (focus) => reach.pick({ focus, layer: layer() }),
    choose: () => undefined,
  });
  const keys = tokenColumn(
    "key",
    handFor(() => null),
    signal,
  );
  const queries = tokenColumn("query", handFor(last), signal);
  const base = element("canvas", { class: "nv-base", role: "img" });
  const top = element("canvas", { class: "nv-top", "aria-hidden": "true" });
  const names = element("div", { class: "nv-names", "aria-hidden": "true" });
  const field = element("div", { class: "nv-field" });
  const titles = element("div", { class: "nv-titles" });
  const shades = element("div", { class: "nv-shades", "aria-hidden": "true" });
  const remark = element("p", { class: "nv-remark", hidden: "" });
  const stage = element(
    "div",
    { class: "nv-lanes" },
    ...[titles, shades, keys.node, field, queries.node, base, top, names],
  );
  const name =
    "the layers: with a token pinned, shift and arrows choose where a path from it leads";
  const attributes = { tabindex: "0", role: "group", "aria-label": name };
  const figure = element("div", { class: "nv-figure nv-stack", ...attributes }, remark, stage);
  const note = createNote(reach.choose, signal);
  const node = element("div", { class: "nv-stacked" }, note.node, figure);
  listenToField(field, reach, signal);
  figure.addEventListener("scroll", reach.scrolled, { signal, passive: true });
  const pressed = (event: KeyboardEvent): void => {
    if (!reach.press(event)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  figure.addEventListener("keydown", pressed, { signal });
  /** The range of lanes painted on each canvas. */
  const painted = { base: { top: 0, bottom: 0 }, top: { top: 0, bottom: 0 } };
  const parts = { stage, titles, shades, keys, queries, field, base, top, names };
  return { node, figure, note, remark, ...parts, painted };
}

/** Make every position of the field act as a token of a layer. */
function listenToField(
  field: HTMLElement,
  { look, pick, scene }: StageActions,
  signal: AbortSignal,
): void {
  let last = "";
  const tokenAtEvent = (event: MouseEvent) => {
    const now = scene();
    if (!now) return null;
    const { left, top } = field.getBoundingClientRect();
    const x = event.clientX - left + field.offsetLeft;
    const isGap = now.stack.mode === "separate";
    return tokenAt(now, tokenUnder(x, event.clientY - top, now.lanes, isGap));
  };
  const moved = (event: MouseEvent): void => {
    const target = tokenAtEvent(event);
    const name = JSON.stringify(target);
    if (name === last) return;
    last = name;
    look(target);
  };
  const left = (): void => {
    last = "";
    look(null);
  };
  const clicked = (event: MouseEvent): void => {
    const target = tokenAtEvent(event);
    if (target) pick(target);
  };
  field.addEventListener("pointermove", moved, { signal });
  field.addEventListener("pointerleave", left, { signal });
  field.addEventListener("click", clicked, { signal });
}

/** The token at a position of the field, and its layer; null before the first layer. */
function tokenAt({ stack }: Scene, place: ReturnType<typeof tokenUnder>): Spot | null {
  if (!place) return null;
  const { rows, stream, mode } = stack;
  if (isConnected(mode) && place.column > 0) {
    const token = rows.query.pieces[place.row]?.[0];
    const layer = stream.layers[place.column - 1];
    return token === undefined ? null : { focus: { role: "query" as const, token }, layer };
  }
  const token = rows.key.pieces[place.row]?.[0];
  const layer = mode === "separate" ? (stream.layers[place.column] ?? null) : null;
  return token === undefined ? null : { focus: { role: "key" as const, token }, layer };
}

/** The column titles, as many as fit; the traced layer stands out. */
export function showTitles(
  { titles }: Elements,
  { stack, lanes }: Scene,
  { makeup }: Strands,
): void {
  const { layers } = stack.stream;
  const isTraced = isConnected(stack.mode);
  const on = makeup.about?.role === "key" ? -1 : layers.indexOf(makeup.layer);
  const xs = layers.map((_, index) => {
    const after = lanes.posts[index + 1];
    return isTraced ? after : (columnStart(lanes, index) + after) / 2;
  });
  const numbers = numberedColumns(xs, on).map((index) => {
    const number = element("span", { class: "nv-number" }, String(layers[index]));
    number.style.left = `${xs[index]}px`;
    number.classList.toggle("nv-on", index === on);
    return number;
  });
  const first = element("span", { class: "nv-first" }, isTraced ? "after layer" : "layer");
  const bands = (lanes.bands ?? []).filter(isNumbered);
  titles.replaceChildren(first, ...numbers, ...bands.map(bandTitle));
}

function bandTitle({ left, right, gap }: Band): HTMLElement {
  const title = gapText(gap);
  const number = element("span", { class: "nv-band", title }, gapLabel(gap));
  number.setAttribute("aria-label", `layer ${gapLabel(gap)}: ${title}`);
  number.style.left = `${(left + right) / 2}px`;
  return number;
}

/** Shade the places of layers without attention. */
export function showBands({ shades }: Elements, { bands = [] }: Lanes): void {
  shades.replaceChildren(
    ...bands.map(({ left, right, gap }) => {
      const shade = element("i", { title: `layer ${gapLabel(gap)}, ${gapText(gap)}` });
      shade.style.left = `${left + 1}px`;
      shade.style.width = `${right - left - 2}px`;
      return shade;
    }),
  );
}

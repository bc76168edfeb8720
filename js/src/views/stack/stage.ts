/** The parts of the stack: tokens at both sides, a field of columns between, titles above. */

import { type Depth, isJoined } from "../../data/stack";
import type { Palette } from "../../draw/colors";
import { element } from "../../draw/dom";
import type { Pane } from "../../state/pane";
import type { Focus } from "../../wire/types";
import { column } from "../shared/tokens";
import type { Hand } from "../view";
import { type Lanes, under } from "./layout";
import type { Strands } from "./strands";

/** What is drawn, and where. */
export interface Scene {
  pane: Pane;
  palette: Palette;
  depth: Depth;
  lanes: Lanes;
  width: number;
  /** All tokens alike; what is shown while none is in focus. */
  whole: Strands;
}

/** What the parts of the view may ask of it. */
interface Reach {
  look(focus: Focus | null, layer: number | null): void;
  pick(focus: Focus, layer: number | null): void;
  scrolled(): void;
  scene(): Scene | null;
}

export type Parts = ReturnType<typeof build>;

export function build(reach: Reach, signal: AbortSignal) {
  const last = () => {
    const scene = reach.scene();
    return scene && isJoined(scene.depth.way) ? (scene.depth.stream.layers.at(-1) ?? null) : null;
  };
  const handFor = (layer: () => number | null): Hand => ({
    hover: (focus) => reach.look(focus, focus && layer()),
    pin: (focus) => reach.pick(focus, layer()),
    choose: () => undefined,
  });
  const keys = column(
    "key",
    handFor(() => null),
    signal,
  );
  const queries = column("query", handFor(last), signal);
  const base = element("canvas", { class: "nv-base", role: "img" });
  const top = element("canvas", { class: "nv-top", "aria-hidden": "true" });
  const names = element("div", { class: "nv-names", "aria-hidden": "true" });
  const field = element("div", { class: "nv-field" });
  const titles = element("div", { class: "nv-layers" });
  const remark = element("p", { class: "nv-remark", hidden: "" });
  const stage = element(
    "div",
    { class: "nv-lanes" },
    ...[titles, keys.node, field, queries.node, base, top, names],
  );
  const node = element("div", { class: "nv-figure nv-stack" }, remark, stage);
  pointingIn(field, reach, signal);
  node.addEventListener("scroll", reach.scrolled, { signal, passive: true });
  /** The stretch of the lanes that each sheet shows. */
  const painted = { base: { top: 0, bottom: 0 }, top: { top: 0, bottom: 0 } };
  return { node, stage, titles, keys, queries, field, base, top, names, remark, painted };
}

/** Let every place of the field stand for a token of a layer. */
function pointingIn(field: HTMLElement, { look, pick, scene }: Reach, signal: AbortSignal): void {
  let last = "";
  const found = (event: MouseEvent) => {
    const now = scene();
    if (!now) return null;
    const { left, top } = field.getBoundingClientRect();
    const x = event.clientX - left + field.offsetLeft;
    const isGap = now.depth.way === "apart";
    return tokenAt(now, under(x, event.clientY - top, now.lanes, isGap));
  };
  const moved = (event: MouseEvent): void => {
    const place = found(event);
    const name = JSON.stringify(place);
    if (name === last) return;
    last = name;
    look(place?.focus ?? null, place?.layer ?? null);
  };
  const left = (): void => {
    last = "";
    look(null, null);
  };
  const clicked = (event: MouseEvent): void => {
    const place = found(event);
    if (place) pick(place.focus, place.layer);
  };
  field.addEventListener("pointermove", moved, { signal });
  field.addEventListener("pointerleave", left, { signal });
  field.addEventListener("click", clicked, { signal });
}

/** The token at a place of the field, and its layer; before the first layer there is none. */
function tokenAt({ depth }: Scene, place: ReturnType<typeof under>) {
  if (!place) return null;
  const { rows, stream, way } = depth;
  if (isJoined(way) && place.column > 0) {
    const token = rows.query.pieces[place.row]?.[0];
    const layer = stream.layers[place.column - 1];
    return token === undefined ? null : { focus: { side: "query" as const, token }, layer };
  }
  const token = rows.key.pieces[place.row]?.[0];
  const layer = way === "apart" ? (stream.layers[place.column] ?? null) : null;
  return token === undefined ? null : { focus: { side: "key" as const, token }, layer };
}

/** The titles of the columns; the one whose tokens are followed stands out. */
export function entitle({ titles }: Parts, { depth, lanes }: Scene, { makeup }: Strands): void {
  const { layers } = depth.stream;
  const isTraced = isJoined(depth.way);
  const half = isTraced ? 0 : (lanes.posts[1] - lanes.posts[0]) / 2;
  const numbers = layers.map((layer, index) => {
    const number = element("span", { class: "nv-layer" }, String(layer));
    number.style.left = `${lanes.posts[index + (isTraced ? 1 : 0)] + half}px`;
    number.classList.toggle("nv-on", layer === makeup.layer && makeup.about?.side !== "key");
    return number;
  });
  const first = element("span", { class: "nv-first" }, isTraced ? "after layer" : "layer");
  titles.replaceChildren(first, ...numbers);
}

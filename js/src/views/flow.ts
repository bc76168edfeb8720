/** Two columns of tokens with ribbons between them, and ‖f(x)‖ as bars beside the keys. */

import { columnOf, rowOf } from "../derive";
import { element } from "../dom";
import { barsOf, type Ribbons, ribbonsAt, ribbonsOf, rowsFor } from "../layout";
import type { Focus } from "../model";
import { ALONE, AMONG, paintBars, paintRibbons, sheet } from "../paint";
import type { Picture } from "../picture";
import { headColour, type Palette } from "../scales";
import type { Store } from "../store";
import { column } from "./tokens";
import type { View } from "./view";

/** Ribbons drawn at most, and the share of the sum they need not go beyond. */
const ENOUGH = { share: 0.95, limit: 8000 };

/** The height that a text should fit before its column scrolls. */
const HEIGHT = 640;

/** The height of the columns' titles, which stay in place; the same in the style sheet. */
const HEADING = 24;

/** How many rows around a pinned token are kept in sight. */
const NEIGHBOURS = 8;

const GAP = 7;
const BAR = 72;

/** A token is lit when it has this much of what the strongest has. */
const LIT = 0.1;

export function flowView(store: Store, signal: AbortSignal): View {
  const parts = build(store, signal);
  let drawn: { picture: Picture; palette: Palette } | null = null;

  const draw = (picture: Picture, palette: Palette): Ribbons => {
    drawn = { picture, palette };
    arrange(parts, picture);
    return paintAll(parts, picture, palette);
  };

  const highlight = (focus: Focus | null): number => {
    if (!drawn) return 1;
    const { picture, palette } = drawn;
    const about = picture.values.length > 0 || focus?.side === "key" ? focus : null;
    const lit = about && litBy(picture, about);
    parts.keys.mark(about, about?.side === "query" ? lit : about && new Set());
    parts.queries.mark(about, about?.side === "key" ? lit : about && new Set());
    parts.base.classList.toggle("nv-faint", about !== null && picture.values.length > 0);
    if (store.hover.value === null && about) reveal(parts, about, rowsOf(picture).pitch);
    return paintFocus(parts, picture, palette, about);
  };
  return { node: parts.node, draw, highlight };
}

type Parts = ReturnType<typeof build>;

function build(store: Store, signal: AbortSignal) {
  const keys = column("key", store, signal);
  const queries = column("query", store, signal);
  const base = element("canvas", { class: "nv-base", role: "img" });
  const top = element("canvas", { class: "nv-top", "aria-hidden": "true" });
  const titles = {
    bars: element("span", { class: "nv-head nv-bars" }, "‖f(x)‖"),
    keys: element("span", { class: "nv-head nv-key" }, "read from"),
    queries: element("span", { class: "nv-head nv-query" }, "receives"),
  };
  const heads = element("div", { class: "nv-heading" }, ...Object.values(titles));
  const stage = element("div", { class: "nv-stage" }, heads, keys.node, queries.node, base, top);
  const node = element("div", { class: "nv-figure" }, stage);
  return { node, stage, keys, queries, base, top, titles };
}

/** Scroll the column, and only it, until the token and its neighbours can be seen. */
function reveal({ node }: Parts, { token }: Focus, pitch: number): void {
  const top = (token - NEIGHBOURS) * pitch;
  const bottom = (token + 1 + NEIGHBOURS) * pitch + HEADING;
  if (top < node.scrollTop) node.scrollTop = top;
  if (bottom > node.scrollTop + node.clientHeight) node.scrollTop = bottom - node.clientHeight;
}

/** Put the tokens in their rows, at a pitch that suits their number. */
function arrange({ node, stage, keys, queries, titles }: Parts, picture: Picture): void {
  const { stream, values, norms } = picture;
  const { pitch, font } = rowsOf(picture);
  node.style.setProperty("--nv-pitch", `${pitch}px`);
  node.style.setProperty("--nv-font", `${font}px`);
  keys.show(stream.keys);
  queries.show(stream.queries);
  stage.classList.toggle("nv-alone", values.length === 0);
  stage.classList.toggle("nv-barless", norms === null || values.length === 0);
  titles.bars.hidden = norms === null || values.length === 0;
}

/** How many rows there are, how tall, and how large their letters. */
function rowsOf({ queries, keys }: Picture) {
  const count = Math.max(queries, keys);
  return { count, ...rowsFor(count, HEIGHT) };
}

/** The canvas's size and the columns' edges, as the page has laid them out. */
function measured({ stage, keys, queries }: Parts, picture: Picture) {
  const { pitch, count } = rowsOf(picture);
  return {
    pitch,
    width: stage.clientWidth,
    height: count * pitch,
    left: keys.node.offsetLeft + keys.node.offsetWidth + GAP,
    right: queries.node.offsetLeft - GAP,
    bars: keys.node.offsetLeft - GAP,
  };
}

function paintAll(parts: Parts, picture: Picture, palette: Palette): Ribbons {
  const place = measured(parts, picture);
  const found = ribbonsOf(picture, place.pitch, ENOUGH);
  if (place.width === 0) return found;
  const context = sheet(parts.base, place.width, place.height);
  if (!context) throw new Error("This browser refuses to draw on a canvas; the table still holds.");
  parts.base.setAttribute(
    "aria-label",
    `${picture.measure.label} as ribbons; the table says it in numbers`,
  );
  paintRibbons(context, found.ribbons, place, colours(picture.heads, palette), AMONG);
  if (picture.norms) {
    const alone = picture.values.length === 0;
    const bars = alone
      ? { base: place.left, reach: place.width - place.left - GAP, pitch: place.pitch }
      : { base: place.bars, reach: GAP - BAR, pitch: place.pitch };
    paintBars(context, barsOf(picture.norms), bars, colours(picture.norms.heads, palette));
  }
  return found;
}

/** Paint one token's ribbons over the rest, and tell how many times wider they are. */
function paintFocus(parts: Parts, picture: Picture, palette: Palette, focus: Focus | null): number {
  const place = measured(parts, picture);
  if (place.width === 0) return 1;
  const context = sheet(parts.top, place.width, place.height);
  if (!context || focus === null || picture.values.length === 0) return 1;
  const { ribbons, zoom } = ribbonsAt(picture, place.pitch, focus);
  paintRibbons(context, ribbons, place, colours(picture.heads, palette), ALONE);
  if (picture.norms) {
    const bars = barsOf(picture.norms);
    const own = bars.filter(({ key }) => focus.side !== "key" || key === focus.token);
    const at = { base: place.bars, reach: GAP - BAR, pitch: place.pitch };
    paintBars(context, own, at, colours(picture.norms.heads, palette));
  }
  return zoom;
}

function colours(heads: (number | null)[], palette: Palette): string[] {
  return heads.map((head) => headColour(head, palette));
}

/** The tokens on the other side that matter to the one in focus. */
function litBy({ values, queries, keys }: Picture, { side, token }: Focus): Set<number> {
  if (values.length === 0) return new Set();
  const parts =
    side === "query" ? rowOf(values, queries, keys, token) : columnOf(values, queries, keys, token);
  const least = LIT * Math.max(...parts);
  return new Set([...parts.keys()].filter((at) => parts[at] > 0 && parts[at] >= least));
}

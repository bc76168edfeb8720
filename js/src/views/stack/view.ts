/** The stack view: a column of tokens per layer, and a trace of what a token is made of. */

import { focusedRow, type Ranking } from "../../data/layer";
import { gapsOf } from "../../data/otherLayers";
import { middle, rowSizeFor } from "../../data/ribbons";
import { isConnected, type Stack, stackOf, tracedLayer } from "../../data/stack";
import type { Palette } from "../../draw/colors";
import { element, visibleText } from "../../draw/dom";
import { recorder } from "../../draw/pen";
import { maxOf, sumOf } from "../../math/arrays";
import type { Pane } from "../../state/pane";
import { isEqual } from "../../state/signal";
import type { Focus } from "../../wire/types";
import { prepareCanvas } from "../shared/paint";
import type { View, ViewActions } from "../view";
import { columnsBetween, gapWidth, type Lanes, leastGap } from "./layout";
import { makeupOf } from "./makeup";
import { buildElements, type Elements, type Scene, showBands, showTitles } from "./stage";
import { namesIn, paintStrands, type Strands, type Stretch, strandsOf } from "./strands";
import { AS_WIDE, describeMakeup, stackLegend } from "./words";

/** The height in pixels beyond which a text scrolls, and the height of the titles. */
const HEIGHT = 640;
const HEADING = 24;

/** How many rows around a pinned token are kept visible. */
const NEIGHBORS = 8;

/** The minimum gap between two columns, and the width from which tokens are on both sides. */
const LEAST_GAP = 24;
const WIDE = 460;
const MARGIN = 8;

/** The minimum gap in which a token is named. */
const NAMEABLE = 44;

/** The maximum width of a name; the same in the style sheet. */
const NAME = 90;

/** How many stacks are cached: 12 MB each for 12 layers of 512 tokens. */
const KEPT = 3;

/** A token is lit if it has at least this fraction of the largest value. */
const LIT = 0.1;

export function stackView(actions: ViewActions, signal: AbortSignal): View {
  const cachedStack = cacheStacks();
  let scene: Scene | null = null;
  let shown: { focus: Focus | null; strands: Strands } | null = null;
  /** The layer under the pointer, which replaces the chosen layer. */
  let pointedLayer: number | null = null;

  const look = (focus: Focus | null, layer: number | null): void => {
    const isElsewhere = layer !== pointedLayer;
    pointedLayer = layer;
    // The same token in another layer is the same focus, but another trace.
    if (isElsewhere && focus && isEqual(focus, shown?.focus)) actions.refresh?.();
    else actions.hover(focus);
  };
  const pick = (focus: Focus, layer: number | null): void => {
    if (scene) pinInLayer(actions, scene.pane, focus, layer);
  };
  const scrolled = (): unknown => scene && shown && paintScrolled(elements, scene, shown.strands);
  const elements = buildElements({ look, pick, scrolled, scene: () => scene }, signal);
  const strandsFor = (focus: Focus | null): Strands => {
    if (!scene) throw new Error("Nothing has been drawn yet.");
    const isKnown = shown !== null && isEqual(shown.focus, focus);
    if (!isKnown) shown = { focus, strands: strandsOfFocus(scene, focus, pointedLayer) };
    return shown?.strands ?? scene.whole;
  };
  return {
    node: elements.node,
    draw: (pane, palette) => {
      const stack = cachedStack(pane);
      if (!stack) return false;
      shown = null;
      const before = scene;
      scene = arrange(elements, pane, stack, palette, before);
      // Another layer changes the trace only of a token in focus.
      if (scene.whole !== before?.whole) paint(elements, "base", scene, scene.whole);
      return true;
    },
    highlight: (focus) => {
      if (!scene) return;
      shown = null;
      highlightToken(elements, scene, strandsFor(focus));
    },
    legend: () => (shown ? legendOf(shown.strands) : []),
    describe: (focus) => describeMakeup(strandsFor(focus).makeup),
    ranking: (focus) => rankingIn(scene, strandsFor(focus)),
    vectors: () => (scene ? vectorsOf(elements, scene, shown?.strands ?? scene.whole) : new Map()),
  };
}

/** Computes the stack of a pane, and caches the last few. */
function cacheStacks(): (pane: Pane) => Stack | null {
  const kept = new Map<string, Stack>();
  return (pane) => {
    const { index, stream, measure, state } = pane;
    const { heads, words, special } = state;
    const key = JSON.stringify([index, stream.name, measure.id, heads, words, special]);
    const stack = kept.get(key) ?? stackOf(pane);
    if (!stack) return null;
    kept.delete(key);
    kept.set(key, stack);
    if (kept.size > KEPT) kept.delete([...kept.keys()][0]);
    return stack;
  };
}

/** The strands of the token in focus; of all tokens if none is. */
function strandsOfFocus(scene: Scene, focus: Focus | null, pointed: number | null): Strands {
  const { stack, pane, lanes, whole } = scene;
  const about = focusedRow(stack, focus);
  if (!about) return whole;
  const layer = pointed ?? tracedLayer(pane, stack.mode, focus);
  return strandsOf(makeupOf(stack, about, layer), lanes, pane.state.threshold);
}

/** Pin a token; if it belongs to another layer than the chosen one, choose that layer too. */
function pinInLayer(actions: ViewActions, { state }: Pane, focus: Focus, layer: number | null) {
  if (layer !== null && layer !== state.layer) {
    const isSecond = state.compare === state.layer;
    // Unpin first, because pinning a pinned token unpins it.
    actions.choose({ ...(isSecond ? { compare: layer } : { layer }), token: null });
  }
  actions.pin(focus);
}

/** Lay out tokens and layers, and trace all tokens together. */
function arrange(
  elements: Elements,
  pane: Pane,
  stack: Stack,
  palette: Palette,
  before: Scene | null,
): Scene {
  const { node, stage, keys, queries, field, remark } = elements;
  const { rows, stream, mode } = stack;
  const count = Math.max(
    rows.key.pieces.length,
    mode === "separate" ? rows.query.pieces.length : 0,
  );
  const { pitch, font } = rowSizeFor(count, HEIGHT);
  node.style.setProperty("--nv-pitch", `${pitch}px`);
  node.style.setProperty("--nv-font", `${font}px`);
  const gaps = gapsOf(stream);
  const layers = Math.max(1, stream.layers.length);
  const room = layers * LEAST_GAP + sumOf(gaps.map((gap) => gapWidth(gap, mode)));
  node.style.setProperty("--nv-room", `${room}px`);
  node.classList.toggle("nv-narrow", isConnected(mode) && node.clientWidth < WIDE);
  stage.hidden = mode === "none";
  remark.hidden = mode !== "none";
  const isDimmed = pane.state.special === "dimmed";
  keys.show(rows.key, isDimmed);
  queries.show(rows.query, isDimmed);
  const [left, right] = [field.offsetLeft, field.offsetLeft + field.offsetWidth];
  const columns = columnsBetween(left + MARGIN, right - MARGIN, { layers, gaps, mode });
  const lanes = { pitch, rows: count, ...columns };
  showBands(elements, lanes);
  const scene = { pane, palette, stack, lanes, width: stage.clientWidth };
  const whole = before && isSameWhole(before, scene) ? before.whole : wholeOf(scene);
  remark.textContent = describeMakeup(whole.makeup).sentence;
  return { ...scene, whole };
}

/** The strands of all tokens, from the last layer or the compared one. */
function wholeOf({ pane, stack, lanes }: Omit<Scene, "whole">): Strands {
  const makeup = makeupOf(stack, null, tracedLayer(pane, stack.mode, null));
  return strandsOf(makeup, lanes, pane.state.threshold);
}

/** Whether the strands of all tokens are the same in two scenes. */
function isSameWhole(one: Scene, other: Omit<Scene, "whole">): boolean {
  const facts = ({ pane, stack, palette, lanes, width }: Omit<Scene, "whole">) => {
    const layer = tracedLayer(pane, stack.mode, null);
    return [layer, pane.state.threshold, palette, lanes, width];
  };
  return one.stack === other.stack && isEqual(facts(one), facts(other));
}

/** Paint one of the canvases, in the visible range and somewhat beyond. */
function paint(
  elements: Elements,
  name: "base" | "top",
  scene: Scene,
  strands: Strands | null,
): void {
  const { lanes, width, palette, stack } = scene;
  const canvas = elements[name];
  const stretch = stretchOf(elements, lanes);
  const context = width > 0 ? prepareCanvas(canvas, width, stretch.bottom - stretch.top) : null;
  if (width > 0 && !context) {
    throw new Error("This browser cannot draw on a canvas; the table has the numbers.");
  }
  canvas.style.top = `${HEADING + stretch.top}px`;
  elements.painted[name] = stretch;
  const what = `${stack.measure.label} through the layers; the table has the numbers`;
  if (name === "base") canvas.setAttribute("aria-label", what);
  if (!context || !strands) return;
  context.save();
  context.translate(0, -stretch.top);
  paintStrands(context, strands, lanes, palette, stretch);
  context.restore();
}

/** The visible range and half as much before and after; everything if that is not much more. */
function stretchOf({ node }: Elements, { rows, pitch }: Lanes): Stretch {
  const [whole, page] = [rows * pitch, node.clientHeight];
  if (whole <= 2 * page) return { top: 0, bottom: whole };
  const top = Math.min(whole - 2 * page, Math.max(0, Math.round(node.scrollTop - page / 2)));
  return { top, bottom: top + 2 * page };
}

/** Paint again if the reader has scrolled beyond the painted range. */
function paintScrolled(elements: Elements, scene: Scene, strands: Strands): void {
  const { node, painted } = elements;
  const name = strands.makeup.about ? "top" : "base";
  const { top, bottom } = painted[name];
  const end = Math.min(scene.lanes.rows * scene.lanes.pitch, node.scrollTop + node.clientHeight);
  if (node.scrollTop < top || end > bottom) paint(elements, name, scene, strands);
}

/** The same marks as SVG: of all tokens, or only of the token in focus. */
function vectorsOf({ base, top, painted }: Elements, { lanes, palette }: Scene, strands: Strands) {
  const pen = recorder();
  const isOwn = strands.makeup.about !== null;
  const stretch = painted[isOwn ? "top" : "base"];
  paintStrands(pen, strands, lanes, palette, stretch);
  const marks = [`<g transform="translate(0 ${-stretch.top})">`, ...pen.marks(), "</g>"];
  return new Map([
    [base, isOwn ? [] : marks],
    [top, isOwn ? marks : []],
  ]);
}

/** Highlight what the token in focus is made of, and dim the rest. */
function highlightToken(elements: Elements, scene: Scene, strands: Strands): void {
  const { about, shares } = strands.makeup;
  showTitles(elements, scene, strands);
  elements.base.classList.toggle("nv-faint", about !== null);
  if (about) reveal(elements, about.row, scene.lanes.pitch);
  paint(elements, "top", scene, about && strands);
  paintScrolled(elements, scene, strands);
  const lit = litRows(shares);
  const gives = about?.role === "key";
  const nothing = about && new Set<number>();
  elements.keys.mark(gives ? about.row : null, about && !gives ? lit : nothing);
  elements.queries.mark(about && !gives ? about.row : null, gives ? lit : nothing);
  elements.names.replaceChildren(...namesFor(elements, scene, strands));
}

/** Names inside the field, where they fit and no token label is beside them. */
function namesFor({ node }: Elements, { lanes, width }: Scene, strands: Strands): HTMLElement[] {
  const { posts, pitch } = lanes;
  const isRoomy = leastGap(lanes) >= NAMEABLE;
  const isBeside = (at: number) =>
    at === 0 || (at === posts.length - 1 && !node.classList.contains("nv-narrow"));
  return namesIn(strands)
    .filter(({ column, isOwn }) => !isBeside(column) && (isRoomy || isOwn))
    .map(({ label, column, row, isOwn }) => {
      const name = element("span", { dir: "auto" }, visibleText(label));
      name.classList.toggle("nv-on", isOwn);
      name.classList.toggle("nv-left", posts[column] + NAME > width);
      name.style.left = `${posts[column]}px`;
      name.style.top = `${middle(row, pitch)}px`;
      return name;
    });
}

/** The tokens with a notable share. */
function litRows(shares: Float64Array): Set<number> {
  const least = LIT * maxOf(shares);
  return new Set([...shares.keys()].filter((row) => shares[row] > 0 && shares[row] >= least));
}

/** Scroll the figure until the row and its neighbors are visible. */
function reveal({ node }: Elements, row: number, pitch: number): void {
  if (node.matches(":hover")) return; // do not move what the pointer is over
  const top = (row - NEIGHBORS) * pitch;
  const bottom = (row + 1 + NEIGHBORS) * pitch + HEADING;
  if (top < node.scrollTop) node.scrollTop = top;
  if (bottom > node.scrollTop + node.clientHeight) node.scrollTop = bottom - node.clientHeight;
}

/** The legend, with a swatch of the stated height. */
function legendOf({ makeup, links, unit, width }: Strands): (string | HTMLElement)[] {
  const swatch = element("i", { class: "nv-swatch", "aria-hidden": "true" });
  swatch.style.height = `${unit * width}px`;
  return stackLegend(makeup, links, unit).map((line) =>
    line.startsWith(AS_WIDE) ? element("span", {}, swatch, line) : line,
  );
}

/** The shares for comparing two panes; null for a single pane. */
function rankingIn(scene: Scene | null, { makeup }: Strands): Ranking | null {
  if (!scene?.pane.title || makeup.about?.role === "key" || makeup.shares.length === 0) return null;
  return { labels: scene.stack.rows.key.labels, values: makeup.shares };
}

/** All layers at once: a column of tokens for each, and what a token is made of traced back. */

import { middle, rowsFor } from "../../data/ribbons";
import { aboutLayer, type Depth, depthOf, isJoined } from "../../data/stack";
import type { Palette } from "../../draw/colors";
import { element, visible } from "../../draw/dom";
import { recorder } from "../../draw/pen";
import { most } from "../../math/arrays";
import type { Pane } from "../../state/pane";
import { same } from "../../state/signal";
import type { Focus } from "../../wire/types";
import { sheet } from "../shared/paint";
import type { Hand, Standing, View } from "../view";
import { type Lanes, postsBetween } from "./layout";
import { makeupOf, rowAt } from "./makeup";
import { build, entitle, type Parts, type Scene } from "./stage";
import { namesIn, paintStrands, type Strands, type Stretch, strandsOf } from "./strands";
import { AS_WIDE, describeMakeup, madeLegend } from "./words";

/** The height that a text should fit before it scrolls, and that of the titles. */
const HEIGHT = 640;
const HEADING = 24;

/** How many rows around a pinned token are kept in sight. */
const NEIGHBORS = 8;

/** The least room between two columns, and the width from which tokens stand on both sides. */
const LEAST_GAP = 24;
const WIDE = 460;
const MARGIN = 8;

/** The least room in which a token is named between its neighbors. */
const NAMEABLE = 44;

/** The widest a name may be; the same in the style sheet. */
const NAME = 90;

/** How many measures are kept at hand: 12 MB each for 12 layers of 512 tokens. */
const KEPT = 3;

/** A token is lit when it has this much of what the strongest has. */
const LIT = 0.1;

export function stackView(hand: Hand, signal: AbortSignal): View {
  const gathered = keeper();
  let scene: Scene | null = null;
  let shown: { focus: Focus | null; strands: Strands } | null = null;
  /** The layer under the pointer; its tokens are looked at instead of the chosen layer's. */
  let glance: number | null = null;

  const look = (focus: Focus | null, layer: number | null): void => {
    const isElsewhere = layer !== glance;
    glance = layer;
    // The same token in another layer is no other focus, and yet another picture.
    if (isElsewhere && focus && same(focus, shown?.focus)) hand.tell?.();
    else hand.hover(focus);
  };
  const pick = (focus: Focus, layer: number | null): void => {
    if (scene) choose(hand, scene.pane, focus, layer);
  };
  const scrolled = (): unknown => scene && shown && unroll(parts, scene, shown.strands);
  const parts = build({ look, pick, scrolled, scene: () => scene }, signal);
  const strandsFor = (focus: Focus | null): Strands => {
    if (!scene) throw new Error("Nothing has been drawn yet.");
    const isKnown = shown !== null && same(shown.focus, focus);
    if (!isKnown) shown = { focus, strands: follow(scene, focus, glance) };
    return shown?.strands ?? scene.whole;
  };
  return {
    node: parts.node,
    draw: (pane, palette) => {
      const depth = gathered(pane);
      if (!depth) return false;
      shown = null;
      const before = scene;
      scene = arrange(parts, pane, depth, palette, before);
      // Another layer is another picture only for a token in focus.
      if (scene.whole !== before?.whole) paint(parts, "base", scene, scene.whole);
      return true;
    },
    highlight: (focus) => {
      if (!scene) return;
      shown = null;
      bringOut(parts, scene, strandsFor(focus));
    },
    legend: () => (shown ? legendOf(shown.strands) : []),
    describe: (focus) => describeMakeup(strandsFor(focus).makeup),
    standing: (focus) => standingIn(scene, strandsFor(focus)),
    vectors: () => (scene ? vectorsOf(parts, scene, shown?.strands ?? scene.whole) : new Map()),
  };
}

/** Gathers the layers of a pane, and keeps those of the last few, for a reader who goes to and fro. */
function keeper(): (pane: Pane) => Depth | null {
  const kept = new Map<string, Depth>();
  return (pane) => {
    const { index, stream, measure, choice } = pane;
    const { heads, words, special } = choice;
    const key = JSON.stringify([index, stream.name, measure.id, heads, words, special]);
    const depth = kept.get(key) ?? depthOf(pane);
    if (!depth) return null;
    kept.delete(key);
    kept.set(key, depth);
    if (kept.size > KEPT) kept.delete([...kept.keys()][0]);
    return depth;
  };
}

/** What the token in focus is made of; of all tokens alike where none is. */
function follow(scene: Scene, focus: Focus | null, glance: number | null): Strands {
  const { depth, pane, lanes, whole } = scene;
  const about = rowAt(depth, focus);
  if (!about) return whole;
  const layer = glance ?? aboutLayer(pane, depth.way, focus);
  return strandsOf(makeupOf(depth, about, layer), lanes, pane.choice.threshold);
}

/** Pin a token; where it stands in another layer than the chosen one, choose that layer too. */
function choose(hand: Hand, { choice, layer: chosen }: Pane, focus: Focus, layer: number | null) {
  if (layer !== null && layer !== chosen) {
    const isSecond = typeof choice.compare === "number" && choice.compare === chosen;
    // Freed first, for a second pin would only free it.
    hand.choose({ ...(isSecond ? { compare: layer } : { layer }), token: null });
  }
  hand.pin(focus);
}

/** Put tokens and layers in their places, and trace all tokens alike. */
function arrange(
  parts: Parts,
  pane: Pane,
  depth: Depth,
  palette: Palette,
  before: Scene | null,
): Scene {
  const { node, stage, keys, queries, field, remark } = parts;
  const { rows, stream, way } = depth;
  const count = Math.max(rows.key.pieces.length, way === "apart" ? rows.query.pieces.length : 0);
  const { pitch, font } = rowsFor(count, HEIGHT);
  node.style.setProperty("--nv-pitch", `${pitch}px`);
  node.style.setProperty("--nv-font", `${font}px`);
  node.style.setProperty("--nv-room", `${stream.layers.length * LEAST_GAP}px`);
  node.classList.toggle("nv-narrow", isJoined(way) && node.clientWidth < WIDE);
  stage.hidden = way === "nothing";
  remark.hidden = way !== "nothing";
  const isDimmed = pane.choice.special === "dimmed";
  keys.show(rows.key, isDimmed);
  queries.show(rows.query, isDimmed);
  const [left, right] = [field.offsetLeft, field.offsetLeft + field.offsetWidth];
  const posts = postsBetween(left + MARGIN, right - MARGIN, Math.max(1, stream.layers.length));
  const lanes = { pitch, rows: count, posts };
  const scene = { pane, palette, depth, lanes, width: stage.clientWidth };
  const whole = before && isAlike(before, scene) ? before.whole : wholeOf(scene);
  remark.textContent = describeMakeup(whole.makeup).sentence;
  return { ...scene, whole };
}

/** All tokens alike, from the last layer or the one that is compared. */
function wholeOf({ pane, depth, lanes }: Omit<Scene, "whole">): Strands {
  const makeup = makeupOf(depth, null, aboutLayer(pane, depth.way, null));
  return strandsOf(makeup, lanes, pane.choice.threshold);
}

/** Whether all tokens alike look the same in two scenes. */
function isAlike(one: Scene, other: Omit<Scene, "whole">): boolean {
  const facts = ({ pane, depth, palette, lanes, width }: Omit<Scene, "whole">) => {
    const layer = aboutLayer(pane, depth.way, null);
    return [layer, pane.choice.threshold, palette, lanes, width];
  };
  return one.depth === other.depth && same(facts(one), facts(other));
}

/** Paint one of the sheets, as far as it is in sight and somewhat beyond. */
function paint(parts: Parts, name: "base" | "top", scene: Scene, strands: Strands | null): void {
  const { lanes, width, palette, depth } = scene;
  const canvas = parts[name];
  const stretch = stretchOf(parts, lanes);
  const context = width > 0 ? sheet(canvas, width, stretch.bottom - stretch.top) : null;
  if (width > 0 && !context) {
    throw new Error("This browser refuses to draw on a canvas; the table still holds.");
  }
  canvas.style.top = `${HEADING + stretch.top}px`;
  parts.painted[name] = stretch;
  const what = `${depth.measure.label} through the layers; the table says it in numbers`;
  if (name === "base") canvas.setAttribute("aria-label", what);
  if (!context || !strands) return;
  context.save();
  context.translate(0, -stretch.top);
  paintStrands(context, strands, lanes, palette, stretch);
  context.restore();
}

/** What is in sight, and half as much before and after; all where that is not much more. */
function stretchOf({ node }: Parts, { rows, pitch }: Lanes): Stretch {
  const [whole, page] = [rows * pitch, node.clientHeight];
  if (whole <= 2 * page) return { top: 0, bottom: whole };
  const top = Math.min(whole - 2 * page, Math.max(0, Math.round(node.scrollTop - page / 2)));
  return { top, bottom: top + 2 * page };
}

/** Paint on where the reader has scrolled beyond what was painted. */
function unroll(parts: Parts, scene: Scene, strands: Strands): void {
  const { node, painted } = parts;
  const name = strands.makeup.about ? "top" : "base";
  const { top, bottom } = painted[name];
  const end = Math.min(scene.lanes.rows * scene.lanes.pitch, node.scrollTop + node.clientHeight);
  if (node.scrollTop < top || end > bottom) paint(parts, name, scene, strands);
}

/** The same marks for a file: all tokens alike, or only what the token in focus is made of. */
function vectorsOf({ base, top, painted }: Parts, { lanes, palette }: Scene, strands: Strands) {
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

/** Bring out what the token in focus is made of, and dim the rest. */
function bringOut(parts: Parts, scene: Scene, strands: Strands): void {
  const { about, parts: shares } = strands.makeup;
  entitle(parts, scene, strands);
  parts.base.classList.toggle("nv-faint", about !== null);
  if (about) reveal(parts, about.row, scene.lanes.pitch);
  paint(parts, "top", scene, about && strands);
  unroll(parts, scene, strands);
  const lit = litBy(shares);
  const gives = about?.side === "key";
  const nothing = about && new Set<number>();
  parts.keys.mark(gives ? about.row : null, about && !gives ? lit : nothing);
  parts.queries.mark(about && !gives ? about.row : null, gives ? lit : nothing);
  parts.names.replaceChildren(...namesFor(parts, scene, strands));
}

/** Names in the middle of the picture, where no token stands beside and there is room for them. */
function namesFor({ node }: Parts, { lanes, width }: Scene, strands: Strands): HTMLElement[] {
  const { posts, pitch } = lanes;
  const isRoomy = posts[1] - posts[0] >= NAMEABLE;
  const isBeside = (at: number) =>
    at === 0 || (at === posts.length - 1 && !node.classList.contains("nv-narrow"));
  return namesIn(strands)
    .filter(({ column, isOwn }) => !isBeside(column) && (isRoomy || isOwn))
    .map(({ label, column, row, isOwn }) => {
      const made = element("span", { dir: "auto" }, visible(label));
      made.classList.toggle("nv-on", isOwn);
      made.classList.toggle("nv-left", posts[column] + NAME > width);
      made.style.left = `${posts[column]}px`;
      made.style.top = `${middle(row, pitch)}px`;
      return made;
    });
}

/** The tokens that matter to the one in focus. */
function litBy(shares: Float64Array): Set<number> {
  const least = LIT * most(shares);
  return new Set([...shares.keys()].filter((row) => shares[row] > 0 && shares[row] >= least));
}

/** Scroll the figure, and only it, until the row and its neighbors can be seen. */
function reveal({ node }: Parts, row: number, pitch: number): void {
  if (node.matches(":hover")) return; // never move what the reader points at
  const top = (row - NEIGHBORS) * pitch;
  const bottom = (row + 1 + NEIGHBORS) * pitch + HEADING;
  if (top < node.scrollTop) node.scrollTop = top;
  if (bottom > node.scrollTop + node.clientHeight) node.scrollTop = bottom - node.clientHeight;
}

/** The legend, with a swatch as tall as it says. */
function legendOf({ makeup, links, unit, width }: Strands): (string | HTMLElement)[] {
  const swatch = element("i", { class: "nv-swatch", "aria-hidden": "true" });
  swatch.style.height = `${unit * width}px`;
  return madeLegend(makeup, links, unit).map((line) =>
    line.startsWith(AS_WIDE) ? element("span", {}, swatch, line) : line,
  );
}

/** Between two pictures: who gives more and who less. Alone, the former picture was another kind. */
function standingIn(scene: Scene | null, { makeup }: Strands): Standing | null {
  if (!scene?.pane.title || makeup.about?.side === "key" || makeup.parts.length === 0) return null;
  return { labels: scene.depth.rows.key.labels, values: makeup.parts };
}

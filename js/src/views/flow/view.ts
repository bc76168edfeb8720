/** Two columns of tokens with ribbons between them, and the keys' norms as bars beside. */

import { type Picture, pictureOf, rowIn } from "../../data/layer";
import {
  barsOf,
  type Ribbon,
  type Ribbons,
  ribbonsAt,
  ribbonsOf,
  rowsFor,
} from "../../data/ribbons";
import { headColor, type Palette } from "../../draw/colors";
import { element } from "../../draw/dom";
import { type Pen, recorder } from "../../draw/pen";
import { given, most } from "../../math/arrays";
import type { Pane } from "../../state/pane";
import type { Focus } from "../../wire/types";
import { describe, partsOf } from "../../words/describe";
import { type Own, ribbonLegend } from "../../words/legend";
import { ALONE, AMONG, paintBars, paintRibbons, sheet } from "../shared/paint";
import { column } from "../shared/tokens";
import type { Hand, Standing, View } from "../view";
import { strip } from "./minimap";
import { animator, between, isStill, MOST, type Scene } from "./morph";

/** Ribbons drawn at most, and the share of the sum they need not go beyond. */
const ENOUGH = { share: 0.95, limit: 8000 };

/** Ribbons painted in one go, so that the page answers quickly. */
const AT_ONCE = 1500;

/** The height that a text should fit before its column scrolls. */
const HEIGHT = 640;

/** The height of the columns' titles, which stay in place; the same in the style sheet. */
const HEADING = 24;

/** How many rows around a pinned token are kept in sight. */
const NEIGHBORS = 8;

/** A canvas without these is 300 by 150 pixels before anything is drawn. */
const EMPTY = { width: "0", height: "0" };

const GAP = 7;
const BAR = 72;

/** A token is lit when it has this much of what the strongest has. */
const LIT = 0.1;

export function flowView(hand: Hand, signal: AbortSignal): View {
  const parts = build(hand, signal);
  const animate = animator(signal);
  let now: Drawn | null = null;
  let own: Own | null = null;
  let seen: Focus | null = null;

  const draw = (pane: Pane, palette: Palette): boolean => {
    const picture = pictureOf(pane);
    if (!picture) return false;
    const before = now;
    arrange(parts, picture, pane.choice.special === "dimmed");
    parts.whole.show(picture, palette); // takes its room before the rest is measured
    const place = measured(parts, picture);
    now = { picture, palette, drawn: ribbonsOf(picture, place.pitch, ENOUGH), place };
    if (before && moves(before, now)) animate(frames(parts, before, now));
    else animate.still(...steps(parts, now));
    return true;
  };
  const highlight = (focus: Focus | null): void => {
    seen = focus;
    if (now) own = bringOut(parts, now, focus);
  };
  return {
    node: parts.node,
    draw,
    highlight,
    legend: () => (now ? ribbonLegend(now.picture, now.drawn, own, now.palette) : []),
    describe: (focus) => describe(pictureIn(now), focus),
    standing: (focus) => standingOf(pictureIn(now), focus),
    vectors: () => (now ? vectorsOf(parts, now, seen) : new Map()),
  };
}

/** What is on the canvas, and where. */
interface Drawn {
  picture: Picture;
  palette: Palette;
  drawn: Ribbons;
  place: ReturnType<typeof measured>;
}

type Parts = ReturnType<typeof build>;

function pictureIn(now: Drawn | null): Picture {
  if (!now) throw new Error("Nothing has been drawn yet.");
  return now.picture;
}

/** What each key gives to the query in focus, or to all. */
export function standingOf(picture: Picture, focus: Focus | null): Standing {
  const at = rowIn(picture, focus);
  const labels = picture.rows.key.labels;
  if (picture.values.length === 0) {
    return { labels, values: given(picture.norms?.values ?? new Float32Array(), picture.keys) };
  }
  const values = at?.side === "query" ? partsOf(picture, at) : picture.gifts;
  return { labels, values };
}

function build(hand: Hand, signal: AbortSignal) {
  const keys = column("key", hand, signal);
  const queries = column("query", hand, signal);
  const base = element("canvas", { class: "nv-base", role: "img", ...EMPTY });
  const top = element("canvas", { class: "nv-top", "aria-hidden": "true", ...EMPTY });
  const titles = {
    bars: element("span", { class: "nv-head nv-bars" }, "‖f(x)‖"),
    keys: element("span", { class: "nv-head nv-key" }, "read from"),
    queries: element("span", { class: "nv-head nv-query" }, "receives"),
  };
  const heads = element("div", { class: "nv-heading" }, ...Object.values(titles));
  const stage = element("div", { class: "nv-stage" }, heads, keys.node, queries.node, base, top);
  const figure = element("div", { class: "nv-figure" }, stage);
  const whole = strip(figure, signal);
  const node = element("div", { class: "nv-framed" }, figure, whole.node);
  return { node, figure, stage, keys, queries, base, top, titles, whole };
}

/** Whether a change is worth showing as a movement, and can be. */
function moves(before: Drawn, after: Drawn): boolean {
  const few = Math.max(before.drawn.ribbons.length, after.drawn.ribbons.length) <= MOST;
  const text = (drawn: Drawn) => drawn.picture.rows.key.labels.join("\0");
  const alike = text(before) === text(after) && before.place.width === after.place.width;
  return few && alike && before.palette === after.palette && !isStill();
}

function frames(parts: Parts, before: Drawn, after: Drawn): (part: number) => void {
  const scene = ({ picture, drawn }: Drawn): Scene => ({
    ribbons: drawn.ribbons,
    strands: picture.strands,
  });
  const [from, to] = [scene(before), scene(after)];
  return (part) => paintAll(parts, after, part < 1 ? between(from, to, part) : after.drawn.ribbons);
}

/** The picture in two steps: what is in sight and strongest at once, all of it a moment later. */
function steps(parts: Parts, now: Drawn): (() => void)[] {
  const { ribbons } = now.drawn;
  const { scrollTop: top, clientHeight: height } = parts.figure;
  const isSeen = ({ from, to }: Ribbon) =>
    Math.max(from, to) >= top && Math.min(from, to) <= top + height;
  const all = () => paintAll(parts, now, ribbons);
  if (ribbons.length <= AT_ONCE) return [all];
  return [() => paintAll(parts, now, ribbons.filter(isSeen).slice(-AT_ONCE), { top, height }), all];
}

/** Put the tokens in their rows, at a pitch that suits their number. */
function arrange(parts: Parts, picture: Picture, isDimmed: boolean): void {
  const { node, stage, keys, queries, titles } = parts;
  const { rows, values, norms } = picture;
  const { pitch, font } = pitchOf(picture);
  node.style.setProperty("--nv-pitch", `${pitch}px`);
  node.style.setProperty("--nv-font", `${font}px`);
  keys.show(rows.key, isDimmed);
  queries.show(rows.query, isDimmed);
  stage.classList.toggle("nv-alone", values.length === 0);
  stage.classList.toggle("nv-barless", norms === null || values.length === 0);
  titles.bars.hidden = norms === null || values.length === 0;
}

/** How many rows there are, how tall, and how large their letters. */
function pitchOf({ queries, keys }: Picture) {
  const count = Math.max(queries, keys);
  return { count, ...rowsFor(count, HEIGHT) };
}

/** The canvas's size and the columns' edges, as the page has laid them out. */
function measured({ stage, keys, queries }: Parts, picture: Picture) {
  const { pitch, count } = pitchOf(picture);
  return {
    pitch,
    width: stage.clientWidth,
    height: count * pitch,
    left: keys.node.offsetLeft + keys.node.offsetWidth + GAP,
    right: queries.node.offsetLeft - GAP,
    bars: keys.node.offsetLeft - GAP,
  };
}

/** Paint ribbons and bars, all over or only in what is in sight. */
function paintAll(
  { base }: Parts,
  now: Drawn,
  ribbons: Ribbon[],
  sight: { top: number; height: number } | null = null,
): void {
  const { picture, place } = now;
  if (place.width === 0) return;
  const context = sheet(base, place.width, place.height);
  if (!context) throw new Error("This browser refuses to draw on a canvas; the table still holds.");
  base.setAttribute(
    "aria-label",
    `${picture.measure.label} as ribbons; the table says it in numbers`,
  );
  context.save();
  if (sight) {
    context.beginPath();
    context.rect(0, sight.top, place.width, sight.height);
    context.clip();
  }
  paintWhole(context, now, ribbons);
  context.restore();
}

/** All ribbons and bars. */
function paintWhole(pen: Pen, { picture, palette, place }: Drawn, ribbons: Ribbon[]): void {
  paintRibbons(pen, ribbons, place, ribbonColors(picture, palette), AMONG);
  if (picture.norms) {
    const alone = picture.values.length === 0;
    const bars = alone
      ? { base: place.left, reach: place.width - place.left - GAP, pitch: place.pitch }
      : { base: place.bars, reach: GAP - BAR, pitch: place.pitch };
    paintBars(pen, barsOf(picture.norms), bars, barColors(picture, palette));
  }
}

/** Bring out one token and dim the rest; tells what was brought out. */
function bringOut(parts: Parts, now: Drawn, focus: Focus | null): Own | null {
  const { picture, place } = now;
  const hasRibbons = picture.values.length > 0;
  const found = rowIn(picture, focus);
  const about = hasRibbons || found?.side === "key" ? found : null;
  const lit = about && (hasRibbons ? litBy(partsOf(picture, about)) : new Set<number>());
  const nothing = about && new Set<number>();
  const own = (side: Focus["side"]) => (about?.side === side ? about.row : null);
  parts.keys.mark(own("key"), about?.side === "query" ? lit : nothing);
  parts.queries.mark(own("query"), about?.side === "key" ? lit : nothing);
  parts.base.classList.toggle("nv-faint", about !== null && hasRibbons);
  if (about) reveal(parts, about.row, place.pitch);
  const context = place.width > 0 ? sheet(parts.top, place.width, place.height) : null;
  return context && about && hasRibbons ? paintOwn(context, now, about) : null;
}

/** The ribbons and bars of one token. */
function paintOwn(
  pen: Pen,
  { picture, place, palette }: Drawn,
  about: NonNullable<ReturnType<typeof rowIn>>,
): Own {
  const { ribbons, zoom } = ribbonsAt(picture, place.pitch, about);
  paintRibbons(pen, ribbons, place, ribbonColors(picture, palette), ALONE);
  if (picture.norms) {
    const own = barsOf(picture.norms).filter(
      ({ key }) => about.side !== "key" || key === about.row,
    );
    const at = { base: place.bars, reach: GAP - BAR, pitch: place.pitch };
    paintBars(pen, own, at, barColors(picture, palette));
  }
  return { count: ribbons.length, zoom };
}

/** The same marks for a file: all of them, or only those of the token in focus. */
function vectorsOf({ base, top }: Parts, now: Drawn, focus: Focus | null) {
  const about = now.picture.values.length > 0 ? rowIn(now.picture, focus) : null;
  const pen = recorder();
  if (about) paintOwn(pen, now, about);
  else paintWhole(pen, now, now.drawn.ribbons);
  const marks = pen.marks();
  return new Map([
    [base, about ? [] : marks],
    [top, about ? marks : []],
  ]);
}

/** Scroll the column, and only it, until the row and its neighbors can be seen. */
function reveal({ figure }: Parts, row: number, pitch: number): void {
  if (figure.matches(":hover")) return; // never move what the reader points at
  const top = (row - NEIGHBORS) * pitch;
  const bottom = (row + 1 + NEIGHBORS) * pitch + HEADING;
  const height = figure.clientHeight;
  if (top < figure.scrollTop) figure.scrollTop = top;
  if (bottom > figure.scrollTop + height) figure.scrollTop = bottom - height;
}

/** The color of each strand: its head's, or its side of zero's. */
function ribbonColors({ strands }: Picture, palette: Palette): string[] {
  const [above, below] = palette.signs;
  return strands.map((strand) => {
    if (strand === "above") return above;
    return strand === "below" ? below : headColor(strand, palette);
  });
}

/** The color of each plane of the bars: its head's, or none where hues stand for signs. */
function barColors({ norms, measure }: Picture, palette: Palette): string[] {
  return (norms?.heads ?? []).map((head) =>
    measure.signed ? palette.soft : headColor(head, palette),
  );
}

/** The rows on the other side that matter to the one in focus. */
function litBy(parts: Float64Array): Set<number> {
  const least = LIT * most(parts);
  return new Set([...parts.keys()].filter((at) => parts[at] > 0 && parts[at] >= least));
}

/** The flow view: two columns of tokens with ribbons between them, and the norms of keys as bars. */

import {
  focusedRow,
  type Picture,
  pictureOf,
  rankingOf,
  sumsAtRow,
  type TokenRow,
} from "../../data/layer";
import {
  barsOf,
  type Ribbon,
  type Ribbons,
  ribbonsAt,
  ribbonsOf,
  rowSizeFor,
} from "../../data/ribbons";
import { headColor, type Palette } from "../../draw/colors";
import { element } from "../../draw/dom";
import { type Pen, recorder } from "../../draw/pen";
import { maxOf } from "../../math/arrays";
import type { Pane } from "../../state/pane";
import type { Focus } from "../../wire/types";
import { describe } from "../../words/describe";
import { type FocusedRibbons, ribbonLegend } from "../../words/legend";
import { ALONE, AMONG, paintBars, paintRibbons, prepareCanvas } from "../shared/paint";
import { tokenColumn } from "../shared/tokens";
import type { View, ViewActions } from "../view";
import { minimap } from "./minimap";
import { animator, interpolate, MAX_MOVING, prefersStillness, type Scene } from "./morph";

/** The most ribbons drawn, and the share of the sum that is enough. */
const ENOUGH = { share: 0.95, limit: 8000 };

/** The ribbons painted at once, so that the page responds quickly. */
const AT_ONCE = 1500;

/** The height in pixels beyond which a column scrolls. */
const HEIGHT = 640;

/** The height of the fixed column titles; the same in the style sheet. */
const HEADING = 24;

/** How many rows around a pinned token are kept visible. */
const NEIGHBORS = 8;

/** Otherwise an empty canvas is 300 by 150 pixels. */
const EMPTY = { width: "0", height: "0" };

const GAP = 7;
const BAR = 72;

/** A token is lit if it has at least this fraction of the largest value. */
const LIT = 0.1;

export function flowView(actions: ViewActions, signal: AbortSignal): View {
  const elements = buildElements(actions, signal);
  const animate = animator(signal);
  let now: Drawn | null = null;
  let own: FocusedRibbons | null = null;
  let seen: Focus | null = null;

  const draw = (pane: Pane, palette: Palette): boolean => {
    const picture = pictureOf(pane);
    if (!picture) return false;
    const before = now;
    arrange(elements, picture, pane.state.special === "dimmed");
    elements.whole.show(picture, palette); // before the stage is measured, because it takes space
    const stage = measureStage(elements, picture);
    now = { picture, palette, drawn: ribbonsOf(picture, stage.pitch, ENOUGH), stage };
    if (before && canAnimate(before, now)) animate(frames(elements, before, now));
    else animate.still(...steps(elements, now));
    return true;
  };
  const highlight = (focus: Focus | null): void => {
    seen = focus;
    if (now) own = highlightToken(elements, now, focus);
  };
  return {
    node: elements.node,
    draw,
    highlight,
    legend: () => (now ? ribbonLegend(now.picture, now.drawn, own, now.palette) : []),
    describe: (focus) => describe(requirePicture(now), focus),
    ranking: (focus) => rankingOf(requirePicture(now), focus),
    vectors: () => (now ? vectorsOf(elements, now, seen) : new Map()),
  };
}

/** What is drawn, and where. */
interface Drawn {
  picture: Picture;
  palette: Palette;
  drawn: Ribbons;
  stage: ReturnType<typeof measureStage>;
}

type Elements = ReturnType<typeof buildElements>;

function requirePicture(now: Drawn | null): Picture {
  if (!now) throw new Error("Nothing has been drawn yet.");
  return now.picture;
}

function buildElements(actions: ViewActions, signal: AbortSignal) {
  const keys = tokenColumn("key", actions, signal);
  const queries = tokenColumn("query", actions, signal);
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
  const whole = minimap(figure, signal);
  const node = element("div", { class: "nv-framed" }, figure, whole.node);
  return { node, figure, stage, keys, queries, base, top, titles, whole };
}

/** Whether a change can be animated. */
function canAnimate(before: Drawn, after: Drawn): boolean {
  const few = Math.max(before.drawn.ribbons.length, after.drawn.ribbons.length) <= MAX_MOVING;
  const text = (drawn: Drawn) => drawn.picture.rows.key.labels.join("\0");
  const alike = text(before) === text(after) && before.stage.width === after.stage.width;
  return few && alike && before.palette === after.palette && !prefersStillness();
}

function frames(elements: Elements, before: Drawn, after: Drawn): (part: number) => void {
  const scene = ({ picture, drawn }: Drawn): Scene => ({
    ribbons: drawn.ribbons,
    strands: picture.strands,
  });
  const [from, to] = [scene(before), scene(after)];
  return (part) =>
    paintAll(elements, after, part < 1 ? interpolate(from, to, part) : after.drawn.ribbons);
}

/** The painting steps: first the widest visible ribbons, then all of them. */
function steps(elements: Elements, now: Drawn): (() => void)[] {
  const { ribbons } = now.drawn;
  const { scrollTop: top, clientHeight: height } = elements.figure;
  const isSeen = ({ from, to }: Ribbon) =>
    Math.max(from, to) >= top && Math.min(from, to) <= top + height;
  const all = () => paintAll(elements, now, ribbons);
  if (ribbons.length <= AT_ONCE) return [all];
  return [
    () => paintAll(elements, now, ribbons.filter(isSeen).slice(-AT_ONCE), { top, height }),
    all,
  ];
}

/** Put the tokens in their rows, at a suitable row height. */
function arrange(elements: Elements, picture: Picture, isDimmed: boolean): void {
  const { node, stage, keys, queries, titles } = elements;
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

/** The number of rows, their height and font size. */
function pitchOf({ queries, keys }: Picture) {
  const count = Math.max(queries, keys);
  return { count, ...rowSizeFor(count, HEIGHT) };
}

/** The size of the canvas and the edges of the columns, measured on the page. */
function measureStage({ stage, keys, queries }: Elements, picture: Picture) {
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

/** Paint ribbons and bars, everywhere or only in the visible part. */
function paintAll(
  { base }: Elements,
  now: Drawn,
  ribbons: Ribbon[],
  sight: { top: number; height: number } | null = null,
): void {
  const { picture, stage } = now;
  if (stage.width === 0) return;
  const context = prepareCanvas(base, stage.width, stage.height);
  if (!context) throw new Error("This browser cannot draw on a canvas; the table has the numbers.");
  base.setAttribute("aria-label", `${picture.measure.label} as ribbons; the table has the numbers`);
  context.save();
  if (sight) {
    context.beginPath();
    context.rect(0, sight.top, stage.width, sight.height);
    context.clip();
  }
  paintWhole(context, now, ribbons);
  context.restore();
}

/** All ribbons and bars. */
function paintWhole(pen: Pen, { picture, palette, stage }: Drawn, ribbons: Ribbon[]): void {
  paintRibbons(pen, ribbons, stage, ribbonColors(picture, palette), AMONG);
  if (picture.norms) {
    const alone = picture.values.length === 0;
    const bars = alone
      ? { base: stage.left, reach: stage.width - stage.left - GAP, pitch: stage.pitch }
      : { base: stage.bars, reach: GAP - BAR, pitch: stage.pitch };
    paintBars(pen, barsOf(picture.norms), bars, barColors(picture, palette));
  }
}

/** Highlight one token and dim the rest; returns its ribbons. */
function highlightToken(
  elements: Elements,
  now: Drawn,
  focus: Focus | null,
): FocusedRibbons | null {
  const { picture, stage } = now;
  const hasRibbons = picture.values.length > 0;
  const focused = focusedRow(picture, focus);
  const about = hasRibbons || focused?.role === "key" ? focused : null;
  const lit =
    about && (hasRibbons ? litRows(sumsAtRow(picture, picture.sizes, about)) : new Set<number>());
  const nothing = about && new Set<number>();
  const own = (role: Focus["role"]) => (about?.role === role ? about.row : null);
  elements.keys.mark(own("key"), about?.role === "query" ? lit : nothing);
  elements.queries.mark(own("query"), about?.role === "key" ? lit : nothing);
  elements.base.classList.toggle("nv-faint", about !== null && hasRibbons);
  if (about) reveal(elements, about.row, stage.pitch);
  const context = stage.width > 0 ? prepareCanvas(elements.top, stage.width, stage.height) : null;
  return context && about && hasRibbons ? paintOwn(context, now, about) : null;
}

/** The ribbons and bars of one token. */
function paintOwn(pen: Pen, { picture, stage, palette }: Drawn, about: TokenRow): FocusedRibbons {
  const { ribbons, zoom } = ribbonsAt(picture, stage.pitch, about);
  paintRibbons(pen, ribbons, stage, ribbonColors(picture, palette), ALONE);
  if (picture.norms) {
    const own = barsOf(picture.norms).filter(
      ({ key }) => about.role !== "key" || key === about.row,
    );
    const at = { base: stage.bars, reach: GAP - BAR, pitch: stage.pitch };
    paintBars(pen, own, at, barColors(picture, palette));
  }
  return { count: ribbons.length, zoom };
}

/** The same marks as SVG: all of them, or only those of the token in focus. */
function vectorsOf({ base, top }: Elements, now: Drawn, focus: Focus | null) {
  const about = now.picture.values.length > 0 ? focusedRow(now.picture, focus) : null;
  const pen = recorder();
  if (about) paintOwn(pen, now, about);
  else paintWhole(pen, now, now.drawn.ribbons);
  const marks = pen.marks();
  return new Map([
    [base, about ? [] : marks],
    [top, about ? marks : []],
  ]);
}

/** Scroll the column until the row and its neighbors are visible. */
function reveal({ figure }: Elements, row: number, pitch: number): void {
  if (figure.matches(":hover")) return; // do not move what the pointer is over
  const top = (row - NEIGHBORS) * pitch;
  const bottom = (row + 1 + NEIGHBORS) * pitch + HEADING;
  const height = figure.clientHeight;
  if (top < figure.scrollTop) figure.scrollTop = top;
  if (bottom > figure.scrollTop + height) figure.scrollTop = bottom - height;
}

/** The color of each strand: of its head or its sign. */
function ribbonColors({ strands }: Picture, palette: Palette): string[] {
  const [above, below] = palette.signs;
  return strands.map((strand) => {
    if (strand === "above") return above;
    return strand === "below" ? below : headColor(strand, palette);
  });
}

/** The color of each plane of the bars: of its head, or muted if hues represent signs. */
function barColors({ norms, measure }: Picture, palette: Palette): string[] {
  return (norms?.heads ?? []).map((head) =>
    measure.signed ? palette.soft : headColor(head, palette),
  );
}

/** The rows with a notable value for the one in focus. */
function litRows(elements: Float64Array): Set<number> {
  const least = LIT * maxOf(elements);
  return new Set([...elements.keys()].filter((at) => elements[at] > 0 && elements[at] >= least));
}

/** The flow view: two columns of tokens with ribbons between them, and the keys' shares as bars. */

import {
  focusedRow,
  keyShares,
  type Picture,
  pictureOf,
  rankingOf,
  sumsAtRow,
} from "../../data/layer";
import { type Ribbon, ribbonsOf } from "../../data/ribbons";
import { measureColor, type Palette, signColors } from "../../draw/colors";
import { recorder } from "../../draw/pen";
import { maxOf } from "../../math/arrays";
import type { Pane } from "../../state/pane";
import type { Focus } from "../../wire/types";
import { describe } from "../../words/describe";
import { type FocusedRibbons, ribbonLegend } from "../../words/legend";
import { prepareCanvas } from "../shared/paint";
import { HEADING, revealRow } from "../shared/reveal";
import type { View, ViewActions } from "../view";
import { type Drawn, paintOwn, paintWhole } from "./marks";
import { animator, interpolate, MAX_MOVING, prefersStillness, type Scene } from "./morph";
import { ribbonAt, ribbonText } from "./pointing";
import { fullShare } from "./shares";
import { arrange, buildElements, type Elements, GAP, measureStage } from "./stage";

/** The most ribbons drawn, and the share of the sum that is enough. */
const ENOUGH = { share: 0.95, limit: 8000 };

/** The ribbons painted at once, so that the page responds quickly. */
const AT_ONCE = 1500;

/** From so many tokens on, only the strongest links of each are drawn. */
const LONG_TEXT = 60;
const LINKS = 3;

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
    const beside = (pane.beside ?? []).map(pictureOf);
    if (!picture || beside.includes(null)) return false;
    const before = now;
    arrange(elements, picture, pane.state.special === "dimmed");
    elements.whole.show(picture, palette); // before the stage is measured, because it takes space
    const stage = measureStage(elements, picture);
    const drawn = ribbonsOf(picture, stage.pitch, limitsFor(picture));
    const compared = [picture, ...beside].filter((one) => one !== null);
    now = { picture, compared, palette, drawn, stage };
    if (before && canAnimate(before, now)) animate(frames(elements, before, now));
    else animate.still(...steps(elements, now));
    return true;
  };
  const highlight = (focus: Focus | null): void => {
    seen = focus;
    if (!now) return;
    own = highlightToken(elements, now, focus);
    showShares(elements, now, focus);
  };
  listenToRibbons(
    elements,
    () => now && { ...now, ribbons: own?.ribbons ?? now.drawn.ribbons },
    signal,
  );
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

/** How many ribbons are drawn: of a long text, the strongest of each token, unless a threshold is set. */
function limitsFor({ queries, keys, minSize }: Picture) {
  const isLong = Math.max(queries, keys) >= LONG_TEXT && minSize === 0;
  return { ...ENOUGH, perQuery: isLong ? LINKS : null };
}

/** Show what each key gives: to the query in focus, else to all. */
function showShares({ shares }: Elements, now: Drawn, focus: Focus | null): void {
  const { picture, compared, palette } = now;
  if (picture.norms) return;
  const columns = compared.map((one) => keyShares(one, focusedRow(one, focus)));
  shares.show(columns[0], fullShare(columns), barHues(picture, palette));
}

/** The color of a positive and of a negative bar. */
function barHues({ measure }: Picture, palette: Palette): readonly [string, string] {
  if (measure.pair) return signColors(measure, palette);
  const color = measure.signed ? palette.soft : measureColor(measure, palette);
  return [color, color];
}

/** Say what a ribbon is while the pointer is on it. */
function listenToRibbons(
  { stage, tip, base }: Elements,
  shown: () => (Drawn & { ribbons: Ribbon[] }) | null,
  signal: AbortSignal,
): void {
  const hide = () => {
    tip.hidden = true;
  };
  const point = (event: PointerEvent): void => {
    const now = shown();
    const { left, top } = base.getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top];
    const ribbon = now && ribbonAt(now.ribbons, now.stage, x, y);
    if (!now || !ribbon) {
      hide();
      return;
    }
    tip.textContent = ribbonText(now.picture, ribbon);
    tip.hidden = false;
    const room = stage.clientWidth - tip.offsetWidth;
    tip.style.left = `${Math.max(0, Math.min(room, x + GAP))}px`;
    tip.style.top = `${y + HEADING + 2 * GAP}px`;
  };
  stage.addEventListener("pointermove", point, { signal });
  stage.addEventListener("pointerleave", hide, { signal });
}

function requirePicture(now: Drawn | null): Picture {
  if (!now) throw new Error("Nothing has been drawn yet.");
  return now.picture;
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
  if (about) revealRow(elements.figure, about.row, stage.pitch);
  const context = stage.width > 0 ? prepareCanvas(elements.top, stage.width, stage.height) : null;
  return context && about && hasRibbons ? paintOwn(context, now, about) : null;
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

/** The rows with a notable value for the one in focus. */
function litRows(elements: Float64Array): Set<number> {
  const least = LIT * maxOf(elements);
  return new Set([...elements.keys()].filter((at) => elements[at] > 0 && elements[at] >= least));
}

/** Paints the stack on its two canvases, or as vectors: only the visible range and its surroundings. */

import { recorder } from "../../draw/pen";
import { prepareCanvas } from "../shared/paint";
import { HEADING } from "../shared/reveal";
import type { Lanes } from "./layout";
import { paintRoute, type Route } from "./route";
import type { Elements, Scene } from "./stage";
import { paintStrands, type Strands, type Stretch } from "./strands";

/** What is painted: the strands, and the path between two tokens if one is shown. */
export interface Marks {
  strands: Strands;
  route: Route | null;
}

/** Paint one of the canvases, in the visible range and somewhat beyond. */
export function paint(
  elements: Elements,
  name: "base" | "top",
  scene: Scene,
  marks: Marks | null,
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
  if (!context || !marks) return;
  context.save();
  context.translate(0, -stretch.top);
  paintStrands(context, marks.strands, lanes, palette, stretch, marks.route !== null);
  if (marks.route) paintRoute(context, marks.route, lanes, palette);
  context.restore();
}

/** The visible range and half as much before and after; everything if that is not much more. */
function stretchOf({ figure }: Elements, { rows, pitch }: Lanes): Stretch {
  const [whole, page] = [rows * pitch, figure.clientHeight];
  if (whole <= 2 * page) return { top: 0, bottom: whole };
  const top = Math.min(whole - 2 * page, Math.max(0, Math.round(figure.scrollTop - page / 2)));
  return { top, bottom: top + 2 * page };
}

/** Paint again if the reader has scrolled beyond the painted range. */
export function paintScrolled(elements: Elements, scene: Scene, marks: Marks): void {
  const { figure, painted } = elements;
  const name = marks.strands.makeup.about ? "top" : "base";
  const { top, bottom } = painted[name];
  const whole = scene.lanes.rows * scene.lanes.pitch;
  const end = Math.min(whole, figure.scrollTop + figure.clientHeight);
  if (figure.scrollTop < top || end > bottom) paint(elements, name, scene, marks);
}

/** The same marks as SVG: of all tokens, or only of the token in focus. */
export function vectorsOf(
  { base, top, painted }: Elements,
  { lanes, palette }: Scene,
  { strands, route }: Marks,
) {
  const pen = recorder();
  const isOwn = strands.makeup.about !== null;
  const stretch = painted[isOwn ? "top" : "base"];
  paintStrands(pen, strands, lanes, palette, stretch, route !== null);
  if (route) paintRoute(pen, route, lanes, palette);
  const marks = [`<g transform="translate(0 ${-stretch.top})">`, ...pen.marks(), "</g>"];
  return new Map([
    [base, isOwn ? [] : marks],
    [top, isOwn ? marks : []],
  ]);
}

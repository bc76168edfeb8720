/** α against ‖f(x)‖: a point for each head and key. */

import { outlineOf, type TokenKind } from "../../data/tokenKinds";
import { element, visibleText } from "../../draw/dom";
import { svg } from "../../draw/svg";
import { prepareCanvas } from "../shared/paint";
import type { ViewActions } from "../view";
import { nearest, type PointChart, pointChart, tags } from "./layout";
import type { Scatter } from "./scatter";

/** The distance at which the pointer hits a point, in pixels. */
const REACH = 14;

/** The radius and opacity of points: few, and many. */
const FEW = { radius: 3.2, solidity: 0.65 };
const MANY = { radius: 2.3, solidity: 0.4 };
const CROWD = 1200;

interface Drawn {
  scatter: Scatter;
  chart: PointChart;
  kinds: Map<string, TokenKind>;
}

export function points(actions: ViewActions, signal: AbortSignal) {
  const base = element("canvas", { class: "nv-base", "aria-hidden": "true" });
  const top = element("canvas", { class: "nv-top", "aria-hidden": "true" });
  const picture = svg("svg", { class: "nv-points", role: "img" });
  const name = element("span", { class: "nv-named", dir: "auto" });
  const excuse = element("p", { class: "nv-excuse" });
  const node = element("div", { class: "nv-chart" }, base, top, picture, name, excuse);
  const elements = { node, base, top, picture, name, excuse };
  let now: Drawn | null = null;
  listen(picture, actions, () => now, signal);
  const show = (scatter: Scatter, kinds: TokenKind[], width: number, height: number): void => {
    const chart = pointChart(scatter, width, height);
    now = { scatter, chart, kinds: new Map(kinds.map((kind) => [kind.id, kind])) };
    paint(elements, now);
  };
  const excuseWith = (sentence: string): void => {
    now = null;
    picture.replaceChildren();
    for (const canvas of [base, top]) canvas.width = 0;
    name.textContent = "";
    excuse.textContent = sentence;
  };
  /** Highlight the points of one row, and name it. */
  const mark = (row: number | null): void => {
    if (now) highlightRow(elements, now, row);
  };
  return { node, show, excuse: excuseWith, mark };
}

type Elements = Record<"base" | "top", HTMLCanvasElement> &
  Record<"node" | "name" | "excuse", HTMLElement> & { picture: SVGSVGElement };

function listen(
  picture: SVGSVGElement,
  actions: ViewActions,
  now: () => Drawn | null,
  signal: AbortSignal,
): void {
  const under = (event: MouseEvent) => {
    const drawn = now();
    const { left, top } = picture.getBoundingClientRect();
    const pointer = { x: event.clientX - left, y: event.clientY - top, reach: REACH };
    const at = drawn && nearest(drawn.chart.places, pointer);
    if (!drawn || at === null) return null;
    const token = drawn.scatter.rows.pieces[drawn.scatter.points[at].row][0];
    return { role: "key" as const, token };
  };
  const clicked = (event: MouseEvent): void => {
    const focus = under(event);
    if (focus) actions.pin(focus);
  };
  picture.addEventListener("pointermove", (event) => actions.hover(under(event)), { signal });
  picture.addEventListener("pointerleave", () => actions.hover(null), { signal });
  picture.addEventListener("click", clicked, { signal });
}

function paint({ base, picture, excuse }: Elements, now: Drawn): void {
  const { frame } = now.chart;
  excuse.textContent = "";
  const size = { width: frame.width, height: frame.height };
  for (const [key, value] of Object.entries(size)) picture.setAttribute(key, String(value));
  picture.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`);
  picture.setAttribute(
    "aria-label",
    "α against ‖f(x)‖ as a scatter plot; arrow keys move between tokens",
  );
  picture.replaceChildren(axes(now));
  const context = prepareCanvas(base, frame.width, frame.height);
  if (!context) {
    excuse.textContent = "This browser cannot draw on a canvas; the table has the numbers.";
    return;
  }
  const every = now.scatter.points.map((_, at) => at);
  const { radius, solidity } = every.length > CROWD ? MANY : FEW;
  context.globalAlpha = solidity;
  plot(context, now, every, radius);
}

/** Plot some of the points; words first, so that other kinds stand out. */
function plot(context: CanvasRenderingContext2D, now: Drawn, some: number[], radius: number): void {
  const { chart, scatter, kinds } = now;
  const { categories } = scatter.rows;
  for (const kind of [...kinds.values()].reverse()) {
    const shape = new Path2D(outlineOf(kind.shape, 0, 0, radius));
    context.fillStyle = kind.color;
    for (const at of some) {
      if (categories[scatter.points[at].row] !== kind.id) continue;
      const [x, y] = [chart.places[at * 2], chart.places[at * 2 + 1]];
      context.translate(x, y);
      context.fill(shape);
      context.translate(-x, -y);
    }
  }
}

function axes({ chart, scatter }: Drawn): SVGElement {
  const { left, right, top, bottom, height } = chart.frame;
  const group = svg("g", { class: "nv-axes" });
  const scale = scatter.isLog ? " (log scale)" : "";
  group.append(svg("text", { x: 0, y: top - 14 }, `mean α of a key in a head${scale}`));
  for (const weight of chart.up) {
    const y = chart.y(weight);
    group.append(
      svg("line", { x1: left, x2: right, y1: y, y2: y }),
      svg("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, tick(weight)),
    );
  }
  group.append(svg("line", { class: "nv-baseline", x1: left, x2: right, y1: bottom, y2: bottom }));
  for (const norm of chart.across) {
    const x = chart.x(norm);
    group.append(
      svg("line", { class: "nv-baseline", x1: x, x2: x, y1: bottom, y2: bottom + 4 }),
      svg("text", { x, y: bottom + 16, "text-anchor": "middle" }, tick(norm)),
    );
  }
  const title = "‖f(x)‖ of the key in the head, in the model's units";
  group.append(svg("text", { x: right, y: height - 6, "text-anchor": "end" }, title));
  return group;
}

/** A round number without trailing zeros. */
function tick(value: number): string {
  return value !== 0 && value < 1e-3 ? value.toExponential() : String(value);
}

function highlightRow(
  { base, top, picture, name }: Elements,
  now: Drawn,
  row: number | null,
): void {
  const { chart, scatter } = now;
  base.classList.toggle("nv-faint", row !== null);
  picture.querySelector(".nv-tags")?.remove();
  name.textContent = row === null ? "" : visibleText(scatter.rows.labels[row]);
  const context = prepareCanvas(top, chart.frame.width, chart.frame.height);
  if (row === null) return;
  const own = scatter.points.flatMap((point, at) => (point.row === row ? [at] : []));
  if (context) plot(context, now, own, FEW.radius + 1);
  const shown = scatter.heads.length > 1 ? tags(scatter.points, chart.places, own) : [];
  const numbers = shown.map((at) => {
    const position = { x: chart.places[at * 2] + 7, y: chart.places[at * 2 + 1] + 4 };
    return svg("text", position, String(scatter.points[at].head));
  });
  picture.append(svg("g", { class: "nv-tags" }, ...numbers));
}

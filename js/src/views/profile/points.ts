/** α against ‖f(x)‖: a point for each head and key, which can be pointed at and pinned. */

import { type Kind, outline } from "../../data/tokenKinds";
import { element, visible } from "../../draw/dom";
import { svg } from "../../draw/svg";
import { sheet } from "../shared/paint";
import type { Hand } from "../view";
import { nearest, type PointChart, pointChart, tags } from "./layout";
import type { Scatter } from "./scatter";

/** How near the pointer has to come. */
const REACH = 14;

/** How large and how solid points are: a few, and many. */
const FEW = { radius: 3.2, solidity: 0.65 };
const MANY = { radius: 2.3, solidity: 0.4 };
const CROWD = 1200;

interface Drawn {
  scatter: Scatter;
  chart: PointChart;
  kinds: Map<string, Kind>;
}

export function points(hand: Hand, signal: AbortSignal) {
  const base = element("canvas", { class: "nv-base", "aria-hidden": "true" });
  const top = element("canvas", { class: "nv-top", "aria-hidden": "true" });
  const picture = svg("svg", { class: "nv-points", role: "img" });
  const name = element("span", { class: "nv-named", dir: "auto" });
  const excuse = element("p", { class: "nv-excuse" });
  const node = element("div", { class: "nv-chart" }, base, top, picture, name, excuse);
  const parts = { node, base, top, picture, name, excuse };
  let now: Drawn | null = null;
  listen(picture, hand, () => now, signal);
  const show = (scatter: Scatter, kinds: Kind[], width: number, height: number): void => {
    const chart = pointChart(scatter, width, height);
    now = { scatter, chart, kinds: new Map(kinds.map((kind) => [kind.id, kind])) };
    paint(parts, now);
  };
  const excuseWith = (sentence: string): void => {
    now = null;
    picture.replaceChildren();
    for (const canvas of [base, top]) canvas.width = 0;
    name.textContent = "";
    excuse.textContent = sentence;
  };
  /** Bring out the points of one row, and name it. */
  const mark = (row: number | null): void => {
    if (now) bringOut(parts, now, row);
  };
  return { node, show, excuse: excuseWith, mark };
}

type Parts = Record<"base" | "top", HTMLCanvasElement> &
  Record<"node" | "name" | "excuse", HTMLElement> & { picture: SVGSVGElement };

function listen(
  picture: SVGSVGElement,
  hand: Hand,
  now: () => Drawn | null,
  signal: AbortSignal,
): void {
  const under = (event: MouseEvent) => {
    const drawn = now();
    const { left, top } = picture.getBoundingClientRect();
    const place = { x: event.clientX - left, y: event.clientY - top, reach: REACH };
    const at = drawn && nearest(drawn.chart.places, place);
    if (!drawn || at === null) return null;
    const token = drawn.scatter.rows.pieces[drawn.scatter.points[at].row][0];
    return { side: "key" as const, token };
  };
  const clicked = (event: MouseEvent): void => {
    const focus = under(event);
    if (focus) hand.pin(focus);
  };
  picture.addEventListener("pointermove", (event) => hand.hover(under(event)), { signal });
  picture.addEventListener("pointerleave", () => hand.hover(null), { signal });
  picture.addEventListener("click", clicked, { signal });
}

function paint({ base, picture, excuse }: Parts, now: Drawn): void {
  const { frame } = now.chart;
  excuse.textContent = "";
  const size = { width: frame.width, height: frame.height };
  for (const [key, value] of Object.entries(size)) picture.setAttribute(key, String(value));
  picture.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`);
  picture.setAttribute(
    "aria-label",
    "α against ‖f(x)‖ as points; arrow keys go through the tokens",
  );
  picture.replaceChildren(axes(now));
  const context = sheet(base, frame.width, frame.height);
  if (!context) {
    excuse.textContent = "This browser refuses to draw on a canvas; the table still holds.";
    return;
  }
  const every = now.scatter.points.map((_, at) => at);
  const { radius, solidity } = every.length > CROWD ? MANY : FEW;
  context.globalAlpha = solidity;
  plot(context, now, every, radius);
}

/** Some of the points; words first, since they are many and the rest stands out. */
function plot(context: CanvasRenderingContext2D, now: Drawn, some: number[], radius: number): void {
  const { chart, scatter, kinds } = now;
  const { categories } = scatter.rows;
  for (const kind of [...kinds.values()].reverse()) {
    const shape = new Path2D(outline(kind.shape, 0, 0, radius));
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
  group.append(svg("text", { x: 0, y: top - 14 }, `mean α a key gets in a head, of 1${scale}`));
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

function bringOut({ base, top, picture, name }: Parts, now: Drawn, row: number | null): void {
  const { chart, scatter } = now;
  base.classList.toggle("nv-faint", row !== null);
  picture.querySelector(".nv-tags")?.remove();
  name.textContent = row === null ? "" : visible(scatter.rows.labels[row]);
  const context = sheet(top, chart.frame.width, chart.frame.height);
  if (row === null) return;
  const own = scatter.points.flatMap((point, at) => (point.row === row ? [at] : []));
  if (context) plot(context, now, own, FEW.radius + 1);
  const shown = scatter.heads.length > 1 ? tags(scatter.points, chart.places, own) : [];
  const numbers = shown.map((at) => {
    const place = { x: chart.places[at * 2] + 7, y: chart.places[at * 2 + 1] + 4 };
    return svg("text", place, String(scatter.points[at].head));
  });
  picture.append(svg("g", { class: "nv-tags" }, ...numbers));
}

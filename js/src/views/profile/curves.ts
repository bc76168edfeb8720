/** Curves over the layers, with their names at the end. */

import { gapLabel, gapText } from "../../data/otherLayers";
import { outlineOf } from "../../data/tokenKinds";
import { element } from "../../draw/dom";
import { svg } from "../../draw/svg";
import { spreadLabels } from "../../draw/ticks";
import { type Curve, formatHeight, type Lines } from "./data";
import { type CurveChart, curveChart, type Label, LEADER, layerAt, PITCH } from "./layout";

const MARK = 3.4;
const SMALL = 2.4;
const DASHES = "5 3";

/** What happens when a layer is pointed at or clicked. */
export interface ChartActions {
  point(layer: number | null): void;
  choose(layer: number): void;
}

export function curves(use: ChartActions, signal: AbortSignal) {
  const picture = svg("svg", { class: "nv-curves", role: "img" });
  const node = element("div", { class: "nv-chart" }, picture);
  let now: { lines: Lines; chart: CurveChart } | null = null;
  const under = (event: MouseEvent): number | null => {
    if (!now) return null;
    const x = event.clientX - picture.getBoundingClientRect().left;
    const { left, right } = now.chart.frame;
    return x < left || x > right + 4 ? null : now.lines.layers[layerAt(now.chart.xs, x)];
  };
  const clicked = (event: MouseEvent): void => {
    const layer = under(event);
    if (layer !== null) use.choose(layer);
  };
  picture.addEventListener("pointermove", (event) => use.point(under(event)), { signal });
  picture.addEventListener("pointerleave", () => use.point(null), { signal });
  picture.addEventListener("click", clicked, { signal });
  const show = (lines: Lines, layer: number, width: number, height: number): void => {
    now = { lines, chart: curveChart(lines, width, height) };
    const size = { width, height, viewBox: `0 0 ${width} ${height}` };
    for (const [name, value] of Object.entries(size)) picture.setAttribute(name, String(value));
    picture.setAttribute("aria-label", `${lines.about}; the table has the numbers`);
    picture.replaceChildren(...chartParts(lines, now.chart, layer));
  };
  /** Highlight one kind, or none; show the values of the layer under the pointer. */
  const mark = (kind: string | null, layer: number | null): void => {
    for (const group of picture.querySelectorAll<SVGElement>("[data-kind]")) {
      group.classList.toggle("nv-dim", kind !== null && group.dataset.kind !== kind);
    }
    picture.querySelector(".nv-values")?.remove();
    if (now && layer !== null && now.lines.layers.includes(layer)) {
      picture.append(valuesAt(now.lines, now.chart, layer));
    }
  };
  return { node, show, mark };
}

function chartParts(lines: Lines, chart: CurveChart, layer: number): SVGElement[] {
  const { xs, labels } = chart;
  const { top, bottom } = chart.frame;
  const here = xs
    .filter((_, at) => lines.layers[at] === layer)
    .map((x) => svg("line", { class: "nv-here", x1: x, x2: x, y1: top, y2: bottom }));
  // Compared curves are below, so that the chosen ones are in front.
  const back = [...lines.curves].reverse();
  const depth = ({ isFaint, isChosen }: Curve) => (isFaint ? 0 : isChosen ? 2 : 1);
  const order = back.sort((one, other) => depth(one) - depth(other));
  return [
    axes(lines, chart, layer),
    ...here,
    ...order.map((curve) => line(curve, chart)),
    ...labels.map((label) => curveLabel(label, chart)),
  ];
}

function axes(lines: Lines, chart: CurveChart, layer: number): SVGElement {
  const { title, top: most } = lines;
  const { left, right, top, bottom, height } = chart.frame;
  const group = svg("g", { class: "nv-axes" });
  group.append(svg("text", { x: 0, y: top - 14 }, title), ...bandMarks(chart));
  for (const height of chart.ticks) {
    const y = chart.y(height);
    const text = most === undefined ? `${height * 100}%` : String(height);
    group.append(
      svg("line", { x1: left, x2: right, y1: y, y2: y }),
      svg("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, text),
    );
  }
  for (const [number, x] of numbersOn(lines, chart, layer)) {
    const text = svg("text", { x, y: bottom + 16, "text-anchor": "middle" }, String(number));
    text.classList.toggle("nv-chosen", number === layer);
    group.append(text);
  }
  group.append(svg("text", { x: right, y: height - 6, "text-anchor": "end" }, "layer"));
  return group;
}

/** The numbers below the plot area: the chosen layer's, and all that do not touch it. */
function numbersOn(
  { layers }: Lines,
  { xs, bands, numbered }: CurveChart,
  layer: number,
): [number: number, x: number][] {
  const held = layers.map((number, index): [number, number] => [number, xs[index]]);
  const here = held.find(([number]) => number === layer)?.[1] ?? Number.NEGATIVE_INFINITY;
  return [...held, ...bands.flatMap(({ ticks }) => ticks)].filter(
    ([number, x]) => number === layer || (numbered.includes(number) && Math.abs(x - here) >= CLEAR),
  );
}

/** The least distance between two numbers, and the length of a tick below the plot area. */
const CLEAR = 14;
const TICK = 4;

/** Layers without attention: a shade, with a tick for each. */
function bandMarks({ frame: { top, bottom }, bands }: CurveChart): SVGElement[] {
  return bands.map(({ gap, left, right, ticks }) => {
    const area = { x: left, y: top, width: right - left, height: bottom - top };
    const title = svg("title", {}, `layer ${gapLabel(gap)}, ${gapText(gap)}`);
    const lines = ticks.map(([, x]) =>
      svg("line", { x1: x, x2: x, y1: bottom, y2: bottom + TICK }),
    );
    return svg("g", { class: "nv-none" }, title, svg("rect", area), ...lines);
  });
}

/** A path through points; where layers without attention are between, a separate faint one. */
function pathsOf(places: string[], { xs, bands }: CurveChart): { line: string; bridges: string } {
  const isBridge = (at: number) => bands.some(({ left }) => left > xs[at - 1] && left < xs[at]);
  const steps = places.map((place, at) => `${at === 0 || isBridge(at) ? "M" : "L"}${place}`);
  const bridges = places.map((place, at) =>
    at > 0 && isBridge(at) ? `M${places[at - 1]}L${place}` : "",
  );
  return { line: steps.join(""), bridges: bridges.join("") };
}

function line(curve: Curve, chart: CurveChart): SVGElement {
  const { xs, y } = chart;
  const { kind, shares, isOther, isChosen, isFaint, band } = curve;
  const places = (row: number[]) =>
    row.map((share, at) => `${xs[at].toFixed(1)} ${y(share).toFixed(1)}`);
  const around = band ? [...places(band.low), ...places(band.high).reverse()] : [];
  const { line: solid, bridges } = pathsOf(places(shares), chart);
  const dashes = isOther ? { "stroke-dasharray": DASHES } : {};
  const pathOf = (style: string, d: string) =>
    svg("path", { class: style, d, stroke: kind.color, ...dashes });
  const size = xs.length > 14 ? SMALL : MARK;
  const marks = shares.map((share, at) => mark(kind, isOther, xs[at], y(share), size));
  const style = `nv-curve${isChosen ? " nv-chosen" : ""}${isFaint ? " nv-faint" : ""}`;
  return svg(
    "g",
    { class: style, "data-kind": kind.id },
    ...(band
      ? [svg("path", { class: "nv-band", d: `M${around.join("L")}Z`, fill: kind.color })]
      : []),
    pathOf("nv-line", solid),
    ...(bridges ? [pathOf("nv-line nv-bridge", bridges)] : []),
    ...(isFaint ? [] : marks),
  );
}

/** A kind's mark; hollow for the compared measure. */
function mark(kind: Curve["kind"], isOther: boolean, x: number, y: number, size: number) {
  return svg("path", {
    class: isOther ? "nv-mark nv-hollow" : "nv-mark",
    d: outlineOf(kind.shape, x, y, size),
    stroke: kind.color,
    ...(isOther ? {} : { fill: kind.color }),
  });
}

function curveLabel({ curve, text, y, end }: Label, { xs, frame }: CurveChart): SVGElement {
  const from = xs[xs.length - 1] + 6;
  const to = frame.right + LEADER - 14;
  const leader = svg("path", {
    class: "nv-leader",
    d: `M${from} ${end}L${frame.right + 2} ${y}L${to - 4} ${y}`,
  });
  const sign = curve.isFaint ? [] : [mark(curve.kind, curve.isOther, to + 1, y, MARK)];
  const words = svg("text", { x: to + 9, y: y + 4 }, text);
  const style = `nv-name${curve.isChosen ? " nv-chosen" : ""}${curve.isFaint ? " nv-faint" : ""}`;
  return svg("g", { class: style, "data-kind": curve.kind.id }, leader, ...sign, words);
}

/** A line at the layer under the pointer, with the values of all curves. */
function valuesAt(lines: Lines, chart: CurveChart, layer: number): SVGElement {
  const { layers, curves } = lines;
  const index = layers.indexOf(layer);
  const x = chart.xs[index];
  const { top, bottom, left, right } = chart.frame;
  const isLeft = x < (left + right) / 2;
  const heights = spreadLabels(
    curves.map(({ shares }) => chart.y(shares[index])),
    PITCH - 1,
    top,
    bottom,
  );
  const texts = curves.map(({ shares, kind }, at) =>
    svg(
      "text",
      {
        x: x + (isLeft ? 7 : -7),
        y: heights[at] + 4,
        "text-anchor": isLeft ? "start" : "end",
        "data-kind": kind.id,
      },
      formatHeight(lines, shares[index]),
    ),
  );
  const guide = svg("line", { x1: x, x2: x, y1: top, y2: bottom });
  return svg("g", { class: "nv-values" }, guide, ...texts);
}

/** The layout of axes, curves, labels and points, in pixels. */

import type { Gap } from "../../data/otherLayers";
import { linearTicks, logTicks, roundStep, spreadLabels } from "../../draw/ticks";
import { maxOf } from "../../math/arrays";
import type { Curve, Lines } from "./data";
import type { Point, Scatter } from "./scatter";

/** The size of a chart, and the edges of its plot area. */
export interface Frame {
  width: number;
  height: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** The space above for the title of the vertical axis, and below for the other one. */
const TOP = 26;
const BOTTOM = 40;
const LEFT = 42;
const RIGHT = 10;

/** The ticks of shares: the same in all charts, so that they can be compared. */
const SHARES = [0, 0.25, 0.5, 0.75, 1];

/** The distance between labels, and the average width of a letter. */
export const PITCH = 14;
const LETTER = 6.1;
/** The distance from the end of a curve to its label. */
export const LEADER = 22;

function frame(width: number, height: number, right: number): Frame {
  return { width, height, left: LEFT, right: width - right, top: TOP, bottom: height - BOTTOM };
}

/** A curve's name at its right end. */
export interface Label {
  curve: Curve;
  text: string;
  /** Its position, and the end of its curve. */
  y: number;
  end: number;
}

export interface CurveChart {
  frame: Frame;
  /** The x positions of the layers. */
  xs: number[];
  y(share: number): number;
  /** The ticks of the vertical axis. */
  ticks: number[];
  /** The layers with a number: all, or every second, fifth, tenth … */
  numbered: number[];
  /** The ranges and ticks of layers without attention. */
  bands: Band[];
  labels: Label[];
}

/** The place of layers without attention on the horizontal axis. */
export interface Band {
  gap: Gap;
  left: number;
  right: number;
  /** The x position of each of its layers, by number. */
  ticks: [number: number, x: number][];
}

/** Curves, each with its name at the right end. */
export function curveChart(lines: Lines, width: number, height: number): CurveChart {
  const { layers, curves, top = 1, gaps = [] } = lines;
  const texts = curves.map(({ name }) => name);
  const longest = maxOf(texts.map(({ length }) => length)) * LETTER;
  const area = frame(width, height, Math.min(width * 0.48, LEADER + longest));
  const others = gaps.flatMap(layersIn);
  const all = [...layers, ...others].sort((one, other) => one - other);
  const x = axisOf(all, area);
  const xs = layers.map(x);
  const y = (share: number) => area.bottom - (share / top) * (area.bottom - area.top);
  const ends = curves.map(({ shares }) => y(shares.at(-1) ?? 0));
  const heights = spreadLabels(ends, PITCH, area.top, area.bottom);
  const labels = curves.map((curve, at) => {
    return { curve, text: texts[at], y: heights[at], end: ends[at] };
  });
  const ticks = lines.top === undefined ? SHARES : linearTicks(0, top, 5);
  const bands = gaps.map((gap) => bandOf(gap, x, area));
  return { frame: area, xs, y, ticks, numbered: numberedLayers(all, all.map(x)), bands, labels };
}

/** The x position of a layer, proportional to its number. */
function axisOf(layers: number[], { left, right }: Frame): (layer: number) => number {
  const [first, last] = [layers[0], layers[layers.length - 1]];
  const [start, end] = [left + 10, right - 6];
  if (first === last) return () => (start + end) / 2;
  return (layer) => start + ((layer - first) / (last - first)) * (end - start);
}

function layersIn({ first, last }: Gap): number[] {
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}

/** How far a band reaches beyond its outer layers, in layers: it stays clear of the others. */
const REACH = 0.4;

function bandOf(gap: Gap, x: (layer: number) => number, { left, right }: Frame): Band {
  const [from, to] = [x(gap.first - REACH), x(gap.last + REACH)];
  return {
    gap,
    left: Math.max(left, from),
    right: Math.min(right, to),
    ticks: layersIn(gap).map((number) => [number, x(number)]),
  };
}

/** The layers whose numbers fit without overlap. */
function numberedLayers(layers: number[], xs: number[]): number[] {
  const closest = xs.slice(1).reduce((least, x, at) => Math.min(least, x - xs[at]), Infinity);
  const step = Math.max(1, roundStep(20 / closest));
  return layers.filter((layer) => step <= 1 || layer % step === 0);
}

/** The index of the layer nearest to a position. */
export function layerAt(xs: number[], x: number): number {
  let best = 0;
  xs.forEach((at, index) => {
    if (Math.abs(at - x) < Math.abs(xs[best] - x)) best = index;
  });
  return best;
}

export interface PointChart {
  frame: Frame;
  x(norm: number): number;
  y(weight: number): number;
  across: number[];
  up: number[];
  /** The position of every point, as alternating x and y. */
  places: Float32Array;
}

/** The layout of a scatter plot; on a log scale, zeros are on the lower edge. */
export function pointChart(scatter: Scatter, width: number, height: number): PointChart {
  const { points, isLog } = scatter;
  const area = frame(width, height, RIGHT);
  const norms = points.map(({ norm }) => norm);
  const weights = points.map(({ weight }) => weight);
  const across = linearTicks(0, (maxOf(norms) || 1) * 1.04, 5);
  const x = along([0, (maxOf(norms) || 1) * 1.04], [area.left, area.right]);
  const range = isLog ? logRange(weights) : ([0, (maxOf(weights) || 1) * 1.05] as [number, number]);
  const up = isLog ? logTicks(...range) : linearTicks(...range, 5);
  const scale = along(isLog ? [Math.log(range[0]), Math.log(range[1])] : range, [
    area.bottom,
    area.top,
  ]);
  const y = (weight: number) => scale(isLog ? Math.log(Math.max(weight, range[0])) : weight);
  const places = new Float32Array(points.length * 2);
  points.forEach(({ norm, weight }, at) => {
    places[at * 2] = x(norm);
    places[at * 2 + 1] = y(weight);
  });
  return { frame: area, x, y, across, up, places };
}

function logRange(weights: number[]): [number, number] {
  const least = weights.reduce((low, w) => (w > 0 && w < low ? w : low), Infinity);
  return [least / 1.3, maxOf(weights) * 1.3];
}

function along([low, high]: [number, number], [from, to]: [number, number]) {
  return (value: number) => from + ((value - low) / (high - low)) * (to - from);
}

/** The point nearest to a position and within reach; null if there is none. */
export function nearest(
  places: Float32Array,
  { x, y, reach }: { x: number; y: number; reach: number },
): number | null {
  let nearestIndex: number | null = null;
  let least = reach ** 2;
  for (let at = 0; at < places.length; at += 2) {
    const distance = (places[at] - x) ** 2 + (places[at + 1] - y) ** 2;
    if (distance <= least) {
      least = distance;
      nearestIndex = at / 2;
    }
  }
  return nearestIndex;
}

/** The points that get a number beside them, as many as fit, the highest first. */
export function tags(points: Point[], places: Float32Array, chosen: number[]): number[] {
  const order = [...chosen].sort((a, b) => points[b].weight - points[a].weight);
  const taken: [number, number][] = [];
  return order.filter((at) => {
    const [x, y] = [places[at * 2], places[at * 2 + 1]];
    const isFree = taken.every(([left, above]) => {
      return Math.abs(left - x) > 16 || Math.abs(above - y) > 10;
    });
    if (isFree) taken.push([x, y]);
    return isFree;
  });
}

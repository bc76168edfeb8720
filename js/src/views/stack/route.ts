/** The strongest path between two tokens of the stack: where it goes, and its line. */

import { focusedRow } from "../../data/layer";
import { curveBetween, middle } from "../../data/ribbons";
import { isConnected, type Stack } from "../../data/stack";
import type { Palette } from "../../draw/colors";
import type { Pen } from "../../draw/pen";
import { type Path, strongestPath } from "../../math/path";
import type { Focus } from "../../wire/types";
import type { Lanes } from "./layout";
import { type Name, strandColor } from "./strands";

/** A token of a column: before the first layer, or after one. */
export interface Place {
  column: number;
  row: number;
}

/** A token as it is pointed at: in the first column if it has no layer. */
export interface Spot {
  focus: Focus;
  layer: number | null;
}

/** A path with its columns, the lowest first, as many as it has rows. */
export interface Route extends Path {
  stack: Stack;
  columns: number[];
}

/** Where a token stands; null if it is hidden. */
export function placeOf(stack: Stack, { focus, layer }: Spot): Place | null {
  const at = focusedRow(stack, focus);
  if (!at) return null;
  const column = at.role === "key" ? 0 : stack.stream.layers.indexOf(layer ?? -1) + 1;
  return { column, row: at.row };
}

/** Whether a path can lead from a pinned token to another one: down from a query, up from a key. */
export function canReach({ mode }: Stack, pinned: Place, end: Place): boolean {
  if (!isConnected(mode)) return false;
  const [upper, lower] = pinned.column > 0 ? [pinned, end] : [end, pinned];
  return upper.column > lower.column && (mode === "traced" || lower.column === 0);
}

/** The strongest path between two tokens; null if nothing connects them. */
export function routeBetween(stack: Stack, one: Place, other: Place): Route | null {
  const [lower, upper] = one.column < other.column ? [one, other] : [other, one];
  const isStraight = stack.mode === "direct";
  const start = isStraight ? upper.column - 1 : lower.column;
  const path = strongestPath(stack.divisions.slice(start, upper.column), upper.row, lower.row);
  if (!path) return null;
  const columns = isStraight
    ? [lower.column, upper.column]
    : path.rows.map((_, at) => lower.column + at);
  return { ...path, stack, columns };
}

/** A stretch of a route at one token. */
export interface Stay {
  row: number;
  /** The columns at which it is reached from above, and left. */
  top: number;
  bottom: number;
  /** The share of it that the path follows, down to the next stay or to its end. */
  share: number;
}

/** The tokens of a route from above, each with the columns it stays for. */
export function staysOf({ stack, rows, columns }: Route): Stay[] {
  const size = stack.rows.key.pieces.length;
  const stays: Stay[] = [];
  for (let at = rows.length - 1; at >= 0; at--) {
    const stay = stays.at(-1);
    const division = stack.divisions[columns[at + 1] - 1];
    if (stay) stay.share *= division[rows[at + 1] * size + rows[at]];
    if (stay?.row === rows[at]) stay.bottom = columns[at];
    else stays.push({ row: rows[at], top: columns[at], bottom: columns[at], share: 1 });
  }
  return stays;
}

/** The names of a route's tokens, where each is reached. */
export function namesOf(route: Route): Name[] {
  const { labels } = route.stack.rows.query;
  return staysOf(route).map(({ row, top }) => {
    return { label: labels[row], column: top, row, isOwn: true };
  });
}

/** The width of the line, and of the marks where it meets a column. */
const LINE = 3;
const KNOT = 7;

/** Paint the route as one line. */
export function paintRoute(
  pen: Pen,
  { stack, rows, columns }: Route,
  { posts, pitch }: Lanes,
  palette: Palette,
): void {
  const points = rows.map((row, at) => ({ x: posts[columns[at]], y: middle(row, pitch) }));
  pen.beginPath();
  pen.moveTo(points[0].x, points[0].y);
  points.slice(1).forEach(({ x, y }, at) => {
    const [, , ...rest] = curveBetween(points[at].x, points[at].y, x, y);
    pen.bezierCurveTo(...rest);
  });
  pen.strokeStyle = pen.fillStyle = strandColor(stack, palette);
  pen.lineWidth = LINE;
  pen.stroke();
  // Where it starts, ends, and moves from one token to another.
  const knots = points.filter((_, at) => rows[at] !== rows[at - 1] || rows[at] !== rows[at + 1]);
  for (const { x, y } of knots) {
    pen.fillRect(x - KNOT / 2, y - KNOT / 2, KNOT, KNOT);
  }
}

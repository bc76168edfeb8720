/** The elements of the matrix: cells, axes and zoom buttons. */

import { focusedRow } from "../../data/layer";
import type { Palette } from "../../draw/colors";
import { button, element } from "../../draw/dom";
import { heatOf } from "../../draw/heat";
import { pixelRatio } from "../../draw/pixelRatio";
import {
  type CellField,
  fieldFor,
  fontFor,
  maxZoom,
  sizeOf,
  type Viewport,
} from "../../draw/viewport";
import type { Pane } from "../../state/pane";
import type { Focus } from "../../wire/types";
import { axisView, lengthOf } from "../shared/axes";
import { type Cells, depths } from "../shared/cells";
import { keyMove, type Moves } from "../shared/gestures";
import { type Aim, blockOf, imageOf, paintAim, paintField, paintNumbers } from "../shared/heatmap";
import { prepareCanvas } from "../shared/paint";
import type { ViewActions } from "../view";
import { cellLine } from "./words";

/** The height that a field should fill. */
const HEIGHT = 600;
/** The minimum line height to plan for, so that labels are legible after zooming. */
const LINE = 15;
const LABEL = { least: 58, most: 104, share: 0.24 };

/** The width to use before the view is on a page. */
const UNSEEN = 480;

const STEP = 1.5;

/** What is drawn. */
export interface Scene {
  cells: Cells;
  depths: Float32Array;
  palette: Palette;
  room: CellField;
  /** The largest font sizes of the axes. */
  letters: { down: number; across: number };
  images: Map<string, HTMLCanvasElement | null>;
}

/** The view's zoom and focus. */
export interface State {
  scene: Scene | null;
  port: Viewport;
  focus: Focus | null;
  /** The pointer position in pixels. */
  point: [x: number, y: number] | null;
  cell: { row: number; column: number } | null;
}

export type Elements = ReturnType<typeof buildElements>;

export function buildElements(
  moves: Moves,
  room: () => CellField,
  actions: ViewActions,
  signal: AbortSignal,
) {
  const zoomBy = (factor: number) => () => {
    const { width, height } = sizeOf(room());
    moves.zoom(factor, width / 2, height / 2);
  };
  const out = button("−", "zoom out", zoomBy(1 / STEP), signal);
  const into = button("+", "zoom in", zoomBy(STEP), signal);
  for (const sign of [out, into]) sign.setAttribute("aria-label", sign.title);
  const all = button("whole", "the whole field", moves.whole, signal);
  const sight = element("output", { class: "nv-sight", "aria-live": "off" });
  const tools = element("div", { class: "nv-tools" }, out, into, all, sight);
  const base = element("canvas", { class: "nv-base", role: "img" });
  const top = element("canvas", { class: "nv-top", "aria-hidden": "true" });
  const name = "heatmap: plus and minus zoom, shift and arrows pan, 0 resets the zoom";
  const attributes = { class: "nv-plot", tabindex: "0", role: "group", "aria-label": name };
  const plot = element("div", attributes, base, top);
  const down = axisView("down", actions, signal);
  const across = axisView("across", actions, signal);
  const corner = element("div", { class: "nv-corner", "aria-hidden": "true" });
  const field = element("div", { class: "nv-cells" }, corner, across.node, down.node, plot);
  const node = element("div", { class: "nv-matrix" }, tools, field);
  const pressed = (event: KeyboardEvent): void => {
    const chord = event.ctrlKey || event.metaKey || event.altKey;
    const act = chord ? null : keyMove(event, moves, sizeOf(room()));
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };
  node.addEventListener("keydown", pressed, { signal });
  return { node, out, into, all, sight, base, top, plot, corner, down, across };
}

/** Lay out the field and the tokens beside it. */
export function arrange(
  { node, corner }: Elements,
  pane: Pane,
  cells: Cells,
  palette: Palette,
): Scene {
  const width = node.clientWidth || UNSEEN;
  const [rows, columns] = [cells.down.labels.length, cells.across.labels.length];
  const most = Math.min(LABEL.most, width * LABEL.share);
  const fitted = (left: number) => fieldFor(rows, columns, width - left - 2, HEIGHT);
  // The font size depends on the field, and the field on the labels.
  const rough = fitted(most);
  const [down, across] = [rough.tall, rough.wide].map((pitch) => fontFor(Math.max(LINE, pitch)));
  const left = lengthOf(cells.down, down, LABEL.least, most);
  const top = lengthOf(cells.across, across, LABEL.least, LABEL.most);
  const room = fitted(left);
  const size = sizeOf(room);
  for (const [name, value] of Object.entries({ left, top, wide: size.width, tall: size.height })) {
    node.style.setProperty(`--nv-${name}`, `${value}px`);
  }
  corner.replaceChildren(
    element("span", {}, "read from →"),
    element("span", {}, cells.down.role ? "receives ↓" : "head ↓"),
  );
  node.classList.toggle("nv-quiet", pane.state.special === "dimmed");
  return {
    cells,
    depths: depths(cells),
    palette,
    room,
    letters: { down, across },
    images: new Map(),
  };
}

export function blockAt({ room }: Scene, port: Viewport): ReturnType<typeof blockOf> {
  return blockOf(room, port, pixelRatio());
}

/** Paint the visible cells and update the zoom buttons. */
export function renderField(elements: Elements, scene: Scene, port: Viewport): void {
  const { cells, room, palette } = scene;
  const focused = [elements.out, elements.into, elements.all].find((made) =>
    made.matches(":focus"),
  );
  elements.out.disabled = elements.all.disabled = port.zoom <= 1;
  elements.into.disabled = port.zoom >= maxZoom(room);
  if (focused?.disabled) elements.plot.focus(); // a disabled button receives no keys
  elements.plot.classList.toggle("nv-zoomed", port.zoom > 1);
  const label = `${cells.picture.measure.label} as a heatmap; the table has the numbers`;
  elements.base.setAttribute("aria-label", label);
  const block = blockAt(scene, port);
  const key = `${block.rows} ${block.columns}`;
  if (!scene.images.has(key)) {
    const color = heatOf(cells.picture.measure, palette);
    scene.images.set(key, imageOf(scene.depths, room.columns, block, color));
  }
  const image = scene.images.get(key);
  const context = contextOf(elements, elements.base, room);
  if (!context || !image) return;
  paintField(context, image, block, room, port, palette);
  paintNumbers(context, scene, room, port, palette);
}

/** The context of an empty canvas; null while the view is not on a page. */
function contextOf({ node }: Elements, canvas: HTMLCanvasElement, room: CellField) {
  const { width, height } = sizeOf(room);
  const context = prepareCanvas(canvas, width, height);
  if (!context && node.clientWidth > 0) {
    throw new Error("This browser cannot draw on a canvas; the table has the numbers.");
  }
  return context;
}

/** The row and the column in focus. */
export function aimOf({ scene, focus, cell }: State): Aim {
  if (cell) return cell;
  const at = scene && focusedRow(scene.cells.picture, focus);
  const isRow = at?.role === "query" && scene?.cells.down.role === "query";
  return { row: isRow ? at.row : null, column: at?.role === "key" ? at.row : null };
}

/** Highlight the row and column in focus, on the field and its axes. */
export function renderAim(elements: Elements, state: State): void {
  const { scene, port, cell, focus } = state;
  if (!scene) return;
  const { cells, room, palette, letters } = scene;
  const aim = aimOf(state);
  const context = contextOf(elements, elements.top, room);
  if (context) paintAim(context, aim, room, port, palette);
  const isDown = focus?.role !== "key" || cells.down.role === null;
  const sight = (line: number | null, isOwn: boolean) =>
    isOwn ? { own: line, met: null } : { own: null, met: line };
  elements.down.show(cells.down, {
    first: port.top,
    seen: room.rows / port.zoom,
    pitch: room.tall * port.zoom,
    letters: letters.down,
    ...sight(aim.row, isDown),
  });
  elements.across.show(cells.across, {
    first: port.left,
    seen: room.columns / port.zoom,
    pitch: room.wide * port.zoom,
    letters: letters.across,
    ...sight(aim.column, true),
  });
  elements.sight.textContent = cell ? cellLine(cells, cell.row, cell.column) : HINT;
}

const HINT = "point at a cell to see its value";

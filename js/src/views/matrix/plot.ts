/** The parts of the matrix, and how they are filled: cells, tokens along the sides, tools. */

import { rowIn } from "../../data/layer";
import type { Palette } from "../../draw/colors";
import { button, element } from "../../draw/dom";
import { heatOf } from "../../draw/heat";
import { density } from "../../draw/pixelRatio";
import { fontFor, limitOf, type Port, type Room, roomFor, sizeOf } from "../../draw/viewport";
import type { Pane } from "../../state/pane";
import type { Focus } from "../../wire/types";
import { axisView, lengthOf } from "../shared/axes";
import { type Cells, depths } from "../shared/cells";
import { keyMove, type Moves } from "../shared/gestures";
import { type Aim, blockOf, imageOf, paintAim, paintField, paintNumbers } from "../shared/heatmap";
import { sheet } from "../shared/paint";
import type { Hand } from "../view";
import { cellLine } from "./words";

/** The height that a field should fill, and the most room for the tokens beside it. */
const HEIGHT = 600;
/** Lines so far apart are planned for at least: tokens that one can zoom into are read too. */
const LINE = 15;
const LABEL = { least: 58, most: 104, share: 0.24 };

/** The width to plan for before the view is on a page. */
const UNSEEN = 480;

const STEP = 1.5;

/** What is drawn. */
export interface Scene {
  cells: Cells;
  depths: Float32Array;
  palette: Palette;
  room: Room;
  /** The largest letters that the room beside the field was made for. */
  letters: { down: number; across: number };
  images: Map<string, HTMLCanvasElement | null>;
}

/** What the reader has done to it. */
export interface State {
  scene: Scene | null;
  port: Port;
  focus: Focus | null;
  /** Where the pointer is, in pixels, and the cell under it. */
  point: [x: number, y: number] | null;
  cell: { row: number; column: number } | null;
}

export type Parts = ReturnType<typeof build>;

export function build(moves: Moves, room: () => Room, hand: Hand, signal: AbortSignal) {
  const zoomBy = (factor: number) => () => {
    const { width, height } = sizeOf(room());
    moves.zoom(factor, width / 2, height / 2);
  };
  const out = button("−", "zoom out", zoomBy(1 / STEP), signal);
  const into = button("+", "zoom in", zoomBy(STEP), signal);
  const all = button("whole", "the whole field", moves.whole, signal);
  const sight = element("output", { class: "nv-sight", "aria-live": "off" });
  const tools = element("div", { class: "nv-tools" }, out, into, all, sight);
  const base = element("canvas", { class: "nv-base", role: "img" });
  const top = element("canvas", { class: "nv-top", "aria-hidden": "true" });
  const name = "heatmap: plus and minus zoom, shift and arrows move, 0 shows the whole";
  const attributes = { class: "nv-plot", tabindex: "0", role: "group", "aria-label": name };
  const plot = element("div", attributes, base, top);
  const down = axisView("down", hand, signal);
  const across = axisView("across", hand, signal);
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

/** Make room for the field and the tokens beside it. */
export function arrange(
  { node, corner }: Parts,
  pane: Pane,
  cells: Cells,
  palette: Palette,
): Scene {
  const width = node.clientWidth || UNSEEN;
  const [rows, columns] = [cells.down.labels.length, cells.across.labels.length];
  const most = Math.min(LABEL.most, width * LABEL.share);
  const fitted = (left: number) => roomFor(rows, columns, width - left - 2, HEIGHT);
  // How large the letters are depends on the room, and the room on the letters.
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
    element("span", {}, cells.down.side ? "receives ↓" : "head ↓"),
  );
  node.classList.toggle("nv-quiet", pane.choice.special === "dimmed");
  return {
    cells,
    depths: depths(cells),
    palette,
    room,
    letters: { down, across },
    images: new Map(),
  };
}

export function blockAt({ room }: Scene, port: Port): ReturnType<typeof blockOf> {
  return blockOf(room, port, density());
}

/** The cells in sight, and how far one can go from here. */
export function renderField(parts: Parts, scene: Scene, port: Port): void {
  const { cells, room, palette } = scene;
  const held = [parts.out, parts.into, parts.all].find((made) => made.matches(":focus"));
  parts.out.disabled = parts.all.disabled = port.zoom <= 1;
  parts.into.disabled = port.zoom >= limitOf(room);
  if (held?.disabled) parts.plot.focus(); // a button that is off hears no keys
  parts.plot.classList.toggle("nv-zoomed", port.zoom > 1);
  const label = `${cells.picture.measure.label} as a heatmap; the table says it in numbers`;
  parts.base.setAttribute("aria-label", label);
  const block = blockAt(scene, port);
  const key = `${block.rows} ${block.columns}`;
  if (!scene.images.has(key)) {
    const color = heatOf(cells.picture.measure, palette);
    scene.images.set(key, imageOf(scene.depths, room.columns, block, color));
  }
  const image = scene.images.get(key);
  const context = contextOf(parts, parts.base, room);
  if (!context || !image) return;
  paintField(context, image, block, room, port, palette);
  paintNumbers(context, scene, room, port, palette);
}

/** A wiped canvas; null as long as the view is not on a page. */
function contextOf({ node }: Parts, canvas: HTMLCanvasElement, room: Room) {
  const { width, height } = sizeOf(room);
  const context = sheet(canvas, width, height);
  if (!context && node.clientWidth > 0) {
    throw new Error("This browser refuses to draw on a canvas; the table still holds.");
  }
  return context;
}

/** The row and the column that are looked at. */
export function aimOf({ scene, focus, cell }: State): Aim {
  if (cell) return cell;
  const at = scene && rowIn(scene.cells.picture, focus);
  const isRow = at?.side === "query" && scene?.cells.down.side === "query";
  return { row: isRow ? at.row : null, column: at?.side === "key" ? at.row : null };
}

/** Bring out what is looked at, on the field and along its sides. */
export function renderAim(parts: Parts, state: State): void {
  const { scene, port, cell, focus } = state;
  if (!scene) return;
  const { cells, room, palette, letters } = scene;
  const aim = aimOf(state);
  const context = contextOf(parts, parts.top, room);
  if (context) paintAim(context, aim, room, port, palette);
  const isDown = focus?.side !== "key" || cells.down.side === null;
  const sight = (line: number | null, isOwn: boolean) =>
    isOwn ? { own: line, met: null } : { own: null, met: line };
  parts.down.show(cells.down, {
    first: port.top,
    seen: room.rows / port.zoom,
    pitch: room.tall * port.zoom,
    letters: letters.down,
    ...sight(aim.row, isDown),
  });
  parts.across.show(cells.across, {
    first: port.left,
    seen: room.columns / port.zoom,
    pitch: room.wide * port.zoom,
    letters: letters.across,
    ...sight(aim.column, true),
  });
  parts.sight.textContent = cell ? cellLine(cells, cell.row, cell.column) : HINT;
}

const HINT = "point at a cell for its number";

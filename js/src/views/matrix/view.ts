/** The matrix view: one layer as a heatmap that can be zoomed and panned. */

import { rankingOf } from "../../data/layer";
import { element } from "../../draw/dom";
import { heatGradient } from "../../draw/heat";
import {
  type CellField,
  cellAt,
  clampViewport,
  panBy,
  revealCell,
  type Viewport,
  WHOLE,
  zoomAt,
} from "../../draw/viewport";
import { isEqual } from "../../state/signal";
import type { Focus } from "../../wire/types";
import { describe } from "../../words/describe";
import { type Cells, cellsOf } from "../shared/cells";
import { listenToGestures, type Moves } from "../shared/gestures";
import type { View, ViewActions } from "../view";
import {
  aimOf,
  arrange,
  blockAt,
  buildElements,
  type Elements,
  renderAim,
  renderField,
  type Scene,
  type State,
} from "./plot";
import { cellLegend, fullColor, noColor } from "./words";

export function matrixView(actions: ViewActions, signal: AbortSignal): View {
  const state: State = { scene: null, port: WHOLE, focus: null, point: null, cell: null };
  const go = (port: Viewport): boolean => {
    const { scene, port: before, point } = state;
    if (!scene || isEqual(before, port)) return false;
    state.port = port;
    renderField(elements, scene, port);
    renderAim(elements, state);
    pointAt(elements, state, actions, point && cellAt(port, scene.room, ...point));
    // The legend says how many cells share a pixel.
    if (!isEqual(blockAt(scene, before), blockAt(scene, port))) actions.refresh?.();
    return true;
  };
  const room = () => state.scene?.room ?? EMPTY;
  const moves: Moves = {
    zoom: (factor, x, y) => go(zoomAt(state.port, room(), factor, x, y)),
    pan: (across, down) => go(panBy(state.port, room(), across, down)),
    whole: () => go(WHOLE),
  };
  const elements = buildElements(moves, room, actions, signal);
  pointing(elements, state, moves, actions, signal);
  return {
    node: elements.node,
    draw: (pane, palette) => {
      const cells = cellsOf(pane);
      if (!cells) return false;
      const scene = arrange(elements, pane, cells, palette);
      state.port = keepViewport(state, scene.room);
      state.scene = scene;
      state.cell = state.point && cellAt(state.port, scene.room, ...state.point);
      renderField(elements, scene, state.port);
      return true;
    },
    highlight: (focus) => {
      state.focus = focus;
      if (state.scene) revealFocus(elements, state, state.scene);
      renderAim(elements, state);
    },
    legend: () => (state.scene ? legendOf(state.scene, state.port) : []),
    describe: (focus) => describe(requireCells(state).picture, focus),
    ranking: (focus) => rankingOf(requireCells(state).picture, focus),
  };
}

const EMPTY: CellField = { rows: 0, columns: 0, wide: 1, tall: 1 };

function requireCells({ scene }: State): Cells {
  if (!scene) throw new Error("Nothing has been drawn yet.");
  return scene.cells;
}

/** The same viewport, if the field has the same cells. */
function keepViewport({ scene, port }: State, room: CellField): Viewport {
  const isSame = scene?.room.rows === room.rows && scene.room.columns === room.columns;
  return isSame ? clampViewport(port, room) : WHOLE;
}

/** Make every cell react to pointing and clicking. */
function pointing(
  elements: Elements,
  state: State,
  moves: Moves,
  actions: ViewActions,
  signal: AbortSignal,
): void {
  const { plot } = elements;
  const wasDrag = listenToGestures(plot, moves, signal);
  const under = ({ clientX, clientY }: MouseEvent): State["cell"] => {
    const { left, top } = plot.getBoundingClientRect();
    state.point = [clientX - left, clientY - top];
    return state.scene && cellAt(state.port, state.scene.room, ...state.point);
  };
  const left = (): void => {
    state.point = null;
    pointAt(elements, state, actions, null);
  };
  const clicked = (event: MouseEvent): void => {
    const focus = focusAt(state, under(event));
    if (focus && !wasDrag()) actions.pin(focus);
  };
  plot.addEventListener("pointermove", (event) => pointAt(elements, state, actions, under(event)), {
    signal,
  });
  plot.addEventListener("pointerleave", left, { signal });
  plot.addEventListener("click", clicked, { signal });
}

/** Point at a cell and its token. */
function pointAt(
  elements: Elements,
  state: State,
  actions: ViewActions,
  cell: State["cell"],
): void {
  const isSame = isEqual(cell, state.cell);
  state.cell = cell;
  const focus = focusAt(state, cell);
  if (!isSame) renderAim(elements, state);
  if (cell === null || !isEqual(focus, state.focus)) actions.hover(focus);
}

/** The token of a cell: the query, or the key if the rows are heads. */
function focusAt({ scene }: State, cell: State["cell"]): Focus | null {
  if (!scene || !cell) return null;
  const { down, across } = scene.cells;
  const token = down.role ? down.pieces[cell.row]?.[0] : across.pieces[cell.column]?.[0];
  return token === undefined ? null : { role: down.role ?? "key", token };
}

/** Pan to the token in focus, unless the pointer is over the field. */
function revealFocus(elements: Elements, state: State, scene: Scene): void {
  if (state.cell || elements.node.matches(":hover")) return;
  const { row, column } = aimOf(state);
  const aim = { ...(row === null ? {} : { row }), ...(column === null ? {} : { column }) };
  const port = revealCell(state.port, scene.room, aim);
  if (isEqual(port, state.port)) return;
  state.port = port;
  renderField(elements, scene, port);
}

/** The legend, with a bar of the colors. */
function legendOf(scene: Scene, port: Viewport): (string | HTMLElement)[] {
  const { cells, palette } = scene;
  const bar = element("i", { class: "nv-ramp", "aria-hidden": "true" });
  const { measure } = cells.picture;
  bar.style.background = heatGradient(measure, palette);
  const scale = element("span", { class: "nv-scale" }, noColor(cells), bar, fullColor(cells));
  return [scale, ...cellLegend(cells, blockAt(scene, port))];
}

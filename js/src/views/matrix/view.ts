/** One layer as a heatmap of queries and keys, to zoom into and to move about in. */

import { element } from "../../draw/dom";
import { heatGradient } from "../../draw/heat";
import {
  cellAt,
  type Port,
  panned,
  type Room,
  revealed,
  WHOLE,
  within,
  zoomed,
} from "../../draw/viewport";
import { same } from "../../state/signal";
import type { Focus } from "../../wire/types";
import { describe } from "../../words/describe";
import { standingOf } from "../flow/view";
import { type Cells, cellsOf } from "../shared/cells";
import { gestures, type Moves } from "../shared/gestures";
import type { Hand, View } from "../view";
import {
  aimOf,
  arrange,
  blockAt,
  build,
  type Parts,
  renderAim,
  renderField,
  type Scene,
  type State,
} from "./plot";
import { cellLegend, fullColor, noColor } from "./words";

export function matrixView(hand: Hand, signal: AbortSignal): View {
  const state: State = { scene: null, port: WHOLE, focus: null, point: null, cell: null };
  const go = (port: Port): boolean => {
    const { scene, port: before, point } = state;
    if (!scene || same(before, port)) return false;
    state.port = port;
    renderField(parts, scene, port);
    renderAim(parts, state);
    look(parts, state, hand, point && cellAt(port, scene.room, ...point));
    // The legend says how many cells share a pixel.
    if (!same(blockAt(scene, before), blockAt(scene, port))) hand.tell?.();
    return true;
  };
  const room = () => state.scene?.room ?? EMPTY;
  const moves: Moves = {
    zoom: (factor, x, y) => go(zoomed(state.port, room(), factor, x, y)),
    pan: (across, down) => go(panned(state.port, room(), across, down)),
    whole: () => go(WHOLE),
  };
  const parts = build(moves, room, hand, signal);
  pointing(parts, state, moves, hand, signal);
  return {
    node: parts.node,
    draw: (pane, palette) => {
      const cells = cellsOf(pane);
      if (!cells) return false;
      const scene = arrange(parts, pane, cells, palette);
      state.port = kept(state, scene.room);
      state.scene = scene;
      state.cell = state.point && cellAt(state.port, scene.room, ...state.point);
      renderField(parts, scene, state.port);
      return true;
    },
    highlight: (focus) => {
      state.focus = focus;
      if (state.scene) follow(parts, state, state.scene);
      renderAim(parts, state);
    },
    legend: () => (state.scene ? legendOf(state.scene, state.port) : []),
    describe: (focus) => describe(cellsIn(state).picture, focus),
    standing: (focus) => standingOf(cellsIn(state).picture, focus),
  };
}

const EMPTY: Room = { rows: 0, columns: 0, wide: 1, tall: 1 };

function cellsIn({ scene }: State): Cells {
  if (!scene) throw new Error("Nothing has been drawn yet.");
  return scene.cells;
}

/** Where the reader was, as long as the field has the same cells. */
function kept({ scene, port }: State, room: Room): Port {
  const isSame = scene?.room.rows === room.rows && scene.room.columns === room.columns;
  return isSame ? within(port, room) : WHOLE;
}

/** Let every cell be looked at and pinned. */
function pointing(parts: Parts, state: State, moves: Moves, hand: Hand, signal: AbortSignal): void {
  const { plot } = parts;
  const wasDrag = gestures(plot, moves, signal);
  const under = ({ clientX, clientY }: MouseEvent): State["cell"] => {
    const { left, top } = plot.getBoundingClientRect();
    state.point = [clientX - left, clientY - top];
    return state.scene && cellAt(state.port, state.scene.room, ...state.point);
  };
  const left = (): void => {
    state.point = null;
    look(parts, state, hand, null);
  };
  const clicked = (event: MouseEvent): void => {
    const focus = focusAt(state, under(event));
    if (focus && !wasDrag()) hand.pin(focus);
  };
  plot.addEventListener("pointermove", (event) => look(parts, state, hand, under(event)), {
    signal,
  });
  plot.addEventListener("pointerleave", left, { signal });
  plot.addEventListener("click", clicked, { signal });
}

/** Look at a cell, and so at its token. */
function look(parts: Parts, state: State, hand: Hand, cell: State["cell"]): void {
  const isSame = same(cell, state.cell);
  state.cell = cell;
  const focus = focusAt(state, cell);
  if (!isSame) renderAim(parts, state);
  if (cell === null || !same(focus, state.focus)) hand.hover(focus);
}

/** The token that a cell is about: the one that takes, or where heads stand, the one that gives. */
function focusAt({ scene }: State, cell: State["cell"]): Focus | null {
  if (!scene || !cell) return null;
  const { down, across } = scene.cells;
  const token = down.side ? down.pieces[cell.row]?.[0] : across.pieces[cell.column]?.[0];
  return token === undefined ? null : { side: down.side ?? "key", token };
}

/** Have the token in focus in sight, unless the reader points at the field. */
function follow(parts: Parts, state: State, scene: Scene): void {
  if (state.cell || parts.node.matches(":hover")) return;
  const { row, column } = aimOf(state);
  const aim = { ...(row === null ? {} : { row }), ...(column === null ? {} : { column }) };
  const port = revealed(state.port, scene.room, aim);
  if (same(port, state.port)) return;
  state.port = port;
  renderField(parts, scene, port);
}

/** The legend, with a bar of the colors. */
function legendOf(scene: Scene, port: Port): (string | HTMLElement)[] {
  const { cells, palette } = scene;
  const bar = element("i", { class: "nv-ramp", "aria-hidden": "true" });
  const { measure } = cells.picture;
  bar.style.background = heatGradient(measure, palette);
  const scale = element("span", { class: "nv-scale" }, noColor(cells), bar, fullColor(cells));
  return [scale, ...cellLegend(cells, blockAt(scene, port))];
}

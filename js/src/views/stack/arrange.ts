/** Lays out the stack for the room it has: the height of rows, the width of columns. */

import { gapsOf } from "../../data/otherLayers";
import { rowSizeFor } from "../../data/ribbons";
import { isConnected, type Stack, tracedLayer } from "../../data/stack";
import type { Palette } from "../../draw/colors";
import { sumOf } from "../../math/arrays";
import type { Pane } from "../../state/pane";
import { isEqual } from "../../state/signal";
import { columnsBetween, gapWidth } from "./layout";
import { makeupOf } from "./makeup";
import { type Elements, type Scene, showBands } from "./stage";
import { type Strands, strandsOf } from "./strands";
import { describeMakeup } from "./words";

/** The height in pixels beyond which a text scrolls. */
const HEIGHT = 640;

/** The minimum gap between two columns; below the comfortable one, bands lose their numbers. */
const LEAST_GAP = 6;
const EASY_GAP = 14;

/** The width from which tokens are on both sides, and the width of the two token columns. */
const WIDE = 460;
const SIDES = 200;
const MARGIN = 8;

/** More layers than this take the whole width of the page. */
const MANY = 16;

/** Lay out tokens and layers, and trace all tokens together. */
export function arrange(
  elements: Elements,
  pane: Pane,
  stack: Stack,
  palette: Palette,
  before: Scene | null,
): Scene {
  const { node, figure, stage, keys, queries, field, remark } = elements;
  const { rows, stream, mode } = stack;
  const count = Math.max(
    rows.key.pieces.length,
    mode === "separate" ? rows.query.pieces.length : 0,
  );
  const { pitch, font } = rowSizeFor(mode === "none" ? 1 : count, HEIGHT);
  node.style.setProperty("--nv-pitch", `${pitch}px`);
  node.style.setProperty("--nv-font", `${font}px`);
  const gaps = gapsOf(stream);
  const layers = Math.max(1, stream.layers.length);
  node.classList.toggle("nv-deep", layers + gaps.length > MANY);
  const roomFor = (gap: number, isTight: boolean) =>
    layers * gap + sumOf(gaps.map((each) => gapWidth(each, mode, isTight)));
  const room = figure.clientWidth - SIDES;
  const isTight = room > 0 && roomFor(EASY_GAP, false) > room; // no room before it is on a page
  figure.style.setProperty("--nv-room", `${roomFor(LEAST_GAP, isTight) + 2 * MARGIN}px`);
  figure.classList.toggle("nv-narrow", isConnected(mode) && figure.clientWidth < WIDE);
  stage.hidden = mode === "none";
  remark.hidden = mode !== "none";
  const isDimmed = pane.state.special === "dimmed";
  keys.show(rows.key, isDimmed);
  queries.show(rows.query, isDimmed);
  const [left, right] = [field.offsetLeft, field.offsetLeft + field.offsetWidth];
  const options = { layers, gaps, mode, isTight };
  const columns = columnsBetween(left + MARGIN, right - MARGIN, options);
  const lanes = { pitch, rows: count, ...columns };
  showBands(elements, lanes);
  const scene = { pane, palette, stack, lanes, width: stage.clientWidth };
  const whole = before && isSameWhole(before, scene) ? before.whole : wholeOf(scene);
  remark.textContent = describeMakeup(whole.makeup).sentence;
  return { ...scene, whole };
}

/** The strands of all tokens, from the last layer or the compared one. */
function wholeOf({ pane, stack, lanes }: Omit<Scene, "whole">): Strands {
  const makeup = makeupOf(stack, null, tracedLayer(pane, stack.mode, null));
  return strandsOf(makeup, lanes, pane.state.threshold);
}

/** Whether the strands of all tokens are the same in two scenes. */
function isSameWhole(one: Scene, other: Omit<Scene, "whole">): boolean {
  const facts = ({ pane, stack, palette, lanes, width }: Omit<Scene, "whole">) => {
    const layer = tracedLayer(pane, stack.mode, null);
    return [layer, pane.state.threshold, palette, lanes, width];
  };
  return one.stack === other.stack && isEqual(facts(one), facts(other));
}

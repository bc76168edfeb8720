/** The stage of the flow view: two columns of tokens, the shares beside them, canvases over them. */

import type { Picture } from "../../data/layer";
import { rowSizeFor } from "../../data/ribbons";
import { element } from "../../draw/dom";
import { tokenColumn } from "../shared/tokens";
import type { ViewActions } from "../view";
import { minimap } from "./minimap";
import { shareColumn } from "./shares";

/** The height in pixels beyond which a column scrolls. */
const HEIGHT = 640;

export const GAP = 7;

/** Otherwise an empty canvas is 300 by 150 pixels. */
const EMPTY = { width: "0", height: "0" };

export type Elements = ReturnType<typeof buildElements>;
export type Stage = ReturnType<typeof measureStage>;

/** The parts of the view on the page. */
export function buildElements(actions: ViewActions, signal: AbortSignal) {
  const keys = tokenColumn("key", actions, signal);
  const queries = tokenColumn("query", actions, signal);
  const base = element("canvas", { class: "nv-base", role: "img", ...EMPTY });
  const top = element("canvas", { class: "nv-top", "aria-hidden": "true", ...EMPTY });
  const titles = {
    shares: element("span", { class: "nv-head nv-given" }, "share given"),
    keys: element("span", { class: "nv-head nv-key" }, "read from"),
    queries: element("span", { class: "nv-head nv-query" }, "receives"),
  };
  const heads = element("div", { class: "nv-heading" }, ...Object.values(titles));
  const shares = shareColumn();
  const tip = element("div", { class: "nv-tip", role: "tooltip", hidden: "" });
  const inside = [heads, shares.node, keys.node, queries.node, base, top, tip];
  const stage = element("div", { class: "nv-stage" }, ...inside);
  const figure = element("div", { class: "nv-figure" }, stage);
  const whole = minimap(figure, signal);
  const node = element("div", { class: "nv-framed" }, figure, whole.node);
  return { node, figure, stage, shares, keys, queries, base, top, tip, titles, whole };
}

/** Put the tokens in their rows, at a suitable row height. */
export function arrange(elements: Elements, picture: Picture, isDimmed: boolean): void {
  const { node, stage, shares, keys, queries, titles } = elements;
  const { rows, norms } = picture;
  const { pitch, font } = pitchOf(picture);
  node.style.setProperty("--nv-pitch", `${pitch}px`);
  node.style.setProperty("--nv-font", `${font}px`);
  keys.show(rows.key, isDimmed);
  queries.show(rows.query, isDimmed);
  stage.classList.toggle("nv-alone", norms !== null);
  shares.node.hidden = norms !== null;
  titles.shares.hidden = norms !== null;
}

/** The number of rows, their height and font size. */
function pitchOf({ queries, keys }: Picture) {
  const count = Math.max(queries, keys);
  return { count, ...rowSizeFor(count, HEIGHT) };
}

/** The size of the canvas and the edges of the columns, measured on the page. */
export function measureStage({ stage, keys, queries }: Elements, picture: Picture) {
  const { pitch, count } = pitchOf(picture);
  return {
    pitch,
    width: stage.clientWidth,
    height: count * pitch,
    left: keys.node.offsetLeft + keys.node.offsetWidth + GAP,
    right: queries.node.offsetLeft - GAP,
  };
}

/** What widths and colours stand for, and how much is left out. */

import { given } from "./derive";
import { headsShown, quoted } from "./describe";
import { element } from "./dom";
import type { Ribbons } from "./layout";
import type { Scale } from "./model";
import { type Picture, peakOf } from "./picture";
import { number, percent } from "./scales";

export interface Legend {
  node: HTMLElement;
  show(picture: Picture, drawn: Ribbons): void;
  /** Say how many times wider the token in focus is drawn. */
  magnify(zoom: number): void;
}

const FULL_ROW = "full row";

/** What the full width of a row is, under each scaling. */
const FULL: Record<Scale, string> = {
  absolute: "the most any token takes in any layer",
  layer: "the most any token takes in this layer",
  query: "all that the row's token takes",
};

export function legend(): Legend {
  const swatch = element("i", { class: "nv-swatch", "aria-hidden": "true" });
  const wider = element("li");
  const node = element("ul", { class: "nv-legend", "aria-label": "legend" });
  const show = (picture: Picture, drawn: Ribbons): void => {
    swatch.style.height = `${drawn.full}px`;
    const items = lines(picture, drawn).map((line) => element("li", {}, line));
    items.find((item) => item.textContent?.startsWith(FULL_ROW))?.prepend(swatch);
    node.replaceChildren(...items, wider);
  };
  const magnify = (zoom: number): void => {
    wider.textContent = zoom > 1 ? `the token in focus: ${zoom} times wider` : "";
  };
  return { node, show, magnify };
}

/** The legend, phrase by phrase. */
export function lines(picture: Picture, drawn: Ribbons): string[] {
  const { measure, norms } = picture;
  const longest = norms
    ? `longest bar: ${number(Math.max(...given(norms.values, picture.keys)))}`
    : "";
  if (picture.values.length === 0) {
    return [
      `${measure.label}: ${measure.meaning}; it has no query, so there are bars only`,
      longest,
    ];
  }
  const { head, query, key, value } = peakOf(picture);
  const { queries, keys } = picture.stream;
  const through = head === null ? "" : `, head ${head}`;
  const pair = `${quoted(queries.pieces[query])} from ${quoted(keys.pieces[key])}${through}`;
  return [
    `${measure.label}: ${measure.meaning}; ${headsShown(picture)}`,
    `${FULL_ROW}: ${fullRow(picture)}`,
    `largest ribbon: ${number(value)} (${pair})`,
    ...(longest ? [longest] : []),
    leftOut(picture, drawn),
  ];
}

function fullRow({ scale, units }: Picture): string {
  return scale === "query" ? `100% (${FULL.query})` : `${number(units[0])} (${FULL[scale]})`;
}

/** How much of the sum is drawn; nothing is dropped without being said. */
export function leftOut({ values, scale }: Picture, { ribbons, shown }: Ribbons): string {
  const present = values.reduce((count, value) => count + (value > 0 ? 1 : 0), 0);
  if (ribbons.length === present) return `all ${present} ribbons drawn`;
  const of = scale === "query" ? "of all shares" : "of the sum";
  return (
    `the strongest ${ribbons.length} of ${present} ribbons drawn: ${percent(shown)} ${of}; ` +
    `${percent(1 - shown)} is left out`
  );
}

/** The text view in words: the title of a token, and what the shades mean. */

import type { Picture } from "../../data/layer";
import { formatPercent, type Palette } from "../../draw/colors";
import { element } from "../../draw/dom";
import type { Role } from "../../wire/types";
import { headsLabel, quote } from "../../words/describe";
import { omissionNotes, signsPhrase } from "../../words/legend";
import { type Shading, shaderOf } from "./shade";

/** One row by its numbers and its text. */
export function labelOf({ rows }: Picture, role: Role, row: number): string {
  const { labels, pieces } = rows[role];
  return `${pieces[row].join(", ")}: ${labels[row]}`;
}

/** The title of one row: its token, and its share. */
export function titleOf(picture: Picture, shading: Shading, row: number): string {
  const { role, shares, lean, whole } = shading;
  const sign = lean && lean[row] < 0 ? " (below zero)" : "";
  return `${labelOf(picture, role, row)}\n${formatPercent(shares[row])} of ${whole}${sign}`;
}

/** The legend, with a bar of the shades. */
export function shadeLegend(
  picture: Picture,
  shading: Shading,
  palette: Palette,
): (string | HTMLElement)[] {
  const { measure } = picture;
  const isSigned = shading.lean !== null;
  return [
    scaleBar(picture, shading, palette),
    `${measure.label}: ${measure.meaning}; ${headsLabel(picture)}`,
    ...(isSigned ? [`${signsPhrase(measure)}, gray: both`] : []),
    ...omissionNotes(picture),
  ];
}

function scaleBar(picture: Picture, shading: Shading, palette: Palette): HTMLElement {
  const { most, full, whole, role, lean } = shading;
  if (full === 0) return element("span", {}, `no shade: 0% of ${whole}`);
  const bar = element("i", { class: "nv-ramp", "aria-hidden": "true" });
  const shade = shaderOf(picture, palette);
  const from = lean ? -1 : 0;
  const parts = Array.from({ length: 9 }, (_, step) => from + ((1 - from) * step) / 8);
  const stops = parts.map((part) => shade(Math.abs(part), Math.sign(part)));
  bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
  const start = lean ? `−${formatPercent(full)}` : "0";
  const end = `full shade: ${formatPercent(full)} of ${whole} (${quote(picture.rows[role].labels[most])})`;
  return element("span", { class: "nv-scale" }, start, bar, end);
}

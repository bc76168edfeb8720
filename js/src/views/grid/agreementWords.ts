/** The agreement of two measures in words: names, a sentence, a table, a legend. */

import type { Palette } from "../../draw/colors";
import { element } from "../../draw/dom";
import { BEST, type Comparison, disagreementOf, TOP } from "../../math/agreement";
import { rankOrder } from "../../math/arrays";
import type { Pane } from "../../state/pane";
import { type Description, quote } from "../../words/describe";
import {
  type Coloring,
  comparedMeasure,
  fullColorValue,
  type TileAgreement,
  washGradient,
} from "./coloring";
import type { Thumb, Thumbs } from "./thumbs";

export const NAMES: Record<Comparison, string> = {
  rank: "rank correlation",
  overlap: `top-${TOP} overlap`,
  distance: "Jensen–Shannon distance",
};

/** The names as column headings. */
const SHORT: Record<Comparison, string> = {
  rank: "rank corr.",
  overlap: "overlap",
  distance: "distance",
};

/** What perfect agreement means for each statistic. */
const SAME: Record<Comparison, string> = {
  rank: "the same order",
  overlap: `the same ${TOP}`,
  distance: "the same shares",
};

/** How many rows a table has. */
const ROWS = 8;

/** The agreement of a thumbnail; null while it is being computed, and without colors. */
export function agreementAt(
  { coloring, heads }: Thumbs,
  { layer, head }: Thumb,
): TileAgreement | null {
  return coloring?.cells.get(layer)?.[heads.indexOf(head)] ?? null;
}

/** A value with two decimals; a dash if there is none. */
export function formatAgreement(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  return value.toFixed(2).replace("-", "−").replace("−0.00", "0.00");
}

/** "rank correlation with ‖αf(x)‖ 0.12, most different at ‘it’" */
export function agreementPhrase(thumbs: Thumbs, thumb: Thumb): string {
  const { coloring } = thumbs;
  const cell = agreementAt(thumbs, thumb);
  if (!coloring || !cell) return "being computed";
  const { by, second } = coloring;
  const value = cell[by];
  if (value === null) return `nothing to compare with ${second.label}`;
  return `${NAMES[by]} with ${second.label} ${formatAgreement(value)}${meanOver(coloring)}${leastAlikeAt(thumbs, cell)}`;
}

function meanOver({ isMean }: Coloring): string {
  return isMean ? " (mean over heads)" : "";
}

function leastAlikeAt({ stream }: Thumbs, { query }: TileAgreement): string {
  return query === null ? "" : `, most different at ${quote(stream.queries.pieces[query])}`;
}

/** Where the two measures agree least and most, and at which tokens. */
export function describeAgreement(
  thumbs: Thumbs,
  coloring: Coloring,
  nameOf: (thumb: Thumb) => string,
): Description {
  const { by, first, second } = coloring;
  const every = thumbs.thumbs.flatMap((thumb) => {
    const cell = agreementAt(thumbs, thumb);
    const value = cell?.[by] ?? null;
    return cell && value !== null ? [{ thumb, cell, value }] : [];
  });
  const order = rankOrder(every.map(({ value }) => disagreementOf(by, value))).map(
    (place) => every[place],
  );
  const [least, most] = [order[0], order[order.length - 1]];
  const piece = (query: number | null) =>
    query === null ? "" : quote(thumbs.stream.queries.pieces[query]);
  const both = `${first.label} and ${second.label}`;
  return {
    sentence: least
      ? `${both} agree least in ${nameOf(least.thumb)} (${NAMES[by]} ${formatAgreement(least.value)}` +
        `${meanOver(coloring)}${leastAlikeAt(thumbs, least.cell)}), ` +
        `most in ${nameOf(most.thumb)} (${formatAgreement(most.value)}).`
      : `In ${both} there is nothing to compare.`,
    caption: `Where ${both} agree least`,
    columns: ["rank", thumbs.heads[0] === null ? "layer" : "layer and head", SHORT[by], "at"],
    rows: order
      .slice(0, ROWS)
      .map(({ thumb, cell, value }, row) => [
        String(row + 1),
        nameOf(thumb),
        formatAgreement(value),
        piece(cell.query),
      ]),
  };
}

/** What the color of a tile means; the color ramp comes first. */
export function washLegend(coloring: Coloring, palette: Palette): (string | HTMLElement)[] {
  const ramp = element("i", { class: "nv-heat", "aria-hidden": "true" });
  ramp.style.background = washGradient(palette);
  const [range, ...rest] = washLines(coloring);
  return [element("span", {}, ramp, range), ...rest];
}

/** The legend of the tiles, phrase by phrase. */
export function washLines(coloring: Coloring): string[] {
  const { by, first, second, isMean } = coloring;
  const full = fullColorValue(coloring);
  return [
    `tile and number: ${NAMES[by]} of ${first.label} and ${second.label}, mean over queries` +
      `${isMean ? " and heads" : ""}; from ${BEST[by]} (${SAME[by]}) to ${formatAgreement(full)} (full color)`,
    "a click opens the token where the two differ most",
    ...(isMean ? [`with ${second.label} as the measure, each head has its own tile`] : []),
  ];
}

/** Why there are no colors, and what to do. */
export function missingColorNotes({ state, stream }: Pane): string[] {
  const { color_by } = state;
  if (color_by === "none") return [];
  return comparedMeasure(state, stream.measures) === null
    ? [`to color by ${NAMES[color_by]}, choose another measure to compare with`]
    : ["too many numbers to compare in a page; use normviz.agreement(flow, …) " + "in Python"];
}

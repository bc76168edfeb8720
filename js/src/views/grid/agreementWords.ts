/** How far two measures agree, in words: names, a sentence, a table, a legend. */

import type { Palette } from "../../draw/colors";
import { element } from "../../draw/dom";
import { apart, BEST, type Comparison, TOP } from "../../math/agreement";
import { rank } from "../../math/arrays";
import type { Pane } from "../../state/pane";
import { type Description, quoted } from "../../words/describe";
import { type Cell, type Coloring, fullest, rivalOf, washGradient } from "./coloring";
import type { Thumb, Thumbs } from "./thumbs";

export const NAMES: Record<Comparison, string> = {
  rank: "rank correlation",
  overlap: `top-${TOP} overlap`,
  distance: "Jensen–Shannon distance",
};

/** The same as the title of a column. */
const SHORT: Record<Comparison, string> = {
  rank: "rank corr.",
  overlap: "overlap",
  distance: "distance",
};

/** What each of them says where it says that two measures agree. */
const SAME: Record<Comparison, string> = {
  rank: "the same order",
  overlap: `the same ${TOP}`,
  distance: "the same shares",
};

/** How many rows a table has. */
const ROWS = 8;

/** What is known of a small picture; null while it is being worked out, and without colors. */
export function cellAt({ coloring, heads }: Thumbs, { layer, head }: Thumb): Cell | null {
  return coloring?.cells.get(layer)?.[heads.indexOf(head)] ?? null;
}

/** A number in two digits; a dash where there is none. */
export function digits(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  return value.toFixed(2).replace("-", "−").replace("−0.00", "0.00");
}

/** "rank correlation with ‖αf(x)‖ 0.12, least alike at ‘it’" */
export function agreementTold(thumbs: Thumbs, thumb: Thumb): string {
  const { coloring } = thumbs;
  const cell = cellAt(thumbs, thumb);
  if (!coloring || !cell) return "being worked out";
  const { by, second } = coloring;
  const value = cell[by];
  if (value === null) return `nothing to compare with ${second.label}`;
  return `${NAMES[by]} with ${second.label} ${digits(value)}${meanOver(coloring)}${at(thumbs, cell)}`;
}

function meanOver({ isMean }: Coloring): string {
  return isMean ? " (mean over heads)" : "";
}

function at({ stream }: Thumbs, { query }: Cell): string {
  return query === null ? "" : `, least alike at ${quoted(stream.queries.pieces[query])}`;
}

/** Where the two agree least and most, and at which tokens. */
export function describeAgreement(
  thumbs: Thumbs,
  coloring: Coloring,
  nameOf: (thumb: Thumb) => string,
): Description {
  const { by, first, second } = coloring;
  const every = thumbs.thumbs.flatMap((thumb) => {
    const cell = cellAt(thumbs, thumb);
    const value = cell?.[by] ?? null;
    return cell && value !== null ? [{ thumb, cell, value }] : [];
  });
  const order = rank(every.map(({ value }) => apart(by, value))).map((place) => every[place]);
  const [least, most] = [order[0], order[order.length - 1]];
  const piece = (query: number | null) =>
    query === null ? "" : quoted(thumbs.stream.queries.pieces[query]);
  const both = `${first.label} and ${second.label}`;
  return {
    sentence: least
      ? `${both} agree least in ${nameOf(least.thumb)} (${NAMES[by]} ${digits(least.value)}` +
        `${meanOver(coloring)}${at(thumbs, least.cell)}), ` +
        `most in ${nameOf(most.thumb)} (${digits(most.value)}).`
      : `In ${both} there is nothing to compare.`,
    caption: `Where ${both} agree least`,
    columns: ["rank", thumbs.heads[0] === null ? "layer" : "layer and head", SHORT[by], "at"],
    rows: order
      .slice(0, ROWS)
      .map(({ thumb, cell, value }, row) => [
        String(row + 1),
        nameOf(thumb),
        digits(value),
        piece(cell.query),
      ]),
  };
}

/** What the color of a tile stands for; the ramp of colors comes first. */
export function washLegend(coloring: Coloring, palette: Palette): (string | HTMLElement)[] {
  const ramp = element("i", { class: "nv-heat", "aria-hidden": "true" });
  ramp.style.background = washGradient(palette);
  const [range, ...rest] = washLines(coloring);
  return [element("span", {}, ramp, range), ...rest];
}

/** The same, phrase by phrase. */
export function washLines(coloring: Coloring): string[] {
  const { by, first, second, isMean } = coloring;
  const full = fullest(coloring);
  return [
    `tile and number: ${NAMES[by]} of ${first.label} and ${second.label}, mean over queries` +
      `${isMean ? " and heads" : ""}; from ${BEST[by]} (${SAME[by]}) to ${digits(full)} (full color)`,
    "a click opens the token where the two differ most",
    ...(isMean ? [`with ${second.label} as the measure, each head has its own tile`] : []),
  ];
}

/** Why there are no colors although they are asked for, and what to do. */
export function uncolored({ choice, stream }: Pane): string[] {
  const { color } = choice;
  if (color === "none") return [];
  return rivalOf(choice, stream.measures) === null
    ? [`to color by ${NAMES[color]}, choose another measure to compare with`]
    : [
        "there are too many numbers to compare in a page; normviz.agreement(flow, …) compares them " +
          "in Python",
      ];
}

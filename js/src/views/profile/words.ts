/** The profile in words: a sentence, tables, a legend. */

import { gapsPhrase } from "../../data/otherLayers";
import { formatNumber, formatPercent } from "../../draw/colors";
import { rankOrder } from "../../math/arrays";
import type { Chart, Focus } from "../../wire/types";
import { type Description, quote } from "../../words/describe";
import { chartLines, describeChart } from "./charts";
import { type Profile, shareAt } from "./data";
import { describeMixing, type Mixing, mixingLines } from "./mixing";
import { type Point, type Scatter, scatterRow } from "./scatter";

const ROWS = 8;

/** The description of a layer, or of the token in focus if its points are known. */
export function describeProfile(
  profile: Profile,
  scatter: Scatter | null,
  focus: Focus | null,
  { layer, isPointed }: { layer: number; isPointed: boolean },
  mixing: Mixing | null = null,
  charts: Chart[] = [],
): Description {
  const row = scatter && !isPointed ? scatterRow(scatter, focus) : null;
  const main =
    scatter && row !== null ? describeToken(scatter, row) : describeLayer(profile, layer);
  const asides = [
    ...(mixing ? [describeMixing(mixing, layer, focus)] : []),
    ...charts.map((chart) => describeChart(chart, layer)),
  ];
  return {
    ...main,
    notes: asides.flatMap(({ notes }) => notes),
    also: asides.flatMap(({ also }) => also),
  };
}

function describeLayer(profile: Profile, layer: number): Description {
  const { kinds, measures, stream } = profile;
  const shares = measures.map((measure) =>
    kinds.map((kind) => shareAt(profile, kind, measure, layer)),
  );
  const count = (id: string) => stream.keys.categories.filter((found) => found === id).length;
  const labels = measures.map(({ label }) => label);
  return {
    sentence: `Layer ${layer}: ${headline(profile, shares)}.`,
    caption: `Layer ${layer}: the share of ${labels.join(" and of ")} by kind of token, all heads`,
    columns: ["n", "kind of token", ...labels],
    rows: kinds.map(({ id, name }, at) => [
      String(count(id)),
      name,
      ...shares.map((by) => formatPercent(by[at])),
    ]),
  };
}

/** Where two measures differ most; for one measure, the largest shares. */
function headline({ kinds, measures }: Profile, [own, other]: number[][]): string {
  const [first, second] = measures.map(({ label }) => label);
  if (other) {
    const [at] = rankOrder(own.map((share, kind) => Math.abs(share - other[kind])));
    const { name } = kinds[at];
    const verb = name === "words" ? "get" : "gets";
    return `${name} ${verb} ${formatPercent(own[at])} of ${first} and ${formatPercent(other[at])} of ${second}`;
  }
  const [at, ...rest] = rankOrder(own).slice(0, 3);
  const verb = kinds[at].name === "words" ? "get" : "gets";
  const more = rest.map((kind) => `, ${kinds[kind].name} ${formatPercent(own[kind])}`).join("");
  return `${kinds[at].name} ${verb} ${formatPercent(own[at])} of ${first}${more}`;
}

function describeToken(scatter: Scatter, row: number): Description {
  const { points, rows, layer, heads } = scatter;
  const own = points.filter((point) => point.row === row);
  const name = quote(rows.labels[row]);
  const phrase = (of: "weight" | "norm", label: string) => {
    const means = meansByRow(scatter, of);
    return `${label} ${formatNumber(means[row])} (number ${rankAmong(means, means[row])} of ${means.length})`;
  };
  const among = (point: Point, of: "weight" | "norm") => {
    const others = points.filter(({ head }) => head === point.head).map((other) => other[of]);
    return rankAmong(others, point[of]);
  };
  const order = rankOrder(own.map(({ weight }) => weight)).slice(0, ROWS);
  const limit = own.length > ROWS ? `, the ${ROWS} heads with most α` : "";
  return {
    sentence:
      `Layer ${layer}, ${headsOf(heads, scatter)}: ${name} gets ${phrase("weight", "mean α")} ` +
      `and has ${phrase("norm", heads.length > 1 ? "mean ‖f(x)‖" : "‖f(x)‖")}.`,
    caption: `${name} (${rows.pieces[row][0]}) in layer ${layer}${limit}`,
    columns: ["head", `rank among ${rows.labels.length}`, "mean α", "‖f(x)‖"],
    rows: order.map((at) => [
      String(own[at].head),
      `${among(own[at], "weight")} by α, ${among(own[at], "norm")} by ‖f(x)‖`,
      formatNumber(own[at].weight),
      formatNumber(own[at].norm),
    ]),
  };
}

/** The rank of a value, from 1. */
function rankAmong(values: number[], own: number): number {
  return values.filter((value) => value > own).length + 1;
}

/** The mean over heads for each row. */
function meansByRow({ points, rows, heads }: Scatter, of: "weight" | "norm"): number[] {
  const means = new Array<number>(rows.labels.length).fill(0);
  for (const point of points) means[point.row] += point[of] / heads.length;
  return means;
}

function headsOf(heads: number[], { stream }: Scatter): string {
  if (heads.length === 1) return `head ${heads[0]}`;
  if (heads.length === stream.heads.length) return `all ${heads.length} heads`;
  return heads.length <= 4
    ? `heads ${heads.join(", ")}`
    : `${heads.length} of ${stream.heads.length} heads`;
}

/** The legend, phrase by phrase. */
export function profileLines(
  profile: Profile,
  scatter: Scatter | null,
  focus: Focus | null,
  mixing: Mixing | null = null,
  charts: Chart[] = [],
): string[] {
  const { measures, hidden, state, stream } = profile;
  const gaps = gapsPhrase(stream);
  const [first, second] = measures.map(({ label }) => label);
  const what = measures[0].axes.includes("query") ? "all that a layer's queries take" : "the sum";
  return [
    `curves: the share of each kind of token in ${what}, all heads together`,
    ...(gaps ? [`gray: no attention in ${gaps}`] : []),
    ...(second ? [`solid ${first}, dashed ${second}`] : []),
    ...(hidden.length > 0
      ? [`hidden: ${hidden.join(", ")}; shares still refer to everything, so they add up to less`]
      : []),
    ...(scatter ? pointLines(scatter, focus) : []),
    ...(mixing ? mixingLines(mixing) : []),
    ...charts.flatMap(chartLines),
    ...(state.words ? ["curves show pieces, points show words (α added, ‖f(x)‖ averaged)"] : []),
  ];
}

function pointLines(scatter: Scatter, focus: Focus | null): string[] {
  const { points, layer, heads, isLog, isCausal, correlation } = scatter;
  const zeros = isLog ? points.filter(({ weight }) => weight <= 0).length : 0;
  return [
    `points: one for each head and key, layer ${layer}, ${headsOf(heads, scatter)}; ` +
      "colors and shapes as in the curves",
    correlationPhrase(correlation, points.length),
    ...(isLog ? ["α on a log scale"] : []),
    ...(zeros > 0 ? [`points on the lower edge (α = 0): ${zeros}`] : []),
    ...(isCausal ? ["mean α over the queries that can see the key"] : []),
    ...(heads.length > 1 && scatterRow(scatter, focus) !== null
      ? ["numbers beside points: heads"]
      : []),
  ];
}

function correlationPhrase(correlation: number | null, count: number): string {
  if (correlation === null) return `too few different points (${count}) for a rank correlation`;
  const sign = correlation < 0 ? "−" : "";
  const size = Math.abs(correlation).toFixed(2);
  return `Spearman ρ = ${sign}${size} over ${count} points`;
}

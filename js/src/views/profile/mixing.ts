/** How much of a token's vector comes from other tokens, by rung and layer. */

import { gapsOf } from "../../data/otherLayers";
import { plainColor, SHAPES } from "../../data/tokenKinds";
import { formatPercent, headColor, type Palette } from "../../draw/colors";
import { sumOf } from "../../math/arrays";
import { measureOf, type Pane } from "../../state/pane";
import type { Focus, Measure, Stream, Tokens } from "../../wire/types";
import { type Aside, quote } from "../../words/describe";
import type { Curve, Lines } from "./data";

export interface Mixing extends Lines {
  stream: Stream;
  queries: Tokens;
  /** The chosen measure if it is a rung with a curve, else the highest rung. */
  rung: Measure;
  /** For each curve, the ratios by layer and query. */
  values: Float32Array[][];
  /** The number of tokens in a mean. */
  count: number;
}

/** The mean over the visible tokens; over all if none is visible. */
export function meanOf(values: ArrayLike<number>, isIn: boolean[]): number {
  const shown = Array.from(values).filter((_, at) => isIn[at]);
  return shown.length > 0
    ? sumOf(shown) / shown.length
    : sumOf(values) / Math.max(1, values.length);
}

/** The curves of a pane; null if there are none, undefined while they are loading. */
export function mixingOf(pane: Pane, palette: Palette): Mixing | null | undefined {
  const { tiles, index, stream, flow, measure, state } = pane;
  const rungs = stream.measures
    .map((id) => measureOf(flow, id))
    .filter(({ family, id }) => family === "ladder" && stream.statistics.includes(`mixing:${id}`))
    .map(({ id }) => id);
  if (rungs.length === 0) return null;
  // Request all layers before returning, so that they load together.
  const tilesOfRungs = rungs.map((id) =>
    stream.layers.map((layer) => tiles.layer(index, stream, `mixing:${id}`, layer)),
  );
  const values = tilesOfRungs.map((layers) => layers.filter((tile) => tile !== null));
  if (values.some((layers) => layers.length < stream.layers.length)) return undefined;
  const isIn = stream.queries.special.map((special) => state.special !== "hidden" || !special);
  const highest = rungs[rungs.length - 1];
  return {
    stream,
    layers: stream.layers,
    gaps: gapsOf(stream),
    queries: stream.queries,
    rung: rungs.includes(measure.id) ? measure : measureOf(flow, highest),
    title: "mixing ratio: share from other tokens",
    about: "mixing ratio by rung of the ladder",
    values,
    count: isIn.includes(true) ? isIn.filter((is) => is).length : isIn.length,
    curves: rungs.map((id, at): Curve => {
      const isChosen = id === measure.id;
      const shape = SHAPES[at % SHAPES.length];
      const color = isChosen ? headColor(null, palette) : plainColor(palette);
      const { label } = measureOf(flow, id);
      const shares = values[at].map((layer) => meanOf(layer, isIn));
      const kind = { id, name: label, color, shape };
      return { kind, name: label, isOther: false, isChosen, shares };
    }),
  };
}

/** The vector that each rung measures, in words. */
const VECTORS: Record<string, string> = {
  attention: "a token's attention output",
  "attention-residual": "a token's vector after the residual",
  "attention-block": "a token's vector after LayerNorm",
  "feed-forward": "a token's feed-forward output",
  "feed-forward-residual": "a token's vector after the second residual",
  "layer-output": "a token's vector after the layer",
};

/** The vector that a rung measures: "a token's vector after LayerNorm". */
export function vectorOf(id: string): string {
  return VECTORS[id] ?? `a token's vector (${id})`;
}

/** The ratio of the chosen rung in a sentence, and of all rungs in a table. */
export function describeMixing(
  { stream, queries, rung, curves, values, count }: Mixing,
  layer: number,
  focus: Focus | null,
): Aside {
  const at = stream.layers.indexOf(layer);
  const own = focus?.role === "query" ? focus.token : null;
  const index = curves.findIndex(({ kind }) => kind.id === rung.id);
  const name = own === null ? "" : quote(queries.pieces[own]);
  const aside = own === null ? "" : `; of ${name} ${formatPercent(values[index][at][own])}`;
  return {
    notes: [
      `In layer ${layer}, ${formatPercent(curves[index].shares[at])} of ${vectorOf(rung.id)} ` +
        `comes from other tokens (mixing ratio${aside}).`,
    ],
    also: [
      {
        caption: `Layer ${layer}: mixing ratio, mean over ${count} tokens`,
        columns: ["", "rung", "mean", ...(own === null ? [] : [name])],
        rows: curves.map(({ name: label, shares }, place) => [
          String(place + 1),
          label,
          formatPercent(shares[at]),
          ...(own === null ? [] : [formatPercent(values[place][at][own])]),
        ]),
      },
    ],
  };
}

export function mixingLines({ count, queries }: Mixing): string[] {
  const left = queries.pieces.length - count;
  return [
    `mixing ratio: the norm of what other tokens contribute, divided by that plus the token's own part; mean over ${count} tokens`,
    ...(left > 0 ? [`${left} hidden special tokens are not in the mean`] : []),
  ];
}

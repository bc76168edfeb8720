/** How much of a token's vector comes from other tokens, rung by rung and layer by layer. */

import { LADDER, vectorOf } from "../../data/ladder";
import { plainColor, SHAPES } from "../../data/tokenKinds";
import { headColor, type Palette, percent } from "../../draw/colors";
import { total } from "../../math/arrays";
import { measureOf, type Pane } from "../../state/pane";
import type { Focus, Measure, Stream, Tokens } from "../../wire/types";
import { type Aside, quoted } from "../../words/describe";
import type { Curve, Lines } from "./data";

export interface Mixing extends Lines {
  stream: Stream;
  queries: Tokens;
  /** The measure that is chosen, where it is a rung with a curve; else the highest rung. */
  told: Measure;
  /** For each curve the ratios by layer and query. */
  values: Float32Array[][];
  /** How many tokens a mean is over. */
  count: number;
}

/** The mean of the tokens that are looked at; of all where none would be left. */
export function meanOf(values: ArrayLike<number>, isIn: boolean[]): number {
  const some = Array.from(values).filter((_, at) => isIn[at]);
  return some.length > 0 ? total(some) / some.length : total(values) / Math.max(1, values.length);
}

/** The curves of a pane; null where none are known, undefined while they are on their way. */
export function mixingOf(pane: Pane, palette: Palette): Mixing | null | undefined {
  const { tiles, index, stream, flow, measure, choice } = pane;
  const rungs = LADDER.filter((id) => stream.statistics.includes(`mixing:${id}`));
  if (rungs.length === 0) return null;
  // All are asked for at once, before any is missed.
  const found = rungs.map((id) =>
    stream.layers.map((layer) => tiles.layer(index, stream, `mixing:${id}`, layer)),
  );
  const values = found.map((layers) => layers.filter((tile) => tile !== null));
  if (values.some((layers) => layers.length < stream.layers.length)) return undefined;
  const isIn = stream.queries.special.map((special) => choice.special !== "hidden" || !special);
  const highest = rungs[rungs.length - 1];
  return {
    stream,
    layers: stream.layers,
    queries: stream.queries,
    told: rungs.includes(measure.id) ? measure : measureOf(flow, highest),
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

/** The ratio of the chosen rung in a sentence, and of all rungs in a table. */
export function describeMixing(
  { stream, queries, told, curves, values, count }: Mixing,
  layer: number,
  focus: Focus | null,
): Aside {
  const at = stream.layers.indexOf(layer);
  const own = focus?.side === "query" ? focus.token : null;
  const rung = curves.findIndex(({ kind }) => kind.id === told.id);
  const name = own === null ? "" : quoted(queries.pieces[own]);
  const aside = own === null ? "" : `; of ${name} ${percent(values[rung][at][own])}`;
  return {
    notes: [
      `In layer ${layer}, ${percent(curves[rung].shares[at])} of ${vectorOf(told.id)} ` +
        `comes from other tokens (mixing ratio${aside}).`,
    ],
    also: [
      {
        caption: `Layer ${layer}: mixing ratio, mean over ${count} tokens`,
        columns: ["", "rung", "mean", ...(own === null ? [] : [name])],
        rows: curves.map(({ name: label, shares }, place) => [
          String(place + 1),
          label,
          percent(shares[at]),
          ...(own === null ? [] : [percent(values[place][at][own])]),
        ]),
      },
    ],
  };
}

export function mixingLines({ count, queries }: Mixing): string[] {
  const left = queries.pieces.length - count;
  return [
    `mixing ratio: the length of what other tokens give together, over that and the token's own part; mean over ${count} tokens`,
    ...(left > 0 ? [`${left} hidden special tokens are not in the mean`] : []),
  ];
}

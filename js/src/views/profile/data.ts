/** The share of each kind of token, layer by layer, in one or two measures. */

import { type Gap, gapsOf } from "../../data/otherLayers";
import { kindsOf, specialKinds, type TokenKind } from "../../data/tokenKinds";
import { formatNumber, formatPercent, type Palette } from "../../draw/colors";
import { measureOf, type Pane } from "../../state/pane";
import type { Measure, Stream, ViewState } from "../../wire/types";

/** One value per layer: the share of a kind of token, a mixing ratio, or a study's result. */
export interface Curve {
  kind: TokenKind;
  /** The label at its end. */
  name: string;
  /** Whether it is the compared one. */
  isOther: boolean;
  /** Whether it is highlighted, or stays in the background. */
  isChosen?: boolean;
  isFaint?: boolean;
  shares: number[];
  /** The uncertainty band. */
  band?: { low: number[]; high: number[] };
}

/** Curves over the layers, and the meaning of their height. */
export interface Lines {
  layers: number[];
  curves: Curve[];
  /** The title of the vertical axis. */
  title: string;
  /** The description for screen readers. */
  about: string;
  /** The upper limit, if the values are not shares. */
  top?: number;
  /** The layers without attention, which are on the axis too. */
  gaps?: Gap[];
}

/** A value of these curves as text. */
export function formatHeight({ top }: Lines, height: number): string {
  return top === undefined ? formatPercent(height) : formatNumber(height);
}

export interface Profile extends Lines {
  stream: Stream;
  curves: (Curve & { measure: Measure })[];
  state: ViewState;
  measures: Measure[];
  kinds: TokenKind[];
  /** The kinds that are hidden with the special tokens. */
  hidden: string[];
}

/** The measure that a pane is compared with, if any. */
export function otherMeasure({ flow, stream, measure, state }: Pane): Measure | null {
  const { compare } = state;
  const isHeld = typeof compare === "string" && stream.measures.includes(compare);
  return isHeld && compare !== measure.id ? measureOf(flow, compare) : null;
}

/** The curves of a pane, or null while their numbers are loading. */
export function profileOf(pane: Pane, palette: Palette): Profile | null {
  const { tiles, index, stream, state } = pane;
  const other = otherMeasure(pane);
  const measures = other ? [pane.measure, other] : [pane.measure];
  const overviews = measures.map((measure) => tiles.overview(index, stream, measure.id));
  if (overviews.some((tile) => tile === null)) return null;
  const shares = overviews.map((tile) => tile?.about.shares ?? {});
  const left = state.special === "hidden" ? specialKinds(stream.keys) : new Set<string>();
  const every = kindsOf(Object.keys(shares[0]), palette);
  const shown = every.filter(({ id }) => !left.has(id));
  // A text of only special tokens would otherwise be empty.
  const kinds = shown.length > 0 ? shown : every;
  const takes = pane.measure.axes.includes("query");
  const aside = measures.some(({ signed }) => signed) ? ", signs aside" : "";
  return {
    stream,
    layers: stream.layers,
    gaps: gapsOf(stream),
    state,
    measures,
    kinds,
    title: `${takes ? "share of all that the layer's queries take" : "share of the layer's sum"}${aside}`,
    about: `${measures.map(({ label }) => label).join(" and ")} by kind of token`,
    hidden: every.filter((kind) => !kinds.includes(kind)).map(({ name }) => name),
    curves: measures.flatMap((measure, at) =>
      kinds.map((kind) => {
        const name = measures.length > 1 ? `${kind.name} ${measure.label}` : kind.name;
        return { kind, name, measure, isOther: at > 0, shares: shares[at][kind.id] ?? [] };
      }),
    ),
  };
}

/** The share of a kind in a measure, in one layer. */
export function shareAt(
  { stream, curves }: Profile,
  kind: TokenKind,
  measure: Measure,
  layer: number,
) {
  const curve = curves.find((c) => c.kind.id === kind.id && c.measure.id === measure.id);
  return curve?.shares[stream.layers.indexOf(layer)] ?? 0;
}

/** Who is read from, layer by layer: the share of each kind of token in one measure or two. */

import { type Kind, kindsOf, specialKinds } from "../../data/tokenKinds";
import { number, type Palette, percent } from "../../draw/colors";
import { measureOf, type Pane } from "../../state/pane";
import type { Choice, Measure, Stream } from "../../wire/types";

/** One share, by layer: of a kind of token in a measure, of what a rung mixes in, of a study. */
export interface Curve {
  kind: Kind;
  /** What stands at its end. */
  name: string;
  /** Whether it is what another is compared with. */
  isOther: boolean;
  /** Whether it stands out among its like, or stays behind them. */
  isChosen?: boolean;
  isFaint?: boolean;
  shares: number[];
  /** Between which shares the truth may lie. */
  band?: { low: number[]; high: number[] };
}

/** Curves over the layers, and what their height is. */
export interface Lines {
  layers: number[];
  curves: Curve[];
  /** What the upright axis shows. */
  title: string;
  /** What is drawn, for those who cannot see it. */
  about: string;
  /** What its top stands for, where the heights are no shares but numbers from 0 on. */
  top?: number;
}

/** A height of these curves as a reader would write it. */
export function told({ top }: Lines, height: number): string {
  return top === undefined ? percent(height) : number(height);
}

export interface Profile extends Lines {
  stream: Stream;
  curves: (Curve & { measure: Measure })[];
  choice: Choice;
  measures: Measure[];
  kinds: Kind[];
  /** The kinds that are left out, because special tokens are hidden. */
  hidden: string[];
}

/** The measure that a pane compares with inside itself, if any. */
export function otherMeasure({ flow, stream, measure, choice }: Pane): Measure | null {
  const { compare } = choice;
  const isHeld = typeof compare === "string" && stream.measures.includes(compare);
  return isHeld && compare !== measure.id ? measureOf(flow, compare) : null;
}

/** The curves of a pane, or null while their numbers are on their way. */
export function profileOf(pane: Pane, palette: Palette): Profile | null {
  const { tiles, index, stream, choice } = pane;
  const other = otherMeasure(pane);
  const measures = other ? [pane.measure, other] : [pane.measure];
  const found = measures.map((measure) => tiles.overview(index, stream, measure.id));
  if (found.some((tile) => tile === null)) return null;
  const shares = found.map((tile) => tile?.about.shares ?? {});
  const left = choice.special === "hidden" ? specialKinds(stream.keys) : new Set<string>();
  const every = kindsOf(Object.keys(shares[0]), palette);
  const some = every.filter(({ id }) => !left.has(id));
  // A text of special tokens only would leave nothing to look at.
  const kinds = some.length > 0 ? some : every;
  const takes = pane.measure.axes.includes("query");
  const aside = measures.some(({ signed }) => signed) ? ", signs aside" : "";
  return {
    stream,
    layers: stream.layers,
    choice,
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
export function shareAt({ stream, curves }: Profile, kind: Kind, measure: Measure, layer: number) {
  const curve = curves.find((c) => c.kind.id === kind.id && c.measure.id === measure.id);
  return curve?.shares[stream.layers.indexOf(layer)] ?? 0;
}

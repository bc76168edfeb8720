/** Every layer and head colored by how far two measures agree in it. */

import { contrast, oklch, type Palette } from "../../draw/colors";
import {
  type Agreement,
  agreements,
  apart,
  BEST,
  COMPARISONS,
  type Comparison,
  type HeadAgreement,
  type Layer,
  mean,
} from "../../math/agreement";
import { most } from "../../math/arrays";
import { measureOf, type Pane } from "../../state/pane";
import type { Tiles } from "../../state/tiles";
import type { Choice, Measure } from "../../wire/types";

/** How long a page may stand still for the arithmetic at once, in milliseconds. */
const PATIENCE = 40;

/** Full color is never less than this far from agreement, so that trifles stay pale. */
const LEAST = 0.1;

/** How far the two agree in what one small picture shows. */
export interface Cell extends Agreement {
  /** The head where they agree least, by its place; null where there are no heads. */
  head: number | null;
  /** The query where they differ most there. */
  query: number | null;
}

export interface Coloring {
  by: Comparison;
  first: Measure;
  second: Measure;
  /** For each layer that has been worked out, its small pictures. */
  cells: Map<number, Cell[]>;
  /** Whether each number is a mean over heads: the second measure has them, the first does not. */
  isMean: boolean;
  /** What full color stands for, as the distance from agreement. */
  full: number;
  /** Whether every layer has been worked out. */
  isWhole: boolean;
}

/** The measure that a choice compares with; null where it compares with something else. */
export function rivalOf({ compare }: Choice, measures: string[]): string | null {
  return typeof compare === "string" && measures.includes(compare) ? compare : null;
}

type Layers = Map<number, HeadAgreement[]>;

/** Works out a pane's colors, as many at a time as the page can bear, and remembers them. */
export class Colors {
  #of = "";
  #layers: Layers = new Map();
  #work: Generator<boolean> | null = null;
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** The colors so far, or null where there are none; the next news brings what is missing. */
  of(pane: Pane): Coloring | null {
    const { choice, stream, index, flow, measure, tiles } = pane;
    const rival = rivalOf(choice, stream.measures);
    if (choice.color === "none" || rival === null || tiles.isLarge(stream)) return null;
    const second = measureOf(flow, rival);
    const wanted = [index, stream.name, measure.id, rival].join("/");
    if (wanted !== this.#of) {
      this.#of = wanted;
      this.#layers = new Map();
      this.#work = working(pane, second, this.#layers);
    }
    try {
      this.#advance(tiles);
    } catch (reason) {
      this.#of = ""; // so that it is tried again, and not only waited for
      throw reason;
    }
    return coloring(pane, second, choice.color, this.#layers);
  }

  #advance({ news }: Tiles): void {
    const start = performance.now();
    while (this.#work?.next().value) {
      if (performance.now() - start <= PATIENCE) continue;
      // The page breathes, and then draws again.
      setTimeout(() => {
        if (!this.#signal.aborted) news.set(news.value + 1);
      });
      return;
    }
  }
}

/** Goes through layers and heads; true after each head, false while numbers are on their way. */
function* working(pane: Pane, second: Measure, layers: Layers): Generator<boolean> {
  const { stream } = pane;
  const size = { queries: stream.queries.pieces.length, keys: stream.keys.pieces.length };
  for (const layer of stream.layers) {
    let [one, other] = pairIn(pane, second, layer);
    while (!one || !other) {
      yield false;
      [one, other] = pairIn(pane, second, layer);
    }
    const heads: HeadAgreement[] = [];
    for (const told of agreements(one, other, size)) {
      heads.push(told);
      yield true;
    }
    layers.set(layer, heads);
  }
}

/** A layer of both measures; null for what is on its way. */
function pairIn({ tiles, index, stream, measure }: Pane, second: Measure, layer: number) {
  return [measure, second].map(({ id, axes }): Layer | null => {
    const values = tiles.layer(index, stream, id, layer);
    return values && { values, hasHead: axes.includes("head"), hasQuery: axes.includes("query") };
  });
}

function coloring(
  { measure, stream }: Pane,
  second: Measure,
  by: Comparison,
  layers: Layers,
): Coloring {
  const isMean = !measure.axes.includes("head") && second.axes.includes("head");
  const found = [...layers].map(([layer, heads]): [number, Cell[]] => [
    layer,
    isMean ? [together(heads, by)] : heads.map((told, head) => cellOf(told, head, by)),
  ]);
  const values = found.flatMap(([, cells]) => cells.map((cell) => cell[by]));
  const known = values.filter((value) => value !== null);
  return {
    by,
    first: measure,
    second,
    cells: new Map(found),
    isMean,
    full: Math.max(LEAST, most(known.map((value) => apart(by, value)))),
    isWhole: layers.size === stream.layers.length,
  };
}

function cellOf({ worst, ...told }: HeadAgreement, head: number | null, by: Comparison): Cell {
  return { ...told, head, query: worst[by] };
}

/** All heads in one: their mean, and the head where the two agree least. */
function together(heads: HeadAgreement[], by: Comparison): Cell {
  const aparts = heads.map(({ [by]: value }) => (value === null ? -1 : apart(by, value)));
  const least = aparts.indexOf(most(aparts));
  const means = COMPARISONS.map((name) => [name, mean(heads.map((told) => told[name]))]);
  const { query } = cellOf(heads[Math.max(0, least)], null, by);
  return { ...(Object.fromEntries(means) as Agreement), head: Math.max(0, least), query };
}

/** How strongly a number is colored, from 0 for agreement to 1 for the least agreement here. */
export function strength({ by, full }: Coloring, value: number): number {
  return Math.min(1, apart(by, value) / full);
}

/** The number at which a tile has full color. */
export function fullest({ by, full }: Coloring): number {
  return by === "distance" ? full : BEST[by] - full;
}

const HUE = 62;

/** From almost paper to a warm color on which ink can still be read. */
export function wash({ paper }: Palette): (part: number) => string {
  const isDark = contrast(paper, "#000000") < 4.5;
  const [pale, full] = isDark ? [0.27, 0.5] : [0.965, 0.76];
  return (part) => oklch(pale + (full - pale) * part, 0.008 + 0.142 * part ** 0.8, HUE);
}

/** The same as a CSS background, for a legend. */
export function washGradient(palette: Palette): string {
  const color = wash(palette);
  const stops = Array.from({ length: 9 }, (_, step) => color(step / 8));
  return `linear-gradient(to right, ${stops.join(", ")})`;
}

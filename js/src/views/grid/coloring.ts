/** Colors every layer and head by the agreement of two measures. */

import { contrast, oklch, type Palette } from "../../draw/colors";
import {
  type Agreement,
  agreementByHead,
  BEST,
  COMPARISONS,
  type Comparison,
  disagreementOf,
  type HeadAgreement,
  type LayerValues,
  meanOfKnown,
} from "../../math/agreement";
import { maxOf } from "../../math/arrays";
import { measureOf, type Pane } from "../../state/pane";
import type { Tiles } from "../../state/tiles";
import type { Measure, ViewState } from "../../wire/types";

/** The longest time to block the page, in milliseconds. */
const MAX_PAUSE = 40;

/** The full color is at least this far from agreement, so that small differences stay pale. */
const LEAST = 0.1;

/** The agreement of two measures in one thumbnail. */
export interface TileAgreement extends Agreement {
  /** The index of the head where they agree least; null if there are no heads. */
  head: number | null;
  /** The query where they differ most. */
  query: number | null;
}

export interface Coloring {
  by: Comparison;
  first: Measure;
  second: Measure;
  /** The tiles of each finished layer. */
  cells: Map<number, TileAgreement[]>;
  /** Whether each value is a mean over heads: only the second measure has heads. */
  isMean: boolean;
  /** The distance from agreement of the full color. */
  full: number;
  /** Whether every layer is finished. */
  isWhole: boolean;
}

/** The measure that a state compares with; null if it compares with something else. */
export function comparedMeasure({ compare }: ViewState, measures: string[]): string | null {
  return typeof compare === "string" && measures.includes(compare) ? compare : null;
}

type Layers = Map<number, HeadAgreement[]>;

/** Computes a pane's colors in short steps, and remembers them. */
export class ColoringWorker {
  #of = "";
  #layers: Layers = new Map();
  #work: Generator<boolean> | null = null;
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** The colors so far, or null if there are none; the rest follows with the next change of the tiles. */
  of(pane: Pane): Coloring | null {
    const { state, stream, index, flow, measure, tiles } = pane;
    const compared = comparedMeasure(state, stream.measures);
    if (state.color_by === "none" || compared === null || tiles.isLarge(stream)) return null;
    const second = measureOf(flow, compared);
    const key = [index, stream.name, measure.id, compared].join("/");
    if (key !== this.#of) {
      this.#of = key;
      this.#layers = new Map();
      this.#work = compareLayers(pane, second, this.#layers);
    }
    try {
      this.#advance(tiles);
    } catch (reason) {
      this.#of = ""; // so that it is tried again
      throw reason;
    }
    return coloringOf(pane, second, state.color_by, this.#layers);
  }

  #advance({ changed }: Tiles): void {
    const start = performance.now();
    while (this.#work?.next().value) {
      if (performance.now() - start <= MAX_PAUSE) continue;
      // Let the page respond, then draw again.
      setTimeout(() => {
        if (!this.#signal.aborted) changed.set(changed.value + 1);
      });
      return;
    }
  }
}

/** Goes through layers and heads; yields true after each head, false while numbers are loading. */
function* compareLayers(pane: Pane, second: Measure, layers: Layers): Generator<boolean> {
  const { stream } = pane;
  const size = { queries: stream.queries.pieces.length, keys: stream.keys.pieces.length };
  for (const layer of stream.layers) {
    let [one, other] = layerPair(pane, second, layer);
    while (!one || !other) {
      yield false;
      [one, other] = layerPair(pane, second, layer);
    }
    const heads: HeadAgreement[] = [];
    for (const agreement of agreementByHead(one, other, size)) {
      heads.push(agreement);
      yield true;
    }
    layers.set(layer, heads);
  }
}

/** A layer of both measures; null while loading. */
function layerPair({ tiles, index, stream, measure }: Pane, second: Measure, layer: number) {
  return [measure, second].map(({ id, axes }): LayerValues | null => {
    const values = tiles.layer(index, stream, id, layer);
    return values && { values, hasHead: axes.includes("head"), hasQuery: axes.includes("query") };
  });
}

function coloringOf(
  { measure, stream }: Pane,
  second: Measure,
  by: Comparison,
  layers: Layers,
): Coloring {
  const isMean = !measure.axes.includes("head") && second.axes.includes("head");
  const tilesByLayer = [...layers].map(([layer, heads]): [number, TileAgreement[]] => [
    layer,
    isMean
      ? [meanOfHeads(heads, by)]
      : heads.map((agreement, head) => tileOfHead(agreement, head, by)),
  ]);
  const values = tilesByLayer.flatMap(([, cells]) => cells.map((cell) => cell[by]));
  const known = values.filter((value) => value !== null);
  return {
    by,
    first: measure,
    second,
    cells: new Map(tilesByLayer),
    isMean,
    full: Math.max(LEAST, maxOf(known.map((value) => disagreementOf(by, value)))),
    isWhole: layers.size === stream.layers.length,
  };
}

function tileOfHead(
  { worst, ...told }: HeadAgreement,
  head: number | null,
  by: Comparison,
): TileAgreement {
  return { ...told, head, query: worst[by] };
}

/** All heads in one tile: their mean, and the head where the two agree least. */
function meanOfHeads(heads: HeadAgreement[], by: Comparison): TileAgreement {
  const aparts = heads.map(({ [by]: value }) => (value === null ? -1 : disagreementOf(by, value)));
  const least = aparts.indexOf(maxOf(aparts));
  const means = COMPARISONS.map((name) => [
    name,
    meanOfKnown(heads.map((agreement) => agreement[name])),
  ]);
  const { query } = tileOfHead(heads[Math.max(0, least)], null, by);
  return { ...(Object.fromEntries(means) as Agreement), head: Math.max(0, least), query };
}

/** The color strength of a value, from 0 for agreement to 1 for the least agreement here. */
export function strength({ by, full }: Coloring, value: number): number {
  return Math.min(1, disagreementOf(by, value) / full);
}

/** The value of the full color. */
export function fullColorValue({ by, full }: Coloring): number {
  return by === "distance" ? full : BEST[by] - full;
}

const HUE = 62;

/** A ramp from almost paper to a warm color on which ink is legible. */
export function washColors({ paper }: Palette): (part: number) => string {
  const isDark = contrast(paper, "#000000") < 4.5;
  const [pale, full] = isDark ? [0.27, 0.5] : [0.965, 0.76];
  return (part) => oklch(pale + (full - pale) * part, 0.008 + 0.142 * part ** 0.8, HUE);
}

/** The ramp as a CSS background, for a legend. */
export function washGradient(palette: Palette): string {
  const color = washColors(palette);
  const stops = Array.from({ length: 9 }, (_, step) => color(step / 8));
  return `linear-gradient(to right, ${stops.join(", ")})`;
}

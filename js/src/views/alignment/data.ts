/** Words aligned by cross-attention: the arithmetic, as in `normviz.align`. */

import { planesOf } from "../../data/layer";
import { argmax, maxOf, sumOf, sumPlanes } from "../../math/arrays";
import { measureOf, type Pane } from "../../state/pane";
import type { Link, Measure, TargetRow, Tokens } from "../../wire/types";

/** A word and its pieces. */
export interface Word {
  label: string;
  pieces: number[];
}

/** The words of a text, and separately its special tokens. */
export interface SplitWords {
  words: Word[];
  special: Word[];
}

export interface Alignment {
  measure: Measure;
  source: Word[];
  target: Word[];
  /** The source's special tokens; a word that takes most from them has no link. */
  special: Word[];
  /** What each target word takes from each source word, then from each special token [target column]. */
  values: Float32Array;
  /** The sum of magnitudes of each target word. */
  wholes: number[];
  /** The column from which each target word takes most; null if it takes nothing or has no row. */
  best: (number | null)[];
}

/** Words in order of their first piece; special tokens are separate. */
export function splitWords({ words, special, word_texts, pieces }: Tokens): SplitWords {
  const byIndex = new Map<number, Word>();
  const specialWords: Word[] = [];
  words.forEach((word, piece) => {
    const known = byIndex.get(word) ?? { label: word_texts[word], pieces: [] };
    if (special[piece]) specialWords.push({ label: pieces[piece], pieces: [piece] });
    else byIndex.set(word, { ...known, pieces: [...known.pieces, piece] });
  });
  return { words: [...byIndex.values()], special: specialWords };
}

/** Whether a measure can align words: it needs queries. */
export function canAlign({ axes }: Measure): boolean {
  return axes.includes("query");
}

/**
 * The measure that defines the links. For all heads together, ‖αf(x)‖ is the norm of the sum over
 * heads if the flow holds it, not the sum of norms.
 */
export function alignmentMeasure({ flow, stream, measure, state }: Pane): Measure {
  const isSum = measure.id === "weighted-norm" && state.heads === null;
  return isSum && stream.measures.includes("attention") ? measureOf(flow, "attention") : measure;
}

/** The alignment of a pane, or null while its numbers are loading. */
export function alignmentOf(pane: Pane): Alignment | null {
  const { stream, state } = pane;
  const measure = alignmentMeasure(pane);
  const layer = planesOf({ ...pane, measure });
  if (!layer) return null;
  const keys = stream.keys.pieces.length;
  const values = sumPlanes(layer.values, stream.queries.pieces.length * keys);
  const { words: source, special } = splitWords(stream.keys);
  const { words: target } = splitWords(stream.queries);
  const columns = [...source, ...special];
  const rows = target.map((word) => rowOf(values, keys, word, columns, state.target_row));
  return {
    measure,
    source,
    target,
    special,
    values: Float32Array.from(rows.flatMap((row) => row ?? columns.map(() => 0))),
    wholes: rows.map((row) => sumOf((row ?? []).map(Math.abs))),
    best: rows.map((row) => (row && maxOf(row) > 0 ? argmax(row) : null)),
  };
}

/** What a word takes from each column: added over keys, averaged over queries; null without a row. */
function rowOf(
  values: Float32Array,
  keys: number,
  { pieces }: Word,
  columns: Word[],
  targetRow: TargetRow,
): number[] | null {
  const queries = pieces.map((piece) => piece - (targetRow === "output" ? 1 : 0));
  const rows = queries.filter((query) => query >= 0);
  if (rows.length === 0 || columns.length === 0) return null;
  return columns.map(
    (column) =>
      sumOf(rows.flatMap((query) => column.pieces.map((key) => values[query * keys + key]))) /
      rows.length,
  );
}

/** The links: each target word with the source word from which it takes most. */
export function linksOf({ best, source }: Alignment): Link[] {
  return best.flatMap((column, target): Link[] =>
    column !== null && column < source.length ? [[column, target]] : [],
  );
}

/** The share of one source word in what a target word takes. */
export function shareOf(alignment: Alignment, target: number, column: number): number {
  const { values, wholes, source, special } = alignment;
  const value = values[target * (source.length + special.length) + column];
  return wholes[target] > 0 ? Math.abs(value) / wholes[target] : 0;
}

/** The share of all special tokens in what a target word takes. */
export function specialShareOf(alignment: Alignment, target: number): number {
  const { source, special } = alignment;
  return sumOf(special.map((_, at) => shareOf(alignment, target, source.length + at)));
}

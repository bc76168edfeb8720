/** Words aligned by what goes from one text to another: the arithmetic, as in `normviz.align`. */

import { layerOf } from "../../data/layer";
import { greatest, most, summed, total } from "../../math/arrays";
import { measureOf, type Pane } from "../../state/pane";
import type { Link, Measure, Setting, Tokens } from "../../wire/types";

/** A word and the pieces it is made of. */
export interface Word {
  label: string;
  pieces: number[];
}

/** The words of a text, and apart from them the special tokens, which no word is aligned with. */
export interface Counted {
  words: Word[];
  special: Word[];
}

export interface Alignment {
  measure: Measure;
  source: Word[];
  target: Word[];
  /** The source's special tokens: what is best there has no link. */
  special: Word[];
  /** What each target word takes of each source word, then of each special token [target column]. */
  values: Float32Array;
  /** All that each target word takes, signs aside. */
  wholes: number[];
  /** The column of which each target word takes most; null where it takes nothing, or has no row. */
  best: (number | null)[];
}

/** Words in the order in which they begin; a special token is never part of one. */
export function counted({ words, special, word_texts, pieces }: Tokens): Counted {
  const found = new Map<number, Word>();
  const apart: Word[] = [];
  words.forEach((word, piece) => {
    const held = found.get(word) ?? { label: word_texts[word], pieces: [] };
    if (special[piece]) apart.push({ label: pieces[piece], pieces: [piece] });
    else found.set(word, { ...held, pieces: [...held.pieces, piece] });
  });
  return { words: [...found.values()], special: apart };
}

/** Whether links can be read off a measure: it must say what each query takes. */
export function aligns({ axes }: Measure): boolean {
  return axes.includes("query");
}

/**
 * The measure that links are read off: through all heads together, the length of what is moved is
 * that of the sum over the heads, where it is held, and not the sum of lengths.
 */
export function alignedBy({ flow, stream, measure, choice }: Pane): Measure {
  const isSum = measure.id === "weighted-norm" && choice.heads === null;
  return isSum && stream.measures.includes("attention") ? measureOf(flow, "attention") : measure;
}

/** The alignment of a pane, or null while its numbers are on their way. */
export function alignmentOf(pane: Pane): Alignment | null {
  const { stream, choice } = pane;
  const measure = alignedBy(pane);
  const layer = layerOf({ ...pane, measure });
  if (!layer) return null;
  const keys = stream.keys.pieces.length;
  const values = summed(layer.values, stream.queries.pieces.length * keys);
  const { words: source, special } = counted(stream.keys);
  const { words: target } = counted(stream.queries);
  const columns = [...source, ...special];
  const rows = target.map((word) => rowOf(values, keys, word, columns, choice.setting));
  return {
    measure,
    source,
    target,
    special,
    values: Float32Array.from(rows.flatMap((row) => row ?? columns.map(() => 0))),
    wholes: rows.map((row) => total((row ?? []).map(Math.abs))),
    best: rows.map((row) => (row && most(row) > 0 ? greatest(row) : null)),
  };
}

/** What a word takes of each column: added over keys, averaged over queries; null without a row. */
function rowOf(
  values: Float32Array,
  keys: number,
  { pieces }: Word,
  columns: Word[],
  setting: Setting,
): number[] | null {
  const queries = pieces.map((piece) => piece - (setting === "output" ? 1 : 0));
  const held = queries.filter((query) => query >= 0);
  if (held.length === 0 || columns.length === 0) return null;
  return columns.map(
    (column) =>
      total(held.flatMap((query) => column.pieces.map((key) => values[query * keys + key]))) /
      held.length,
  );
}

/** The links: each target word with the source word of which it takes most. */
export function linksOf({ best, source }: Alignment): Link[] {
  return best.flatMap((column, target): Link[] =>
    column !== null && column < source.length ? [[column, target]] : [],
  );
}

/** Which part of what a target word takes is of one source word. */
export function shareOf(alignment: Alignment, target: number, column: number): number {
  const { values, wholes, source, special } = alignment;
  const value = values[target * (source.length + special.length) + column];
  return wholes[target] > 0 ? Math.abs(value) / wholes[target] : 0;
}

/** Which part of what a target word takes is of the special tokens, all together. */
export function noneOf(alignment: Alignment, target: number): number {
  const { source, special } = alignment;
  return total(special.map((_, at) => shareOf(alignment, target, source.length + at)));
}

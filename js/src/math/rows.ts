/** The rows in which a text is shown: pieces or words, with or without special tokens. */

import type { Tokens, ViewState } from "../wire/types";

/** The rows of one role; each represents one or more pieces. */
export interface TokenRows {
  labels: string[];
  special: boolean[];
  categories: string[];
  /** The pieces of each row. */
  pieces: number[][];
  /** The row of each piece; -1 if it is hidden. */
  rowOf: number[];
}

/** Tokens as rows. */
export function rowsOf(
  tokens: Tokens,
  { words, special }: Pick<ViewState, "words" | "special">,
): TokenRows {
  const every = words ? wordsOf(tokens) : tokens.pieces.map((_, piece) => [piece]);
  const isShown = ([first]: number[]) => special !== "hidden" || !tokens.special[first];
  const shown = every.filter(isShown);
  // A text of only special tokens would otherwise be empty.
  const pieces = shown.length > 0 ? shown : every;
  const rowOf = tokens.pieces.map(() => -1);
  pieces.forEach((row, index) => {
    for (const piece of row) rowOf[piece] = index;
  });
  return {
    labels: pieces.map(([first]) =>
      words ? tokens.word_texts[tokens.words[first]] : tokens.pieces[first],
    ),
    special: pieces.map(([first]) => tokens.special[first]),
    categories: pieces.map(([first]) => tokens.categories[first]),
    pieces,
    rowOf,
  };
}

function wordsOf({ words, word_texts }: Tokens): number[][] {
  const pieces: number[][] = word_texts.map(() => []);
  words.forEach((word, piece) => {
    pieces[word].push(piece);
  });
  return pieces;
}

/** Whether every piece is a row. */
function isUnmerged({ pieces, rowOf }: TokenRows): boolean {
  return pieces.length === rowOf.length;
}

/** Values between pieces as values between rows: added over keys, averaged over queries. */
export function pairsToRows(
  values: Float32Array,
  queries: TokenRows,
  keys: TokenRows,
): Float32Array {
  if (isUnmerged(queries) && isUnmerged(keys)) return values;
  const [across, down] = [keys.rowOf.length, queries.rowOf.length];
  const size = across * down;
  const count = size > 0 ? values.length / size : 0;
  const [rows, columns] = [queries.pieces.length, keys.pieces.length];
  const merged = new Float32Array(count * rows * columns);
  for (let plane = 0; plane < count; plane++) {
    for (let query = 0; query < down; query++) {
      const row = queries.rowOf[query];
      if (row < 0) continue;
      const from = plane * size + query * across;
      const to = (plane * rows + row) * columns;
      const part = 1 / queries.pieces[row].length;
      for (let key = 0; key < across; key++) {
        const column = keys.rowOf[key];
        if (column >= 0) merged[to + column] += values[from + key] * part;
      }
    }
  }
  return merged;
}

/** Values of pieces [plane key] as values of rows, averaged. */
export function keysToRows(values: Float32Array, keys: TokenRows): Float32Array {
  if (isUnmerged(keys)) return values;
  const across = keys.rowOf.length;
  const count = across > 0 ? values.length / across : 0;
  const merged = new Float32Array(count * keys.pieces.length);
  values.forEach((value, at) => {
    const row = keys.rowOf[at % across];
    if (row < 0) return;
    const plane = Math.floor(at / across);
    merged[plane * keys.pieces.length + row] += value / keys.pieces[row].length;
  });
  return merged;
}

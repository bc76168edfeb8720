/** How a text is looked at: in pieces or in words, with its special tokens or without. */

import type { Choice, Tokens } from "../wire/types";

/** The rows that a side shows; each stands for one piece or more. */
export interface Rows {
  labels: string[];
  special: boolean[];
  categories: string[];
  /** The pieces that each row stands for. */
  pieces: number[][];
  /** The row of each piece; -1 where it is hidden. */
  rowOf: number[];
}

/** A side's tokens as rows. */
export function rowsOf(
  tokens: Tokens,
  { words, special }: Pick<Choice, "words" | "special">,
): Rows {
  const every = words ? wordsOf(tokens) : tokens.pieces.map((_, piece) => [piece]);
  const isShown = ([first]: number[]) => special !== "hidden" || !tokens.special[first];
  const some = every.filter(isShown);
  // A text of special tokens only would leave nothing to look at.
  const pieces = some.length > 0 ? some : every;
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

/** Whether rows are the pieces themselves. */
function isPlain({ pieces, rowOf }: Rows): boolean {
  return pieces.length === rowOf.length;
}

/** Numbers between pieces as numbers between rows: added over keys, averaged over queries. */
export function between(values: Float32Array, queries: Rows, keys: Rows): Float32Array {
  if (isPlain(queries) && isPlain(keys)) return values;
  const [across, down] = [keys.rowOf.length, queries.rowOf.length];
  const size = across * down;
  const count = size > 0 ? values.length / size : 0;
  const [rows, columns] = [queries.pieces.length, keys.pieces.length];
  const found = new Float32Array(count * rows * columns);
  for (let plane = 0; plane < count; plane++) {
    for (let query = 0; query < down; query++) {
      const row = queries.rowOf[query];
      if (row < 0) continue;
      const from = plane * size + query * across;
      const to = (plane * rows + row) * columns;
      const part = 1 / queries.pieces[row].length;
      for (let key = 0; key < across; key++) {
        const column = keys.rowOf[key];
        if (column >= 0) found[to + column] += values[from + key] * part;
      }
    }
  }
  return found;
}

/** Numbers of pieces [plane key] as numbers of rows, averaged. */
export function along(values: Float32Array, keys: Rows): Float32Array {
  if (isPlain(keys)) return values;
  const across = keys.rowOf.length;
  const count = across > 0 ? values.length / across : 0;
  const found = new Float32Array(count * keys.pieces.length);
  values.forEach((value, at) => {
    const row = keys.rowOf[at % across];
    if (row < 0) return;
    const plane = Math.floor(at / across);
    found[plane * keys.pieces.length + row] += value / keys.pieces[row].length;
  });
  return found;
}

/** Tokens with chosen words, for the tests of running text. */

import { rowsOf } from "../../src/math/rows";
import { type Run, readRows } from "../../src/views/text/reading";
import type { Tokens } from "../../src/wire/types";

/** Tokens whose words are given as lists of pieces; those in brackets are special. */
export function tokensOf(words: (string | string[])[]): Tokens {
  const groups = words.map((word) => (typeof word === "string" ? [word] : word));
  const pieces = groups.flat();
  const special = pieces.map((piece) => /^\[\w+\]$/.test(piece));
  return {
    pieces,
    ids: pieces.map((_, at) => at),
    special,
    words: groups.flatMap((group, word) => group.map(() => word)),
    categories: special.map((is) => (is ? "special" : "other")),
    word_texts: groups.map((group) => group.join("")),
  };
}

export function runsOf(words: (string | string[])[], isMerged = false): Run[] {
  const tokens = tokensOf(words);
  return readRows(rowsOf(tokens, { words: isMerged, special: "shown" }), tokens);
}

/** Runs as one would read them: a line for each line. */
export function spelled(runs: Run[]): string {
  const between = { line: "\n", space: " ", direct: "", glued: "" };
  return runs.map(({ text, joint }, at) => (at > 0 ? between[joint] : "") + text).join("");
}

/** Running text: what is written for each row of tokens, and how it follows the row before. */

import { visibleText } from "../../draw/dom";
import type { TokenRows } from "../../math/rows";
import type { Tokens } from "../../wire/types";

/** How a row follows the one before: on a new line, after a space, directly, or inseparably. */
export type Joint = "line" | "space" | "direct" | "glued";

/** One row as it is written. */
export interface Run {
  text: string;
  joint: Joint;
  /** Whether it continues the word of the row before. */
  continues: boolean;
  special: boolean;
  /** How many line breaks of the text are in it. */
  breaks: number;
  /** What a search finds: lower case, and empty for the rest of a split character. */
  sought: string;
}

/** Punctuation that follows a word without a space, and punctuation that a word follows so. */
const CLOSING = ")]}.,;:!?%…”’»›،؛؟、。，．：；！？）】》〉」』］｝";
const OPENING = "([{“‘„‚«‹¿¡$£（【《〈「『［｛";

/** Punctuation inside of words and numbers: `well-known`, `it's`, `3.5`. */
const HYPHENS = ["-", "/", "‐", "‑"];
const APOSTROPHES = ["'", "’"];
const ENDINGS = /^(s|t|m|d|re|ve|ll)$/i;
const POINTS = [".", ",", ":"];

/** Scripts that are written without spaces. */
const SPACELESS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff01-\uff65]/u;

/** The mark of a piece that continues a word, as WordPiece writes it. */
const CONTINUATION = /^##(?=\S)/;

/** A character that was split over several tokens is shown whole in each, such as `🙂 2/3`. */
const SPLIT = /^(.+) (\d+)\/\d+$/su;

/** The runs of a text. Pieces do not say where spaces were; words and punctuation suggest it. */
export function readRows(rows: TokenRows, tokens: Tokens): Run[] {
  const runs = rows.pieces.map((pieces, row) => readRow(rows, tokens, pieces[0], row));
  let isQuoted = false;
  let opensQuote = false;
  runs.forEach((run, at) => {
    if (at === 0 || runs[at - 1].breaks > 0) [run.joint, isQuoted] = ["line", false];
    else if (run.joint !== "glued") run.joint = jointOf(runs, at, opensQuote);
    opensQuote = false;
    if (run.text !== '"') return;
    // Straight quotes open and close in turn.
    if (isQuoted && run.joint === "space") run.joint = "glued";
    isQuoted = !isQuoted;
    opensQuote = isQuoted;
  });
  return runs;
}

function readRow(rows: TokenRows, tokens: Tokens, piece: number, row: number): Run {
  const label = rows.labels[row];
  const word = tokens.words[piece];
  const isMarked = CONTINUATION.test(label) && row > 0 && !rows.special[row - 1];
  const continues = isMarked || (piece > 0 && row > 0 && tokens.words[piece - 1] === word);
  const [, whole, part] = (tokens.word_texts[word] !== label && SPLIT.exec(label)) || [];
  const written = whole ?? (continues ? label.replace(CONTINUATION, "") : label);
  const isRest = whole !== undefined && part !== "1";
  return {
    text: isRest ? "·" : visibleText(written),
    joint: continues ? "glued" : "space",
    continues,
    special: rows.special[row],
    breaks: label.split("\n").length - 1,
    sought: isRest ? "" : written.toLowerCase().replace(/\s+/g, " "),
  };
}

/** How a run that begins a word follows the run before. */
function jointOf(runs: Run[], at: number, opensQuote: boolean): Joint {
  const [before, run, after] = [runs[at - 1], runs[at], runs[at + 1]];
  if (before.special || run.special) return "space";
  const isBound =
    opensQuote || OPENING.includes(before.text.slice(-1)) || CLOSING.includes(run.text[0]);
  if (isBound || isInside(before, run, after) || isInside(runs[at - 2], before, run)) {
    return "glued";
  }
  const isSpaceless = SPACELESS.test(before.text.slice(-1)) && SPACELESS.test(run.text);
  return isSpaceless ? "direct" : "space";
}

/** Whether the middle one of three runs is punctuation inside of a word or a number. */
function isInside(before: Run | undefined, middle: Run, after: Run | undefined): boolean {
  if (!before || !after || before.special || after.special) return false;
  if (before.breaks + middle.breaks > 0) return false;
  if (APOSTROPHES.includes(middle.text))
    return /\p{L}$/u.test(before.text) && ENDINGS.test(after.text);
  if (POINTS.includes(middle.text)) return /\d$/.test(before.text) && /^\d/.test(after.text);
  const isWritten = /[\p{L}\p{N}]$/u.test(before.text) && /^[\p{L}\p{N}]/u.test(after.text);
  return HYPHENS.includes(middle.text) && isWritten;
}

/** The alignment in words: a sentence and a table for a word, or for all. */

import { formatPercent } from "../../draw/colors";
import { visibleText } from "../../draw/dom";
import { rankOrder } from "../../math/arrays";
import type { Focus, TargetRow } from "../../wire/types";
import { type Description, quote } from "../../words/describe";
import { type Clock, spanAround, spanText } from "../shared/time";
import { type Alignment, shareOf, specialShareOf, type Word } from "./data";
import { type Mark, type Scores, scoresOf, type Verdict } from "./gold";

/** An alignment with its marks and where it comes from. */
export interface Aligned {
  alignment: Alignment;
  marks: Mark[];
  hasGold: boolean;
  clock: Clock | null;
  /** Layer and heads, in words. */
  place: string;
  targetRow: TargetRow;
}

/** A word of one of the two texts, or a special token of the source, by its column. */
export interface WordPosition {
  role: Focus["role"];
  word: number;
}

/** How many rows a table has. */
const ROWS = 8;
const PAIRS = 16;

/** The word of the token in focus; null if it is in none. */
export function wordAt({ alignment }: Aligned, focus: Focus | null): WordPosition | null {
  if (focus === null) return null;
  const words = focus.role === "query" ? alignment.target : columnsOf(alignment);
  const word = words.findIndex(({ pieces }) => pieces.includes(focus.token));
  return word < 0 ? null : { role: focus.role, word };
}

export function describeAlignment(aligned: Aligned, focus: Focus | null): Description {
  const at = wordAt(aligned, focus);
  if (at === null) return describeAll(aligned);
  return at.role === "query" ? describeTarget(aligned, at.word) : describeSource(aligned, at.word);
}

/** The words of the source, then its special tokens. */
export function columnsOf({ source, special }: Alignment): Word[] {
  return [...source, ...special];
}

function labelOf({ alignment }: Aligned, column: number): string {
  return quote(columnsOf(alignment)[column].label);
}

function lead({ place, alignment }: Aligned): string {
  return `${place}, ${alignment.measure.label}`;
}

function markOf({ marks }: Aligned, source: number, target: number): Mark | undefined {
  return marks.find((mark) => mark.source === source && mark.target === target);
}

/** The gold label of a pair: sure, possible, or none. */
function goldLabel(aligned: Aligned, source: number, target: number): string {
  return markOf(aligned, source, target)?.gold ?? "none";
}

function goldPhrase(aligned: Aligned, source: number, target: number): string {
  return aligned.hasGold ? `; gold: ${goldLabel(aligned, source, target)}` : "";
}

/** One pair in a line: its share and gold label. */
export function pairLine(aligned: Aligned, target: number, column: number): string {
  const { alignment } = aligned;
  const word = quote(alignment.target[target].label);
  const share = formatPercent(shareOf(alignment, target, column));
  const isWord = column < alignment.source.length;
  const gold = isWord ? goldPhrase(aligned, column, target) : "; not a word, so no link";
  return `${word} ← ${labelOf(aligned, column)}: ${share} of what ${word} takes${gold}`;
}

/** The stretch of audio that a word reads, in parentheses; empty for text. */
function timePhrase({ clock, alignment }: Aligned, target: number, best: number): string {
  if (!clock || best >= alignment.source.length) return "";
  return ` (reads ${spanText(clock, spanOf(alignment, target, best))})`;
}

/** What a linked word reads: a word, or a stretch of audio. */
function sourceText({ clock, alignment }: Aligned, target: number, best: number): string {
  return clock
    ? spanText(clock, spanOf(alignment, target, best))
    : visibleText(alignment.source[best].label);
}

/** The range of source words around the best one. */
export function spanOf({ values, source, special }: Alignment, target: number, best: number) {
  const columns = source.length + special.length;
  return spanAround(values.subarray(target * columns, target * columns + source.length), best);
}

function describeTarget(aligned: Aligned, target: number): Description {
  const { alignment, marks, hasGold } = aligned;
  const { best, measure } = alignment;
  const word = quote(alignment.target[target].label);
  const own = best[target];
  const missed = marks.filter((mark) => mark.target === target && mark.verdict === "miss");
  const names = missed.map(({ source }) => labelOf(aligned, source)).join(", ");
  const text =
    own === null
      ? `no row represents ${word}, so it has no link`
      : `${pairLine(aligned, target, own)}${timePhrase(aligned, target, own)}`;
  const parts = columnsOf(alignment).map((_, column) => shareOf(alignment, target, column));
  const gold = (column: number) =>
    column < alignment.source.length ? [goldLabel(aligned, column, target)] : ["–"];
  return {
    sentence: `${lead(aligned)}: ${text}.`,
    notes:
      missed.length > 0 ? [`Missed: ${word} is linked with ${names} in the gold alignment.`] : [],
    caption: `${measure.label}: what ${word} takes from each source word`,
    columns: ["#", "read from", "share", ...(hasGold ? ["gold"] : [])],
    rows: rankOrder(parts)
      .filter((column) => parts[column] > 0)
      .slice(0, ROWS)
      .map((column) => [
        String(columnsOf(alignment)[column].pieces[0]),
        visibleText(columnsOf(alignment)[column].label),
        formatPercent(parts[column]),
        ...(hasGold ? gold(column) : []),
      ]),
  };
}

function describeSource(aligned: Aligned, column: number): Description {
  const { alignment, hasGold } = aligned;
  const { best, measure, target } = alignment;
  const linked = target.flatMap((_, at) => (best[at] === column ? [at] : []));
  const parts = target.map((_, at) => shareOf(alignment, at, column));
  const order = rankOrder(parts).filter((at) => parts[at] > 0);
  const isWord = column < alignment.source.length;
  const own = labelOf(aligned, column);
  const none = `no target word takes most from ${own}`;
  const words = linked.map(
    (at) =>
      `${quote(target[at].label)} (${formatPercent(parts[at])}${isWord ? goldPhrase(aligned, column, at) : ""})`,
  );
  const some = isWord
    ? `${own} → ${words.join(", ")}`
    : `${words.length} target words take most from ${own}, so they have no link: ${words.join(", ")}`;
  return {
    sentence: `${lead(aligned)}: ${linked.length > 0 ? some : none}.`,
    caption: `${measure.label}: the share of ${own} in what each target word takes`,
    columns: ["#", "received by", "share", ...(hasGold ? ["gold"] : [])],
    rows: order
      .slice(0, ROWS)
      .map((at) => [
        String(target[at].pieces[0]),
        visibleText(target[at].label),
        formatPercent(parts[at]),
        ...(hasGold ? [isWord ? goldLabel(aligned, column, at) : "–"] : []),
      ]),
  };
}

const VERDICTS: Record<Verdict, string> = {
  right: "right",
  extra: "extra",
  miss: "missed",
  open: "possible",
  plain: "",
};

function describeAll(aligned: Aligned): Description {
  const { alignment, marks, hasGold, targetRow } = aligned;
  const { target, measure, source, best } = alignment;
  const links = best.filter((column) => column !== null && column < source.length).length;
  const row = targetRow === "input" ? "reads" : "predicts";
  const rows = target.slice(0, PAIRS).map((word, at) => {
    const column = best[at];
    const isLink = column !== null && column < source.length;
    const mark = isLink ? markOf(aligned, column, at) : undefined;
    const missed = marks.some((one) => one.target === at && one.verdict === "miss");
    const verdicts = [mark ? VERDICTS[mark.verdict] : "", missed ? VERDICTS.miss : ""].filter(
      Boolean,
    );
    return [
      visibleText(word.label),
      isLink ? sourceText(aligned, at, column) : "–",
      formatPercent(
        column === null
          ? 0
          : isLink
            ? shareOf(alignment, at, column)
            : specialShareOf(alignment, at),
      ),
      ...(hasGold ? [verdicts.join(", ")] : []),
    ];
  });
  const left = target.length - rows.length;
  return {
    sentence: `${lead(aligned)}: ${links} of ${target.length} target words have a link.${hasGold ? ` ${scoreLine(scoresOf(marks))}` : ""}`,
    notes: [`Each target word is represented by the row that ${row} it.`],
    caption: `${measure.label}: the source word from which each target word takes most`,
    columns: ["target", "source", "share", ...(hasGold ? ["verdict"] : [])],
    style: "nv-pairs",
    rows: left > 0 ? [...rows, [`${left} others`, "", "", ...(hasGold ? [""] : [])]] : rows,
  };
}

/** How many links are right, and the error rate of this sentence. */
export function scoreLine({ right, extra, miss, aer, precision, recall }: Scores): string {
  const rate = (value: number) => (Number.isNaN(value) ? "–" : formatPercent(value));
  return (
    `${right} right, ${extra} extra, ${miss} missed: AER ${rate(aer)}, ` +
    `precision ${rate(precision)}, recall ${rate(recall)}.`
  );
}

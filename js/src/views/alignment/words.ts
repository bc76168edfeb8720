/** An alignment in words: a sentence and a table about a word, or about all. */

import { percent } from "../../draw/colors";
import { visible } from "../../draw/dom";
import { rank } from "../../math/arrays";
import type { Focus, Setting } from "../../wire/types";
import { type Description, quoted } from "../../words/describe";
import { type Clock, spanAround, spanText } from "../shared/time";
import { type Alignment, noneOf, shareOf, type Word } from "./data";
import { type Mark, type Scores, scoresOf, type Verdict } from "./gold";

/** What is aligned, where it was read, and what people say of it. */
export interface Aligned {
  alignment: Alignment;
  marks: Mark[];
  hasGold: boolean;
  clock: Clock | null;
  /** Layer and heads, in words. */
  place: string;
  setting: Setting;
}

/** A word of one of the two texts, or a special token of the source, by its column. */
export interface At {
  side: Focus["side"];
  word: number;
}

/** How many rows a table has before the others are left out. */
const ROWS = 8;
const PAIRS = 16;

/** The word of a token in focus; null of tokens that are in none. */
export function wordAt({ alignment }: Aligned, focus: Focus | null): At | null {
  if (focus === null) return null;
  const words = focus.side === "query" ? alignment.target : columnsOf(alignment);
  const word = words.findIndex(({ pieces }) => pieces.includes(focus.token));
  return word < 0 ? null : { side: focus.side, word };
}

export function describeAlignment(aligned: Aligned, focus: Focus | null): Description {
  const at = wordAt(aligned, focus);
  if (at === null) return describeAll(aligned);
  return at.side === "query" ? describeTarget(aligned, at.word) : describeSource(aligned, at.word);
}

/** The words of the source, then its special tokens. */
export function columnsOf({ source, special }: Alignment): Word[] {
  return [...source, ...special];
}

function labelOf({ alignment }: Aligned, column: number): string {
  return quoted(columnsOf(alignment)[column].label);
}

function lead({ place, alignment }: Aligned): string {
  return `${place}, ${alignment.measure.label}`;
}

function markOf({ marks }: Aligned, source: number, target: number): Mark | undefined {
  return marks.find((mark) => mark.source === source && mark.target === target);
}

/** What people say of a pair: sure, possible, or nothing. */
function saidOf(aligned: Aligned, source: number, target: number): string {
  return markOf(aligned, source, target)?.gold ?? "none";
}

function goldOf(aligned: Aligned, source: number, target: number): string {
  return aligned.hasGold ? `; gold: ${saidOf(aligned, source, target)}` : "";
}

/** One pair in a line: how much of what the target word takes, and what people say. */
export function pairLine(aligned: Aligned, target: number, column: number): string {
  const { alignment } = aligned;
  const word = quoted(alignment.target[target].label);
  const share = percent(shareOf(alignment, target, column));
  const isWord = column < alignment.source.length;
  const gold = isWord ? goldOf(aligned, column, target) : "; no word, so no link";
  return `${word} ← ${labelOf(aligned, column)}: ${share} of what ${word} takes${gold}`;
}

/** The stretch of a sound that a word reads best, in brackets; nothing of a text. */
function stretch({ clock, alignment }: Aligned, target: number, best: number): string {
  if (!clock || best >= alignment.source.length) return "";
  return ` (reads ${spanText(clock, spanOf(alignment, target, best))})`;
}

/** What a linked word reads: a word, or a stretch of a sound. */
function readBy({ clock, alignment }: Aligned, target: number, best: number): string {
  return clock
    ? spanText(clock, spanOf(alignment, target, best))
    : visible(alignment.source[best].label);
}

/** The stretch of source words around the best one. */
export function spanOf({ values, source, special }: Alignment, target: number, best: number) {
  const columns = source.length + special.length;
  return spanAround(values.subarray(target * columns, target * columns + source.length), best);
}

function describeTarget(aligned: Aligned, target: number): Description {
  const { alignment, marks, hasGold } = aligned;
  const { best, measure } = alignment;
  const word = quoted(alignment.target[target].label);
  const own = best[target];
  const missed = marks.filter((mark) => mark.target === target && mark.verdict === "miss");
  const names = missed.map(({ source }) => labelOf(aligned, source)).join(", ");
  const told =
    own === null
      ? `no row stands for ${word}, so it has no link`
      : `${pairLine(aligned, target, own)}${stretch(aligned, target, own)}`;
  const parts = columnsOf(alignment).map((_, column) => shareOf(alignment, target, column));
  const gold = (column: number) =>
    column < alignment.source.length ? [saidOf(aligned, column, target)] : ["–"];
  return {
    sentence: `${lead(aligned)}: ${told}.`,
    notes: missed.length > 0 ? [`Missed: ${names} is surely aligned with ${word}.`] : [],
    caption: `${measure.label}: what ${word} takes, of each source word`,
    columns: ["#", "read from", "share", ...(hasGold ? ["gold"] : [])],
    rows: rank(parts)
      .filter((column) => parts[column] > 0)
      .slice(0, ROWS)
      .map((column) => [
        String(columnsOf(alignment)[column].pieces[0]),
        visible(columnsOf(alignment)[column].label),
        percent(parts[column]),
        ...(hasGold ? gold(column) : []),
      ]),
  };
}

function describeSource(aligned: Aligned, column: number): Description {
  const { alignment, hasGold } = aligned;
  const { best, measure, target } = alignment;
  const linked = target.flatMap((_, at) => (best[at] === column ? [at] : []));
  const parts = target.map((_, at) => shareOf(alignment, at, column));
  const order = rank(parts).filter((at) => parts[at] > 0);
  const isWord = column < alignment.source.length;
  const own = labelOf(aligned, column);
  const none = `no target word takes most of ${own}`;
  const told = linked.map(
    (at) =>
      `${quoted(target[at].label)} (${percent(parts[at])}${isWord ? goldOf(aligned, column, at) : ""})`,
  );
  const some = isWord
    ? `${own} → ${told.join(", ")}`
    : `${told.length} target words take most of ${own}, so they have no link: ${told.join(", ")}`;
  return {
    sentence: `${lead(aligned)}: ${linked.length > 0 ? some : none}.`,
    caption: `${measure.label}: the share of ${own} in what each target word takes`,
    columns: ["#", "received by", "share", ...(hasGold ? ["gold"] : [])],
    rows: order
      .slice(0, ROWS)
      .map((at) => [
        String(target[at].pieces[0]),
        visible(target[at].label),
        percent(parts[at]),
        ...(hasGold ? [isWord ? saidOf(aligned, column, at) : "–"] : []),
      ]),
  };
}

const TOLD: Record<Verdict, string> = {
  right: "right",
  extra: "extra",
  miss: "missed",
  open: "possible",
  plain: "",
};

function describeAll(aligned: Aligned): Description {
  const { alignment, marks, hasGold, setting } = aligned;
  const { target, measure, source, best } = alignment;
  const links = best.filter((column) => column !== null && column < source.length).length;
  const row = setting === "input" ? "reads" : "predicts";
  const rows = target.slice(0, PAIRS).map((word, at) => {
    const column = best[at];
    const isLink = column !== null && column < source.length;
    const mark = isLink ? markOf(aligned, column, at) : undefined;
    const missed = marks.some((one) => one.target === at && one.verdict === "miss");
    const told = [mark ? TOLD[mark.verdict] : "", missed ? TOLD.miss : ""].filter(Boolean);
    return [
      visible(word.label),
      isLink ? readBy(aligned, at, column) : "–",
      percent(
        column === null ? 0 : isLink ? shareOf(alignment, at, column) : noneOf(alignment, at),
      ),
      ...(hasGold ? [told.join(", ")] : []),
    ];
  });
  const left = target.length - rows.length;
  return {
    sentence: `${lead(aligned)}: ${links} of ${target.length} target words have a link.${hasGold ? ` ${scoreLine(scoresOf(marks))}` : ""}`,
    notes: [`Each target word stands for the row that ${row} it.`],
    caption: `${measure.label}: the source word of which each target word takes most`,
    columns: ["target", "source", "share", ...(hasGold ? ["verdict"] : [])],
    style: "nv-pairs",
    rows: left > 0 ? [...rows, [`${left} others`, "", "", ...(hasGold ? [""] : [])]] : rows,
  };
}

/** How many links are right, and the error rate of this one sentence. */
export function scoreLine({ right, extra, miss, aer, precision, recall }: Scores): string {
  const rate = (value: number) => (Number.isNaN(value) ? "–" : percent(value));
  return (
    `${right} right, ${extra} extra, ${miss} missed: AER ${rate(aer)}, ` +
    `precision ${rate(precision)}, recall ${rate(recall)}.`
  );
}

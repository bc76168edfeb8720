/** The stack in words: a sentence, a table and a legend. */

import { gapsPhrase, shortenLists } from "../../data/otherLayers";
import { isConnected, isSelfAttention, type Stack } from "../../data/stack";
import { formatPercent } from "../../draw/colors";
import { visibleText } from "../../draw/dom";
import { rankOrder } from "../../math/arrays";
import type { TraceLinks } from "../../math/trace";
import { type Description, quote } from "../../words/describe";
import type { Makeup } from "./makeup";
import { endsAtFirst } from "./notes";

/** How many rows a table has before the rest is summed, and how many tokens a sentence names. */
const ROWS = 8;
const NAMED = 3;

/** Smaller shares are rounding. */
const NOTHING = 1e-5;

export function describeMakeup(makeup: Makeup): Description {
  const { stack, about } = makeup;
  if (stack.mode === "none") {
    const sentence = `${stack.measure.label} has no queries, so there is nothing to trace. Choose a measure between tokens, such as α.`;
    return { sentence, caption: stack.measure.meaning, columns: [], rows: [] };
  }
  const gives = about?.role === "key";
  const others = gives ? stack.rows.query : stack.rows.key;
  const order = rankOrder(makeup.shares).filter((row) => makeup.shares[row] > 0);
  const shares = order
    .slice(0, NAMED)
    .map(
      (row) => `${formatPercent(makeup.shares[row])} ${link(makeup)}${quote(others.labels[row])}`,
    );
  const table = order
    .slice(0, ROWS)
    .map((row) => [
      String(others.pieces[row][0]),
      visibleText(others.labels[row]),
      formatPercent(makeup.shares[row]),
    ]);
  return {
    sentence: `${heading(makeup)}: ${predicate(makeup, shares.join(", "))}${remarks(makeup)}.`,
    caption: caption(makeup),
    columns: ["#", ...titles(makeup)],
    rows: gives ? table : [...table, ...restRows(makeup, order.slice(ROWS))],
    notes: interruptionNotes(stack),
  };
}

/** Why the layers of a text are not traced, in a sentence. */
function interruptionNotes({ mode, stream }: Stack): string[] {
  if (mode !== "separate" || !isSelfAttention(stream)) return [];
  const reason = shortenLists(stream.interruption);
  return [`Each layer is shown by itself, since the layers cannot be chained: ${reason}.`];
}

/** The preposition between a share and its token. */
function link({ stack, about }: Makeup): string {
  if (about?.role === "key") return "of ";
  return isConnected(stack.mode) ? "" : "from ";
}

function titles({ stack, about }: Makeup): [string, string] {
  const isOne = isConnected(stack.mode);
  if (about?.role === "key") return [isOne ? "found in" : "received by", "of it"];
  return [isOne ? "made of" : "read from", "share"];
}

/** The measure and heads that a sentence is about. */
export function heading({ stack }: Makeup): string {
  return `${stack.measure.label}, ${stack.heads}`;
}

/** The token in focus, in quotes, or all tokens. */
function subject({ stack, about }: Makeup): string {
  return about ? quote(stack.rows[about.role].labels[about.row]) : "all tokens together";
}

function predicate(makeup: Makeup, shares: string): string {
  const { stack, about, layer } = makeup;
  const self = subject(makeup);
  const are = about ? "is" : "are";
  const where = `after layer ${layer}`;
  if (about?.role === "key") {
    if (!isConnected(stack.mode)) {
      return shares ? `${self} gives ${shares} in layer ${layer}` : `${self} gives nothing`;
    }
    return shares ? `${self} makes up ${shares} ${where}` : `${self} is in no token ${where}`;
  }
  if (!shares) return `${self} ${where} ${are} made of nothing that is shown`;
  if (!isConnected(stack.mode)) {
    return `${self} in layer ${layer} ${about ? "takes" : "take"} ${shares}`;
  }
  if (endsAtFirst(makeup)) return `${self} ${where} ${about ? "leads" : "lead"} ${toFirst(makeup)}`;
  return `${self} ${where} ${are} made of ${shares} of ${firstTokens(stack)}`;
}

/** That a trace ends at the first token, why, and what else is in it. */
function toFirst({ stack, shares }: Makeup): string {
  const [first, ...others] = stack.rows.key.labels.map(quote);
  const [next] = rankOrder(shares.slice(1));
  const rest = shares[next + 1];
  const other = rest > 0 ? `; most of the rest is ${others[next]} (${formatPercent(rest)})` : "";
  return `back to ${first} (${formatPercent(shares[0])}), because ${first} can read only itself${other}`;
}

/** The tokens of the first column. */
export function firstTokens({ stream, mode }: Stack): string {
  const [first] = stream.layers;
  if (mode === "direct") return "the input's tokens";
  return first === 0
    ? "the first layer's tokens"
    : `the tokens before layer ${first}, the first layer held`;
}

/** Remarks about the shares, in parentheses. */
function remarks(makeup: Makeup): string {
  const { stack } = makeup;
  const lost = lostTo(makeup);
  const notes = [...(lost ? [lost] : []), ...caveats(stack)];
  return notes.length > 0 ? ` (${notes.join("; ")})` : "";
}

/** What was lost on the way; empty if nothing was. */
export function lostTo({ stack, lost }: Makeup): string {
  if (lost < NOTHING) return "";
  return stack.rows.key.rowOf.includes(-1)
    ? `${formatPercent(lost)} went to hidden special tokens`
    : `${formatPercent(lost)} stays at tokens that take nothing`;
}

/** How negative values are divided. */
const BY_SIZE = "by size, signs aside";

/** What a measure does not include, and what the flow does not hold. */
export function caveats({ mode, stream, measure }: Stack): string[] {
  const { layers } = stream;
  const isSelf = isSelfAttention(stream);
  const missing = layers.slice(1).flatMap((layer, index) => range(layers[index] + 1, layer));
  return [
    ...(isSelf ? [] : ["each layer by itself: the keys are another text, so nothing is traced"]),
    ...(mode === "direct"
      ? [`${measure.label} reaches back to the input by itself, so no layer is traced`]
      : []),
    ...(isSelf && !measure.has_residual ? ["without the residual connection"] : []),
    ...(measure.signed ? [BY_SIZE] : []),
    ...(missing.length > 0 && mode === "traced"
      ? [`not held, and left out of the trace: layer ${missing.join(", ")}`]
      : []),
  ];
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at);
}

function caption(makeup: Makeup): string {
  const { stack, about, layer } = makeup;
  const piece = about ? ` (${stack.rows[about.role].pieces[about.row][0]})` : "";
  const self = `${subject(makeup)}${piece}`;
  const isOne = isConnected(stack.mode);
  const { label } = stack.measure;
  const where = `${isOne ? "after" : "in"} layer ${layer}`;
  if (about?.role === "key") {
    return `${label}: the share of each token ${where} that comes from ${self}`;
  }
  const [is, takes] = about ? ["is", "takes"] : ["are", "take"];
  return isOne
    ? `${label}: what ${self} ${is} made of ${where}`
    : `${label}: what ${self} ${takes} ${where}`;
}

/** The table rows for unlisted tokens and for the lost share. */
function restRows({ stack, shares, lost }: Makeup, others: number[]): string[][] {
  const left = others.reduce((sum, row) => sum + shares[row], 0);
  const name = stack.rows.key.rowOf.includes(-1) ? "hidden special tokens" : "nothing";
  return [
    ...(others.length > 0 ? [["", `${others.length} others`, formatPercent(left)]] : []),
    ...(lost >= NOTHING ? [["", name, formatPercent(lost)]] : []),
  ];
}

/** The legend of the stack, phrase by phrase; `unit` is the share of its swatch or longest bar. */
export function stackLegend(makeup: Makeup, links: TraceLinks | null, unit: number): string[] {
  const { stack } = makeup;
  const { measure, rows, stream, heads } = stack;
  if (stack.mode === "none") return [`${measure.label}: ${measure.meaning}`];
  const isWords = rows.key.rowOf.filter((row) => row >= 0).length > rows.key.pieces.length;
  const lost = lostTo(makeup);
  const gaps = gapsPhrase(stream);
  return [
    `each token is divided in proportion to ${measure.label} (${heads})` +
      `${measure.signed ? `, ${BY_SIZE}` : ""}`,
    ...(links
      ? [
          `columns: ${firstTokens(stack)}, then the tokens after each layer`,
          `${AS_WIDE} ${formatPercent(unit)} of ${wholeOf(makeup)}`,
          massShown(makeup, links),
          ...(stack.mode === "direct" ? ["ribbons go straight to the input's tokens"] : []),
        ]
      : [columnsPhrase(stream.layers), `${LONGEST} ${formatPercent(unit)} of ${wholeOf(makeup)}`]),
    ...(gaps ? [`gray: no attention in ${gaps}`] : []),
    ...(lost ? [lost] : []),
    ...biases(stack),
    ...(isWords ? ["pieces merged into words: added over keys, averaged over queries"] : []),
    ...(links && links.least > 0 ? [`no link below ${formatPercent(links.least)} is drawn`] : []),
  ];
}

/** The share of the layers' vectors that comes from biases, which is not divided. */
function biases({ stream, measure }: Stack): string[] {
  const shares = stream.bias_share[measure.id] ?? [];
  if (shares.length === 0) return [];
  const [least, greatest] = [Math.min(...shares), Math.max(...shares)].map(formatPercent);
  const share = least === greatest ? least : `${least} to ${greatest}`;
  return [`from biases, and not divided: ${share} of a layer's vectors`];
}

function columnsPhrase(layers: number[]): string {
  const [first, last] = [layers[0], layers[layers.length - 1]];
  if (first === last) return `one column: layer ${first}`;
  const isWhole = last - first === layers.length - 1;
  return `columns: layers ${isWhole ? `${first} to ${last}` : layers.join(", ")}`;
}

/** The beginnings of the phrases about widths and lengths. */
export const AS_WIDE = "this width:";
const LONGEST = "longest bar:";

/** What the percentages refer to. */
function wholeOf(makeup: Makeup): string {
  const { about } = makeup;
  if (about?.role === "key") return "a token";
  return about ? subject(makeup) : "all tokens together";
}

/** A layer is mentioned if it shows this much less than the average. */
const NOTABLE = 0.03;

/** How much of the mass is drawn. */
export function massShown({ stack }: Makeup, { layers, masses, shown }: TraceLinks): string {
  const whole = masses.reduce((sum, mass) => sum + mass, 0);
  const drawn = masses.reduce((sum, mass, at) => sum + mass * shown[at], 0);
  const count = layers.reduce((sum, links) => sum + links.length, 0);
  if (whole === 0) return "there is nothing to show";
  if (drawn >= whole * (1 - 1e-6)) return `all of the mass shown, in ${count} ribbons`;
  const least = shown.indexOf(Math.min(...shown));
  const worst = `${formatPercent(shown[least])} in layer ${stack.stream.layers[least]}`;
  const but = shown[least] < drawn / whole - NOTABLE ? `, least ${worst}` : "";
  return `the strongest ${count} ribbons: ${formatPercent(drawn / whole)} of the mass shown${but}`;
}

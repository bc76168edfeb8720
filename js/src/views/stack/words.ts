/** What a token is made of, in words: a sentence, a table and a legend. */

import { type Depth, isWithin } from "../../data/stack";
import { percent } from "../../draw/colors";
import { visible } from "../../draw/dom";
import { rank } from "../../math/arrays";
import type { Links } from "../../math/trace";
import { type Description, quoted } from "../../words/describe";
import type { Makeup } from "./makeup";

/** How many rows a table has before the others are added up, and how many a sentence names. */
const ROWS = 8;
const NAMED = 3;

/** Shares smaller than this are the rounding of others. */
const NOTHING = 1e-5;

export function describeMakeup(makeup: Makeup): Description {
  const { depth, about } = makeup;
  if (depth.way === "nothing") {
    const sentence = `${depth.measure.label} has no query: no token takes anything, so there is nothing to trace.`;
    return { sentence, caption: depth.measure.meaning, columns: [], rows: [] };
  }
  const gives = about?.side === "key";
  const others = gives ? depth.rows.query : depth.rows.key;
  const order = rank(makeup.parts).filter((row) => makeup.parts[row] > 0);
  const told = order
    .slice(0, NAMED)
    .map((row) => `${percent(makeup.parts[row])} ${link(makeup)}${quoted(others.labels[row])}`);
  const table = order
    .slice(0, ROWS)
    .map((row) => [
      String(others.pieces[row][0]),
      visible(others.labels[row]),
      percent(makeup.parts[row]),
    ]);
  return {
    sentence: `${heading(makeup)}: ${predicate(makeup, told.join(", "))}${remarks(makeup)}.`,
    caption: caption(makeup),
    columns: ["#", ...titles(makeup)],
    rows: gives ? table : [...table, ...rest(makeup, order.slice(ROWS))],
  };
}

/** What stands between a share and its token. */
function link({ depth, about }: Makeup): string {
  if (about?.side === "key") return "of ";
  return isWithin(depth.stream) ? "" : "from ";
}

function titles({ depth, about }: Makeup): [string, string] {
  const isOne = isWithin(depth.stream);
  if (about?.side === "key") return [isOne ? "found in" : "received by", "of it"];
  return [isOne ? "made of" : "read from", "share"];
}

function heading({ depth }: Makeup): string {
  return `${depth.measure.label}, ${depth.heads}`;
}

/** The token in focus, in quotes, or all of them. */
function subject({ depth, about }: Makeup): string {
  return about ? quoted(depth.rows[about.side].labels[about.row]) : "all tokens together";
}

function predicate(makeup: Makeup, told: string): string {
  const { depth, about, layer } = makeup;
  const self = subject(makeup);
  const are = about ? "is" : "are";
  const where = `after layer ${layer}`;
  if (about?.side === "key") {
    if (!isWithin(depth.stream)) {
      return told ? `${self} gives ${told} in layer ${layer}` : `${self} gives nothing`;
    }
    return told ? `${self} makes up ${told} ${where}` : `${self} is in no token ${where}`;
  }
  if (!told) return `${self} ${where} ${are} made of nothing that is shown`;
  if (!isWithin(depth.stream)) {
    return `${self} in layer ${layer} ${about ? "takes" : "take"} ${told}`;
  }
  return `${self} ${where} ${are} made of ${told} of ${firstTokens(depth)}`;
}

/** What the first column holds. */
export function firstTokens({ stream, way }: Depth): string {
  const [first] = stream.layers;
  if (way === "carried") return "the input's tokens";
  return first === 0
    ? "the first layer's tokens"
    : `the tokens before layer ${first}, the first that is held`;
}

/** Everything a reader must know to read the shares rightly. */
function remarks(makeup: Makeup): string {
  const { depth } = makeup;
  const lost = lostTo(makeup);
  const told = [...(lost ? [lost] : []), ...caveats(depth)];
  return told.length > 0 ? ` (${told.join("; ")})` : "";
}

/** What left the picture on the way; empty where nothing did. */
export function lostTo({ depth, lost }: Makeup): string {
  if (lost < NOTHING) return "";
  return depth.rows.key.rowOf.includes(-1)
    ? `${percent(lost)} went to hidden special tokens`
    : `${percent(lost)} rests with tokens that take nothing`;
}

const ATTENTION_ONLY =
  /^(weight|weighted-norm|effective-weight|attention|head-attribution(-local)?)$/;

/** How negative numbers are divided. */
const ASIDE = "by size, signs aside";

/** What a measure does not see, and what the flow does not hold. */
export function caveats({ way, stream, measure }: Depth): string[] {
  const { layers } = stream;
  const missing = layers.slice(1).flatMap((layer, at) => range(layers[at] + 1, layer));
  return [
    ...(!isWithin(stream)
      ? ["each layer for itself: the keys are another text, so nothing is traced"]
      : way === "carried"
        ? [`${measure.label} itself reaches back to the input, so no layer is traced`]
        : []),
    ...(ATTENTION_ONLY.test(measure.id) && isWithin(stream)
      ? [
          "through attention alone; what the residual stream carries past attention is not in this measure",
        ]
      : []),
    ...(measure.signed ? [ASIDE] : []),
    ...(measure.id === "feed-forward"
      ? ["what the residual stream carries past the feed-forward is not in this measure"]
      : []),
    ...(missing.length > 0 && way === "traced"
      ? [`not held, and left out of the trace: layer ${missing.join(", ")}`]
      : []),
  ];
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at);
}

function caption(makeup: Makeup): string {
  const { depth, about, layer } = makeup;
  const place = about ? ` (${depth.rows[about.side].pieces[about.row][0]})` : "";
  const self = `${subject(makeup)}${place}`;
  const isOne = isWithin(depth.stream);
  const { label } = depth.measure;
  const where = `${isOne ? "after" : "in"} layer ${layer}`;
  if (about?.side === "key") {
    return `${label}: the share of each token ${where} that comes from ${self}`;
  }
  const [is, takes] = about ? ["is", "takes"] : ["are", "take"];
  return isOne
    ? `${label}: what ${self} ${is} made of ${where}`
    : `${label}: what ${self} ${takes} ${where}`;
}

/** The rows of a table for what it does not list, and for what is hidden. */
function rest({ depth, parts, lost }: Makeup, others: number[]): string[][] {
  const left = others.reduce((sum, row) => sum + parts[row], 0);
  const name = depth.rows.key.rowOf.includes(-1) ? "hidden special tokens" : "nothing";
  return [
    ...(others.length > 0 ? [["", `${others.length} others`, percent(left)]] : []),
    ...(lost >= NOTHING ? [["", name, percent(lost)]] : []),
  ];
}

/** The legend of the stack, phrase by phrase; `unit` is what its mark, or the longest bar, stands for. */
export function madeLegend(makeup: Makeup, links: Links | null, unit: number): string[] {
  const { depth } = makeup;
  const { measure, rows, stream, heads } = depth;
  if (depth.way === "nothing") return [`${measure.label}: ${measure.meaning}`];
  const isWords = rows.key.rowOf.filter((row) => row >= 0).length > rows.key.pieces.length;
  const lost = lostTo(makeup);
  return [
    `each token's whole divided in proportion to ${measure.label} (${heads})` +
      `${measure.signed ? `, ${ASIDE}` : ""}`,
    ...(links
      ? [
          `columns: ${firstTokens(depth)}, then the tokens after each layer`,
          `${AS_WIDE} ${percent(unit)} of ${wholeOf(makeup)}`,
          massShown(makeup, links),
          ...(depth.way === "carried" ? ["ribbons go straight to the input's tokens"] : []),
        ]
      : [columnsApart(stream.layers), `${LONGEST} ${percent(unit)} of ${wholeOf(makeup)}`]),
    ...(lost ? [lost] : []),
    ...biases(depth),
    ...(isWords ? ["pieces merged to words: added over keys, averaged over queries"] : []),
    ...(links && links.least > 0 ? [`no link below ${percent(links.least)} is drawn`] : []),
  ];
}

/** What of the layers' vectors comes from no token, and so is no part of what is divided. */
function biases({ stream, measure }: Depth): string[] {
  const shares = stream.bias_share[measure.id] ?? [];
  if (shares.length === 0) return [];
  const [least, greatest] = [Math.min(...shares), Math.max(...shares)].map(percent);
  const told = least === greatest ? least : `${least} to ${greatest}`;
  return [`from no token (biases), and not divided: ${told} of a layer's vectors`];
}

function columnsApart(layers: number[]): string {
  const [first, last] = [layers[0], layers[layers.length - 1]];
  return first === last ? `one column: layer ${first}` : `columns: layers ${first} to ${last}`;
}

/** How the phrases about widths and lengths begin. */
export const AS_WIDE = "as wide as";
const LONGEST = "longest bar:";

/** What the percentages are of. */
function wholeOf(makeup: Makeup): string {
  const { about } = makeup;
  if (about?.side === "key") return "a token";
  return about ? subject(makeup) : "all tokens, each alike";
}

/** A layer that shows so much less than all together is worth a word. */
const NOTABLE = 0.03;

/** How much of what the layers carry is drawn. */
export function massShown({ depth }: Makeup, { layers, masses, shown }: Links): string {
  const whole = masses.reduce((sum, mass) => sum + mass, 0);
  const drawn = masses.reduce((sum, mass, at) => sum + mass * shown[at], 0);
  const count = layers.reduce((sum, links) => sum + links.length, 0);
  if (whole === 0) return "there is no mass to show";
  if (drawn >= whole * (1 - 1e-6)) return `all of the mass shown, in ${count} ribbons`;
  const least = shown.indexOf(Math.min(...shown));
  const worst = `${percent(shown[least])} in layer ${depth.stream.layers[least]}`;
  const but = shown[least] < drawn / whole - NOTABLE ? `, least ${worst}` : "";
  return `the strongest ${count} ribbons: ${percent(drawn / whole)} of the mass shown${but}`;
}

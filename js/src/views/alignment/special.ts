/** How much weight special tokens get, and how little they move. */

import { formatNumber, formatPercent } from "../../draw/colors";
import { sumOf } from "../../math/arrays";
import { measureOf, type Pane } from "../../state/pane";
import { quote } from "../../words/describe";
import { type Alignment, alignmentOf, splitWords } from "./data";

export interface SpecialTokens {
  /** The special tokens, in quotes. */
  names: string;
  /** Their share of all that the target words take, by weight and by norm. */
  bars: { label: string; share: number }[];
  /** The mean ‖f(x)‖ of the special tokens and of the words' pieces. */
  norms: { special: number; words: number };
}

/** The numbers; null if they are unknown, undefined while they are loading. */
export function specialTokensOf(pane: Pane): SpecialTokens | null | undefined {
  const { stream, flow, tiles, index, state } = pane;
  const { words, special } = splitWords(stream.keys);
  const needed = ["weight", "value-norm", "weighted-norm"];
  const isKnown = needed.every((id) => stream.measures.includes(id));
  if (!isKnown || special.length === 0 || words.length === 0) return null;
  const lengths = tiles.layer(index, stream, "value-norm", state.layer);
  const both = ["weight", "weighted-norm"].map((id) =>
    alignmentOf({ ...pane, measure: measureOf(flow, id) }),
  );
  if (!lengths || !both.every((found) => found !== null)) return undefined;
  const keys = stream.keys.pieces.length;
  const rows = (state.heads ?? stream.heads).map((head) => stream.heads.indexOf(head));
  const mean = (held: typeof words) => {
    const pieces = held.flatMap((word) => word.pieces);
    const all = rows.flatMap((row) => pieces.map((key) => lengths[row * keys + key]));
    return sumOf(all) / all.length;
  };
  return {
    names: special.map(({ label }) => quote(label)).join(", "),
    bars: both.map((found) => ({ label: found.measure.label, share: specialShare(found) })),
    norms: { special: mean(special), words: mean(words) },
  };
}

/** The share of special tokens in all that the target words take. */
function specialShare({ values, wholes, source, special }: Alignment): number {
  const columns = source.length + special.length;
  const sizes = Array.from(values, Math.abs);
  const own = sumOf(sizes.filter((_, at) => at % columns >= source.length));
  return sumOf(wholes) > 0 ? own / sumOf(wholes) : 0;
}

/** The numbers in a sentence. */
export function specialSentence({ names, bars: [weight, moved], norms }: SpecialTokens): string {
  const times = norms.words > 0 ? ` (${formatNumber(norms.special / norms.words)} times)` : "";
  return (
    `${names}: ${formatPercent(weight.share)} of the weight, ${formatPercent(moved.share)} of what is moved. ` +
    `‖f(x)‖ is ${formatNumber(norms.special)} there and ${formatNumber(norms.words)} at the words${times}.`
  );
}

/** Why the end of a sentence: how much weight special tokens get, and how little they move. */

import { number, percent } from "../../draw/colors";
import { total } from "../../math/arrays";
import { measureOf, type Pane } from "../../state/pane";
import { quoted } from "../../words/describe";
import { type Alignment, alignmentOf, counted } from "./data";

export interface Why {
  /** The special tokens, in quotes. */
  names: string;
  /** Their share of all that the target words take, by weight and by what is moved. */
  bars: { label: string; share: number }[];
  /** The mean ‖f(x)‖ of the special tokens and of the pieces of words. */
  norms: { special: number; words: number };
}

/** What is known; null where it is not, undefined while it is on its way. */
export function whyOf(pane: Pane): Why | null | undefined {
  const { stream, flow, tiles, index, layer, choice } = pane;
  const { words, special } = counted(stream.keys);
  const needed = ["weight", "value-norm", "weighted-norm"];
  const isKnown = needed.every((id) => stream.measures.includes(id));
  if (!isKnown || special.length === 0 || words.length === 0) return null;
  const lengths = tiles.layer(index, stream, "value-norm", layer);
  const both = ["weight", "weighted-norm"].map((id) =>
    alignmentOf({ ...pane, measure: measureOf(flow, id) }),
  );
  if (!lengths || !both.every((found) => found !== null)) return undefined;
  const keys = stream.keys.pieces.length;
  const rows = (choice.heads ?? stream.heads).map((head) => stream.heads.indexOf(head));
  const mean = (held: typeof words) => {
    const pieces = held.flatMap((word) => word.pieces);
    const all = rows.flatMap((row) => pieces.map((key) => lengths[row * keys + key]));
    return total(all) / all.length;
  };
  return {
    names: special.map(({ label }) => quoted(label)).join(", "),
    bars: both.map((found) => ({ label: found.measure.label, share: specialShare(found) })),
    norms: { special: mean(special), words: mean(words) },
  };
}

/** The share of special tokens in all that all target words take. */
function specialShare({ values, wholes, source, special }: Alignment): number {
  const columns = source.length + special.length;
  const sizes = Array.from(values, Math.abs);
  const own = total(sizes.filter((_, at) => at % columns >= source.length));
  return total(wholes) > 0 ? own / total(wholes) : 0;
}

/** The same in a sentence. */
export function whySentence({ names, bars: [weight, moved], norms }: Why): string {
  const times = norms.words > 0 ? ` (${number(norms.special / norms.words)} times)` : "";
  return (
    `${names}: ${percent(weight.share)} of the weight, ${percent(moved.share)} of what is moved. ` +
    `‖f(x)‖ is ${number(norms.special)} there and ${number(norms.words)} at the words${times}.`
  );
}

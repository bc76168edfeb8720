/** Layers without attention: where they are, and what they have instead. */

import type { Stream } from "../wire/types";

/** Consecutive layers without attention that have the same instead. */
export interface Gap {
  first: number;
  last: number;
  /** What they have instead, such as `JambaMambaMixer`. */
  part: string;
  /** How many of the stream's layers come before it. */
  before: number;
}

type Layers = Pick<Stream, "layers" | "other_layers">;

/** The gaps between, before and after the layers of a stream, in the order of the model. */
export function gapsOf({ layers, other_layers }: Layers): Gap[] {
  const gaps: Gap[] = [];
  for (const [number, part] of numbersOf({ other_layers })) {
    const gap = gaps.at(-1);
    if (gap?.part === part && gap.last === number - 1) gap.last = number;
    else gaps.push({ first: number, last: number, part, before: countBelow(layers, number) });
  }
  return gaps;
}

/** The numbers of the layers without attention, and what each one has instead. */
export function numbersOf({ other_layers }: Pick<Stream, "other_layers">): [number, string][] {
  return Object.entries(other_layers)
    .map(([number, part]): [number, string] => [Number(number), part])
    .sort(([one], [other]) => one - other);
}

function countBelow(layers: number[], number: number): number {
  return layers.filter((layer) => layer < number).length;
}

/** The number of a gap, or its first and last. */
export function gapLabel({ first, last }: Gap): string {
  return first === last ? `${first}` : `${first}–${last}`;
}

/** What the layers of a gap have: "no attention: JambaMambaMixer". */
export function gapText({ part }: Pick<Gap, "part">): string {
  return `no attention: ${part}`;
}

/** All gaps of a stream: "layers 0, 2–3 (JambaMambaMixer), 5 (Conv)"; empty if it has none. */
export function gapsPhrase(stream: Layers): string {
  const byPart = new Map<string, string[]>();
  const gaps = gapsOf(stream);
  for (const gap of gaps) byPart.set(gap.part, [...(byPart.get(gap.part) ?? []), gapLabel(gap)]);
  const lists = [...byPart].map(([part, labels]) => `${labels.join(", ")} (${part})`);
  const isOne = gaps.length === 1 && gaps[0].first === gaps[0].last;
  return lists.length === 0 ? "" : `${isOne ? "layer" : "layers"} ${lists.join(", ")}`;
}

/** A sentence with its lists of numbers shortened: "layer 0, 1, 2, 5" becomes "layer 0–2, 5". */
export function shortenLists(sentence: string): string {
  return sentence.replace(/\d+(?:, \d+){2,}/g, (list) => {
    const runs: [first: number, last: number][] = [];
    for (const number of list.split(", ").map(Number)) {
      const run = runs.at(-1);
      if (run && run[1] === number - 1) run[1] = number;
      else runs.push([number, number]);
    }
    return runs.map(([first, last]) => (first === last ? first : `${first}–${last}`)).join(", ");
  });
}

/** Links held against what people say is aligned: right, extra, missed, and the error rate. */

import type { Gold, Link } from "../../wire/types";

/** `open`: possible, and not linked, which is no mistake. `plain`: there is no gold to ask. */
export type Verdict = "right" | "extra" | "miss" | "open" | "plain";

/** A pair of words that is linked, or that people say is aligned, or both. */
export interface Mark {
  source: number;
  target: number;
  isLinked: boolean;
  gold: "sure" | "possible" | null;
  verdict: Verdict;
}

export interface Scores {
  right: number;
  extra: number;
  miss: number;
  /** 1 − (|A∩S| + |A∩P|) / (|A| + |S|); not a number where there are neither links nor gold. */
  aer: number;
  precision: number;
  recall: number;
}

/** Every mark of a picture, by target and then by source. */
export function marksOf(links: Link[], gold: Gold | null): Mark[] {
  const named = ([source, target]: Link) => `${source} ${target}`;
  const linked = new Set(links.map(named));
  const said = new Map<string, "sure" | "possible">();
  for (const link of gold?.possible ?? []) said.set(named(link), "possible");
  for (const link of gold?.sure ?? []) said.set(named(link), "sure");
  return [...new Set([...linked, ...said.keys()])]
    .map((name) => {
      const [source, target] = name.split(" ").map(Number);
      const [isLinked, told] = [linked.has(name), said.get(name) ?? null];
      const verdict = gold === null ? ("plain" as const) : judged(isLinked, told);
      return { source, target, isLinked, gold: told, verdict };
    })
    .sort((one, other) => one.target - other.target || one.source - other.source);
}

function judged(isLinked: boolean, gold: Mark["gold"]): Verdict {
  if (isLinked) return gold === null ? "extra" : "right";
  return gold === "sure" ? "miss" : "open";
}

/** How well links and gold agree, as Och and Ney (2003) count it. */
export function scoresOf(marks: Mark[]): Scores {
  const count = (isIn: (mark: Mark) => boolean) => marks.filter(isIn).length;
  const links = count(({ isLinked }) => isLinked);
  const sure = count(({ gold }) => gold === "sure");
  const right = count(({ verdict }) => verdict === "right");
  const found = count(({ isLinked, gold }) => isLinked && gold === "sure");
  return {
    right,
    extra: count(({ verdict }) => verdict === "extra"),
    miss: count(({ verdict }) => verdict === "miss"),
    aer: 1 - (found + right) / (links + sure),
    precision: right / links,
    recall: found / sure,
  };
}

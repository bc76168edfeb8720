/** Links compared with a gold alignment: right, extra, missed, and the error rate. */

import type { Gold, Link } from "../../wire/types";

/** `open`: possible but not linked, which is no error. `plain`: there is no gold alignment. */
export type Verdict = "right" | "extra" | "miss" | "open" | "plain";

/** A pair of words that is linked, or in the gold alignment, or both. */
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
  /** 1 − (|A∩S| + |A∩P|) / (|A| + |S|); NaN if there are neither links nor gold. */
  aer: number;
  precision: number;
  recall: number;
}

/** All marks, by target and then by source. */
export function marksOf(links: Link[], gold: Gold | null): Mark[] {
  const named = ([source, target]: Link) => `${source} ${target}`;
  const linked = new Set(links.map(named));
  const said = new Map<string, "sure" | "possible">();
  for (const link of gold?.possible ?? []) said.set(named(link), "possible");
  for (const link of gold?.sure ?? []) said.set(named(link), "sure");
  return [...new Set([...linked, ...said.keys()])]
    .map((name) => {
      const [source, target] = name.split(" ").map(Number);
      const [isLinked, label] = [linked.has(name), said.get(name) ?? null];
      const verdict = gold === null ? ("plain" as const) : verdictOf(isLinked, label);
      return { source, target, isLinked, gold: label, verdict };
    })
    .sort((one, other) => one.target - other.target || one.source - other.source);
}

function verdictOf(isLinked: boolean, gold: Mark["gold"]): Verdict {
  if (isLinked) return gold === null ? "extra" : "right";
  return gold === "sure" ? "miss" : "open";
}

/** The scores of the links, as in Och and Ney (2003). */
export function scoresOf(marks: Mark[]): Scores {
  const count = (isIn: (mark: Mark) => boolean) => marks.filter(isIn).length;
  const links = count(({ isLinked }) => isLinked);
  const sure = count(({ gold }) => gold === "sure");
  const right = count(({ verdict }) => verdict === "right");
  const sureLinks = count(({ isLinked, gold }) => isLinked && gold === "sure");
  return {
    right,
    extra: count(({ verdict }) => verdict === "extra"),
    miss: count(({ verdict }) => verdict === "miss"),
    aer: 1 - (sureLinks + right) / (links + sure),
    precision: right / links,
    recall: sureLinks / sure,
  };
}

/** The ladder: measures in an order in which each takes in one more component of the layer. */

import { measureOf } from "../state/pane";
import type { Flow, Stream } from "../wire/types";
import { isCarried } from "./stack";

/** From the weight alone to the whole layer. */
export const LADDER = [
  "weight",
  "value-norm",
  "weighted-norm",
  "attention",
  "attention-residual",
  "attention-block",
  "feed-forward",
  "feed-forward-residual",
  "layer-output",
];

/** The rungs that measure whole vectors, all heads together. */
const RUNGS = LADDER.slice(LADDER.indexOf("attention"));

/** From so many rungs on there is something to climb. */
const LEAST = 2;

/** A measure on the ladder, under all the names that it has in this model. */
export interface Stop {
  id: string;
  label: string;
  meaning: string;
}

/** The measures of a stream by how they are offered. */
export interface Offer {
  /** The ladder from below; empty where there is none to climb. */
  stops: Stop[];
  /** What stands side by side instead. */
  buttons: string[];
  /** What reaches back through all layers. */
  carried: string[];
  /** What is neither. */
  others: string[];
}

export function offerOf(flow: Flow, stream: Stream): Offer {
  const carried = stream.measures.filter(isCarried);
  const near = stream.measures.filter((id) => !isCarried(id));
  const isLadder = RUNGS.filter((id) => near.includes(id)).length >= LEAST;
  if (!isLadder) return { stops: [], buttons: near, carried, others: [] };
  const held = LADDER.filter((id) => near.includes(id));
  const others = near.filter((id) => !LADDER.includes(id));
  return { stops: held.map((id) => stopOf(flow, stream, id)), buttons: [], carried, others };
}

/** The measures in the order of their keys, those on the ladder first. */
export function inOrder({ stops, buttons, others, carried }: Offer): string[] {
  return [...stops.map(({ id }) => id), ...buttons, ...others, ...carried];
}

function stopOf(flow: Flow, stream: Stream, id: string): Stop {
  const { label, meaning } = measureOf(flow, id);
  return { id, label: [label, ...secondNames(flow, stream, id)].join(" = "), meaning };
}

/** What else a measure is called where rungs coincide. */
export function secondNames(flow: Flow, { aliases }: Stream, id: string): string[] {
  return LADDER.filter((other) => aliases[other] === id).map(
    (other) => measureOf(flow, other).label,
  );
}

/** The measure that another carries through the layers; null where that cannot be said. */
export function carriedBy(id: string): string | null {
  return id.startsWith("rollout:") ? id.slice("rollout:".length) : null;
}

/** Whose vector a rung measures, in words. */
const VECTORS: Record<string, string> = {
  attention: "what attention puts out for a token",
  "attention-residual": "a token's vector after the residual",
  "attention-block": "a token's vector after LayerNorm",
  "feed-forward": "what the feed-forward block puts out for a token",
  "feed-forward-residual": "a token's vector after the second residual",
  "layer-output": "a token's vector after the layer",
};

/** The vector that a rung measures: "a token's vector after LayerNorm". */
export function vectorOf(id: string): string {
  return VECTORS[id] ?? `a token's vector (${id})`;
}

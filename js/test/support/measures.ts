/** Measures as Python describes them, for flows that a test makes up. */

import type { Measure } from "../../src/wire/types";

/** α, with changes. */
export function measureWith(changes: Partial<Measure> = {}): Measure {
  return {
    id: "weight",
    label: "α",
    axes: ["layer", "head", "query", "key"],
    source: "",
    meaning: "how much",
    family: "attention",
    signed: false,
    base: null,
    reaches: "layer",
    has_residual: false,
    over_heads: "mean",
    on_request: false,
    coincides_with: null,
    short: "",
    of_weights: true,
    ...changes,
  };
}

/** The facts of measures that carry the input through all layers. */
export const REACHING_INPUT = { reaches: "input", has_residual: true } as const;

/** A rollout of a measure. */
export function rolloutOf(base: string): Partial<Measure> {
  return { id: `rollout:${base}`, family: "rollout", base, ...REACHING_INPUT };
}

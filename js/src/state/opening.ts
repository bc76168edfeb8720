/** What the stack opens with: a measure that includes the residual connection, if one is held. */

import {
  type Family,
  type Flow,
  type Measure,
  OTHER_FLOW,
  type Stream,
  type ViewState,
} from "../wire/types";
import { measureOf } from "./pane";

/** The families that include the residual connection, the best for tracing layers first. */
const FAMILIES: Family[] = ["ladder", "contribution", "decomposition", "rollout"];

/** The held measure with the residual connection that is nearest to the whole layer, if any. */
export function residualMeasure(flow: Flow, stream: Stream): Measure | null {
  const held = stream.measures
    .map((id) => measureOf(flow, id))
    .filter(({ has_residual }) => has_residual);
  const byFamily = FAMILIES.map((name) => held.filter(({ family }) => family === name).at(-1));
  return byFamily.find((measure) => measure !== undefined) ?? held.at(-1) ?? null;
}

/** What a stack shows before anything is chosen, where it differs from other views. */
export function stackDefaults(
  flow: Flow,
  stream: Stream,
): Pick<ViewState, "compare" | "layer"> & Partial<Pick<ViewState, "measure">> {
  const last = { compare: null, layer: stream.layers[stream.layers.length - 1] };
  const norm = stream.measures.includes("weighted-norm") ? "weighted-norm" : null;
  const measure = (canChain(stream) ? residualMeasure(flow, stream)?.id : null) ?? norm;
  return measure === null ? last : { ...last, measure };
}

/** What to change when a reader turns to the stack: a measure without the residual connection. */
export function changesForStack(
  { measure, compare }: ViewState,
  flow: Flow,
  stream: Stream,
): Partial<ViewState> {
  const better = canChain(stream) ? residualMeasure(flow, stream) : null;
  // The other flow may not hold the measure.
  if (!better || measureOf(flow, measure).has_residual || compare === OTHER_FLOW) return {};
  return { measure: better.id, ...(typeof compare === "string" ? { compare: null } : {}) };
}

/** Whether the layers of a stream can be traced into each other. */
function canChain({ kind, interruption }: Stream): boolean {
  return kind !== "cross" && interruption === "";
}

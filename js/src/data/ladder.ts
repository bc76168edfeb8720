/** The ladder: measures in an order in which each includes one more component of the layer. */

import { measureOf } from "../state/pane";
import type { Family, Flow, Stream } from "../wire/types";

/** The measures that can be stops of the slider, from the weight alone to the whole layer. */
const STOPS: Family[] = ["attention", "ladder"];

/** The slider appears if a stream holds at least this many rungs of the ladder. */
const MIN_RUNGS = 2;

/** A measure on the slider, with all the labels it has in this model. */
export interface Stop {
  id: string;
  label: string;
  meaning: string;
}

/** The measures of a stream, by the control that offers them. */
export interface MeasureGroups {
  /** The stops of the slider, in order; empty if there is no slider. */
  stops: Stop[];
  /** The buttons shown instead of the slider. */
  buttons: string[];
  /** Measures that reach back to the model's input. */
  reachingInput: string[];
  /** All others. */
  others: string[];
}

export function groupMeasures(flow: Flow, stream: Stream): MeasureGroups {
  const held = stream.measures.map((id) => measureOf(flow, id));
  const reachingInput = held.filter(({ reaches }) => reaches === "input").map(({ id }) => id);
  const perLayer = held.filter(({ reaches }) => reaches === "layer");
  const rungs = perLayer.filter(({ family }) => family === "ladder");
  if (rungs.length < MIN_RUNGS) {
    const named = perLayer.filter(({ short }) => short !== "");
    const buttons = (named.length > 0 ? named : perLayer).map(({ id }) => id);
    const others = perLayer.filter(({ id }) => !buttons.includes(id)).map(({ id }) => id);
    return { stops: [], buttons, reachingInput, others };
  }
  const isStop = ({ family }: { family: Family }) => STOPS.includes(family);
  return {
    stops: perLayer.filter(isStop).map(({ id }) => stopOf(flow, stream, id)),
    buttons: [],
    reachingInput,
    others: perLayer.filter((measure) => !isStop(measure)).map(({ id }) => id),
  };
}

/** The measures in the order of the number keys, those on the ladder first. */
export function measureOrder(groups: MeasureGroups): string[] {
  const { stops, buttons, others, reachingInput } = groups;
  return [...stops.map(({ id }) => id), ...buttons, ...others, ...reachingInput];
}

function stopOf(flow: Flow, stream: Stream, id: string): Stop {
  const { label, meaning } = measureOf(flow, id);
  return { id, label: [label, ...aliasLabels(flow, stream, id)].join(" = "), meaning };
}

/** The labels of the other rungs that coincide with a measure in this model. */
export function aliasLabels({ measures }: Flow, { aliases }: Stream, id: string): string[] {
  return measures
    .filter((other) => other.family === "ladder" && aliases[other.id] === id)
    .map(({ label }) => label);
}

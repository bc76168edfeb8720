/** Flows with the ladder: the one that Python wrote, and one that holds every rung and more. */

import { Store } from "../../src/state/store";
import { Tiles } from "../../src/state/tiles";
import type { Flow, Header, Measure, Stream, ViewState } from "../../src/wire/types";
import contract from "./contract.json";
import { state } from "./fixtures";
import { measureWith, REACHING_INPUT, rolloutOf } from "./measures";

export const { statistics } = contract.ladder;
export const header = contract.ladder.header as unknown as Header;

export function tiles(): Tiles {
  const bytes = Uint8Array.from(atob(contract.ladder.data), (character) => character.charCodeAt(0));
  return new Tiles(header.tiles, new DataView(bytes.buffer));
}

/** A store of the pre-norm flow that Python wrote. */
export function store(changes: Partial<ViewState> = {}): Store {
  const found = new Store(header, { ...state, stream: "encoder", layer: 0, ...changes });
  found.choose({});
  return found;
}

/** The facts of the further measures, by id. */
const FURTHER: Record<string, Partial<Measure>> = {
  "rollout:weight": rolloutOf("weight"),
  "rollout:attention": rolloutOf("attention"),
  "rollout:layer-output": rolloutOf("layer-output"),
  decomposition: { family: "decomposition", ...REACHING_INPUT },
  "effective-weight": { family: "effective" },
};
const CARRIED = ["rollout:weight", "rollout:layer-output", "decomposition"];

/** The same flow with nothing coinciding, and with such further measures. */
export function tall(more: string[] = CARRIED, changes: Partial<ViewState> = {}): Store {
  const [flow] = header.flows;
  const [stream] = flow.streams;
  const extra = more.map((id) => {
    const axes: Measure["axes"] = ["layer", "query", "key"];
    const own = { id, label: `the ${id}`, axes, meaning: "much", over_heads: null };
    return measureWith({ ...FURTHER[id], ...own });
  });
  const order = [...stream.measures.slice(0, 5), "attention-block", "feed-forward"];
  const held = [...order, "feed-forward-residual", "layer-output", ...more];
  const full: Stream = { ...stream, measures: held, aliases: {} };
  const taller: Flow = { ...flow, measures: [...flow.measures, ...extra], streams: [full] };
  const made = { ...header, flows: [taller] };
  return new Store(made, { ...state, stream: "encoder", layer: 0, ...changes });
}

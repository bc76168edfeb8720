/** Panes of several layers with chosen numbers, and hands that remember what they did. */

import { type Stack, stackOf } from "../../src/data/stack";
import type { Pane } from "../../src/state/pane";
import type { ViewActions } from "../../src/views/view";
import type { Focus, Measure, Stream, ViewState } from "../../src/wire/types";
import { labels, state, tilesWith } from "./fixtures";
import { measureWith } from "./measures";

/** What else a pane may have. */
export interface Extras {
  changes?: Partial<ViewState>;
  stream?: Partial<Stream>;
  measure?: Partial<Measure>;
  layers?: number[];
  title?: string;
}

/** A pane of weights [layer head query key], with tokens `t0 t1 …` on both sides. */
export function deep(weights: number[][][][], extras: Extras = {}): Pane {
  const [first] = weights;
  const layers = extras.layers ?? weights.map((_, layer) => layer);
  const tokens = labels("t", first[0].length);
  const stream: Stream = {
    name: "encoder",
    kind: "encoder",
    other_layers: {},
    interruption: "",
    queries: tokens,
    keys: tokens,
    layers,
    heads: first.map((_, head) => head),
    measures: ["weight"],
    multiplied: [],
    statistics: [],
    aliases: {},
    bias_share: {},
    headlines: [],
    ...extras.stream,
  };
  const measure = measureWith(extras.measure);
  const receipt = { ok: true, headline: "", text: "" };
  const flow = { title: "", model: "", measures: [measure], streams: [stream], receipt };
  const from = `0/${stream.name}/${measure.id}`;
  const [rows, columns] = [stream.queries.pieces.length, stream.keys.pieces.length];
  const tiles = tilesWith({
    ...Object.fromEntries(
      weights.map((layer, at) => [`${from}/${layers[at]}/all`, { values: layer.flat(2) }]),
    ),
    [`${from}/overview`]: { values: weights.flat(3), about: { rows, columns, peaks: [[1]] } },
  });
  const layer = extras.changes?.layer ?? layers[layers.length - 1];
  const chosen = { ...state, measure: measure.id, stream: stream.name, ...extras.changes, layer };
  const title = extras.title ?? "";
  return { index: 0, flow, stream, measure, state: chosen, tiles, title };
}

/** A hand that writes down what it was asked to do. */
export function scribe() {
  const told: string[] = [];
  const spelled = (focus: Focus | null) => (focus ? `${focus.role} ${focus.token}` : "nothing");
  const actions: ViewActions = {
    hover: (focus) => void told.push(`hover ${spelled(focus)}`),
    pin: (focus) => void told.push(`pin ${spelled(focus)}`),
    choose: (changes) => void told.push(`choose ${JSON.stringify(changes)}`),
    refresh: () => void told.push("refresh"),
  };
  return { actions, told };
}

/** Two layers of three tokens, one head. */
export const TWO = [
  [
    [
      [1, 0, 0],
      [0.5, 0.5, 0],
      [0.2, 0.2, 0.6],
    ],
  ],
  [
    [
      [0, 1, 0],
      [0, 0, 1],
      [0.5, 0, 0.5],
    ],
  ],
];

/** Two queries that read three tokens of another text. */
export const CROSS: Extras = {
  stream: { name: "cross", kind: "cross", queries: labels("q", 2), keys: labels("k", 3) },
};

/** The stack of a pane, whose numbers must be there. */
export function gathered(pane: Pane): Stack {
  const stack = stackOf(pane);
  if (!stack) throw new Error("the numbers are not here");
  return stack;
}

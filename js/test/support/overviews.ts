/** A small flow with every number known, for the views that show all layers at once. */

import { measureOf, type Pane } from "../../src/state/pane";
import type { Flow, Measure, Stream, TileDetails, ViewState } from "../../src/wire/types";
import { state, tilesWith } from "./fixtures";
import { measureWith } from "./measures";

export const MEASURES: Measure[] = [
  measureWith(),
  measureWith({
    id: "value-norm",
    label: "‖f(x)‖",
    axes: ["layer", "head", "key"],
    meaning: "how long",
    over_heads: "sum",
    of_weights: false,
  }),
  measureWith({
    id: "weighted-norm",
    label: "‖αf(x)‖",
    meaning: "how much moves",
    over_heads: "sum",
    of_weights: false,
  }),
  measureWith({
    id: "attention",
    label: "‖Σ αf(x)‖",
    axes: ["layer", "query", "key"],
    meaning: "all",
    family: "ladder",
    over_heads: null,
  }),
];

const TOKENS = {
  pieces: ["[CLS]", "un", "##do", ".", "[SEP]"],
  ids: [0, 1, 2, 3, 4],
  special: [true, false, false, false, true],
  words: [0, 1, 1, 2, 3],
  categories: ["[CLS]", "other", "other", "punctuation", "[SEP]"],
  word_texts: ["[CLS]", "undo", ".", "[SEP]"],
};

export const STREAM: Stream = {
  name: "encoder",
  kind: "encoder",
  other_layers: {},
  interruption: "",
  queries: TOKENS,
  keys: TOKENS,
  layers: [1, 4],
  heads: [0, 3],
  measures: MEASURES.map(({ id }) => id),
  multiplied: [],
  statistics: [],
  aliases: {},
  bias_share: {},
  headlines: [],
};

/** The weights of head 0 and head 3 in both layers: every query does the same. */
const ROWS = [
  [0.6, 0.1, 0.1, 0.1, 0.1],
  [0.2, 0.3, 0.3, 0.1, 0.1],
];
const WEIGHTS = ROWS.flatMap((row) => [row, row, row, row, row]).flat();
const NORMS = [
  [1, 5, 3, 4, 2],
  [2, 6, 4, 5, 3],
];
const MOVED = WEIGHTS.map((weight, at) => weight * NORMS[Math.floor(at / 25)][at % 5]);

const APART = [
  [0.1, 0.62],
  [0.3, 0.3],
];

const shares = (first: number, last: number): NonNullable<TileDetails["shares"]> => ({
  "[CLS]": [first, last],
  other: [0.5, 0.5],
  punctuation: [0.1, 0.1],
  "[SEP]": [0.4 - first, 0.4 - last],
});

/** The tiles of all measures; layer 4 holds half of what layer 1 does. */
function tiles() {
  const both = (values: number[]) => [...values, ...values.map((value) => value / 2)];
  const square = { rows: 5, columns: 5 };
  const layers = STREAM.layers.flatMap((layer) => [
    [`0/encoder/weight/${layer}/all`, { values: WEIGHTS }] as const,
    [`0/encoder/value-norm/${layer}/all`, { values: NORMS.flat() }] as const,
  ]);
  return tilesWith({
    ...Object.fromEntries(layers),
    "0/encoder/weight/overview": {
      values: both(WEIGHTS),
      about: { ...square, shares: shares(0.38, 0.2), disagreement: { "weighted-norm": APART } },
    },
    "0/encoder/weighted-norm/overview": {
      values: both(MOVED),
      about: { ...square, shares: shares(0.031, 0.1), disagreement: { weight: APART } },
    },
    "0/encoder/value-norm/overview": {
      values: both(NORMS.flat()),
      about: { rows: 1, columns: 5, shares: shares(0.1, 0.1), disagreement: {} },
    },
    "0/encoder/attention/overview": {
      values: both(MOVED.slice(0, 25)),
      about: { ...square, shares: shares(0.1, 0.1), disagreement: {} },
    },
  });
}

/** A pane of it. */
export function smallPane(changes: Partial<ViewState> = {}, stream: Stream = STREAM): Pane {
  const receipt = { ok: true, headline: "", text: "" };
  const flow: Flow = { title: "", model: "", measures: MEASURES, streams: [stream], receipt };
  const chosen = { ...state, measure: "weight", layer: 1, ...changes };
  const measure = measureOf(flow, chosen.measure);
  return { index: 0, flow, stream, measure, state: chosen, tiles: tiles(), title: "" };
}

/** What the tests share: the flow that Python wrote, and pictures with chosen numbers. */

import { type Picture, pictureOf } from "../../src/data/layer";
import { type Pane, panesOf } from "../../src/state/pane";
import { Store } from "../../src/state/store";
import { Tiles } from "../../src/state/tiles";
import type { Flow, Header, Stream, TileDetails, ViewState } from "../../src/wire/types";
import contract from "./contract.json";
import { measureWith } from "./measures";

export const header = contract.header as unknown as Header;
export const state = contract.state as unknown as ViewState;
export const numbers = contract.numbers;

/** The buffer as a host may hand it over: somewhere inside a larger one. */
export function buffer(before = 0): DataView {
  const bytes = Uint8Array.from(atob(contract.data), (character) => character.charCodeAt(0));
  const larger = new Uint8Array(before + bytes.length + 3).fill(255);
  larger.set(bytes, before);
  return new DataView(larger.buffer, before, bytes.length);
}

export function store(changes: Partial<ViewState> = {}): Store {
  return new Store(header, { ...state, ...changes });
}

export function tiles(): Tiles {
  return new Tiles(header.tiles, buffer());
}

/** The first pane of a choice of the contract's flow. */
export function contractPane(changes: Partial<ViewState> = {}): Pane {
  return panesOf(header, store(changes).state.value, tiles())[0];
}

/** The picture that a choice gives of the contract's flow. */
export function contractPicture(changes: Partial<ViewState> = {}): Picture {
  const picture = pictureOf(contractPane(changes));
  if (!picture) throw new Error("the contract lacks these numbers");
  return picture;
}

/** Tiles with chosen numbers, each kept exactly. */
export function tilesWith(given: Record<string, { values: number[]; about?: TileDetails }>): Tiles {
  const values = Object.values(given).flatMap((tile) => tile.values);
  const floats = Float32Array.from(values);
  let offset = 0;
  const places = Object.entries(given).map(([name, tile]) => {
    const bytes = 4 * tile.values.length;
    offset += bytes;
    return {
      name,
      dtype: "float32" as const,
      about: tile.about ?? {},
      offset: offset - bytes,
      bytes,
    };
  });
  return new Tiles(places, new DataView(floats.buffer));
}

/** The measures of a made-up flow with norms. */
const WITH_NORMS = [
  measureWith(),
  measureWith({
    id: "value-norm",
    label: "‖f(x)‖",
    axes: ["layer", "head", "key"],
    meaning: "how long",
    of_weights: false,
  }),
  measureWith({ id: "weighted-norm", label: "‖αf(x)‖", of_weights: false }),
];

/**
 * A one-layer pane of weights [head query key], with labels `k0 k1 …` and `q0 q1 …`.
 *
 * With norms [head key] it holds these too, and their products with the weights.
 */
export function pane(
  weights: number[][][],
  changes: Partial<ViewState> = {},
  norms: number[][] | null = null,
): Pane {
  const [heads, queries, keys] = [weights.length, weights[0].length, weights[0][0].length];
  const stream: Stream = {
    name: "encoder",
    kind: "encoder",
    other_layers: {},
    interruption: "",
    queries: labels("q", queries),
    keys: labels("k", keys),
    layers: [5],
    heads: Array.from({ length: heads }, (_, head) => head),
    measures: norms ? WITH_NORMS.map(({ id }) => id) : ["weight"],
    multiplied: norms ? ["weighted-norm"] : [],
    statistics: [],
    aliases: {},
    bias_share: {},
    headlines: [],
  };
  const receipt = { ok: true, headline: "", text: "" };
  const flow: Flow = { title: "", model: "", measures: WITH_NORMS, streams: [stream], receipt };
  const about = { peaks: [weights.map(() => 2)] };
  const found = tilesWith({
    "0/encoder/weight/5/all": { values: weights.flat(2) },
    "0/encoder/value-norm/5/all": { values: norms?.flat() ?? [] },
    "0/encoder/weight/overview": { values: [], about },
    "0/encoder/value-norm/overview": { values: [], about },
  });
  const chosen = { ...state, measure: "weight", layer: 5, ...changes };
  // Only the flows of a header matter here.
  const [made] = panesOf({ ...header, flows: [flow] }, chosen, found);
  return made;
}

/** The picture of such a pane. */
export function picture(
  weights: number[][][],
  changes: Partial<ViewState> = {},
  norms: number[][] | null = null,
): Picture {
  return pictureOf(pane(weights, changes, norms)) as Picture;
}

/** Tokens that are only numbered, each a word of its own. */
export function labels(prefix: string, count: number): Stream["keys"] {
  const pieces = Array.from({ length: count }, (_, index) => `${prefix}${index}`);
  return {
    pieces,
    ids: pieces.map(() => -1),
    special: pieces.map(() => false),
    words: pieces.map((_, index) => index),
    categories: pieces.map(() => "other"),
    word_texts: pieces,
  };
}

/** Another flow that Python wrote, with the state in which it opens. */
export interface Opened {
  store: Store;
  tiles: Tiles;
  /** Its first pane, in the present state. */
  pane(): Pane;
}

/** A decoder with attention only in layers 1 and 4, or two towers with cross-attention. */
export function opened(name: "hybrid" | "towers", changes: Partial<ViewState> = {}): Opened {
  const { header: described, data, state: first } = contract[name];
  const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  const held = described as unknown as Header;
  const chosen = new Store(held, first as unknown as ViewState);
  chosen.choose(changes);
  const numbers = new Tiles(held.tiles, new DataView(bytes.buffer));
  const pane = () => panesOf(held, chosen.state.value, numbers)[0];
  return { store: chosen, tiles: numbers, pane };
}

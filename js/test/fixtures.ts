/** What the tests share: the flow that Python wrote, and pictures with chosen numbers. */

import type { Choice, Header, Measure, Stream } from "../src/model";
import { type Picture, pictureOf } from "../src/picture";
import { Store } from "../src/store";
import { type Tiles, tilesOf } from "../src/tiles";
import contract from "./contract.json";

export const header = contract.header as unknown as Header;
export const choice = contract.choice as unknown as Choice;
export const choices = contract.choices;
export const numbers = contract.numbers;

/** The buffer as a host may hand it over: somewhere inside a larger one. */
export function buffer(before = 0): DataView {
  const bytes = Uint8Array.from(atob(contract.data), (character) => character.charCodeAt(0));
  const larger = new Uint8Array(before + bytes.length + 3).fill(255);
  larger.set(bytes, before);
  return new DataView(larger.buffer, before, bytes.length);
}

export function store(changes: Partial<Choice> = {}): Store {
  return new Store(header, { ...choice, ...changes });
}

export function tiles(): Tiles {
  return tilesOf(header, buffer());
}

/** The picture that a choice gives of the contract's flow. */
export function contractPicture(changes: Partial<Choice> = {}): Picture {
  const { stream, measure, choice: cell } = store(changes);
  const picture = pictureOf(stream, measure, cell.value, tiles());
  if (!picture) throw new Error("the contract lacks these numbers");
  return picture;
}

/** A one-layer picture of weights [head query key], with labels `k0 k1 …` and `q0 q1 …`. */
export function picture(
  weights: number[][][],
  scale: Choice["normalize"] = "layer",
  norms: number[][] | null = null,
): Picture {
  const [heads, queries, keys] = [weights.length, weights[0].length, weights[0][0].length];
  const stream: Stream = {
    name: "encoder",
    queries: labels("q", queries),
    keys: labels("k", keys),
    layers: [5],
    heads: Array.from({ length: heads }, (_, head) => head),
    measures: ["weight"],
    peaks: { weight: [weights.map(() => 2)], "value-norm": [weights.map(() => 2)] },
  };
  const measure: Measure = {
    id: "weight",
    label: "α",
    axes: ["layer", "head", "query", "key"],
    source: "",
    meaning: "how much",
  };
  const found = { weight: weights.flat(2), "value-norm": norms?.flat() };
  const get: Tiles["get"] = (_, name) => {
    const values = found[name as keyof typeof found];
    return values ? Float32Array.from(values) : null;
  };
  const wanted = { ...choice, layer: 5, normalize: scale };
  return pictureOf(stream, measure, wanted, { get }) as Picture;
}

function labels(prefix: string, count: number): Stream["keys"] {
  const pieces = Array.from({ length: count }, (_, index) => `${prefix}${index}`);
  return {
    pieces,
    ids: pieces.map(() => -1),
    special: pieces.map(() => false),
    words: pieces.map((_, index) => index),
    categories: pieces.map(() => "other"),
    spellings: pieces,
  };
}

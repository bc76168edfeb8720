/** Every shape that crosses from Python, and every choice that crosses both ways. */

export type Axis = "layer" | "head" | "query" | "key";
export type StreamName = "encoder" | "decoder" | "cross";
export type Side = "query" | "key";
export type Scale = "absolute" | "query" | "layer";
export type Theme = "auto" | "light" | "dark";

/** What a reader may choose; small values that travel both ways. `null` heads are all heads. */
export interface Choice {
  view: "flow";
  stream: StreamName;
  measure: string;
  layer: number;
  heads: number[] | null;
  token: number | null;
  side: Side;
  normalize: Scale;
  theme: Theme;
}

export const CHOICES = [
  "view",
  "stream",
  "measure",
  "layer",
  "heads",
  "token",
  "side",
  "normalize",
  "theme",
] as const satisfies readonly (keyof Choice)[];

/** A text as the model sees it, in columns of equal length; `spellings` has one entry per word. */
export interface Tokens {
  pieces: string[];
  ids: number[];
  special: boolean[];
  words: number[];
  categories: string[];
  spellings: string[];
}

/** One way of saying how much a token gave to another. */
export interface Measure {
  id: string;
  label: string;
  axes: Axis[];
  source: string;
  meaning: string;
}

/** One kind of attention: its tokens, and the layers and heads held, by the model's own numbers. */
export interface Stream {
  name: StreamName;
  queries: Tokens;
  keys: Tokens;
  layers: number[];
  heads: number[];
  measures: string[];
  /** For each measure, layer and head: the most that any token receives. */
  peaks: Record<string, number[][]>;
}

export type Dtype = "log16" | "float32";

/** Where the numbers of one stream, measure and layer lie in the buffer. */
export interface Tile {
  stream: StreamName;
  measure: string;
  layer: number;
  dtype: Dtype;
  offset: number;
  bytes: number;
}

/** Whether the parts add up, in one line and in full. */
export interface Receipt {
  ok: boolean;
  headline: string;
  text: string;
}

/** All of a flow but its numbers. */
export interface Header {
  format: number;
  title: string;
  model: string;
  measures: Measure[];
  streams: Stream[];
  receipt: Receipt;
  tiles: Tile[];
}

/** The layout of the header that this code reads. */
export const FORMAT = 1;

/** A token on one of the two sides. */
export interface Focus {
  side: Side;
  token: number;
}

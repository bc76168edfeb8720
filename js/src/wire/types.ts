/** Every shape that crosses from Python, and every choice that crosses both ways. */

export type Axis = "layer" | "head" | "query" | "key";
export type StreamName = "encoder" | "decoder" | "cross";
export type Side = "query" | "key";
export type Scale = "absolute" | "query" | "layer";
export type Theme = "auto" | "light" | "dark";

export type Special = "shown" | "dimmed" | "hidden";
/** What the small pictures of the grid are colored by: how far two measures agree, or nothing. */
export const COLORS = ["none", "rank", "overlap", "distance"] as const;
export type Color = (typeof COLORS)[number];
/** Which row stands for a word of a translation: the one that reads it, or that predicts it. */
export const SETTINGS = ["input", "output"] as const;
export type Setting = (typeof SETTINGS)[number];
export const VIEWS = ["flow", "stack", "grid", "matrix", "profile", "alignment"] as const;
export type ViewName = (typeof VIEWS)[number];

/** What `compare` is called when it is another flow. */
export const OTHER = "other";

/** What a reader may choose; small values that travel both ways. `null` heads are all heads. */
export interface Choice {
  view: ViewName;
  stream: StreamName;
  measure: string;
  /** What stands beside: a measure's id, a layer's number, `OTHER` for the other flow. */
  compare: string | number | null;
  layer: number;
  heads: number[] | null;
  /** The pinned token, by its piece, also where words are shown. */
  token: number | null;
  side: Side;
  normalize: Scale;
  words: boolean;
  special: Special;
  /** Nothing below this part of the largest number is drawn. */
  threshold: number;
  color: Color;
  setting: Setting;
  theme: Theme;
}

export const CHOICES = [
  "view",
  "stream",
  "measure",
  "compare",
  "layer",
  "heads",
  "token",
  "side",
  "normalize",
  "words",
  "special",
  "threshold",
  "color",
  "setting",
  "theme",
] as const satisfies readonly (keyof Choice)[];

/** A text as the model sees it, in columns of equal length; `word_texts` has one entry per word. */
export interface Tokens {
  pieces: string[];
  ids: number[];
  special: boolean[];
  words: number[];
  categories: string[];
  word_texts: string[];
}

/** One way of saying how much a token gave to another. */
export interface Measure {
  id: string;
  label: string;
  axes: Axis[];
  source: string;
  meaning: string;
  /** Whether its numbers may be negative: sizes are drawn, and signs are hues. */
  signed: boolean;
}

/** One kind of attention: its tokens, and the layers and heads held, by the model's own numbers. */
export interface Stream {
  name: StreamName;
  queries: Tokens;
  keys: Tokens;
  layers: number[];
  heads: number[];
  measures: string[];
  /** The measures that are not sent but multiplied here. */
  multiplied: string[];
  /** What else is known of the rungs of the ladder, such as `projection:layer-output`; named like measures. */
  statistics: string[];
  /** Rungs that are others under a second name, and are held under the first. */
  aliases: Record<string, string>;
  /** For each rung: the share of the vectors that comes from no token, by layer. */
  bias_share: Record<string, number[]>;
}

export type Dtype = "log16" | "log8" | "float32";

/** What else is known of a tile; all but the scale only of an overview. */
export interface About {
  /** What every number is to be multiplied by; 1 where it is not said. */
  scale?: number;
  /** How many cells its small pictures have [layer head row column]. */
  rows?: number;
  columns?: number;
  /** For each layer and head: the most that any token receives. */
  peaks?: number[][];
  /** For each category of key: its share of all that is taken, by layer. */
  shares?: Record<string, number[]>;
  /** For each comparable measure: how far it divides otherwise, by layer and head. */
  disagreement?: Record<string, number[][]>;
}

/** Where the numbers of one tile lie in the buffer; `normviz/tiles.py` says how they are named. */
export interface Place {
  name: string;
  dtype: Dtype;
  about: About;
  offset: number;
  bytes: number;
}

/** Whether the parts add up, in one line and in full. */
export interface Receipt {
  ok: boolean;
  headline: string;
  text: string;
}

/** One curve of a chart: a number for each layer, and perhaps the bounds it may lie between. */
export interface Series {
  name: string;
  values: number[];
  /** Curves of one group have one hue; empty where a curve is a group of its own. */
  group: string;
  dashed: boolean;
  /** Whether it only says what the others are to be measured against. */
  faint: boolean;
  low: number[] | null;
  high: number[] | null;
}

/** Curves over the layers that come with a flow, such as those of a study. */
export interface Chart {
  title: string;
  /** What is drawn, and what is to be seen, in a sentence each; the second may be empty. */
  about: string;
  finding: string;
  /** What the upright axis shows. */
  label: string;
  layers: number[];
  series: Series[];
  /** What the numbers are counted in; empty for shares. */
  unit: string;
  /** Whether groups are kinds of token. */
  kinds: boolean;
}

/** Charts without a flow, such as those of a whole corpus, and what is said about them. */
export interface Report {
  format: number;
  title: string;
  about: string;
  notes: string[];
  charts: Chart[];
}

/** A source word and a target word, both counted from 0 without special tokens. */
export type Link = [source: number, target: number];

/** What people say is aligned; what is possible without what is sure. */
export interface Gold {
  sure: Link[];
  possible: Link[];
}

/** All of a flow but its numbers. */
export interface Flow {
  title: string;
  model: string;
  /** What was left out of a file, in a sentence. */
  note?: string;
  measures: Measure[];
  streams: Stream[];
  receipt: Receipt;
  charts?: Chart[];
  gold?: Gold | null;
}

/** For each token the one that stands for it in the other text, both ways. */
export interface BothWays {
  there: (number | null)[];
  back: (number | null)[];
}

/** The tokens of another flow that stand for the first one's, by stream. */
export type Counterparts = Partial<Record<StreamName, { queries: BothWays; keys: BothWays }>>;

/** One flow, perhaps another beside it, and where their numbers lie. */
export interface Header {
  format: number;
  flows: Flow[];
  counterparts: Counterparts[];
  tiles: Place[];
}

/** The layout of the header that this code reads. */
export const FORMAT = 2;

/** A token on one of the two sides, by its piece. */
export interface Focus {
  side: Side;
  token: number;
}

/** The shapes of everything that Python sends, and of the view's state, which travels both ways. */

export type Axis = "layer" | "head" | "query" | "key";
/** Self-attention in both directions or causal, or attention to another sequence. */
export type StreamKind = "encoder" | "decoder" | "cross";

/** Whether a token receives (query) or is read from (key). */
export type Role = "query" | "key";
export type Scale = "absolute" | "query" | "layer";
export type Theme = "auto" | "light" | "dark";
export type Special = "shown" | "dimmed" | "hidden";
/** How the grid's tiles are colored: by an agreement between two measures, or not at all. */
export type ColorBy = "none" | "rank" | "overlap" | "distance";
/** The row that represents a target word: the one that reads it, or the one that predicts it. */
export type TargetRow = "input" | "output";
export type ViewName = "flow" | "stack" | "grid" | "matrix" | "profile" | "alignment" | "text";

/** The value of `compare` that means the other flow. */
export const OTHER_FLOW = "other";

/** Everything a reader can choose. Allowed values and defaults come with the header. */
export interface ViewState {
  view: ViewName;
  /** By its name, such as `encoder` or `text.cross`. */
  stream: string;
  measure: string;
  /** What is shown beside it: a measure's id, a layer's number, or `OTHER_FLOW`. */
  compare: string | number | null;
  layer: number;
  /** Null for all heads. */
  heads: number[] | null;
  /** The pinned token, as the index of a piece, even when words are shown. */
  token: number | null;
  role: Role;
  normalize: Scale;
  words: boolean;
  special: Special;
  /** Hide everything below this fraction of the largest value. */
  threshold: number;
  color_by: ColorBy;
  target_row: TargetRow;
  /** Whether two measures are shown as one picture of their difference. */
  difference: boolean;
  theme: Theme;
}

/** The keys of the state, in the order of URLs and of Python code. */
export const STATE_KEYS = [
  "view",
  "stream",
  "measure",
  "compare",
  "layer",
  "heads",
  "token",
  "role",
  "normalize",
  "words",
  "special",
  "threshold",
  "color_by",
  "target_row",
  "difference",
  "theme",
] as const satisfies readonly (keyof ViewState)[];

/** The parts of the state whose values come from a fixed list. */
export type ListedKey =
  | "view"
  | "role"
  | "normalize"
  | "special"
  | "color_by"
  | "target_row"
  | "theme";

/** The allowed values of each listed key, and the defaults for each stream of the first flow. */
export interface StateRules {
  allowed: { [key in ListedKey]: ViewState[key][] };
  defaults: Partial<Record<string, Omit<ViewState, "stream">>>;
}

/** A text as the model sees it, in columns of equal length; `word_texts` has one entry per word. */
export interface Tokens {
  pieces: string[];
  ids: number[];
  special: boolean[];
  words: number[];
  categories: string[];
  word_texts: string[];
}

/** How a measure is computed. */
export type Family =
  | "attention"
  | "ladder"
  | "effective"
  | "contribution"
  | "attribution"
  | "value-zeroing"
  | "decomposition"
  | "rollout"
  | "max-flow";

/** A way of measuring how much one token contributes to another; see `normviz/core/catalog.py`. */
export interface Measure {
  id: string;
  label: string;
  axes: Axis[];
  source: string;
  meaning: string;
  family: Family;
  /** Whether values may be negative: views then draw magnitudes, with the sign as a hue. */
  signed: boolean;
  /** The id of the measure it is derived from. */
  base: string | null;
  /** Whether its keys are the tokens that enter the layer, or the model's input tokens. */
  reaches: "layer" | "input";
  /** Whether it includes what the residual connection carries. */
  has_residual: boolean;
  /** How heads are combined; null for a measure without heads. */
  over_heads: "mean" | "sum" | null;
  on_request: boolean;
  /** The measure it equals in models without a norm between the two. */
  coincides_with: string | null;
  /** What it says in a few words; empty if its label says it. */
  short: string;
  /** Whether it consists of attention weights alone; they have a hue of their own. */
  of_weights: boolean;
  /** Only for a difference, which the view computes: what is subtracted, and from what. */
  pair?: [less: Measure, more: Measure];
}

/** One sentence about a layer; a part is a share by a measure, or only text. */
export interface Headline {
  layer: number;
  /** How far the measures differ about the tokens that it names, from 0 to 1. */
  difference: number;
  parts: [text: string, measure: string][];
}

/** One attention stream: its tokens, and the layers and heads it holds, by the model's numbers. */
export interface Stream {
  /** Its kind if a model has one of each, else its tower: words joined by dots. */
  name: string;
  kind: StreamKind;
  queries: Tokens;
  keys: Tokens;
  layers: number[];
  /** By number, the layers without attention of this stream, and what they have instead. */
  other_layers: Record<string, string>;
  /** Why its layers cannot be chained; empty if they can. */
  interruption: string;
  heads: number[];
  measures: string[];
  /** The measures that are not sent, but computed here as weight times norm. */
  multiplied: string[];
  /** Further values per measure, such as `projection:layer-output`; tiles are named the same way. */
  statistics: string[];
  /** Measures that equal another one in this model, and the id under which they are held. */
  aliases: Record<string, string>;
  /** For each rung of the ladder: the share of the vectors that comes from biases, by layer. */
  bias_share: Record<string, number[]>;
  /** What is most notable in each layer; empty without numbers. */
  headlines: Headline[];
}

export type Dtype = "log16" | "log8" | "float32";

/** Further facts about a tile; all except the scale exist only for overviews. */
export interface TileDetails {
  /** The factor for every number; 1 if absent. */
  scale?: number;
  /** The number of cells of each thumbnail [layer head row column]. */
  rows?: number;
  columns?: number;
  /** For each layer and head: the most that any token receives. */
  peaks?: number[][];
  /** For each category of key: its share of the total, by layer. */
  shares?: Record<string, number[]>;
  /** For each comparable measure: the total variation distance of the shares, by layer and head. */
  disagreement?: Record<string, number[][]>;
}

/** Where the numbers of a tile are in the buffer; `normviz/view/tiles.py` defines the names. */
export interface TileLocation {
  name: string;
  dtype: Dtype;
  about: TileDetails;
  offset: number;
  bytes: number;
}

/** Whether the parts add up to the model's output, in one line and in full. */
export interface Receipt {
  ok: boolean;
  headline: string;
  text: string;
}

/** One curve of a chart: a value for each layer, optionally with a band around it. */
export interface Series {
  name: string;
  values: number[];
  /** Curves of one group share a hue; empty if the curve is its own group. */
  group: string;
  dashed: boolean;
  /** Whether it is only a reference for the other curves. */
  faint: boolean;
  low: number[] | null;
  high: number[] | null;
}

/** Curves over the layers that come with a flow, such as the result of a study. */
export interface Chart {
  title: string;
  /** What is drawn, in one sentence. */
  about: string;
  /** What the chart shows, in one sentence; may be empty. */
  finding: string;
  /** The label of the vertical axis. */
  label: string;
  layers: number[];
  series: Series[];
  /** The unit of the values; empty for shares. */
  unit: string;
  /** Whether groups are kinds of token. */
  kinds: boolean;
}

/** Charts without a flow, such as those of a whole corpus, with notes about them. */
export interface Report {
  format: number;
  title: string;
  about: string;
  notes: string[];
  charts: Chart[];
}

/** A source word and a target word, both counted from 0 without special tokens. */
export type Link = [source: number, target: number];

/** A human alignment; `possible` does not include the sure links. */
export interface Gold {
  sure: Link[];
  possible: Link[];
}

/** A flow without its numbers. */
export interface Flow {
  title: string;
  model: string;
  /** How many layers and heads the model has; empty if it has several streams. */
  size?: string;
  /** What was left out of a file, in one sentence. */
  note?: string;
  measures: Measure[];
  streams: Stream[];
  receipt: Receipt;
  charts?: Chart[];
  gold?: Gold | null;
}

/** For each token, the matching token of the other text, in both directions. */
export interface TokenMatching {
  there: (number | null)[];
  back: (number | null)[];
}

/** The tokens of another flow that match those of the first, by stream. */
export type Counterparts = Partial<Record<string, { queries: TokenMatching; keys: TokenMatching }>>;

/** One or two flows, the rules of the view's state, and where the numbers are. */
export interface Header {
  format: number;
  state: StateRules;
  flows: Flow[];
  counterparts: Counterparts[];
  tiles: TileLocation[];
}

/** The header format that this code reads. */
export const FORMAT = 5;

/** A token in one of the two roles, as the index of a piece. */
export interface Focus {
  role: Role;
  token: number;
}

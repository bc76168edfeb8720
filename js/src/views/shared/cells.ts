/** One layer as a field of cells: its axes and the depth of each color. */

import { type Picture, pictureOf } from "../../data/layer";
import { maxOf, pickPlanes, sizesOf, sumByQuery, sumPlanes } from "../../math/arrays";
import type { TokenRows } from "../../math/rows";
import type { Pane } from "../../state/pane";
import type { Role, Tokens } from "../../wire/types";
import { headsLabel } from "../../words/describe";

/** One axis of the field. */
export interface Edge {
  labels: string[];
  special: boolean[];
  /** The role of the tokens; null if the axis shows heads. */
  role: Role | null;
  pieces: number[][];
}

/** The value of the full color, and its explanation. */
export interface Full {
  value: number;
  words: string;
}

export interface Cells {
  picture: Picture;
  heads: string;
  down: Edge;
  across: Edge;
  /** [row column], the mean of the chosen heads. */
  values: Float32Array;
  /** The sum of magnitudes of each row. */
  wholes: Float64Array;
  /** Whether every row is divided by its sum. */
  isDivided: boolean;
  full: Full;
}

/** The cells of a pane, or null while numbers are loading. */
export function cellsOf(pane: Pane): Cells | null {
  const picture = pictureOf(pane);
  if (!picture) return null;
  const { rows, queries, keys } = picture;
  const isNorm = picture.values.length === 0;
  const values = isNorm
    ? (picture.norms?.values ?? new Float32Array())
    : sumPlanes(picture.values, queries * keys);
  const down = isNorm ? headEdge(picture.norms?.heads ?? []) : tokenEdge(rows.query, "query");
  const isDivided = picture.scale === "query" && !isNorm;
  const sizes = sizesOf(values, picture.measure);
  const wholes = sumByQuery(sizes, down.labels.length, keys);
  const full = fullOf(pane, sizes, isDivided ? wholes : null, keys);
  if (!full) return null;
  const heads = headsLabel(picture);
  const across = tokenEdge(rows.key, "key");
  return { picture, heads, down, across, values, wholes, isDivided, full };
}

function tokenEdge({ labels, special, pieces }: TokenRows, role: Role): Edge {
  return { labels, special, role, pieces };
}

function headEdge(heads: (number | null)[]): Edge {
  const labels = heads.map((head) => (head === null ? "all heads" : `head ${head}`));
  return { labels, special: labels.map(() => false), role: null, pieces: labels.map(() => []) };
}

/** The value of the full color; null while it is loading. */
function fullOf(
  pane: Pane,
  sizes: Float32Array,
  wholes: Float64Array | null,
  keys: number,
): Full | null {
  if (wholes) {
    const shares = sizes.map((value, at) => value / (wholes[Math.floor(at / keys)] || 1));
    return { value: maxOf(shares), words: "the largest share; each row divided by its own whole" };
  }
  const own = maxOf(sizes);
  if (pane.state.normalize !== "absolute" || pane.measure.pair)
    return { value: own, words: IN_LAYER };
  const bound = maxAnywhere(pane);
  if (bound === null) return null;
  return { ...bound, value: Math.max(bound.value, own) };
}

const IN_LAYER = "the largest cell of this layer";

/**
 * The largest cell of any layer, from the thumbnails.
 *
 * Each of their cells is the largest of a block, so one head's maximum is exact. For the mean of
 * several it is an upper bound, unless the thumbnails have all cells.
 */
function maxAnywhere({ tiles, index, stream, measure, state }: Pane): Full | null {
  const small = tiles.overview(index, stream, measure.id);
  if (!small) return null;
  const { rows = 1, columns = 1 } = small.about;
  const byHead = measure.axes.includes("head");
  const every = byHead ? stream.heads : [0];
  const chosen = byHead ? (state.heads ?? every).map((head) => every.indexOf(head)) : [0];
  const isMean = chosen.length > 1 && measure.axes.includes("query");
  const value = stream.layers.reduce((top, _, layer) => {
    const size = rows * columns;
    const heads = small.values.subarray(layer * every.length * size);
    const picked = sizesOf(pickPlanes(heads, size, chosen), measure);
    const most = isMean ? maxOf(sumPlanes(picked, size)) / chosen.length : maxOf(picked);
    return Math.max(top, most);
  }, 0);
  const isExact = !isMean || (rows === count(stream.queries) && columns === count(stream.keys));
  const merged = state.words ? ", before words are merged" : "";
  const words = isExact ? "the largest cell of any layer" : "no cell of any layer is larger";
  return { value, words: `${words}${merged}` };
}

function count({ pieces }: Tokens): number {
  return pieces.length;
}

/** The color depth of each cell, from -1 to 1; NaN for blank cells. */
export function depths({ values, wholes, isDivided, full, across, picture }: Cells): Float32Array {
  const columns = across.labels.length;
  return values.map((value, at) => {
    if (!isDrawn(value, picture)) return Number.NaN;
    const unit = isDivided ? full.value * wholes[Math.floor(at / columns)] : full.value;
    return unit > 0 ? Math.max(-1, Math.min(1, value / unit)) : 0;
  });
}

/** Whether a cell is drawn. */
function isDrawn(value: number, { minSize }: Picture): boolean {
  return value !== 0 && Math.abs(value) >= minSize;
}

/** The cell furthest from zero of each block, if several share a pixel. */
export function poolCells(
  values: Float32Array,
  columns: number,
  block: { rows: number; columns: number },
): { values: Float32Array; columns: number; rows: number } {
  const rows = columns > 0 ? values.length / columns : 0;
  if (block.rows === 1 && block.columns === 1) return { values, columns, rows };
  const [wide, tall] = [Math.ceil(columns / block.columns), Math.ceil(rows / block.rows)];
  const pooled = new Float32Array(wide * tall).fill(Number.NaN);
  for (let row = 0; row < rows; row++) {
    const to = Math.floor(row / block.rows) * wide;
    for (let column = 0; column < columns; column++) {
      const at = to + Math.floor(column / block.columns);
      const value = values[row * columns + column];
      // Comparisons with NaN are false, so any number replaces it.
      if (!(Math.abs(value) <= Math.abs(pooled[at])) && !Number.isNaN(value)) pooled[at] = value;
    }
  }
  return { values: pooled, columns: wide, rows: tall };
}

/** The indices of the smallest and the largest drawn cell; null if none is drawn. */
export function extremes({ values, picture }: Cells): { least: number; most: number } | null {
  let [least, most] = [-1, -1];
  for (let at = 0; at < values.length; at++) {
    if (!isDrawn(values[at], picture)) continue;
    if (least < 0 || values[at] < values[least]) least = at;
    if (most < 0 || values[at] > values[most]) most = at;
  }
  return most < 0 ? null : { least, most };
}

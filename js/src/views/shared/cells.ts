/** One layer as a field of cells: what stands along its sides, and how deep each color is. */

import { type Picture, pictureOf } from "../../data/layer";
import { headsAdded } from "../../data/stack";
import { most, planes, received, sizesOf, summed } from "../../math/arrays";
import type { Rows } from "../../math/rows";
import type { Pane } from "../../state/pane";
import type { Side, Tokens } from "../../wire/types";

/** What stands along one side of the field. */
export interface Edge {
  labels: string[];
  special: boolean[];
  /** The side of the tokens, and their pieces; null where heads stand there. */
  side: Side | null;
  pieces: number[][];
}

/** The number that the full color stands for, and what it is in words. */
export interface Full {
  value: number;
  words: string;
}

export interface Cells {
  picture: Picture;
  heads: string;
  down: Edge;
  across: Edge;
  /** [row column], the chosen heads added up. */
  values: Float32Array;
  /** All that each row takes, signs aside. */
  wholes: Float64Array;
  /** Whether every row is divided by its whole. */
  isDivided: boolean;
  full: Full;
}

/** The cells of a pane, or null while numbers are on their way. */
export function cellsOf(pane: Pane): Cells | null {
  const picture = pictureOf(pane);
  if (!picture) return null;
  const { rows, queries, keys } = picture;
  const isNorm = picture.values.length === 0;
  const values = isNorm
    ? (picture.norms?.values ?? new Float32Array())
    : summed(picture.values, queries * keys);
  const down = isNorm ? headEdge(picture.norms?.heads ?? []) : edge(rows.query, "query");
  const isDivided = picture.scale === "query" && !isNorm;
  const sizes = sizesOf(values, picture.measure);
  const wholes = received(sizes, down.labels.length, keys);
  const full = fullOf(pane, sizes, isDivided ? wholes : null, keys);
  if (!full) return null;
  const heads = headsAdded(pane);
  const across = edge(rows.key, "key");
  return { picture, heads, down, across, values, wholes, isDivided, full };
}

function edge({ labels, special, pieces }: Rows, side: Side): Edge {
  return { labels, special, side, pieces };
}

function headEdge(heads: (number | null)[]): Edge {
  const labels = heads.map((head) => (head === null ? "all heads" : `head ${head}`));
  return { labels, special: labels.map(() => false), side: null, pieces: labels.map(() => []) };
}

/** What the full color stands for; null while it is on its way. */
function fullOf(
  pane: Pane,
  sizes: Float32Array,
  wholes: Float64Array | null,
  keys: number,
): Full | null {
  if (wholes) {
    const shares = sizes.map((value, at) => value / (wholes[Math.floor(at / keys)] || 1));
    return { value: most(shares), words: "the largest share; each row divided by its own whole" };
  }
  const own = most(sizes);
  if (pane.choice.normalize !== "absolute") return { value: own, words: IN_LAYER };
  const bound = anywhere(pane);
  if (bound === null) return null;
  return { ...bound, value: Math.max(bound.value, own) };
}

const IN_LAYER = "the largest cell of this layer";

/**
 * The largest cell of any layer, from the small pictures.
 *
 * Each of their cells is the largest of a block, so one head's maximum is exact. Of several heads
 * added up it is a bound, unless the small pictures are as large as the large ones.
 */
function anywhere({ tiles, index, stream, measure, choice }: Pane): Full | null {
  const small = tiles.overview(index, stream, measure.id);
  if (!small) return null;
  const { rows = 1, columns = 1 } = small.about;
  const byHead = measure.axes.includes("head");
  const every = byHead ? stream.heads : [0];
  const chosen = byHead ? (choice.heads ?? every).map((head) => every.indexOf(head)) : [0];
  const isAdded = chosen.length > 1 && measure.axes.includes("query");
  const value = stream.layers.reduce((top, _, layer) => {
    const size = rows * columns;
    const heads = small.values.subarray(layer * every.length * size);
    const picked = sizesOf(planes(heads, size, chosen), measure);
    return Math.max(top, most(isAdded ? summed(picked, size) : picked));
  }, 0);
  const isExact = !isAdded || (rows === count(stream.queries) && columns === count(stream.keys));
  const merged = choice.words ? ", before words are merged" : "";
  const words = isExact ? "the largest cell of any layer" : "no cell of any layer is larger";
  return { value, words: `${words}${merged}` };
}

function count({ pieces }: Tokens): number {
  return pieces.length;
}

/** How deep the color of each cell is, from -1 to 1; not a number for what stays blank. */
export function depths({ values, wholes, isDivided, full, across, picture }: Cells): Float32Array {
  const columns = across.labels.length;
  return values.map((value, at) => {
    if (!isDrawn(value, picture)) return Number.NaN;
    const unit = isDivided ? full.value * wholes[Math.floor(at / columns)] : full.value;
    return unit > 0 ? Math.max(-1, Math.min(1, value / unit)) : 0;
  });
}

/** Whether a cell has anything to show. */
function isDrawn(value: number, { least }: Picture): boolean {
  return value !== 0 && Math.abs(value) >= least;
}

/** The cell furthest from zero of each block, where several share a pixel. */
export function pooled(
  values: Float32Array,
  columns: number,
  block: { rows: number; columns: number },
): { values: Float32Array; columns: number; rows: number } {
  const rows = columns > 0 ? values.length / columns : 0;
  if (block.rows === 1 && block.columns === 1) return { values, columns, rows };
  const [wide, tall] = [Math.ceil(columns / block.columns), Math.ceil(rows / block.rows)];
  const found = new Float32Array(wide * tall).fill(Number.NaN);
  for (let row = 0; row < rows; row++) {
    const to = Math.floor(row / block.rows) * wide;
    for (let column = 0; column < columns; column++) {
      const at = to + Math.floor(column / block.columns);
      const value = values[row * columns + column];
      // Nothing is less than what is not a number, so any number takes its place.
      if (!(Math.abs(value) <= Math.abs(found[at])) && !Number.isNaN(value)) found[at] = value;
    }
  }
  return { values: found, columns: wide, rows: tall };
}

/** The smallest and the largest cell that is drawn, by their places; null where none is. */
export function extremes({ values, picture }: Cells): { least: number; most: number } | null {
  let [least, most] = [-1, -1];
  for (let at = 0; at < values.length; at++) {
    if (!isDrawn(values[at], picture)) continue;
    if (least < 0 || values[at] < values[least]) least = at;
    if (most < 0 || values[at] > values[most]) most = at;
  }
  return most < 0 ? null : { least, most };
}

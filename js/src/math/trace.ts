/** Traces tokens through the layers: each one is divided among the tokens below, layer by layer. */

import { maxOf, sumByQuery, sumOf } from "./arrays";
import { pairsToRows, type TokenRows } from "./rows";
import { type Cutoff, cutoffFor, filterFor } from "./topMass";

/**
 * How each query of a layer divides what it takes [query key].
 *
 * Rows add up to 1; to less if keys are hidden, and to 0 if a query takes nothing.
 */
export type Division = Float32Array;

/** A layer's values [query key], by piece, as shares of each row's sum. */
export function divide(values: Float32Array, queries: TokenRows, keys: TokenRows): Division {
  const pieces = sumByQuery(values, queries.rowOf.length, keys.rowOf.length);
  const wholes = queries.pieces.map((row) => row.reduce((sum, at) => sum + pieces[at], 0));
  const across = keys.pieces.length;
  return pairsToRows(values, queries, keys).map((value, at) => {
    const row = Math.floor(at / across);
    return wholes[row] > 0 ? (value * queries.pieces[row].length) / wholes[row] : 0;
  });
}

/** Mass that flows through the layers, in layer order. */
export interface Trace {
  /** The mass at each token before the first layer, then after each layer. */
  nodes: Float64Array[];
  /** The mass each layer carries from key to query [query key]. */
  flows: Float32Array[];
}

/** Trace the mass after the last layer back to the tokens before the first. */
export function traceBack(divisions: Division[], start: Float64Array): Trace {
  const size = start.length;
  const nodes = [start];
  const flows: Float32Array[] = [];
  for (const division of [...divisions].reverse()) {
    const [queries, keys] = [nodes[0], new Float64Array(size)];
    const flow = new Float32Array(division.length);
    for (let query = 0; query < size; query++) {
      if (queries[query] === 0) continue;
      for (let key = 0; key < size; key++) {
        const mass = queries[query] * division[query * size + key];
        flow[query * size + key] = mass;
        keys[key] += mass;
      }
    }
    nodes.unshift(keys);
    flows.unshift(flow);
  }
  return { nodes, flows };
}

/** Trace one token upwards: its share of every token after each layer. */
export function traceForward(divisions: Division[], start: Float64Array): Trace {
  const size = start.length;
  const nodes = [start];
  const flows = divisions.map((division, layer) => {
    const [keys, queries] = [nodes[layer], new Float64Array(size)];
    const flow = new Float32Array(division.length);
    for (let query = 0; query < size; query++) {
      for (let key = 0; key < size; key++) {
        const mass = keys[key] * division[query * size + key];
        flow[query * size + key] = mass;
        queries[query] += mass;
      }
    }
    nodes.push(queries);
    return flow;
  });
  return { nodes, flows };
}

/** All mass at one token. */
export function massAt(row: number, size: number): Float64Array {
  return new Float64Array(size).fill(1, row, row + 1);
}

/** The same mass at every token, 1 in total. */
export function evenMass(size: number): Float64Array {
  return new Float64Array(size).fill(1 / size);
}

/** What one layer carries between two tokens. */
export interface TraceLink {
  query: number;
  key: number;
  mass: number;
}

/** What to draw: a share of each layer's mass, a number of links in total, a minimum mass. */
export interface DrawLimits {
  share: number;
  limit: number;
  /** As a fraction of the largest link. */
  least: number;
}

/** The links to draw, by layer, strongest first. */
export interface TraceLinks {
  layers: TraceLink[][];
  /** The total mass of each layer. */
  masses: number[];
  /** The share of the mass that is drawn, by layer. */
  shown: number[];
  /** The minimum mass that is drawn. */
  least: number;
}

/** The strongest links of each layer, within the limits. */
export function linksOf({ flows }: Trace, size: number, enough: DrawLimits): TraceLinks {
  const limit = Math.floor(enough.limit / Math.max(1, flows.length));
  const least = enough.least * maxOf(flows.map(maxOf));
  const masses = flows.map(sumOf);
  const layers = flows.map((flow) =>
    strongestLinks(flow, size, cutoffFor(flow, enough.share, limit), least),
  );
  const shown = layers.map((links, layer) => {
    const drawn = links.reduce((sum, { mass }) => sum + mass, 0);
    return masses[layer] > 0 ? Math.min(1, drawn / masses[layer]) : 1;
  });
  return { layers, masses, shown, least };
}

function strongestLinks(
  flow: Float32Array,
  size: number,
  where: Cutoff,
  least: number,
): TraceLink[] {
  const passes = filterFor(where);
  const links: TraceLink[] = [];
  for (let index = 0; index < flow.length; index++) {
    const mass = flow[index];
    if (passes(mass) && mass >= least) {
      links.push({ query: Math.floor(index / size), key: index % size, mass });
    }
  }
  return links.sort((one, other) => other.mass - one.mass);
}

/** What a token is made of: its whole divided among the tokens below, layer after layer. */

import { most, received, total } from "./arrays";
import { between, type Rows } from "./rows";
import { type Cut, cut, sieve } from "./topMass";

/**
 * How the queries of a layer divide their wholes [query key].
 *
 * The rows add up to 1; to less where keys are hidden, and to 0 where a query takes nothing.
 */
export type Division = Float32Array;

/** A layer's numbers [query key], by piece, as each row's shares of its whole. */
export function divide(values: Float32Array, queries: Rows, keys: Rows): Division {
  const pieces = received(values, queries.rowOf.length, keys.rowOf.length);
  const wholes = queries.pieces.map((row) => row.reduce((sum, at) => sum + pieces[at], 0));
  const across = keys.pieces.length;
  return between(values, queries, keys).map((value, at) => {
    const row = Math.floor(at / across);
    return wholes[row] > 0 ? (value * queries.pieces[row].length) / wholes[row] : 0;
  });
}

/** A mass on its way through the layers, the first of them first. */
export interface Trace {
  /** What lies at each token before the first layer, then after each layer. */
  nodes: Float64Array[];
  /** What each layer carries from key to query [query key]. */
  flows: Float32Array[];
}

/** Follow what lies at the tokens after the last layer back to those before the first. */
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

/** Follow one token up: what part of every token after each layer comes from it. */
export function traceOn(divisions: Division[], start: Float64Array): Trace {
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
export function at(row: number, size: number): Float64Array {
  return new Float64Array(size).fill(1, row, row + 1);
}

/** The same mass at every token, 1 in all. */
export function everywhere(size: number): Float64Array {
  return new Float64Array(size).fill(1 / size);
}

/** What one layer carries between two tokens. */
export interface Link {
  query: number;
  key: number;
  mass: number;
}

/** How far to go in drawing: a share of each layer's mass, a number of links in all, a least mass. */
export interface Enough {
  share: number;
  limit: number;
  /** As a part of the largest link. */
  least: number;
}

/** The links that are drawn, by layer, strongest first, and what there was to draw. */
export interface Links {
  layers: Link[][];
  /** What each layer carries in all. */
  masses: number[];
  /** The share of it that is drawn, by layer. */
  shown: number[];
  /** The least mass that is drawn. */
  least: number;
}

/** The strongest links of each layer, until there are enough. */
export function linksOf({ flows }: Trace, size: number, enough: Enough): Links {
  const limit = Math.floor(enough.limit / Math.max(1, flows.length));
  const least = enough.least * most(flows.map(most));
  const masses = flows.map(total);
  const layers = flows.map((flow) => strongest(flow, size, cut(flow, enough.share, limit), least));
  const shown = layers.map((links, layer) => {
    const drawn = links.reduce((sum, { mass }) => sum + mass, 0);
    return masses[layer] > 0 ? Math.min(1, drawn / masses[layer]) : 1;
  });
  return { layers, masses, shown, least };
}

function strongest(flow: Float32Array, size: number, where: Cut, least: number): Link[] {
  const passes = sieve(where);
  const links: Link[] = [];
  for (let place = 0; place < flow.length; place++) {
    const mass = flow[place];
    if (passes(mass) && mass >= least) {
      links.push({ query: Math.floor(place / size), key: place % size, mass });
    }
  }
  return links.sort((one, other) => other.mass - one.mass);
}

/** How far two measures agree in a head, query by query; the same as `normviz/agreement.py`. */

import { rankCorrelation } from "./correlation";

/** The ways to tell, and what each says of a measure and itself. */
export const BEST = { rank: 1, overlap: 1, distance: 0 } as const;
export type Comparison = keyof typeof BEST;
export const COMPARISONS = Object.keys(BEST) as Comparison[];

/** How many keys are the top ones. */
export const TOP = 3;

/** One layer of a measure, and which of the axes [head query key] its numbers have. */
export interface Layer {
  values: Float32Array;
  hasHead: boolean;
  hasQuery: boolean;
}

/** What is told of a query or of a head; null where there is nothing to compare. */
export type Agreement = Record<Comparison, number | null>;

/** The means over queries, and for each way of telling the query where the two differ most. */
export interface HeadAgreement extends Agreement {
  worst: Agreement;
}

/** How far two measures agree, head after head; one without heads is held against each. */
export function* agreements(
  first: Layer,
  second: Layer,
  { queries, keys }: { queries: number; keys: number },
): Generator<HeadAgreement> {
  const heads = Math.max(...[first, second].map((layer) => headsIn(layer, queries, keys)));
  const row = ({ values, hasHead, hasQuery }: Layer, head: number, query: number) => {
    const plane = hasHead ? head : 0;
    const start = (hasQuery ? plane * queries + query : plane) * keys;
    return values.subarray(start, start + keys);
  };
  const seen = seenBy(first, second);
  for (let head = 0; head < heads; head++) {
    const rows = Array.from({ length: queries }, (_, query) =>
      rowAgreement(...seen(row(first, head, query), row(second, head, query))),
    );
    yield summary(rows);
  }
}

function headsIn({ values, hasHead, hasQuery }: Layer, queries: number, keys: number): number {
  return hasHead ? values.length / ((hasQuery ? queries : 1) * keys) : 1;
}

type Pair = [one: number[], other: number[]];

/** Keeps the keys that a query sees; a measure without queries cannot know what a mask forbids. */
function seenBy(first: Layer, second: Layer): (one: Float32Array, other: Float32Array) => Pair {
  const neither = !first.hasQuery && !second.hasQuery;
  const [asksOne, asksOther] = [first.hasQuery || neither, second.hasQuery || neither];
  return (one, other) => {
    const kept: Pair = [[], []];
    for (let key = 0; key < one.length; key++) {
      if (!((asksOne && one[key] !== 0) || (asksOther && other[key] !== 0))) continue;
      kept[0].push(one[key]);
      kept[1].push(other[key]);
    }
    return kept;
  };
}

/** How far two rows agree. */
export function rowAgreement(one: number[], other: number[]): Agreement {
  if (one.length < 2) return { rank: null, overlap: null, distance: null };
  const ranked = rankCorrelation(one, other);
  return {
    rank: ranked,
    overlap: ranked === null ? null : overlap(one, other),
    distance: distance(one, other),
  };
}

/** The share of the top keys that both have. */
function overlap(one: number[], other: number[]): number {
  const size = Math.min(TOP, one.length - 1);
  const top = highest(other, size);
  return highest(one, size).filter((key) => top.includes(key)).length / size;
}

/** The places of the few highest numbers; of equals the earlier counts. */
function highest(values: number[], size: number): number[] {
  const found: number[] = [];
  while (found.length < size) {
    let best = -1;
    for (let at = 0; at < values.length; at++) {
      if ((best < 0 || values[at] > values[best]) && !found.includes(at)) best = at;
    }
    found.push(best);
  }
  return found;
}

/** The square root of the Jensen–Shannon divergence of the shares, to base 2; signs do not count. */
function distance(one: number[], other: number[]): number | null {
  const whole = (row: number[]) => row.reduce((sum, value) => sum + Math.abs(value), 0);
  const [first, second] = [whole(one), whole(other)];
  if (first === 0 || second === 0) return null;
  let divergence = 0;
  one.forEach((value, key) => {
    const [p, q] = [Math.abs(value) / first, Math.abs(other[key]) / second];
    if (p > 0) divergence += (p / 2) * Math.log2((2 * p) / (p + q));
    if (q > 0) divergence += (q / 2) * Math.log2((2 * q) / (p + q));
  });
  return Math.sqrt(Math.min(1, Math.max(0, divergence)));
}

/** How far from agreement; the more, the further. */
export function apart(by: Comparison, value: number): number {
  return Math.abs(value - BEST[by]);
}

function summary(rows: Agreement[]): HeadAgreement {
  const each = (made: (by: Comparison) => number | null) =>
    Object.fromEntries(COMPARISONS.map((by) => [by, made(by)])) as Agreement;
  return {
    ...each((by) => mean(rows.map((row) => row[by]))),
    worst: each((by) => worst(rows, by)),
  };
}

/** The mean of what is known; null where nothing is. */
export function mean(values: (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length > 0 ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
}

/** The query where the two differ most; equals are told apart by their distance. */
function worst(rows: Agreement[], by: Comparison): number | null {
  let found: number | null = null;
  let most: [number, number] = [-1, -1];
  rows.forEach(({ [by]: value, distance: far }, query) => {
    if (value === null) return;
    const now: [number, number] = [apart(by, value), far ?? 0];
    if (now[0] < most[0] || (now[0] === most[0] && now[1] <= most[1])) return;
    [found, most] = [query, now];
  });
  return found;
}

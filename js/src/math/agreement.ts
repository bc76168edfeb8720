/** The agreement of two measures in a head, query by query; the same as `normviz/derived/agreement.py`. */

import { rankCorrelation } from "./correlation";

/** The statistics, and the value of each for a measure compared with itself. */
export const BEST = { rank: 1, overlap: 1, distance: 0 } as const;
export type Comparison = keyof typeof BEST;
export const COMPARISONS = Object.keys(BEST) as Comparison[];

/** The number of top keys that the overlap compares. */
export const TOP = 3;

/** One layer of a measure, and which of the axes [head query key] it has. */
export interface LayerValues {
  values: Float32Array;
  hasHead: boolean;
  hasQuery: boolean;
}

/** The statistics of a query or a head; null if there is nothing to compare. */
export type Agreement = Record<Comparison, number | null>;

/** The means over queries, and for each statistic the query where the two measures differ most. */
export interface HeadAgreement extends Agreement {
  worst: Agreement;
}

/** The agreement of two measures for each head; one without heads is compared with every head. */
export function* agreementByHead(
  first: LayerValues,
  second: LayerValues,
  { queries, keys }: { queries: number; keys: number },
): Generator<HeadAgreement> {
  const heads = Math.max(...[first, second].map((layer) => headsIn(layer, queries, keys)));
  const row = ({ values, hasHead, hasQuery }: LayerValues, head: number, query: number) => {
    const plane = hasHead ? head : 0;
    const start = (hasQuery ? plane * queries + query : plane) * keys;
    return values.subarray(start, start + keys);
  };
  const seen = visibleTo(first, second);
  for (let head = 0; head < heads; head++) {
    const rows = Array.from({ length: queries }, (_, query) =>
      rowAgreement(...seen(row(first, head, query), row(second, head, query))),
    );
    yield summarize(rows);
  }
}

function headsIn(
  { values, hasHead, hasQuery }: LayerValues,
  queries: number,
  keys: number,
): number {
  return hasHead ? values.length / ((hasQuery ? queries : 1) * keys) : 1;
}

type Pair = [one: number[], other: number[]];

/** Selects the keys that a query can see; a measure without queries does not know the mask. */
function visibleTo(
  first: LayerValues,
  second: LayerValues,
): (one: Float32Array, other: Float32Array) => Pair {
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

/** The agreement of two rows. */
export function rowAgreement(one: number[], other: number[]): Agreement {
  if (one.length < 2) return { rank: null, overlap: null, distance: null };
  const ranked = rankCorrelation(one, other);
  return {
    rank: ranked,
    overlap: ranked === null ? null : overlap(one, other),
    distance: distance(one, other),
  };
}

/** The share of top keys that both rows have. */
function overlap(one: number[], other: number[]): number {
  const size = Math.min(TOP, one.length - 1);
  const top = topIndices(other, size);
  return topIndices(one, size).filter((key) => top.includes(key)).length / size;
}

/** The indices of the highest values; of equal values the first. */
function topIndices(values: number[], size: number): number[] {
  const indices: number[] = [];
  while (indices.length < size) {
    let best = -1;
    for (let at = 0; at < values.length; at++) {
      if ((best < 0 || values[at] > values[best]) && !indices.includes(at)) best = at;
    }
    indices.push(best);
  }
  return indices;
}

/** The Jensen–Shannon distance of the shares, to base 2, ignoring signs. */
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

/** The distance from perfect agreement. */
export function disagreementOf(by: Comparison, value: number): number {
  return Math.abs(value - BEST[by]);
}

function summarize(rows: Agreement[]): HeadAgreement {
  const each = (made: (by: Comparison) => number | null) =>
    Object.fromEntries(COMPARISONS.map((by) => [by, made(by)])) as Agreement;
  return {
    ...each((by) => meanOfKnown(rows.map((row) => row[by]))),
    worst: each((by) => worstQuery(rows, by)),
  };
}

/** The mean of the known values; null if there are none. */
export function meanOfKnown(values: (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length > 0 ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
}

/** The query where the two differ most; ties are broken by the distance. */
function worstQuery(rows: Agreement[], by: Comparison): number | null {
  let worst: number | null = null;
  let most: [number, number] = [-1, -1];
  rows.forEach(({ [by]: value, distance: far }, query) => {
    if (value === null) return;
    const now: [number, number] = [disagreementOf(by, value), far ?? 0];
    if (now[0] < most[0] || (now[0] === most[0] && now[1] <= most[1])) return;
    [worst, most] = [query, now];
  });
  return worst;
}

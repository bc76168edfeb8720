/** How the parts of a token's vector lie to the whole, in words and as a column of a table. */

import type { Picture } from "../data/layer";
import { number, percent } from "../draw/colors";
import { signedCells, signedNumber, signedPercent } from "../draw/signedCells";
import { total } from "../math/arrays";
import { against, alignments, type Cancellation, cancellation } from "../math/cancellation";
import type { Cell } from "./describe";

export interface Lean {
  cancellation: Cancellation;
  /** Each key's share of what all tokens reach along the whole; lengths where nothing is left. */
  shares: number[];
  isHidden: boolean;
  isShared: boolean;
}

/** What the last column of the table says. */
export const ALONG =
  "along: how far each part reaches along the whole vector, as a share of what all tokens reach";

/** The parts of a query's vector against the whole; null where it is not known. */
export function leanOf({ along, rows, keys }: Picture, query: number): Lean | null {
  if (!along || along.lengths[query] === 0) return null;
  const found = cancellation(along.lengths[query], along.reach[query]);
  const row = along.values.subarray(query * keys, (query + 1) * keys);
  const isHidden = rows.key.rowOf.includes(-1);
  const { isShared } = along;
  return { cancellation: found, shares: alignments(row, found), isHidden, isShared };
}

/** So much against the whole is worth a word, and of so many tokens. */
const NOTABLE = 0.005;
const NAMED = 3;

/** How much cancels, and who of the named points against the whole. */
export function leanNotes(lean: Lean, names: string[]): string[] {
  const { lengths, reach, canceled, isLeft } = lean.cancellation;
  const parts = `Parts of total length ${number(lengths)}${lean.isHidden ? " (hidden ones too)" : ""}`;
  const makers = lean.isShared ? "both texts" : "tokens";
  const whole = `along the whole vector of ${makers} and biases`;
  if (!isLeft) return [`${parts} come to ${signedNumber(reach)} ${whole}: they cancel altogether.`];
  const away = against(lean.shares, NOTABLE);
  const named = away
    .slice(0, NAMED)
    .map((row) => `${names[row]} (${signedPercent(lean.shares[row])})`);
  const more = away.length > NAMED ? ` and ${away.length - NAMED} more` : "";
  const verb = away.length > 1 ? "point" : "points";
  return [
    `${parts} add up to ${number(reach)} ${whole}: ${percent(canceled)} cancels.`,
    ...(named.length > 0 ? [`${named.join(", ")}${more} ${verb} against it.`] : []),
  ];
}

/** A table of these keys with one more column; those it does not list are added up in theirs. */
export function withLean(
  table: Cell[][],
  { listed, others }: { listed: number[]; others: number[] },
  { shares, cancellation: found }: Lean,
): Cell[][] {
  const rest = others.map((row) => shares[row]);
  const values = listed.map((row) => shares[row]);
  const told = found.isLeft ? signedPercent : signedNumber;
  const cells = signedCells(rest.length > 0 ? [...values, total(rest)] : values, told);
  return table.map((row, at) => [...row, cells[at]]);
}

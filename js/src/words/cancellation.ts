/** How much the parts of a token's vector cancel, in sentences and as a column of a table. */

import type { Picture } from "../data/layer";
import { formatNumber, formatPercent } from "../draw/colors";
import { formatSignedNumber, formatSignedPercent, signedCells } from "../draw/signedCells";
import { sumOf } from "../math/arrays";
import {
  type Cancellation,
  cancellationOf,
  opposingRows,
  projectionShares,
} from "../math/cancellation";
import type { TableCell } from "./describe";

export interface QueryCancellation {
  cancellation: Cancellation;
  /** Each key's share of the summed projections; the projections themselves if nothing remains. */
  shares: number[];
  isHidden: boolean;
  hasOtherText: boolean;
}

/** The caption of the last column. */
export const PROJECTION_CAPTION =
  "along: the projection of each part on the whole vector, as a share of the sum over tokens";

/** How much the parts of a query's vector cancel; null if unknown. */
export function queryCancellation(
  { projections, rows, keys }: Picture,
  query: number,
): QueryCancellation | null {
  if (!projections || projections.lengths[query] === 0) return null;
  const cancellation = cancellationOf(projections.lengths[query], projections.reach[query]);
  const row = projections.values.subarray(query * keys, (query + 1) * keys);
  const isHidden = rows.key.rowOf.includes(-1);
  const { hasOtherText } = projections;
  return {
    cancellation: cancellation,
    shares: projectionShares(row, cancellation),
    isHidden,
    hasOtherText,
  };
}

/** The smallest opposing share that is mentioned, and the number of tokens named. */
const NOTABLE = 0.005;
const NAMED = 3;

/** How much cancels, and which tokens point against the whole vector. */
export function cancellationNotes(query: QueryCancellation, names: string[]): string[] {
  const { lengths, reach, canceled, hasRemainder } = query.cancellation;
  const parts = `Parts of total length ${formatNumber(lengths)}${query.isHidden ? " (including hidden tokens)" : ""}`;
  const makers = query.hasOtherText ? "both texts" : "tokens";
  const whole = `along the whole vector of ${makers} and biases`;
  if (!hasRemainder)
    return [`${parts} come to ${formatSignedNumber(reach)} ${whole}: they cancel completely.`];
  const away = opposingRows(query.shares, NOTABLE);
  const named = away
    .slice(0, NAMED)
    .map((row) => `${names[row]} (${formatSignedPercent(query.shares[row])})`);
  const more = away.length > NAMED ? ` and ${away.length - NAMED} more` : "";
  const verb = away.length > 1 ? "point" : "points";
  return [
    `${parts} add up to ${formatNumber(reach)} ${whole}: ${formatPercent(canceled)} cancels.`,
    ...(named.length > 0 ? [`${named.join(", ")}${more} ${verb} against it.`] : []),
  ];
}

/** The table with a column of projections; those of unlisted keys are summed. */
export function addProjectionColumn(
  table: TableCell[][],
  { listed, others }: { listed: number[]; others: number[] },
  { shares, cancellation: found }: QueryCancellation,
): TableCell[][] {
  const rest = others.map((row) => shares[row]);
  const values = listed.map((row) => shares[row]);
  const format = found.hasRemainder ? formatSignedPercent : formatSignedNumber;
  const cells = signedCells(rest.length > 0 ? [...values, sumOf(rest)] : values, format);
  return table.map((row, at) => [...row, cells[at]]);
}

/** The path between two tokens in words. */

import { formatPercent } from "../../draw/colors";
import { visibleText } from "../../draw/dom";
import { type Description, quote } from "../../words/describe";
import type { Makeup } from "./makeup";
import { type Place, type Route, type Stay, staysOf } from "./route";
import { heading } from "./words";

/** The strongest path in a sentence, and its tokens in a table. */
export function describeRoute(makeup: Makeup, route: Route): Description {
  const { stack, share, whole, columns } = route;
  const { labels, pieces } = stack.rows.key;
  const stays = staysOf(route);
  const [first, last] = [stays[0], stays[stays.length - 1]];
  const name = (row: number) => quote(labels[row]);
  const steps = stays.map((stay) => `${name(stay.row)} (${columnName(route, stay.top)})`);
  // A path that ends by staying at a token names where it ends.
  if (last.top !== last.bottom) steps.push(`${name(last.row)} (${columnName(route, last.bottom)})`);
  const carried = `carries ${formatPercent(share)} of ${name(first.row)}`;
  const isOnly = columns.length === 2 || share >= whole * (1 - 1e-6);
  const all = isOnly ? "" : `; all paths between the two carry ${formatPercent(whole)}`;
  const lead = isOnly ? "the path" : "the strongest path";
  return {
    sentence: `${heading(makeup)}: ${lead} ${steps.join(" ← ")} ${carried}${all}.`,
    caption: `The path from ${name(first.row)} (${pieces[first.row][0]}) back to ${name(last.row)} (${pieces[last.row][0]}); the shares multiply to ${formatPercent(share)}`,
    columns: ["#", "token", "share"],
    rows: stays.map((stay) => [
      String(pieces[stay.row][0]),
      `${visibleText(labels[stay.row])} (${spanName(route, stay)})`,
      formatPercent(stay.share),
    ]),
  };
}

/** What is said if nothing connects the two tokens. */
export function describeNoRoute(makeup: Makeup, one: Place, other: Place): Description {
  const { labels } = makeup.stack.rows.key;
  const [upper, lower] = one.column > other.column ? [one, other] : [other, one];
  const where = (place: Place) =>
    `${quote(labels[place.row])} (${columnName(makeup, place.column)})`;
  return {
    sentence: `${heading(makeup)}: no path leads from ${where(upper)} back to ${where(lower)}.`,
    caption: "",
    columns: [],
    rows: [],
  };
}

/** A column by its layer: "layer 3", or "input" before the first. */
function columnName({ stack }: Pick<Route, "stack">, column: number): string {
  const { layers } = stack.stream;
  if (column > 0) return `layer ${layers[column - 1]}`;
  return layers[0] === 0 || stack.mode === "direct" ? "input" : `before layer ${layers[0]}`;
}

/** The layers of a stay: "layer 5", "layer 5 to 3", "layer 2 to input". */
function spanName(route: Route, { top, bottom }: Stay): string {
  const [from, to] = [top, bottom].map((column) => columnName(route, column));
  return from === to ? from : `${from} to ${to.replace(/^layer /, "")}`;
}

/** The view as text: sentences that screen readers announce, and tables. */

import { element } from "../draw/dom";
import { signedCell } from "../draw/signedCells";
import type { Description, Table, TableCell } from "../words/describe";

export interface Readout {
  node: HTMLElement;
  show(description: Description): void;
}

export function readout(): Readout {
  const spoken = element("div", { class: "nv-spoken", "aria-live": "polite" });
  const tables = element("div");
  const show = (description: Description): void => {
    const { sentence, notes = [], also = [] } = description;
    spoken.replaceChildren(
      element("p", { class: "nv-sentence" }, sentence),
      ...notes.map((note) => element("p", { class: "nv-aside" }, note)),
    );
    tables.replaceChildren(...[description, ...also].map(tableNode));
  };
  return { node: element("div", { class: "nv-readout" }, spoken, tables), show };
}

/** A table with its caption and column headings. */
function tableNode({ caption, columns, rows, style }: Table): HTMLElement {
  const titles = columns.map((title) => element("th", { scope: "col" }, title));
  const head = element("thead", {}, element("tr", {}, ...titles));
  const body = element("tbody", {}, ...rows.map(rowNode));
  return element(
    "table",
    style ? { class: style } : {},
    element("caption", {}, caption),
    head,
    body,
  );
}

function rowNode(cells: TableCell[]): HTMLElement {
  const nodes = cells.map((cell) =>
    typeof cell === "string" ? element("td", { dir: "auto" }, cell) : signedCell(cell),
  );
  return element("tr", {}, ...nodes);
}

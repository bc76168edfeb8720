/** The picture as text: a sentence that is read aloud when it changes, and a table. */

import type { Description } from "./describe";
import { element } from "./dom";

export interface Readout {
  node: HTMLElement;
  show(descriptions: Description[], changes: string): void;
}

export function readout(): Readout {
  const spoken = element("div", { class: "nv-spoken", "aria-live": "polite" });
  const tables = element("div");
  const show = (descriptions: Description[], changes: string): void => {
    const sentences = descriptions.map(({ sentence }) =>
      element("p", { class: "nv-sentence" }, sentence),
    );
    const ranks = changes ? [element("p", { class: "nv-changes" }, changes)] : [];
    spoken.replaceChildren(...sentences, ...ranks);
    tables.replaceChildren(...descriptions.map(table));
  };
  return { node: element("aside", { class: "nv-readout" }, spoken, tables), show };
}

function table({ caption, columns, rows }: Description): HTMLElement {
  const titles = columns.map((title) => element("th", { scope: "col" }, title));
  const head = element("thead", {}, element("tr", {}, ...titles));
  const body = element("tbody", {}, ...rows.map(line));
  return element("table", {}, element("caption", {}, caption), head, body);
}

function line(cells: string[]): HTMLElement {
  const made = cells.map((text) => element("td", { dir: "auto" }, text));
  return element("tr", {}, ...made);
}

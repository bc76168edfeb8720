/** The picture as text: a sentence that is read aloud when it changes, and a table. */

import type { Description } from "./describe";
import { element } from "./dom";

export interface Readout {
  node: HTMLElement;
  show(description: Description): void;
}

export function readout(): Readout {
  const sentence = element("p", { class: "nv-sentence", "aria-live": "polite" });
  const caption = element("caption");
  const head = element("thead");
  const body = element("tbody");
  const table = element("table", {}, caption, head, body);
  const show = (description: Description): void => {
    sentence.textContent = description.sentence;
    caption.textContent = description.caption;
    const titles = description.columns.map((title) => element("th", { scope: "col" }, title));
    head.replaceChildren(element("tr", {}, ...titles));
    body.replaceChildren(...description.rows.map(line));
  };
  return { node: element("aside", { class: "nv-readout" }, sentence, table), show };
}

function line(cells: string[]): HTMLElement {
  const made = cells.map((text) => element("td", { dir: "auto" }, text));
  return element("tr", {}, ...made);
}

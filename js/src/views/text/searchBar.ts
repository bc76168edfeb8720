/** A search field with buttons for the next and the previous match. */

import { button, element } from "../../draw/dom";

export interface SearchBar {
  node: HTMLElement;
  /** Say which match is shown, of how many. */
  report(current: number, count: number): void;
}

/** What the field asks for. */
export interface SearchActions {
  search(query: string): void;
  step(by: 1 | -1): void;
}

export function searchBar(actions: SearchActions, signal: AbortSignal): SearchBar {
  const input = element("input", {
    type: "search",
    class: "nv-query-field",
    placeholder: "search",
    "aria-label": "search the text",
    autocomplete: "off",
    spellcheck: "false",
  });
  const output = element("output", { class: "nv-found" });
  const back = button("‹", "previous match (Shift+Enter)", () => actions.step(-1), signal);
  const on = button("›", "next match (Enter)", () => actions.step(1), signal);
  const steps = element("span", { class: "nv-group nv-segmented" }, back, on);
  const report = (current: number, count: number): void => {
    const isEmpty = input.value.trim() === "";
    output.textContent = count > 0 ? `${current + 1} of ${count}` : isEmpty ? "" : "no match";
    for (const step of [back, on]) step.disabled = count === 0;
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === "Enter") {
      event.preventDefault();
      actions.step(event.shiftKey ? -1 : 1);
    }
    if (event.key !== "Escape" || input.value === "") return;
    event.preventDefault();
    event.stopPropagation(); // the first Escape clears the search, the next one the selection
    input.value = "";
    actions.search("");
  };
  input.addEventListener("input", () => actions.search(input.value), { signal });
  input.addEventListener("keydown", onKey, { signal });
  report(0, 0);
  return { node: element("div", { class: "nv-search" }, input, steps, output), report };
}

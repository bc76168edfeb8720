/** The controls for the measure: buttons side by side, or the ladder as a slider, and lists. */

import { carriedBy, inOrder, type Offer, offerOf, type Stop } from "../data/ladder";
import { button, element, group, grouped, picker, press } from "../draw/dom";
import type { Store } from "../state/store";
import type { ViewName } from "../wire/types";
import type { Control } from "./controls";

/** All of them; each shows itself only where it has something to offer. */
export function measures(store: Store, signal: AbortSignal): Control[] {
  return [
    buttons(store, signal),
    slider(store, signal),
    list(store, { of: "others", name: () => ["other measures", "none"] }, signal),
    list(store, { of: "carried", name: reach }, signal),
  ];
}

const offered = ({ flow, stream }: Store): Offer => offerOf(flow, stream);

function buttons(store: Store, signal: AbortSignal): Control {
  const { node, fill } = group("measure", "nv-segmented");
  const make = (id: string, index: number) => {
    const { label, meaning } = store.measureOf(id);
    const title = `${label}: ${meaning} (key ${index + 1})`;
    return button(label, title, () => store.choose({ measure: id }), signal);
  };
  const show = (): void => {
    const { buttons: ids } = offered(store);
    node.hidden = ids.length === 0;
    const made = fill(ids.join(), () => ids.map(make));
    press(made, (index) => ids[index] === store.choice.value.measure);
  };
  return { node, show };
}

/** The ladder: a stop for every rung held, with its name below. */
function slider(store: Store, signal: AbortSignal): Control {
  const input = element("input", { type: "range", min: "0", step: "1" });
  input.setAttribute("aria-label", "measure, on the ladder from α to the whole layer");
  const { node: names, fill } = group("", "nv-stops");
  const node = element("div", { class: "nv-ladder" }, input, names);
  for (const attribute of ["role", "aria-label"]) names.removeAttribute(attribute);
  names.setAttribute("aria-hidden", "true"); // the slider says it all
  const choose = (at: number): void => {
    const stop = offered(store).stops[at];
    if (stop) store.choose({ measure: stop.id });
  };
  input.addEventListener("input", () => choose(Number(input.value)), { signal });
  const make = ({ label, meaning }: Stop, at: number) => {
    const title = `${label}: ${meaning} (key ${at + 1})`;
    const name = element("span", { class: "nv-stop", title }, ...breakable(label));
    const clicked = (): void => {
      choose(at);
      input.focus({ preventScroll: true });
    };
    name.addEventListener("click", clicked, { signal });
    return name;
  };
  const show = (): void => {
    const { stops } = offered(store);
    node.hidden = stops.length === 0;
    node.style.setProperty("--nv-stops", String(stops.length));
    node.classList.toggle("nv-coinciding", Object.keys(store.stream.aliases).length > 0);
    const made = fill(stops.map(({ label }) => label).join("\0"), () => stops.map(make));
    if (stops.length > 0) place(input, made, stops, store);
  };
  return { node, show };
}

/** A name whose second name stands below it, and that may break before a capital in a word. */
function breakable(label: string): (string | HTMLElement)[] {
  return label
    .split(/(?<=[a-z])(?=[A-Z])|(?<= )(?==)/)
    .flatMap((part, at) =>
      at > 0 ? [element(part.startsWith("=") ? "br" : "wbr"), part] : [part],
    );
}

/** Put the slider where the choice is; what is not on the ladder leaves it faint. */
function place(input: HTMLInputElement, names: HTMLElement[], stops: Stop[], store: Store): void {
  const { id, label } = store.measure;
  const at = stops.findIndex((stop) => stop.id === id);
  const near = stops.findIndex((stop) => stop.id === carriedBy(id));
  input.max = String(stops.length - 1);
  input.value = String(Math.max(0, at, near));
  input.classList.toggle("nv-off", at < 0);
  const told =
    at < 0
      ? `${label} is chosen, which is not on the ladder`
      : `${stops[at].label}: ${stops[at].meaning}`;
  input.setAttribute("aria-valuetext", told);
  names.forEach((name, index) => {
    name.classList.toggle("nv-on", index === at);
  });
}

/** What the list of carried measures is called, and its entry for none of them. */
function reach(view: ViewName): [name: string, none: string] {
  return view === "stack" ? ["trace by", "layer by layer"] : ["reaching back", "one layer"];
}

interface Listed {
  of: "carried" | "others";
  name(view: ViewName): [name: string, none: string];
}

/** A list of measures that would crowd the others; its first entry goes back to those. */
function list(store: Store, { of, name }: Listed, signal: AbortSignal): Control {
  let before: string | null = null;
  const choose = (id: string): void => {
    const back = before ?? carriedBy(store.choice.value.measure) ?? "";
    store.choose({ measure: id === "" ? back : id });
  };
  const { select, node, rename } = picker("measure", choose, signal);
  const show = (): void => {
    const offer = offered(store);
    const ids = offer[of];
    const { measure, view } = store.choice.value;
    const [label, none] = name(view);
    node.hidden = ids.length === 0;
    rename(label);
    grouped(select, [["", [["", none]]], ...sorted(ids, store)]);
    select.value = ids.includes(measure) ? measure : "";
    if (inOrder({ ...offer, carried: [], others: [] }).includes(measure)) before = measure;
  };
  return { node, show };
}

type Group = [name: string, options: [value: string, text: string][]];

/** The rollouts in a group of their own, where there are several. */
function sorted(ids: string[], store: Store): Group[] {
  const named = (id: string): [string, string] => [id, store.measureOf(id).label];
  const rollouts = ids.filter((id) => carriedBy(id) !== null);
  const rest = ids.filter((id) => !rollouts.includes(id));
  const isMany = rollouts.length > 1 && rest.length > 0;
  return [
    [isMany ? "rollout" : "", rollouts.map(named)],
    [isMany ? "exact" : "", rest.map(named)],
  ];
}

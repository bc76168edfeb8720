/** The controls for the measure: buttons, or the ladder as a slider, and lists for the rest. */

import { measureOrder, type Stop } from "../data/ladder";
import { button, element, fillGroups, group, markPressed, picker, toolbar } from "../draw/dom";
import { DIFFERENCES } from "../state/pane";
import type { Store } from "../state/store";
import { KINDS } from "../views/index";
import { OTHER_FLOW, type ViewName } from "../wire/types";
import type { Control } from "./controls";
import { offeredMeasures } from "./offered";

/** The main ones; each one is hidden if it has nothing to offer. */
export function measureControls(store: Store, signal: AbortSignal): Control[] {
  return [measureButtons(store, signal), ladderSlider(store, signal), pairButtons(store, signal)];
}

/** The lists of further measures. */
export function measureLists(store: Store, signal: AbortSignal): Control[] {
  return [
    measureList(store, { group: "others", labels: () => ["other measures", "none"] }, signal),
    measureList(store, { group: "reachingInput", labels: reachingLabels }, signal),
  ];
}

function measureButtons(store: Store, signal: AbortSignal): Control {
  const { node, fill } = toolbar("measure", "nv-segmented", signal);
  const create = (id: string, index: number) => {
    const { label, meaning, short } = store.measureOf(id);
    const title = `${label}: ${meaning} (key ${index + 1})`;
    const made = button(label, title, () => store.chooseMeasure(id), signal);
    if (short) made.append(element("small", {}, ` ${short}`));
    return made;
  };
  const show = (): void => {
    const { buttons: ids } = offeredMeasures(store);
    node.hidden = ids.length === 0;
    const buttons = fill(ids.join(), () => ids.map(create));
    const { measure } = store.state.value;
    markPressed(buttons, (index) => ids[index] === measure && !isPaired(store));
  };
  return { node, show };
}

/** Two measures at once: side by side, or one picture of their difference. */
function pairButtons(store: Store, signal: AbortSignal): Control {
  const { node, fill } = toolbar("two measures", "nv-segmented", signal);
  const choose = (difference: boolean) => (): void => {
    const pair = pairFor(store);
    if (pair) store.choose({ measure: pair[0], compare: pair[1], difference });
  };
  const show = (): void => {
    const pair = pairFor(store);
    node.hidden = pair === null || !KINDS[store.state.value.view].pairs;
    if (pair === null) return;
    const [first, second] = pair.map((id) => store.measureOf(id).label);
    const buttons = fill(pair.join("\0"), () => [
      button(`${first} | ${second}`, `${first} and ${second} side by side`, choose(false), signal),
      button(
        "difference",
        `where ${second} has more than ${first}, and where less`,
        choose(true),
        signal,
      ),
    ]);
    const { view, difference } = store.state.value;
    const canDiffer = DIFFERENCES.includes(view);
    buttons[1].hidden = !canDiffer;
    markPressed(buttons, (index) => isPaired(store) && (difference && canDiffer) === (index === 1));
  };
  return { node, show };
}

/** Whether two measures are shown. */
function isPaired({ state }: Store): boolean {
  const { compare } = state.value;
  return typeof compare === "string" && compare !== OTHER_FLOW;
}

/** The two measures to show: those that are shown, else the weight and the chosen or default one. */
function pairFor(store: Store): [string, string] | null {
  const { measure, compare } = store.state.value;
  if (typeof compare === "string" && compare !== OTHER_FLOW) return [measure, compare];
  const { measures } = store.stream;
  const fits = (id: string) => store.measureOf(id).axes.includes("query");
  if (!measures.includes("weight")) return null;
  const second = [measure, "weighted-norm", ...measures].find(
    (id) => id !== "weight" && measures.includes(id) && fits(id),
  );
  return second === undefined ? null : ["weight", second];
}

/** The ladder: a stop for every rung held, with its label below. */
function ladderSlider(store: Store, signal: AbortSignal): Control {
  const input = element("input", { type: "range", min: "0", step: "1" });
  input.setAttribute("aria-label", "measure, on the ladder from α to the whole layer");
  const { node: names, fill } = group("", "nv-stops");
  const node = element("div", { class: "nv-ladder" }, input, names);
  for (const attribute of ["role", "aria-label"]) names.removeAttribute(attribute);
  names.setAttribute("aria-hidden", "true"); // the slider itself has the full text
  const choose = (index: number): void => {
    const stop = offeredMeasures(store).stops[index];
    if (stop) store.chooseMeasure(stop.id);
  };
  input.addEventListener("input", () => choose(Number(input.value)), { signal });
  const create = ({ label, meaning }: Stop, index: number) => {
    const title = `${label}: ${meaning} (key ${index + 1})`;
    const name = element("span", { class: "nv-stop", title }, ...breakLabel(label));
    const onClick = (): void => {
      choose(index);
      input.focus({ preventScroll: true });
    };
    name.addEventListener("click", onClick, { signal });
    return name;
  };
  const show = (): void => {
    const { stops } = offeredMeasures(store);
    node.hidden = stops.length === 0;
    node.style.setProperty("--nv-stops", String(stops.length));
    node.classList.toggle("nv-coinciding", Object.keys(store.stream.aliases).length > 0);
    const labels = fill(stops.map(({ label }) => label).join("\0"), () => stops.map(create));
    if (stops.length > 0) positionSlider(input, labels, stops, store);
  };
  return { node, show };
}

/** A label with a line break before each alias, and a possible one before a capital in a word. */
function breakLabel(label: string): (string | HTMLElement)[] {
  return label
    .split(/(?<=[a-z])(?=[A-Z])|(?<= )(?==)/)
    .flatMap((piece, index) =>
      index > 0 ? [element(piece.startsWith("=") ? "br" : "wbr"), piece] : [piece],
    );
}

/** Move the slider to the measure; it is faint if the measure is not on the ladder. */
function positionSlider(
  input: HTMLInputElement,
  labels: HTMLElement[],
  stops: Stop[],
  store: Store,
): void {
  const { id, label, base } = store.measure;
  const index = stops.findIndex((stop) => stop.id === id);
  const baseIndex = stops.findIndex((stop) => stop.id === base);
  input.max = String(stops.length - 1);
  input.value = String(Math.max(0, index, baseIndex));
  input.classList.toggle("nv-off", index < 0);
  const text =
    index < 0
      ? `${label} is chosen, which is not on the ladder`
      : `${stops[index].label}: ${stops[index].meaning}`;
  input.setAttribute("aria-valuetext", text);
  labels.forEach((name, at) => {
    name.classList.toggle("nv-on", at === index);
  });
}

type Labels = [name: string, none: string];

/** The label of the list of measures that reach the input, and of its first entry. */
function reachingLabels(view: ViewName): Labels {
  return view === "stack" ? ["trace by", "layer by layer"] : ["reaching back", "one layer"];
}

interface ListOptions {
  group: "reachingInput" | "others";
  labels(view: ViewName): Labels;
}

/** A list of further measures; its first entry returns to the measure chosen before. */
function measureList(store: Store, options: ListOptions, signal: AbortSignal): Control {
  let before: string | null = null;
  const choose = (id: string): void => {
    store.chooseMeasure(id === "" ? (before ?? store.measure.base ?? "") : id);
  };
  const { select, node, rename } = picker("measure", choose, signal);
  const show = (): void => {
    const groups = offeredMeasures(store);
    const ids = groups[options.group];
    const { measure, view } = store.state.value;
    const [label, none] = options.labels(view);
    node.hidden = ids.length === 0;
    rename(label);
    fillGroups(select, [["", [["", none]]], ...groupRollouts(ids, store)]);
    select.value = ids.includes(measure) ? measure : "";
    const main = measureOrder({ ...groups, reachingInput: [], others: [] });
    if (main.includes(measure)) before = measure;
  };
  return { node, show };
}

type OptionGroup = [name: string, options: [value: string, text: string][]];

/** The rollouts in a group of their own, if there are several. */
function groupRollouts(ids: string[], store: Store): OptionGroup[] {
  const option = (id: string): [string, string] => [id, store.measureOf(id).label];
  const rollouts = ids.filter((id) => store.measureOf(id).family === "rollout");
  const rest = ids.filter((id) => !rollouts.includes(id));
  const isGrouped = rollouts.length > 1 && rest.length > 0;
  return [
    [isGrouped ? "rollout" : "", rollouts.map(option)],
    [isGrouped ? "exact" : "", rest.map(option)],
  ];
}

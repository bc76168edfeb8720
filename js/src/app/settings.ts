/** How to look: beside what, at what scale, in pieces or words, in light or dark. */

import { inOrder, offerOf } from "../data/ladder";
import { number } from "../draw/colors";
import { button, element, grouped, options, picker } from "../draw/dom";
import type { Format, Save } from "../export/save";
import { codeOf } from "../state/pythonCode";
import type { Store } from "../state/store";
import { NAMES } from "../views/grid/agreementWords";
import { rivalOf } from "../views/grid/coloring";
import { KINDS } from "../views/index";
import {
  type Choice,
  type Color,
  OTHER,
  type Scale,
  type Setting,
  type Special,
  type Theme,
} from "../wire/types";
import type { Control } from "./controls";

type Option = [value: string, text: string];

const SCALES: [Scale, string][] = [
  ["absolute", "absolute"],
  ["layer", "per layer"],
  ["query", "per query"],
];

const SPECIALS: [Special, string][] = [
  ["shown", "shown"],
  ["dimmed", "dimmed"],
  ["hidden", "hidden"],
];

const COLORINGS: [Color, string][] = [
  ["none", "nothing"],
  ["rank", NAMES.rank],
  ["overlap", NAMES.overlap],
  ["distance", "JS distance"],
];

const ROWS: [Setting, string][] = [
  ["input", "reads it (input)"],
  ["output", "predicts it (output)"],
];

const THEMES: [Theme, string][] = [
  ["auto", "auto"],
  ["light", "light"],
  ["dark", "dark"],
];

/** Every setting, in the order of their row. */
export function settings(store: Store, signal: AbortSignal, save: Save | null): Control[] {
  return [
    listed(store, "scale", "normalize", SCALES, signal),
    units(store, signal),
    listed(store, "special tokens", "special", SPECIALS, signal),
    threshold(store, signal),
    listed(store, "theme", "theme", THEMES, signal),
    code(store, signal),
    ...(save ? [saving(store.choice, save, signal)] : []),
  ];
}

/** A list that sets one choice. */
function listed<Name extends "normalize" | "special" | "theme">(
  store: Store,
  label: string,
  name: Name,
  values: [string, string][],
  signal: AbortSignal,
): Control {
  const choose = (value: string) => store.choose({ [name]: value } as Partial<Choice>);
  const { select, node } = picker(label, choose, signal);
  options(select, values);
  const show = (): void => {
    select.value = String(store.choice.value[name]);
    node.hidden =
      (name === "special" && !hasSpecial(store)) || (name !== "theme" && isAligned(store));
  };
  return { node, show };
}

function hasSpecial({ stream }: Store): boolean {
  return [...stream.queries.special, ...stream.keys.special].includes(true);
}

/** Pieces or words. */
function units(store: Store, signal: AbortSignal): Control {
  const choose = (value: string) => store.choose({ words: value === "words" });
  const { select, node } = picker("in", choose, signal);
  options(select, [
    ["pieces", "pieces"],
    ["words", "words"],
  ]);
  const show = (): void => {
    select.value = store.choice.value.words ? "words" : "pieces";
    node.hidden = isAligned(store);
  };
  return { node, show };
}

/** Nothing below a part of the largest; the slider goes up in ever larger steps. */
function threshold(store: Store, signal: AbortSignal): Control {
  const input = element("input", { type: "range", min: "0", max: "1", step: "0.01" });
  const told = element("output");
  const slid = () => store.choose({ threshold: Number((Number(input.value) ** 2).toFixed(4)) });
  input.addEventListener("input", slid, { signal });
  input.setAttribute("aria-label", "threshold, as a part of the largest");
  const node = element("label", { class: "nv-picker nv-slider" }, "threshold ", input, told);
  const show = (): void => {
    const { threshold: part } = store.choice.value;
    input.value = String(Math.sqrt(part));
    node.hidden = isAligned(store);
    told.textContent = part > 0 ? `${number(part * 100)}%` : "none";
    input.setAttribute("aria-valuetext", `${told.textContent} of the largest`);
  };
  return { node, show };
}

/** What stands beside the picture: nothing, another measure, another layer, another flow. */
export function comparison(store: Store, signal: AbortSignal): Control {
  const choose = (value: string) => store.choose({ compare: JSON.parse(value) });
  const { select, node } = picker("compare with", choose, signal);
  const show = (): void => {
    const { compare, measure, layer, view } = store.choice.value;
    const { carried, ...near } = offerOf(store.flow, store.stream);
    const listed = (ids: string[]) =>
      ids
        .filter((id) => id !== measure || id === compare)
        .map((id): Option => [JSON.stringify(id), store.measureOf(id).label]);
    const byLayer = store.stream.layers
      .filter((other) => other !== layer || other === compare)
      .map((other): Option => [String(other), `layer ${other}`]);
    const byFlow: Option[] =
      store.header.flows.length > 1 ? [[JSON.stringify(OTHER), "the other flow"]] : [];
    // A kind that does not stand side by side compares measures only.
    const isPair = KINDS[view].pairs;
    // Groups make a list longer and wider, so a short one has none.
    const named = (name: string) => (near.stops.length + carried.length > 0 ? name : "");
    grouped(select, [
      ["", [["null", "nothing"]]],
      [named("measure"), listed(inOrder({ ...near, carried: [] }))],
      [named("reaching back"), listed(carried)],
      [named("layer"), isPair ? byLayer : []],
      [named("flow"), isPair ? byFlow : []],
    ]);
    select.value = JSON.stringify(compare);
    if (select.selectedIndex < 0) select.value = "null";
  };
  return { node, show };
}

/** What the grid is colored by; with nothing to compare with, it says what to do. */
export function colors(store: Store, signal: AbortSignal): Control {
  const choose = (value: string) => store.choose({ color: value as Color });
  const { select, node } = picker("color by", choose, signal);
  const hint = element("span", { class: "nv-hint" }, "(choose a measure to compare with)");
  node.append(hint);
  const show = (): void => {
    const { color, view } = store.choice.value;
    options(select, COLORINGS);
    select.value = color;
    hint.hidden = rivalOf(store.choice.value, store.stream.measures) !== null;
    node.hidden = view !== "grid";
  };
  return { node, show };
}

/** Which row of a translation stands for a word. */
export function rows(store: Store, signal: AbortSignal): Control {
  const choose = (value: string) => store.choose({ setting: value as Setting });
  const { select, node } = picker("row of a word", choose, signal);
  options(select, ROWS);
  const show = (): void => {
    select.value = store.choice.value.setting;
    node.hidden = !isAligned(store);
  };
  return { node, show };
}

/** Whether words are aligned, which leaves no choice of scale, unit or threshold. */
function isAligned({ choice }: Store): boolean {
  return choice.value.view === "alignment";
}

/** What a view shows before anyone has chosen; the same as in `normviz/choice.py`. */
export function usual(store: Store): Partial<Choice> {
  const [first] = store.flow.streams;
  const { measures, layers } = store.stream;
  return {
    view: "flow",
    stream: first.name,
    measure: measures.includes("weighted-norm") ? "weighted-norm" : measures[0],
    compare: null,
    layer: layers[0],
    heads: null,
    token: null,
    side: "query",
    normalize: "layer",
    words: false,
    special: "shown",
    threshold: 0,
    color: "none",
    setting: "input",
    theme: "auto",
  };
}

/** Copy the view as a line of Python; where the clipboard is closed, show it to be copied. */
function code(store: Store, signal: AbortSignal): Control {
  const line = element("input", {
    class: "nv-code",
    readonly: "",
    "aria-label": "the view as code",
  });
  line.hidden = true;
  const copy = async (): Promise<void> => {
    line.value = codeOf(store.choice.value, usual(store));
    line.hidden = false;
    line.select();
    await navigator.clipboard?.writeText(line.value).catch(() => undefined);
  };
  const made = button(
    "copy as code",
    "copy the Python that makes this view",
    () => void copy(),
    signal,
  );
  const node = element("span", { class: "nv-group" }, made, line);
  const show = (): void => {
    if (!line.hidden) line.value = codeOf(store.choice.value, usual(store));
  };
  return { node, show };
}

const FILES: [Format, string][] = [
  ["svg", "save SVG: the picture as it is shown, for a paper"],
  ["png", "save PNG: the picture as it is shown, in pixels"],
];

/** How long it is told that all went well, in milliseconds. */
const TOLD = 6000;

/** Save the picture to a file, and say how it went; what went wrong stays to be read. */
export function saving(
  chosen: { readonly value: unknown },
  save: Save,
  signal: AbortSignal,
): { node: HTMLElement; show(): void } {
  const told = element("output", { class: "nv-told" });
  let about: unknown = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tell = (text: string): void => {
    about = chosen.value;
    told.textContent = text;
  };
  const press = async (format: Format): Promise<void> => {
    clearTimeout(timer);
    try {
      tell(await save(format));
      if (!signal.aborted) timer = setTimeout(() => tell(""), TOLD);
    } catch (reason) {
      console.error(reason);
      const text = reason instanceof Error ? reason.message : String(reason);
      tell(`The picture could not be saved. ${text}`);
    }
  };
  signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  const buttons = FILES.map(([format, title]) =>
    button(`save ${format.toUpperCase()}`, title, () => void press(format), signal),
  );
  const node = element("span", { class: "nv-group nv-saving" }, ...buttons, told);
  const show = (): void => {
    if (about !== chosen.value) told.textContent = "";
  };
  return { node, show };
}

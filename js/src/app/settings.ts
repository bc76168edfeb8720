/** The display settings: comparison, scale, pieces or words, theme, code and saving. */

import { measureOrder } from "../data/ladder";
import { formatNumber } from "../draw/colors";
import { button, element, fillGroups, fillOptions, picker } from "../draw/dom";
import type { Format, Save } from "../export/save";
import { stackDefaults } from "../state/opening";
import { codeOf } from "../state/pythonCode";
import { defaultsOf, type Store } from "../state/store";
import { NAMES } from "../views/grid/agreementWords";
import { comparedMeasure } from "../views/grid/coloring";
import { KINDS } from "../views/index";
import { type ListedKey, OTHER_FLOW, type ViewState } from "../wire/types";
import type { Control } from "./controls";
import { isUsed, offeredMeasures } from "./offered";

type Option = [value: string, text: string];

/** How values of the state are called in lists; others are shown as they are. */
const TEXTS: { [key in ListedKey]?: { [value in ViewState[key]]?: string } } = {
  normalize: { layer: "per layer", query: "per query" },
  color_by: {
    none: "nothing",
    rank: NAMES.rank,
    overlap: NAMES.overlap,
    distance: "JS distance",
  },
  target_row: { input: "reads it (input)", output: "predicts it (output)" },
};

/** All settings in the order of their row. */
export function settings(store: Store, signal: AbortSignal, save: Save | null): Control[] {
  return [
    stateList(store, "scale", "normalize", () => isUsed(store, "normalize"), signal),
    unitList(store, signal),
    stateList(
      store,
      "special tokens",
      "special",
      () => hasSpecial(store) && isUsed(store, "special"),
      signal,
    ),
    thresholdSlider(store, signal),
    stateList(store, "theme", "theme", () => true, signal),
    codeButton(store, signal),
    ...(save ? [saveButtons(store.state, save, signal)] : []),
  ];
}

/** A list of the allowed values of one part of the state. */
function stateList(
  store: Store,
  label: string,
  key: ListedKey,
  isOffered: () => boolean,
  signal: AbortSignal,
): Control {
  const choose = (value: string) => store.choose({ [key]: value } as Partial<ViewState>);
  const { select, node } = picker(label, choose, signal);
  const texts: Partial<Record<string, string>> = TEXTS[key] ?? {};
  const allowed: string[] = store.header.state.allowed[key];
  fillOptions(
    select,
    allowed.map((value) => [value, texts[value] ?? value]),
  );
  const show = (): void => {
    select.value = store.state.value[key];
    node.hidden = !isOffered();
  };
  return { node, show };
}

function hasSpecial({ stream }: Store): boolean {
  return [...stream.queries.special, ...stream.keys.special].includes(true);
}

/** Pieces or words. */
function unitList(store: Store, signal: AbortSignal): Control {
  const choose = (value: string) => store.choose({ words: value === "words" });
  const { select, node } = picker("in", choose, signal);
  fillOptions(select, [
    ["pieces", "pieces"],
    ["words", "words"],
  ]);
  const show = (): void => {
    select.value = store.state.value.words ? "words" : "pieces";
    node.hidden = !isUsed(store, "words");
  };
  return { node, show };
}

/** The threshold as a fraction of the largest value; the slider is quadratic. */
function thresholdSlider(store: Store, signal: AbortSignal): Control {
  const input = element("input", { type: "range", min: "0", max: "1", step: "0.01" });
  const output = element("output");
  const onInput = () => store.choose({ threshold: Number((Number(input.value) ** 2).toFixed(4)) });
  input.addEventListener("input", onInput, { signal });
  input.setAttribute("aria-label", "threshold, as a fraction of the largest value");
  const node = element("label", { class: "nv-picker nv-slider" }, "threshold ", input, output);
  const show = (): void => {
    const { threshold } = store.state.value;
    input.value = String(Math.sqrt(threshold));
    node.hidden = !isUsed(store, "threshold");
    output.textContent = threshold > 0 ? `${formatNumber(threshold * 100)}%` : "none";
    input.setAttribute("aria-valuetext", `${output.textContent} of the largest value`);
  };
  return { node, show };
}

/** What is shown beside the view: nothing, another measure, another layer, another flow. */
export function compareList(store: Store, signal: AbortSignal): Control {
  const choose = (value: string) => store.choose({ compare: JSON.parse(value) });
  const { select, node } = picker("compare with", choose, signal);
  const show = (): void => {
    const { compare, measure, layer, view } = store.state.value;
    const { reachingInput, ...perLayer } = offeredMeasures(store);
    const optionsOf = (ids: string[]) =>
      ids
        .filter((id) => id !== measure || id === compare)
        .map((id): Option => [JSON.stringify(id), store.measureOf(id).label]);
    const byLayer = store.stream.layers
      .filter((other) => other !== layer || other === compare)
      .map((other): Option => [String(other), `layer ${other}`]);
    const byFlow: Option[] =
      store.header.flows.length > 1 ? [[JSON.stringify(OTHER_FLOW), "the other flow"]] : [];
    // A view that is not shown in pairs can compare measures only.
    const isPair = KINDS[view].pairs;
    // Groups make a list longer and wider, so a short one has none.
    const title = (name: string) => (perLayer.stops.length + reachingInput.length > 0 ? name : "");
    fillGroups(select, [
      ["", [["null", "nothing"]]],
      [title("measure"), optionsOf(measureOrder({ ...perLayer, reachingInput: [] }))],
      [title("reaching back"), optionsOf(reachingInput)],
      [title("layer"), isPair ? byLayer : []],
      [title("flow"), isPair ? byFlow : []],
    ]);
    select.value = JSON.stringify(compare);
    if (select.selectedIndex < 0) select.value = "null";
  };
  return { node, show };
}

/** How the grid is colored; if there is nothing to compare with, a hint says what to do. */
export function colorList(store: Store, signal: AbortSignal): Control {
  const isGrid = () => store.state.value.view === "grid";
  const list = stateList(store, "color by", "color_by", isGrid, signal);
  const hint = element("span", { class: "nv-hint" }, "(choose a measure to compare with)");
  list.node.append(hint);
  const show: Control["show"] = (palette) => {
    list.show(palette);
    hint.hidden = comparedMeasure(store.state.value, store.stream.measures) !== null;
  };
  return { node: list.node, show };
}

/** Which row of a translation represents a word. */
export function targetRowList(store: Store, signal: AbortSignal): Control {
  const isOffered = () => isUsed(store, "target_row");
  return stateList(store, "row of a word", "target_row", isOffered, signal);
}

/** The state that the view opens with in Python; the measure and layer are those of the stream. */
export function defaultState({ header, flow, stream, state }: Store): ViewState {
  const own = state.value.view === "stack" ? stackDefaults(flow, stream) : {};
  return { ...defaultsOf(header, stream), ...own, stream: flow.streams[0].name };
}

/** Copies the view as a line of Python, and shows it in case the clipboard is not available. */
function codeButton(store: Store, signal: AbortSignal): Control {
  const line = element("input", {
    class: "nv-code",
    readonly: "",
    "aria-label": "the view as code",
  });
  line.hidden = true;
  const copy = async (): Promise<void> => {
    line.value = codeOf(store.state.value, defaultState(store));
    line.hidden = false;
    line.select();
    await navigator.clipboard?.writeText(line.value).catch(() => undefined);
  };
  const copyButton = button(
    "copy as code",
    "copy the Python code for this view",
    () => void copy(),
    signal,
  );
  const node = element("span", { class: "nv-group" }, copyButton, line);
  const show = (): void => {
    if (!line.hidden) line.value = codeOf(store.state.value, defaultState(store));
  };
  return { node, show };
}

const FILES: [Format, string][] = [
  ["svg", "save SVG: the view as shown, as vectors"],
  ["png", "save PNG: the view as shown, as pixels"],
];

/** How long a success message is shown, in milliseconds. */
const MESSAGE_TIME = 6000;

/** Buttons that save the view to a file, with a message; an error message stays. */
export function saveButtons(
  state: { readonly value: unknown },
  save: Save,
  signal: AbortSignal,
): { node: HTMLElement; show(): void } {
  const output = element("output", { class: "nv-told" });
  let savedState: unknown = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const showMessage = (text: string): void => {
    savedState = state.value;
    output.textContent = text;
  };
  const onPress = async (format: Format): Promise<void> => {
    clearTimeout(timer);
    try {
      showMessage(await save(format));
      if (!signal.aborted) timer = setTimeout(() => showMessage(""), MESSAGE_TIME);
    } catch (reason) {
      console.error(reason);
      const text = reason instanceof Error ? reason.message : String(reason);
      showMessage(`The view could not be saved. ${text}`);
    }
  };
  signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  const buttons = FILES.map(([format, title]) =>
    button(`save ${format.toUpperCase()}`, title, () => void onPress(format), signal),
  );
  const node = element("span", { class: "nv-group nv-saving" }, ...buttons, output);
  const show = (): void => {
    if (savedState !== state.value) output.textContent = "";
  };
  return { node, show };
}

/** The row of controls: buttons and lists that the keyboard can reach. */

import { groupMeasures } from "../data/ladder";
import { pictureOf, strongestHead } from "../data/layer";
import { numbersOf } from "../data/otherLayers";
import { headColor, type Palette } from "../draw/colors";
import { button, element, fillOptions, group, markPressed, picker } from "../draw/dom";
import type { Save } from "../export/save";
import { panesOf, shownStreams, viewsOf } from "../state/pane";
import type { Store } from "../state/store";
import type { Tiles } from "../state/tiles";
import { KINDS } from "../views/index";
import type { Stream, ViewName } from "../wire/types";
import { measureControls } from "./measurePicker";
import { colorList, compareList, settings, targetRowList } from "./settings";

/** One control: its element, and a function that updates it to the state. */
export interface Control {
  node: HTMLElement;
  show(palette: Palette): void;
}

/** All controls in one row that wraps; without `save` there are no save buttons. */
export function createControls(
  store: Store,
  tiles: Tiles,
  signal: AbortSignal,
  save: Save | null = null,
): Control {
  const all = [
    viewButtons(store, signal),
    ...measureControls(store, signal),
    layerStepper(store, signal),
    streamControl(store, signal),
    compareList(store, signal),
    colorList(store, signal),
    targetRowList(store, signal),
    ...settings(store, signal, save),
    headChips(store, tiles, signal),
  ];
  return {
    node: element("div", { class: "nv-controls" }, ...all.map(({ node }) => node)),
    show: (palette) => {
      for (const control of all) control.show(palette);
    },
  };
}

/** More streams than this are in a list. */
const MAX_BUTTONS = 4;

function streamControl(store: Store, signal: AbortSignal): Control {
  const names = shownStreams(store.header).map(({ name }) => name);
  return names.length > MAX_BUTTONS
    ? streamList(store, names, signal)
    : streamButtons(store, names, signal);
}

function streamList(store: Store, names: string[], signal: AbortSignal): Control {
  const { select, node } = picker("stream", (stream) => store.choose({ stream }), signal);
  fillOptions(
    select,
    names.map((name) => [name, name]),
  );
  const show = (): void => {
    select.value = store.state.value.stream;
  };
  return { node, show };
}

function streamButtons(store: Store, names: string[], signal: AbortSignal): Control {
  const { node, fill } = group("stream", "nv-segmented");
  const create = (name: string) =>
    button(name, `the ${name} stream`, () => store.choose({ stream: name }), signal);
  const show = (): void => {
    node.hidden = names.length < 2;
    const buttons = fill("all", () => names.map(create));
    markPressed(buttons, (index) => names[index] === store.state.value.stream);
  };
  return { node, show };
}

function layerStepper(store: Store, signal: AbortSignal): Control {
  const { select, node: list } = picker(
    "layer",
    (value) => store.choose({ layer: Number(value) }),
    signal,
  );
  const down = button("‹", "layer before (key [)", () => store.stepLayer(-1), signal);
  const up = button("›", "layer after (key ])", () => store.stepLayer(1), signal);
  const attributes = { class: "nv-group nv-stepper", role: "group", "aria-label": "layer" };
  const node = element("div", attributes, list, down, up);
  const show = (): void => {
    const { layers } = store.stream;
    const { layer } = store.state.value;
    fillOptions(select, layerOptions(store.stream));
    node.classList.toggle("nv-gappy", numbersOf(store.stream).length > 0);
    select.value = String(layer);
    down.disabled = layer === layers[0];
    up.disabled = layer === layers[layers.length - 1];
  };
  return { node, show };
}

/** All layers by number; those without attention cannot be chosen. */
function layerOptions(stream: Stream): [value: string, text: string, reason?: string][] {
  const others = numbersOf(stream).map(([number, part]): [number, string, string] => [
    number,
    `${number} · no attention`,
    part,
  ]);
  return [...stream.layers.map((number): [number, string] => [number, `${number}`]), ...others]
    .sort(([one], [other]) => one - other)
    .map(([number, ...rest]) => [`${number}`, ...rest]);
}

function viewButtons(store: Store, signal: AbortSignal): Control {
  const { node, fill } = group("view", "nv-segmented");
  const create = (name: ViewName) =>
    button(name, KINDS[name].title, () => store.openView(name), signal);
  const show = (): void => {
    const names = viewsOf(store.header);
    const buttons = fill("all", () => names.map(create));
    markPressed(buttons, (index) => names[index] === store.state.value.view);
  };
  return { node, show };
}

/** Chips for the heads: if all are shown, a click leaves only one; then each can be toggled. */
function headChips(store: Store, tiles: Tiles, signal: AbortSignal): Control {
  const { node, fill } = group("heads", "nv-heads");
  const create = (heads: number[]) => () => [
    element("span", { "aria-hidden": "true" }, "heads"),
    button("all", "all heads", () => store.choose({ heads: null }), signal),
    button("strongest", STRONGEST, () => chooseStrongestHead(store, tiles), signal),
    ...heads.map((head) =>
      button(String(head), `head ${head}`, () => store.toggleHead(head), signal),
    ),
  ];
  const show = (palette: Palette): void => {
    const { heads } = store.stream;
    const chosen = store.state.value.heads;
    const isIdle = !store.measure.axes.includes("head");
    const hasLadder = groupMeasures(store.flow, store.stream).stops.length > 0;
    // With the ladder the space stays reserved, so that the view does not move under the slider.
    node.hidden = heads.length < 2 || (isIdle && !hasLadder);
    node.classList.toggle("nv-idle", isIdle);
    const [, all, , ...chips] = fill(heads.join(), create(heads));
    markPressed([all], () => chosen === null);
    markPressed(chips, (index) => chosen === null || chosen.includes(heads[index]));
    chips.forEach((chip, index) => {
      // If hues represent signs, heads have no color.
      const color = store.measure.signed ? palette.soft : headColor(heads[index], palette);
      chip.style.setProperty("--nv-head", color);
    });
  };
  return { node, show };
}

const STRONGEST = "the head that moves the most, for the pinned token or overall";

/** Choose the head with the largest share for the token in focus. */
function chooseStrongestHead(store: Store, tiles: Tiles): void {
  const [pane] = panesOf(store.header, { ...store.state.value, heads: null, compare: null }, tiles);
  const picture = pictureOf(pane);
  const head = picture && strongestHead(picture, store.focus);
  if (head !== null) store.choose({ heads: [head] });
}

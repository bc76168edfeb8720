/** The controls: one row for what readers change most, and a second one behind "more". */

import type { Palette } from "../draw/colors";
import { button, element, fillOptions, markPressed, picker, toolbar } from "../draw/dom";
import type { Save } from "../export/save";
import { shownStreams, viewsOf } from "../state/pane";
import type { Store } from "../state/store";
import type { Tiles } from "../state/tiles";
import { KINDS } from "../views/index";
import type { ViewName } from "../wire/types";
import { headMenu } from "./headMenu";
import { layerPicker } from "./layerPicker";
import { measureControls, measureLists } from "./measurePicker";
import { moreRow } from "./menu";
import { colorList, compareList, settings, targetRowList } from "./settings";

/** One control: its element, and a function that updates it to the state. */
export interface Control {
  node: HTMLElement;
  show(palette: Palette): void;
}

/** All controls; without `save` there are no save buttons. */
export function createControls(
  store: Store,
  tiles: Tiles,
  signal: AbortSignal,
  save: Save | null = null,
): Control {
  const main = [
    viewButtons(store, signal),
    streamControl(store, signal),
    ...measureControls(store, signal),
    layerPicker(store, signal),
    headMenu(store, tiles, signal),
  ];
  const further = [
    ...measureLists(store, signal),
    compareList(store, signal),
    colorList(store, signal),
    targetRowList(store, signal),
    ...settings(store, signal, save),
  ];
  const more = moreRow(
    further.map(({ node }) => node),
    signal,
  );
  const row = element("div", { class: "nv-controls" }, ...main.map(({ node }) => node), more.title);
  return {
    node: element("div", { class: "nv-rows" }, row, more.row),
    show: (palette) => {
      for (const control of [...main, ...further]) control.show(palette);
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
  const { node, fill } = toolbar("stream", "nv-segmented", signal);
  const create = (name: string) =>
    button(name, `the ${name} stream`, () => store.choose({ stream: name }), signal);
  const show = (): void => {
    node.hidden = names.length < 2;
    const buttons = fill("all", () => names.map(create));
    markPressed(buttons, (index) => names[index] === store.state.value.stream);
  };
  return { node, show };
}

function viewButtons(store: Store, signal: AbortSignal): Control {
  const { node, fill } = toolbar("view", "nv-segmented", signal);
  const create = (name: ViewName) =>
    button(name, KINDS[name].title, () => store.openView(name), signal);
  const show = (): void => {
    const names = viewsOf(store.header);
    const buttons = fill("all", () => names.map(create));
    markPressed(buttons, (index) => names[index] === store.state.value.view);
  };
  return { node, show };
}

/** The row of controls: what can be chosen, as buttons and lists that the keyboard reaches. */

import { offerOf } from "../data/ladder";
import { pictureOf, strongestHead } from "../data/layer";
import { headColor, type Palette } from "../draw/colors";
import { button, element, group, options, picker, press } from "../draw/dom";
import type { Save } from "../export/save";
import { offered, panesOf } from "../state/pane";
import type { Store } from "../state/store";
import type { Tiles } from "../state/tiles";
import { KINDS } from "../views/index";
import type { StreamName, ViewName } from "../wire/types";
import { measures } from "./measurePicker";
import { colors, comparison, rows, settings } from "./settings";

/** One control: where it stands, and how it catches up with the choice. */
export interface Control {
  node: HTMLElement;
  show(palette: Palette): void;
}

/** All controls in one row that wraps; without a way to save there is no button for it. */
export function controls(
  store: Store,
  tiles: Tiles,
  signal: AbortSignal,
  save: Save | null = null,
): Control {
  const all = [
    kinds(store, signal),
    ...measures(store, signal),
    layers(store, signal),
    streams(store, signal),
    comparison(store, signal),
    colors(store, signal),
    rows(store, signal),
    ...settings(store, signal, save),
    heads(store, tiles, signal),
  ];
  return {
    node: element("div", { class: "nv-controls" }, ...all.map(({ node }) => node)),
    show: (palette) => {
      for (const control of all) control.show(palette);
    },
  };
}

function streams(store: Store, signal: AbortSignal): Control {
  const { node, fill } = group("stream", "nv-segmented");
  const names = store.flow.streams.map(({ name }) => name);
  const make = (name: StreamName) =>
    button(name, `the ${name} stream`, () => store.choose({ stream: name }), signal);
  const show = (): void => {
    node.hidden = names.length < 2;
    const buttons = fill("all", () => names.map(make));
    press(buttons, (index) => names[index] === store.choice.value.stream);
  };
  return { node, show };
}

function layers(store: Store, signal: AbortSignal): Control {
  const { select, node: list } = picker(
    "layer",
    (value) => store.choose({ layer: Number(value) }),
    signal,
  );
  const down = button("‹", "layer before (key [)", () => store.step(-1), signal);
  const up = button("›", "layer after (key ])", () => store.step(1), signal);
  const show = (): void => {
    const held = store.stream.layers;
    options(
      select,
      held.map((layer) => [String(layer), String(layer)]),
    );
    select.value = String(store.choice.value.layer);
    down.disabled = store.choice.value.layer === held[0];
    up.disabled = store.choice.value.layer === held[held.length - 1];
  };
  const attributes = { class: "nv-group nv-stepper", role: "group", "aria-label": "layer" };
  return { node: element("div", attributes, list, down, up), show };
}

/** Which kind of picture. */
function kinds(store: Store, signal: AbortSignal): Control {
  const { node, fill } = group("view", "nv-segmented");
  const make = (name: ViewName) =>
    button(name, KINDS[name].title, () => store.choose({ view: name }), signal);
  const show = (): void => {
    const names = offered(store.flow);
    const buttons = fill("all", () => names.map(make));
    press(buttons, (index) => names[index] === store.choice.value.view);
  };
  return { node, show };
}

/** Chips for the heads: from all, a click leaves one; after that each is switched on and off. */
function heads(store: Store, tiles: Tiles, signal: AbortSignal): Control {
  const { node, fill } = group("heads", "nv-heads");
  const make = (held: number[]) => () => [
    element("span", { "aria-hidden": "true" }, "heads"),
    button("all", "all heads", () => store.choose({ heads: null }), signal),
    button("strongest", STRONGEST, () => strongest(store, tiles), signal),
    ...held.map((head) =>
      button(String(head), `head ${head}`, () => store.toggleHead(head), signal),
    ),
  ];
  const show = (palette: Palette): void => {
    const held = store.stream.heads;
    const { heads: chosen } = store.choice.value;
    const isIdle = !store.measure.axes.includes("head");
    const isLadder = offerOf(store.flow, store.stream).stops.length > 0;
    // On the ladder its room is kept, so that the picture stays in place while the slider moves.
    node.hidden = held.length < 2 || (isIdle && !isLadder);
    node.classList.toggle("nv-idle", isIdle);
    const [, all, , ...chips] = fill(held.join(), make(held));
    press([all], () => chosen === null);
    press(chips, (index) => chosen === null || chosen.includes(held[index]));
    chips.forEach((chip, index) => {
      // Where hues stand for signs, heads have none.
      const color = store.measure.signed ? palette.soft : headColor(held[index], palette);
      chip.style.setProperty("--nv-head", color);
    });
  };
  return { node, show };
}

const STRONGEST = "the head that moves most: for the pinned token, or on the whole";

/** Choose the one head that has most of what the token in focus takes or gives. */
function strongest(store: Store, tiles: Tiles): void {
  const [pane] = panesOf(
    store.header,
    { ...store.choice.value, heads: null, compare: null },
    tiles,
  );
  const picture = pictureOf(pane);
  const head = picture && strongestHead(picture, store.focus);
  if (head !== null) store.choose({ heads: [head] });
}

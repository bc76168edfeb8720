/** The row of controls: what can be chosen, as buttons and lists that the keyboard reaches. */

import { button, element, options, picker } from "./dom";
import type { Scale, StreamName, Theme } from "./model";
import { headColour, type Palette } from "./scales";
import type { Store } from "./store";

/** One control: where it stands, and how it catches up with the choice. */
interface Control {
  node: HTMLElement;
  show(palette: Palette): void;
}

const SCALES: [Scale, string][] = [
  ["absolute", "absolute"],
  ["layer", "per layer"],
  ["query", "per query"],
];

const THEMES: [Theme, string][] = [
  ["auto", "auto"],
  ["light", "light"],
  ["dark", "dark"],
];

/** All controls in one row that wraps. */
export function controls(store: Store, signal: AbortSignal): Control {
  const all = [
    measures(store, signal),
    layers(store, signal),
    streams(store, signal),
    scaling(store, signal),
    theme(store, signal),
    heads(store, signal),
  ];
  return {
    node: element("div", { class: "nv-controls" }, ...all.map(({ node }) => node)),
    show: (palette) => {
      for (const control of all) control.show(palette);
    },
  };
}

/** A group of buttons that stays in place while its options are the same. */
function group(name: string, style: string) {
  const node = element("div", { class: `nv-group ${style}`, role: "group", "aria-label": name });
  let built = "";
  const fill = (key: string, make: () => HTMLElement[]): HTMLElement[] => {
    if (key !== built) node.replaceChildren(...make());
    built = key;
    return [...node.children] as HTMLElement[];
  };
  return { node, fill };
}

function press(buttons: HTMLElement[], isOn: (index: number) => boolean): void {
  buttons.forEach((made, index) => {
    made.setAttribute("aria-pressed", String(isOn(index)));
  });
}

function measures(store: Store, signal: AbortSignal): Control {
  const { node, fill } = group("measure", "nv-segmented");
  const make = (id: string, index: number) => {
    const { label, meaning } = store.measureOf(id);
    const title = `${label}: ${meaning} (key ${index + 1})`;
    return button(label, title, () => store.choose({ measure: id }), signal);
  };
  const show = (): void => {
    const ids = store.stream.measures;
    const buttons = fill(ids.join(), () => ids.map(make));
    press(buttons, (index) => ids[index] === store.choice.value.measure);
  };
  return { node, show };
}

function streams(store: Store, signal: AbortSignal): Control {
  const { node, fill } = group("stream", "nv-segmented");
  const names = store.header.streams.map(({ name }) => name);
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

function scaling(store: Store, signal: AbortSignal): Control {
  const choose = (value: string) => store.choose({ normalize: value as Scale });
  const { select, node } = picker("scale", choose, signal);
  options(select, SCALES);
  const show = (): void => {
    select.value = store.choice.value.normalize;
  };
  return { node, show };
}

function theme(store: Store, signal: AbortSignal): Control {
  const { select, node } = picker(
    "theme",
    (value) => store.choose({ theme: value as Theme }),
    signal,
  );
  options(select, THEMES);
  const show = (): void => {
    select.value = store.choice.value.theme;
  };
  return { node, show };
}

/** Chips for the heads: from all, a click leaves one; after that each is switched on and off. */
function heads(store: Store, signal: AbortSignal): Control {
  const { node, fill } = group("heads", "nv-heads");
  const make = (held: number[]) => () => [
    element("span", { "aria-hidden": "true" }, "heads"),
    button("all", "all heads", () => store.choose({ heads: null }), signal),
    ...held.map((head) =>
      button(String(head), `head ${head}`, () => store.toggleHead(head), signal),
    ),
  ];
  const show = (palette: Palette): void => {
    const held = store.stream.heads;
    const { heads: chosen } = store.choice.value;
    node.hidden = held.length < 2 || !store.measure.axes.includes("head");
    const [, all, ...chips] = fill(held.join(), make(held));
    press([all], () => chosen === null);
    press(chips, (index) => chosen === null || chosen.includes(held[index]));
    chips.forEach((chip, index) => {
      chip.style.setProperty("--nv-head", headColour(held[index], palette));
    });
  };
  return { node, show };
}

/** The layers as a row of bars: how far weight and norm differ in each, or the share of one. */

import { numbersOf } from "../data/otherLayers";
import { formatPercent } from "../draw/colors";
import { button, element, markPressed, toolbar } from "../draw/dom";
import type { Store } from "../state/store";
import type { Stream } from "../wire/types";
import type { Control } from "./controls";
import { isUsed } from "./offered";

/** With more layers, only some bars have their number below. */
const NUMBERED = 16;

/** The shortest bar, as a fraction of the tallest. */
const SHORTEST = 0.12;

interface Layer {
  number: number;
  /** What it has instead of attention; empty if it has attention. */
  instead: string;
  height: number;
  title: string;
}

export function layerPicker(store: Store, signal: AbortSignal): Control {
  const { node: bars, fill } = toolbar("layer", "nv-layers", signal);
  const current = element("output", { class: "nv-layer" });
  const node = element("div", { class: "nv-group nv-picker" }, "layer ", current, bars);
  const show = (): void => {
    const layers = layersOf(store.stream);
    const create = (layer: Layer) => layerBar(store, layer, layers.length, signal);
    const buttons = fill(JSON.stringify(layers), () => layers.map(create));
    const { layer } = store.state.value;
    markPressed(buttons, (index) => layers[index].number === layer);
    current.textContent = String(layer);
    node.hidden = store.stream.layers.length < 2;
    node.classList.toggle("nv-idle", !isUsed(store, "layer"));
  };
  return { node, show };
}

function layerBar(store: Store, layer: Layer, count: number, signal: AbortSignal): HTMLElement {
  const { number, instead, height, title } = layer;
  const made = button("", title, () => store.choose({ layer: number }), signal);
  made.disabled = instead !== "";
  made.dataset.layer = String(number);
  const bar = element("i", { "aria-hidden": "true" });
  bar.style.height = `${Math.round(100 * height)}%`;
  const step = Math.ceil(count / NUMBERED);
  const text = number % step === 0 ? String(number) : "";
  made.append(element("span", {}, bar), element("b", { "aria-hidden": "true" }, text));
  return made;
}

/** All layers in order, with those that have no attention. */
function layersOf(stream: Stream): Layer[] {
  const found = new Map(stream.headlines.map((headline) => [headline.layer, headline]));
  const top = Math.max(...stream.headlines.map(({ difference }) => difference), 0);
  const own = stream.layers.map((number) => {
    const { difference = 0, parts = [] } = found.get(number) ?? {};
    const height = top > 0 ? SHORTEST + (1 - SHORTEST) * (difference / top) : 1;
    // With one measure, the headline has its share, and nothing differs.
    const isPair = parts.filter(([, measure]) => measure).length > 1;
    const words = isPair ? `: weight and norm differ by ${formatPercent(difference)}` : "";
    return { number, instead: "", height, title: `layer ${number}${words}` };
  });
  const others = numbersOf(stream).map(([number, instead]) => {
    return { number, instead, height: 0, title: `layer ${number}: no attention, but ${instead}` };
  });
  return [...own, ...others].sort((one, other) => one.number - other.number);
}

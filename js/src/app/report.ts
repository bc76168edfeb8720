/** Charts without a flow, such as those of a whole corpus: side by side, in words and in tables. */

import { PALETTES } from "../draw/colors";
import { element, options, picker } from "../draw/dom";
import { type Shade, shadeFor, watchHost } from "../draw/theme";
import { fontsAfter } from "../export/color";
import { deliver, type Figure, nameOf, sheet } from "../export/save";
import { walk } from "../export/walk";
import { Cell } from "../state/signal";
import { chartCurves, chartTable, describeChart } from "../views/profile/charts";
import { curves } from "../views/profile/curves";
import { roomIn } from "../views/profile/view";
import type { Chart, Report, Theme } from "../wire/types";
import type { Description } from "../words/describe";
import { guard, refuseOther, watchSize } from "./mount";
import { readout } from "./readout";
import { saving } from "./settings";

const HEIGHT = 280;
const KEYS = "Keys: [ and ] layer, Escape lets go.";
const HINT = "Point at a layer to read its numbers; click to keep it.";
/** What stands for no layer. */
const NONE = "";

/** The layer that is kept and the one under the pointer; null for none. */
interface Layers {
  every: number[];
  chosen: Cell<number | null>;
  pointed: Cell<number | null>;
}

/** Show a report in an element until the signal says stop. */
export function report(root: HTMLElement, about: Report, signal: AbortSignal): void {
  root.classList.add("normviz", "nv-report");
  const label = `What attention moves on average in ${about.title}. ${KEYS}`;
  const attributes = { tabindex: "0", role: "group", "aria-label": label };
  for (const [name, value] of Object.entries(attributes)) root.setAttribute(name, value);
  signal.addEventListener("abort", () => root.replaceChildren(), { once: true });
  guard(root, () => {
    refuseOther(about.format);
    assemble(root, about, signal);
  })();
}

function assemble(root: HTMLElement, about: Report, signal: AbortSignal): void {
  const every = [...new Set(about.charts.flatMap(({ layers }) => layers))].sort((a, b) => a - b);
  const layers: Layers = { every, chosen: new Cell(null), pointed: new Cell(null) };
  const board = panels(about.charts, layers, signal);
  const picture = (): Figure => onPaper(root, board, about);
  const name = nameOf([about.title, "profile"]);
  const save = saving(layers.chosen, async (as) => deliver(picture(), as, name, root), signal);
  const select = layerPicker(layers, signal);
  const text = readout();
  const controls = element("div", { class: "nv-controls" }, select.node, save.node);
  root.replaceChildren(...heading(about), controls, board.node, text.node);

  const glance = guard(root, () => {
    board.mark();
    text.show([described(about.charts, layers)], "");
  });
  const draw = guard(root, () => {
    root.dataset.shade = shadeFor(themeIn(location.hash));
    select.show();
    save.show();
    board.draw(root.dataset.shade as Shade);
    glance();
  });
  draw();
  layers.chosen.watch(draw, signal);
  layers.pointed.watch(glance, signal);
  watchHost(draw, signal);
  window.addEventListener("hashchange", draw, { signal });
  watchSize(board.node, draw, signal);
  listen(root, layers, signal);
}

/** The theme that the page's address asks for, as it may for a flow: a host that is not seen says it so. */
function themeIn(hash: string): Theme {
  const wanted = new URLSearchParams(hash.slice(1)).get("theme");
  return wanted === "light" || wanted === "dark" ? wanted : "auto";
}

/** Over what the charts are, what is to be seen in them, and what speaks against believing them. */
function heading({ title, about, notes, charts }: Report): HTMLElement[] {
  const name = element("span", { class: "nv-model" }, title);
  const found = charts.flatMap(({ finding }) => (finding ? [finding] : []));
  return [
    element("p", { class: "nv-title" }, name, about),
    ...notes.map((note) => element("p", { class: "nv-note", role: "note" }, note)),
    ...found.map((sentence, at) =>
      element("p", { class: at === 0 ? "nv-finding nv-first" : "nv-finding" }, sentence),
    ),
  ];
}

/** A panel for each chart, with what is drawn below it. */
function panels(charts: Chart[], { chosen, pointed }: Layers, signal: AbortSignal) {
  const use = {
    point: (layer: number | null) => pointed.set(layer),
    choose: (layer: number) => chosen.set(layer === chosen.value ? null : layer),
  };
  const made = charts.map((chart) => ({ chart, panel: curves(use, signal) }));
  const figures = made.map(({ chart, panel }) =>
    element("figure", { class: "nv-panel" }, panel.node, element("figcaption", {}, chart.about)),
  );
  const node = element("div", { class: "nv-profile" }, ...figures);
  const draw = (shade: Shade): void => {
    const { width, isWide } = roomIn(node);
    node.classList.toggle("nv-wide", isWide);
    for (const { chart, panel } of made) {
      panel.show(chartCurves(chart, PALETTES[shade]), chosen.value ?? -1, width, HEIGHT);
    }
  };
  const mark = (): void => {
    for (const { panel } of made) panel.mark(null, pointed.value ?? chosen.value);
  };
  return { node, draw, mark };
}

/** The numbers of a layer in sentences; in tables those of the layer that is kept, or all. */
function described(charts: Chart[], { chosen, pointed }: Layers): Description {
  const layer = pointed.value ?? chosen.value;
  const notes = layer === null ? [] : charts.flatMap((one) => describeChart(one, layer).notes);
  const kept = chosen.value;
  const [first, ...also] =
    kept === null ? charts.map(chartTable) : charts.flatMap((one) => describeChart(one, kept).also);
  return { sentence: notes[0] ?? HINT, notes: notes.slice(1), ...first, also };
}

function layerPicker({ every, chosen }: Layers, signal: AbortSignal) {
  const choose = (value: string) => chosen.set(value === NONE ? null : Number(value));
  const { select, node } = picker("layer", choose, signal);
  const all = every.map((layer): [string, string] => [String(layer), String(layer)]);
  const show = (): void => {
    options(select, [[NONE, "all"], ...all]);
    select.value = chosen.value === null ? NONE : String(chosen.value);
  };
  return { node, show };
}

function listen(root: HTMLElement, { every, chosen }: Layers, signal: AbortSignal): void {
  const step = (by: number): void => {
    const at = chosen.value === null ? (by > 0 ? -1 : every.length) : every.indexOf(chosen.value);
    chosen.set(every[Math.min(every.length - 1, Math.max(0, at + by))] ?? null);
  };
  const keys: Record<string, () => void> = {
    "[": () => step(-1),
    "]": () => step(1),
    Escape: () => chosen.set(null),
  };
  const pressed = (event: KeyboardEvent): void => {
    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  root.addEventListener("keydown", pressed, { signal });
}

/** The panels as a figure in light colors, with all put back before it is seen. */
function onPaper(
  root: HTMLElement,
  board: ReturnType<typeof panels>,
  { title, about, charts }: Report,
): Figure {
  const shade = root.dataset.shade as Shade;
  const draw = (wanted: Shade): void => {
    root.dataset.shade = wanted;
    board.draw(wanted);
    board.mark();
  };
  root.classList.add("nv-still");
  draw("light");
  try {
    const fonts = fontsAfter(getComputedStyle(root).fontFamily);
    const sentence = charts.map(({ finding }) => finding).join(" ");
    const seen = walk(board.node, new Map(), PALETTES.light.paper);
    return sheet(seen, { fonts, title: `${title}, ${about}`, sentence });
  } finally {
    draw(shade);
    root.classList.remove("nv-still");
  }
}

/** Charts without a flow, such as those of a whole corpus, with sentences and tables. */

import { PALETTES } from "../draw/colors";
import { element, fillOptions, picker } from "../draw/dom";
import { type Shade, shadeFor, watchHost } from "../draw/theme";
import { fontsAfter } from "../export/color";
import { assembleFigure, deliver, type Figure, safeName } from "../export/save";
import { walk } from "../export/walk";
import { Signal } from "../state/signal";
import { chartCurves, chartTable, describeChart } from "../views/profile/charts";
import { curves } from "../views/profile/curves";
import { spaceIn } from "../views/profile/view";
import type { Chart, Report, Theme } from "../wire/types";
import type { Description } from "../words/describe";
import { requireFormat, watchSize, withErrorNotice } from "./mount";
import { readout } from "./readout";
import { saveButtons } from "./settings";

const HEIGHT = 280;
const KEYS = "Keys: [ and ] choose a layer, Escape clears the selection.";
const HINT = "Point at a layer to read its numbers; click to select it.";
/** The list entry for no layer. */
const NONE = "";

/** The selected layer and the one under the pointer; null for none. */
interface Layers {
  all: number[];
  selected: Signal<number | null>;
  pointed: Signal<number | null>;
}

/** Show a report in an element until the signal is aborted. */
export function mountReport(root: HTMLElement, about: Report, signal: AbortSignal): void {
  root.classList.add("normviz", "nv-report");
  const label = `What attention moves on average in ${about.title}. ${KEYS}`;
  const attributes = { tabindex: "0", role: "group", "aria-label": label };
  for (const [name, value] of Object.entries(attributes)) root.setAttribute(name, value);
  signal.addEventListener("abort", () => root.replaceChildren(), { once: true });
  withErrorNotice(root, () => {
    requireFormat(about.format);
    assemble(root, about, signal);
  })();
}

function assemble(root: HTMLElement, about: Report, signal: AbortSignal): void {
  const all = [...new Set(about.charts.flatMap(({ layers }) => layers))].sort((a, b) => a - b);
  const layers: Layers = { all, selected: new Signal(null), pointed: new Signal(null) };
  const board = chartPanels(about.charts, layers, signal);
  const figure = (): Figure => drawOnPaper(root, board, about);
  const name = safeName([about.title, "profile"]);
  const save = saveButtons(
    layers.selected,
    async (format) => deliver(figure(), format, name, root),
    signal,
  );
  const select = layerPicker(layers, signal);
  const text = readout();
  const controls = element("div", { class: "nv-controls" }, select.node, save.node);
  root.replaceChildren(...heading(about), controls, board.node, text.node);

  const preview = withErrorNotice(root, () => {
    board.mark();
    text.show(describeLayer(about.charts, layers));
  });
  const draw = withErrorNotice(root, () => {
    root.dataset.shade = shadeFor(themeIn(location.hash));
    select.show();
    save.show();
    board.draw(root.dataset.shade as Shade);
    preview();
  });
  draw();
  layers.selected.watch(draw, signal);
  layers.pointed.watch(preview, signal);
  watchHost(draw, signal);
  window.addEventListener("hashchange", draw, { signal });
  watchSize(board.node, draw, signal);
  listenToKeys(root, layers, signal);
}

/** The theme in the page's URL; a host may set it there. */
function themeIn(hash: string): Theme {
  const theme = new URLSearchParams(hash.slice(1)).get("theme");
  return theme === "light" || theme === "dark" ? theme : "auto";
}

/** What the charts cover, warnings about them, and their findings. */
function heading({ title, about, notes, charts }: Report): HTMLElement[] {
  const name = element("span", { class: "nv-model" }, title);
  const findings = charts.flatMap(({ finding }) => (finding ? [finding] : []));
  return [
    element("p", { class: "nv-title" }, name, about),
    ...notes.map((note) => element("p", { class: "nv-note", role: "note" }, note)),
    ...findings.map((sentence, at) =>
      element("p", { class: at === 0 ? "nv-finding nv-first" : "nv-finding" }, sentence),
    ),
  ];
}

/** A panel for each chart, with its description below. */
function chartPanels(charts: Chart[], { selected, pointed }: Layers, signal: AbortSignal) {
  const actions = {
    point: (layer: number | null) => pointed.set(layer),
    choose: (layer: number) => selected.set(layer === selected.value ? null : layer),
  };
  const panels = charts.map((chart) => ({ chart, panel: curves(actions, signal) }));
  const figures = panels.map(({ chart, panel }) =>
    element("figure", { class: "nv-panel" }, panel.node, element("figcaption", {}, chart.about)),
  );
  const node = element("div", { class: "nv-profile" }, ...figures);
  const draw = (shade: Shade): void => {
    const { width, isWide } = spaceIn(node);
    node.classList.toggle("nv-wide", isWide);
    for (const { chart, panel } of panels) {
      panel.show(chartCurves(chart, PALETTES[shade]), selected.value ?? -1, width, HEIGHT);
    }
  };
  const mark = (): void => {
    for (const { panel } of panels) panel.mark(null, pointed.value ?? selected.value);
  };
  return { node, draw, mark };
}

/** The numbers of a layer in sentences; the tables show the selected layer, or all. */
function describeLayer(charts: Chart[], { selected, pointed }: Layers): Description {
  const layer = pointed.value ?? selected.value;
  const notes = layer === null ? [] : charts.flatMap((chart) => describeChart(chart, layer).notes);
  const chosen = selected.value;
  const [first, ...also] =
    chosen === null
      ? charts.map(chartTable)
      : charts.flatMap((chart) => describeChart(chart, chosen).also);
  return { sentence: notes[0] ?? HINT, notes: notes.slice(1), ...first, also };
}

function layerPicker({ all, selected }: Layers, signal: AbortSignal) {
  const choose = (value: string) => selected.set(value === NONE ? null : Number(value));
  const { select, node } = picker("layer", choose, signal);
  const options = all.map((layer): [string, string] => [String(layer), String(layer)]);
  const show = (): void => {
    fillOptions(select, [[NONE, "all"], ...options]);
    select.value = selected.value === null ? NONE : String(selected.value);
  };
  return { node, show };
}

function listenToKeys(root: HTMLElement, { all, selected }: Layers, signal: AbortSignal): void {
  const step = (by: number): void => {
    const at = selected.value === null ? (by > 0 ? -1 : all.length) : all.indexOf(selected.value);
    selected.set(all[Math.min(all.length - 1, Math.max(0, at + by))] ?? null);
  };
  const keys: Record<string, () => void> = {
    "[": () => step(-1),
    "]": () => step(1),
    Escape: () => selected.set(null),
  };
  const onKey = (event: KeyboardEvent): void => {
    const action = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  };
  root.addEventListener("keydown", onKey, { signal });
}

/** The panels as a figure in light colors; the screen is restored afterwards. */
function drawOnPaper(
  root: HTMLElement,
  board: ReturnType<typeof chartPanels>,
  { title, about, charts }: Report,
): Figure {
  const shade = root.dataset.shade as Shade;
  const draw = (drawnShade: Shade): void => {
    root.dataset.shade = drawnShade;
    board.draw(drawnShade);
    board.mark();
  };
  root.classList.add("nv-still");
  draw("light");
  try {
    const fonts = fontsAfter(getComputedStyle(root).fontFamily);
    const sentence = charts.map(({ finding }) => finding).join(" ");
    const seen = walk(board.node, new Map(), PALETTES.light.paper);
    return assembleFigure(seen, { fonts, title: `${title}, ${about}`, sentence });
  } finally {
    draw(shade);
    root.classList.remove("nv-still");
  }
}

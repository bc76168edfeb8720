/** One pane, or two side by side that highlight the same tokens. */

import { measureColor, PALETTES, type Palette } from "../draw/colors";
import { element } from "../draw/dom";
import type { Shade } from "../draw/theme";
import { type Pane, translateFocus } from "../state/pane";
import type { Store } from "../state/store";
import { KINDS } from "../views/index";
import type { View, ViewActions } from "../views/view";
import type { Focus } from "../wire/types";
import type { Description } from "../words/describe";
import { createLegend, type Legend } from "../words/legend";
import { type Readout, readout } from "./readout";

interface Frame {
  pane: Pane;
  view: View;
  title: HTMLElement;
  legend: Legend;
  /** The pane in words, below it or beside it. */
  words: Readout;
}

export class Gallery {
  readonly node = element("div", { class: "nv-gallery" });
  /** The views shown now, each with its pane. */
  frames: Frame[] = [];
  readonly #store: Store;
  #built = "";
  #scope = new AbortController();

  constructor(store: Store, signal: AbortSignal) {
    this.#store = store;
    signal.addEventListener("abort", () => this.#scope.abort(), { once: true });
  }

  /** Draw these panes; false while numbers are loading. */
  draw(panes: Pane[], shade: Shade): boolean {
    this.#build(panes);
    const drawn = panes.map((pane, index) => {
      const frame = this.frames[index];
      frame.pane = pane;
      frame.title.replaceChildren(...titleParts(pane, PALETTES[shade]));
      frame.title.hidden = frame.title.childNodes.length === 0;
      return frame.view.draw(pane, PALETTES[shade]);
    });
    const isLoaded = drawn.every((isDrawn) => isDrawn);
    this.node.classList.toggle("nv-stale", !isLoaded);
    return isLoaded;
  }

  highlight(focus: Focus | null): void {
    for (const { pane, view, legend } of this.frames) {
      view.highlight(translateFocus(this.#store.header, pane, focus, "there"));
      legend.show(view.legend());
    }
  }

  describe(focus: Focus | null): Description[] {
    return this.frames.map(({ pane, view }) =>
      view.describe(translateFocus(this.#store.header, pane, focus, "there")),
    );
  }

  /** Put every pane into words, below it or beside it. */
  tell(focus: Focus | null): void {
    this.describe(focus).forEach((description, at) => {
      this.frames[at].words.show(description);
    });
  }

  /** Create new views if the kind or the number of panes has changed. */
  #build(panes: Pane[]): void {
    const key = `${panes[0].state.view} ${panes.length}`;
    if (key === this.#built) return;
    this.#built = key;
    this.#scope.abort();
    this.#scope = new AbortController();
    this.frames = panes.map((pane, index) => {
      const actions = actionsFor(this.#store, () => this.frames[index].pane);
      return createFrame(pane, actions, this.#scope.signal);
    });
    const figures = this.frames.map(({ view, title, legend, words }) => {
      const picture = element("div", { class: "nv-picture" }, title, view.node, legend.node);
      return element("figure", { class: "nv-pane" }, picture, words.node);
    });
    this.node.replaceChildren(...figures);
    this.node.classList.toggle("nv-paired", panes.length > 1);
  }
}

/** What a pane shows: its title, and its measure in a few words. */
function titleParts({ title, measure, state }: Pane, palette: Palette): (string | HTMLElement)[] {
  const isMeasure = title === "" || title === measure.label;
  if (!KINDS[state.view].pairs) return [];
  if (!isMeasure) return [title];
  const name = element("b", {}, measure.label);
  if (!measure.signed) name.style.color = measureColor(measure, palette);
  return [name, " ", element("small", {}, measure.short || measure.meaning)];
}

function createFrame(pane: Pane, actions: ViewActions, signal: AbortSignal): Frame {
  return {
    pane,
    view: KINDS[pane.state.view].create(actions, signal),
    title: element("p", { class: "nv-caption" }),
    legend: createLegend(),
    words: readout(),
  };
}

/** What a view may do; tokens of the other flow are translated to those of the first. */
function actionsFor(store: Store, pane: () => Pane): ViewActions {
  const toFirst = (focus: Focus | null) => translateFocus(store.header, pane(), focus, "back");
  return {
    hover: (focus) => store.hover.set(toFirst(focus)),
    pin: (focus) => {
      const own = toFirst(focus);
      if (own) store.pin(own);
    },
    choose: (changes) => store.choose(changes),
    refresh: () => store.hover.notify(),
    role: () => store.state.value.role,
    pinned: () => translateFocus(store.header, pane(), store.pinned, "there"),
  };
}

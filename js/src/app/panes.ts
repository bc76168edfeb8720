/** One pane, or two side by side that highlight the same tokens. */

import { PALETTES } from "../draw/colors";
import { element } from "../draw/dom";
import type { Shade } from "../draw/theme";
import { type Pane, translateFocus } from "../state/pane";
import type { Store } from "../state/store";
import { KINDS } from "../views/index";
import type { View, ViewActions } from "../views/view";
import type { Focus } from "../wire/types";
import type { Description } from "../words/describe";
import { createLegend, type Legend } from "../words/legend";

interface Frame {
  pane: Pane;
  view: View;
  title: HTMLElement;
  legend: Legend;
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
      frame.title.textContent = pane.title;
      frame.title.hidden = pane.title === "";
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
    const figures = this.frames.map(({ view, title, legend }) =>
      element("figure", { class: "nv-pane" }, title, view.node, legend.node),
    );
    this.node.replaceChildren(...figures);
    this.node.classList.toggle("nv-paired", panes.length > 1);
  }
}

function createFrame(pane: Pane, actions: ViewActions, signal: AbortSignal): Frame {
  return {
    pane,
    view: KINDS[pane.state.view].create(actions, signal),
    title: element("figcaption", { class: "nv-caption" }),
    legend: createLegend(),
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

/** One picture, or two side by side that point at the same tokens. */

import { PALETTES } from "../draw/colors";
import { element } from "../draw/dom";
import type { Shade } from "../draw/theme";
import { crossed, type Pane } from "../state/pane";
import type { Store } from "../state/store";
import { KINDS } from "../views/index";
import type { Hand, View } from "../views/view";
import type { Focus } from "../wire/types";
import type { Description } from "../words/describe";
import { legend } from "../words/legend";

interface Frame {
  pane: Pane;
  view: View;
  title: HTMLElement;
  legend: ReturnType<typeof legend>;
}

export class Gallery {
  readonly node = element("div", { class: "nv-gallery" });
  /** The pictures that are shown, each with its pane. */
  frames: Frame[] = [];
  readonly #store: Store;
  #shown = "";
  #ended = new AbortController();

  constructor(store: Store, signal: AbortSignal) {
    this.#store = store;
    signal.addEventListener("abort", () => this.#ended.abort(), { once: true });
  }

  /** Draw these panes; false while numbers are on their way. */
  draw(panes: Pane[], shade: Shade): boolean {
    this.#build(panes);
    const here = panes.map((pane, at) => {
      const frame = this.frames[at];
      frame.pane = pane;
      frame.title.textContent = pane.title;
      frame.title.hidden = pane.title === "";
      return frame.view.draw(pane, PALETTES[shade]);
    });
    const isHere = here.every((isDrawn) => isDrawn);
    this.node.classList.toggle("nv-stale", !isHere);
    return isHere;
  }

  highlight(focus: Focus | null): void {
    for (const { pane, view, legend: key } of this.frames) {
      view.highlight(crossed(this.#store.header, pane, focus, "there"));
      key.show(view.legend());
    }
  }

  describe(focus: Focus | null): Description[] {
    return this.frames.map(({ pane, view }) =>
      view.describe(crossed(this.#store.header, pane, focus, "there")),
    );
  }

  /** Make the views anew when there are others, or more or fewer. */
  #build(panes: Pane[]): void {
    const wanted = `${panes[0].choice.view} ${panes.length}`;
    if (wanted === this.#shown) return;
    this.#shown = wanted;
    this.#ended.abort();
    this.#ended = new AbortController();
    this.frames = panes.map((pane, at) => {
      const hand = handOf(this.#store, () => this.frames[at].pane);
      return framed(pane, hand, this.#ended.signal);
    });
    const figures = this.frames.map(({ view, title, legend: key }) =>
      element("figure", { class: "nv-pane" }, title, view.node, key.node),
    );
    this.node.replaceChildren(...figures);
    this.node.classList.toggle("nv-paired", panes.length > 1);
  }
}

function framed(pane: Pane, hand: Hand, signal: AbortSignal): Frame {
  return {
    pane,
    view: KINDS[pane.choice.view].make(hand, signal),
    title: element("figcaption", { class: "nv-caption" }),
    legend: legend(),
  };
}

/** What a picture may do; tokens of another flow are translated into the first one's. */
function handOf(store: Store, pane: () => Pane): Hand {
  const back = (focus: Focus | null) => crossed(store.header, pane(), focus, "back");
  return {
    hover: (focus) => store.hover.set(back(focus)),
    pin: (focus) => {
      const found = back(focus);
      if (found) store.pin(found);
    },
    choose: (changes) => store.choose(changes),
    tell: () => store.hover.tell(),
  };
}

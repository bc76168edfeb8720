/** A column of tokens that can be pointed at and pinned. */

import { element, visible } from "../dom";
import type { Focus, Side, Tokens } from "../model";
import type { Store } from "../store";

export interface Column {
  node: HTMLElement;
  show(tokens: Tokens): void;
  /** Mark the token in focus; dim those that are not in `lit`. */
  mark(focus: Focus | null, lit: Set<number> | null): void;
}

export function column(side: Side, store: Store, signal: AbortSignal): Column {
  const name = side === "query" ? "tokens that receive" : "tokens read from";
  const node = element("ol", { class: `nv-tokens nv-${side}`, "aria-label": name });
  let shown: Tokens | null = null;
  const show = (tokens: Tokens): void => {
    if (tokens === shown) return;
    shown = tokens;
    node.replaceChildren(...tokens.pieces.map((piece, at) => label(piece, at, tokens.special[at])));
  };
  const mark = (focus: Focus | null, lit: Set<number> | null): void => {
    const own = focus?.side === side ? focus.token : null;
    [...node.children].forEach((item, at) => {
      item.classList.toggle("nv-on", at === own);
      item.classList.toggle("nv-dim", lit !== null && !lit.has(at) && at !== own);
    });
  };
  const under = (event: Event): number | null => {
    const item = event.target instanceof Element ? event.target.closest("li") : null;
    const at = item ? [...node.children].indexOf(item) : -1;
    return at < 0 ? null : at;
  };
  node.addEventListener(
    "pointerover",
    (event) => {
      const token = under(event);
      store.hover.set(token === null ? null : { side, token });
    },
    { signal },
  );
  node.addEventListener("pointerleave", () => store.hover.set(null), { signal });
  node.addEventListener(
    "click",
    (event) => {
      const token = under(event);
      if (token !== null) store.pin({ side, token });
    },
    { signal },
  );
  return { node, show, mark };
}

function label(piece: string, at: number, special: boolean): HTMLElement {
  const text = element("span", { dir: "auto", title: `${at}: ${piece}` }, visible(piece));
  return element("li", special ? { class: "nv-special" } : {}, text);
}

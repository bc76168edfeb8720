/** The heads: a button that says which are shown, and chips to choose them. */

import { strongestHead } from "../data/layer";
import { headColor, type Palette } from "../draw/colors";
import { button, group, markPressed } from "../draw/dom";
import { panesOf } from "../state/pane";
import type { Store } from "../state/store";
import type { Tiles } from "../state/tiles";
import type { Control } from "./controls";
import { menu } from "./menu";
import { isUsed } from "./offered";

const STRONGEST = "the head that moves the most, for the pinned token or overall";

/** If all heads are shown, a click on a chip leaves only one; then each can be toggled. */
export function headMenu(store: Store, tiles: Tiles, signal: AbortSignal): Control {
  const { node: chips, fill } = group("heads", "nv-heads");
  const { node, title, shut } = menu(chips, signal);
  const create = (heads: number[]) => () => [
    button("all", "all heads, as their mean", () => store.choose({ heads: null }), signal),
    button("strongest", STRONGEST, () => chooseStrongestHead(store, tiles), signal),
    ...heads.map((head) =>
      button(String(head), `head ${head}`, () => store.toggleHead(head), signal),
    ),
  ];
  const show = (palette: Palette): void => {
    const { heads } = store.stream;
    const chosen = store.state.value.heads;
    const isIdle = !isUsed(store, "heads");
    title.textContent = `heads: ${isIdle ? "together" : nameOf(chosen)}`;
    title.disabled = isIdle;
    if (isIdle) shut();
    node.hidden = heads.length < 2;
    const [all, , ...each] = fill(heads.join(), create(heads));
    markPressed([all], () => chosen === null);
    markPressed(each, (index) => chosen?.includes(heads[index]) ?? false);
    each.forEach((chip, index) => {
      // If hues represent signs, heads have no color.
      const color = store.measure.signed ? palette.soft : headColor(heads[index], palette);
      chip.style.setProperty("--nv-head", color);
    });
  };
  return { node, show };
}

/** The chosen heads in a few characters. */
function nameOf(heads: number[] | null): string {
  if (heads === null) return "all";
  return heads.length <= 3 ? heads.join(", ") : `${heads.length} chosen`;
}

/** Choose the head with the largest share for the token in focus. */
function chooseStrongestHead(store: Store, tiles: Tiles): void {
  const [pane] = panesOf(store.header, { ...store.state.value, compare: null }, tiles);
  const head = strongestHead(pane, store.focus);
  if (head !== null) store.choose({ heads: [head] });
}

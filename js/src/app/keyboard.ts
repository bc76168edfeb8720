/** The keyboard: 1 to 9 the measure, [ ] the layer, arrows the token, Escape lets go. */

import { inOrder, offerOf } from "../data/ladder";
import type { Store } from "../state/store";

/** What a key does, or null for keys that are none of ours. */
export function action(store: Store, key: string): (() => void) | null {
  const measures = inOrder(offerOf(store.flow, store.stream));
  const measure = /^[1-9]$/.test(key) ? measures[Number(key) - 1] : undefined;
  if (measure !== undefined) return () => store.choose({ measure });
  const actions: Record<string, () => void> = {
    "[": () => store.step(-1),
    "]": () => store.step(1),
    ArrowUp: () => store.walk(-1),
    ArrowDown: () => store.walk(1),
    ArrowLeft: () => store.cross("key"),
    ArrowRight: () => store.cross("query"),
    Escape: () => store.free(),
  };
  return actions[key] ?? null;
}

/** Whether a control with the focus has a use of its own for the key. */
function isTheirs({ target, key }: KeyboardEvent): boolean {
  const arrow = key.startsWith("Arrow");
  if (target instanceof HTMLSelectElement) return arrow;
  if (!(target instanceof HTMLInputElement)) return false;
  return target.type === "range" ? arrow : key !== "Escape";
}

/** Listen while the view, or anything in it, has the focus. */
export function listen(root: HTMLElement, store: Store, signal: AbortSignal): void {
  const pressed = (event: KeyboardEvent): void => {
    const chord = event.ctrlKey || event.metaKey || event.altKey;
    const act = chord || isTheirs(event) ? null : action(store, event.key);
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };
  root.addEventListener("keydown", pressed, { signal });
}

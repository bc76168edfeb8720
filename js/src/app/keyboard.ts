/** Keyboard shortcuts: 1 to 9 measures, [ and ] layers, arrows tokens, Escape clears. */

import { measureOrder } from "../data/ladder";
import type { Store } from "../state/store";
import { offeredMeasures } from "./offered";

/** What a key does, or null for other keys. */
export function actionFor(store: Store, key: string): (() => void) | null {
  const measures = measureOrder(offeredMeasures(store));
  const measure = /^[1-9]$/.test(key) ? measures[Number(key) - 1] : undefined;
  if (measure !== undefined) return () => store.chooseMeasure(measure);
  const actions: Record<string, () => void> = {
    "[": () => store.stepLayer(-1),
    "]": () => store.stepLayer(1),
    ArrowUp: () => store.stepToken(-1),
    ArrowDown: () => store.stepToken(1),
    ArrowLeft: () => store.switchRole("key"),
    ArrowRight: () => store.switchRole("query"),
    Escape: () => store.unpin(),
  };
  return actions[key] ?? null;
}

/** Whether the focused control uses this key itself. */
function isForControl({ target, key }: KeyboardEvent): boolean {
  const isArrow = key.startsWith("Arrow");
  if (target instanceof HTMLSelectElement) return isArrow;
  if (!(target instanceof HTMLInputElement)) return false;
  return target.type === "range" ? isArrow : key !== "Escape";
}

/** Scroll the page to the token that was stepped to, if it is outside of the window. */
function scrollToToken(root: HTMLElement): void {
  const token = root.querySelector(".nv-tokens .nv-on, .nv-passage .nv-on");
  token?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

/** Listen while the view, or anything in it, has the focus. */
export function listenToKeys(root: HTMLElement, store: Store, signal: AbortSignal): void {
  const onKey = (event: KeyboardEvent): void => {
    const isChord = event.ctrlKey || event.metaKey || event.altKey;
    const action = isChord || isForControl(event) ? null : actionFor(store, event.key);
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
    if (event.key.startsWith("Arrow")) scrollToToken(root);
  };
  root.addEventListener("keydown", onKey, { signal });
}

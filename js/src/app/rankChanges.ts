/** Remembers the measure before this one, to say who rose and who fell. */

import { type Picture, pictureOf } from "../data/layer";
import { type Pane, panesOf } from "../state/pane";
import { same } from "../state/signal";
import type { Store } from "../state/store";
import type { Tiles } from "../state/tiles";
import { standingOf } from "../views/flow/view";
import type { View } from "../views/view";
import type { Choice, Focus } from "../wire/types";
import { changes } from "../words/rankChanges";

export interface Rankings {
  /** Note what is shown now. */
  note(panes: Pane[]): void;
  /** The changes in words, for the token in focus; empty where there is nothing to compare. */
  told(shown: { pane: Pane; view: View }[], focus: Focus | null): string;
}

export function rankings(store: Store, tiles: Tiles): Rankings {
  let now: Choice | null = null;
  let former: Choice | null = null;
  let kept: { of: Choice; label: string; picture: Picture } | null = null;

  const note = ([pane]: Pane[]): void => {
    const next = pane.choice;
    const isFramed = now !== null && same(frame(now), frame(next));
    if (!isFramed) former = null;
    else if (now?.measure !== next.measure) former = now;
    now = next;
  };
  /** The picture of the measure before, made only when someone wants it, and once. */
  const before = (choice: Choice): typeof kept => {
    if (kept?.of === choice) return kept;
    const [pane] = panesOf(store.header, { ...choice, compare: null }, tiles);
    const picture = pictureOf(pane);
    kept = picture && { of: choice, label: pane.measure.label, picture };
    return kept;
  };
  const told = (shown: { pane: Pane; view: View }[], focus: Focus | null): string => {
    const [left, right] = shown.map(({ pane, view }) => ({
      label: pane.title || pane.measure.label,
      standing: view.standing?.(focus) ?? null,
    }));
    if (!left.standing) return "";
    if (right?.standing) return changes([left.label, right.label], left.standing, right.standing);
    const old = former && before(former);
    return old
      ? changes([old.label, left.label], standingOf(old.picture, focus), left.standing)
      : "";
  };
  return { note, told };
}

/** All of a choice that has to stay for two measures to be compared. */
function frame({ stream, layer, heads, words, special, view, compare }: Choice) {
  return { stream, layer, heads, words, special, view, compare };
}

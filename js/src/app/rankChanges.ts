/** Remembers the measure shown before, to say which tokens rose and which fell. */

import { pictureOf, rankingOf } from "../data/layer";
import { type Pane, panesOf } from "../state/pane";
import { isEqual } from "../state/signal";
import type { Store } from "../state/store";
import type { Tiles } from "../state/tiles";
import type { View } from "../views/view";
import type { Focus, ViewState } from "../wire/types";
import { rankChangesPhrase } from "../words/rankChanges";

export interface RankTracker {
  /** Remember what is shown now. */
  record(panes: Pane[]): void;
  /** The changes for the token in focus, in words; empty if there is nothing to compare. */
  describe(frames: { pane: Pane; view: View }[], focus: Focus | null): string;
}

export function trackRankings(store: Store, tiles: Tiles): RankTracker {
  let current: ViewState | null = null;
  let former: ViewState | null = null;

  const record = ([pane]: Pane[]): void => {
    const next = pane.state;
    const isComparable =
      current !== null && isEqual(comparableState(current), comparableState(next));
    if (!isComparable) former = null;
    else if (current?.measure !== next.measure) former = current;
    current = next;
  };
  const describe: RankTracker["describe"] = (frames, focus) => {
    const [left, right] = frames.map(({ pane, view }) => ({
      label: pane.title || pane.measure.label,
      ranking: view.ranking?.(focus) ?? null,
    }));
    if (!left.ranking) return "";
    if (right?.ranking) {
      return rankChangesPhrase([left.label, right.label], left.ranking, right.ranking);
    }
    if (!former) return "";
    const [before] = panesOf(store.header, { ...former, compare: null }, tiles);
    const picture = pictureOf(before);
    return picture
      ? rankChangesPhrase(
          [before.measure.label, left.label],
          rankingOf(picture, focus),
          left.ranking,
        )
      : "";
  };
  return { record, describe };
}

/** The part of the state that must stay the same for two measures to be compared. */
function comparableState({ stream, layer, heads, words, special, view, compare }: ViewState) {
  return { stream, layer, heads, words, special, view, compare };
}

/** Which parts of the state change what a view shows, so that the others need no control. */

import { isConnected, modeOf } from "../data/stack";
import type { Pane } from "../state/pane";
import type { ViewName, ViewState } from "../wire/types";

export type StateKey = keyof ViewState;

/** What is shown; a comparison shows two of these, and uses what either of them uses. */
export type Shown = Pick<Pane, "stream" | "measure" | "state">;

/** Every view shows a measure of a stream, in a theme, and highlights a token. */
const ALWAYS: StateKey[] = ["view", "stream", "measure", "compare", "token", "role", "theme"];

/** The measures from which points and bars by head are made, whatever the measure shown. */
const BY_HEAD = ["weight", "value-norm"];

/** What each view uses besides; for the grid, layer and heads are the tiles that are outlined. */
const FURTHER: Record<ViewName, (shown: Shown) => StateKey[]> = {
  flow: ofOneLayer,
  matrix: ofOneLayer,
  text: (shown) => ofOneLayer(shown).filter((key) => key !== "normalize"),
  stack: ofStack,
  grid: ({ stream, measure, state: { compare } }) => [
    ...(["layer", "normalize", "threshold"] as const),
    ...when(measure.axes.includes("head"), "heads"),
    ...when(typeof compare === "string" && stream.measures.includes(compare), "color_by"),
  ],
  profile: ({ stream }) => [
    ...(["layer", "special"] as const),
    ...when(
      BY_HEAD.every((id) => stream.measures.includes(id)),
      ...(["heads", "words"] as const),
    ),
  ],
  alignment: ({ stream, measure }) => {
    if (stream.kind !== "cross" || !measure.axes.includes("query")) return [];
    const byHead =
      measure.axes.includes("head") || BY_HEAD.every((id) => stream.measures.includes(id));
    return ["layer", "target_row", ...when(byHead, "heads")];
  },
};

/** The parts of the state that change what a view shows. */
export function usesOf(view: ViewName, shown: Shown): ReadonlySet<StateKey> {
  return new Set([...ALWAYS, ...FURTHER[view](shown)]);
}

function ofOneLayer({ measure: { axes } }: Shown): StateKey[] {
  return [
    ...(["layer", "normalize", "words", "special"] as const),
    ...when(axes.includes("head"), "heads"),
    ...when(axes.includes("query"), "threshold"),
  ];
}

/** The chosen layer is where a pinned query is traced from; all tokens start after the last. */
function ofStack({ stream, measure, state }: Shown): StateKey[] {
  const mode = modeOf(stream, measure);
  if (mode === "none") return [];
  const isQuery = state.token !== null && state.role === "query";
  const isChosen = isQuery || typeof state.compare === "number" || mode === "separate";
  return [
    ...(["words", "special"] as const),
    ...when(isChosen, "layer"),
    ...when(measure.axes.includes("head"), "heads"),
    ...when(isConnected(mode), "threshold"),
  ];
}

function when(isUsed: boolean, ...keys: StateKey[]): StateKey[] {
  return isUsed ? keys : [];
}

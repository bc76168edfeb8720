/** What the controls offer: only what changes the view that is shown. */

import { groupMeasures, type MeasureGroups } from "../data/ladder";
import type { Store } from "../state/store";
import { KINDS, usesOf } from "../views/index";
import type { ViewState } from "../wire/types";

/** Whether a part of the state changes what is shown, in one pane or the other. */
export function isUsed(store: Store, key: keyof ViewState): boolean {
  const { state, stream, measure } = store;
  const { view, compare } = state.value;
  const isPair = typeof compare === "string" && stream.measures.includes(compare);
  const shown = isPair ? [measure, store.measureOf(compare)] : [measure];
  return shown.some((one) => usesOf(view, { stream, measure: one, state: state.value }).has(key));
}

/** The measures that the view can show, by the control that offers them. */
export function offeredMeasures(store: Store): MeasureGroups {
  const { flow, stream } = store;
  const { canShow } = KINDS[store.state.value.view];
  const measures = stream.measures.filter((id) => canShow?.(store.measureOf(id)) ?? true);
  return groupMeasures(flow, { ...stream, measures });
}

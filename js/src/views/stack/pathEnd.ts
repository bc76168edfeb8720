/** The other end of a path from the pinned token: pointed at, clicked, or moved by keys. */

import { isConnected, tracedLayer } from "../../data/stack";
import { rankOrder } from "../../math/arrays";
import { isEqual } from "../../state/signal";
import type { Focus } from "../../wire/types";
import type { ViewActions } from "../view";
import type { Makeup } from "./makeup";
import { canReach, type Place, placeOf, type Route, routeBetween, type Spot } from "./route";
import type { Scene } from "./stage";

/** Where each arrow moves the end: columns up, rows down. */
const STEPS: Record<string, [columns: number, rows: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Keeps the end of a path; it is forgotten when another token is pinned. */
export function trackPath({ pinned }: ViewActions, scene: () => Scene | null) {
  let pointed: Spot | null = null;
  let kept: { from: Spot; end: Spot } | null = null;

  /** The pinned token and the layer from which it is traced. */
  const start = (): Spot | null => {
    const [now, focus] = [scene(), pinned?.() ?? null];
    if (!now || !focus) return null;
    const layer = focus.role === "key" ? null : tracedLayer(now.pane, now.stack.mode, focus);
    return { focus, layer };
  };
  /** Both ends as places; null if no path can lead from one to the other. */
  const endsAt = (end: Spot | null): [from: Place, end: Place] | null => {
    const [now, from] = [scene(), start()];
    if (!now || !from || !end || !isConnected(now.stack.mode)) return null;
    const [one, other] = [placeOf(now.stack, from), placeOf(now.stack, end)];
    return one && other && canReach(now.stack, one, other) ? [one, other] : null;
  };
  const ends = (focus: Focus | null, layer: number | null) => {
    const from = start();
    if (layer !== null || !from || !isEqual(focus, from.focus)) return null;
    return endsAt(pointed ?? (isEqual(kept?.from, from) ? (kept?.end ?? null) : null));
  };
  const routeFrom = (focus: Focus | null, layer: number | null): Route | null => {
    const [now, both] = [scene(), ends(focus, layer)];
    return now && both ? routeBetween(now.stack, ...both) : null;
  };
  /** The end that an arrow leads to; the first one is the token with the largest share. */
  const stepped = (key: string, makeup: Makeup | null): Spot | null => {
    const [now, from] = [scene(), start()];
    const both = endsAt(isEqual(kept?.from, from) ? (kept?.end ?? null) : null);
    if (!now || !from || !makeup) return null;
    const { rows, stream } = now.stack;
    const place = both?.[1] ?? {
      column: from.focus.role === "key" ? stream.layers.indexOf(makeup.layer) + 1 : 0,
      row: rankOrder(makeup.shares)[0] ?? 0,
    };
    const [across, down] = both ? STEPS[key] : [0, 0];
    const row = Math.min(rows.key.pieces.length - 1, Math.max(0, place.row + down));
    const column = place.column + across;
    const focus = { role: column === 0 ? "key" : "query", token: rows.key.pieces[row][0] } as const;
    const spot = { focus, layer: stream.layers[column - 1] ?? null };
    return endsAt(spot) ? spot : (kept?.end ?? null);
  };
  return {
    routeFrom,
    /** Both ends of a path that the token in focus should show, whether or not one exists. */
    endsOf: ends,
    isPointed: (): boolean => pointed !== null,
    /** Point at a token; whether a path leads there. */
    point: (spot: Spot | null): boolean => {
      pointed = endsAt(spot) ? spot : null;
      return pointed !== null;
    },
    /** Keep the path to a token; false if none leads there, or if it is kept already. */
    keep: (end: Spot): boolean => {
      const from = start();
      const isKept = isEqual(kept, { from, end });
      kept = from && endsAt(end) && !isKept ? { from, end } : null;
      return kept !== null;
    },
    /** Shift and an arrow move the end, Escape forgets it; whether the key did something. */
    press: ({ key, shiftKey }: KeyboardEvent, makeup: Makeup | null): boolean => {
      const from = start();
      if (key === "Escape" && kept && isEqual(kept.from, from)) {
        kept = null;
        return true;
      }
      const end = shiftKey && key in STEPS ? stepped(key, makeup) : null;
      if (from && end) kept = { from, end };
      return end !== null;
    },
  };
}

/** The profile view: shares by kind of token, α against ‖f(x)‖, mixing ratios and further charts. */

import { kindsOf } from "../../data/tokenKinds";
import type { Palette } from "../../draw/colors";
import { element } from "../../draw/dom";
import type { Pane } from "../../state/pane";
import type { Chart, Focus } from "../../wire/types";
import type { View, ViewActions } from "../view";
import { chartCurves } from "./charts";
import { type ChartActions, curves } from "./curves";
import { type Profile, profileOf } from "./data";
import { type Mixing, mixingOf } from "./mixing";
import { points } from "./points";
import { missingReason, type Scatter, scatterOf, scatterRow } from "./scatter";
import { describeProfile, profileLines } from "./words";

const HEIGHT = 300;
const LOW = 250;
/** The width from which charts are side by side, and the gap between them. */
const WIDE = 600;
const GAP = 28;
const NARROW = 280;

interface Drawn {
  pane: Pane;
  profile: Profile;
  scatter: Scatter | null;
  mixing: Mixing | null;
  /** Charts that come with the flow, such as the result of a study. */
  more: Chart[];
}

export function profileView(actions: ViewActions, signal: AbortSignal): View {
  let now: Drawn | null = null;
  let pointed: number | null = null;
  let focused: Focus | null = null;
  // A chart that comes with a flow may have layers that the flow does not hold.
  const isHeld = (layer: number) => now?.pane.stream.layers.includes(layer) ?? false;
  const point = (layer: number | null): void => {
    const held = layer !== null && isHeld(layer) ? layer : null;
    if (held === pointed) return;
    pointed = held;
    actions.refresh?.();
  };
  const choose = (layer: number): void => {
    if (isHeld(layer)) actions.choose({ layer });
  };
  const charts = buildCharts({ point, choose }, actions, signal);
  const { node, left, right, below, further } = charts;

  const draw = (pane: Pane, palette: Palette): boolean => {
    const data = collectData(pane, palette);
    if (!data) return false;
    now = data;
    show(charts, data, palette);
    return true;
  };
  const highlight = (focus: Focus | null): void => {
    focused = focus;
    if (!now) return;
    left.mark(kindIn(now, focus), pointed);
    if (now.mixing) below.mark(null, pointed);
    for (const panel of further) panel.mark(null, pointed);
    right.mark(now.scatter && scatterRow(now.scatter, focus));
  };
  return {
    node,
    draw,
    highlight,
    legend: () =>
      now ? profileLines(now.profile, now.scatter, focused, now.mixing, now.more) : [],
    describe: (focus) => {
      if (!now) throw new Error("Nothing has been drawn yet.");
      const at = { layer: pointed ?? now.pane.state.layer, isPointed: pointed !== null };
      return describeProfile(now.profile, now.scatter, focus, at, now.mixing, now.more);
    },
  };
}

type Charts = ReturnType<typeof buildCharts>;

function buildCharts(use: ChartActions, actions: ViewActions, signal: AbortSignal) {
  const [left, below] = [curves(use, signal), curves(use, signal)];
  const right = points(actions, signal);
  const node = element("div", { class: "nv-profile" }, left.node, right.node);
  below.node.classList.add("nv-mixing");
  const further: ReturnType<typeof curves>[] = [];
  /** Adjust the number of further panels to the number of charts. */
  const make = (count: number): void => {
    while (further.length > count) further.pop()?.node.remove();
    while (further.length < count) further.push(curves(use, signal));
    for (const panel of further) {
      panel.node.classList.add("nv-further");
      node.append(panel.node);
    }
  };
  return { node, left, right, below, further, make };
}

/** Draw all charts that have data. */
function show(charts: Charts, drawn: Drawn, palette: Palette): void {
  const { node, left, right, below, further, make } = charts;
  const { pane, profile, scatter, mixing, more } = drawn;
  const { width, isWide } = spaceIn(node);
  node.classList.toggle("nv-wide", isWide);
  left.show(profile, pane.state.layer, width, HEIGHT);
  if (mixing) node.append(below.node);
  else below.node.remove();
  if (mixing) below.show(mixing, pane.state.layer, width, LOW);
  make(more.length);
  more.forEach((chart, at) => {
    further[at].show(chartCurves(chart, palette), pane.state.layer, width, LOW);
  });
  const kinds = kindsOf([...new Set(pane.stream.keys.categories)], palette);
  if (scatter) right.show(scatter, kinds, width, HEIGHT);
  else right.excuse(missingReason(pane) ?? "");
}

/** The data of all charts; null while some is loading. */
function collectData(pane: Pane, palette: Palette): Drawn | null {
  const mixing = mixingOf(pane, palette);
  const profile = profileOf(pane, palette);
  const isNone = missingReason(pane) !== null;
  const scatter = isNone ? null : scatterOf(pane);
  if (mixing === undefined || !profile || !(isNone || scatter)) return null;
  return { pane, profile, scatter, mixing, more: pane.flow.charts ?? [] };
}

/** The width available to each chart. */
export function spaceIn(node: HTMLElement): { width: number; isWide: boolean } {
  const isWide = node.clientWidth >= WIDE;
  const width = isWide ? (node.clientWidth - GAP) / 2 : node.clientWidth;
  return { width: Math.max(NARROW, Math.floor(width)), isWide };
}

/** The kind of the token in focus, if it is a key. */
function kindIn({ pane, profile }: Drawn, focus: Focus | null): string | null {
  if (focus === null || (focus.role === "query" && pane.stream.kind === "cross")) return null;
  const id = pane.stream.keys.categories[focus.token];
  return profile.kinds.some((kind) => kind.id === id) ? id : null;
}

/** Who is read from, layer by layer; whether those who get much have much to give; and charts. */

import { kindsOf } from "../../data/tokenKinds";
import type { Palette } from "../../draw/colors";
import { element } from "../../draw/dom";
import type { Pane } from "../../state/pane";
import type { Chart, Focus } from "../../wire/types";
import type { Hand, View } from "../view";
import { chartCurves } from "./charts";
import { curves, type Use } from "./curves";
import { type Profile, profileOf } from "./data";
import { type Mixing, mixingOf } from "./mixing";
import { points } from "./points";
import { rowIn, type Scatter, scatterOf, whyNone } from "./scatter";
import { describeProfile, profileLines } from "./words";

const HEIGHT = 300;
const LOW = 250;
/** The charts stand side by side from this width on, with this much between them. */
const WIDE = 600;
const GAP = 28;
const NARROW = 280;

interface Drawn {
  pane: Pane;
  profile: Profile;
  scatter: Scatter | null;
  mixing: Mixing | null;
  /** What comes with the flow, such as the result of a study. */
  more: Chart[];
}

export function profileView(hand: Hand, signal: AbortSignal): View {
  let now: Drawn | null = null;
  let pointed: number | null = null;
  let focused: Focus | null = null;
  // A chart that comes with a flow may have layers that the flow does not hold.
  const isHeld = (layer: number) => now?.pane.stream.layers.includes(layer) ?? false;
  const point = (layer: number | null): void => {
    const found = layer !== null && isHeld(layer) ? layer : null;
    if (found === pointed) return;
    pointed = found;
    hand.tell?.();
  };
  const choose = (layer: number): void => {
    if (isHeld(layer)) hand.choose({ layer });
  };
  const charts = build({ point, choose }, hand, signal);
  const { node, left, right, below, further } = charts;

  const draw = (pane: Pane, palette: Palette): boolean => {
    const found = gathered(pane, palette);
    if (!found) return false;
    now = found;
    show(charts, found, palette);
    return true;
  };
  const highlight = (focus: Focus | null): void => {
    focused = focus;
    if (!now) return;
    left.mark(kindIn(now, focus), pointed);
    if (now.mixing) below.mark(null, pointed);
    for (const panel of further) panel.mark(null, pointed);
    right.mark(now.scatter && rowIn(now.scatter, focus));
  };
  return {
    node,
    draw,
    highlight,
    legend: () =>
      now ? profileLines(now.profile, now.scatter, focused, now.mixing, now.more) : [],
    describe: (focus) => {
      if (!now) throw new Error("Nothing has been drawn yet.");
      const at = { layer: pointed ?? now.pane.layer, isPointed: pointed !== null };
      return describeProfile(now.profile, now.scatter, focus, at, now.mixing, now.more);
    },
  };
}

type Charts = ReturnType<typeof build>;

function build(use: Use, hand: Hand, signal: AbortSignal) {
  const [left, below] = [curves(use, signal), curves(use, signal)];
  const right = points(hand, signal);
  const node = element("div", { class: "nv-profile" }, left.node, right.node);
  below.node.classList.add("nv-mixing");
  const further: ReturnType<typeof curves>[] = [];
  /** As many further panels as there are charts, in their order behind the others. */
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

/** Draw every chart that there are numbers for. */
function show(charts: Charts, drawn: Drawn, palette: Palette): void {
  const { node, left, right, below, further, make } = charts;
  const { pane, profile, scatter, mixing, more } = drawn;
  const { width, isWide } = roomIn(node);
  node.classList.toggle("nv-wide", isWide);
  left.show(profile, pane.layer, width, HEIGHT);
  if (mixing) node.append(below.node);
  else below.node.remove();
  if (mixing) below.show(mixing, pane.layer, width, LOW);
  make(more.length);
  more.forEach((chart, at) => {
    further[at].show(chartCurves(chart, palette), pane.layer, width, LOW);
  });
  const kinds = kindsOf([...new Set(pane.stream.keys.categories)], palette);
  if (scatter) right.show(scatter, kinds, width, HEIGHT);
  else right.excuse(whyNone(pane) ?? "");
}

/** What the charts show; null while some of it is on its way. */
function gathered(pane: Pane, palette: Palette): Drawn | null {
  const mixing = mixingOf(pane, palette);
  const profile = profileOf(pane, palette);
  const isNone = whyNone(pane) !== null;
  const scatter = isNone ? null : scatterOf(pane);
  if (mixing === undefined || !profile || !(isNone || scatter)) return null;
  return { pane, profile, scatter, mixing, more: pane.flow.charts ?? [] };
}

/** How wide each chart may be. */
export function roomIn(node: HTMLElement): { width: number; isWide: boolean } {
  const isWide = node.clientWidth >= WIDE;
  const width = isWide ? (node.clientWidth - GAP) / 2 : node.clientWidth;
  return { width: Math.max(NARROW, Math.floor(width)), isWide };
}

/** The kind of the token in focus, where it is one that is read from. */
function kindIn({ pane, profile }: Drawn, focus: Focus | null): string | null {
  if (focus === null || (focus.side === "query" && pane.stream.name === "cross")) return null;
  const id = pane.stream.keys.categories[focus.token];
  return profile.kinds.some((kind) => kind.id === id) ? id : null;
}

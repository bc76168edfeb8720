/** The alignment view: a diagram, a heatmap of words, and the role of special tokens. */

import { headsPhrase } from "../../data/stack";
import { formatPercent, type Palette } from "../../draw/colors";
import { element } from "../../draw/dom";
import { heatGradient } from "../../draw/heat";
import { crossStream, type Pane } from "../../state/pane";
import type { Description } from "../../words/describe";
import { clockOf } from "../shared/time";
import type { View, ViewActions } from "../view";
import { alignmentOf, canAlign, linksOf } from "./data";
import { diagram } from "./diagram";
import { marksOf, scoresOf, type Verdict } from "./gold";
import { type SpecialTokens, specialSentence, specialTokensOf } from "./special";
import { maxShare, wordField } from "./wordfield";
import { type Aligned, describeAlignment, scoreLine, wordAt } from "./words";

/** The width to use before the view is on a page, and the maximum width. */
const UNSEEN = 480;
const WIDEST = 760;

interface State {
  aligned: Aligned | null;
  palette: Palette | null;
  /** Why there is no alignment, in a sentence. */
  refusal: string;
}

export function alignmentView(actions: ViewActions, signal: AbortSignal): View {
  const state: State = { aligned: null, palette: null, refusal: "" };
  const [facing, field] = [diagram(actions, signal), wordField(actions, signal)];
  const remark = element("p", { class: "nv-remark", hidden: "" });
  const specialNode = element("div", { class: "nv-why" });
  const node = element(
    "div",
    { class: "nv-alignment" },
    remark,
    facing.node,
    field.node,
    specialNode,
  );
  const all = [facing.node, field.node, specialNode];
  const refused = (pane: Pane): boolean => {
    state.refusal = refusalOf(pane);
    remark.textContent = state.refusal;
    remark.hidden = state.refusal === "";
    for (const part of all) part.hidden = state.refusal !== "";
    return state.refusal !== "";
  };
  return {
    node,
    draw: (pane, palette) => {
      state.palette = palette;
      if (refused(pane)) return true;
      const [aligned, special] = [alignedOf(pane), specialTokensOf(pane)];
      if (!aligned || special === undefined) return false;
      state.aligned = aligned;
      const width = Math.min(WIDEST, node.clientWidth || UNSEEN);
      facing.show(aligned, width);
      field.show(aligned, palette, width);
      // Do not show the same numbers twice in a comparison.
      specialNode.hidden = special === null || pane.state.measure === pane.state.compare;
      if (special) specialNode.replaceChildren(...specialBars(special));
      return true;
    },
    highlight: (focus) => {
      if (!state.aligned || state.refusal) return;
      const at = wordAt(state.aligned, focus);
      facing.mark(at);
      field.mark(at);
    },
    legend: () =>
      state.aligned && state.palette && !state.refusal
        ? legendOf(state.aligned, state.palette)
        : [],
    describe: (focus) =>
      state.aligned && !state.refusal
        ? describeAlignment(state.aligned, focus)
        : emptyDescription(state.refusal),
  };
}

function refusalOf({ stream, measure }: Pane): string {
  if (stream.kind !== "cross") {
    return `The alignment needs cross-attention, but this is the ${stream.name} stream.`;
  }
  return canAlign(measure)
    ? ""
    : `${measure.label} has no queries, so it cannot align words. Choose α or ‖αf(x)‖.`;
}

function emptyDescription(sentence: string): Description {
  return { sentence, caption: "", columns: [], rows: [] };
}

function alignedOf(pane: Pane): Aligned | null {
  const alignment = alignmentOf(pane);
  if (!alignment) return null;
  // Gold links count the words of the first cross-attention.
  const gold = pane.stream === crossStream(pane.flow.streams) ? (pane.flow.gold ?? null) : null;
  return {
    alignment,
    marks: marksOf(linksOf(alignment), gold),
    hasGold: gold !== null,
    clock: clockOf(alignment.source.map(({ label }) => label)),
    place: `Layer ${pane.state.layer}, ${headsPhrase({ ...pane, measure: alignment.measure })}`,
    targetRow: pane.state.target_row,
  };
}

/** Two bars, and the sentence that explains them. */
function specialBars(special: SpecialTokens): HTMLElement[] {
  const bars = special.bars.map(({ label, share }) => {
    const bar = element("i", { class: "nv-part" });
    bar.style.width = `${100 * share}%`;
    return element(
      "div",
      { class: "nv-reason" },
      element("span", {}, label),
      element("span", { class: "nv-track" }, bar),
      element("span", {}, formatPercent(share)),
    );
  });
  const title = element(
    "p",
    { class: "nv-why-title" },
    `share of ${special.names} in all that the target words take`,
  );
  return [title, ...bars, element("p", { class: "nv-why-said" }, specialSentence(special))];
}

const NAMED: [Verdict, string][] = [
  ["right", "right"],
  ["extra", "extra: linked, but not in the gold alignment"],
  ["miss", "missed: sure, but not linked"],
];

function legendOf(aligned: Aligned, palette: Palette): (string | HTMLElement)[] {
  const { alignment, marks, hasGold } = aligned;
  const { measure } = alignment;
  const swatch = (kind: string) =>
    element("i", { class: `nv-sample ${kind}`, "aria-hidden": "true" }, ...dotsOf(kind));
  const together = (...inside: (Node | string)[]) =>
    element("span", { class: "nv-together" }, ...inside);
  const named = (kind: string, text: string) => together(swatch(kind), text);
  const bar = element("i", { class: "nv-ramp", "aria-hidden": "true" });
  bar.style.background = heatGradient(aligned.alignment.measure, palette);
  const full = formatPercent(maxShare(aligned));
  const scale = element("span", {}, together("0", bar, full), " of what the target word takes");
  const gold = hasGold
    ? [
        scoreLine(scoresOf(marks)),
        ...NAMED.map(([verdict, text]) => named(`nv-stroke nv-${verdict}`, text)),
        named("nv-square nv-sure", "gold: sure"),
        named("nv-square nv-possible", "gold: possible"),
      ]
    : [];
  return [
    ...gold,
    named("nv-square nv-framed-cell", "largest of its row: linked, unless it is a special token"),
    scale,
    `${measure.label}: ${measure.meaning}`,
  ];
}

/** Missed links are dotted. */
function dotsOf(kind: string): HTMLElement[] {
  return kind.includes("miss") ? [1, 2, 3].map(() => element("i", { class: "nv-dot" })) : [];
}

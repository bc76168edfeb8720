/** How the words of two texts are aligned: as a diagram, as a field, and why not to the end. */

import { headsAdded } from "../../data/stack";
import { type Palette, percent } from "../../draw/colors";
import { element } from "../../draw/dom";
import { heatGradient } from "../../draw/heat";
import type { Pane } from "../../state/pane";
import type { Description } from "../../words/describe";
import { clockOfWords } from "../shared/time";
import type { Hand, View } from "../view";
import { alignmentOf, aligns, linksOf } from "./data";
import { diagram } from "./diagram";
import { marksOf, scoresOf, type Verdict } from "./gold";
import { type Why, whyOf, whySentence } from "./special";
import { deepest, wordField } from "./wordfield";
import { type Aligned, describeAlignment, scoreLine, wordAt } from "./words";

/** The width to plan for before the view is on a page, and the most that is used. */
const UNSEEN = 480;
const WIDEST = 760;

interface State {
  aligned: Aligned | null;
  palette: Palette | null;
  /** Why there is nothing to be seen, in a sentence. */
  refusal: string;
}

export function alignmentView(hand: Hand, signal: AbortSignal): View {
  const state: State = { aligned: null, palette: null, refusal: "" };
  const [facing, field] = [diagram(hand, signal), wordField(hand, signal)];
  const remark = element("p", { class: "nv-remark", hidden: "" });
  const why = element("div", { class: "nv-why" });
  const node = element("div", { class: "nv-alignment" }, remark, facing.node, field.node, why);
  const all = [facing.node, field.node, why];
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
      const [aligned, reason] = [alignedOf(pane), whyOf(pane)];
      if (!aligned || reason === undefined) return false;
      state.aligned = aligned;
      const width = Math.min(WIDEST, node.clientWidth || UNSEEN);
      facing.show(aligned, width);
      field.show(aligned, palette, width);
      // Beside another measure the same reasons would stand twice.
      why.hidden = reason === null || pane.choice.measure === pane.choice.compare;
      if (reason) why.replaceChildren(...reasons(reason));
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
        : silence(state.refusal),
  };
}

function refusalOf({ stream, measure }: Pane): string {
  if (stream.name !== "cross") {
    return `Words are aligned in the cross stream, and this is the ${stream.name} stream.`;
  }
  return aligns(measure)
    ? ""
    : `${measure.label} has no query: it does not say what each target word takes, so no links can be read off it. Choose α or ‖αf(x)‖.`;
}

function silence(sentence: string): Description {
  return { sentence, caption: "", columns: [], rows: [] };
}

function alignedOf(pane: Pane): Aligned | null {
  const alignment = alignmentOf(pane);
  if (!alignment) return null;
  const gold = pane.flow.gold ?? null;
  return {
    alignment,
    marks: marksOf(linksOf(alignment), gold),
    hasGold: gold !== null,
    clock: clockOfWords(alignment.source),
    place: `Layer ${pane.layer}, ${headsAdded({ ...pane, measure: alignment.measure })}`,
    setting: pane.choice.setting,
  };
}

/** Two bars, and the sentence that explains them. */
function reasons(why: Why): HTMLElement[] {
  const bars = why.bars.map(({ label, share }) => {
    const bar = element("i", { class: "nv-part" });
    bar.style.width = `${100 * share}%`;
    return element(
      "div",
      { class: "nv-reason" },
      element("span", {}, label),
      element("span", { class: "nv-track" }, bar),
      element("span", {}, percent(share)),
    );
  });
  const title = element(
    "p",
    { class: "nv-why-title" },
    `of all that the target words take, to ${why.names}`,
  );
  return [title, ...bars, element("p", { class: "nv-why-said" }, whySentence(why))];
}

const NAMED: [Verdict, string][] = [
  ["right", "right"],
  ["extra", "extra: linked, and not even possible"],
  ["miss", "missed: sure, and not linked"],
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
  bar.style.background = heatGradient({ signed: false }, palette);
  const full = percent(deepest(aligned));
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
    named("nv-square nv-framed-cell", "most of its row: linked, unless it is no word"),
    scale,
    `${measure.label}: ${measure.meaning}`,
  ];
}

/** What is missed is dotted, wherever it is drawn. */
function dotsOf(kind: string): HTMLElement[] {
  return kind.includes("miss") ? [1, 2, 3].map(() => element("i", { class: "nv-dot" })) : [];
}

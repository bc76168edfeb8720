/** One flow with the state in which it is shown; a comparison has two panes side by side. */

import {
  type Flow,
  type Focus,
  type Header,
  type Measure,
  OTHER_FLOW,
  type Stream,
  type ViewName,
  type ViewState,
} from "../wire/types";
import type { Tiles } from "./tiles";

export interface Pane {
  /** The index of its flow. */
  index: number;
  flow: Flow;
  /** The stream and measure that the state names. */
  stream: Stream;
  measure: Measure;
  state: ViewState;
  tiles: Tiles;
  /** Its title beside another pane; empty if it is the only one. */
  title: string;
  /** The panes shown beside it, which share its scale. */
  beside?: Pane[];
}

/** The measure of a flow with this id. */
export function measureOf(flow: Flow, id: string): Measure {
  const measure = flow.measures.find((m) => m.id === id);
  if (!measure) throw new Error(`This flow has no measure ${id}.`);
  return measure;
}

/** The stream of a flow with this name. */
export function streamOf(flow: Flow, name: string): Stream {
  const stream = flow.streams.find((s) => s.name === name);
  if (!stream) throw new Error(`This flow has no stream ${name}.`);
  return stream;
}

/** The streams of the first flow that can be shown: those that hold numbers have defaults. */
export function shownStreams({ state, flows }: Header): Stream[] {
  return flows[0].streams.filter(({ name }) => Object.hasOwn(state.defaults, name));
}

/** The first stream of cross-attention, by which words are aligned. */
export function crossStream(streams: Stream[]): Stream | undefined {
  return streams.find(({ kind }) => kind === "cross");
}

/** The views available for the first flow: the alignment needs cross-attention. */
export function viewsOf(header: Header): ViewName[] {
  const hasCross = crossStream(shownStreams(header)) !== undefined;
  return header.state.allowed.view.filter((view) => hasCross || view !== "alignment");
}

/** The id under which a stream holds a measure: measures that coincide are held once. */
export function canonicalId({ aliases }: Stream, id: string): string {
  return Object.hasOwn(aliases, id) ? aliases[id] : id;
}

/** The views that can show a difference: those of a single layer, computed from its numbers. */
export const DIFFERENCES: ViewName[] = ["flow", "matrix", "text"];

/** The panes for a state: one, or two if it compares; each knows the others. */
export function panesOf(header: Header, state: ViewState, tiles: Tiles): Pane[] {
  const panes = separatePanes(header, state, tiles);
  return panes.map((pane) => ({ ...pane, beside: panes.filter((other) => other !== pane) }));
}

function separatePanes(header: Header, state: ViewState, tiles: Tiles): Pane[] {
  const pane = (index: number, changes: Partial<ViewState>, title: string): Pane => {
    const own = { ...state, ...changes };
    const flow = header.flows[index];
    const stream = streamOf(flow, own.stream);
    const measure = measureOf(flow, canonicalId(stream, own.measure));
    return { index, flow, stream, measure, state: own, tiles, title };
  };
  const { compare, layer } = state;
  if (compare === null) return [pane(0, {}, "")];
  if (typeof compare === "number") {
    return [pane(0, {}, `layer ${layer}`), pane(0, { layer: compare }, `layer ${compare}`)];
  }
  if (compare === OTHER_FLOW && header.flows.length < 2) {
    throw new Error("There is no other flow to compare with.");
  }
  if (compare === OTHER_FLOW)
    return [0, 1].map((index) =>
      pane(index, changesForOther(header, state, index), flowTitle(header, index)),
    );
  const label = (id: string) => measureOf(header.flows[0], id).label;
  if (state.difference && DIFFERENCES.includes(state.view)) {
    const [first, second] = [pane(0, {}, ""), pane(0, { measure: compare }, "")];
    const difference = differenceMeasure(first.measure, second.measure);
    return difference ? [{ ...first, measure: difference }] : [first, second];
  }
  return [pane(0, {}, label(state.measure)), pane(0, { measure: compare }, label(compare))];
}

/** Share by one measure minus share by another, as a measure; null if either has no shares. */
function differenceMeasure(less: Measure, more: Measure): Measure | null {
  const hasShares = ({ axes, signed }: Measure) => axes.includes("query") && !signed;
  if (!hasShares(less) || !hasShares(more)) return null;
  return {
    ...more,
    id: `difference:${less.id}:${more.id}`,
    label: `${more.label} − ${less.label}`,
    axes: ["layer", "query", "key"],
    meaning: `share by ${more.label} minus share by ${less.label}, of what each token takes`,
    short: "where they differ",
    signed: true,
    over_heads: null,
    pair: [less, more],
  };
}

/** What the other flow needs changed in a state; throws if it lacks the measure or the layer. */
function changesForOther(header: Header, state: ViewState, index: number): Partial<ViewState> {
  if (index === 0) return {};
  const stream = streamOf(header.flows[index], state.stream);
  const { layer, heads } = state;
  const measure = canonicalId(stream, state.measure);
  if (!stream.measures.includes(measure)) {
    throw new Error(`The other flow has no measure ${measure}.`);
  }
  if (!stream.layers.includes(layer)) throw new Error(`The other flow has no layer ${layer}.`);
  const shared = heads?.filter((head) => stream.heads.includes(head)) ?? [];
  return { measure, heads: shared.length > 0 ? shared : null };
}

function flowTitle({ flows }: Header, index: number): string {
  const [first, second] = flows;
  return first.model === second.model ? flows[index].title : flows[index].model;
}

/** A token translated between the first flow and a pane's flow; null if it has no match. */
export function translateFocus(
  header: Header,
  { index, stream }: Pane,
  focus: Focus | null,
  direction: "there" | "back",
): Focus | null {
  if (index === 0 || focus === null) return focus;
  const matches = header.counterparts[index - 1][stream.name];
  const matching = matches?.[focus.role === "query" ? "queries" : "keys"];
  const token = matching?.[direction][focus.token] ?? null;
  return token === null ? null : { role: focus.role, token };
}

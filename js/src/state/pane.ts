/** One flow looked at in one way; a comparison has two panes side by side. */

import {
  type Choice,
  type Flow,
  type Focus,
  type Header,
  type Measure,
  OTHER,
  type Stream,
  VIEWS,
  type ViewName,
} from "../wire/types";
import type { Tiles } from "./tiles";

export interface Pane {
  /** Which of the flows it shows. */
  index: number;
  flow: Flow;
  stream: Stream;
  measure: Measure;
  layer: number;
  choice: Choice;
  tiles: Tiles;
  /** What it is called beside another pane; empty when it stands alone. */
  title: string;
}

/** The measure of a flow with this id. */
export function measureOf(flow: Flow, id: string): Measure {
  const measure = flow.measures.find((m) => m.id === id);
  if (!measure) throw new Error(`This flow holds no measure called ${id}.`);
  return measure;
}

/** The stream of a flow with this name. */
export function streamOf(flow: Flow, name: string): Stream {
  const stream = flow.streams.find((s) => s.name === name);
  if (!stream) throw new Error(`This flow holds no stream called ${name}.`);
  return stream;
}

/** The kinds of picture that a flow can be shown as: words are aligned where there are two texts. */
export function offered({ streams }: Flow): ViewName[] {
  const isAcross = streams.some(({ name }) => name === "cross");
  return VIEWS.filter((view) => isAcross || view !== "alignment");
}

/** The name under which a stream holds a measure: rungs that coincide are held once. */
export function heldAs({ aliases }: Stream, id: string): string {
  return Object.hasOwn(aliases, id) ? aliases[id] : id;
}

/** The panes of a choice: one, or two where it compares. */
export function panesOf(header: Header, choice: Choice, tiles: Tiles): Pane[] {
  const pane = (index: number, changes: Partial<Choice>, title: string): Pane => {
    const chosen = { ...choice, ...changes };
    const flow = header.flows[index];
    const stream = streamOf(flow, chosen.stream);
    const measure = measureOf(flow, heldAs(stream, chosen.measure));
    return { index, flow, stream, measure, layer: chosen.layer, choice: chosen, tiles, title };
  };
  const { compare, layer } = choice;
  if (compare === null) return [pane(0, {}, "")];
  if (typeof compare === "number") {
    return [pane(0, {}, `layer ${layer}`), pane(0, { layer: compare }, `layer ${compare}`)];
  }
  if (compare === OTHER && header.flows.length < 2) {
    throw new Error("There is no other flow here to compare with.");
  }
  if (compare === OTHER)
    return [0, 1].map((index) =>
      pane(index, across(header, choice, index), flowTitle(header, index)),
    );
  const label = (id: string) => measureOf(header.flows[0], id).label;
  return [pane(0, {}, label(choice.measure)), pane(0, { measure: compare }, label(compare))];
}

/** What the other flow can show of a choice; what it lacks is refused with a sentence. */
function across(header: Header, choice: Choice, index: number): Partial<Choice> {
  if (index === 0) return {};
  const stream = streamOf(header.flows[index], choice.stream);
  const { layer, heads } = choice;
  const measure = heldAs(stream, choice.measure);
  if (!stream.measures.includes(measure)) throw new Error(`The other flow holds no ${measure}.`);
  if (!stream.layers.includes(layer)) throw new Error(`The other flow holds no layer ${layer}.`);
  const shared = heads?.filter((head) => stream.heads.includes(head)) ?? [];
  return { measure, heads: shared.length > 0 ? shared : null };
}

function flowTitle({ flows }: Header, index: number): string {
  const [one, other] = flows;
  return one.model === other.model ? flows[index].title : flows[index].model;
}

/** A token as another flow's pane names it; null where it has no counterpart. */
export function crossed(
  header: Header,
  { index, stream }: Pane,
  focus: Focus | null,
  way: "there" | "back",
): Focus | null {
  if (index === 0 || focus === null) return focus;
  const sides = header.counterparts[index - 1][stream.name];
  const found = sides?.[focus.side === "query" ? "queries" : "keys"][way][focus.token] ?? null;
  return found === null ? null : { side: focus.side, token: found };
}

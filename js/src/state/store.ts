/** The view's state and the token under the pointer, and the ways in which readers change them. */

import { rowsOf, type TokenRows } from "../math/rows";
import {
  type Flow,
  type Focus,
  type Header,
  type Measure,
  OTHER_FLOW,
  type Role,
  type Stream,
  type ViewName,
  type ViewState,
} from "../wire/types";
import { changesForStack } from "./opening";
import { canonicalId, crossStream, measureOf, shownStreams, streamOf } from "./pane";
import { isEqual, Signal } from "./signal";

export class Store {
  readonly header: Header;
  readonly state: Signal<ViewState>;
  /** The token under the pointer; it stays in the browser. */
  readonly hover = new Signal<Focus | null>(null);
  /** What was changed when the reader turned to the stack, and what was shown before. */
  #turned: { changes: Partial<ViewState>; before: Partial<ViewState> } | null = null;

  constructor(header: Header, state: ViewState) {
    this.header = header;
    this.state = new Signal(state);
  }

  /** The flow that the state refers to. */
  get flow(): Flow {
    return this.header.flows[0];
  }

  /** Change some of the state; what a new stream does not have falls back to its defaults. */
  choose(changes: Partial<ViewState>): void {
    const now = this.state.value;
    const next = keepAlignmentOnCross({ ...now, ...changes }, now, this.header);
    this.state.set(fitToStream(next, this.header));
  }

  /** Show a measure alone; a comparison with another layer or flow stays. */
  chooseMeasure(measure: string): void {
    const { compare } = this.state.value;
    const isPair = typeof compare === "string" && compare !== OTHER_FLOW;
    this.choose({ measure, ...(isPair ? { compare: null } : {}), difference: false });
  }

  /**
   * Turn to a view; the stack includes the residual connection if the flow can tell.
   *
   * Leaving the stack returns to the measure shown before, unless another one was chosen there.
   */
  openView(view: ViewName): void {
    const now = this.state.value;
    if (view === now.view) return;
    const turned = this.#turned;
    this.#turned = null;
    if (view === "stack") {
      const changes = changesForStack(now, this.flow, this.stream);
      const keys = Object.keys(changes) as (keyof ViewState)[];
      this.#turned = { changes, before: Object.fromEntries(keys.map((key) => [key, now[key]])) };
      this.choose({ view, ...changes });
      return;
    }
    const isKept = turned && isEqual({ ...now, ...turned.changes }, now);
    this.choose({ view, ...(isKept ? turned.before : {}) });
  }

  get stream(): Stream {
    return streamOf(this.flow, this.state.value.stream);
  }

  /** The rows of one role, as they are shown now. */
  rows(role: Role): TokenRows {
    return rowsOf(role === "query" ? this.stream.queries : this.stream.keys, this.state.value);
  }

  get measure(): Measure {
    return this.measureOf(this.state.value.measure);
  }

  measureOf(id: string): Measure {
    return measureOf(this.flow, id);
  }

  get pinned(): Focus | null {
    const { token, role } = this.state.value;
    return token === null ? null : { role, token };
  }

  /** The token in focus: the one under the pointer, else the pinned one. */
  get focus(): Focus | null {
    return this.hover.value ?? this.pinned;
  }

  /** Pin a token, or unpin it if it is already pinned. */
  pin({ role, token }: Focus): void {
    const now = this.state.value;
    const isPinned = now.token === token && now.role === role;
    this.choose({ token: isPinned ? null : token, role });
  }

  unpin(): void {
    this.hover.set(null);
    this.choose({ token: null });
  }

  /** Move up or down by some layers, among those the flow holds. */
  stepLayer(by: number): void {
    const { layers } = this.stream;
    const index = layers.indexOf(this.state.value.layer) + by;
    if (index >= 0 && index < layers.length) this.choose({ layer: layers[index] });
  }

  /** Pin the token above or below; the first one if none is pinned. */
  stepToken(by: number): void {
    const { token, role } = this.state.value;
    const { pieces, rowOf } = this.rows(role);
    const row = token === null ? 0 : rowOf[token] + by;
    this.choose({ token: pieces[Math.min(pieces.length - 1, Math.max(0, row))][0] });
  }

  /** Pin the token in the same row of the other column. */
  switchRole(to: Role): void {
    const { token, role } = this.state.value;
    const { pieces } = this.rows(to);
    const row = token === null ? 0 : Math.max(0, this.rows(role).rowOf[token]);
    this.choose({ role: to, token: pieces[Math.min(row, pieces.length - 1)][0] });
  }

  /** If all heads are shown, show only this one; otherwise add or remove it. */
  toggleHead(head: number): void {
    const heads = this.state.value.heads ?? [];
    const next = heads.includes(head) ? heads.filter((h) => h !== head) : [...heads, head];
    const ordered = this.stream.heads.filter((h) => next.includes(h));
    this.choose({ heads: ordered.length > 0 ? ordered : null });
  }
}

/** The alignment needs cross-attention: the newer choice of view and stream changes the other. */
function keepAlignmentOnCross(next: ViewState, before: ViewState, header: Header): ViewState {
  if (next.view !== "alignment") return next;
  if (streamOf(header.flows[0], next.stream).kind === "cross") return next;
  const cross = before.view === "alignment" ? undefined : crossStream(shownStreams(header));
  return cross ? { ...next, stream: cross.name } : { ...next, view: "flow" };
}

/** The number of tokens in a role. */
export function tokenCount(stream: Stream, role: Role): number {
  return (role === "query" ? stream.queries : stream.keys).pieces.length;
}

/** The state a stream opens with. */
export function defaultsOf({ state }: Header, stream: Stream): Omit<ViewState, "stream"> {
  const defaults = state.defaults[stream.name];
  if (!defaults) throw new Error(`The header has no defaults for the ${stream.name} stream.`);
  return defaults;
}

/** A state with only what its stream and the header's flows have. */
function fitToStream(state: ViewState, header: Header): ViewState {
  const stream = streamOf(header.flows[0], state.stream);
  const defaults = defaultsOf(header, stream);
  const { layer, heads, token, role } = state;
  const measure = canonicalId(stream, state.measure);
  const compare =
    typeof state.compare === "string" ? canonicalId(stream, state.compare) : state.compare;
  const held = heads?.filter((head) => stream.heads.includes(head)) ?? [];
  return {
    ...state,
    measure: stream.measures.includes(measure) ? measure : defaults.measure,
    compare: canCompare(compare, stream, header) ? compare : null,
    layer: stream.layers.includes(layer) ? layer : defaults.layer,
    heads: held.length > 0 && held.length < stream.heads.length ? held : null,
    token: token !== null && token < tokenCount(stream, role) ? token : null,
  };
}

/** Whether a stream can show this comparison. */
function canCompare(
  compare: ViewState["compare"],
  { measures, layers }: Stream,
  { flows }: Header,
): boolean {
  if (typeof compare === "number") return layers.includes(compare);
  if (compare === OTHER_FLOW) return flows.length > 1;
  return compare !== null && measures.includes(compare);
}

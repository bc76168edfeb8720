/** What is chosen and what is glanced at, and the few ways in which readers change it. */

import { type Rows, rowsOf } from "../math/rows";
import {
  type Choice,
  type Flow,
  type Focus,
  type Header,
  type Measure,
  OTHER,
  type Side,
  type Stream,
} from "../wire/types";
import { heldAs, measureOf, streamOf } from "./pane";
import { Cell } from "./signal";

export class Store {
  readonly header: Header;
  readonly choice: Cell<Choice>;
  /** The token under the pointer; never leaves the browser. */
  readonly hover = new Cell<Focus | null>(null);

  constructor(header: Header, choice: Choice) {
    this.header = header;
    this.choice = new Cell(choice);
  }

  /** The flow that the choices are about. */
  get flow(): Flow {
    return this.header.flows[0];
  }

  /** Change some choices; those that a new stream cannot keep fall back to what it has. */
  choose(changes: Partial<Choice>): void {
    const wanted = crossing({ ...this.choice.value, ...changes }, this.choice.value, this.flow);
    const fit = fitted(wanted, streamOf(this.flow, wanted.stream));
    const isAlone = fit.compare === OTHER && this.header.flows.length < 2;
    this.choice.set(isAlone ? { ...fit, compare: null } : fit);
  }

  get stream(): Stream {
    return streamOf(this.flow, this.choice.value.stream);
  }

  /** A side's rows, as they are looked at now. */
  rows(side: Side): Rows {
    return rowsOf(side === "query" ? this.stream.queries : this.stream.keys, this.choice.value);
  }

  get measure(): Measure {
    return this.measureOf(this.choice.value.measure);
  }

  measureOf(id: string): Measure {
    return measureOf(this.flow, id);
  }

  /** The token everything is about: the one under the pointer, else the pinned one. */
  get focus(): Focus | null {
    const { token, side } = this.choice.value;
    return this.hover.value ?? (token === null ? null : { side, token });
  }

  /** Pin a token, or free it when it is pinned already. */
  pin({ side, token }: Focus): void {
    const now = this.choice.value;
    const again = now.token === token && now.side === side;
    this.choose({ token: again ? null : token, side });
  }

  free(): void {
    this.hover.set(null);
    this.choose({ token: null });
  }

  /** Go some layers up or down, among those the flow holds. */
  step(by: number): void {
    const { layers } = this.stream;
    const index = layers.indexOf(this.choice.value.layer) + by;
    if (index >= 0 && index < layers.length) this.choose({ layer: layers[index] });
  }

  /** Pin the token above or below, or start at the first. */
  walk(by: number): void {
    const { token, side } = this.choice.value;
    const { pieces, rowOf } = this.rows(side);
    const row = token === null ? 0 : rowOf[token] + by;
    this.choose({ token: pieces[Math.min(pieces.length - 1, Math.max(0, row))][0] });
  }

  /** Pin the token at the same height in the other column. */
  cross(to: Side): void {
    const { token, side } = this.choice.value;
    const { pieces } = this.rows(to);
    const row = token === null ? 0 : Math.max(0, this.rows(side).rowOf[token]);
    this.choose({ side: to, token: pieces[Math.min(row, pieces.length - 1)][0] });
  }

  /** From all heads: this one alone. Otherwise: this one more, or this one less. */
  toggleHead(head: number): void {
    const { heads } = this.choice.value;
    const now = heads ?? [];
    const left = now.includes(head) ? now.filter((h) => h !== head) : [...now, head];
    const ordered = this.stream.heads.filter((h) => left.includes(h));
    this.choose({ heads: ordered.length > 0 ? ordered : null });
  }
}

/** The alignment is of the cross stream only: whichever of the two is new draws the other along. */
function crossing(wanted: Choice, before: Choice, { streams }: Flow): Choice {
  if (wanted.view !== "alignment" || wanted.stream === "cross") return wanted;
  const isNew = before.view !== "alignment" && streams.some(({ name }) => name === "cross");
  return isNew ? { ...wanted, stream: "cross" } : { ...wanted, view: "flow" };
}

/** How many tokens stand on a side. */
export function count(stream: Stream, side: Side): number {
  return (side === "query" ? stream.queries : stream.keys).pieces.length;
}

/** A choice without anything that the stream does not have. */
function fitted(choice: Choice, stream: Stream): Choice {
  const { layer, heads, token, side } = choice;
  const measure = heldAs(stream, choice.measure);
  const compare =
    typeof choice.compare === "string" ? heldAs(stream, choice.compare) : choice.compare;
  const kept = heads?.filter((head) => stream.heads.includes(head)) ?? [];
  return {
    ...choice,
    measure: stream.measures.includes(measure) ? measure : defaultMeasure(stream),
    compare: isHeld(compare, stream) ? compare : null,
    layer: stream.layers.includes(layer) ? layer : stream.layers[0],
    heads: kept.length > 0 && kept.length < stream.heads.length ? kept : null,
    token: token !== null && token < count(stream, side) ? token : null,
  };
}

/** The measure a stream opens with. */
function defaultMeasure({ measures }: Stream): string {
  return measures.includes("weighted-norm") ? "weighted-norm" : measures[0];
}

/** Whether a stream can show what is compared with. */
function isHeld(compare: Choice["compare"], { measures, layers }: Stream): boolean {
  if (typeof compare === "number") return layers.includes(compare);
  return compare === OTHER || (compare !== null && measures.includes(compare));
}

/** What is chosen and what is glanced at, and the few ways in which readers change it. */

import { Cell } from "./cell";
import type { Choice, Focus, Header, Measure, Side, Stream } from "./model";

export class Store {
  readonly header: Header;
  readonly choice: Cell<Choice>;
  /** The token under the pointer; never leaves the browser. */
  readonly hover = new Cell<Focus | null>(null);

  constructor(header: Header, choice: Choice) {
    this.header = header;
    this.choice = new Cell(choice);
  }

  /** Change some choices; those that a new stream cannot keep fall back to what it has. */
  choose(changes: Partial<Choice>): void {
    const wanted = { ...this.choice.value, ...changes };
    this.choice.set(fitted(wanted, this.#stream(wanted.stream)));
  }

  get stream(): Stream {
    return this.#stream(this.choice.value.stream);
  }

  get measure(): Measure {
    return this.measureOf(this.choice.value.measure);
  }

  measureOf(id: string): Measure {
    const measure = this.header.measures.find((m) => m.id === id);
    if (!measure) throw new Error(`This flow holds no measure called ${id}.`);
    return measure;
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
    const last = count(this.stream, side) - 1;
    this.choose({ token: token === null ? 0 : Math.min(last, Math.max(0, token + by)) });
  }

  /** Pin the token at the same height in the other column. */
  cross(side: Side): void {
    const { token } = this.choice.value;
    this.choose({ side, token: Math.min(token ?? 0, count(this.stream, side) - 1) });
  }

  /** From all heads: this one alone. Otherwise: this one more, or this one less. */
  toggleHead(head: number): void {
    const { heads } = this.choice.value;
    const now = heads ?? [];
    const left = now.includes(head) ? now.filter((h) => h !== head) : [...now, head];
    const ordered = this.stream.heads.filter((h) => left.includes(h));
    this.choose({ heads: ordered.length > 0 ? ordered : null });
  }

  #stream(name: string): Stream {
    const stream = this.header.streams.find((s) => s.name === name);
    if (!stream) throw new Error(`This flow holds no stream called ${name}.`);
    return stream;
  }
}

/** How many tokens stand on a side. */
export function count(stream: Stream, side: Side): number {
  return (side === "query" ? stream.queries : stream.keys).pieces.length;
}

/** A choice without anything that the stream does not have. */
function fitted(choice: Choice, stream: Stream): Choice {
  const { measure, layer, heads, token, side } = choice;
  const kept = heads?.filter((head) => stream.heads.includes(head)) ?? [];
  return {
    ...choice,
    measure: stream.measures.includes(measure) ? measure : favourite(stream),
    layer: stream.layers.includes(layer) ? layer : stream.layers[0],
    heads: kept.length > 0 && kept.length < stream.heads.length ? kept : null,
    token: token !== null && token < count(stream, side) ? token : null,
  };
}

/** The measure a stream opens with. */
function favourite({ measures }: Stream): string {
  return measures.includes("weighted-norm") ? "weighted-norm" : measures[0];
}

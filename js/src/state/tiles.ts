/** The numbers of the flows: decoded when first wanted, asked for when they are not here. */

import { planes, product, summed } from "../math/arrays";
import { type Bytes, decode, slice } from "../wire/decode";
import type { About, Dtype, Place, Stream } from "../wire/types";
import { Cell } from "./signal";

/** How many decoded numbers are kept: 128 MB of them, and always the tiles of one picture. */
const KEPT = 32e6;
const LEAST = 3;

/** A layer with more numbers than this is asked for plane by plane. */
const LARGE = 16e6;

/** How long to wait for a tile before saying so. */
const PATIENCE = 8000;

/** Numbers that have arrived. */
export interface Tile {
  values: Float32Array;
  about: About;
}

/** A message that carries a tile, whole or in parts, or says why there is none. */
export interface Delivery {
  tile: string;
  refused?: string;
  dtype?: Dtype;
  about?: About;
  part?: number;
  parts?: number;
}

/** Which heads of a layer: each in a plane of its own, all added up, or one. */
export type Heads = "all" | "sum" | number;

export class Tiles {
  /** Goes up whenever something has arrived, been refused or been waited for too long. */
  readonly news = new Cell(0);
  readonly #places: Map<string, Place>;
  readonly #buffer: Bytes;
  readonly #ask: ((name: string) => void) | null;
  readonly #kept = new Map<string, Tile>();
  readonly #parts = new Map<string, Bytes[]>();
  readonly #waiting = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #refused = new Map<string, string>();

  constructor(places: Place[], buffer: Bytes, ask: ((name: string) => void) | null = null) {
    this.#places = new Map(places.map((place) => [place.name, place]));
    this.#buffer = buffer;
    this.#ask = ask;
  }

  /** A layer of a measure, or null while it is on its way. */
  layer(
    flow: number,
    stream: Stream,
    measure: string,
    layer: number,
    heads: Heads = "all",
  ): Float32Array | null {
    const from = `${flow}/${stream.name}`;
    const whole = `${from}/${measure}/${layer}/all`;
    const name = `${from}/${measure}/${layer}/${heads}`;
    const multiplies = stream.multiplied.includes(measure);
    const factors = [`${from}/weight/${layer}/all`, `${from}/value-norm/${layer}/all`];
    const isHere = multiplies
      ? factors.every((factor) => this.#places.has(factor))
      : this.#places.has(whole);
    if (heads === "all" && multiplies) return this.#product(whole, factors, stream);
    if (heads === "all" || !isHere) return this.#get(name)?.values ?? null;
    const all = this.layer(flow, stream, measure, layer, "all");
    if (!all) return null;
    const size = stream.queries.pieces.length * stream.keys.pieces.length;
    if (all.length === size) return all;
    return heads === "sum"
      ? this.#remember(name, () => summed(all, size))
      : planes(all, size, [stream.heads.indexOf(heads)]);
  }

  /** Every layer and head of a measure in small, or null while it is on its way. */
  overview(flow: number, stream: Stream, measure: string): Tile | null {
    return this.#get(`${flow}/${stream.name}/${measure}/overview`);
  }

  /** Whether a layer is so large that its heads come one by one. */
  isLarge({ heads, queries, keys }: Stream): boolean {
    return heads.length * queries.pieces.length * keys.pieces.length > LARGE;
  }

  /** Take in what was asked for. */
  accept(delivery: Delivery, buffers: Bytes[]): void {
    const { tile, refused, dtype, about = {}, part = 0, parts = 1 } = delivery;
    if (refused !== undefined) {
      this.#refused.set(tile, refused);
    } else if (dtype) {
      const got = this.#parts.get(tile) ?? [];
      got[part] = buffers[0];
      this.#parts.set(tile, got);
      if (Object.keys(got).length < parts) return;
      this.#parts.delete(tile);
      this.#keep(tile, { values: decode(dtype, joined(got), about.scale), about });
    }
    this.#arrived(tile);
  }

  /** Stop waiting; what has not come will not be missed. */
  close(): void {
    for (const timer of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
  }

  #get(name: string): Tile | null {
    const kept = this.#kept.get(name);
    if (kept) return this.#keep(name, kept);
    const place = this.#places.get(name);
    if (place) {
      const bytes = slice(this.#buffer, place.offset, place.bytes);
      const values = decode(place.dtype, bytes, place.about.scale);
      return this.#keep(name, { values, about: place.about });
    }
    return this.#want(name);
  }

  #want(name: string): Tile | null {
    const refused = this.#refused.get(name);
    if (refused !== undefined) {
      this.#refused.delete(name);
      throw new Error(refused);
    }
    if (!this.#ask) throw new Error(`The numbers of ${name} are not in this file.`);
    if (!this.#waiting.has(name)) {
      const impatient = () => {
        this.#refused.set(
          name,
          `The numbers (${name}) have not come. Is the kernel running? ` +
            "Run the cell again, or choose the picture again.",
        );
        this.#arrived(name);
      };
      this.#waiting.set(name, setTimeout(impatient, PATIENCE));
      try {
        this.#ask(name);
      } catch {
        this.#forget(name);
        throw new Error(
          `The numbers (${name}) cannot be asked for: the kernel that made this view is gone. Run its cell again.`,
        );
      }
    }
    return this.#kept.get(name) ?? null; // a host may answer at once
  }

  /** Wait for a tile no longer. */
  #forget(name: string): void {
    clearTimeout(this.#waiting.get(name));
    this.#waiting.delete(name);
  }

  #arrived(name: string): void {
    this.#forget(name);
    this.news.set(this.news.value + 1);
  }

  #product(name: string, factors: string[], stream: Stream): Float32Array | null {
    const kept = this.#kept.get(name);
    if (kept) return this.#keep(name, kept).values;
    const [weights, norms] = factors.map((factor) => this.#get(factor));
    if (!weights || !norms) return null;
    const keys = stream.keys.pieces.length;
    return this.#remember(name, () => product(weights.values, norms.values, keys));
  }

  #remember(name: string, make: () => Float32Array): Float32Array {
    return this.#keep(name, this.#kept.get(name) ?? { values: make(), about: {} }).values;
  }

  #keep(name: string, tile: Tile): Tile {
    this.#kept.delete(name);
    this.#kept.set(name, tile);
    forget(this.#kept);
    return tile;
  }
}

/** Drop the tiles that were used longest ago, until the rest fit. */
export function forget(kept: Map<string, Tile>, room = KEPT): void {
  let size = [...kept.values()].reduce((sum, { values }) => sum + values.length, 0);
  for (const [name, { values }] of kept) {
    if (size <= room || kept.size <= LEAST) return;
    kept.delete(name);
    size -= values.length;
  }
}

/** Some bytes one after the other. */
function joined(parts: Bytes[]): Bytes {
  if (parts.length === 1) return parts[0];
  const all = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const { buffer, byteOffset, byteLength } of parts) {
    all.set(new Uint8Array(buffer, byteOffset, byteLength), at);
    at += byteLength;
  }
  return new DataView(all.buffer);
}

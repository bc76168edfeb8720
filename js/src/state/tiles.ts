/** The numbers of the flows: decoded on first use, and requested if they were not sent. */

import { pickPlanes, sumPlanes, weightByNorm } from "../math/arrays";
import { type Bytes, decode, slice } from "../wire/decode";
import type { Dtype, Stream, TileDetails, TileLocation } from "../wire/types";
import { Signal } from "./signal";

/** How many decoded numbers are cached (128 MB), and how many tiles at least: those of one view. */
const CACHED_NUMBERS = 32e6;
const MIN_CACHED = 3;

/** A layer with more numbers than this is requested head by head. */
const LARGE_LAYER = 16e6;

/** Milliseconds to wait for a tile. */
const TIMEOUT = 8000;

/** Decoded numbers. */
export interface Tile {
  values: Float32Array;
  about: TileDetails;
}

/** A message with a tile, whole or in chunks, or with the reason why there is none. */
export interface Delivery {
  tile: string;
  refused?: string;
  dtype?: Dtype;
  about?: TileDetails;
  part?: number;
  parts?: number;
}

/** Which heads of a layer: all in separate planes, their sum, or one. */
export type Heads = "all" | "sum" | number;

export class Tiles {
  /** Increases whenever a tile arrives, is refused or times out. */
  readonly changed = new Signal(0);
  readonly #locations: Map<string, TileLocation>;
  readonly #buffer: Bytes;
  readonly #send: ((name: string) => void) | null;
  readonly #cache = new Map<string, Tile>();
  readonly #chunks = new Map<string, Bytes[]>();
  readonly #pending = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #refusals = new Map<string, string>();

  constructor(
    locations: TileLocation[],
    buffer: Bytes,
    send: ((name: string) => void) | null = null,
  ) {
    this.#locations = new Map(locations.map((location) => [location.name, location]));
    this.#buffer = buffer;
    this.#send = send;
  }

  /** A layer of a measure, or null while it is loading. */
  layer(
    flow: number,
    stream: Stream,
    measure: string,
    layer: number,
    heads: Heads = "all",
  ): Float32Array | null {
    const prefix = `${flow}/${stream.name}`;
    const whole = `${prefix}/${measure}/${layer}/all`;
    const name = `${prefix}/${measure}/${layer}/${heads}`;
    const isProduct = stream.multiplied.includes(measure);
    const factors = [`${prefix}/weight/${layer}/all`, `${prefix}/value-norm/${layer}/all`];
    const isSent = isProduct
      ? factors.every((factor) => this.#locations.has(factor))
      : this.#locations.has(whole);
    if (heads === "all" && isProduct) return this.#product(whole, factors, stream);
    if (heads === "all" || !isSent) return this.#get(name)?.values ?? null;
    const all = this.layer(flow, stream, measure, layer, "all");
    if (!all) return null;
    const size = stream.queries.pieces.length * stream.keys.pieces.length;
    if (all.length === size) return all;
    return heads === "sum"
      ? this.#computeOnce(name, () => sumPlanes(all, size))
      : pickPlanes(all, size, [stream.heads.indexOf(heads)]);
  }

  /** The thumbnails of every layer and head of a measure, or null while they are loading. */
  overview(flow: number, stream: Stream, measure: string): Tile | null {
    return this.#get(`${flow}/${stream.name}/${measure}/overview`);
  }

  /** Whether a layer is so large that its heads are requested one by one. */
  isLarge({ heads, queries, keys }: Stream): boolean {
    return heads.length * queries.pieces.length * keys.pieces.length > LARGE_LAYER;
  }

  /** Take a delivery from Python. */
  accept(delivery: Delivery, buffers: Bytes[]): void {
    const { tile, refused, dtype, about = {}, part = 0, parts = 1 } = delivery;
    if (refused !== undefined) {
      this.#refusals.set(tile, refused);
    } else if (dtype) {
      const chunks = this.#chunks.get(tile) ?? [];
      chunks[part] = buffers[0];
      this.#chunks.set(tile, chunks);
      if (Object.keys(chunks).length < parts) return;
      this.#chunks.delete(tile);
      this.#cacheTile(tile, { values: decode(dtype, concatBytes(chunks), about.scale), about });
    }
    this.#settle(tile);
  }

  /** Stop waiting for all tiles. */
  close(): void {
    for (const timer of this.#pending.values()) clearTimeout(timer);
    this.#pending.clear();
  }

  #get(name: string): Tile | null {
    const cached = this.#cache.get(name);
    if (cached) return this.#cacheTile(name, cached);
    const location = this.#locations.get(name);
    if (location) {
      const bytes = slice(this.#buffer, location.offset, location.bytes);
      const values = decode(location.dtype, bytes, location.about.scale);
      return this.#cacheTile(name, { values, about: location.about });
    }
    return this.#request(name);
  }

  #request(name: string): Tile | null {
    const refusal = this.#refusals.get(name);
    if (refusal !== undefined) {
      this.#refusals.delete(name);
      throw new Error(refusal);
    }
    if (!this.#send) throw new Error(`This file does not contain ${titleOf(name)}.`);
    if (!this.#pending.has(name)) {
      const timeOut = () => {
        this.#refusals.set(
          name,
          `Timed out waiting for ${titleOf(name)}. Is the kernel running? ` +
            "Run the cell again, or choose the view again.",
        );
        this.#settle(name);
      };
      this.#pending.set(name, setTimeout(timeOut, TIMEOUT));
      try {
        this.#send(name);
      } catch {
        this.#stopWaiting(name);
        throw new Error(
          `Cannot load ${titleOf(name)}: the kernel that created this view is gone. ` +
            "Run its cell again.",
        );
      }
    }
    return this.#cache.get(name) ?? null; // a host may answer immediately
  }

  #stopWaiting(name: string): void {
    clearTimeout(this.#pending.get(name));
    this.#pending.delete(name);
  }

  #settle(name: string): void {
    this.#stopWaiting(name);
    this.changed.set(this.changed.value + 1);
  }

  #product(name: string, factors: string[], stream: Stream): Float32Array | null {
    const cached = this.#cache.get(name);
    if (cached) return this.#cacheTile(name, cached).values;
    const [weights, norms] = factors.map((factor) => this.#get(factor));
    if (!weights || !norms) return null;
    const keys = stream.keys.pieces.length;
    return this.#computeOnce(name, () => weightByNorm(weights.values, norms.values, keys));
  }

  #computeOnce(name: string, compute: () => Float32Array): Float32Array {
    return this.#cacheTile(name, this.#cache.get(name) ?? { values: compute(), about: {} }).values;
  }

  #cacheTile(name: string, tile: Tile): Tile {
    this.#cache.delete(name);
    this.#cache.set(name, tile);
    evictTiles(this.#cache);
    return tile;
  }
}

/** Drop the least recently used tiles until the rest fit. */
export function evictTiles(cache: Map<string, Tile>, limit = CACHED_NUMBERS): void {
  let size = [...cache.values()].reduce((sum, { values }) => sum + values.length, 0);
  for (const [name, { values }] of cache) {
    if (size <= limit || cache.size <= MIN_CACHED) return;
    cache.delete(name);
    size -= values.length;
  }
}

/** A tile's name in words: "layer 3 (weight)". */
function titleOf(name: string): string {
  const [, , measure, layer] = name.split("/");
  return layer === "overview" ? `the overview (${measure})` : `layer ${layer} (${measure})`;
}

/** Several ranges of bytes as one. */
function concatBytes(chunks: Bytes[]): Bytes {
  if (chunks.length === 1) return chunks[0];
  const all = new Uint8Array(chunks.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let start = 0;
  for (const { buffer, byteOffset, byteLength } of chunks) {
    all.set(new Uint8Array(buffer, byteOffset, byteLength), start);
    start += byteLength;
  }
  return new DataView(all.buffer);
}

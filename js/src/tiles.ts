/** The numbers of a flow, decoded when first asked for. */

import { product } from "./derive";
import type { Header, Stream } from "./model";
import { type Bytes, decode, slice } from "./tensor";

/** How many decoded numbers are kept: 64 MB of them, and always the tiles of one picture. */
const KEPT = 16e6;
const LEAST = 3;

/** Where a view gets its numbers; `null` says that they are not here. */
export interface Tiles {
  get(stream: Stream, measure: string, layer: number): Float32Array | null;
}

/** Tiles cut from one buffer that has arrived whole. */
export function tilesOf(header: Header, buffer: Bytes): Tiles {
  const kept = new Map<string, Float32Array>();
  const read = (stream: Stream, measure: string, layer: number): Float32Array | null => {
    const tile = header.tiles.find(
      (t) => t.stream === stream.name && t.measure === measure && t.layer === layer,
    );
    return tile
      ? decode(tile.dtype, slice(buffer, tile.offset, tile.bytes))
      : multiply(stream, measure, layer);
  };
  const multiply = (stream: Stream, measure: string, layer: number): Float32Array | null => {
    if (measure !== "weighted-norm") return null;
    const weights = get(stream, "weight", layer);
    const norms = get(stream, "value-norm", layer);
    return weights && norms ? product(weights, norms, stream.keys.pieces.length) : null;
  };
  const get = (stream: Stream, measure: string, layer: number): Float32Array | null => {
    const name = `${stream.name} ${measure} ${layer}`;
    const found = kept.get(name) ?? read(stream, measure, layer);
    if (!found) return null;
    kept.delete(name);
    kept.set(name, found);
    forget(kept);
    return found;
  };
  return { get };
}

/** Drop the tiles that were used longest ago, until the rest fit. */
export function forget(kept: Map<string, Float32Array>, room = KEPT): void {
  let size = [...kept.values()].reduce((sum, { length }) => sum + length, 0);
  for (const [name, { length }] of kept) {
    if (size <= room || kept.size <= LEAST) return;
    kept.delete(name);
    size -= length;
  }
}

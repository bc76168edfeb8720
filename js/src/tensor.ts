/** Bytes to numbers, in one place, whatever byte offset the host gave them. */

import type { Dtype } from "./model";

/** Any stretch of bytes: what a comm, a file or a test hands over. */
export type Bytes = Pick<DataView, "buffer" | "byteOffset" | "byteLength">;

/** `log16` has this many codes for each factor of e, and starts this many factors below one. */
const STEPS = 320;
const LOWEST = 104;

/** What each of the 65536 codes stands for: zero for zero, otherwise a power of e. */
const POWERS = Float32Array.from({ length: 65536 }, (_, code) =>
  code === 0 ? 0 : Math.exp(code / STEPS - LOWEST),
);

/** Part of some bytes, without copying. */
export function slice(bytes: Bytes, offset: number, length: number): DataView {
  if (offset < 0 || length < 0 || offset + length > bytes.byteLength) {
    throw new RangeError(
      `Bytes ${offset} to ${offset + length} were wanted, but only ${bytes.byteLength} arrived.`,
    );
  }
  return new DataView(bytes.buffer, bytes.byteOffset + offset, length);
}

/** The numbers that Python wrote, in the code it named. */
export function decode(dtype: Dtype, bytes: Bytes): Float32Array {
  if (dtype === "float32") return floats(bytes);
  if (dtype === "log16") return powers(bytes);
  throw new TypeError(`Numbers written as ${dtype} cannot be read by this version.`);
}

/** Little-endian floats. */
function floats({ buffer, byteOffset, byteLength }: Bytes): Float32Array {
  const view = new DataView(buffer, byteOffset, byteLength);
  return new Float32Array(byteLength / 4).map((_, at) => view.getFloat32(at * 4, true));
}

/** Logarithms in 16 bits: first all upper bytes, then all lower ones. */
function powers({ buffer, byteOffset, byteLength }: Bytes): Float32Array {
  const view = new Uint8Array(buffer, byteOffset, byteLength);
  const count = byteLength / 2;
  const found = new Float32Array(count);
  for (let at = 0; at < count; at++) found[at] = POWERS[(view[at] << 8) | view[count + at]];
  return found;
}

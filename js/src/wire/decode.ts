/** Bytes to numbers, in one place, whatever byte offset the host gave them. */

import type { Dtype } from "./types";

/** Any stretch of bytes: what a comm, a file or a test hands over. */
export type Bytes = Pick<DataView, "buffer" | "byteOffset" | "byteLength">;

/** `log16` has this many codes for each factor of e, and starts this many factors below one. */
const STEPS = 256;
const LOWEST = 104;

/** The same of `log8`, for numbers that are at most one; each tile says what one stands for. */
const STEPS8 = 14;
const LOWEST8 = 18;

const POWERS = powersOf(65536, STEPS, LOWEST);
const POWERS8 = powersOf(256, STEPS8, LOWEST8);

/** What each code stands for: zero for zero, otherwise a power of e. */
function powersOf(length: number, steps: number, lowest: number): Float32Array {
  return Float32Array.from({ length }, (_, code) =>
    code === 0 ? 0 : Math.exp(code / steps - lowest),
  );
}

/** Part of some bytes, without copying. */
export function slice(bytes: Bytes, offset: number, length: number): DataView {
  if (offset < 0 || length < 0 || offset + length > bytes.byteLength) {
    throw new RangeError(
      `Bytes ${offset} to ${offset + length} were wanted, but only ${bytes.byteLength} arrived.`,
    );
  }
  return new DataView(bytes.buffer, bytes.byteOffset + offset, length);
}

/** The numbers that Python wrote, in the code it named, each multiplied by the scale. */
export function decode(dtype: Dtype, bytes: Bytes, scale = 1): Float32Array {
  const found = read(dtype, bytes);
  return scale === 1 ? found : found.map((value) => value * scale);
}

function read(dtype: Dtype, bytes: Bytes): Float32Array {
  if (dtype === "float32") return floats(bytes);
  if (dtype === "log16") return powers(bytes);
  if (dtype === "log8") return powers8(bytes);
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

/** Logarithms in 8 bits. */
function powers8({ buffer, byteOffset, byteLength }: Bytes): Float32Array {
  const view = new Uint8Array(buffer, byteOffset, byteLength);
  return Float32Array.from(view, (code) => POWERS8[code]);
}

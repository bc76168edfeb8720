/** Decodes bytes to numbers, at any byte offset. */

import type { Dtype } from "./types";

/** A range of bytes, as a comm, a file or a test delivers it. */
export type Bytes = Pick<DataView, "buffer" | "byteOffset" | "byteLength">;

/** `log16` has this many codes per factor of e, and starts this many factors below one. */
const STEPS16 = 256;
const LOWEST16 = 104;

/** The same for `log8`, whose values are at most one; each tile carries its own scale. */
const STEPS8 = 14;
const LOWEST8 = 18;

const POWERS16 = makePowers(65536, STEPS16, LOWEST16);
const POWERS8 = makePowers(256, STEPS8, LOWEST8);

/** The value of each code: zero for code zero, otherwise a power of e. */
function makePowers(length: number, steps: number, lowest: number): Float32Array {
  return Float32Array.from({ length }, (_, code) =>
    code === 0 ? 0 : Math.exp(code / steps - lowest),
  );
}

/** Part of a range of bytes, without copying. */
export function slice(bytes: Bytes, offset: number, length: number): DataView {
  if (offset < 0 || length < 0 || offset + length > bytes.byteLength) {
    throw new RangeError(
      `Expected bytes ${offset} to ${offset + length}, but only ${bytes.byteLength} arrived.`,
    );
  }
  return new DataView(bytes.buffer, bytes.byteOffset + offset, length);
}

/** The numbers in these bytes, each multiplied by the scale. */
export function decode(dtype: Dtype, bytes: Bytes, scale = 1): Float32Array {
  const values = readNumbers(dtype, bytes);
  return scale === 1 ? values : values.map((value) => value * scale);
}

function readNumbers(dtype: Dtype, bytes: Bytes): Float32Array {
  if (dtype === "float32") return readFloats(bytes);
  if (dtype === "log16") return readLog16(bytes);
  if (dtype === "log8") return readLog8(bytes);
  throw new TypeError(`This version cannot read numbers encoded as ${dtype}.`);
}

/** Little-endian floats. */
function readFloats({ buffer, byteOffset, byteLength }: Bytes): Float32Array {
  const view = new DataView(buffer, byteOffset, byteLength);
  return new Float32Array(byteLength / 4).map((_, index) => view.getFloat32(index * 4, true));
}

/** 16-bit logarithms: first all upper bytes, then all lower bytes. */
function readLog16({ buffer, byteOffset, byteLength }: Bytes): Float32Array {
  const view = new Uint8Array(buffer, byteOffset, byteLength);
  const count = byteLength / 2;
  const values = new Float32Array(count);
  for (let index = 0; index < count; index++) {
    values[index] = POWERS16[(view[index] << 8) | view[count + index]];
  }
  return values;
}

/** 8-bit logarithms. */
function readLog8({ buffer, byteOffset, byteLength }: Bytes): Float32Array {
  const view = new Uint8Array(buffer, byteOffset, byteLength);
  return Float32Array.from(view, (code) => POWERS8[code]);
}

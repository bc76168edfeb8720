import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decode, slice } from "../../src/wire/decode";
import type { Dtype } from "../../src/wire/types";

/** Bytes somewhere inside a larger buffer, as hosts hand them over. */
function inside(bytes: Uint8Array, before: number, after: number): DataView {
  const larger = new Uint8Array(before + bytes.length + after).fill(170);
  larger.set(bytes, before);
  return new DataView(larger.buffer, before, bytes.length);
}

const gap = fc.nat(9);

describe("decode", () => {
  test("gives the floats back at any byte offset", () => {
    const floats = fc.float32Array({ noNaN: true });
    fc.assert(
      fc.property(floats, gap, gap, (values, before, after) => {
        const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
        expect(decode("float32", inside(bytes, before, after))).toEqual(Float32Array.from(values));
      }),
    );
  });

  test("gives a logarithm's number back at any byte offset", () => {
    const codes = fc.array(fc.integer({ min: 5000, max: 49000 }));
    fc.assert(
      fc.property(codes, gap, gap, (all, before, after) => {
        const bytes = Uint8Array.from([...all.map((c) => c >> 8), ...all.map((c) => c & 255)]);
        const found = decode("log16", inside(bytes, before, after));
        expect([...found].map((value) => Math.round((Math.log(value) + 104) * 256))).toEqual(all);
      }),
    );
  });

  test("knows zero and one exactly", () => {
    const one = 104 * 256;
    expect([...decode("log16", inside(Uint8Array.of(0, one >> 8, 0, one & 255), 1, 0))]).toEqual([
      0, 1,
    ]);
  });

  test("is never more than 0.2% from any positive float it was made for", () => {
    const positive = fc.float({ min: Math.fround(1.2e-38), max: Math.fround(3e38), noNaN: true });
    fc.assert(
      fc.property(positive, (value) => {
        const code = Math.round((Math.log(value) + 104) * 256);
        const [found] = decode("log16", inside(Uint8Array.of(code >> 8, code & 255), 0, 0));
        expect(Math.abs(found - value) / value).toBeLessThan(0.002);
      }),
    );
  });

  test("gives one byte back within 3.7% of any part of the scale, at any byte offset", () => {
    const part = fc.double({ min: Math.exp(-17.9), max: 1, noNaN: true });
    const scale = fc.float({ min: Math.fround(1e-3), max: 1e6, noNaN: true });
    fc.assert(
      fc.property(fc.array(part), scale, gap, (parts, most, before) => {
        const codes = Uint8Array.from(parts, (value) => Math.round((Math.log(value) + 18) * 14));
        const found = decode("log8", inside(codes, before, 2), most);
        expect(found).toHaveLength(parts.length);
        parts.forEach((value, at) => {
          expect(Math.abs(found[at] / (value * most) - 1)).toBeLessThan(0.037);
        });
      }),
    );
  });

  test("knows zero and the scale itself exactly in one byte", () => {
    expect([...decode("log8", inside(Uint8Array.of(0, 252), 3, 0), 2.5)]).toEqual([0, 2.5]);
    expect([...decode("log8", inside(Uint8Array.of(252), 0, 0))]).toEqual([1]);
  });

  test("refuses a code it does not know", () => {
    const bytes = inside(new Uint8Array(2), 0, 0);
    expect(() => decode("uint8" as Dtype, bytes)).toThrow("cannot read numbers encoded as uint8");
  });
});

describe("slice", () => {
  test("takes what the offset says, whatever lies around", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1 }),
        gap,
        fc.nat(),
        fc.nat(),
        (bytes, before, a, b) => {
          const start = a % (bytes.length + 1);
          const length = b % (bytes.length - start + 1);
          const part = slice(inside(bytes, before, 4), start, length);
          const found = new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
          expect([...found]).toEqual([...bytes.subarray(start, start + length)]);
        },
      ),
    );
  });

  test("says so when fewer bytes arrived", () => {
    const bytes = inside(new Uint8Array(4), 2, 6);
    expect(() => slice(bytes, 2, 4)).toThrow("Expected bytes 2 to 6, but only 4 arrived.");
  });
});

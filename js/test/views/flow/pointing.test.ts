import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { curveBetween, type Ribbon, ribbonsOf } from "../../../src/data/ribbons";
import { climbAt, ribbonAt, ribbonText } from "../../../src/views/flow/pointing";
import { picture } from "../../support/fixtures";
import { signedPicture } from "../../support/signed";

const EDGES = { left: 100, right: 300 };

/** A point of the curve that is painted, by its parameter from 0 to 1. */
function pointOn({ from, to }: Pick<Ribbon, "from" | "to">, part: number): [number, number] {
  const curve = curveBetween(EDGES.left, from, EDGES.right, to);
  const rest = 1 - part;
  const weights = [rest ** 3, 3 * rest ** 2 * part, 3 * rest * part ** 2, part ** 3];
  const at = (axis: number) =>
    weights.reduce((sum, weight, index) => sum + weight * curve[2 * index + axis], 0);
  return [at(0), at(1)];
}

const ribbon = (changes: Partial<Ribbon>): Ribbon => ({
  ...{ plane: 0, query: 0, key: 0, width: 4, from: 0, to: 0 },
  ...changes,
});

describe("the climb of a ribbon", () => {
  test("is that of the curve that is painted", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (part) => {
        const [x, y] = pointOn({ from: 0, to: 1 }, part);
        const across = (x - EDGES.left) / (EDGES.right - EDGES.left);
        expect(climbAt(across)).toBeCloseTo(y, 4);
      }),
    );
  });

  test("begins at one end and ends at the other", () => {
    expect(climbAt(0)).toBeCloseTo(0, 5);
    expect(climbAt(0.5)).toBeCloseTo(0.5, 5);
    expect(climbAt(1)).toBeCloseTo(1, 5);
  });
});

describe("the ribbon at a point", () => {
  const steep = ribbon({ from: 10, to: 210, key: 0, query: 10 });
  const flat = ribbon({ from: 100, to: 100, key: 5, query: 5 });

  test("is found all along its curve, and not beside it", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (part) => {
        const [x, y] = pointOn(steep, part);
        expect(ribbonAt([steep], EDGES, x, y)).toBe(steep);
        expect(ribbonAt([steep], EDGES, x, y + 2 + 2.9)).toBe(steep);
        expect(ribbonAt([steep], EDGES, x, y + 2 + 3.1)).toBeNull();
      }),
    );
  });

  test("is none beyond the columns", () => {
    expect(ribbonAt([flat], EDGES, 99, 100)).toBeNull();
    expect(ribbonAt([flat], EDGES, 301, 100)).toBeNull();
    expect(ribbonAt([flat], EDGES, 100, 100)).toBe(flat);
    expect(ribbonAt([flat], { left: 0, right: 0 }, 0, 100)).toBeNull();
    expect(ribbonAt([], EDGES, 200, 100)).toBeNull();
  });

  test("is the nearest, and of several the one on top", () => {
    const below = ribbon({ from: 106, to: 106, key: 6 });
    expect(ribbonAt([flat, below], EDGES, 150, 102.5)).toBe(flat);
    expect(ribbonAt([below, flat], EDGES, 150, 103.5)).toBe(below);
    const wide = ribbon({ from: 100, to: 100, width: 40, key: 7 });
    expect(ribbonAt([flat, wide], EDGES, 150, 100)).toBe(wide);
    expect(ribbonAt([wide, flat], EDGES, 150, 100)).toBe(flat);
  });
});

describe("what a ribbon says", () => {
  const numbers = [[[1, 0.5, 0.5]], [[2, 0, 0]]];
  const widest = (shown: Parameters<typeof ribbonText>[0]) =>
    ribbonsOf(shown, 20, { share: 1, limit: 99 }).ribbons.at(-1) as Ribbon;

  test("is from which token to which, how much, and of what", () => {
    const shown = picture(numbers);
    expect(ribbonText(shown, widest(shown))).toBe("‘k0’ → ‘q0’: α 1.50, 75% of what ‘q0’ takes");
  });

  test("is its head, where some are chosen", () => {
    const three = picture([...numbers, [[0, 0, 1]]], { heads: [0, 1] });
    expect(ribbonText(three, widest(three))).toBe(
      "‘k0’ → ‘q0’, head 1: α 1.00, 50% of what ‘q0’ takes",
    );
  });

  test("is its sign, where there are two", () => {
    const shown = signedPicture({ heads: [0] });
    const below = ribbonsOf(shown, 20, { share: 1, limit: 999 }).ribbons.filter(
      ({ plane }) => shown.strands[plane] === "below",
    );
    expect(ribbonText(shown, below[0])).toMatch(/^‘.+’ → ‘.+’: .+ −[\d.e-]+, [<\d.]+% of what/);
  });
});

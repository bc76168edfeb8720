import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { contrast, PALETTES } from "../../src/draw/colors";
import { heatGradient, heatOf, rgb } from "../../src/draw/heat";
import { measureWith } from "../support/measures";

const PLAIN = { signed: false, of_weights: true };
const NORM = { signed: false, of_weights: false };

const ramps = Object.entries(PALETTES).flatMap(([theme, palette]) => [
  { theme, palette, kind: "weights", measure: PLAIN },
  { theme, palette, kind: "norms", measure: NORM },
]);

/** How light a color is to the eye, as OKLab has it. */
function lightness(color: readonly number[]): number {
  const [red, green, blue] = color.map((channel) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const long = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const medium = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const short = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  return 0.2104542553 * long + 0.793617785 * medium - 0.0040720468 * short;
}

const hexOf = (color: readonly number[]) =>
  `#${color.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;

describe.each(ramps)("the heat of $kind in the $theme theme", ({ palette, measure }) => {
  const color = heatOf(measure, palette);

  test("goes in even steps of lightness", () => {
    const steps = Array.from({ length: 11 }, (_, step) => lightness(color(step / 10)));
    const size = (steps[10] - steps[0]) / 10;
    for (let at = 1; at < steps.length; at++) {
      expect(steps[at] - steps[at - 1]).toBeCloseTo(size, 2);
    }
  });

  test("moves away from the paper", () => {
    expect(contrast(palette.paper, hexOf(color(0)))).toBeLessThan(1.25);
    expect(contrast(palette.paper, hexOf(color(1)))).toBeGreaterThan(7);
  });

  test("has a hue, and more of it the more there is", () => {
    const [low, high] = measure.of_weights ? [0, 2] : [2, 0];
    const tints = [0, 0.25, 0.5].map((part) => color(part)[high] - color(part)[low]);
    expect(tints[1]).toBeGreaterThan(tints[0] + 20);
    expect(tints[2]).toBeGreaterThan(tints[1] + 20);
  });

  test("is always a color, also beyond its ends", () => {
    fc.assert(
      fc.property(fc.double(), (part) => {
        for (const channel of color(part)) expect(channel % 1 === 0 && channel <= 255).toBe(true);
      }),
    );
    expect(color(-1)).toEqual(color(0));
    expect(color(2)).toEqual(color(1));
  });

  test("is the same in the legend", () => {
    expect(heatGradient(measure, palette)).toContain(`rgb(${color(1).join(" ")})`);
  });
});

test("a difference goes from the hue of one measure to that of the other", () => {
  const { light } = PALETTES;
  const [weight, norm] = [PLAIN, NORM].map((measure) => measureWith(measure));
  const color = heatOf({ signed: true, of_weights: false, pair: [weight, norm] }, light);
  expect(color(1)).toEqual(heatOf(norm, light)(1));
  expect(color(-1)).toEqual(heatOf(weight, light)(1));
  const alike = heatOf({ signed: true, of_weights: false, pair: [norm, norm] }, light);
  const signed = heatOf({ signed: true, of_weights: false }, light);
  for (const part of [-1, 1]) expect(alike(part)).toEqual(signed(part));
});

test("#rrggbb has three channels", () => {
  expect(rgb("#01ff80")).toEqual([1, 255, 128]);
});

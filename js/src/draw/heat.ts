/** Color ramps for heatmaps, in even steps of lightness. */

import type { Measure } from "../wire/types";
import { BELOW, contrast, oklch, type Palette } from "./colors";

export type Rgb = readonly [red: number, green: number, blue: number];

/** The number of colors: as many as 8 bits can distinguish. */
const STEPS = 256;

const ABOVE = 255;
const CHROMA = 0.15;

/** The lightness of zero and of the maximum. Zero differs from the paper, so that the field has edges. */
const LIGHT = { nothing: 0.972, all: 0.38 };
const DARK = { nothing: 0.255, all: 0.9 };

const ramps = new Map<string, Rgb[]>();

/** The color of each fraction from 0 to 1; values outside are clamped. */
export function heat(palette: Palette): (part: number) => Rgb {
  return rampColors(palette, ABOVE);
}

/** The same in two hues around zero, from -1 to 1. */
export function signedHeat(palette: Palette): (part: number) => Rgb {
  const [above, below] = [rampColors(palette, ABOVE), rampColors(palette, BELOW)];
  return (part) => (part < 0 ? below(-part) : above(part));
}

/** The color ramp of a measure: in two hues if it is signed. */
export function heatOf({ signed }: Pick<Measure, "signed">, palette: Palette) {
  return signed ? signedHeat(palette) : heat(palette);
}

function rampColors(palette: Palette, hue: number): (part: number) => Rgb {
  const name = `${palette.paper} ${hue}`;
  const colors = ramps.get(name) ?? makeRamp(palette, hue);
  ramps.set(name, colors);
  return (part) => colors[Math.round(Math.min(1, Math.max(0, part)) * (STEPS - 1))] ?? colors[0];
}

function makeRamp({ paper }: Palette, hue: number): Rgb[] {
  const { nothing, all } = contrast(paper, "#000000") < 4.5 ? DARK : LIGHT;
  return Array.from({ length: STEPS }, (_, step) => {
    const part = step / (STEPS - 1);
    return rgb(oklch(nothing + (all - nothing) * part, 0.006 + CHROMA * part ** 0.7, hue));
  });
}

/** The channels of #rrggbb. */
export function rgb(color: string): Rgb {
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
  return [red, green, blue];
}

/** The color ramp of a measure as a CSS background, for a legend. */
export function heatGradient(measure: Pick<Measure, "signed">, palette: Palette): string {
  const color = heatOf(measure, palette);
  const from = measure.signed ? -1 : 0;
  const parts = Array.from({ length: 9 }, (_, step) => from + ((1 - from) * step) / 8);
  const stops = parts.map((part) => `rgb(${color(part).join(" ")})`);
  return `linear-gradient(to right, ${stops.join(", ")})`;
}

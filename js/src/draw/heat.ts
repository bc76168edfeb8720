/** A hue from almost nothing to full color, in even steps of lightness, for heatmaps. */

import type { Measure } from "../wire/types";
import { BELOW, contrast, oklch, type Palette } from "./colors";

export type Rgb = readonly [red: number, green: number, blue: number];

/** How many colors there are: as many as an 8-bit picture can tell apart. */
const STEPS = 256;

const ABOVE = 255;
const CHROMA = 0.15;

/** The lightness of nothing and of all. Nothing stands off the paper, so that a field has edges. */
const LIGHT = { nothing: 0.972, all: 0.38 };
const DARK = { nothing: 0.255, all: 0.9 };

const made = new Map<string, Rgb[]>();

/** The color of each part of the whole, from 0 to 1; what lies beyond is held at the ends. */
export function heat(palette: Palette): (part: number) => Rgb {
  return hot(palette, ABOVE);
}

/** The same in two hues around almost nothing, from -1 to 1. */
export function signedHeat(palette: Palette): (part: number) => Rgb {
  const [above, below] = [hot(palette, ABOVE), hot(palette, BELOW)];
  return (part) => (part < 0 ? below(-part) : above(part));
}

/** The heat of a measure: in two hues where it may be negative. */
export function heatOf({ signed }: Pick<Measure, "signed">, palette: Palette) {
  return signed ? signedHeat(palette) : heat(palette);
}

function hot(palette: Palette, hue: number): (part: number) => Rgb {
  const name = `${palette.paper} ${hue}`;
  const colors = made.get(name) ?? ramp(palette, hue);
  made.set(name, colors);
  return (part) => colors[Math.round(Math.min(1, Math.max(0, part)) * (STEPS - 1))] ?? colors[0];
}

function ramp({ paper }: Palette, hue: number): Rgb[] {
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

/** The colors of a measure as a CSS background, for a legend. */
export function heatGradient(measure: Pick<Measure, "signed">, palette: Palette): string {
  const color = heatOf(measure, palette);
  const from = measure.signed ? -1 : 0;
  const parts = Array.from({ length: 9 }, (_, step) => from + ((1 - from) * step) / 8);
  const stops = parts.map((part) => `rgb(${color(part).join(" ")})`);
  return `linear-gradient(to right, ${stops.join(", ")})`;
}

/** One hue from almost nothing to full colour, in even steps of lightness, for heatmaps. */

import { contrast, oklch, type Palette } from "./scales";

export type Rgb = readonly [red: number, green: number, blue: number];

/** How many colours there are: as many as an 8-bit picture can tell apart. */
const STEPS = 256;

const HUE = 255;
const CHROMA = 0.15;

/** The lightness of nothing and of all. Nothing stands off the paper, so that a field has edges. */
const LIGHT = { nothing: 0.972, all: 0.38 };
const DARK = { nothing: 0.255, all: 0.9 };

const made = new Map<string, Rgb[]>();

/** The colour of each part of the whole, from 0 to 1; what lies beyond is held at the ends. */
export function heat(palette: Palette): (part: number) => Rgb {
  const colours = made.get(palette.paper) ?? ramp(palette);
  made.set(palette.paper, colours);
  return (part) => colours[Math.round(Math.min(1, Math.max(0, part)) * (STEPS - 1))] ?? colours[0];
}

function ramp({ paper }: Palette): Rgb[] {
  const { nothing, all } = contrast(paper, "#000000") < 4.5 ? DARK : LIGHT;
  return Array.from({ length: STEPS }, (_, step) => {
    const part = step / (STEPS - 1);
    return rgb(oklch(nothing + (all - nothing) * part, 0.006 + CHROMA * part ** 0.7, HUE));
  });
}

/** The channels of #rrggbb. */
export function rgb(colour: string): Rgb {
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  return [red, green, blue];
}

/** The same ramp as a CSS background, for a legend. */
export function heatGradient(palette: Palette): string {
  const colour = heat(palette);
  const stops = Array.from({ length: 9 }, (_, step) => `rgb(${colour(step / 8).join(" ")})`);
  return `linear-gradient(to right, ${stops.join(", ")})`;
}

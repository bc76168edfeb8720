/** Color ramps for heatmaps, in even steps of lightness. */

import type { Measure } from "../wire/types";
import { BELOW, contrast, NORM_HUE, oklch, type Palette, WEIGHT_HUE } from "./colors";

export type Rgb = readonly [red: number, green: number, blue: number];

/** The number of colors: as many as 8 bits can distinguish. */
const STEPS = 256;

const CHROMA = 0.15;

/** The lightness of zero and of the maximum. Zero differs from the paper, so that the field has edges. */
const LIGHT = { nothing: 0.972, all: 0.38 };
const DARK = { nothing: 0.255, all: 0.9 };

const ramps = new Map<string, Rgb[]>();

/** What the colors of a measure depend on. */
type Colored = Pick<Measure, "signed" | "of_weights" | "pair">;

/** The color of each fraction from 0 to 1; of a signed measure, from -1 to 1 in two hues. */
export function heatOf(measure: Colored, palette: Palette): (part: number) => Rgb {
  if (!measure.signed) return rampColors(palette, hueOf(measure));
  const [above, below] = signHues(measure).map((hue) => rampColors(palette, hue));
  return (part) => (part < 0 ? below(-part) : above(part));
}

function hueOf({ of_weights }: Pick<Measure, "of_weights">): number {
  return of_weights ? WEIGHT_HUE : NORM_HUE;
}

/** The hues of positive and negative values; a difference has those of its two measures. */
function signHues({ pair }: Pick<Measure, "pair">): [above: number, below: number] {
  const hues = pair?.map(hueOf);
  return hues && hues[0] !== hues[1] ? [hues[1], hues[0]] : [WEIGHT_HUE, BELOW];
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
export function heatGradient(measure: Colored, palette: Palette): string {
  const color = heatOf(measure, palette);
  const from = measure.signed ? -1 : 0;
  const parts = Array.from({ length: 9 }, (_, step) => from + ((1 - from) * step) / 8);
  const stops = parts.map((part) => `rgb(${color(part).join(" ")})`);
  return `linear-gradient(to right, ${stops.join(", ")})`;
}

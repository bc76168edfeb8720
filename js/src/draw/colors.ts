/** Colors and number formats. */

/** The colors of a theme. */
export interface Palette {
  paper: string;
  ink: string;
  lightness: number;
  /** For all heads together. */
  plain: string;
  /** For muted marks: bars when hues represent signs. */
  soft: string;
  /** One hue for attention weights, another for the norms of vectors. */
  hues: { weight: string; norm: string };
  /** For signed values: positive and negative. */
  signs: readonly [above: string, below: string];
}

const CHROMA = 0.15;
const FIRST_HUE = 255;
/** The hue of negative values: orange, opposite to the blue of positive ones. */
export const BELOW = 45;
/** The hues of attention weights and of the norms of vectors. */
export const WEIGHT_HUE = 255;
export const NORM_HUE = 50;

export const PALETTES: Record<"light" | "dark", Palette> = {
  light: {
    paper: "#ffffff",
    ink: "#1d2125",
    soft: "#59636d",
    lightness: 0.62,
    plain: oklch(0.5, 0.09, 255),
    hues: { weight: oklch(0.53, 0.13, WEIGHT_HUE), norm: oklch(0.57, 0.15, NORM_HUE) },
    signs: [oklch(0.58, CHROMA, FIRST_HUE), oklch(0.58, CHROMA, BELOW)],
  },
  dark: {
    paper: "#15181c",
    ink: "#e4e7ea",
    soft: "#9aa5b0",
    lightness: 0.72,
    plain: oklch(0.74, 0.09, 255),
    hues: { weight: oklch(0.74, 0.12, WEIGHT_HUE), norm: oklch(0.76, 0.13, NORM_HUE) },
    signs: [oklch(0.72, CHROMA, FIRST_HUE), oklch(0.72, CHROMA, BELOW)],
  },
};

/** The golden angle keeps any number of hues apart, and neighbors furthest. */
const TURN = 137.508;
/** Small lightness steps, so that neighbors differ without color vision. */
const STEPS = [0, -0.09, 0.07];

/** The color of a head, the same everywhere. */
export function headColor(head: number | null, { lightness, plain }: Palette): string {
  if (head === null) return plain;
  return oklch(lightness + STEPS[head % STEPS.length], CHROMA, (FIRST_HUE + head * TURN) % 360);
}

/** The hue of a measure: of weights, or of the vectors that attention moves. */
export function measureColor({ of_weights }: { of_weights: boolean }, { hues }: Palette): string {
  return of_weights ? hues.weight : hues.norm;
}

/** The hues of positive and negative values; a difference has those of its two measures. */
export function signColors(
  { pair }: { pair?: { of_weights: boolean }[] },
  palette: Palette,
): readonly [above: string, below: string] {
  if (!pair || pair[0].of_weights === pair[1].of_weights) return palette.signs;
  return [measureColor(pair[1], palette), measureColor(pair[0], palette)];
}

/** An OKLCH color as #rrggbb, with as much chroma as sRGB allows. */
export function oklch(lightness: number, chroma: number, hue: number): string {
  for (let c = chroma; c > 0; c -= 0.004) {
    const rgb = linear(lightness, c, (hue * Math.PI) / 180);
    if (rgb.every((channel) => channel >= -1e-4 && channel <= 1 + 1e-4)) return hex(rgb);
  }
  return hex(linear(lightness, 0, 0));
}

function linear(lightness: number, chroma: number, angle: number): number[] {
  const a = chroma * Math.cos(angle);
  const b = chroma * Math.sin(angle);
  const long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short,
  ];
}

function hex(rgb: number[]): string {
  const channels = rgb.map((channel) => {
    const bounded = Math.min(1, Math.max(0, channel));
    const curved = bounded <= 0.0031308 ? 12.92 * bounded : 1.055 * bounded ** (1 / 2.4) - 0.055;
    return Math.round(curved * 255)
      .toString(16)
      .padStart(2, "0");
  });
  return `#${channels.join("")}`;
}

/** The WCAG contrast ratio of two colors, from 1 to 21. */
export function contrast(one: string, other: string): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function luminance(color: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** A number with three significant digits. */
export function formatNumber(value: number): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) return value.toExponential(1).replace("e+", "e");
  return size >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

/** A share with two significant digits, never rounded to 0% or 100%. */
export function formatPercent(share: number): string {
  if (share <= 0) return "0%";
  if (share < 0.001) return "<0.1%";
  if (share < 0.0995) return `${(share * 100).toFixed(1)}%`;
  return share < 1 && share >= 0.995 ? ">99%" : `${(share * 100).toFixed(0)}%`;
}

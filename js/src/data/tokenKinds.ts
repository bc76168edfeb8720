/** The kinds of token: their names, colors and shapes. */

import { contrast, oklch, type Palette } from "../draw/colors";
import type { Tokens } from "../wire/types";

/** Shapes that can be distinguished without color. */
export const SHAPES = ["circle", "square", "triangle", "diamond", "cross", "wedge"] as const;
export type Shape = (typeof SHAPES)[number];

export interface TokenKind {
  /** The name in Python. */
  id: string;
  name: string;
  color: string;
  shape: Shape;
}

/** Words are gray, because they are many; other kinds have a hue. */
const KNOWN: Record<string, { name?: string; hue: number | null; shape: Shape }> = {
  "[CLS]": { hue: 262, shape: "square" },
  "first token": { hue: 262, shape: "square" },
  "[SEP]": { hue: 30, shape: "triangle" },
  punctuation: { hue: 150, shape: "diamond" },
  special: { hue: 320, shape: "cross" },
  other: { name: "words", hue: null, shape: "circle" },
};

const OTHER_HUES = [85, 200, 0, 230];

/** Kinds in a fixed order, so that the same text always looks the same. */
export function kindsOf(ids: string[], palette: Palette): TokenKind[] {
  const known = Object.keys(KNOWN).filter((id) => ids.includes(id));
  const unknown = ids.filter((id) => !(id in KNOWN));
  return [
    ...known.map((id) => makeKind(id, { ...KNOWN[id] }, palette)),
    ...unknown.map((id, at) => {
      return makeKind(id, { hue: OTHER_HUES[at % OTHER_HUES.length], shape: "wedge" }, palette);
    }),
  ];
}

function makeKind(
  id: string,
  { name, hue, shape }: (typeof KNOWN)[string],
  palette: Palette,
): TokenKind {
  const color = hue === null ? plainColor(palette) : hueColor(hue, palette);
  return { id, name: name ?? id, color, shape };
}

/** A hue for curves and marks in this theme. */
export function hueColor(hue: number, palette: Palette): string {
  return oklch(isDark(palette) ? 0.76 : 0.53, 0.16, hue);
}

/** The color of kinds that do not stand out. */
export function plainColor(palette: Palette): string {
  return oklch(isDark(palette) ? 0.7 : 0.56, 0.012, 255);
}

function isDark({ paper }: Palette): boolean {
  return contrast(paper, "#000000") < 4.5;
}

/** The kinds whose tokens are all special. */
export function specialKinds({ categories, special }: Tokens): Set<string> {
  const plain = new Set(categories.filter((_, at) => !special[at]));
  return new Set(categories.filter((id) => !plain.has(id)));
}

/** The corners of each shape around a point, as alternating x and y; all look equally large. */
const CORNERS: Record<Shape, number[]> = {
  circle: Array.from({ length: 40 }, (_, at) => {
    const angle = (Math.floor(at / 2) * Math.PI) / 10;
    return at % 2 === 0 ? Math.cos(angle) : Math.sin(angle);
  }),
  square: [-0.9, -0.9, 0.9, -0.9, 0.9, 0.9, -0.9, 0.9],
  triangle: [0, -1.2, 1.2, 0.9, -1.2, 0.9],
  wedge: [0, 1.2, 1.2, -0.9, -1.2, -0.9],
  diamond: [0, -1.3, 1.3, 0, 0, 1.3, -1.3, 0],
  cross: [0, 0.55, 0.75, 1.3, 1.3, 0.75, 0.55, 0, 1.3, -0.75, 0.75, -1.3].concat([
    0, -0.55, -0.75, -1.3, -1.3, -0.75, -0.55, 0, -1.3, 0.75, -0.75, 1.3,
  ]),
};

/** A mark's outline around a point, as a path for SVG and canvas. */
export function outlineOf(shape: Shape, x: number, y: number, radius: number): string {
  const places = CORNERS[shape].map((part, at) => {
    return ((at % 2 === 0 ? x : y) + part * radius).toFixed(2);
  });
  return `M${places.join(" ")}Z`;
}

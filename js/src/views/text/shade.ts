/** The shade of each token: its share as the opacity of a hue, always with legible text. */

import { focusedRow, type Picture, sumsAtRow } from "../../data/layer";
import { contrast, measureColor, type Palette, signColors } from "../../draw/colors";
import { rgb } from "../../draw/heat";
import { argmax, sharesOf, sumByKey, sumOf } from "../../math/arrays";
import type { Focus, Role } from "../../wire/types";
import { quote } from "../../words/describe";

/** What the shades of a text show. */
export interface Shading {
  /** The role in which tokens are shaded. */
  role: Role;
  /** The share of each row. */
  shares: number[];
  /** From -1, all below zero, to 1, all above, for each row; null if nothing is signed. */
  lean: number[] | null;
  /** The row with the largest share, and that share; -1 if there is none. */
  most: number;
  full: number;
  /** What the shares are of. */
  whole: string;
}

/** What a token in focus takes or gives, or what each token gives to all. */
export function shadingOf(picture: Picture, focus: Focus | null): Shading {
  const { measure, rows, minSize } = picture;
  if (picture.values.length === 0) {
    const norms = sumByKey(picture.norms?.values ?? new Float32Array(), picture.keys);
    return shadingWith("key", sharesOf(norms), null, `the sum of all ${measure.label}`);
  }
  const at = focusedRow(picture, focus);
  const isSigned = picture.strands.includes("below");
  const aside = isSigned ? ", signs aside" : "";
  const planes = isSigned ? splitStrands(picture) : null;
  if (at === null) {
    const lean = planes && leanOf(planes.map((plane) => sumByKey(plane, picture.keys)));
    return shadingWith("key", sharesOf(picture.given), lean, `all that is given${aside}`);
  }
  const parts = sumsAtRow(picture, picture.sizes, at);
  const whole = sumOf(parts);
  const isDrawn = (part: number) => part > 0 && part >= minSize;
  const shares = Array.from(parts, (part) => (isDrawn(part) ? part / whole : 0));
  const lean = planes && leanOf(planes.map((plane) => sumsAtRow(picture, plane, at)));
  const verb = at.role === "query" ? "takes" : "gives";
  const words = `what ${quote(rows[at.role].labels[at.row])} ${verb}${aside}`;
  return shadingWith(at.role === "query" ? "key" : "query", shares, lean, words);
}

function shadingWith(role: Role, shares: number[], lean: number[] | null, whole: string): Shading {
  const most = argmax(shares);
  return { role, shares, lean, most, full: shares[most] ?? 0, whole };
}

/** The sizes above zero and below it [query key]. */
function splitStrands({ sizes, queries, keys }: Picture): Float32Array[] {
  const size = queries * keys;
  return [sizes.subarray(0, size), sizes.subarray(size)];
}

function leanOf([above, below]: ArrayLike<number>[]): number[] {
  return Array.from(above, (up, row) => {
    const both = up + below[row];
    return both > 0 ? (up - below[row]) / both : 0;
  });
}

/** The smallest contrast of text on a full shade; WCAG asks for 4.5, rounding takes a little. */
const LEGIBLE = 4.6;
/** A full shade is no stronger than this, even if text would be legible. */
const STRONGEST = 0.8;

/** The colors of shades: `part` of a full shade, leaning to one sign or the other. */
export type Shader = (part: number, lean: number) => string;

/** The shades of a picture's measure: one hue, or two with gray between. */
export function shaderOf({ measure, strands }: Picture, palette: Palette): Shader {
  const hue = measureColor(measure, palette);
  const [above, below] = signColors(measure, palette);
  const isSigned = strands.includes("below");
  const hueOf = (lean: number) => (isSigned ? mix(below, above, (lean + 1) / 2) : hue);
  const most = Math.min(...[-1, -0.5, 0, 0.5, 1].map((lean) => maxOpacity(hueOf(lean), palette)));
  return (part, lean) => mix(palette.paper, hueOf(lean), most * Math.min(1, Math.max(0, part)));
}

/** The largest opacity of a hue that leaves the ink legible. */
function maxOpacity(hue: string, { paper, ink }: Palette): number {
  let opacity = STRONGEST;
  while (opacity > 0.05 && contrast(ink, mix(paper, hue, opacity)) < LEGIBLE) opacity -= 0.01;
  return opacity;
}

/** The color between two others, as the browser blends them. */
export function mix(from: string, to: string, part: number): string {
  const [start, end] = [rgb(from), rgb(to)];
  const channels = start.map((channel, at) => Math.round(channel + (end[at] - channel) * part));
  return `#${channels.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
}

/** Whether muted text is legible on a shade. */
export function canMute(shade: string, { soft }: Palette): boolean {
  return contrast(soft, shade) >= LEGIBLE;
}

/** The backgrounds, borders and rings of an element. */

import { markup, opacityOrNull } from "../draw/xml";
import { type Ink, inkOf, inksIn } from "./color";
import { type Box, grow, rectOf } from "./geometry";

/** A rectangle drawn for an element. */
export interface Plate {
  markup: string;
  box: Box;
}

/** What is drawn for an element besides its text; `name` returns ids for gradients. */
export function platesOf(
  element: Element,
  opacity: number,
  paper: string | null,
  name: () => string,
): Plate[] {
  const style = getComputedStyle(element);
  if (style.visibility !== "visible") return [];
  const { left, top, right, bottom } = element.getBoundingClientRect();
  const box = { left, top, right, bottom };
  if (right - left < 0.01 || bottom - top < 0.01) return [];
  const ground = inkOf(style.backgroundColor);
  const rings = [...shadows(style, box), ...border(style, box), ...outline(element, style, box)];
  return [
    ...(ground && ground.color !== paper ? [fillPlate(box, ground, opacity, radiusOf(style))] : []),
    ...gradient(style, box, opacity, name),
    ...rings.map((ring) => strokePlate(ring, opacity)),
  ];
}

function radiusOf({ borderTopLeftRadius }: CSSStyleDeclaration): number {
  return Number.parseFloat(borderTopLeftRadius) || 0;
}

function fillPlate(box: Box, { color, alpha }: Ink, opacity: number, radius: number): Plate {
  const shape = { ...rectOf(box), rx: radius > 0 ? radius : null };
  const ink = { fill: color, "fill-opacity": opacityOrNull(alpha * opacity) };
  return { markup: markup("rect", { ...shape, ...ink }), box };
}

/** A rectangular line, `width` thick, centered on `middle`. */
interface Ring {
  middle: Box;
  width: number;
  ink: Ink;
}

function strokePlate({ middle, width, ink }: Ring, opacity: number): Plate {
  const line = { stroke: ink.color, "stroke-width": width };
  const alpha = { "stroke-opacity": opacityOrNull(ink.alpha * opacity) };
  const rect = markup("rect", { ...rectOf(middle), fill: "none", ...line, ...alpha });
  return { markup: rect, box: grow(middle, width / 2) };
}

/** A border that is the same on all sides. */
function border(style: CSSStyleDeclaration, box: Box): Ring[] {
  const width = Number.parseFloat(style.borderTopWidth) || 0;
  const ink = inkOf(style.borderTopColor);
  const isEven = style.borderTopWidth === style.borderLeftWidth;
  if (!ink || width === 0 || !isEven || style.borderTopStyle === "none") return [];
  return [{ middle: grow(box, -width / 2), width, ink }];
}

/** An outline, except the keyboard focus ring. */
function outline(element: Element, style: CSSStyleDeclaration, box: Box): Ring[] {
  const width = Number.parseFloat(style.outlineWidth) || 0;
  const ink = inkOf(style.outlineColor);
  const isOurs = style.outlineStyle === "solid" && !element.matches(":focus-visible");
  if (!ink || width === 0 || !isOurs) return [];
  const away = (Number.parseFloat(style.outlineOffset) || 0) + width / 2;
  return [{ middle: grow(box, away), width, ink }];
}

/** Shadows that are rings: without offset or blur. */
function shadows(style: CSSStyleDeclaration, box: Box): Ring[] {
  const sizes = style.boxShadow.replace(/(rgba?|color)\([^)]*\)/g, "").split(",");
  const inks = inksIn(style.boxShadow);
  const rings = inks.flatMap((ink, at) => {
    const lengths = (sizes[at] ?? "").match(/-?[\d.]+(?=px)/g)?.map(Number) ?? [];
    const [x, y, blur, width = 0] = lengths;
    const isRing = x === 0 && y === 0 && blur === 0 && width > 0;
    return isRing ? [{ middle: grow(box, width / 2), width, ink }] : [];
  });
  return rings.reverse(); // the first one is on top
}

/** A background gradient from left to right. */
function gradient(
  { backgroundImage }: CSSStyleDeclaration,
  box: Box,
  opacity: number,
  name: () => string,
): Plate[] {
  if (!/^linear-gradient\((to right|90deg)/.test(backgroundImage)) return [];
  const inks = inksIn(backgroundImage);
  const stops = inks.map(({ color }, at) => {
    const offset = `${Math.round((100 * at) / Math.max(1, inks.length - 1))}%`;
    return markup("stop", { offset, "stop-color": color });
  });
  const id = name();
  const defined = markup("linearGradient", { id }, stops.join(""));
  const ink = { fill: `url(#${id})`, "fill-opacity": opacityOrNull(opacity) };
  return [{ markup: defined + markup("rect", { ...rectOf(box), ...ink }), box }];
}

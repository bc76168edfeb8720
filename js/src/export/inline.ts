/** An SVG that stands in the page, copied with the look that the style sheet gives it. */

import { type Attributes, escaped, markup, part } from "../draw/xml";
import { inkOf } from "./color";

/** What is copied as it is; all else is either look or of no use outside of the page. */
const KEPT = ["d", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "rx", "ry"].concat([
  "width",
  "height",
  "points",
  "transform",
  "text-anchor",
]);

const SHAPES = ["path", "line", "rect", "circle", "ellipse", "polyline", "polygon"];

/** A drawing as one group, where it stands on the page. */
export function copied(drawing: SVGSVGElement, opacity: number): string {
  const { left, top, width } = drawing.getBoundingClientRect();
  const box = drawing.viewBox.baseVal;
  const scale = box && box.width > 0 ? width / box.width : 1;
  const turned = Math.abs(scale - 1) < 1e-3 ? "" : ` scale(${scale.toFixed(4)})`;
  const transform = `translate(${left.toFixed(2)} ${top.toFixed(2)})${turned}`;
  const inside = [...drawing.children].map(copy).join("");
  return inside && markup("g", { transform, opacity: part(opacity) }, inside);
}

function copy(element: Element): string {
  const style = getComputedStyle(element);
  const opacity = Number(style.opacity);
  if (style.display === "none" || style.visibility !== "visible" || opacity === 0) return "";
  const name = element.localName;
  const kept = { ...keptOf(element), opacity: part(opacity) };
  if (SHAPES.includes(name)) return markup(name, { ...kept, ...inksOf(style) });
  if (name === "text") return lettering(element, style, kept);
  const inside = [...element.children].map(copy).join("");
  return name === "g" && inside ? markup("g", kept, inside) : "";
}

function keptOf(element: Element): Attributes {
  return Object.fromEntries(
    KEPT.filter((name) => element.hasAttribute(name)).map((name) => [
      name,
      element.getAttribute(name),
    ]),
  );
}

function inksOf(style: CSSStyleDeclaration): Attributes {
  const fill = inkOf(style.fill);
  return {
    fill: fill?.color ?? "none",
    "fill-opacity": fill && part(fill.alpha * Number(style.fillOpacity)),
    ...strokeOf(style),
  };
}

function strokeOf(style: CSSStyleDeclaration): Attributes {
  const stroke = inkOf(style.stroke);
  if (!stroke) return {};
  const { strokeDasharray: dashes, strokeLinejoin: join } = style;
  return {
    stroke: stroke.color,
    "stroke-width": Number.parseFloat(style.strokeWidth),
    "stroke-opacity": part(stroke.alpha * Number(style.strokeOpacity)),
    "stroke-dasharray": dashes === "none" ? null : dashes.replace(/px/g, ""),
    "stroke-linejoin": join === "miter" ? null : join,
  };
}

/** A text; its edge, where it has one, is painted before it and not over it. */
function lettering(element: Element, style: CSSStyleDeclaration, kept: Attributes): string {
  const text = escaped(element.textContent ?? "");
  const size = { "font-size": Number.parseFloat(style.fontSize) };
  const weight = { "font-weight": style.fontWeight === "400" ? null : style.fontWeight };
  const all = { ...kept, ...size, ...weight };
  const stroke = strokeOf(style);
  const { fill, "fill-opacity": solid } = inksOf(style);
  const own = markup("text", { ...all, fill, "fill-opacity": solid } as Attributes, text);
  if (!stroke.stroke) return own;
  const edge = { ...stroke, fill: stroke.stroke, "aria-hidden": "true" };
  return markup("text", { ...all, ...edge }, text) + own;
}

/** Copies an SVG of the page with its computed styles. */

import { type Attributes, escapeXml, markup, opacityOrNull } from "../draw/xml";
import { inkOf } from "./color";

/** Attributes that are copied unchanged; everything else is style or useless outside the page. */
const KEPT_ATTRIBUTES = ["d", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "rx", "ry"].concat(
  ["width", "height", "points", "transform", "text-anchor"],
);

const SHAPES = ["path", "line", "rect", "circle", "ellipse", "polyline", "polygon"];

/** A drawing as one group, at its position on the page. */
export function copySvg(drawing: SVGSVGElement, opacity: number): string {
  const { left, top, width } = drawing.getBoundingClientRect();
  const box = drawing.viewBox.baseVal;
  const scale = box && box.width > 0 ? width / box.width : 1;
  const turned = Math.abs(scale - 1) < 1e-3 ? "" : ` scale(${scale.toFixed(4)})`;
  const transform = `translate(${left.toFixed(2)} ${top.toFixed(2)})${turned}`;
  const inside = [...drawing.children].map(copyElement).join("");
  return inside && markup("g", { transform, opacity: opacityOrNull(opacity) }, inside);
}

function copyElement(element: Element): string {
  const style = getComputedStyle(element);
  const opacity = Number(style.opacity);
  if (style.display === "none" || style.visibility !== "visible" || opacity === 0) return "";
  const name = element.localName;
  const kept = { ...keptOf(element), opacity: opacityOrNull(opacity) };
  if (SHAPES.includes(name)) return markup(name, { ...kept, ...inksOf(style) });
  if (name === "text") return textToSvg(element, style, kept);
  const inside = [...element.children].map(copyElement).join("");
  return name === "g" && inside ? markup("g", kept, inside) : "";
}

function keptOf(element: Element): Attributes {
  return Object.fromEntries(
    KEPT_ATTRIBUTES.filter((name) => element.hasAttribute(name)).map((name) => [
      name,
      element.getAttribute(name),
    ]),
  );
}

function inksOf(style: CSSStyleDeclaration): Attributes {
  const fill = inkOf(style.fill);
  return {
    fill: fill?.color ?? "none",
    "fill-opacity": fill && opacityOrNull(fill.alpha * Number(style.fillOpacity)),
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
    "stroke-opacity": opacityOrNull(stroke.alpha * Number(style.strokeOpacity)),
    "stroke-dasharray": dashes === "none" ? null : dashes.replace(/px/g, ""),
    "stroke-linejoin": join === "miter" ? null : join,
  };
}

/** A text; its outline, if it has one, is painted below it. */
function textToSvg(element: Element, style: CSSStyleDeclaration, kept: Attributes): string {
  const text = escapeXml(element.textContent ?? "");
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

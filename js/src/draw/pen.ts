/** What draws ribbons and bars: a canvas, or a recorder that turns them into SVG. */

import { type Attributes, markup, opacityOrNull, shortNumber } from "./xml";

/** The part of a canvas context that the vector marks need. */
export type Pen = Pick<
  CanvasRenderingContext2D,
  | "beginPath"
  | "moveTo"
  | "bezierCurveTo"
  | "stroke"
  | "fillRect"
  | "lineWidth"
  | "strokeStyle"
  | "fillStyle"
  | "globalAlpha"
  | "globalCompositeOperation"
>;

/** A pen that returns its marks as SVG, the lowest first. */
export interface Recorder extends Pen {
  marks(): string[];
}

export function recorder(): Recorder {
  const above: string[] = [];
  const below: string[] = [];
  let path = "";
  const points = (...places: number[]) => places.map(shortNumber).join(" ");
  const keep = (name: string, attributes: Attributes): void => {
    const under = pen.globalCompositeOperation === "destination-over";
    (under ? below : above).push(markup(name, attributes));
  };
  const pen: Recorder = {
    lineWidth: 1,
    strokeStyle: "#000000",
    fillStyle: "#000000",
    globalAlpha: 1,
    globalCompositeOperation: "source-over",
    beginPath: () => {
      path = "";
    },
    moveTo: (x, y) => {
      path += `M${points(x, y)}`;
    },
    bezierCurveTo: (...places) => {
      path += `C${points(...places)}`;
    },
    stroke: () => {
      const { strokeStyle, lineWidth, globalAlpha } = pen;
      const ink = { stroke: String(strokeStyle), "stroke-opacity": opacityOrNull(globalAlpha) };
      keep("path", { d: path, fill: "none", ...ink, "stroke-width": lineWidth });
    },
    fillRect: (x, y, width, height) => {
      if (width === 0 || height === 0) return;
      const corner = { x: Math.min(x, x + width), y: Math.min(y, y + height) };
      const size = { width: Math.abs(width), height: Math.abs(height) };
      const ink = { fill: String(pen.fillStyle), "fill-opacity": opacityOrNull(pen.globalAlpha) };
      keep("rect", { ...corner, ...size, ...ink });
    },
    marks: () => [...below].reverse().concat(above),
  };
  return pen;
}

/** Rectangles on the page and along a line of text. */

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** The intersection of two boxes; null if it is empty. */
export function intersectionOf(one: Box, other: Box): Box | null {
  const left = Math.max(one.left, other.left);
  const top = Math.max(one.top, other.top);
  const right = Math.min(one.right, other.right);
  const bottom = Math.min(one.bottom, other.bottom);
  return left < right && top < bottom ? { left, top, right, bottom } : null;
}

/** The smallest box around both. */
export function unionOf(one: Box | null, { left, top, right, bottom }: Box): Box {
  return {
    left: Math.min(one?.left ?? left, left),
    top: Math.min(one?.top ?? top, top),
    right: Math.max(one?.right ?? right, right),
    bottom: Math.max(one?.bottom ?? bottom, bottom),
  };
}

export function translate({ left, top, right, bottom }: Box, x: number, y: number): Box {
  return { left: left + x, top: top + y, right: right + x, bottom: bottom + y };
}

/** A box enlarged on every side. */
export function grow({ left, top, right, bottom }: Box, by: number): Box {
  return { left: left - by, top: top - by, right: right + by, bottom: bottom + by };
}

/** The attributes of an SVG rectangle. */
export function rectOf({ left, top, right, bottom }: Box) {
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** A box along a line of text, and across it. */
export interface Span {
  start: number;
  end: number;
  top: number;
  bottom: number;
}

/** A box as a span; rotated lines are read upwards. */
export function alongText({ left, top, right, bottom }: Box, isTurned: boolean): Span {
  return isTurned
    ? { start: -bottom, end: -top, top: left, bottom: right }
    : { start: left, end: right, top, bottom };
}

/** A span as a box. */
export function onPage({ start, end, top, bottom }: Span, isTurned: boolean): Box {
  return isTurned
    ? { left: top, top: -end, right: bottom, bottom: -start }
    : { left: start, top, right: end, bottom };
}

/** Rectangles on the page and along a line of writing. */

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** What two boxes share; null where they share nothing. */
export function shared(one: Box, other: Box): Box | null {
  const left = Math.max(one.left, other.left);
  const top = Math.max(one.top, other.top);
  const right = Math.min(one.right, other.right);
  const bottom = Math.min(one.bottom, other.bottom);
  return left < right && top < bottom ? { left, top, right, bottom } : null;
}

/** The least box around both. */
export function around(one: Box | null, { left, top, right, bottom }: Box): Box {
  return {
    left: Math.min(one?.left ?? left, left),
    top: Math.min(one?.top ?? top, top),
    right: Math.max(one?.right ?? right, right),
    bottom: Math.max(one?.bottom ?? bottom, bottom),
  };
}

export function moved({ left, top, right, bottom }: Box, x: number, y: number): Box {
  return { left: left + x, top: top + y, right: right + x, bottom: bottom + y };
}

/** A box made larger by so much on every side. */
export function grown({ left, top, right, bottom }: Box, by: number): Box {
  return { left: left - by, top: top - by, right: right + by, bottom: bottom + by };
}

/** Where a rectangle of SVG lies. */
export function placed({ left, top, right, bottom }: Box) {
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** A box as it lies along a line of writing, and across it. */
export interface Span {
  start: number;
  end: number;
  top: number;
  bottom: number;
}

/** The same box for one who reads along the line: turned, lines are read upwards. */
export function along({ left, top, right, bottom }: Box, isTurned: boolean): Span {
  return isTurned
    ? { start: -bottom, end: -top, top: left, bottom: right }
    : { start: left, end: right, top, bottom };
}

/** And back. */
export function onPage({ start, end, top, bottom }: Span, isTurned: boolean): Box {
  return isTurned
    ? { left: top, top: -end, right: bottom, bottom: -start }
    : { left: start, top, right: end, bottom };
}

/** Zoom and pan, by wheel, pinch, drag, double click and keys. */

/** What gestures do; points are in pixels from the upper left of the node. */
export interface Moves {
  zoom(factor: number, x: number, y: number): unknown;
  /** Returns whether it moved; if not, the page may scroll instead. */
  pan(across: number, down: number): boolean;
  whole(): unknown;
}

/** The zoom factors of the wheel, a key and a double click. */
const PER_PIXEL = 0.0035;
const STEP = 1.5;
const DOUBLE = 2;

/** The distance a key pans, and the distance a pointer may move during a click. */
const STRIDE = 48;
const SLIP = 4;

/** Listen to all gestures; the result tells whether the next click ends a drag. */
export function listenToGestures(
  node: HTMLElement,
  moves: Moves,
  signal: AbortSignal,
): () => boolean {
  const point = ({ clientX, clientY }: { clientX: number; clientY: number }): [number, number] => {
    const { left, top } = node.getBoundingClientRect();
    return [clientX - left, clientY - top];
  };
  const turned = (event: WheelEvent): void => {
    if (event.ctrlKey || event.metaKey) {
      moves.zoom(Math.exp(-event.deltaY * PER_PIXEL), ...point(event));
    } else if (!moves.pan(-event.deltaX, -event.deltaY)) return;
    event.preventDefault();
  };
  const doubled = (event: MouseEvent): void => {
    moves.zoom(event.shiftKey ? 1 / DOUBLE : DOUBLE, ...point(event));
  };
  node.addEventListener("wheel", turned, { signal, passive: false });
  node.addEventListener("dblclick", doubled, { signal });
  return listenToDrags(node, moves, point, signal);
}

type Point = [x: number, y: number];

/** One pointer drags, two pinch. */
function listenToDrags(
  node: HTMLElement,
  moves: Moves,
  point: (event: PointerEvent) => Point,
  signal: AbortSignal,
): () => boolean {
  const pointers = new Map<number, Point>();
  let slipped = 0;
  const down = (event: PointerEvent): void => {
    if (pointers.size === 0) slipped = 0;
    pointers.set(event.pointerId, point(event));
  };
  const moved = (event: PointerEvent): void => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = point(event);
    const [across, along] = [now[0] - before[0], now[1] - before[1]];
    slipped += Math.hypot(across, along);
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const factor = distanceOf(now, other) / Math.max(1, distanceOf(before, other));
      moves.zoom(factor, (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    } else if (slipped > SLIP) moves.pan(across, along);
    pointers.set(event.pointerId, now);
  };
  const up = ({ pointerId }: PointerEvent): void => {
    pointers.delete(pointerId);
  };
  node.addEventListener("pointerdown", down, { signal });
  node.addEventListener("pointermove", moved, { signal });
  for (const end of ["pointerup", "pointercancel", "pointerleave"] as const) {
    node.addEventListener(end, up, { signal });
  }
  return () => slipped > SLIP;
}

function distanceOf([x, y]: Point, [u, v]: Point): number {
  return Math.hypot(x - u, y - v);
}

/** What a key does to a field of this size, or null for other keys. */
export function keyMove(
  { key, shiftKey }: Pick<KeyboardEvent, "key" | "shiftKey">,
  moves: Moves,
  { width, height }: { width: number; height: number },
): (() => void) | null {
  const zoom = (factor: number) => () => moves.zoom(factor, width / 2, height / 2);
  const pan = (across: number, down: number) => () => {
    moves.pan(across * STRIDE, down * STRIDE);
  };
  const actions: Record<string, () => void> = {
    "+": zoom(STEP),
    "=": zoom(STEP),
    "-": zoom(1 / STEP),
    _: zoom(1 / STEP),
    "0": moves.whole,
  };
  const shifted: Record<string, () => void> = {
    ArrowLeft: pan(1, 0),
    ArrowRight: pan(-1, 0),
    ArrowUp: pan(0, 1),
    ArrowDown: pan(0, -1),
  };
  return actions[key] ?? (shiftKey ? (shifted[key] ?? null) : null);
}

/** Animates ribbons from one picture to the next. */

import type { Strand } from "../../data/layer";
import type { Ribbon } from "../../data/ribbons";

/** The duration of a change, in milliseconds. */
const LONG = 180;

/** The pause before the remaining ribbons are painted, in milliseconds. */
const PAUSE = 150;

/** With more ribbons a frame takes too long, and the change is immediate. */
export const MAX_MOVING = 1200;

/** A key for a ribbon that does not depend on its plane. */
function nameOf({ plane, query, key }: Ribbon, strands: Strand[]): string {
  return `${strands[plane]}/${query}/${key}`;
}

/** The ribbons of a picture and the strands of its planes. */
export interface Scene {
  ribbons: Ribbon[];
  strands: Strand[];
}

/** The ribbons between two scenes; those that appear or disappear change their width. */
export function interpolate(before: Scene, after: Scene, part: number): Ribbon[] {
  const old = new Map(before.ribbons.map((ribbon) => [nameOf(ribbon, before.strands), ribbon]));
  const moving = after.ribbons.map((ribbon) => {
    const name = nameOf(ribbon, after.strands);
    const from = old.get(name);
    old.delete(name);
    return from ? mixRibbons(from, ribbon, part) : { ...ribbon, width: ribbon.width * part };
  });
  const leaving = [...old.values()].flatMap((ribbon) => {
    const plane = after.strands.indexOf(before.strands[ribbon.plane]);
    return plane < 0 ? [] : [{ ...ribbon, plane, width: ribbon.width * (1 - part) }];
  });
  return [...leaving, ...moving];
}

function mixRibbons(one: Ribbon, other: Ribbon, part: number): Ribbon {
  const mix = (a: number, b: number) => a + (b - a) * part;
  return {
    ...other,
    width: mix(one.width, other.width),
    from: mix(one.from, other.from),
    to: mix(one.to, other.to),
  };
}

/** Whether the reader prefers reduced motion. */
export function prefersStillness(): boolean {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Runs one animation at a time. */
export interface Animator {
  /** Run frames from 0 to 1 with easing, replacing a running animation. */
  (frame: (part: number) => void): void;
  /** Paint the first step at once and the others after a pause, replacing a running animation. */
  still(...steps: (() => void)[]): void;
}

/** An animator that stops when the signal is aborted. */
export function animator(signal: AbortSignal): Animator {
  let current = 0;
  let pause: ReturnType<typeof setTimeout> | undefined;
  const stop = () => {
    cancelAnimationFrame(current);
    clearTimeout(pause);
  };
  signal.addEventListener("abort", stop, { once: true });
  const run = (frame: (part: number) => void): void => {
    stop();
    const start = performance.now();
    const step = (now: number): void => {
      const part = Math.min(1, Math.max(0, (now - start) / LONG));
      frame(part * part * (3 - 2 * part));
      if (part < 1 && !signal.aborted) current = requestAnimationFrame(step);
    };
    if (!signal.aborted) current = requestAnimationFrame(step);
  };
  const still = (...[first, ...rest]: (() => void)[]): void => {
    stop();
    first?.();
    if (rest.length > 0 && !signal.aborted) pause = setTimeout(() => still(...rest), PAUSE);
  };
  return Object.assign(run, { still });
}

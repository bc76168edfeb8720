/** Ribbons on their way from one picture to the next. */

import type { Strand } from "../../data/layer";
import type { Ribbon } from "../../data/ribbons";

/** How long a change takes, in milliseconds. */
const LONG = 180;

/** How long a reader must be still before the rest is painted, in milliseconds. */
const PAUSE = 150;

/** With more ribbons than this a frame takes too long, and the change is made at once. */
export const MOST = 1200;

/** A ribbon's own name, whatever plane its strand stands in. */
function nameOf({ plane, query, key }: Ribbon, strands: Strand[]): string {
  return `${strands[plane]}/${query}/${key}`;
}

/** Ribbons of a picture and the strands of its planes. */
export interface Scene {
  ribbons: Ribbon[];
  strands: Strand[];
}

/** The ribbons a part of the way from one scene to another; those that end or begin are thin. */
export function between(before: Scene, after: Scene, part: number): Ribbon[] {
  const old = new Map(before.ribbons.map((ribbon) => [nameOf(ribbon, before.strands), ribbon]));
  const moving = after.ribbons.map((ribbon) => {
    const name = nameOf(ribbon, after.strands);
    const from = old.get(name);
    old.delete(name);
    return from ? mixed(from, ribbon, part) : { ...ribbon, width: ribbon.width * part };
  });
  const leaving = [...old.values()].flatMap((ribbon) => {
    const plane = after.strands.indexOf(before.strands[ribbon.plane]);
    return plane < 0 ? [] : [{ ...ribbon, plane, width: ribbon.width * (1 - part) }];
  });
  return [...leaving, ...moving];
}

function mixed(one: Ribbon, other: Ribbon, part: number): Ribbon {
  const mix = (a: number, b: number) => a + (b - a) * part;
  return {
    ...other,
    width: mix(one.width, other.width),
    from: mix(one.from, other.from),
    to: mix(one.to, other.to),
  };
}

/** Whether readers have asked for stillness. */
export function isStill(): boolean {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Runs one movement at a time. */
export interface Animator {
  /** Run frames from 0 to 1 with a soft start and end, in place of what was running. */
  (frame: (part: number) => void): void;
  /** Paint the first step at once and each other after a pause, in place of what was running. */
  still(...steps: (() => void)[]): void;
}

/** An animator that stops when the signal says so. */
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

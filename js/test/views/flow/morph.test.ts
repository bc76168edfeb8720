import { afterEach, describe, expect, test, vi } from "vitest";
import type { Ribbon } from "../../../src/data/ribbons";
import { animator, interpolate } from "../../../src/views/flow/morph";

const ribbon = (changes: Partial<Ribbon>): Ribbon => ({
  plane: 0,
  query: 0,
  key: 0,
  width: 2,
  from: 10,
  to: 20,
  ...changes,
});

describe("ribbons on their way", () => {
  test("go from the old width and place to the new", () => {
    const before = { ribbons: [ribbon({})], strands: [4] };
    const after = { ribbons: [ribbon({ width: 6, from: 30 })], strands: [4] };
    const at = (part: number) => interpolate(before, after, part)[0];
    expect(at(0)).toEqual(before.ribbons[0]);
    expect(at(0.5)).toMatchObject({ width: 4, from: 20, to: 20 });
    expect(at(1)).toEqual(after.ribbons[0]);
  });

  test("grow from nothing where they are new, and vanish where they end", () => {
    const before = { ribbons: [ribbon({ key: 1 })], strands: [0] };
    const after = { ribbons: [ribbon({ key: 2 })], strands: [0] };
    const [leaving, coming] = interpolate(before, after, 0.25);
    expect([leaving.key, leaving.width]).toEqual([1, 1.5]);
    expect([coming.key, coming.width]).toEqual([2, 0.5]);
  });

  test("are known by their head, not by the plane it stands in", () => {
    const before = { ribbons: [ribbon({ plane: 0 })], strands: [7] };
    const after = { ribbons: [ribbon({ plane: 1, width: 4 })], strands: [3, 7] };
    expect(interpolate(before, after, 0.5)).toEqual([ribbon({ plane: 1, width: 3 })]);
  });

  test("of a head that is gone are gone", () => {
    const after = { ribbons: [], strands: [1] };
    expect(interpolate({ ribbons: [ribbon({})], strands: [0] }, after, 0.5)).toEqual([]);
  });
});

describe("the animator", () => {
  afterEach(() => vi.useRealTimers());

  test("ends at one, within 200 ms, and a new movement ends the old", () => {
    vi.useFakeTimers();
    const animate = animator(new AbortController().signal);
    const [first, second] = [vi.fn(), vi.fn()];
    animate(first);
    animate(second);
    vi.advanceTimersByTime(220);
    expect(first).not.toHaveBeenCalled();
    expect(second.mock.lastCall).toEqual([1]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("paints at once without movement, and the rest when the reader is still", () => {
    vi.useFakeTimers();
    const animate = animator(new AbortController().signal);
    const steps = [vi.fn(), vi.fn(), vi.fn()];
    animate.still(...steps);
    expect(steps.map(({ mock }) => mock.calls.length)).toEqual([1, 0, 0]);
    vi.advanceTimersByTime(100);
    expect(steps.map(({ mock }) => mock.calls.length)).toEqual([1, 0, 0]);
    vi.advanceTimersByTime(300);
    expect(steps.map(({ mock }) => mock.calls.length)).toEqual([1, 1, 1]);
  });

  test("stops when its view has left", () => {
    vi.useFakeTimers();
    const scope = new AbortController();
    const animate = animator(scope.signal);
    const frame = vi.fn();
    animate(frame);
    animate.still(vi.fn(), frame);
    scope.abort();
    animate(frame);
    vi.advanceTimersByTime(500);
    expect(frame).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });
});

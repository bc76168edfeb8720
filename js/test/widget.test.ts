import { afterEach, describe, expect, test, vi } from "vitest";
import { CHOICES } from "../src/model";
import widget from "../src/widget";
import { buffer, choice, header } from "./fixtures";

/** A stand-in for the host's model: values, listeners, and what was saved. */
function host(changes: Record<string, unknown> = {}) {
  const values: Record<string, unknown> = {
    ...choice,
    _header: header,
    _data: buffer(5),
    ...changes,
  };
  const listeners = new Map<string, Set<() => void>>();
  const saved: Record<string, unknown>[] = [];
  return {
    saved,
    listening: () => [...listeners.values()].reduce((sum, { size }) => sum + size, 0),
    model: {
      get: (name: string) => values[name],
      set: (name: string, value: unknown) => {
        values[name] = value;
      },
      save_changes: () => saved.push({ ...values }),
      on: (event: string, listener: () => void) => {
        listeners.set(event, (listeners.get(event) ?? new Set()).add(listener));
      },
      off: (event: string, listener: () => void) => listeners.get(event)?.delete(listener),
    },
    assign: (name: string, value: unknown) => {
      values[name] = value;
      for (const listener of listeners.get(`change:${name}`) ?? []) listener();
    },
  };
}

type Props = Parameters<typeof widget.render>[0];

function render(given: ReturnType<typeof host>) {
  const el = document.createElement("div");
  document.body.append(el);
  const scope = new AbortController();
  widget.render({ model: given.model, el, signal: scope.signal } as unknown as Props);
  return { el, leave: () => scope.abort() };
}

const text = (el: Element, selector: string) => el.querySelector(selector)?.textContent ?? "";

afterEach(() => {
  document.body.replaceChildren();
  vi.restoreAllMocks();
});

describe("in a notebook the view", () => {
  test("shows what Python chose", () => {
    const { el } = render(host({ layer: 2, measure: "weight" }));
    expect(text(el, ".nv-sentence")).toMatch(/^Layer 2, all 2 heads, α:/);
  });

  test("follows Python", () => {
    const given = host();
    const { el } = render(given);
    given.assign("layer", 2);
    expect(text(el, ".nv-sentence")).toMatch(/^Layer 2,/);
    expect(given.saved).toEqual([]);
  });

  test("tells Python what was chosen, all at once", () => {
    const given = host({ layer: 2, heads: [3] });
    const { el } = render(given);
    el.querySelector<HTMLElement>("[aria-label='the cross stream']")?.click();
    expect(given.saved).toHaveLength(1);
    expect(given.saved[0]).toMatchObject({
      stream: "cross",
      measure: "weight",
      layer: 1,
      heads: null,
    });
  });

  test("hears the keys, and keeps them from the host", () => {
    const given = host();
    const { el } = render(given);
    const outside = vi.fn();
    document.body.addEventListener("keydown", outside);
    el.dispatchEvent(new KeyboardEvent("keydown", { key: "]", bubbles: true }));
    expect(given.saved[0].layer).toBe(2);
    expect(outside).not.toHaveBeenCalled();
    el.dispatchEvent(new KeyboardEvent("keydown", { key: "1", ctrlKey: true, bubbles: true }));
    expect(outside).toHaveBeenCalledOnce();
  });

  test("shares its model with a second view", () => {
    const given = host();
    const views = [render(given), render(given)];
    given.assign("measure", "attention");
    for (const { el } of views) expect(text(el, ".nv-sentence")).toContain("all heads together");
  });

  test("leaves nothing behind", () => {
    const given = host();
    const { el, leave } = render(given);
    expect(given.listening()).toBe(CHOICES.length);
    leave();
    expect(given.listening()).toBe(0);
    expect(el.childElementCount).toBe(0);
  });

  test("says in a sentence what is wrong, and is never blank", () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    for (const [changes, sentence] of [
      [{ _header: { ...header, format: 9 } }, "written in layout 9"],
      [{ _header: undefined }, "could not be drawn"],
      [{ _header: { ...header, tiles: [] } }, "are not in this file"],
      [{ _data: new DataView(new ArrayBuffer(2)) }, "but only 2 arrived"],
    ] as const) {
      expect(text(render(host(changes)).el, ".nv-notice")).toContain(sentence);
    }
  });

  test("recovers when the next layer is whole", () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    const tiles = header.tiles.filter(({ layer }) => layer !== 2);
    const given = host({ _header: { ...header, tiles }, layer: 2 });
    const { el } = render(given);
    expect(el.querySelector(".nv-notice")).not.toBeNull();
    given.assign("layer", 0);
    expect(el.querySelector(".nv-notice")).toBeNull();
    expect(text(el, ".nv-sentence")).toMatch(/^Layer 0,/);
  });
});

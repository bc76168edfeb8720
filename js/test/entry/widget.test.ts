import { afterEach, describe, expect, test, vi } from "vitest";
import widget from "../../src/entry/widget";
import { STATE_KEYS } from "../../src/wire/types";
import { buffer, header, state } from "../support/fixtures";

/** A stand-in for the host's model: values, listeners, and what was saved. */
function host(changes: Record<string, unknown> = {}) {
  const values: Record<string, unknown> = {
    ...state,
    _header: header,
    _data: buffer(5),
    ...changes,
  };
  const listeners = new Map<string, Set<(...given: unknown[]) => void>>();
  const saved: Record<string, unknown>[] = [];
  const asked: string[] = [];
  return {
    saved,
    asked,
    listening: () => [...listeners.values()].reduce((sum, { size }) => sum + size, 0),
    model: {
      get: (name: string) => values[name],
      set: (name: string, value: unknown) => {
        values[name] = value;
      },
      save_changes: () => saved.push({ ...values }),
      send: ({ want }: { want: string }) => asked.push(want),
      on: (event: string, listener: () => void) => {
        listeners.set(event, (listeners.get(event) ?? new Set()).add(listener));
      },
      off: (event: string, listener: () => void) => listeners.get(event)?.delete(listener),
    },
    assign: (name: string, value: unknown) => {
      values[name] = value;
      for (const listener of listeners.get(`change:${name}`) ?? []) listener();
    },
    deliver: (content: unknown, ...buffers: DataView[]) => {
      for (const listener of listeners.get("msg:custom") ?? []) listener(content, buffers);
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
    expect(text(el, ".nv-sentence")).toMatch(/^Layer 2, mean of 2 heads, α:/);
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
    el.querySelector<HTMLElement>("[title='the cross stream']")?.click();
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
    expect(given.listening()).toBe(STATE_KEYS.length + 1);
    leave();
    expect(given.listening()).toBe(0);
    expect(el.childElementCount).toBe(0);
  });

  test("says in a sentence what is wrong, and is never blank", () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    for (const [changes, sentence] of [
      [{ _header: { ...header, format: 9 } }, "has format 9"],
      [{ _header: undefined }, "could not be drawn"],
      [{ _data: new DataView(new ArrayBuffer(2)) }, "but only 2 arrived"],
    ] as const) {
      expect(text(render(host(changes)).el, ".nv-notice")).toContain(sentence);
    }
  });

  test("recovers when the next layer is whole", () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    const given = host({ layer: 2 });
    given.deliver({ tile: "elsewhere" });
    const tiles = header.tiles.map((tile) =>
      tile.name.includes("/2/") ? { ...tile, offset: 1e6 } : tile,
    );
    given.assign("_header", { ...header, tiles });
    const { el } = render(given);
    expect(el.querySelector(".nv-notice")).not.toBeNull();
    given.assign("layer", 0);
    expect(el.querySelector(".nv-notice")).toBeNull();
    expect(text(el, ".nv-sentence")).toMatch(/^Layer 0,/);
  });
});

describe("numbers that are not sent at once", () => {
  const empty = { _header: { ...header, tiles: [] }, _data: new DataView(new ArrayBuffer(0)) };
  const norms = "0/encoder/value-norm/0/all";

  /** What Python answers when a tile is asked for. */
  const answer = (given: ReturnType<typeof host>, name: string) => {
    const place = header.tiles.find((tile) => tile.name === name);
    if (!place) throw new Error(`no ${name}`);
    const whole = buffer();
    const bytes = new DataView(whole.buffer, whole.byteOffset + place.offset, place.bytes);
    given.deliver({ tile: name, dtype: place.dtype, about: place.about }, bytes);
  };

  test("are asked for once each, and drawn when they have come", () => {
    const given = host({ ...empty, measure: "weighted-norm" });
    const { el } = render(given);
    expect(text(el, "[role=status]")).toContain("Loading layer 0 …");
    expect(given.asked).toEqual(["0/encoder/weight/0/all", norms]);
    for (const name of [...given.asked]) answer(given, name);
    expect(given.asked).toHaveLength(2);
    expect(text(el, "[role=status]")).toBe("");
    expect(text(el, ".nv-sentence")).toMatch(/^Layer 0, mean of 2 heads, ‖αf\(x\)‖:/);
  });

  test("may come in parts, in any order", () => {
    const given = host({ ...empty, measure: "value-norm" });
    const { el } = render(given);
    const place = header.tiles.find((tile) => tile.name === norms);
    const whole = buffer();
    const half = (place?.bytes ?? 0) / 2;
    const cut = (from: number) =>
      new DataView(whole.buffer, whole.byteOffset + (place?.offset ?? 0) + from, half);
    const about = { tile: norms, dtype: place?.dtype, about: {}, parts: 2 };
    given.deliver({ ...about, part: 1 }, cut(half));
    expect(text(el, "[role=status]")).not.toBe("");
    given.deliver({ ...about, part: 0 }, cut(0));
    expect(text(el, ".nv-sentence")).toContain("longest is");
  });

  test("say why when they are refused, and are asked for again when chosen again", () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    const given = host({ ...empty, measure: "value-norm" });
    const { el } = render(given);
    given.deliver({ tile: norms, refused: "'value-norm' holds NaN." });
    expect(text(el, ".nv-notice")).toContain("'value-norm' holds NaN.");
    given.assign("theme", "dark");
    expect(given.asked).toEqual([norms, norms]);
  });

  test("say so when there is nobody to ask", () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    const given = host({ ...empty, measure: "value-norm" });
    given.model.send = () => {
      throw new Error("Cannot send");
    };
    expect(text(render(given).el, ".nv-notice")).toContain(
      "the kernel that created this view is gone",
    );
  });

  test("are waited for only so long, and never after the view has left", () => {
    vi.useFakeTimers();
    vi.spyOn(console, "error").mockImplementation(() => {});
    const { el } = render(host({ ...empty, measure: "value-norm" }));
    const { el: other, leave } = render(host({ ...empty, measure: "value-norm" }));
    leave();
    vi.advanceTimersByTime(60_000);
    expect(text(el, ".nv-notice")).toContain("Is the kernel running?");
    expect(other.childElementCount).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });
});

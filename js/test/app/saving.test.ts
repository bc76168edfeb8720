import { afterEach, describe, expect, test, vi } from "vitest";
import { createControls } from "../../src/app/controls";
import { PALETTES } from "../../src/draw/colors";
import { hashWriter } from "../../src/state/urlSync";
import { store, tiles } from "../support/fixtures";

let leaving = new AbortController();

const soon = () => new Promise((done) => setTimeout(done));

function panel(save: (format: string) => Promise<string>) {
  const chosen = store();
  const { node, show } = createControls(chosen, tiles(), leaving.signal, save);
  show(PALETTES.light);
  const button = (name: string) =>
    [...node.querySelectorAll("button")].find((made) => made.textContent === name);
  return { chosen, show, button, told: () => node.querySelector(".nv-told")?.textContent };
}

afterEach(() => {
  leaving = new AbortController();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe("saving", () => {
  test("tells what was saved, until another picture is chosen", async () => {
    const save = vi.fn(async (format: string) => `saved: x.${format}`);
    const { button, told, chosen, show } = panel(save);
    button("save PNG")?.click();
    await soon();
    expect(save).toHaveBeenCalledWith("png");
    expect(told()).toBe("saved: x.png");
    show(PALETTES.light);
    expect(told()).toBe("saved: x.png");
    chosen.choose({ layer: 2 });
    show(PALETTES.light);
    expect(told()).toBe("");
  });

  test("is no longer told after a while, and leaves nothing behind", async () => {
    vi.useFakeTimers();
    const { button, told } = panel(async () => "saved");
    button("save SVG")?.click();
    await vi.advanceTimersByTimeAsync(3000);
    expect(told()).toBe("saved");
    await vi.advanceTimersByTimeAsync(4000);
    expect(told()).toBe("");
    button("save SVG")?.click();
    await vi.advanceTimersByTimeAsync(10);
    leaving.abort();
    expect(vi.getTimerCount()).toBe(0);
  });

  test("that fails leaves a sentence", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const { button, told } = panel(() => Promise.reject(new Error("There is no room.")));
    button("save SVG")?.click();
    await soon();
    expect(told()).toBe("The view could not be saved. There is no room.");
  });

  test("is not offered where it cannot be", () => {
    const { node } = createControls(store(), tiles(), new AbortController().signal);
    expect(node.textContent).not.toContain("save");
  });
});

describe("the address", () => {
  test("is written at once, then no more than three times a second, and never misses the last", () => {
    vi.useFakeTimers();
    const replaced = vi.spyOn(history, "replaceState").mockImplementation(() => undefined);
    let hash = "";
    const keep = hashWriter(() => hash);
    for (let layer = 1; layer <= 100; layer++) {
      hash = `layer=${layer}`;
      keep();
      vi.advanceTimersByTime(20);
    }
    vi.advanceTimersByTime(1000);
    const urls = replaced.mock.calls.map(([, , url]) => String(url).split("#")[1]);
    expect(urls[0]).toBe("layer=1");
    expect(urls.at(-1)).toBe("layer=100");
    expect(urls.length).toBeGreaterThan(3);
    expect(urls.length).toBeLessThanOrEqual(8);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("is left alone where the host forbids to change it", () => {
    const refused = vi.spyOn(history, "replaceState").mockImplementation(() => {
      throw new DOMException("not here", "SecurityError");
    });
    const keep = hashWriter(() => "layer=1");
    expect(keep).not.toThrow();
    expect(refused).toHaveBeenCalledOnce();
  });
});

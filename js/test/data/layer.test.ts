// @vitest-environment happy-dom
/** The picture of a layer is computed once per state, whoever asks for it. */

import { beforeEach, describe, expect, test, vi } from "vitest";
import { mount } from "../../src/app/mount";
import { pictureOf } from "../../src/data/layer";
import { sumsOf } from "../../src/math/arrays";
import { panesOf } from "../../src/state/pane";
import type { ViewState } from "../../src/wire/types";
import { contractPane, header, store, tiles } from "../support/fixtures";
import { scoped } from "../support/scope";

vi.mock("../../src/math/arrays", async (original) => {
  const real = await original<typeof import("../../src/math/arrays")>();
  return { ...real, sumsOf: vi.fn(real.sumsOf) };
});

/** One call for each picture that is computed. */
const computed = vi.mocked(sumsOf);

beforeEach(() => {
  computed.mockClear();
});

describe("a picture", () => {
  test("is shared by panes of the same state", () => {
    const state = store().state.value;
    const shared = tiles();
    const [first, again] = [1, 2].map(() => pictureOf(panesOf(header, { ...state }, shared)[0]));
    expect(again).toBe(first);
    expect(computed).toHaveBeenCalledOnce();
  });

  const CHANGES: Partial<ViewState>[] = [
    { measure: "weight" },
    { layer: 2 },
    { heads: [1] },
    { normalize: "query" },
    { words: true },
    { special: "hidden" },
    { threshold: 0.5 },
    { stream: "cross", measure: "weight", layer: 1 },
    { compare: "weight", difference: true },
  ];
  test.each(CHANGES)("is another one for %o", (changes) => {
    const pane = contractPane();
    const [other] = panesOf(header, { ...pane.state, ...changes }, pane.tiles);
    expect(pictureOf(other)).not.toBe(pictureOf(pane));
    expect(computed).toHaveBeenCalledTimes(2);
  });

  test("is the same for whatever does not change it", () => {
    const pane = contractPane();
    const changes = { token: 1, role: "key", theme: "dark", view: "matrix" } as const;
    const [other] = panesOf(header, { ...pane.state, ...changes }, pane.tiles);
    expect(pictureOf(other)).toBe(pictureOf(pane));
  });

  test("is kept for two panes and the measure before, and no longer", () => {
    const pane = contractPane();
    const picture = (threshold: number) =>
      pictureOf({ ...pane, state: { ...pane.state, threshold } });
    const first = picture(0);
    for (const threshold of [0.1, 0.2]) picture(threshold);
    expect(picture(0)).toBe(first);
    for (const threshold of [0.1, 0.2, 0.3]) picture(threshold);
    expect(picture(0)).not.toBe(first);
  });

  test("is not kept while numbers are loading", () => {
    const pane = contractPane();
    const layer = pane.tiles.layer.bind(pane.tiles);
    pane.tiles.layer = () => null;
    expect(pictureOf(pane)).toBeNull();
    pane.tiles.layer = layer;
    expect(pictureOf(pane)).not.toBeNull();
  });
});

describe("a mounted view", () => {
  const scope = scoped();

  test("computes it once for the view, the matrix, the rank changes and the strongest head", () => {
    const root = document.createElement("div");
    document.body.append(root);
    const chosen = store({ measure: "weight" });
    mount(root, chosen, tiles(), scope.signal);
    expect(computed).toHaveBeenCalledTimes(1);
    chosen.choose({ measure: "weighted-norm" });
    expect(root.querySelector(".nv-changes")?.textContent).toContain("From α to ‖αf(x)‖");
    expect(computed).toHaveBeenCalledTimes(2);
    chosen.pin({ role: "query", token: 1 });
    chosen.hover.set({ role: "key", token: 0 });
    root.querySelector<HTMLElement>("[title^='the head that moves the most']")?.click();
    const heads = chosen.state.value.heads;
    expect(heads).toHaveLength(1);
    expect(computed).toHaveBeenCalledTimes(3); // the picture of that head
    chosen.choose({ view: "matrix" });
    expect(computed).toHaveBeenCalledTimes(3);
  });

  test("computes each of two pictures once, although each is scaled with the other", () => {
    const root = document.createElement("div");
    document.body.append(root);
    mount(root, store({ measure: "weight", compare: "weighted-norm" }), tiles(), scope.signal);
    expect(root.querySelectorAll(".nv-pane")).toHaveLength(2);
    expect(computed).toHaveBeenCalledTimes(2);
  });
});

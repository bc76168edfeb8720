import { beforeEach, describe, expect, test, vi } from "vitest";
import { gapsOf } from "../../src/data/otherLayers";
import { modeOf } from "../../src/data/stack";
import { PALETTES } from "../../src/draw/colors";
import { alignmentView } from "../../src/views/alignment/view";
import { boardFor, cornerOf, THIN_ROW } from "../../src/views/grid/layout";
import { thumbsOf } from "../../src/views/grid/thumbs";
import { gridView } from "../../src/views/grid/view";
import { profileOf } from "../../src/views/profile/data";
import { curveChart } from "../../src/views/profile/layout";
import { profileView } from "../../src/views/profile/view";
import { columnStart, columnsBetween, gapWidth, tokenUnder } from "../../src/views/stack/layout";
import { stackView } from "../../src/views/stack/view";
import type { CreateView } from "../../src/views/view";
import type { Stream, ViewState } from "../../src/wire/types";
import { opened } from "../support/fixtures";
import { rolloutOf } from "../support/measures";
import { scoped } from "../support/scope";

const scope = scoped();
const actions = { hover: vi.fn(), pin: vi.fn(), choose: vi.fn(), refresh: vi.fn() };

function drawn(create: CreateView, changes: Partial<ViewState> = {}) {
  const view = create(actions, scope.signal);
  document.body.append(view.node);
  const pane = opened("hybrid", changes).pane();
  view.draw(pane, PALETTES.light);
  view.highlight(null);
  const all = (which: string) => [...view.node.querySelectorAll<HTMLElement>(which)];
  const texts = (which: string) => all(which).map((node) => node.textContent);
  const legend = view
    .legend()
    .map((line) => (typeof line === "string" ? line : (line.textContent ?? "")));
  return { view, pane, all, texts, legend };
}

beforeEach(() => {
  document.body.replaceChildren();
  for (const action of Object.values(actions)) action.mockClear();
});

const GAPS = "gray: no attention in layers 0, 2–3 (JambaMambaMixer), 5–6 (Conv)";

describe("the stack of a model with layers without attention", () => {
  test("does not chain its layers, and says why in a sentence of its own", () => {
    const { view, pane, legend } = drawn(stackView);
    expect(modeOf(pane.stream, pane.measure)).toBe("separate");
    const { sentence, notes } = view.describe(null);
    expect(sentence).toMatch(/all tokens together in layer 1 take \d+% from ‘/);
    expect(notes).toEqual([
      "Each layer is shown by itself, since the layers cannot be chained: there is no attention " +
        "of this stream in layer 0, 2–3, 5–6 (JambaMambaMixer, Conv).",
    ]);
    expect(legend).toContain("columns: layers 1, 4");
    expect(legend).toContain(GAPS);
  });

  test("is not interrupted for a measure that reaches the input by itself", () => {
    const { stream } = opened("hybrid").pane();
    const reaching = { ...opened("hybrid").pane().measure, ...rolloutOf("weight") };
    expect(modeOf(stream, reaching)).toBe("direct");
    expect(modeOf({ ...stream, interruption: "" }, opened("hybrid").pane().measure)).toBe("traced");
  });

  test("follows a token in the chosen layer only", () => {
    const { view } = drawn(stackView, { layer: 4, token: 2 });
    const { sentence, caption } = view.describe({ role: "query", token: 2 });
    expect(sentence).toContain("‘was’ in layer 4 takes");
    expect(caption).toContain("what ‘was’ (2) takes in layer 4");
    const given = view.describe({ role: "key", token: 0 });
    expect(given.sentence).toContain("‘The’ gives");
  });

  test("has a labeled band at the place of each run of them", () => {
    const { all, texts } = drawn(stackView);
    expect(texts(".nv-number")).toEqual(["1", "4"]);
    expect(texts(".nv-band")).toEqual(["0", "2–3", "5–6"]);
    expect(all(".nv-band").map(({ title }) => title)).toEqual([
      "no attention: JambaMambaMixer",
      "no attention: JambaMambaMixer",
      "no attention: Conv",
    ]);
    expect(all(".nv-shades i")).toHaveLength(3);
  });

  test("has no tokens in the bands", () => {
    const gaps = gapsOf(opened("hybrid").store.stream);
    const columns = columnsBetween(0, 300, { layers: 2, gaps, mode: "separate" });
    const lanes = { pitch: 20, rows: 3, ...columns };
    const [first, second, third] = gaps.map((gap) => gapWidth(gap, "separate"));
    const width = (300 - first - second - third) / 2;
    expect(columnStart(lanes, 0)).toBe(first);
    expect(columnStart(lanes, 1)).toBe(first + width + second);
    expect(lanes.posts[2]).toBe(300 - third);
    expect(tokenUnder(first / 2, 5, lanes, true)).toBeNull();
    expect(tokenUnder(first + 1, 5, lanes, true)).toEqual({ row: 0, column: 0 });
    expect(tokenUnder(first + width + 1, 25, lanes, true)).toBeNull();
    expect(tokenUnder(first + width + second + 1, 25, lanes, true)).toEqual({ row: 1, column: 1 });
    expect(tokenUnder(299, 5, lanes, true)).toBeNull();
    expect(tokenUnder(305, 5, lanes, true)).toEqual({ row: 0, column: 1 });
  });

  test("leaves space for the number on a post before a band", () => {
    const gaps = gapsOf(opened("hybrid").store.stream);
    const { posts, bands } = columnsBetween(0, 300, { layers: 2, gaps, mode: "direct" });
    expect(bands[1].left - posts[1]).toBeGreaterThan(8);
    expect(bands[2].left - posts[2]).toBeGreaterThan(8);
  });
});

describe("the grid of a model with layers without attention", () => {
  test("has a thin row for each run of them, at its place", () => {
    const { texts } = drawn(gridView);
    expect(texts(".nv-thumbs > *:not(.nv-columns)").map((row) => row?.trim())).toEqual([
      "0· no attention: JambaMambaMixer",
      "1",
      "2–3· no attention: JambaMambaMixer",
      "4",
      "5–6· no attention: Conv",
    ]);
  });

  test("marks the row of the chosen layer, and no thin one", () => {
    const { texts } = drawn(gridView, { layer: 4 });
    expect(texts("[role=rowheader].nv-chosen")).toEqual(["4"]);
  });

  test("places the pictures below the rows above them", () => {
    const thumbs = thumbsOf(opened("hybrid").pane(), []);
    if (!thumbs) throw new Error("no thumbnails");
    const board = boardFor(thumbs, { width: 600, ratio: 1, isSorted: false });
    const { heading, pitch } = board;
    expect(cornerOf(board, 0).y).toBe(heading + THIN_ROW);
    expect(cornerOf(board, 3).y).toBe(heading + pitch.down + 2 * THIN_ROW);
    expect(board.height).toBe(heading + 2 * pitch.down + 3 * THIN_ROW);
    const sorted = boardFor(thumbs, { width: 600, ratio: 1, isSorted: true });
    expect(sorted.thin).toEqual([]);
  });

  test("lets the keyboard pass over them", () => {
    const { all } = drawn(gridView);
    const cells = all(".nv-thumb");
    cells[1].focus();
    cells[1].dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }));
    expect(document.activeElement).toBe(cells[4]);
    expect(all(".nv-thin [tabindex]")).toHaveLength(0);
  });
});

describe("the profile of a model with layers without attention", () => {
  test("has them on its axis: shaded, with a tick and a number each", () => {
    const { all, texts, legend } = drawn(profileView);
    const [axes] = all(".nv-curves .nv-axes");
    const numbers = [...axes.querySelectorAll("text")].map((text) => text.textContent);
    for (const number of ["0", "1", "2", "3", "4", "5", "6"]) expect(numbers).toContain(number);
    expect(all(".nv-none rect")).toHaveLength(3);
    expect(all(".nv-none line")).toHaveLength(5);
    expect(texts(".nv-none title")[1]).toBe("layer 2–3, no attention: JambaMambaMixer");
    expect(legend).toContain(GAPS);
  });

  test("has its layers at their places in the model, clear of the shades", () => {
    const profile = profileOf(opened("hybrid").pane(), PALETTES.light);
    if (!profile) throw new Error("no profile");
    const { xs, bands } = curveChart(profile, 500, 300);
    const step = (xs[1] - xs[0]) / 3;
    const [from, to] = [bands[0].ticks[0][1], bands[2].ticks[1][1]];
    expect(xs[0] - from).toBeCloseTo(step);
    expect(to - xs[1]).toBeCloseTo(2 * step);
    expect(bands[0].right).toBeLessThan(xs[0]);
    expect(bands[1].left).toBeGreaterThan(xs[0]);
    expect(bands[1].right).toBeLessThan(xs[1]);
  });

  test("draws a curve faintly where there is no attention below it", () => {
    const { all } = drawn(profileView);
    const [solid, bridge] = all(".nv-curve .nv-line").map((path) => path.getAttribute("d") ?? "");
    expect(solid.match(/M/g)).toHaveLength(2);
    expect(solid).not.toContain("L");
    expect(bridge.match(/[ML]/g)?.join("")).toBe("ML");
    expect(all(".nv-curve .nv-bridge").length).toBe(all(".nv-curve").length);
  });

  test("leaves out a number that would touch that of the chosen layer", () => {
    const { store, pane } = opened("hybrid");
    const others = Array.from({ length: 60 }, (_, at) => at).filter((at) => ![1, 4].includes(at));
    const stream: Stream = {
      ...store.stream,
      other_layers: Object.fromEntries(others.map((at) => [at, "Conv"])),
    };
    const view = profileView(actions, scope.signal);
    document.body.append(view.node);
    view.draw({ ...pane(), stream, state: { ...pane().state, layer: 4 } }, PALETTES.light);
    const numbers = [...view.node.querySelectorAll(".nv-curves .nv-axes text")].map(
      (text) => text.textContent,
    );
    expect(numbers).toContain("4");
    expect(numbers).not.toContain("0");
    expect(numbers).toContain("50");
  });
});

describe("the alignment of two towers", () => {
  const pane = (changes: Partial<ViewState> = {}) =>
    opened("towers", { view: "alignment", ...changes }).pane();

  function described(of: ReturnType<typeof pane>) {
    const view = alignmentView(actions, scope.signal);
    document.body.append(view.node);
    view.draw(of, PALETTES.light);
    return view.describe(null).sentence;
  }

  test("is that of the stream of cross-attention", () => {
    expect(pane().stream.name).toBe("text.cross");
    expect(described(pane())).toContain("Layer 1");
    const text = { ...pane(), stream: opened("towers", { stream: "text" }).pane().stream };
    expect(described(text)).toBe(
      "The alignment needs cross-attention, but this is the text stream.",
    );
  });

  test("has gold links only in the first of several", () => {
    const one = pane();
    const gold = { sure: [[0, 0]] as [number, number][], possible: [] };
    const golden = { ...one, flow: { ...one.flow, gold } };
    expect(described(golden)).toContain("AER");
    const before = { ...one.stream, name: "audio.cross" };
    const flow = { ...golden.flow, streams: [before, ...golden.flow.streams] };
    expect(described({ ...golden, flow })).not.toContain("AER");
  });
});

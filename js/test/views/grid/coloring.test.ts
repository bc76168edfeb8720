import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createControls } from "../../../src/app/controls";
import { contrast, PALETTES } from "../../../src/draw/colors";
import { agreementByHead } from "../../../src/math/agreement";
import { Tiles } from "../../../src/state/tiles";
import {
  agreementAt,
  formatAgreement,
  missingColorNotes,
  washLines,
} from "../../../src/views/grid/agreementWords";
import {
  ColoringWorker,
  comparedMeasure,
  fullColorValue,
  strength,
  washColors,
} from "../../../src/views/grid/coloring";
import { boardFor, cornerOf, RIM, tileOf } from "../../../src/views/grid/layout";
import { sortByDisagreement, thumbsOf } from "../../../src/views/grid/thumbs";
import { gridView } from "../../../src/views/grid/view";
import {
  ariaLabelOf,
  describeThumbs,
  thumbLegend,
  thumbLines,
} from "../../../src/views/grid/words";
import type { ViewState } from "../../../src/wire/types";
import { buffer, contractPane, header, store, tiles } from "../../support/fixtures";

const PAIR = {
  view: "grid",
  measure: "weight",
  compare: "weighted-norm",
  color_by: "rank",
} as const;

let scope: AbortController;

beforeEach(() => {
  scope = new AbortController();
});

afterEach(() => {
  scope.abort();
  vi.restoreAllMocks();
  vi.useRealTimers();
  document.body.replaceChildren();
});

function colored(changes: Partial<ViewState> = {}) {
  const pane = contractPane({ ...PAIR, ...changes });
  const coloring = new ColoringWorker(scope.signal).of(pane);
  if (!coloring) throw new Error("no colors");
  const thumbs = thumbsOf(pane, [], coloring);
  if (!thumbs) throw new Error("no thumbs");
  return { pane, coloring, thumbs };
}

/** How far the measures of the contract agree in a layer, straight from the tiles. */
function told(layer: number, [first, second]: [string, string]) {
  const [stream] = contractPane().flow.streams;
  const axes = (id: string) => contractPane().flow.measures.find((m) => m.id === id)?.axes ?? [];
  const [one, other] = [first, second].map((id) => ({
    values: tiles().layer(0, stream, id, layer) as Float32Array,
    hasHead: axes(id).includes("head"),
    hasQuery: axes(id).includes("query"),
  }));
  return [...agreementByHead(one, other, { queries: 3, keys: 3 })];
}

describe("colors", () => {
  test("are what the tiles say, layer by layer and head by head", () => {
    const { coloring, thumbs } = colored();
    expect([...coloring.cells.keys()]).toEqual([0, 2]);
    expect(coloring.isWhole).toBe(true);
    const found = thumbs.thumbs.map((thumb) => agreementAt(thumbs, thumb));
    const wanted = [0, 2].flatMap((layer) => told(layer, ["weight", "weighted-norm"]));
    expect(found.map((cell) => cell?.rank)).toEqual(wanted.map(({ rank }) => rank));
    expect(found.map((cell) => cell?.query)).toEqual(wanted.map(({ worst }) => worst.rank));
    expect(found.map((cell) => cell?.head)).toEqual([0, 1, 0, 1]);
  });

  test("are not asked for without a color, and not there without a measure to compare with", () => {
    for (const changes of [{ color_by: "none" }, { compare: null }, { compare: 2 }] as const) {
      expect(new ColoringWorker(scope.signal).of(contractPane({ ...PAIR, ...changes }))).toBeNull();
    }
    const { measures } = contractPane().stream;
    expect(comparedMeasure({ ...contractPane().state, compare: "other" }, measures)).toBeNull();
  });

  test("of a measure without heads are means, and lead to the head that agrees least", () => {
    const { coloring, thumbs } = colored({ measure: "attention", compare: "weight" });
    expect(coloring.isMean).toBe(true);
    thumbs.thumbs.forEach((thumb) => {
      const heads = told(thumb.layer, ["attention", "weight"]).map(({ rank }) => rank ?? 9);
      const cell = agreementAt(thumbs, thumb);
      expect(cell?.rank).toBeCloseTo((heads[0] + heads[1]) / 2);
      expect(cell?.head).toBe(heads[0] <= heads[1] ? 0 : 1);
    });
    expect(washLines(coloring).join()).toContain("with α as the measure, each head has its own");
  });

  test("are full where the two agree least, and pale where they agree", () => {
    const { coloring, thumbs } = colored({ compare: "attention", color_by: "distance" });
    const values = thumbs.thumbs.map((thumb) => agreementAt(thumbs, thumb)?.distance ?? 0);
    expect(strength(coloring, Math.max(...values))).toBe(1);
    expect(strength(coloring, 0)).toBe(0);
    expect(fullColorValue(coloring)).toBeCloseTo(Math.max(...values));
  });

  test("stay pale where all agree", () => {
    const { coloring } = colored({ measure: "weight", compare: "weight" });
    expect(coloring.full).toBe(0.1);
    expect(fullColorValue(coloring)).toBeCloseTo(0.9);
    expect(strength(coloring, 1)).toBe(0);
  });

  test.each(["light", "dark"] as const)("leave the number legible: %s", (shade) => {
    const color = washColors(PALETTES[shade]);
    for (const part of [0, 0.25, 0.5, 0.75, 1]) {
      expect(contrast(color(part), PALETTES[shade].ink)).toBeGreaterThan(4.5);
    }
    expect(contrast(color(0), color(1))).toBeGreaterThan(1.6);
  });

  test("wait for numbers that are on their way, a layer at a time", () => {
    const ask = vi.fn();
    const empty = new Tiles([], new DataView(new ArrayBuffer(0)), ask);
    const pane = { ...contractPane(PAIR), tiles: empty };
    const found = new ColoringWorker(scope.signal).of(pane);
    expect(found?.isWhole).toBe(false);
    expect(found?.cells.size).toBe(0);
    expect(ask.mock.calls.flat().every((name) => name.includes("/0/"))).toBe(true);
    empty.close();
  });

  test("are worked out a few at a time, and news bring the rest, but not to a view that is gone", () => {
    vi.useFakeTimers();
    let clock = 0;
    vi.spyOn(performance, "now").mockImplementation(() => (clock += 30));
    const pane = contractPane(PAIR);
    const colors = new ColoringWorker(scope.signal);
    const sizes = [0, 1, 2].map((round) => {
      expect(pane.tiles.changed.value).toBe(round);
      const found = colors.of(pane);
      vi.runAllTimers();
      return found?.cells.size;
    });
    expect(sizes).toEqual([0, 1, 2]); // two heads at a time
    colors.of({ ...pane, state: { ...pane.state, compare: "attention" } });
    scope.abort();
    vi.runAllTimers();
    expect(pane.tiles.changed.value).toBe(2);
  });

  test("are tried again after numbers were refused", () => {
    const pane = contractPane(PAIR);
    const layer = vi.spyOn(pane.tiles, "layer").mockImplementationOnce(() => {
      throw new Error("refused");
    });
    const colors = new ColoringWorker(scope.signal);
    expect(() => colors.of(pane)).toThrow("refused");
    layer.mockRestore();
    expect(colors.of(pane)?.isWhole).toBe(true);
  });

  test("are remembered, whichever of the three is shown, but not for other measures", () => {
    const pane = contractPane(PAIR);
    const layer = vi.spyOn(pane.tiles, "layer");
    const colors = new ColoringWorker(scope.signal);
    colors.of(pane);
    const before = layer.mock.calls.length;
    colors.of({ ...pane, state: { ...pane.state, color_by: "distance" } });
    expect(layer.mock.calls.length).toBe(before);
    colors.of({ ...pane, state: { ...pane.state, compare: "attention" } });
    expect(layer.mock.calls.length).toBeGreaterThan(before);
  });

  test("are left to Python where a layer is too large, and the legend says so", () => {
    const pane = contractPane(PAIR);
    vi.spyOn(pane.tiles, "isLarge").mockReturnValue(true);
    expect(new ColoringWorker(scope.signal).of(pane)).toBeNull();
    expect(missingColorNotes(pane).join()).toContain("normviz.agreement(flow, …)");
  });
});

describe("a colored grid in words", () => {
  test("names where the two agree least and most, and at which token", () => {
    const { thumbs } = colored();
    const [worst] = sortByDisagreement(thumbs.thumbs);
    const cell = agreementAt(thumbs, worst);
    const { sentence, columns, rows } = describeThumbs(thumbs, null, null);
    const piece = thumbs.stream.queries.pieces[cell?.query ?? 0];
    expect(sentence).toContain(
      `α and ‖αf(x)‖ agree least in layer ${worst.layer}, head ${worst.head} ` +
        `(rank correlation ${formatAgreement(cell?.rank)}, most different at ‘${piece}’), most in layer`,
    );
    expect(columns).toEqual(["rank", "layer and head", "rank corr.", "at"]);
    expect(rows).toHaveLength(4);
    expect(rows[0].slice(2)).toEqual([formatAgreement(cell?.rank), `‘${piece}’`]);
  });

  test("says of each picture how far they agree in it", () => {
    const { thumbs } = colored({ color_by: "overlap" });
    const [thumb] = thumbs.thumbs;
    const value = formatAgreement(agreementAt(thumbs, thumb)?.overlap);
    expect(ariaLabelOf(thumbs, thumb)).toContain(
      `α, top-3 overlap with ‖αf(x)‖ ${value}, most different at ‘le’`,
    );
    expect(describeThumbs(thumbs, null, thumb).sentence).toContain(`with ‖αf(x)‖ ${value}`);
  });

  test("says in the legend what the colors stand for, and no longer what the number was", () => {
    const { thumbs, pane, coloring } = colored();
    const [range] = washLines(coloring);
    expect(range).toContain(
      "rank correlation of α and ‖αf(x)‖, mean over queries; from 1 (the same",
    );
    expect(range).toContain(`to ${formatAgreement(fullColorValue(coloring))} (full color)`);
    expect(thumbLines(thumbs, pane.state, null).join()).not.toContain("divides otherwise");
    const shown = thumbLegend(thumbs, pane.state, null, PALETTES.light);
    const texts = shown.map((phrase) => (typeof phrase === "string" ? phrase : phrase.textContent));
    expect(texts).toContain(range);
  });

  test("has a dash where there is nothing to compare, and no minus before nothing", () => {
    expect([
      formatAgreement(null),
      formatAgreement(undefined),
      formatAgreement(-0.001),
      formatAgreement(-0.5),
    ]).toEqual(["–", "–", "0.00", "−0.50"]);
    const { thumbs } = colored();
    const empty = { rank: null, overlap: null, distance: null, head: 0, query: null };
    thumbs.coloring?.cells.set(0, [empty, empty]).set(2, [empty, empty]);
    expect(ariaLabelOf(thumbs, thumbs.thumbs[0])).toContain("nothing to compare with ‖αf(x)‖");
    expect(describeThumbs(thumbs, null, null).sentence).toContain("there is nothing to compare");
    thumbs.coloring?.cells.clear();
    expect(ariaLabelOf(thumbs, thumbs.thumbs[0])).toContain("being computed");
  });

  test("says what to do where there is nothing to compare with", () => {
    const alone = contractPane({ ...PAIR, compare: null });
    expect(missingColorNotes(alone)).toEqual([
      "to color by rank correlation, choose another measure to compare with",
    ]);
    expect(missingColorNotes(contractPane({ view: "grid" }))).toEqual([]);
  });
});

describe("tiles", () => {
  test.each([false, true])("do not touch, and stay on the board; sorted: %s", (isSorted) => {
    const { thumbs } = colored();
    const board = boardFor(thumbs, { width: 600, ratio: 1, isSorted });
    const placed = thumbs.thumbs.map((_, at) => tileOf(board, at));
    for (const [at, tile] of placed.entries()) {
      expect(tile.x).toBeGreaterThanOrEqual(0);
      expect(tile.y).toBeGreaterThanOrEqual(0);
      expect(tile.x + tile.width).toBeLessThanOrEqual(board.width);
      const { x, y } = cornerOf(board, at);
      expect([x - tile.x, y - tile.y]).toEqual([RIM, RIM]);
      expect(tile.width).toBeGreaterThanOrEqual(board.size + 2 * RIM);
      expect(tile.height).toBeGreaterThanOrEqual(board.tall + 2 * RIM + 10);
      for (const other of placed.slice(at + 1)) {
        const beside = tile.x + tile.width < other.x || other.x + other.width < tile.x;
        const above = tile.y + tile.height < other.y || other.y + other.height < tile.y;
        expect(beside || above).toBe(true);
      }
    }
  });
});

describe("the colored grid", () => {
  function shown(changes: Partial<ViewState> = {}) {
    const actions = { hover: vi.fn(), pin: vi.fn(), choose: vi.fn(), refresh: vi.fn() };
    const view = gridView(actions, scope.signal);
    document.body.append(view.node);
    const draw = (more: Partial<ViewState> = {}) =>
      view.draw(contractPane({ ...PAIR, ...changes, ...more }), PALETTES.light);
    const isHere = draw();
    const pictures = () => [...view.node.querySelectorAll<HTMLElement>(".nv-thumb")];
    const under = () => pictures().map((cell) => cell.querySelector(".nv-under")?.textContent);
    return { view, actions, draw, isHere, pictures, under };
  }

  test("keeps the model's order, with the number below each picture", () => {
    const { under, isHere, view } = shown();
    const { thumbs } = colored();
    expect(isHere).toBe(true);
    expect(under()).toEqual(
      thumbs.thumbs.map((thumb) => formatAgreement(agreementAt(thumbs, thumb)?.rank)),
    );
    expect(view.node.querySelector("[role=grid]")?.getAttribute("aria-label")).toContain(
      "Enter opens the token where the two differ most",
    );
  });

  test("can be sorted by what it is colored by, and stays so for another color", () => {
    const { view, under, draw } = shown();
    const select = view.node.querySelector("select") as HTMLSelectElement;
    select.value = "weighted-norm";
    select.dispatchEvent(new Event("change"));
    const ranks = () => under().map((text) => Number(text?.split(" ")[1].replace("−", "-")));
    expect(ranks()).toEqual([...ranks()].sort((a, b) => a - b));
    draw({ color_by: "distance" });
    expect(ranks()).toEqual([...ranks()].sort((a, b) => b - a));
    draw({ color_by: "none" });
    expect(select.value).toBe("weighted-norm");
  });

  test("is ordered by no other measure than the one it is colored by", () => {
    const { view } = shown({ compare: "attention" });
    const select = view.node.querySelector("select") as HTMLSelectElement;
    expect([...select.options].map(({ value }) => value)).toEqual(["", "attention"]);
  });

  test("is not all there while layers are on their way", () => {
    const view = gridView({ hover: vi.fn(), pin: vi.fn(), choose: vi.fn() }, scope.signal);
    const small = header.tiles.filter(({ name }) => name.endsWith("overview"));
    const some = new Tiles(small, buffer(), vi.fn());
    expect(view.draw({ ...contractPane(PAIR), tiles: some }, PALETTES.light)).toBe(false);
    some.close();
  });

  test("opens the token where the two differ most", () => {
    const { pictures, actions } = shown();
    const { thumbs } = colored();
    pictures()[3].click();
    const token = agreementAt(thumbs, thumbs.thumbs[3])?.query;
    const wanted = { view: "flow", layer: 2, heads: [3], role: "query", token };
    expect(actions.choose).toHaveBeenCalledWith(wanted);
    pictures()[3].focus();
    const key = new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true });
    pictures()[3].dispatchEvent(key);
    expect(actions.choose).toHaveBeenCalledTimes(2);
    expect(actions.choose).toHaveBeenLastCalledWith(wanted);
  });

  test("opens the head that agrees least where a picture shows all of them", () => {
    const { pictures, actions } = shown({ measure: "attention", compare: "weight" });
    const { thumbs } = colored({ measure: "attention", compare: "weight" });
    pictures()[1].click();
    const { head, query } = agreementAt(thumbs, thumbs.thumbs[1]) ?? { head: 0, query: null };
    expect(actions.choose).toHaveBeenCalledWith({
      view: "flow",
      layer: 2,
      heads: [thumbs.stream.heads[head ?? 0]],
      role: "query",
      token: query,
    });
  });

  test("shows a special token again when it leads to one that is hidden", () => {
    const actions = { hover: vi.fn(), pin: vi.fn(), choose: vi.fn() };
    const view = gridView(actions, scope.signal);
    document.body.append(view.node);
    const pane = contractPane({ ...PAIR, special: "hidden" });
    const queries = { ...pane.stream.queries, special: [true, true, true] };
    view.draw({ ...pane, stream: { ...pane.stream, queries } }, PALETTES.light);
    view.node.querySelector<HTMLElement>(".nv-thumb")?.click();
    expect(actions.choose.mock.calls[0][0]).toMatchObject({ special: "dimmed" });
  });

  test("says in its legend what is missing", () => {
    const { view } = shown({ compare: null });
    expect(view.legend().join()).toContain("choose another measure to compare with");
  });
});

describe("the control", () => {
  function control(changes: Partial<ViewState>) {
    const held = store({ ...PAIR, ...changes });
    const panel = createControls(held, tiles(), scope.signal);
    panel.show(PALETTES.light);
    const select = panel.node.querySelector<HTMLSelectElement>("[aria-label='color by']");
    if (!select) throw new Error("no control");
    return { held, select, hint: panel.node.querySelector<HTMLElement>(".nv-hint") };
  }

  test("chooses the colors, and says what to do where nothing is compared", () => {
    const { held, select, hint } = control({ compare: null });
    expect(select.value).toBe("rank");
    expect(hint?.hidden).toBe(false);
    expect(hint?.textContent).toContain("choose a measure to compare with");
    select.value = "distance";
    select.dispatchEvent(new Event("change"));
    expect(held.state.value.color_by).toBe("distance");
    expect(control({}).hint?.hidden).toBe(true);
  });

  test("is there in the grid alone", () => {
    const isHidden = (view: ViewState["view"]) =>
      control({ view }).select.closest<HTMLElement>("label")?.hidden;
    expect([isHidden("grid"), isHidden("flow")]).toEqual([false, true]);
  });
});

import { describe, expect, test, vi } from "vitest";
import { contrast, PALETTES } from "../../../src/draw/colors";
import { chartCurves, chartLines, describeChart } from "../../../src/views/profile/charts";
import { profileView } from "../../../src/views/profile/view";
import type { Chart, ViewState } from "../../../src/wire/types";
import contract from "../../support/contract.json";
import { smallPane } from "../../support/overviews";
import { scoped } from "../../support/scope";

const [chart] = contract.charts as Chart[];

describe("a chart as curves", () => {
  const { curves, layers, title } = chartCurves(chart, PALETTES.light);

  test("has all that Python wrote", () => {
    expect(layers).toEqual([0, 1, 2, 3]);
    expect(title).toBe("token identifiability: tokens found");
    expect(curves.map(({ name }) => name)).toEqual(chart.series.map(({ name }) => name));
    expect(curves.map(({ shares }) => shares)).toEqual(chart.series.map(({ values }) => values));
    expect(curves[0].band?.low).toEqual(chart.series[0].low);
    expect(curves[4].band).toBeUndefined();
  });

  test("has one hue and one mark for each group, and dashes for the other of two", () => {
    const [one, two, three, four, chance] = curves;
    expect(one.kind.color).toBe(two.kind.color);
    expect(one.kind.shape).toBe(two.kind.shape);
    expect(three.kind.color).toBe(four.kind.color);
    expect(three.kind.color).not.toBe(one.kind.color);
    expect(three.kind.shape).not.toBe(one.kind.shape);
    expect(curves.map(({ isOther }) => isOther)).toEqual([false, true, false, true, false]);
    expect(chance.isFaint).toBe(true);
    expect([one.kind.color, three.kind.color]).not.toContain(chance.kind.color);
  });

  test("gives a curve without a group a hue of its own", () => {
    const alone = { ...chart, series: chart.series.map((one) => ({ ...one, group: "" })) };
    const colors = chartCurves(alone, PALETTES.light).curves.map(({ kind }) => kind.color);
    expect(new Set(colors).size).toBe(5);
  });

  test("can be seen on both papers", () => {
    for (const palette of Object.values(PALETTES)) {
      for (const { kind } of chartCurves(chart, palette).curves) {
        expect(contrast(kind.color, palette.paper)).toBeGreaterThan(4);
      }
    }
  });
});

describe("a chart in words", () => {
  test("says the values of a layer, and between what they may lie", () => {
    const { notes, also } = describeChart(chart, 1);
    expect(notes).toEqual([
      "In layer 1, token identifiability: naive cosine 75%, naive L2 65%, linear cosine 55%, linear L2 45%, chance 5.0%.",
    ]);
    expect(also[0].caption).toBe("Layer 1: token identifiability");
    expect(also[0].columns).toEqual(["", "curve", "tokens found", "between"]);
    expect(also[0].rows[0]).toEqual(["1", "naive cosine", "75%", "71–79%"]);
    expect(also[0].rows[4]).toEqual(["5", "chance", "5.0%", ""]);
  });

  test("says nothing of a layer it does not have", () => {
    expect(describeChart(chart, 7)).toEqual({ notes: [], also: [] });
  });

  test("has a legend with its finding, where there is one", () => {
    expect(chartLines(chart)).toEqual([
      "token identifiability: how often a token is found",
      "The angle finds more.",
    ]);
    expect(chartLines({ ...chart, finding: "" })).toHaveLength(1);
  });
});

describe("the panel of a chart in the profile", () => {
  const scope = scoped();

  function shown(charts: Chart[] | null, changes: Partial<ViewState> = {}) {
    const actions = { hover: vi.fn(), pin: vi.fn(), choose: vi.fn(), refresh: vi.fn() };
    const view = profileView(actions, scope.signal);
    document.body.append(view.node);
    const draw = (some: Chart[] | null) => {
      const pane = smallPane(changes);
      const flow = some ? { ...pane.flow, charts: some } : pane.flow;
      view.draw({ ...pane, flow }, PALETTES.light);
      return [...view.node.querySelectorAll<HTMLElement>(".nv-further")];
    };
    return { view, actions, draw, panels: draw(charts) };
  }

  test("is there once for each chart, and goes with it", () => {
    const { draw, panels } = shown([chart, { ...chart, title: "another" }]);
    expect(panels.map((panel) => panel.querySelector(".nv-axes text")?.textContent)).toEqual([
      "token identifiability: tokens found",
      "another: tokens found",
    ]);
    expect(draw([chart])).toHaveLength(1);
    expect(draw(null)).toHaveLength(0);
    expect(draw([chart])).toHaveLength(1);
  });

  test("has names, bands, dashes, and a gray line without marks", () => {
    const [panel] = shown([chart]).panels;
    const all = (which: string) => [...panel.querySelectorAll(which)];
    expect(all(".nv-name text").map((text) => text.textContent)).toEqual(
      chart.series.map(({ name }) => name),
    );
    expect(all(".nv-band")).toHaveLength(4);
    expect(all(".nv-line[stroke-dasharray]")).toHaveLength(2);
    expect(all(".nv-curve.nv-faint .nv-mark")).toHaveLength(0);
    expect(all(".nv-curve .nv-mark")).toHaveLength(16);
    expect(all(".nv-curve")[0].classList.contains("nv-faint")).toBe(true);
    expect(all("svg")[0].getAttribute("aria-label")).toContain("token identifiability by layer");
  });

  test("has a line at the chosen layer, if it has that layer", () => {
    const here = (layer: number) =>
      shown([chart], { layer }).panels[0].querySelectorAll(".nv-here");
    expect(here(1)).toHaveLength(1);
    expect(here(4)).toHaveLength(0);
  });

  test("answers the pointer in the layers that the flow holds, and in no others", () => {
    const { view, actions, panels } = shown([chart]);
    const picture = panels[0].querySelector("svg") as SVGElement;
    const numbers = [...panels[0].querySelectorAll<SVGElement>(".nv-axes text")];
    const at = (layer: number) =>
      Number(numbers.find(({ textContent }) => textContent === `${layer}`)?.getAttribute("x"));
    const point = (kind: string, layer: number) =>
      picture.dispatchEvent(new MouseEvent(kind, { clientX: at(layer), bubbles: true }));
    point("pointermove", 1);
    expect(actions.refresh).toHaveBeenCalledOnce();
    view.highlight(null);
    expect(panels[0].querySelector(".nv-values")?.textContent).toContain("75%");
    point("click", 1);
    expect(actions.choose).toHaveBeenCalledWith({ layer: 1 });
    point("pointermove", 2);
    view.highlight(null);
    expect(panels[0].querySelector(".nv-values")).toBeNull();
    point("click", 2);
    expect(actions.choose).toHaveBeenCalledOnce();
  });

  test("is told in the legend and in the readout", () => {
    const { view } = shown([chart]);
    expect(view.legend()).toContain("The angle finds more.");
    const { sentence, notes, also } = view.describe(null);
    expect(sentence).toMatch(/^Layer 1:/);
    expect(notes?.at(-1)).toContain("naive cosine 75%");
    expect(also?.at(-1)?.caption).toBe("Layer 1: token identifiability");
  });
});

import { afterEach, describe, expect, test, vi } from "vitest";
import { mountReport } from "../../src/app/report";
import { kindsOf } from "../../src/data/tokenKinds";
import { PALETTES } from "../../src/draw/colors";
import { chartCurves, chartTable, describeChart } from "../../src/views/profile/charts";
import { curveChart } from "../../src/views/profile/layout";
import { type Chart, FORMAT, type Report } from "../../src/wire/types";
import contract from "../support/contract.json";
import { scoped } from "../support/scope";

const [study] = contract.charts as Chart[];

function byKind(title: string, unit: string, scale: number): Chart {
  const rows: [string, string, number[]][] = [
    ["[CLS]", "[CLS]", [0.2, 0.4]],
    ["other", "words", [0.8, 0.6]],
  ];
  return {
    ...{ title, unit, kinds: true, layers: [0, 1], label: "mean of 9 texts" },
    about: `all of ${title}`,
    finding: `${title} is seen.`,
    series: rows.map(([group, name, values]) => {
      const own = values.map((value) => value * scale);
      return { name, group, values: own, dashed: false, faint: false, low: null, high: null };
    }),
  };
}

const [shares, lengths] = [byKind("share of α", "", 1), byKind("‖f(x)‖", "‖f(x)‖", 20)];
const whole: Report = {
  ...{ format: FORMAT, title: "a model", about: "9 texts, 90 tokens" },
  notes: ["1 text could not be measured."],
  charts: [shares, lengths],
};

describe("a chart of kinds of token", () => {
  test("has the hues and marks that kinds have in every view", () => {
    const { curves } = chartCurves(shares, PALETTES.dark);
    const kinds = kindsOf(["[CLS]", "other"], PALETTES.dark);
    expect(curves.map(({ kind }) => kind.color)).toEqual(kinds.map(({ color }) => color));
    expect(curves.map(({ kind }) => kind.shape)).toEqual(kinds.map(({ shape }) => shape));
    expect(curves.map(({ name }) => name)).toEqual(["[CLS]", "words"]);
  });
});

describe("a chart with a unit", () => {
  test("has an axis from 0 to a little above its highest curve or band", () => {
    const high = [17, 30];
    const series = lengths.series.map((one) => ({ ...one, low: [0, 0], high }));
    const { y, ticks, frame } = curveChart(
      chartCurves({ ...lengths, series }, PALETTES.light),
      500,
      280,
    );
    expect(y(0)).toBe(frame.bottom);
    expect(y(30)).toBeGreaterThan(frame.top);
    expect(y(32)).toBeLessThan(frame.top);
    expect(ticks).toEqual([0, 10, 20, 30]);
  });

  test("has a room of its own even where all is nothing", () => {
    const nothing = lengths.series.map((one) => ({ ...one, values: [0, 0] }));
    const { y, frame } = curveChart(
      chartCurves({ ...lengths, series: nothing }, PALETTES.light),
      500,
      280,
    );
    expect(y(0)).toBe(frame.bottom);
  });

  test("tells numbers, where others tell shares on one axis", () => {
    expect(describeChart(lengths, 1).notes).toEqual([
      "In layer 1, ‖f(x)‖: [CLS] 8.00, words 12.0.",
    ]);
    expect(describeChart(shares, 1).notes).toEqual([
      "In layer 1, share of α: [CLS] 40%, words 60%.",
    ]);
    const { ticks } = curveChart(chartCurves(shares, PALETTES.light), 500, 280);
    expect(ticks).toEqual([0, 0.25, 0.5, 0.75, 1]);
  });
});

test("the table of a chart has a row for every layer, and their mean", () => {
  expect(chartTable(shares)).toMatchObject({
    caption: "share of α: mean of 9 texts",
    columns: ["layer", "[CLS]", "words"],
    rows: [
      ["0", "20%", "80%"],
      ["1", "40%", "60%"],
      ["mean", "30%", "70%"],
    ],
  });
  expect(chartTable(study).rows).toHaveLength(5);
});

describe("a report", () => {
  const scope = scoped();
  afterEach(() => {
    vi.restoreAllMocks();
  });

  function shown(about: Report = whole) {
    const root = document.createElement("div");
    document.body.append(root);
    mountReport(root, about, scope.signal);
    const all = (which: string) => [...root.querySelectorAll(which)].map((one) => one.textContent);
    const press = (key: string) => root.dispatchEvent(new KeyboardEvent("keydown", { key }));
    const select = root.querySelector("select") as HTMLSelectElement;
    return { root, all, press, select };
  }

  test("says over what it is, what failed and what is to be seen", () => {
    const { all } = shown();
    expect(all(".nv-title")).toEqual(["a model9 texts, 90 tokens"]);
    expect(all(".nv-note")).toEqual(["1 text could not be measured."]);
    expect(all(".nv-finding")).toEqual(["share of α is seen.", "‖f(x)‖ is seen."]);
  });

  test("has a panel and a table for each chart, in their order", () => {
    const { all } = shown();
    expect(all(".nv-panel figcaption")).toEqual(["all of share of α", "all of ‖f(x)‖"]);
    expect(all(".nv-panel .nv-axes > text:first-child")).toEqual(all("caption"));
  });

  test("brings out a layer in all panels, in words and in tables, until it is let go", () => {
    const { all, press, select } = shown();
    press("]");
    press("]");
    expect(select.value).toBe("1");
    expect(all(".nv-values")).toEqual(["40%60%", "8.0012.0"]);
    expect(all(".nv-sentence, .nv-aside")).toEqual([
      "In layer 1, share of α: [CLS] 40%, words 60%.",
      "In layer 1, ‖f(x)‖: [CLS] 8.00, words 12.0.",
    ]);
    expect(all("caption")).toEqual(["Layer 1: share of α", "Layer 1: ‖f(x)‖"]);
    press("]");
    expect(select.value).toBe("1");
    press("[");
    expect(select.value).toBe("0");
    press("Escape");
    expect(select.value).toBe("");
    expect(all(".nv-values")).toEqual([]);
    expect(all("caption")).toHaveLength(2);
  });

  test("takes a layer from the list, and all again", () => {
    const { all, select } = shown();
    select.value = "0";
    select.dispatchEvent(new Event("change"));
    expect(all(".nv-values")).toEqual(["20%80%", "4.0016.0"]);
    select.value = "";
    select.dispatchEvent(new Event("change"));
    expect(all(".nv-values")).toEqual([]);
  });

  test("is light or dark as its address says, and as its host is where that says nothing", () => {
    const { root } = shown();
    const before = root.dataset.shade;
    for (const [hash, shade] of [
      ["#theme=dark", "dark"],
      ["#theme=light", "light"],
      ["#theme=mauve", before],
    ]) {
      location.hash = hash ?? "";
      window.dispatchEvent(new Event("hashchange"));
      expect(root.dataset.shade).toBe(shade);
    }
    location.hash = "";
  });

  test("leaves nothing behind", () => {
    const { root } = shown();
    scope.abort();
    expect(root.childElementCount).toBe(0);
  });

  test("of another layout is refused with a sentence", () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    const { all } = shown({ ...whole, format: 99 });
    expect(all(".nv-notice")[0]).toContain("The data has format 99");
    expect(all("svg")).toEqual([]);
  });
});

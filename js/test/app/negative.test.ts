import { describe, expect, test } from "vitest";
import { createControls } from "../../src/app/controls";
import { peakOf, rankingOf, strongestHead } from "../../src/data/layer";
import { type Ribbon, ribbonsOf, sizeAt } from "../../src/data/ribbons";
import { stackOf } from "../../src/data/stack";
import { contrast, headColor, PALETTES } from "../../src/draw/colors";
import { heatGradient, heatOf } from "../../src/draw/heat";
import { sumOf } from "../../src/math/arrays";
import { flowView } from "../../src/views/flow/view";
import { pixelsOf } from "../../src/views/grid/layout";
import { thumbsOf } from "../../src/views/grid/thumbs";
import { describeThumbs, thumbLegend, thumbLines } from "../../src/views/grid/words";
import { cellLegend, cellLine, fullColor, noColor } from "../../src/views/matrix/words";
import { profileOf } from "../../src/views/profile/data";
import { cellsOf, depths, extremes, poolCells } from "../../src/views/shared/cells";
import { makeupOf } from "../../src/views/stack/makeup";
import { stackLegend } from "../../src/views/stack/words";
import { describe as say } from "../../src/words/describe";
import { createLegend, drawnPhrase, ribbonLegend, ribbonLines } from "../../src/words/legend";
import { signedPane, signedPicture, signedStore, signedTiles } from "../support/signed";

const isWord = (row: number) => row > 0 && row < 5;

const ALL = { share: 1, limit: 1e6 };

const PLAIN = { signed: false, of_weights: true };
const SIGNED = { signed: true, of_weights: true };

describe("a picture of numbers below zero and above", () => {
  const picture = signedPicture();

  test("has both", () => {
    expect(picture.measure.signed).toBe(true);
    expect(Math.min(...picture.values)).toBeLessThan(-0.01);
    expect(Math.max(...picture.values)).toBeGreaterThan(0.1);
  });

  test("adds up sizes, and nothing cancels", () => {
    const sizes = picture.values.map(Math.abs);
    expect(sumOf(picture.received)).toBeCloseTo(sumOf(sizes), 4);
    expect(sumOf(picture.given)).toBeCloseTo(sumOf(sizes), 4);
    expect(picture.present).toBe(picture.sizes.filter((size) => size > 0).length);
  });

  test("has a strand for each sign of the mean of all heads", () => {
    const size = picture.queries * picture.keys;
    const each = [0, 1].map((head) => signedPicture({ heads: [head] }));
    expect(picture.strands).toEqual(["above", "below"]);
    expect(picture.sizes).toHaveLength(2 * size);
    for (let at = 0; at < size; at++) {
      const mean = (each[0].values[at] + each[1].values[at]) / 2;
      expect(picture.values[at]).toBeCloseTo(mean, 6);
      expect(picture.sizes[at]).toBeCloseTo(Math.max(0, mean), 6);
      expect(picture.sizes[at + size]).toBeCloseTo(Math.max(0, -mean), 6);
    }
  });

  test("has its peak where a number is furthest from zero", () => {
    const one = signedPicture({ heads: [0] });
    expect(peakOf(one).value).toBe(Math.min(...one.values));
    expect(Math.abs(peakOf(one).value)).toBe(Math.max(...one.sizes));
    const other = signedPicture({ layer: 1, heads: [0] });
    expect(peakOf(other).value).toBe(Math.max(...other.values));
  });

  test("finds the head in which most goes on, signs aside", () => {
    const sums = [0, 1].map((head) => sumOf(signedPicture({ heads: [head] }).values.map(Math.abs)));
    expect(strongestHead(signedPane(), null)).toBe(sums[0] >= sums[1] ? 0 : 1);
  });

  test("hides a share of sizes with the special tokens", () => {
    const shown = signedPicture({ special: "hidden" });
    const [all, kept] = [picture, shown].map(({ sizes, queries, keys }) =>
      // Of the words' rows only; the special tokens stand at both ends.
      sumOf(sizes.filter((_, at) => queries < 6 || isWord(Math.floor(at / keys) % queries))),
    );
    expect(shown.hiddenShare).toBeCloseTo(1 - kept / all, 4);
  });

  test("ranks tokens by size", () => {
    const { values } = rankingOf(picture, { role: "query", token: 2 });
    for (const value of Array.from(values)) expect(value).toBeGreaterThanOrEqual(0);
  });
});

describe("its ribbons", () => {
  const picture = signedPicture({ normalize: "layer" });
  const sizeOf = ({ plane, query, key }: Ribbon) => sizeAt(picture, plane, query, key);

  test("are all drawn, as wide as their size, one for each role of zero", () => {
    const { ribbons, shown } = ribbonsOf(picture, 20, ALL);
    expect(ribbons).toHaveLength(picture.present);
    expect(shown).toBeCloseTo(1);
    expect(new Set(ribbons.map(({ plane }) => plane))).toEqual(new Set([0, 1]));
    for (const ribbon of ribbons) {
      expect(ribbon.width).toBeCloseTo((sizeOf(ribbon) * 20 * 0.84) / picture.units[0]);
    }
  });

  test("are chosen strongest first on either role of zero", () => {
    const { ribbons, shown } = ribbonsOf(picture, 20, { share: 0.6, limit: 1e6 });
    const least = Math.min(...ribbons.map(sizeOf));
    expect(ribbons.some(({ plane }) => plane === 1)).toBe(true);
    expect(shown).toBeGreaterThan(0.55);
    expect(shown).toBeLessThan(0.7);
    // Bins are a sixteenth of an octave wide.
    const stronger = picture.sizes.filter((size) => size > least * 1.1);
    expect(ribbons.length).toBeGreaterThanOrEqual(stronger.length);
  });

  test("have the hue of their role", () => {
    const view = flowView({ hover() {}, pin() {}, choose() {} }, new AbortController().signal);
    view.draw(signedPane(), PALETTES.light);
    const marks = [...(view.vectors?.().values() ?? [])].flat().join();
    for (const color of PALETTES.light.signs) expect(marks).toContain(color);
    expect(marks).not.toContain(headColor(1, PALETTES.light));
  });

  test("have a legend that shows both hues and names them", () => {
    const { node, show } = createLegend();
    const drawn = ribbonsOf(picture, 20, ALL);
    show(ribbonLegend(picture, drawn, null, PALETTES.dark));
    expect(node.textContent).toContain(
      "blue: above zero, orange: below; widths and sums go by size",
    );
    expect(node.querySelectorAll(".nv-sign")).toHaveLength(2);
    expect(drawnPhrase(picture, ribbonsOf(picture, 20, { share: 0.5, limit: 9 }))).toContain(
      "of all sizes;",
    );
    const plain = signedPicture({ measure: "weight" });
    expect(ribbonLines(plain, ribbonsOf(plain, 20, ALL)).join()).not.toContain("orange");
  });
});

test("where hues stand for signs, heads and bars of shares have none", () => {
  const choices = createControls(signedStore(), signedTiles(), new AbortController().signal);
  choices.show(PALETTES.light);
  const chips = [...choices.node.querySelectorAll<HTMLElement>(".nv-heads button")].slice(2);
  const colors = new Set(chips.map((chip) => chip.style.getPropertyValue("--nv-head")));
  expect([...colors]).toEqual([PALETTES.light.soft]);
  const view = flowView({ hover() {}, pin() {}, choose() {} }, new AbortController().signal);
  view.draw(signedPane(), PALETTES.light);
  view.highlight(null);
  const bars = [...view.node.querySelectorAll<HTMLElement>(".nv-shares i")];
  expect(bars).toHaveLength(6);
  expect(new Set(bars.map(({ style }) => style.background))).toEqual(
    new Set([PALETTES.light.soft]),
  );
});

describe("the words", () => {
  test("say which of what a token takes is negative", () => {
    const told = [0, 1, 2, 3, 4, 5].map((token) =>
      say(signedPicture({ heads: [0] }), { role: "query", token }),
    );
    const sentences = told.map(({ sentence }) => sentence).join("\n");
    expect(sentences).toContain("(of all it takes, signs aside)");
    expect(sentences).toMatch(/\d% from ‘[^’]+’ \(negative\)/);
    const numbers = told.flatMap(({ rows }) => rows.map((row) => String(row[3])));
    expect(numbers.some((number) => number.startsWith("−"))).toBe(true);
    expect(told[0].caption).toContain("shares are of sizes, signs aside");
  });

  test("of all say what is furthest from zero, and shares add up to one", () => {
    const { sentence, rows } = say(signedPicture(), null);
    expect(sentence).toContain("the value furthest from zero goes to");
    const shares = rows.map((row) => Number.parseFloat(String(row[2])));
    expect(sumOf(shares)).toBeGreaterThan(97);
    expect(sumOf(shares)).toBeLessThan(103);
  });

  test("of a measure that is never negative are as they were", () => {
    const plain = signedPicture({ measure: "weight" });
    expect(say(plain, null).sentence).toContain("most is read from");
    expect(say(plain, { role: "query", token: 1 }).sentence).toContain("(of all it takes).");
  });
});

describe("the matrix", () => {
  const cells = cellsOf(signedPane({ view: "matrix", heads: [0], normalize: "layer" }));
  if (!cells) throw new Error("no cells");

  test("is as deep below zero as above", () => {
    const found = depths(cells);
    const peak = Math.max(...cells.values.map(Math.abs));
    expect(cells.full.value).toBe(peak);
    cells.values.forEach((value, at) => {
      expect(found[at]).toBeCloseTo(value / peak, 5);
    });
    expect(Math.min(...found)).toBeLessThan(0);
  });

  test("keeps of several cells the one furthest from zero, with its sign", () => {
    const values = Float32Array.from([0.2, -0.5, Number.NaN, 0.1]);
    expect([...poolCells(values, 2, { rows: 2, columns: 2 }).values]).toEqual([-0.5]);
    const blank = new Float32Array(4).fill(Number.NaN);
    expect([...poolCells(blank, 2, { rows: 2, columns: 2 }).values]).toEqual([Number.NaN]);
  });

  test("goes from minus full to full in its legend, and says a cell's sign", () => {
    expect(`−${fullColor(cells)}`).toContain(noColor(cells));
    expect(cellLegend(cells, { rows: 2, columns: 1 }).join()).toMatch(
      /blue: above zero, orange: below.*cells from −.*furthest from zero of 2 × 1/,
    );
    const at = extremes(cells)?.least ?? -1;
    const columns = cells.across.labels.length;
    expect(cellLine(cells, Math.floor(at / columns), at % columns)).toMatch(
      /: −[\d.]+, [\d.]+% of all it takes, signs aside$/,
    );
  });

  test("divides each row by its sizes", () => {
    const divided = cellsOf(signedPane({ view: "matrix", normalize: "query" }));
    if (!divided) throw new Error("no cells");
    const columns = divided.across.labels.length;
    const row = divided.values.subarray(0, columns).map(Math.abs);
    expect(divided.wholes[0]).toBeCloseTo(sumOf(row), 5);
  });
});

describe("the small pictures", () => {
  const pane = signedPane({ view: "grid" });
  const thumbs = thumbsOf(pane, []);
  if (!thumbs) throw new Error("no thumbs");

  test("peak where a number is furthest from zero", () => {
    for (const { values, peak } of thumbs.thumbs) {
      expect(peak).toBeCloseTo(Math.max(...values.map(Math.abs)), 6);
    }
    expect(thumbs.thumbs.some(({ values }) => Math.min(...values) < 0)).toBe(true);
  });

  test("have the second hue below zero", () => {
    const [thumb] = thumbs.thumbs;
    const pixels = pixelsOf(thumb, thumbs, { width: 6, height: 6 }, heatOf(SIGNED, PALETTES.light));
    const at = thumb.values.indexOf(Math.min(...thumb.values));
    const [red, , blue] = pixels.subarray(4 * at, 4 * at + 3);
    expect(red).toBeGreaterThan(blue);
    const quiet = { ...thumbs, threshold: 1.01 };
    const none = pixelsOf(thumb, quiet, { width: 6, height: 6 }, heatOf(SIGNED, PALETTES.light));
    expect([...none.subarray(4 * at, 4 * at + 3)]).toEqual([...heatOf(PLAIN, PALETTES.light)(0)]);
  });

  test("say so", () => {
    expect(thumbLines(thumbs, pane.state, null)[1]).toMatch(
      /^blue: above zero, orange: below; full color in either: /,
    );
    const [, scale] = thumbLegend(thumbs, pane.state, null, PALETTES.light);
    expect((scale as HTMLElement).querySelector("i")?.style.background).toContain("gradient");
    const low = thumbs.thumbs.find(({ values, peak }) => values.some((value) => value === -peak));
    const told = describeThumbs(thumbs, null, low ?? thumbs.thumbs[0]);
    expect(told.sentence).toContain("the furthest from zero is");
    expect(told.rows.map((row) => String(row[2])).join()).toContain("−");
  });
});

describe("all layers", () => {
  test("are divided by size, and the legend says so", () => {
    const depth = stackOf(signedPane({ view: "stack" }));
    if (!depth) throw new Error("no depth");
    for (const division of depth.divisions) {
      expect(Math.min(...division)).toBeGreaterThanOrEqual(0);
      expect(sumOf(division.subarray(0, 6))).toBeCloseTo(1, 5);
    }
    expect(stackLegend(makeupOf(depth, null, 1), null, 1)[0]).toMatch(/by size, signs aside$/);
  });

  test("have shares by kind of token that add up to one", () => {
    const profile = profileOf(signedPane({ view: "profile" }), PALETTES.light);
    expect(profile?.title).toMatch(/signs aside$/);
    expect(sumOf(profile?.curves.map(({ shares }) => shares[0]) ?? [])).toBeCloseTo(1, 4);
  });
});

describe.each(["light", "dark"] as const)("the two hues in %s", (shade) => {
  const { signs, paper, soft } = PALETTES[shade];

  test("stand out from the paper at least as well as heads do", () => {
    for (const color of [...signs, soft]) expect(contrast(color, paper)).toBeGreaterThan(3);
  });

  test("are blue and orange", () => {
    const [above, below] = signs.map((color) =>
      [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16)),
    );
    expect(above[2]).toBeGreaterThan(above[0] + 60);
    expect(below[0]).toBeGreaterThan(below[2] + 60);
  });

  test("grow alike from nothing, to both roles", () => {
    const color = heatOf(SIGNED, PALETTES[shade]);
    expect(color(0)).toEqual(heatOf(PLAIN, PALETTES[shade])(0));
    const hex = (part: number) =>
      `#${color(part)
        .map((channel) => channel.toString(16).padStart(2, "0"))
        .join("")}`;
    for (const part of [0.25, 0.5, 1]) {
      expect(contrast(hex(part), paper) / contrast(hex(-part), paper)).toBeCloseTo(1, 0);
    }
    const gradient = heatGradient(SIGNED, PALETTES[shade]);
    expect(gradient).toContain(`rgb(${color(-1).join(" ")})`);
    expect(gradient).toContain(`rgb(${color(1).join(" ")})`);
  });
});

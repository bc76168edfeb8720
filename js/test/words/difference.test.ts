import { describe, expect, test } from "vitest";
import { ribbonsOf } from "../../src/data/ribbons";
import { PALETTES } from "../../src/draw/colors";
import type { Measure } from "../../src/wire/types";
import { describe as say } from "../../src/words/describe";
import { createLegend, ribbonLegend, signsPhrase } from "../../src/words/legend";
import { picture } from "../support/fixtures";
import { measureWith } from "../support/measures";

/** By weight, the rows take 50, 30, 20 and 20, 40, 40 percent; by norm, what is 1, 1, 3 times that. */
const WEIGHTS = [
  [
    [0.5, 0.3, 0.2],
    [0.2, 0.4, 0.4],
  ],
];
const PAIR = { measure: "weight", compare: "weighted-norm", difference: true };
const shown = picture(WEIGHTS, PAIR, [[1, 1, 3]]);

describe("a difference in words", () => {
  test("says which tokens have more and which less, of what a token takes on average", () => {
    const { sentence, caption, columns, rows } = say(shown, null);
    expect(sentence).toBe(
      "Layer 5, head 0, ‖αf(x)‖ − α: ‘k2’ +24.8, ‘k1’ −13.2, ‘k0’ −11.6 (of what a token takes).",
    );
    expect(caption).toContain("share by ‖αf(x)‖ minus share by α");
    expect(caption).toContain("in percentage points");
    expect(columns).toEqual(["#", "read from", "points"]);
    expect(rows).toEqual([
      ["2", "k2", "+24.8"],
      ["1", "k1", "−13.2"],
      ["0", "k0", "−11.6"],
    ]);
  });

  test("says what differs for a token that takes, and for one that gives", () => {
    expect(say(shown, { role: "query", token: 0 }).sentence).toContain(
      "‘k2’ +22.9, ‘k0’ −14.3, ‘k1’ −8.57 (of what ‘q0’ takes).",
    );
    const { sentence, columns } = say(shown, { role: "key", token: 2 });
    expect(sentence).toContain("‘q1’ +26.7, ‘q0’ +22.9 (of what ‘k2’ gives).");
    expect(columns).toEqual(["#", "received by", "points"]);
  });

  test("says so where there is none", () => {
    const same = picture(WEIGHTS, PAIR, [[1, 1, 1]]);
    const { sentence, rows } = say(same, null);
    expect(sentence).toContain("no difference");
    expect(rows).toEqual([]);
  });

  test("names the heads of which it is", () => {
    const two = [...WEIGHTS, ...WEIGHTS, ...WEIGHTS];
    const norms = [
      [1, 1, 3],
      [1, 1, 3],
      [1, 1, 3],
    ];
    const label = (heads: number[] | null) =>
      say(picture(two, { ...PAIR, heads }, norms), null).sentence.split(", ‖")[0];
    expect(label(null)).toBe("Layer 5, mean of 3 heads");
    expect(label([1])).toBe("Layer 5, head 1");
    expect(label([0, 1])).toBe("Layer 5, mean of heads 0, 1");
  });
});

describe("the hues of signs in words", () => {
  const weight = measureWith();
  const norm = measureWith({ id: "weighted-norm", label: "‖αf(x)‖", of_weights: false });
  const of = (...pair: [Measure, Measure]) => signsPhrase(measureWith({ signed: true, pair }));

  test("are those of the two measures of a difference", () => {
    expect(of(weight, norm)).toBe("orange: more by ‖αf(x)‖, blue: more by α");
    expect(of(norm, weight)).toBe("blue: more by α, orange: more by ‖αf(x)‖");
  });

  test("are above and below zero, where no hue tells the measures apart", () => {
    expect(of(norm, norm)).toBe("blue: above zero, orange: below");
    expect(signsPhrase(measureWith({ signed: true }))).toBe("blue: above zero, orange: below");
  });

  test("stand in the legend, with a mark in each", () => {
    const { node, show } = createLegend();
    const drawn = ribbonsOf(shown, 20, { share: 1, limit: 99 });
    show(ribbonLegend(shown, drawn, null, PALETTES.light));
    expect(node.textContent).toContain(
      "orange: more by ‖αf(x)‖, blue: more by α; widths and sums go by size",
    );
    const marks = [...node.querySelectorAll<HTMLElement>(".nv-sign")];
    const { hues } = PALETTES.light;
    expect(marks.map(({ style }) => style.background)).toEqual([hues.norm, hues.weight]);
  });
});

test("the swatch of a full row is no taller than its line", () => {
  const tall = (pitch: number) => {
    const drawn = ribbonsOf(shown, pitch, { share: 1, limit: 99 });
    const { node, show } = createLegend();
    show(ribbonLegend(shown, drawn, null, PALETTES.light));
    return Number.parseFloat(node.querySelector<HTMLElement>(".nv-swatch")?.style.height ?? "");
  };
  expect(tall(20)).toBeCloseTo(16.8);
  expect(tall(64)).toBe(17);
});

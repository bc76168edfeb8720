import { describe, expect, test } from "vitest";
import {
  contrast,
  formatNumber,
  formatPercent,
  headColor,
  measureColor,
  oklch,
  PALETTES,
  signColors,
} from "../../src/draw/colors";
import style from "../../src/styles/style.css?raw";

const HEADS = Array.from({ length: 32 }, (_, head) => head);

/** How linear light reaches eyes that lack one kind of cone (Machado, Oliveira, Fernandes 2009). */
const EYES: Record<string, number[][]> = {
  all: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  "no long cones": [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  "no medium cones": [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
};

function linear(color: string): number[] {
  return [1, 3, 5].map((at) => {
    const channel = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
}

/** A color in OKLab, as seen through given eyes. */
function seen(color: string, eye: number[][]): number[] {
  const [r, g, b] = eye.map((row) =>
    Math.max(
      0,
      row.reduce((sum, part, at) => sum + part * linear(color)[at], 0),
    ),
  );
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function distance(one: string, other: string, eye: number[][]): number {
  const [a, b] = [seen(one, eye), seen(other, eye)];
  return Math.hypot(...a.map((part, at) => part - b[at]));
}

describe.each(["light", "dark"] as const)("heads in %s", (shade) => {
  const palette = PALETTES[shade];

  test("stand out from the paper", () => {
    for (const head of [null, ...HEADS]) {
      expect(contrast(headColor(head, palette), palette.paper)).toBeGreaterThan(2.4);
    }
  });

  test.each(Object.keys(EYES))("differ from their neighbors for eyes with %s", (eyes) => {
    for (const head of HEADS.slice(1)) {
      const pair = [headColor(head - 1, palette), headColor(head, palette)] as const;
      expect(distance(...pair, EYES[eyes]), `heads ${head - 1} and ${head}`).toBeGreaterThan(0.05);
    }
  });

  test("turn far round the color circle from one to the next", () => {
    for (const head of HEADS.slice(1)) {
      const pair = [headColor(head - 1, palette), headColor(head, palette)] as const;
      expect(distance(...pair, EYES.all), `heads ${head - 1} and ${head}`).toBeGreaterThan(0.14);
    }
  });

  test("have colors of their own, at least sixteen of them", () => {
    const colors = HEADS.slice(0, 16).map((head) => headColor(head, palette));
    for (const [at, color] of colors.entries()) {
      for (const other of colors.slice(at + 1)) {
        expect(distance(color, other, EYES.all)).toBeGreaterThan(0.02);
      }
    }
  });

  test("stand on the paper of the style sheet, on which all text is easy to read", () => {
    const rules = style.split("}").find((rule) => rule.includes(`color-scheme: ${shade}`)) ?? "";
    const color = (name: string) => rules.match(`--nv-${name}: (#[0-9a-f]{6})`)?.[1] ?? "";
    expect([color("paper"), color("ink")]).toEqual([palette.paper, palette.ink]);
    for (const name of ["ink", "soft", "good", "bad"]) {
      expect(contrast(color(name), palette.paper), name).toBeGreaterThan(4.5);
      expect(contrast(color(name), color("fill")), `${name} on fill`).toBeGreaterThan(4.5);
    }
  });
});

describe.each(["light", "dark"] as const)("measures in %s", (shade) => {
  const palette = PALETTES[shade];
  const [weight, norm] = [{ of_weights: true }, { of_weights: false }];
  const both = [measureColor(weight, palette), measureColor(norm, palette)] as const;

  test("have a hue for weights and one for norms, blue and orange", () => {
    const [blue, orange] = both.map((color) =>
      [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16)),
    );
    expect(blue[2]).toBeGreaterThan(blue[0] + 60);
    expect(orange[0]).toBeGreaterThan(orange[2] + 60);
  });

  test("are easy to read as text on the paper", () => {
    for (const color of both) expect(contrast(color, palette.paper)).toBeGreaterThan(4.5);
  });

  test.each(Object.keys(EYES))("differ for eyes with %s", (eyes) => {
    expect(distance(...both, EYES[eyes])).toBeGreaterThan(0.14);
  });

  test("give a difference their hues, the one that has more first", () => {
    expect(signColors({ pair: [weight, norm] }, palette)).toEqual([both[1], both[0]]);
    expect(signColors({ pair: [norm, weight] }, palette)).toEqual([...both]);
    expect(signColors({ pair: [norm, norm] }, palette)).toEqual(palette.signs);
    expect(signColors({}, palette)).toEqual(palette.signs);
  });
});

test("OKLCH becomes the sRGB that every screen knows", () => {
  expect(oklch(1, 0, 0)).toBe("#ffffff");
  expect(oklch(0, 0, 0)).toBe("#000000");
  expect(oklch(0.62796, 0.2576, 29.23)).toMatch(/^#f[ef]0[0-6]0[0-6]$/);
});

test("contrast runs from 1 to 21", () => {
  expect(contrast("#000000", "#ffffff")).toBeCloseTo(21);
  expect(contrast("#777777", "#777777")).toBe(1);
});

test.each([
  [0, "0"],
  [0.994, "0.994"],
  [2.4149, "2.41"],
  [53.46, "53.5"],
  [999.6, "1000"],
  [9778, "9778"],
  [123456, "1.2e5"],
  [0.00012, "1.2e-4"],
])("%f reads %s", (value, text) => {
  expect(formatNumber(value)).toBe(text);
});

test.each([
  [0, "0%"],
  [0.0004, "<0.1%"],
  [0.031, "3.1%"],
  [0.0996, "10%"],
  [0.41, "41%"],
  [0.9999, ">99%"],
  [1, "100%"],
])("the share %f reads %s", (share, text) => {
  expect(formatPercent(share)).toBe(text);
});

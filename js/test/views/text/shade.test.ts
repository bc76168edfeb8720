import { describe, expect, test } from "vitest";
import { contrast, PALETTES } from "../../../src/draw/colors";
import { canMute, mix, shaderOf, shadingOf } from "../../../src/views/text/shade";
import { contractPicture, picture } from "../../support/fixtures";
import { measureWith } from "../../support/measures";
import { signedPicture } from "../../support/signed";

const WEIGHTS = [
  [
    [1, 3],
    [2, 4],
  ],
];

describe("shades", () => {
  test("are what a token takes, or gives, as shares", () => {
    const drawn = picture(WEIGHTS);
    const taken = shadingOf(drawn, { role: "query", token: 0 });
    expect(taken).toMatchObject({ role: "key", full: 0.75, most: 1, lean: null });
    expect(taken.shares).toEqual([0.25, 0.75]);
    expect(taken.whole).toBe("what ‘q0’ takes");
    const given = shadingOf(drawn, { role: "key", token: 0 });
    expect(given).toMatchObject({ role: "query", most: 1, whole: "what ‘k0’ gives" });
    expect(given.shares).toEqual([1 / 3, 2 / 3]);
  });

  test("are what every token gives to all if none is in focus", () => {
    const all = shadingOf(picture(WEIGHTS), null);
    expect(all.shares).toEqual([0.3, 0.7]);
    expect(all).toMatchObject({ role: "key", whole: "all that is given" });
  });

  test("leave out what is below the threshold, but the shares stay", () => {
    const drawn = { ...picture(WEIGHTS), minSize: 2 };
    expect(shadingOf(drawn, { role: "query", token: 0 }).shares).toEqual([0, 0.75]);
  });

  test("of a measure without queries are the shares of its norms", () => {
    const norms = shadingOf(contractPicture({ measure: "value-norm" }), null);
    expect(norms.whole).toBe("the sum of all ‖f(x)‖");
    expect(norms.shares.reduce((sum, share) => sum + share)).toBeCloseTo(1);
  });

  test("of signed values go by size, and lean to the sign that has more", () => {
    const drawn = signedPicture();
    const at = { role: "query", token: 1 } as const;
    const { shares, lean, whole } = shadingOf(drawn, at);
    expect(whole).toMatch(/takes, signs aside$/);
    expect(shares.reduce((sum, share) => sum + share)).toBeCloseTo(1);
    const { keys, queries, values } = drawn;
    shares.forEach((_, key) => {
      const parts = Array.from({ length: values.length / (keys * queries) }, (_, head) => {
        return values[(head * queries + 1) * keys + key];
      });
      const net = parts.reduce((sum, part) => sum + part);
      const size = parts.reduce((sum, part) => sum + Math.abs(part), 0);
      expect(lean?.[key]).toBeCloseTo(net / size);
    });
    expect(lean?.some((part) => part < 0)).toBe(true);
  });
});

describe.each(["light", "dark"] as const)("the colors of a %s page", (name) => {
  const palette = PALETTES[name];
  const steps = Array.from({ length: 41 }, (_, step) => step / 40);

  test.each([true, false])("leave text legible on every shade (of weights: %s)", (of_weights) => {
    const shade = shaderOf({ ...picture(WEIGHTS), measure: measureWith({ of_weights }) }, palette);
    const ratios = steps.map((part) => contrast(palette.ink, shade(part, 1)));
    expect(Math.min(...ratios)).toBeGreaterThanOrEqual(4.5);
    expect(ratios).toEqual([...ratios].sort((one, other) => other - one));
    expect(contrast(palette.paper, shade(1, 1))).toBeGreaterThan(2.2);
    expect(shade(0, 1)).toBe(palette.paper);
  });

  test("leave text legible between two signs", () => {
    const shade = shaderOf(signedPicture(), palette);
    const leans = steps.map((part) => 2 * part - 1);
    const ratios = steps.flatMap((part) =>
      leans.map((lean) => contrast(palette.ink, shade(part, lean))),
    );
    expect(Math.min(...ratios)).toBeGreaterThanOrEqual(4.5);
    expect(shade(1, 1)).not.toBe(shade(1, -1));
  });

  test("mute text only where it stays legible", () => {
    const shade = shaderOf(picture(WEIGHTS), palette);
    const muted = steps.map((part) => shade(part, 1)).filter((color) => canMute(color, palette));
    expect(muted.length).toBeGreaterThan(0);
    expect(muted.length).toBeLessThan(steps.length);
    for (const color of muted) expect(contrast(palette.soft, color)).toBeGreaterThanOrEqual(4.5);
  });
});

test("a mixed color lies between two others", () => {
  expect(mix("#000000", "#ffffff", 0.5)).toBe("#808080");
  expect(mix("#102030", "#ffffff", 0)).toBe("#102030");
  expect(mix("#102030", "#fffefd", 1)).toBe("#fffefd");
});

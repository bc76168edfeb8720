import { describe, expect, test } from "vitest";
import { focusedRow, type Norms } from "../../src/data/layer";
import { barsOf, type Ribbon, ribbonsAt, ribbonsOf } from "../../src/data/ribbons";
import { headColor, PALETTES } from "../../src/draw/colors";
import { heatOf } from "../../src/draw/heat";
import type { ViewState } from "../../src/wire/types";
import contract from "../support/contract.json";
import { contractPicture } from "../support/fixtures";
import { signedPicture } from "../support/signed";

/** In the order of their places, since ribbons of one width may come in any order. */
const sorted = (rows: number[][]) =>
  rows.map((row) => row.map(Number)).sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);

const rowOf = ({ plane, query, key, width, from, to }: Ribbon) => [
  plane,
  query,
  key,
  width,
  from,
  to,
];

/** Every figure with the picture that the screen makes of its choice. */
const figures = [
  ...contract.figures.map((figure) => ({ ...figure, pictureOf: contractPicture })),
  ...contract.signed.figures.map((figure) => ({ ...figure, pictureOf: signedPicture })),
];

describe("a figure that Python writes", () => {
  test.each(figures)("has the geometry of the screen: $state", ({ state, ...figure }) => {
    const changes = state as Partial<ViewState>;
    const picture = figure.pictureOf(changes);
    const at = focusedRow(picture, {
      role: changes.role ?? "query",
      token: changes.token ?? -1,
    });
    const found = at
      ? ribbonsAt(picture, 20, at)
      : ribbonsOf(picture, 20, { share: 0.95, limit: 8000 });
    const [mine, theirs] = [sorted(found.ribbons.map(rowOf)), sorted(figure.ribbons)];
    expect(mine.map((row) => row.slice(0, 3))).toEqual(theirs.map((row) => row.slice(0, 3)));
    mine.forEach((row, index) => {
      // Numbers travel within 0.2%, so that a stack of them may be off by as much.
      row.forEach((number, column) => {
        expect(Math.abs(number - theirs[index][column])).toBeLessThan(0.06);
      });
    });
    if ("zoom" in found) expect(found.zoom).toBe(figure.zoom);
    else expect(found.shown).toBeCloseTo(figure.shown, 2);
  });

  test.each(figures)("has the bars of the screen: $state", ({ state, bars, pictureOf }) => {
    const changes = { ...state, measure: "value-norm" } as Partial<ViewState>;
    const { norms, keys } = pictureOf(changes);
    const found = barsOf(norms as Norms);
    // Of several heads, the bar of the last one ends where the whole ends.
    const ends = found.slice(-keys).map(({ end }) => end);
    const theirs = bars[bars.length - 1];
    expect(ends).toHaveLength(theirs.length);
    ends.forEach((end, key) => {
      expect(end).toBeCloseTo(theirs[key][1], 2);
    });
  });

  test.each(["light", "dark"] as const)("has the colors of the screen: %s", (theme) => {
    const { heads, heat: ramp, below, signs } = contract.colors[theme];
    const palette = PALETTES[theme];
    expect(palette.signs).toEqual(signs);
    expect([null, ...Array(16).keys()].map((head) => headColor(head, palette))).toEqual(heads);
    const color = heatOf({ signed: true, of_weights: true }, palette);
    const hex = (part: number) =>
      `#${[...color(part)].map((c) => c.toString(16).padStart(2, "0")).join("")}`;
    expect(ramp.map((_, step) => hex((step * 15) / 255))).toEqual(ramp);
    // At zero there is one color, that of nothing above.
    expect(below.map((_, step) => hex((-step * 15) / 255)).slice(1)).toEqual(below.slice(1));
  });
});

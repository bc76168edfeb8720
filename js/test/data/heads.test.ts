import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  focusedRow,
  keyShares,
  meanNorms,
  pictureOf,
  rankingOf,
  strongestHead,
} from "../../src/data/layer";
import { sumOf } from "../../src/math/arrays";
import { deep } from "../support/deep";
import { contractPane, contractPicture, pane, picture } from "../support/fixtures";

/** Two heads, two queries, three keys. */
const WEIGHTS = [
  [
    [0.5, 0.3, 0.2],
    [0, 0.25, 0.75],
  ],
  [
    [0.5, 0.1, 0.4],
    [0.5, 0.5, 0],
  ],
];
const NORMS = [
  [1, 2, 4],
  [3, 2, 4],
];

const rounded = (values: ArrayLike<number>) => Array.from(values, (value) => +value.toFixed(4));

describe("the heads of a picture", () => {
  test("are merged into their mean, of which a row of weights adds up to one", () => {
    const { heads, strands, values, received } = picture(WEIGHTS);
    expect([heads, strands]).toEqual([[null], [null]]);
    expect(rounded(values)).toEqual([0.5, 0.2, 0.3, 0.25, 0.375, 0.375]);
    expect(rounded(received)).toEqual([1, 1]);
  });

  test("are merged alike for a norm of weighted vectors", () => {
    const { values } = picture(WEIGHTS, { measure: "weighted-norm" }, NORMS);
    expect(rounded(values)).toEqual([1, 0.4, 1.2, 0.75, 0.75, 1.5]);
  });

  test("are each their part of the mean where some are chosen", () => {
    const three = [...WEIGHTS, WEIGHTS[0]];
    const { heads, strands, values, received } = picture(three, { heads: [1, 2] });
    expect([heads, strands]).toEqual([
      [1, 2],
      [1, 2],
    ]);
    const parts = [WEIGHTS[1], WEIGHTS[0]].flat(2).map((value) => value / 2);
    expect(rounded(values)).toEqual(rounded(parts));
    expect(rounded(received)).toEqual([1, 1]);
    const one = picture(three, { heads: [1] });
    expect(rounded(one.values)).toEqual(rounded(WEIGHTS[1].flat()));
  });

  test("add up to the picture of all, whatever the numbers", () => {
    const row = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), {
      minLength: 3,
      maxLength: 3,
    });
    fc.assert(
      fc.property(fc.array(fc.tuple(row, row), { minLength: 2, maxLength: 4 }), (numbers) => {
        const { received } = picture(numbers);
        const each = numbers.map((_, head) => picture(numbers, { heads: [head] }).received);
        received.forEach((sum, query) => {
          const mean = sumOf(each.map((one) => one[query])) / numbers.length;
          expect(sum).toBeCloseTo(mean, 4);
        });
      }),
    );
  });

  test("have the signs of some apart, and those of all in their mean", () => {
    const heads = [[[0.5]], [[-0.2]], [[-0.6]]];
    const sizes = (chosen: number[] | null) => {
      const found = pictureOf(
        deep([heads], { measure: { signed: true }, changes: { heads: chosen } }),
      );
      return rounded(found?.sizes ?? []);
    };
    expect(sizes([0, 1])).toEqual([0.25, 0.1]);
    expect(sizes(null)).toEqual([0, 0.1]);
  });

  test("have a common scale in all layers, which is the mean of theirs", () => {
    const units = (changes: object) =>
      picture(WEIGHTS, { normalize: "absolute", ...changes }).units[0];
    expect([units({}), units({ heads: [1] })]).toEqual([2, 2]);
  });
});

describe("a measure without queries", () => {
  test("is the only one with norms of its own", () => {
    const norms = picture(WEIGHTS, { measure: "value-norm" }, NORMS);
    expect(norms.values).toHaveLength(0);
    expect(norms.norms?.heads).toEqual([0, 1]);
    for (const measure of ["weight", "weighted-norm"]) {
      expect(picture(WEIGHTS, { measure }, NORMS).norms).toBeNull();
    }
  });

  test("is told and ranked by the mean over heads", () => {
    const shown = picture(WEIGHTS, { measure: "value-norm" }, NORMS);
    if (!shown.norms) throw new Error("no norms");
    expect([...meanNorms(shown.norms, 3)]).toEqual([2, 2, 4]);
    expect(Array.from(rankingOf(shown, null).values)).toEqual([2, 2, 4]);
    const one = picture(WEIGHTS, { measure: "value-norm", heads: [1] }, NORMS);
    expect(Array.from(rankingOf(one, null).values)).toEqual([3, 2, 4]);
  });
});

describe("the share of a key", () => {
  const shown = picture(WEIGHTS);

  test("is of all that is given, while no query is in focus", () => {
    expect(rounded(keyShares(shown, null))).toEqual([0.375, 0.2875, 0.3375]);
    expect(rounded(keyShares(shown, { role: "key", row: 1 }))).toEqual([0.375, 0.2875, 0.3375]);
  });

  test("is of what the query in focus takes", () => {
    expect(rounded(keyShares(shown, { role: "query", row: 1 }))).toEqual([0.25, 0.375, 0.375]);
  });

  test("of a norm is by its own numbers", () => {
    const moved = picture(WEIGHTS, { measure: "weighted-norm" }, NORMS);
    const [first] = [keyShares(moved, focusedRow(moved, { role: "query", token: 0 }))];
    expect(rounded(first)).toEqual(rounded([1 / 2.6, 0.4 / 2.6, 1.2 / 2.6]));
  });
});

describe("the strongest head", () => {
  const numbers = [
    [
      [0.1, 0.1],
      [0.1, 0.9],
    ],
    [
      [0.4, 0.4],
      [0.1, 0.1],
    ],
  ];

  test("is found among all, also while one is chosen", () => {
    expect(strongestHead(pane(numbers), null)).toBe(0);
    expect(strongestHead(pane(numbers, { heads: [1] }), null)).toBe(0);
  });

  test("is that of the token in focus, in its role", () => {
    const focused = pane(numbers);
    expect(strongestHead(focused, { role: "query", token: 0 })).toBe(1);
    expect(strongestHead(focused, { role: "query", token: 1 })).toBe(0);
    expect(strongestHead(focused, { role: "key", token: 0 })).toBe(1);
    expect(strongestHead(focused, { role: "key", token: 1 })).toBe(0);
  });

  test("of a norm is that of the longest vectors, of the key in focus or of all", () => {
    const lengths = [
      [1, 9],
      [4, 2],
    ];
    const norms = pane(numbers, { measure: "value-norm" }, lengths);
    expect(strongestHead(norms, null)).toBe(0);
    expect(strongestHead(norms, { role: "key", token: 0 })).toBe(1);
    expect(strongestHead(norms, { role: "query", token: 0 })).toBe(0);
    const others = [lengths[1], lengths[0]];
    const swapped = pane(numbers, { measure: "value-norm" }, others);
    expect(strongestHead(swapped, null)).toBe(1);
  });

  test("is by the model's number, and none for a measure without heads", () => {
    const [first, third] = [1, 3].map((head) => sumOf(contractPicture({ heads: [head] }).given));
    expect(strongestHead(contractPane(), null)).toBe(first >= third ? 1 : 3);
    expect(strongestHead(contractPane({ measure: "attention" }), null)).toBeNull();
  });
});

describe("a difference", () => {
  const changes = { measure: "weight", compare: "weighted-norm", difference: true };
  const shown = picture(WEIGHTS, changes, NORMS);
  const moved = [
    [1, 0.4, 1.2],
    [0.75, 0.75, 1.5],
  ];
  const shares = moved.map((row) => row.map((value) => value / sumOf(row)));
  const weights = [0.5, 0.2, 0.3, 0.25, 0.375, 0.375];

  test("is the share by one measure minus the share by the other, of what a query takes", () => {
    const expected = shares.flat().map((share, at) => share - weights[at]);
    expect(rounded(shown.values)).toEqual(rounded(expected));
    expect(shown.heads).toEqual([null]);
    expect(shown.norms).toBeNull();
  });

  test("of each query adds up to nothing", () => {
    const numbers = contractPicture({ ...changes });
    for (let query = 0; query < numbers.queries; query++) {
      const row = numbers.values.subarray(query * numbers.keys, (query + 1) * numbers.keys);
      expect(sumOf(row)).toBeCloseTo(0, 5);
    }
  });

  test("has a strand for each sign", () => {
    expect(shown.strands).toEqual(["above", "below"]);
    expect(sumOf(shown.sizes)).toBeCloseTo(sumOf(shown.values.map(Math.abs)), 5);
  });

  test("has the shares as they differ, on average or for the query in focus", () => {
    const column = (key: number) => shares.map((row, query) => row[key] - weights[query * 3 + key]);
    const means = [0, 1, 2].map((key) => sumOf(column(key)) / 2);
    expect(rounded(keyShares(shown, null))).toEqual(rounded(means));
    const second = [0, 1, 2].map((key) => column(key)[1]);
    expect(rounded(keyShares(shown, { role: "query", row: 1 }))).toEqual(rounded(second));
  });

  test("is of the chosen heads alone", () => {
    const { values } = picture(WEIGHTS, { ...changes, heads: [0] }, NORMS);
    const first = WEIGHTS[0][0].map((weight, key) => weight * NORMS[0][key]);
    const expected = first.map((value, key) => value / sumOf(first) - WEIGHTS[0][0][key]);
    expect(rounded(values.subarray(0, 3))).toEqual(rounded(expected));
  });

  test("has a scale of its own where others have one for all layers", () => {
    const own = picture(WEIGHTS, { ...changes, normalize: "absolute" }, NORMS);
    expect(own.units[0]).toBeCloseTo(Math.max(...shown.received), 5);
  });

  test("waits for the numbers of both", () => {
    const both = pane(WEIGHTS, changes, NORMS);
    const layer = both.tiles.layer.bind(both.tiles);
    both.tiles.layer = (index, stream, name, ...rest) =>
      name === "weighted-norm" ? null : layer(index, stream, name, ...rest);
    expect(pictureOf(both)).toBeNull();
  });
});

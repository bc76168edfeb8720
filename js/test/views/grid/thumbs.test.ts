import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PALETTES } from "../../../src/draw/colors";
import { heatOf } from "../../../src/draw/heat";
import {
  boardFor,
  cornerOf,
  outsideBand,
  pixelsOf,
  snapToPixels,
} from "../../../src/views/grid/layout";
import {
  bandOf,
  cellOf,
  cellsOf,
  runOf,
  sortByDisagreement,
  startOf,
  type Thumb,
  type Thumbs,
  thumbsOf,
  withScale,
} from "../../../src/views/grid/thumbs";
import {
  ariaLabelOf,
  describeThumbs,
  shortName,
  thumbLegend,
  thumbLines,
} from "../../../src/views/grid/words";
import type { ViewState } from "../../../src/wire/types";
import { labels } from "../../support/fixtures";
import { smallPane } from "../../support/overviews";

function small(changes: Partial<ViewState> = {}, rival: string | null = null): Thumbs {
  const found = thumbsOf(smallPane(changes), [rival]);
  if (!found) throw new Error("not here");
  return found;
}

/** As many pictures as a model has layers and heads. */
function many(layers: number, heads: number, cells = 24, tokens = 100): Thumbs {
  const base = small();
  const count = (length: number) => Array.from({ length }, (_, at) => at);
  const stream = {
    ...base.stream,
    layers: count(layers),
    heads: count(heads),
    queries: labels("q", tokens),
    keys: labels("k", tokens),
  };
  const values = new Float32Array(cells * cells).fill(0.5);
  const thumbs = stream.layers.flatMap((layer) =>
    stream.heads.map((head): Thumb => {
      return { layer, head, values, sizes: values, peak: 0.5, top: 1, disagreement: null };
    }),
  );
  return { ...base, stream, heads: stream.heads, thumbs, rows: cells, columns: cells };
}

describe("the cells of a role", () => {
  test("begin where numpy cuts", () => {
    const cut = [
      0, 1, 2, 3, 5, 6, 7, 9, 10, 11, 12, 14, 15, 16, 18, 19, 20, 21, 23, 24, 25, 27, 28, 29,
    ];
    expect(cut.map((_, cell) => startOf(cell, 31, 24))).toEqual(cut);
  });

  test("hold every piece once, in order", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3000 }), (count) => {
        const cells = Math.min(count, 24);
        const runs = Array.from({ length: cells }, (_, cell) => runOf(cell, count, cells));
        expect(runs[0][0]).toBe(0);
        expect(runs[cells - 1][1]).toBe(count - 1);
        runs.slice(1).forEach(([first], at) => {
          expect(first).toBe(runs[at][1] + 1);
        });
        for (let piece = 0; piece < count; piece += 7) {
          const [first, last] = runs[cellOf(piece, count, cells)];
          expect(first <= piece && piece <= last).toBe(true);
        }
      }),
    );
  });
});

describe("the small pictures", () => {
  test("are numbered as the model numbers them, layer by layer", () => {
    expect(small().thumbs.map(shortName)).toEqual(["1·0", "1·3", "4·0", "4·3"]);
  });

  test("know their largest number", () => {
    const [first, second, third] = small().thumbs.map(({ peak }) => peak);
    expect([first, second, third].map((peak) => peak.toFixed(2))).toEqual(["0.60", "0.30", "0.30"]);
  });

  test.each([
    ["absolute", [0.6, 0.6, 0.6, 0.6]],
    ["layer", [0.6, 0.6, 0.3, 0.3]],
    ["query", [0.6, 0.3, 0.3, 0.15]],
  ] as const)("are scaled %s", (normalize, tops) => {
    small({ normalize }).thumbs.forEach(({ top }, at) => {
      expect(top).toBeCloseTo(tops[at], 6);
    });
  });

  test("of nothing are scaled by one", () => {
    const nothing = { ...small().thumbs[0], peak: 0 };
    for (const scale of ["absolute", "layer", "query"] as const) {
      expect(withScale([nothing], scale)[0].top).toBe(1);
    }
  });

  test("are told apart from a measure only where that can be", () => {
    expect(small({}, "weighted-norm").thumbs.map(({ disagreement: apart }) => apart)).toEqual([
      0.1, 0.62, 0.3, 0.3,
    ]);
    expect(small({}, "attention").compared).toBeNull();
    expect(thumbsOf(smallPane(), ["value-norm", 4, "weighted-norm"])?.compared?.id).toBe(
      "weighted-norm",
    );
  });

  test("come with the most disagreeing first, equals in the model's order", () => {
    const sorted = sortByDisagreement(small({}, "weighted-norm").thumbs);
    expect(sorted.map(shortName)).toEqual(["1·3", "4·0", "4·3", "1·0"]);
  });

  test("are one to a layer where a measure has no heads", () => {
    const { heads, thumbs } = small({ measure: "attention" });
    expect(heads).toEqual([null]);
    expect(thumbs.map(shortName)).toEqual(["1", "4"]);
  });

  test("have a row or a column for each token", () => {
    const thumbs = small();
    expect(cellsOf(thumbs, { role: "query", cell: 1 })).toEqual([5, 6, 7, 8, 9]);
    expect(cellsOf(thumbs, { role: "key", cell: 4 })).toEqual([4, 9, 14, 19, 24]);
    expect(bandOf(thumbs, { role: "key", token: 3 })).toEqual({ role: "key", cell: 3 });
    expect(bandOf(small({ measure: "value-norm" }), { role: "query", token: 3 })).toBeNull();
    expect(bandOf(many(1, 1), { role: "query", token: 99 })).toEqual({ role: "query", cell: 23 });
  });
});

describe("the board", () => {
  test.each([
    [6, 12],
    [12, 12],
    [30, 9],
    [24, 16],
    [1, 1],
  ])("holds %i layers of %i heads", (layers, heads) => {
    for (const isSorted of [false, true]) {
      const thumbs = many(layers, heads);
      const board = boardFor(thumbs, { width: 850, ratio: 1, isSorted });
      expect(board.width).toBeLessThanOrEqual(850);
      expect(board.size).toBeGreaterThanOrEqual(24);
      const last = cornerOf(board, thumbs.thumbs.length - 1);
      expect(last.y + board.tall).toBeLessThanOrEqual(board.height);
    }
  });

  test("shows twelve layers of twelve heads at once", () => {
    expect(boardFor(many(12, 12), { width: 1200, ratio: 1, isSorted: false }).height).toBeLessThan(
      690,
    );
  });

  test("never makes a picture smaller than can be seen, or lets two overlap", () => {
    const room = fc.record({
      width: fc.integer({ min: -20, max: 1400 }),
      ratio: fc.constantFrom(1, 1.25, 2, 3),
      isSorted: fc.boolean(),
    });
    const sizes = fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 40 }));
    fc.assert(
      fc.property(room, sizes, fc.integer({ min: 1, max: 24 }), (space, [layers, heads], cells) => {
        const board = boardFor(many(layers, heads, cells), space);
        expect(board.size).toBeGreaterThanOrEqual(22);
        expect(board.size).toBeLessThanOrEqual(72);
        expect(board.pitch.across).toBeGreaterThan(board.size);
        expect(board.pitch.down).toBeGreaterThan(board.tall);
        expect(board.across).toBeGreaterThanOrEqual(1);
      }),
      { numRuns: 60 },
    );
  });

  test("gives every cell the same pixels where that costs little", () => {
    expect(snapToPixels(51, 24, 1)).toBe(48);
    expect(snapToPixels(51, 24, 2)).toBe(48);
    expect(snapToPixels(40, 24, 1)).toBe(40);
    expect(snapToPixels(40, 24, 2)).toBe(36);
    expect(snapToPixels(23, 24, 1)).toBe(23);
  });

  test("has strips for a measure without queries", () => {
    const board = boardFor(small({ measure: "value-norm" }), {
      width: 800,
      ratio: 1,
      isSorted: false,
    });
    expect(board.tall).toBeLessThan(board.size / 2);
  });
});

describe("the pixels", () => {
  const color = heatOf({ signed: false, of_weights: true }, PALETTES.light);
  const size = { width: 10, height: 10 };
  const at = (pixels: Uint8ClampedArray, x: number, y: number) => [
    ...pixels.slice((y * 10 + x) * 4, (y * 10 + x) * 4 + 4),
  ];

  test("are each cell's part of the largest", () => {
    const thumbs = small({ normalize: "query" });
    const pixels = pixelsOf(thumbs.thumbs[0], thumbs, size, color);
    expect(at(pixels, 0, 9)).toEqual([...color(1), 255]);
    expect(at(pixels, 1, 0)).toEqual([...color(1), 255]);
    const sixth = color(Math.fround(0.1) / Math.fround(0.6));
    expect(at(pixels, 2, 0)).toEqual([...sixth, 255]);
    expect(at(pixels, 9, 9)).toEqual([...sixth, 255]);
  });

  test("are empty below the threshold", () => {
    const thumbs = small({ threshold: 0.2 });
    const pixels = pixelsOf(thumbs.thumbs[0], thumbs, size, color);
    expect(at(pixels, 2, 0)).toEqual([...color(0), 255]);
    expect(at(pixels, 0, 0)).toEqual([...color(1), 255]);
  });

  test("outside a band cover all but the band", () => {
    const cells = { rows: 4, columns: 5 };
    const shape = { size: 50, tall: 40 };
    fc.assert(
      fc.property(fc.constantFrom("query" as const, "key" as const), fc.nat(3), (role, cell) => {
        const area = outsideBand({ role, cell }, cells, shape).reduce(
          (sum, [, , w, h]) => sum + w * h,
          0,
        );
        expect(area).toBeCloseTo(role === "query" ? 50 * 30 : 40 * 40);
      }),
    );
  });
});

describe("in words the small pictures", () => {
  test("are called by layer, head and disagreement", () => {
    const thumbs = small({}, "weighted-norm");
    expect(ariaLabelOf(thumbs, thumbs.thumbs[1])).toBe(
      "layer 1, head 3: α, disagreement with ‖αf(x)‖ 0.62",
    );
    expect(ariaLabelOf(small(), small().thumbs[1])).toBe("layer 1, head 3: α, largest 0.300");
  });

  test("say which head disagrees most and least", () => {
    const told = describeThumbs(small({}, "weighted-norm"), null, null);
    expect(told.sentence).toBe(
      "α against ‖αf(x)‖: layer 1, head 3 disagrees most (0.62), layer 1, head 0 least (0.10).",
    );
    expect(told.rows[0]).toEqual(["1", "layer 1, head 3", "0.62", "0.300"]);
    expect(told.rows).toHaveLength(4);
  });

  test("say which head is strongest where nothing is compared", () => {
    expect(describeThumbs(small(), null, null).sentence).toBe(
      "α: strongest is layer 1, head 0 (up to 0.600, to ‘[CLS]’ from ‘[CLS]’), " +
        "weakest layer 4, head 3 (up to 0.150).",
    );
    expect(describeThumbs(many(12, 12), null, null).rows).toHaveLength(8);
  });

  test("tell about the one under the pointer", () => {
    const thumbs = small({}, "weighted-norm");
    const { sentence, rows } = describeThumbs(thumbs, { role: "key", token: 0 }, thumbs.thumbs[1]);
    expect(sentence).toBe(
      "Layer 1, head 3, α: the largest is 0.300, to ‘[CLS]’ from ‘un’ (50% of the largest " +
        "anywhere); disagreement with ‖αf(x)‖ 0.62 (number 1 of 4).",
    );
    expect(rows[0]).toEqual(["1", "‘[CLS]’ from ‘un’", "0.300", "100%"]);
  });

  test("tell where the token in focus takes and gives most", () => {
    expect(describeThumbs(small(), { role: "key", token: 2 }, null).sentence).toBe(
      "α: ‘##do’ gives most in layer 1, head 3 (up to 0.300), " +
        "least in layer 4, head 0 (up to 0.0500).",
    );
    const norms = describeThumbs(small({ measure: "value-norm" }), { role: "key", token: 0 }, null);
    expect(norms.sentence).toContain("‘[CLS]’ has most in layer 1, head 3 (up to 2.00)");
  });

  test("name the run that a token shares", () => {
    const { sentence } = describeThumbs(many(2, 2), { role: "query", token: 1 }, null);
    expect(sentence).toContain("the run of ‘q1’ (‘q0’ … ‘q3’) takes most in");
  });

  test("say so where nothing is taken", () => {
    const thumbs = small();
    const none = new Float32Array(25);
    const nothing = { ...thumbs.thumbs[0], values: none, sizes: none, peak: 0 };
    const { sentence, rows } = describeThumbs(thumbs, null, nothing);
    expect(sentence).toBe("Layer 1, head 0, α: nothing is taken.");
    expect(rows).toEqual([]);
  });

  test.each([
    ["absolute", "from 0 to 0.600 (the largest in any layer and head)"],
    ["layer", "from 0 to the largest in each layer (0.300 to 0.600)"],
    [
      "query",
      "from 0 to each thumbnail's own largest (0.150 to 0.600); per query means per thumbnail here",
    ],
  ] as const)("have a legend that labels the scaling %s", (normalize, line) => {
    const { state } = smallPane({ normalize });
    expect(thumbLines(small({ normalize }), state, null)).toContain(line);
  });

  test("have a legend that says what is pooled, kept and cut", () => {
    const { state } = smallPane({ words: true, special: "hidden", threshold: 0.25 });
    const lines = thumbLines(many(2, 2), state, { role: "key", token: 0 });
    expect(lines).toContain("each cell: the largest of up to 5 × 5 numbers");
    expect(lines).toContain("in pieces, not in words");
    expect(lines).toContain("special tokens are not hidden here");
    expect(lines).toContain("nothing below 25% of full color is drawn");
    expect(lines).toContain("highlighted: the run of ‘k0’ (‘k0’ … ‘k3’)");
  });

  test("have the ramp of colors beside the scaling", () => {
    const ramp = thumbLegend(small(), smallPane().state, null, PALETTES.dark)[1] as HTMLElement;
    expect(ramp.querySelector(".nv-heat")).not.toBeNull();
    expect(ramp.textContent).toContain("from 0 to the largest");
  });
});

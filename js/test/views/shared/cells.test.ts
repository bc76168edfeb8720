import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Pane } from "../../../src/state/pane";
import { cellLegend, cellLine, fullColor } from "../../../src/views/matrix/words";
import { type Cells, cellsOf, depths, extremes, poolCells } from "../../../src/views/shared/cells";
import { deep, type Extras } from "../../support/deep";
import { contractPane, labels, pane } from "../../support/fixtures";

const EACH = { rows: 1, columns: 1 };

const BLANK = Number.NaN;

const HEADS = [
  [
    [0.5, 0.5],
    [0, 1],
  ],
  [
    [0.25, 0.75],
    [0, 3],
  ],
];

function cells(given: Pane): Cells {
  const found = cellsOf(given);
  if (!found) throw new Error("the numbers are not here");
  return found;
}

const scaled = (extras: Extras["changes"], layers = [HEADS]) =>
  cells(deep(layers, { changes: extras ?? {} }));

describe("the cells", () => {
  test("are the mean of the chosen heads, and say so", () => {
    const all = scaled({ normalize: "layer" });
    expect([...all.values]).toEqual([0.375, 0.625, 0, 2]);
    expect(cellLegend(all, EACH)).toContain("α: how much; mean of 2 heads");
    const one = scaled({ normalize: "layer", heads: [1] });
    expect([...one.values]).toEqual([0.25, 0.75, 0, 3]);
    expect(cellLegend(one, EACH)).toContain("α: how much; head 1");
  });

  test("are as deep as they are large beside the largest of the layer", () => {
    const found = scaled({ normalize: "layer" });
    expect([...depths(found)]).toEqual([0.1875, 0.3125, BLANK, 1]);
    expect(fullColor(found)).toBe("2.00 (the largest cell of this layer)");
  });

  test("are divided by the whole of their row when scaled per query", () => {
    const found = scaled({ normalize: "query" });
    expect([...depths(found)]).toEqual([0.375, 0.625, BLANK, 1]);
    expect(fullColor(found)).toBe("100% (the largest share; each row divided by its own whole)");
  });

  test("are measured by the largest cell of any layer when scaled absolutely", () => {
    const twice = HEADS.map((head) => head.map((row) => row.map((value) => value * 2)));
    const found = scaled({ normalize: "absolute", layer: 0 }, [HEADS, twice]);
    expect(fullColor(found)).toBe("4.00 (the largest cell of any layer)");
    expect([...depths(found)]).toEqual([0.09375, 0.15625, BLANK, 0.5]);
    const one = scaled({ normalize: "absolute", layer: 0, heads: [0] }, [HEADS, twice]);
    expect(fullColor(one)).toBe("2.00 (the largest cell of any layer)");
  });

  test("are measured by a bound, and say so, where the small pictures are smaller", () => {
    const given = deep([HEADS], { changes: { normalize: "absolute" } });
    given.tiles.overview = () => ({
      values: Float32Array.from([1, 3]),
      about: { rows: 1, columns: 1, peaks: [[1, 3]] },
    });
    expect(fullColor(cells(given))).toBe("2.00 (no cell of any layer is larger)");
  });

  test("of a difference are measured by their own largest, which is in no small picture", () => {
    const changes = { measure: "weight", compare: "weighted-norm", difference: true };
    const found = cells(contractPane({ ...changes, view: "matrix", normalize: "absolute" }));
    expect(found.picture.measure.pair).toHaveLength(2);
    expect(found.full.value).toBe(Math.max(...found.values.map(Math.abs)));
    expect(fullColor(found)).toMatch(/\(the largest cell of this layer\)$/);
    expect(cellLegend(found, EACH)).toContain("orange: more by ‖αf(x)‖, blue: more by α");
  });

  test("wait for the small pictures when they need them", () => {
    const given = deep([HEADS], { changes: { normalize: "absolute" } });
    given.tiles.overview = () => null;
    expect(cellsOf(given)).toBeNull();
    expect(cellsOf({ ...given, state: { ...given.state, normalize: "layer" } })).not.toBeNull();
  });

  test("below the threshold are blank, and the legend says from where on", () => {
    const found = scaled({ normalize: "layer", threshold: 0.3 });
    expect([...depths(found)]).toEqual([BLANK, 0.3125, BLANK, 1]);
    expect(cellLegend(found, EACH)).toContain("nothing below 0.600 (α) is drawn");
    expect(extremes(found)).toEqual({ least: 1, most: 3 });
  });

  test("are heads and keys for a norm", () => {
    const found = cells(contractPane({ measure: "value-norm", normalize: "query" }));
    expect(found.down.labels).toEqual(["head 1", "head 3"]);
    expect(found.across.labels).toEqual(["le", "chat", "</s>"]);
    expect(fullColor(found)).toBe("1.50 (the largest cell of this layer)");
    const legend = cellLegend(found, EACH).join("; ");
    expect(legend).toContain("one row for each head");
    expect(legend).toContain("scaled per layer, because it has no queries");
    expect(cellLine(found, 1, 2)).toBe("head 3, ‘</s>’: 1.50");
  });

  test("say what was merged and hidden", () => {
    const tokens = { ...labels("t", 2), special: [true, false] };
    const given = deep([HEADS], {
      stream: { queries: tokens, keys: tokens },
      changes: { special: "hidden" },
    });
    const found = cells(given);
    expect([...found.values]).toEqual([2]);
    expect(cellLegend(found, EACH)).toContain(
      "1 special tokens hidden, and with them 0% of the sum",
    );
  });
});

describe("a cell in words", () => {
  test("has its number and its share of the row's whole", () => {
    expect(cellLine(scaled({}), 0, 1)).toBe("‘t0’ from ‘t1’: 0.625, 63% of all it takes");
    expect(cellLine(scaled({}), 1, 0)).toBe("‘t1’ from ‘t0’: 0, 0% of all it takes");
  });

  test("the legend has the true smallest and largest, and says that nothing is blank", () => {
    expect(cellLegend(scaled({}), EACH)).toContain(
      "cells from 0.375 to 2.00 (‘t1’ from ‘t1’); 0 is blank",
    );
    expect(cellLegend(cells(pane([[[1, 2]]])), EACH)).toContain(
      "cells from 1.00 to 2.00 (‘q0’ from ‘k1’)",
    );
    expect(cellLegend(cells(pane([[[0, 0]]])), EACH)).toContain("no cell is drawn");
  });

  test("the legend says how many cells share a mark", () => {
    expect(cellLegend(scaled({}), { rows: 2, columns: 3 })).toContain(
      "each pixel is the largest of 2 × 3 cells; zoom in to see them all",
    );
  });
});

test("blocks keep their largest cell, and none is lost", () => {
  const size = fc.integer({ min: 1, max: 12 });
  fc.assert(
    fc.property(
      size,
      size,
      size,
      size,
      fc.infiniteStream(fc.float({ min: -1, max: 1, noNaN: true })),
      (rows, columns, tall, wide, numbers) => {
        const values = Float32Array.from(
          { length: rows * columns },
          () => numbers.next().value as number,
        );
        const found = poolCells(values, columns, { rows: tall, columns: wide });
        expect([found.rows, found.columns]).toEqual([
          Math.ceil(rows / tall),
          Math.ceil(columns / wide),
        ]);
        values.forEach((value, at) => {
          const row = Math.floor(Math.floor(at / columns) / tall);
          const column = Math.floor((at % columns) / wide);
          const kept = found.values[row * found.columns + column];
          expect(Math.abs(kept)).toBeGreaterThanOrEqual(Math.abs(value));
        });
        const kept = new Set([BLANK, ...values]);
        for (const value of found.values) expect(kept.has(value)).toBe(true);
      },
    ),
  );
});

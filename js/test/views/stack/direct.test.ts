import { describe, expect, test } from "vitest";
import { isConnected, type Stack, stackOf } from "../../../src/data/stack";
import { PALETTES } from "../../../src/draw/colors";
import type { Pen } from "../../../src/draw/pen";
import { columnsBetween } from "../../../src/views/stack/layout";
import { makeupOf } from "../../../src/views/stack/makeup";
import { namesIn, paintStrands, strandsOf } from "../../../src/views/stack/strands";
import { caveats, describeMakeup, firstTokens, stackLegend } from "../../../src/views/stack/words";
import { deep } from "../../support/deep";
import { REACHING_INPUT } from "../../support/measures";

/** What is carried up to each of two layers [layer 1 query key]: rows of lengths, not of shares. */
const PARTS = [
  [
    [
      [3, 1, 0],
      [1, 1, 0],
      [0, 0, 5],
    ],
  ],
  [
    [
      [2, 1, 1],
      [4, 0, 4],
      [1, 1, 2],
    ],
  ],
];

const measure = {
  id: "decomposition",
  label: "decomposition",
  axes: ["layer", "query", "key"] as ("layer" | "query" | "key")[],
  ...REACHING_INPUT,
};

function directStack(): Stack {
  const found = stackOf(deep(PARTS, { measure, layers: [2, 3] }));
  if (!found) throw new Error("the numbers are not here");
  return found;
}

const query = (row: number) => ({ role: "query" as const, row });
const lanes = { pitch: 20, rows: 3, posts: columnsBetween(0, 200, { layers: 2 }).posts };

describe("a measure that reaches back by itself", () => {
  test("weighs the input's tokens by its own row, and multiplies no layers", () => {
    const { shares, lost, trace } = makeupOf(directStack(), query(1), 3);
    expect([...shares]).toEqual([0.5, 0, 0.5]);
    expect(lost).toBeCloseTo(0);
    expect(trace?.flows).toHaveLength(1);
  });

  test("goes straight from the first column to that of the layer", () => {
    expect(makeupOf(directStack(), query(0), 3).columns).toEqual([0, 2]);
    expect(makeupOf(directStack(), query(0), 2).columns).toEqual([0, 1]);
  });

  test("tells of a token of the input where it is found", () => {
    const { shares } = makeupOf(directStack(), { role: "key", row: 2 }, 3);
    expect([...shares]).toEqual([0.25, 0.5, 0.5]);
  });

  test("is the mean of the rows for all tokens alike", () => {
    const { shares } = makeupOf(directStack(), null, 2);
    expect([...shares].map((share) => share.toFixed(4))).toEqual(["0.4167", "0.2500", "0.3333"]);
  });

  test("says in words that it is the input, also where the first layers are not held", () => {
    const stack = directStack();
    expect(describeMakeup(makeupOf(stack, query(1), 3)).sentence).toBe(
      "decomposition, all heads together: ‘t1’ after layer 3 is made of 50% ‘t0’, 50% ‘t2’ " +
        "of the input's tokens (decomposition reaches back to the input by itself, so no layer is traced).",
    );
    expect(firstTokens(stack)).toBe("the input's tokens");
    expect(caveats(stack)).toHaveLength(1);
  });

  test("has ribbons that pass the layers between", () => {
    const strands = strandsOf(makeupOf(directStack(), query(1), 3), lanes, 0);
    const { links, unit } = strands;
    expect(links?.layers.map((layer) => layer.length)).toEqual([2]);
    const legend = stackLegend(strands.makeup, links, unit);
    expect(legend).toContain("ribbons go straight to the input's tokens");
    expect(namesIn(strands)).toEqual([{ label: "t1", column: 2, row: 1, isOwn: true }]);
  });

  test("is painted from the first post to the last, with a bar at each end", () => {
    const strands = strandsOf(makeupOf(directStack(), query(1), 3), lanes, 0);
    const bars: number[] = [];
    const pen = new Proxy({} as Pen, {
      get: (_, name) => (name === "fillRect" ? fillRect : () => undefined),
      set: () => true,
    });
    const fillRect = (x: number, _y: number, width: number) => {
      if (width === 4) bars.push(x + 2);
    };
    paintStrands(pen, strands, lanes, PALETTES.light, { top: 0, bottom: 60 });
    expect(bars).toEqual([0, 0, 200]);
  });
});

test("columns are joined by ribbons where something is traced or direct", () => {
  expect((["traced", "direct", "separate", "none"] as const).map(isConnected)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test("the legend of a rung says what is not divided, because it comes from no token", () => {
  const told = (bias_share: number[]) => {
    const pane = deep(PARTS, {
      measure: { ...measure, id: "layer-output" },
      stream: { bias_share: { "layer-output": bias_share } },
    });
    const makeup = makeupOf(stackOf(pane) as Stack, null, 1);
    return stackLegend(makeup, null, 1).filter((line) => line.includes("biases"));
  };
  expect(told([0.08, 0.31])).toEqual([
    "from biases, and not divided: 8.0% to 31% of a layer's vectors",
  ]);
  expect(told([0.1, 0.1])).toEqual(["from biases, and not divided: 10% of a layer's vectors"]);
  expect(told([])).toEqual([]);
});

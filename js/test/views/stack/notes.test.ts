import { describe, expect, test } from "vitest";
import type { TokenRow } from "../../../src/data/layer";
import type { Pane } from "../../../src/state/pane";
import { makeupOf } from "../../../src/views/stack/makeup";
import { residualNote } from "../../../src/views/stack/notes";
import { describeMakeup } from "../../../src/views/stack/words";
import { CROSS, deep, type Extras, gathered, TWO } from "../../support/deep";
import { measureWith } from "../../support/measures";

const PAST = "without the residual connection";

const query = (row: number): TokenRow => ({ role: "query", row });

describe("the trace of a causal model", () => {
  /** Layers in which each token takes half from itself and half from the one before. */
  const half = [
    [
      [1, 0, 0],
      [0.5, 0.5, 0],
      [0, 0.5, 0.5],
    ],
  ];
  const deepCausal = (layers: number, extras: Extras = {}) =>
    gathered(deep(Array(layers).fill(half), extras));

  test("that ends at the first token is not a finding, but has a reason", () => {
    const stack = deepCausal(12);
    expect(describeMakeup(makeupOf(stack, query(2), 11)).sentence).toBe(
      "α, head 0: ‘t2’ after layer 11 leads back to ‘t0’ (>99%), because ‘t0’ can read only " +
        `itself; most of the rest is ‘t1’ (0.3%) (${PAST}).`,
    );
    expect(describeMakeup(makeupOf(stack, null, 11)).sentence).toContain(
      "all tokens together after layer 11 lead back to ‘t0’ (>99%), because",
    );
  });

  test("is told as ever while it has not ended there", () => {
    const made = describeMakeup(makeupOf(deepCausal(2), query(2), 1)).sentence;
    expect(made).toContain("is made of 50% ‘t1’, 25% ‘t0’, 25% ‘t2’");
    const first = describeMakeup(makeupOf(deepCausal(12), query(0), 11)).sentence;
    expect(first).toContain("‘t0’ after layer 11 is made of 100% ‘t0’");
  });

  test("is told as ever where the first token reads others", () => {
    const to = [
      [
        [0.99, 0.01],
        [1, 0],
      ],
    ];
    const { sentence } = describeMakeup(makeupOf(gathered(deep([to, to])), query(1), 1));
    expect(sentence).toContain("is made of 99% ‘t0’, 1.0% ‘t1’");
  });
});

describe("the note above the picture", () => {
  const noteOf = (pane: Pane) => residualNote(gathered(pane), pane);
  const LACKING =
    "Without the residual connection, through which a token keeps what it has: this flow has no " +
    'measure that includes it; analyze with measures=[…, "attention-block"].';

  test("says that a flow cannot tell what the residual connection carries", () => {
    expect(noteOf(deep(TWO))).toBe(LACKING);
  });

  test("says why paths gather at the first token of a causal model", () => {
    const causal = [
      [
        [1, 0],
        [0.5, 0.5],
      ],
    ];
    expect(noteOf(deep([causal, causal]))).toBe(
      `${LACKING} Layer by layer, paths gather at ‘t0’, because it can read only itself.`,
    );
  });

  test("is short where the flow holds a measure with it, and absent where that is shown", () => {
    const pane = deep(TWO, { stream: { measures: ["weight", "attention-block"] } });
    const block = measureWith({ id: "attention-block", family: "ladder", has_residual: true });
    pane.flow.measures.push(block);
    expect(noteOf(pane)).toBe(
      "Without the residual connection, through which a token keeps what it has: " +
        "α does not include it.",
    );
    expect(noteOf(deep(TWO, { measure: { has_residual: true } }))).toBe("");
  });

  test("is absent where nothing is traced", () => {
    const layer = [
      [
        [0.5, 0.3, 0.2],
        [0, 0, 1],
      ],
    ];
    expect(noteOf(deep([layer, layer], CROSS))).toBe("");
    expect(noteOf(deep(TWO, { measure: { axes: ["layer", "head", "key"] } }))).toBe("");
  });
});

import { describe, expect, test } from "vitest";
import { defaultState } from "../../src/app/settings";
import { codeOf, pythonLiteral } from "../../src/state/pythonCode";
import { notableMoves, ordinal, rankChangesPhrase, ranksOf } from "../../src/words/rankChanges";
import { store } from "../support/fixtures";

const standing = (values: number[]) => ({ labels: values.map((_, at) => `t${at}`), values });

describe("who rises and who falls", () => {
  test("places are counted from the greatest, equals in their order", () => {
    expect(ranksOf([0.1, 0.7, 0.1, 0.2])).toEqual([3, 1, 4, 2]);
  });

  test("the widest moves are named first, with both places", () => {
    const before = standing([9, 8, 7, 6, 5, 4, 3, 2]);
    const after = standing([1, 8, 7, 6, 5, 4, 3, 2]);
    expect(rankChangesPhrase(["α", "‖αf(x)‖"], before, after)).toMatch(
      /^From α to ‖αf\(x\)‖: ‘t0’ falls from 1st to 8th, ‘t1’ rises from 2nd to 1st,/,
    );
  });

  test("moves among the last are not worth a word", () => {
    const before = standing([9, 8, 7, 6, 5, 4, 3, 2, 1]);
    const after = standing([9, 8, 7, 6, 5, 4, 3, 1, 2]);
    expect(notableMoves(before, after)).toEqual([]);
    expect(rankChangesPhrase(["α", "f"], before, after)).toContain(
      "From α to f, none of the top 5 changes its rank.",
    );
  });

  test("different texts have no places in common", () => {
    expect(rankChangesPhrase(["a", "b"], standing([1]), standing([1, 2]))).toBe("");
  });

  test.each([
    [1, "1st"],
    [2, "2nd"],
    [3, "3rd"],
    [4, "4th"],
    [11, "11th"],
    [12, "12th"],
    [13, "13th"],
    [21, "21st"],
    [112, "112th"],
  ])("%i is %s", (place, said) => {
    expect(ordinal(place)).toBe(said);
  });
});

describe("the view as code", () => {
  test("names only what differs from the usual, as Python writes it", () => {
    const usual = defaultState(store());
    const changed = {
      ...usual,
      heads: [1, 3],
      words: true,
      compare: null,
      threshold: 0.25,
      color_by: "rank" as const,
      difference: true,
    };
    expect(codeOf(changed, usual)).toBe(
      "flow.widget(compare=None, heads=[1, 3], words=True, threshold=0.25, " +
        'color_by="rank", difference=True)',
    );
    expect(codeOf(usual, usual)).toBe("flow.widget()");
  });

  test("names what differs from what a stack opens with", () => {
    const stack = store({ view: "stack", layer: 2, normalize: "query" });
    expect(codeOf(stack.state.value, defaultState(stack))).toBe('flow.widget(view="stack")');
    const earlier = store({ view: "stack", measure: "weight", layer: 0, normalize: "query" });
    expect(codeOf(earlier.state.value, defaultState(earlier))).toBe(
      'flow.widget(view="stack", measure="weight", layer=0)',
    );
  });

  test("leaves the name of another flow to the reader", () => {
    const { state } = store();
    const { value } = state;
    expect(codeOf({ ...value, compare: "other" }, value)).toBe("flow.widget(compare=other)");
  });

  test("None, strings with quotes and lists", () => {
    expect([null, 'a"b', [1, null], false].map(pythonLiteral)).toEqual([
      "None",
      '"a\\"b"',
      "[1, None]",
      "False",
    ]);
  });

  test("the usual state is the one Python makes", () => {
    const opened = {
      view: "flow",
      measure: "weight",
      compare: "weighted-norm",
      normalize: "query",
    };
    expect(defaultState(store())).toEqual({ ...store().state.value, ...opened });
    const { measure, stream } = defaultState(
      store({ stream: "cross", measure: "weight", layer: 1 }),
    );
    expect([measure, stream]).toEqual(["weight", "encoder"]);
  });
});

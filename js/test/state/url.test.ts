import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Store, tokenCount } from "../../src/state/store";
import { readHash, targetFlow, unknownParts, writeHash } from "../../src/state/url";
import { type Header, OTHER_FLOW, type ViewState } from "../../src/wire/types";
import { header, state } from "../support/fixtures";

const { allowed } = header.state;
const pair: Header = { ...header, flows: [header.flows[0], header.flows[0]] };

/** Any state that a store would keep. */
function anyState({ flows }: Header): fc.Arbitrary<ViewState> {
  return fc.constantFrom(...flows[0].streams).chain((stream) => {
    return fc.constantFrom(...allowed.role).chain((role) =>
      fc
        .record({
          view: fc.constantFrom(...allowed.view),
          stream: fc.constant(stream.name),
          measure: fc.constantFrom(...stream.measures),
          compare: fc.constantFrom(
            ...[null, ...stream.measures, ...stream.layers],
            ...(flows.length > 1 ? [OTHER_FLOW] : []),
          ),
          layer: fc.constantFrom(...stream.layers),
          heads: fc.option(fc.shuffledSubarray(stream.heads, { minLength: 1 })),
          token: fc.option(fc.nat(tokenCount(stream, role) - 1)),
          role: fc.constant(role),
          normalize: fc.constantFrom(...allowed.normalize),
          words: fc.boolean(),
          special: fc.constantFrom(...allowed.special),
          threshold: fc.double({ min: 0, max: 1, noNaN: true }).map((part) => part || 0),
          color_by: fc.constantFrom(...allowed.color_by),
          target_row: fc.constantFrom(...allowed.target_row),
          difference: fc.boolean(),
          theme: fc.constantFrom(...allowed.theme),
        })
        .map((wanted) => {
          const store = new Store({ ...header, flows }, state);
          store.choose(wanted);
          return store.state.value;
        }),
    );
  });
}

describe("an address", () => {
  test.each([
    ["one flow", header, null],
    ["two flows", pair, null],
    ["a numbered flow", header, 3],
  ])("gives back every state that was written into it: %s", (_, held, number) => {
    fc.assert(
      fc.property(anyState(held), anyState(held), (wanted, first) => {
        const hash = `#${writeHash(wanted, first, number)}`;
        expect(readHash(hash, held, first, number)).toEqual({ state: wanted, problems: [] });
      }),
      { numRuns: 400 },
    );
  });

  test("says nothing of what is as it was at first", () => {
    expect(writeHash(state, state)).toBe("");
    const wanted = { ...state, layer: 2, heads: [1, 3], measure: "weight", token: 0 };
    expect(writeHash(wanted, state)).toBe("measure=weight&layer=2&heads=1,3&token=0");
    expect(writeHash(state, wanted, 2)).toBe(
      `2.measure=${state.measure}&2.layer=0&2.heads=all&2.token=none`,
    );
  });

  test("is read as the same whatever text it is, and what is not understood is named", () => {
    const names = fc.constantFrom("view", "layer", "heads", "token", "stream", "threshold", "x");
    const pieces = fc.array(fc.tuple(names, fc.string({ unit: "binary" })));
    fc.assert(
      fc.property(pieces, fc.string({ unit: "binary" }), (given, rest) => {
        const hash = `#${given.map(([name, text]) => `${name}=${text}`).join("&")}&${rest}`;
        const found = readHash(hash, header, state);
        const store = new Store(header, state);
        store.choose(found.state);
        expect(store.state.value).toEqual(found.state);
      }),
    );
  });

  test.each([
    "layer=1",
    "layer=99",
    "layer=-1",
    "layer=",
    "layer=0x2",
    "heads=",
    "heads=1,2",
    "token=3",
    "token=-1",
    "token=1.5",
    "measure=love",
    "compare=other",
    "compare=7",
    "view=constructor",
    "stream=decoder",
    "words=yes",
    "difference=yes",
    "color_by=red",
    "color=rank",
    "side=key",
    "role=both",
    "target_row=both",
    "threshold=2",
    "threshold=",
    "theme=red",
    "hue=red",
    "toString=1",
    "1.layer=2",
  ])("that asks for %s is told so, and nothing changes", (part) => {
    expect(readHash(`#${part}`, header, state)).toEqual({
      state,
      problems: [part.replace(/=$/, "")],
    });
  });

  test("keeps what is right beside what is wrong", () => {
    const found = readHash("#layer=2&token=99&theme=dark", header, state);
    expect(found.state).toEqual({ ...state, layer: 2, theme: "dark" });
    expect(found.problems).toEqual(["token=99"]);
  });

  test("may name a token that only the other role or stream has, in any order", () => {
    const found = readHash("#token=2&role=key&stream=cross", header, state);
    expect(found.problems).toEqual([]);
    expect(found.state).toMatchObject({ stream: "cross", role: "key", token: 2, layer: 1 });
    expect(readHash("#token=2&stream=cross", header, state).problems).toEqual(["token=2"]);
  });

  test("may name a head twice, which is the same as once", () => {
    expect(readHash("#heads=3,3", header, state).state.heads).toEqual([3]);
  });

  test("quotes no more of a strange text than one can read", () => {
    const [problem] = readHash(`#layer=${"9".repeat(500)}`, header, state).problems;
    expect(problem.length).toBeLessThan(50);
  });
});

describe("on a page of several flows", () => {
  test("each reads what has its number", () => {
    const hash = "#1.layer=2&2.theme=dark&flow=2";
    expect(readHash(hash, header, state, 1).state).toEqual({ ...state, layer: 2 });
    expect(readHash(hash, header, state, 2).state).toEqual({ ...state, theme: "dark" });
    expect(readHash(hash, header, state, 3)).toEqual({ state, problems: [] });
    expect(readHash("#2.layer=9", header, state, 2).problems).toEqual(["2.layer=9"]);
  });

  test("what belongs to none of them is named", () => {
    expect(unknownParts("#1.layer=2&2.theme=dark&flow=2", 2)).toEqual([]);
    expect(unknownParts("#3.layer=2&layer=2&flow=3&flow=x&0.layer=1&here", 2)).toEqual([
      ...["3.layer=2", "layer=2", "flow=3", "flow=x", "0.layer=1", "here"],
    ]);
  });

  test("an address may say which one to go to", () => {
    expect(targetFlow("#1.layer=2&flow=2")).toBe(2);
    expect(targetFlow("#flow=two")).toBeNull();
    expect(targetFlow("")).toBeNull();
  });
});

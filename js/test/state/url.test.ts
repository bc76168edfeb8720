import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { count, Store } from "../../src/state/store";
import { goal, read, strays, write } from "../../src/state/url";
import { type Choice, COLORS, type Header, OTHER, SETTINGS, VIEWS } from "../../src/wire/types";
import { choice, header } from "../support/fixtures";

const pair: Header = { ...header, flows: [header.flows[0], header.flows[0]] };

/** Any choice that a store would keep. */
function anyChoice({ flows }: Header): fc.Arbitrary<Choice> {
  return fc.constantFrom(...flows[0].streams).chain((stream) => {
    return fc.constantFrom("query" as const, "key" as const).chain((side) =>
      fc
        .record({
          view: fc.constantFrom(...VIEWS),
          stream: fc.constant(stream.name),
          measure: fc.constantFrom(...stream.measures),
          compare: fc.constantFrom(
            ...[null, ...stream.measures, ...stream.layers],
            ...(flows.length > 1 ? [OTHER] : []),
          ),
          layer: fc.constantFrom(...stream.layers),
          heads: fc.option(fc.shuffledSubarray(stream.heads, { minLength: 1 })),
          token: fc.option(fc.nat(count(stream, side) - 1)),
          side: fc.constant(side),
          normalize: fc.constantFrom("absolute" as const, "layer" as const, "query" as const),
          words: fc.boolean(),
          special: fc.constantFrom("shown" as const, "dimmed" as const, "hidden" as const),
          threshold: fc.double({ min: 0, max: 1, noNaN: true }).map((part) => part || 0),
          color: fc.constantFrom(...COLORS),
          setting: fc.constantFrom(...SETTINGS),
          theme: fc.constantFrom("auto" as const, "light" as const, "dark" as const),
        })
        .map((wanted) => {
          const store = new Store({ ...header, flows }, choice);
          store.choose(wanted);
          return store.choice.value;
        }),
    );
  });
}

describe("an address", () => {
  test.each([
    ["one flow", header, null],
    ["two flows", pair, null],
    ["a numbered flow", header, 3],
  ])("gives back every choice that was written into it: %s", (_, held, number) => {
    fc.assert(
      fc.property(anyChoice(held), anyChoice(held), (wanted, first) => {
        const hash = `#${write(wanted, first, number)}`;
        expect(read(hash, held, first, number)).toEqual({ choice: wanted, problems: [] });
      }),
      { numRuns: 400 },
    );
  });

  test("says nothing of what is as it was at first", () => {
    expect(write(choice, choice)).toBe("");
    const wanted = { ...choice, layer: 2, heads: [1, 3], measure: "weight", token: 0 };
    expect(write(wanted, choice)).toBe("measure=weight&layer=2&heads=1,3&token=0");
    expect(write(choice, wanted, 2)).toBe(
      `2.measure=${choice.measure}&2.layer=0&2.heads=all&2.token=none`,
    );
  });

  test("is read as the same whatever text it is, and what is not understood is named", () => {
    const names = fc.constantFrom("view", "layer", "heads", "token", "stream", "threshold", "x");
    const pieces = fc.array(fc.tuple(names, fc.string({ unit: "binary" })));
    fc.assert(
      fc.property(pieces, fc.string({ unit: "binary" }), (given, rest) => {
        const hash = `#${given.map(([name, text]) => `${name}=${text}`).join("&")}&${rest}`;
        const found = read(hash, header, choice);
        const store = new Store(header, choice);
        store.choose(found.choice);
        expect(store.choice.value).toEqual(found.choice);
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
    "color=red",
    "threshold=2",
    "threshold=",
    "theme=red",
    "hue=red",
    "toString=1",
    "1.layer=2",
  ])("that asks for %s is told so, and nothing changes", (part) => {
    expect(read(`#${part}`, header, choice)).toEqual({
      choice,
      problems: [part.replace(/=$/, "")],
    });
  });

  test("keeps what is right beside what is wrong", () => {
    const found = read("#layer=2&token=99&theme=dark", header, choice);
    expect(found.choice).toEqual({ ...choice, layer: 2, theme: "dark" });
    expect(found.problems).toEqual(["token=99"]);
  });

  test("may name a token that only the other side or stream has, in any order", () => {
    const found = read("#token=2&side=key&stream=cross", header, choice);
    expect(found.problems).toEqual([]);
    expect(found.choice).toMatchObject({ stream: "cross", side: "key", token: 2, layer: 1 });
    expect(read("#token=2&stream=cross", header, choice).problems).toEqual(["token=2"]);
  });

  test("may name a head twice, which is the same as once", () => {
    expect(read("#heads=3,3", header, choice).choice.heads).toEqual([3]);
  });

  test("quotes no more of a strange text than one can read", () => {
    const [problem] = read(`#layer=${"9".repeat(500)}`, header, choice).problems;
    expect(problem.length).toBeLessThan(50);
  });
});

describe("on a page of several flows", () => {
  test("each reads what has its number", () => {
    const hash = "#1.layer=2&2.theme=dark&flow=2";
    expect(read(hash, header, choice, 1).choice).toEqual({ ...choice, layer: 2 });
    expect(read(hash, header, choice, 2).choice).toEqual({ ...choice, theme: "dark" });
    expect(read(hash, header, choice, 3)).toEqual({ choice, problems: [] });
    expect(read("#2.layer=9", header, choice, 2).problems).toEqual(["2.layer=9"]);
  });

  test("what belongs to none of them is named", () => {
    expect(strays("#1.layer=2&2.theme=dark&flow=2", 2)).toEqual([]);
    expect(strays("#3.layer=2&layer=2&flow=3&flow=x&0.layer=1&here", 2)).toEqual([
      ...["3.layer=2", "layer=2", "flow=3", "flow=x", "0.layer=1", "here"],
    ]);
  });

  test("an address may say which one to go to", () => {
    expect(goal("#1.layer=2&flow=2")).toBe(2);
    expect(goal("#flow=two")).toBeNull();
    expect(goal("")).toBeNull();
  });
});

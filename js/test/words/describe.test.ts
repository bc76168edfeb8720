import { describe, expect, test } from "vitest";
import { readout } from "../../src/app/readout";
import { ribbonsAt, ribbonsOf } from "../../src/data/ribbons";
import { PALETTES } from "../../src/draw/colors";
import { visibleText } from "../../src/draw/dom";
import { quote, describe as say } from "../../src/words/describe";
import { createLegend, drawnPhrase, ribbonLegend, ribbonLines } from "../../src/words/legend";
import { contractPicture, picture } from "../support/fixtures";

const two = [
  [
    [0.5, 0.3, 0.2],
    [0, 0, 1],
  ],
  [
    [0.5, 0.1, 0.4],
    [0, 1, 0],
  ],
];

describe("the sentence", () => {
  test("says what a token takes, and of what", () => {
    expect(say(picture(two), { role: "query", token: 0 }).sentence).toBe(
      "Layer 5, mean of 2 heads, α: ‘q0’ takes 50% from ‘k0’, 30% from ‘k2’, 20% from ‘k1’ (of all it takes).",
    );
  });

  test("says what a token gives", () => {
    expect(say(picture(two), { role: "key", token: 1 }).sentence).toBe(
      "Layer 5, mean of 2 heads, α: ‘k1’ gives 71% to ‘q1’, 29% to ‘q0’ (of all it gives).",
    );
  });

  test("says so when a token gives nothing", () => {
    const { sentence, rows } = say(picture([[[0, 1]]]), { role: "key", token: 0 });
    expect(sentence).toBe("Layer 5, head 0, α: ‘k0’ gives nothing.");
    expect(rows).toEqual([]);
  });

  test("names the tokens that give most when none is in focus", () => {
    expect(say(picture(two), null).sentence).toBe(
      "Layer 5, mean of 2 heads, α: most is read from ‘k2’ (40%), ‘k1’ (35%), ‘k0’ (25%).",
    );
    expect(say(picture([[[0, 0]]]), null).sentence).toBe("Layer 5, head 0, α: nothing is given.");
  });

  test("uses the model's own numbers for layers and heads", () => {
    const { sentence } = say(contractPicture({ layer: 2, heads: [3] }), null);
    expect(sentence).toMatch(/^Layer 2, head 3, ‖αf\(x\)‖: /);
  });

  test("calls a measure without heads by all of them", () => {
    const { sentence } = say(contractPicture({ measure: "attention" }), null);
    expect(sentence).toMatch(
      /^Layer 0, all heads together, ‖Σ αf\(x\)‖: most is read from ‘<\/s>’ \(\d+%\), /,
    );
  });

  test("ranks a key by its norm where there are no queries", () => {
    const norms = contractPicture({ measure: "value-norm" });
    expect(say(norms, null).sentence).toContain("longest is ‘</s>’ (1.13), shortest ‘le’ (0.625).");
    expect(say(norms, { role: "key", token: 1 }).sentence).toContain(
      "‘chat’ (0.875) is number 2 of 3.",
    );
  });
});

describe("the table", () => {
  test("has shares and values, greatest first, with places counted from 0", () => {
    const { columns, rows, caption } = say(picture(two), { role: "query", token: 0 });
    expect(caption).toBe("α, mean of 2 heads: what ‘q0’ (0) takes");
    expect(columns).toEqual(["#", "read from", "share", "α"]);
    expect(rows).toEqual([
      ["0", "k0", "50%", "0.500"],
      ["2", "k2", "30%", "0.300"],
      ["1", "k1", "20%", "0.200"],
    ]);
  });

  test("of all has what each token gives to one on average", () => {
    const { columns, rows, caption } = say(picture(two), null);
    expect(caption).toBe(
      "α, mean of 2 heads: what each token gives, as a share of all and on average",
    );
    expect(columns).toEqual(["#", "read from", "share", "α, mean"]);
    expect(rows).toEqual([
      ["2", "k2", "40%", "0.400"],
      ["1", "k1", "35%", "0.350"],
      ["0", "k0", "25%", "0.250"],
    ]);
  });

  test("adds up what it does not list", () => {
    const { rows } = say(picture([[new Array(20).fill(0.05)]]), { role: "query", token: 0 });
    expect(rows).toHaveLength(9);
    expect(rows[8]).toEqual(["", "12 others", "60%", "0.600"]);
  });

  test("is put on the page as text, beside a sentence that is read aloud", () => {
    const { node, show } = readout();
    show({ sentence: "s", caption: "c", columns: ["a"], rows: [["<b>1</b>"]] });
    expect(node.querySelector("[aria-live=polite]")?.textContent).toBe("s");
    expect(node.querySelector("td")?.textContent).toBe("<b>1</b>");
    expect(node.querySelector("th")?.getAttribute("scope")).toBe("col");
    show({ sentence: "t", notes: ["it rises"], caption: "d", columns: ["b"], rows: [] });
    expect(node.querySelector("[aria-live=polite]")?.textContent).toBe("tit rises");
    expect(node.querySelectorAll("td")).toHaveLength(0);
  });
});

describe("the legend", () => {
  const ALL = { share: 1, limit: 1e6 };

  test.each([
    ["layer", "full row: 1.00 (the most any token takes in this layer)"],
    ["absolute", "full row: 2.00 (the most any token takes in any layer)"],
    ["query", "full row: 100% (all that the row's token takes)"],
  ] as const)("says what a full row is, scaled %s", (scale, line) => {
    const shown = picture(two, { normalize: scale });
    expect(ribbonLines(shown, ribbonsOf(shown, 20, ALL))).toContain(line);
  });

  test("tells the true maximum and where it is", () => {
    const shown = picture(two);
    expect(ribbonLines(shown, ribbonsOf(shown, 20, ALL))).toContain(
      "largest ribbon: 0.500 (‘q0’ from ‘k0’)",
    );
    const one = picture(two, { heads: [1] });
    expect(ribbonLines(one, ribbonsOf(one, 20, ALL))).toContain(
      "largest ribbon: 1.00 (‘q1’ from ‘k1’, head 1)",
    );
  });

  test("says how much is left out, or that nothing is", () => {
    const shown = picture([[[0.6, 0.35, 0.04, 0.01]]]);
    expect(drawnPhrase(shown, ribbonsOf(shown, 20, ALL))).toBe("all 4 ribbons drawn");
    expect(drawnPhrase(shown, ribbonsOf(shown, 20, { share: 0.95, limit: 99 }))).toBe(
      "the strongest 2 of 4 ribbons drawn: 95% of the sum; 5.0% is left out",
    );
    const strongest = ribbonsOf(shown, 20, { share: 1, limit: 99, perQuery: 1 });
    expect(drawnPhrase(shown, strongest)).toBe(
      "the 1 strongest links of each token drawn: 60% of the sum; 40% is left out",
    );
  });

  test("says how many times wider the token in focus is, and only then", () => {
    const shown = picture(two);
    const drawn = ribbonsOf(shown, 20, ALL);
    const { ribbons } = ribbonsAt(shown, 20, { role: "query", row: 0 });
    const { node, show } = createLegend();
    show(ribbonLegend(shown, drawn, { ribbons, zoom: 4 }, PALETTES.light));
    expect(node.textContent).toContain("the token in focus: 4 times wider");
    expect(node.textContent).toContain("3 ribbons of the token in focus highlighted");
    expect(node.textContent).not.toContain("ribbons drawn");
    show(ribbonLegend(shown, drawn, { ribbons, zoom: 1 }, PALETTES.light));
    expect(node.textContent).not.toContain("wider");
    show(ribbonLegend(shown, drawn, null, PALETTES.light));
    expect(node.textContent).toContain("ribbons drawn");
    expect(node.textContent).not.toContain("wider");
  });

  test("says that a norm has no query", () => {
    const shown = contractPicture({ measure: "value-norm" });
    const [first, longest] = ribbonLines(shown, ribbonsOf(shown, 20, ALL));
    expect(first).toContain("it has no queries, so only bars are shown");
    expect(longest).toBe("longest bar: 1.13");
  });
});

test.each([
  ["", "∅"],
  [" ", "␣"],
  ["\n\n", "↵↵"],
  ["a\nb", "a b"],
  ["漢字", "漢字"],
])("the token %j is seen as %s", (piece, shown) => {
  expect(visibleText(piece)).toBe(shown);
});

test("a token that is read from right to left is kept apart from the sentence", () => {
  expect(quote("مرحبا")).toBe("‘\u2068مرحبا\u2069’");
  expect(quote("漢字")).toBe("‘漢字’");
});

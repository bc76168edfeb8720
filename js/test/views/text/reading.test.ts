import { describe, expect, test } from "vitest";
import { rowsOf } from "../../../src/math/rows";
import { readRows } from "../../../src/views/text/reading";
import { runsOf, spelled, tokensOf } from "../../support/texts";

describe("running text", () => {
  test("has the pieces of a word together and spaces between words", () => {
    const runs = runsOf(["[CLS]", "an", ["un", "believ", "able"], "cat", "[SEP]"]);
    expect(spelled(runs)).toBe("[CLS] an unbelievable cat [SEP]");
    expect(runs.map(({ continues }) => continues)).toEqual([
      ...[false, false, false, true, true],
      ...[false, false],
    ]);
    expect(runs.map(({ special }) => special)).toEqual([true, ...Array(5).fill(false), true]);
  });

  test.each([
    [["tired", ".", "It", "slept", ",", "then", "..."], "tired. It slept, then..."],
    [["(", "so", ")", "he", "said", ":", "“", "no", "”", "!"], "(so) he said: “no”!"],
    [['"', "no", '"', "and", '"', "yes", '"', "."], '"no" and "yes".'],
    [["well", "-", "known", "and", "/", "or"], "well-known and/or"],
    [["-", "5", "is", "-", "[SEP]"], "- 5 is - [SEP]"],
    [["it", "'", "s", "the", "dogs", "'", "bowl"], "it's the dogs ' bowl"],
    [["$", "3", ".", "5", "or", "1", ",", "000", "%"], "$3.5 or 1,000%"],
    [["نعم", "،", "لا", "؟"], "نعم، لا؟"],
    [["¿", "qué", "?", "[SEP]", "."], "¿qué? [SEP] ."],
  ])("attaches punctuation: %s", (words, text) => {
    expect(spelled(runsOf(words))).toBe(text);
  });

  test("has no spaces between ideographs, and lines may break there, but not before a stop", () => {
    const runs = runsOf(["漢", "字", "。", "かな", "and", "漢"]);
    expect(spelled(runs)).toBe("漢字。かな and 漢");
    expect(runs.map(({ joint }) => joint)).toEqual([
      ...["line", "direct", "glued", "direct", "space", "space"],
    ]);
  });

  test("keeps line breaks, and straight quotes begin anew on each line", () => {
    const runs = runsOf(["one", '"', "\n", '"', "two", '"', "\n\n", "end"]);
    expect(spelled(runs)).toBe('one "↵\n"two" ↵↵\nend');
    expect(runs.map(({ breaks }) => breaks)).toEqual([0, 0, 1, 0, 0, 0, 2, 0]);
  });

  test("does not write the marks of pieces, unless they are the text", () => {
    expect(spelled(runsOf(["cat", "##s", "##"]))).toBe("cats ##");
    expect(spelled(runsOf(["[CLS]", "##s"]))).toBe("[CLS] ##s");
    expect(spelled(runsOf([["un", "##do"]], true))).toBe("un##do");
  });

  test("writes a split character once", () => {
    const tokens = { ...tokensOf(["a", ["🙂 1/2", "🙂 2/2"], "page 2/3"]) };
    tokens.word_texts[1] = "🙂";
    const runs = readRows(rowsOf(tokens, { words: false, special: "shown" }), tokens);
    expect(spelled(runs)).toBe("a 🙂· page 2/3");
    expect(runs.map(({ sought }) => sought)).toEqual(["a", "🙂", "", "page 2/3"]);
  });

  test("shows what is empty or only a space", () => {
    expect(spelled(runsOf(["", " ", "\t"]))).toBe("∅ ␣ ⇥");
  });

  test("goes by the rows that are shown", () => {
    const tokens = tokensOf(["[CLS]", ["un", "do"], "[SEP]", ["un", "do"]]);
    const rows = rowsOf(tokens, { words: true, special: "hidden" });
    expect(spelled(readRows(rows, tokens))).toBe("undo undo");
    const pieces = rowsOf(tokens, { words: false, special: "hidden" });
    expect(spelled(readRows(pieces, tokens))).toBe("undo undo");
  });
});

import { beforeEach, describe, expect, test } from "vitest";
import { PALETTES } from "../../../src/draw/colors";
import type { Pane } from "../../../src/state/pane";
import { textView } from "../../../src/views/text/view";
import type { Focus, Role } from "../../../src/wire/types";
import { deep, scribe } from "../../support/deep";
import { contractPane, labels, opened } from "../../support/fixtures";
import { signedPane } from "../../support/signed";
import { tokensOf } from "../../support/texts";

const WORDS = ["[CLS]", "the", ["cat", "s"], "sat", ".", "the", "end"];
const TOKENS = tokensOf(WORDS);

/** Weights in which each token takes most from the one before. */
const causal = (count: number) => [
  [
    Array.from({ length: count }, (_, query) =>
      Array.from({ length: count }, (_, key) => (key === query - 1 ? 6 : key <= query ? 1 : 0)),
    ),
  ],
];

const cats = (changes: Pane["state"] | object = {}): Pane =>
  deep(causal(TOKENS.pieces.length), { stream: { queries: TOKENS, keys: TOKENS }, changes });

/** A view on the page, and what it was asked to do. */
function shown(pane: Pane, chosen: { role?: Role; pinned?: Focus } = {}) {
  const { actions, told } = scribe();
  const scope = new AbortController();
  const view = textView(
    { ...actions, role: () => chosen.role ?? "query", pinned: () => chosen.pinned ?? null },
    scope.signal,
  );
  document.body.append(view.node);
  view.draw(pane, PALETTES.light);
  view.highlight(null);
  const passages = () => [...view.node.querySelectorAll<HTMLElement>(".nv-passage")];
  const tokens = (at = 0) => [...passages()[at].querySelectorAll<HTMLElement>(".nv-piece")];
  const token = (text: string, at = 0) =>
    tokens(at).find(({ textContent }) => textContent === text) as HTMLElement;
  const input = view.node.querySelector("input") as HTMLInputElement;
  const found = () => view.node.querySelector("output")?.textContent;
  const type = (text: string) => {
    input.value = text;
    input.dispatchEvent(new Event("input"));
  };
  const press = (key: string, more: KeyboardEventInit = {}) => {
    const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more });
    return input.dispatchEvent(event);
  };
  const marked = (name: string) =>
    tokens()
      .filter((piece) => piece.classList.contains(name))
      .map(({ textContent }) => textContent);
  const button = (name: string) =>
    [...view.node.querySelectorAll("button")].find(({ title }) =>
      title.includes(name),
    ) as HTMLButtonElement;
  const legend = () =>
    view.legend().map((line) => (typeof line === "string" ? line : line.textContent));
  const leave = () => scope.abort();
  return {
    ...{ view, told, chosen, passages, tokens, token, input, found, type, press, marked },
    ...{ button, legend, leave },
  };
}

const query = (token: number): Focus => ({ role: "query", token });
const key = (token: number): Focus => ({ role: "key", token });
const shade = (piece: HTMLElement) => piece.style.backgroundColor;

beforeEach(() => document.body.replaceChildren());

describe("the text", () => {
  test("reads as written, with spaces that can be copied", () => {
    const { passages } = shown(cats());
    expect(passages()[0].textContent).toBe("[CLS] the cats sat. the end");
  });

  test("is shaded by what the token in focus takes, most where it takes most", () => {
    const { view, token, tokens } = shown(cats());
    view.highlight(query(4));
    expect(token("s").parentElement?.title).toBe("3: s\n60% of what ‘sat’ takes");
    expect(shade(token("s"))).not.toBe(shade(token("[CLS]")));
    expect(shade(token("[CLS]"))).toBe(shade(token("cat")));
    expect(shade(tokens()[6])).toBe("");
    expect(token("sat").classList).toContain("nv-on");
  });

  test("is shaded by what the token in focus gives", () => {
    const { view, token } = shown(cats());
    view.highlight(key(4));
    expect(token(".").parentElement?.title).toBe("5: .\n67% of what ‘sat’ gives");
    expect(shade(token("[CLS]"))).toBe("");
  });

  test("is shaded by what all tokens give if none is in focus", () => {
    const { token, legend } = shown(cats());
    expect(token("[CLS]").parentElement?.title).toMatch(/^0: \[CLS\]\n\d+% of all that is given$/);
    expect(legend()[0]).toMatch(/^0full shade: \d+% of all that is given \(‘\[CLS\]’\)$/);
  });

  test("says what a full shade means, and what is hidden", () => {
    const { view, legend } = shown(cats({ special: "hidden" }));
    view.highlight(query(4));
    expect(legend()[0]).toBe("0full shade: 67% of what ‘sat’ takes (‘s’)");
    expect(legend().at(-1)).toMatch(/^1 special tokens hidden, and with them \d+% of the sum$/);
  });

  test("says what the picture of one layer says", () => {
    const { view } = shown(cats());
    expect(view.describe(query(4)).sentence).toContain("‘sat’ takes 60% from ‘s’");
    expect(Array.from(view.ranking?.(query(1))?.values ?? [])).toEqual([6, 1, 0, 0, 0, 0, 0, 0]);
  });

  test("follows words, the threshold and the theme", () => {
    const { view, tokens, passages } = shown(cats({ words: true }));
    expect(tokens().map(({ textContent }) => textContent)).toContain("cats");
    view.draw(cats({ threshold: 0.5 }), PALETTES.dark);
    view.highlight(query(4));
    expect(tokens().filter((piece) => shade(piece) !== "")).toHaveLength(1);
    expect(passages()[0].textContent).toBe("[CLS] the cats sat. the end");
  });

  test("of a signed measure has two hues", () => {
    const { view, tokens, legend } = shown(signedPane());
    view.highlight(query(1));
    expect(new Set(tokens().map(shade)).size).toBeGreaterThan(2);
    expect(tokens().some((piece) => piece.parentElement?.title.endsWith("(below zero)"))).toBe(
      true,
    );
    expect(legend()).toContain("blue: above zero, orange: below, gray: both");
  });

  test("of a measure without queries is shaded by its norms, whatever is in focus", () => {
    const { view, tokens, legend, chosen } = shown(contractPane({ measure: "value-norm" }));
    const before = tokens().map(shade);
    chosen.role = "query";
    view.highlight(key(1));
    expect(tokens().map(shade)).toEqual(before);
    expect(legend()[0]).toContain("of the sum of all ‖f(x)‖");
  });
});

describe("pointing at a token", () => {
  const over = (node: Element, type = "pointerover") =>
    node.dispatchEvent(new PointerEvent(type, { bubbles: true }));

  test("previews it in the role of the state, and clicking pins it", () => {
    const { token, told, chosen, passages } = shown(cats());
    over(token("sat"));
    token("sat").click();
    chosen.role = "key";
    over(token("sat"));
    over(passages()[0].firstElementChild as Element);
    over(passages()[0], "pointerleave");
    expect(told).toEqual([
      ...["hover query 4", "pin query 4", "hover key 4", "hover nothing", "hover nothing"],
    ]);
  });

  test("leaves the pinned token outlined", () => {
    const { view, marked } = shown(cats(), { pinned: query(4) });
    view.highlight(query(1));
    expect([marked("nv-pinned"), marked("nv-on")]).toEqual([["sat"], ["the"]]);
  });

  test("can be about what a token takes or gives", () => {
    const { view, button, told, chosen } = shown(cats());
    const [takes, gives] = [button("takes from"), button("gives to")];
    gives.click();
    expect(told).toEqual(['choose {"role":"key"}']);
    chosen.role = "key";
    view.highlight(null);
    expect([takes, gives].map((one) => one.getAttribute("aria-pressed"))).toEqual([
      "false",
      "true",
    ]);
  });

  test("has no effect after the end", () => {
    const { token, told, leave, type, found, button } = shown(cats());
    leave();
    over(token("sat"));
    token("sat").click();
    button("gives to").click();
    type("the");
    expect([told, found()]).toEqual([[], ""]);
  });
});

describe("two texts", () => {
  const pane = () => opened("towers", { stream: "text.cross", view: "text" }).pane();

  test("are shown one above the other, each shaded by the token in focus of the other", () => {
    const { view, passages, tokens, told } = shown(pane());
    expect(passages().map(({ textContent }) => textContent)).toEqual([
      "Tengo tres gatos. </s>",
      "<pad> I have three cats.",
    ]);
    const titles = [...view.node.querySelectorAll(".nv-passage-title")];
    expect(titles.map(({ textContent }) => textContent)).toEqual(["read from", "receives"]);
    const areShaded = () => [0, 1].map((at) => tokens(at).some((piece) => shade(piece) !== ""));
    expect(areShaded()).toEqual([true, false]);
    view.highlight(query(2));
    expect(areShaded()).toEqual([true, false]);
    view.highlight(key(2));
    expect(areShaded()).toEqual([false, true]);
    tokens(0)[1].click();
    tokens(1)[1].click();
    expect(told).toEqual(["pin key 1", "pin query 1"]);
  });

  test("have no choice of role, and are searched together", () => {
    const { view, type, found, press } = shown(pane());
    expect(view.node.querySelector<HTMLElement>("[role=group].nv-segmented")?.hidden).toBe(true);
    type("t");
    expect(found()).toBe("1 of 5");
    press("Enter");
    expect(found()).toBe("2 of 5");
  });
});

describe("the search", () => {
  test("marks every match, and Enter goes from one to the next and around", () => {
    const { type, found, marked, press } = shown(cats());
    type("THE");
    expect(found()).toBe("1 of 2");
    expect([marked("nv-match"), marked("nv-current")]).toEqual([["the", "the"], ["the"]]);
    press("Enter");
    expect(found()).toBe("2 of 2");
    press("Enter");
    expect(found()).toBe("1 of 2");
    type("t");
    press("Enter", { shiftKey: true });
    expect(found()).toBe("4 of 4");
    press("Enter", { shiftKey: true });
    expect(found()).toBe("3 of 4");
  });

  test("has buttons, which rest if nothing is found", () => {
    const { type, found, button, marked } = shown(cats());
    const [back, on] = [button("previous"), button("next")];
    expect([back.disabled, on.disabled]).toEqual([true, true]);
    type("cats sat");
    expect(marked("nv-current")).toEqual(["cat", "s", "sat"]);
    type("the");
    on.click();
    expect(found()).toBe("2 of 2");
    back.click();
    expect(found()).toBe("1 of 2");
    type("dog");
    expect([found(), on.disabled]).toEqual(["no match", true]);
  });

  test("is cleared by Escape, which then reaches the page", () => {
    const { type, found, marked, press, input } = shown(cats());
    const passed: string[] = [];
    document.body.addEventListener("keydown", ({ key: name }) => passed.push(name));
    type("the");
    press("Escape");
    expect([input.value, found(), marked("nv-match"), passed]).toEqual(["", "", [], []]);
    press("Escape");
    expect(passed).toEqual(["Escape"]);
  });

  test("stays while the picture changes", () => {
    const { view, type, press, found, marked } = shown(cats());
    type("the");
    press("Enter");
    view.draw(cats({ words: true }), PALETTES.dark);
    view.highlight(null);
    expect([found(), marked("nv-match")]).toEqual(["2 of 2", ["the", "the"]]);
    type("s");
    press("Enter", { shiftKey: true });
    expect(found()).toBe("3 of 3");
    view.draw(cats({ special: "hidden" }), PALETTES.dark);
    expect(found()).toBe("2 of 2");
  });
});

describe("a long text", () => {
  const COUNT = 3000;
  const long = (prefix = "w") => {
    const keys = labels(prefix, COUNT);
    const weights = [[Array.from({ length: COUNT }, (_, at) => (at === 2900 ? 9 : 0.001))]];
    return deep(
      [weights[0]].map((layer) => [layer]),
      {
        stream: { kind: "cross", queries: labels("q", 1), keys },
      },
    );
  };

  test("has only the lines in and near sight in the page", () => {
    const { tokens, passages, token } = shown(long());
    const [box] = passages();
    expect(tokens().length).toBeGreaterThan(50);
    expect(tokens().length).toBeLessThan(600);
    expect(Number.parseFloat((box.firstElementChild as HTMLElement).style.height)).toBeGreaterThan(
      5000,
    );
    box.scrollTop = 4000;
    box.dispatchEvent(new Event("scroll"));
    expect(token("w0")).toBeUndefined();
    expect(tokens().length).toBeLessThan(800);
    expect(tokens().every((piece) => shade(piece) !== "")).toBe(true);
  });

  test("scrolls to a match and to a token that comes into focus elsewhere", () => {
    const { view, token, type, marked } = shown(long());
    expect(token("w2900")).toBeUndefined();
    type("w2900");
    expect(marked("nv-current")).toEqual(["w2900"]);
    view.highlight(key(5));
    expect(token("w5").classList).toContain("nv-on");
    expect(token("w2900")).toBeUndefined();
  });

  test("stays where it is for another layer, and begins anew with another text", () => {
    const { view, passages, token, type } = shown(long());
    type("w2900");
    const { scrollTop } = passages()[0];
    view.draw(long(), PALETTES.dark);
    expect(passages()[0].scrollTop).toBe(scrollTop);
    view.draw(long("v"), PALETTES.dark);
    expect(passages()[0].scrollTop).toBe(0);
    expect(token("v0")).toBeDefined();
  });
});

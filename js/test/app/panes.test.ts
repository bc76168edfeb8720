import { beforeEach, describe, expect, test } from "vitest";
import { mount } from "../../src/app/mount";
import { PALETTES } from "../../src/draw/colors";
import type { ViewState } from "../../src/wire/types";
import { store, tiles } from "../support/fixtures";
import { scoped } from "../support/scope";

const scope = scoped();
let root: HTMLElement;

function open(changes: Partial<ViewState>) {
  const chosen = store({ theme: "light", ...changes });
  mount(root, chosen, tiles(), scope.signal);
  const texts = (which: string) =>
    [...root.querySelectorAll(which)].map((node) => node.textContent ?? "");
  return { chosen, texts };
}

beforeEach(() => {
  root = document.createElement("div");
  document.body.append(root);
});

const PAIR = { measure: "weight", compare: "weighted-norm" };

describe("two measures side by side", () => {
  test("have their names and words above, in their hues", () => {
    const { texts } = open(PAIR);
    expect(texts(".nv-caption")).toEqual(["α where it looks", "‖αf(x)‖ what it moves"]);
    const names = [...root.querySelectorAll<HTMLElement>(".nv-caption b")];
    const { weight, norm } = PALETTES.light.hues;
    expect(names.map(({ style }) => style.color)).toEqual([weight, norm]);
  });

  test("are each put into words, in their own pane, and follow the token in focus", () => {
    const { chosen, texts } = open(PAIR);
    const told = () => texts(".nv-pane .nv-readout .nv-sentence");
    expect(told().map((text) => text.split(": ")[0])).toEqual([
      "Layer 0, mean of 2 heads, α",
      "Layer 0, mean of 2 heads, ‖αf(x)‖",
    ]);
    chosen.hover.set({ role: "query", token: 1 });
    for (const text of told()) expect(text).toContain("‘chat’ takes");
    expect(texts(".nv-pane table caption")).toHaveLength(2);
  });

  test("have one line about who rises and falls, below both", () => {
    const { texts } = open(PAIR);
    const [line] = texts(".nv-changes");
    expect(line).toMatch(/^From α to ‖αf\(x\)‖/);
    expect(root.querySelector(".nv-pane .nv-changes")).toBeNull();
  });
});

test("a difference is one picture, with its two measures named above", () => {
  const { texts } = open({ ...PAIR, difference: true });
  expect(texts(".nv-caption")).toEqual(["‖αf(x)‖ − α where they differ"]);
  expect(texts(".nv-sentence")[0]).toMatch(/^Layer 0, mean of 2 heads, ‖αf\(x\)‖ − α: ‘/);
});

test.each(["stack", "grid", "profile"] as const)(
  "a difference is drawn in the %s too, as its measures are",
  (view) => {
    const { texts } = open({ ...PAIR, difference: true, view });
    expect(texts("[role=status]")).toEqual([""]);
    expect(texts(".nv-notice")).toEqual([]);
    expect(texts(".nv-sentence")[0]).not.toBe("");
  },
);

test("one measure is named above its picture, and another layer by its number", () => {
  expect(open({}).texts(".nv-caption")).toEqual(["‖αf(x)‖ what it moves"]);
  expect(open({ compare: 2 }).texts(".nv-caption")).toEqual(["layer 0", "layer 2"]);
});

test("the finding stands above the controls", () => {
  open({});
  const order = [...root.children].map((node) => node.className);
  expect(order.indexOf("nv-headline")).toBeGreaterThan(order.indexOf("nv-title"));
  expect(order.indexOf("nv-rows")).toBe(order.indexOf("nv-headline") + 1);
});

import { beforeEach, describe, expect, test } from "vitest";
import { createControls } from "../../src/app/controls";
import { PALETTES } from "../../src/draw/colors";
import type { Store } from "../../src/state/store";
import { store, tiles } from "../support/fixtures";

let chosen: Store;
let panel: ReturnType<typeof createControls>;

const find = (selector: string) => [...panel.node.querySelectorAll<HTMLElement>(selector)];
const named = (title: string) => find(`[aria-label^="${title}"]`)[0];
const on = (group: string) =>
  find(`[role=group][aria-label=${group}] [aria-pressed=true]`).map((made) => made.textContent);
const press = (made: HTMLElement) => {
  made.click();
  panel.show(PALETTES.light);
};

beforeEach(() => {
  chosen = store();
  panel = createControls(chosen, tiles(), new AbortController().signal);
  panel.show(PALETTES.light);
});

describe("the controls", () => {
  test("offer the measures that the stream holds, by their labels and keys", () => {
    const buttons = find("[aria-label=measure] button");
    expect(buttons.map((made) => made.textContent)).toEqual([
      "α",
      "‖f(x)‖",
      "‖αf(x)‖",
      "‖Σ αf(x)‖",
    ]);
    expect(buttons[1].title).toContain("(key 2)");
    press(buttons[0]);
    expect(chosen.state.value.measure).toBe("weight");
    expect(on("measure")).toEqual(["α"]);
  });

  test("keep their elements, and so the keyboard's focus, while the stream is the same", () => {
    const before = find("button");
    press(named("head 3"));
    expect(find("button").every((made, index) => made === before[index])).toBe(true);
  });

  test("follow another stream", () => {
    press(named("the cross stream"));
    expect(find("[aria-label=measure] button").map((made) => made.textContent)).toEqual(["α"]);
    expect(find("select[aria-label=layer] option").map((made) => made.textContent)).toEqual(["1"]);
    expect(on("stream")).toEqual(["cross"]);
  });

  test("step layers, and cannot step beyond them", () => {
    const [before, after] = [named("layer before"), named("layer after")] as HTMLButtonElement[];
    expect([before.disabled, after.disabled]).toEqual([true, false]);
    press(after);
    expect(chosen.state.value.layer).toBe(2);
    expect([before.disabled, after.disabled]).toEqual([false, true]);
  });

  test("name the heads by the model's numbers and show which are on", () => {
    expect(on("heads")).toEqual(["all", "1", "3"]);
    press(named("head 3"));
    expect(on("heads")).toEqual(["3"]);
    press(named("all heads"));
    expect(on("heads")).toEqual(["all", "1", "3"]);
  });

  test("hide the heads of a measure that has none", () => {
    const chips = find(".nv-heads")[0];
    expect(chips.hidden).toBe(false);
    press(find("[aria-label=measure] button")[3]);
    expect(chips.hidden).toBe(true);
  });

  test("hide a head that has no others to choose from", () => {
    press(named("the cross stream"));
    expect(find(".nv-heads")[0].hidden).toBe(true);
  });

  test.each([
    ["scale", "query", "normalize"],
    ["theme", "dark", "theme"],
  ] as const)("offer a list for the %s", (label, value, trait) => {
    const select = find(`select[aria-label=${label}]`)[0] as HTMLSelectElement;
    select.value = value;
    select.dispatchEvent(new Event("change"));
    expect(chosen.state.value[trait]).toBe(value);
  });

  test("say what they are to those who cannot see them", () => {
    for (const made of find("button, select, [role=group]")) {
      expect(made.getAttribute("aria-label")).toBeTruthy();
    }
  });
});

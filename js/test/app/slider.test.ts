import { beforeEach, describe, expect, test } from "vitest";
import { createControls } from "../../src/app/controls";
import { PALETTES } from "../../src/draw/colors";
import type { Store } from "../../src/state/store";
import * as plain from "../support/fixtures";
import { store, tall, tiles } from "../support/rungs";

let chosen: Store;
let panel: ReturnType<typeof createControls>;

const find = <T extends HTMLElement>(selector: string) => [
  ...panel.node.querySelectorAll<T>(selector),
];
const slider = () => find<HTMLInputElement>(".nv-ladder input")[0];
const names = () => find(".nv-stop");
const list = (name: string) => find<HTMLSelectElement>(`select[aria-label="${name}"]`)[0];
const slide = (to: number) => {
  slider().value = String(to);
  slider().dispatchEvent(new Event("input"));
  panel.show(PALETTES.light);
};
const pick = (name: string, value: string) => {
  const select = list(name);
  select.value = value;
  select.dispatchEvent(new Event("change"));
  panel.show(PALETTES.light);
};
const open = (made: Store) => {
  chosen = made;
  panel = createControls(chosen, tiles(), new AbortController().signal);
  panel.show(PALETTES.light);
};

beforeEach(() => open(tall()));

describe("the slider", () => {
  test("takes the place of the buttons and stands at the measure that is chosen", () => {
    expect(find("[aria-label=measure].nv-segmented")[0].hidden).toBe(true);
    expect([slider().min, slider().max, slider().value]).toEqual(["0", "8", "2"]);
    expect(names().map((name) => name.classList.contains("nv-on"))).toEqual(
      names().map((_, at) => at === 2),
    );
  });

  test("chooses the measure of the stop it is moved to", () => {
    slide(8);
    expect(chosen.state.value.measure).toBe("layer-output");
    slide(0);
    expect(chosen.state.value.measure).toBe("weight");
  });

  test("says its stop and what that means to those who cannot see it", () => {
    slide(4);
    expect(slider().getAttribute("aria-valuetext")).toBe(
      "+ residual: what each key contributes, including the residual connection",
    );
    expect(slider().getAttribute("aria-label")).toContain("measure");
    expect(find(".nv-stops")[0].getAttribute("aria-hidden")).toBe("true");
  });

  test("has names that can be clicked, and tell the key that does the same", () => {
    names()[6].click();
    expect(chosen.state.value.measure).toBe("feed-forward");
    expect(names()[6].title).toContain("(key 7)");
  });

  test("keeps its elements, and so the keyboard's focus, while the flow is the same", () => {
    const before = [slider(), ...names()];
    slide(5);
    expect([slider(), ...names()].every((made, at) => made === before[at])).toBe(true);
  });

  test("keeps the button of the heads where a rung has none, so that all stays in place", () => {
    const [title] = find<HTMLButtonElement>(".nv-opening .nv-menu");
    const seen = () => [title.closest<HTMLElement>(".nv-opening")?.hidden, title.disabled];
    expect(seen()).toEqual([false, false]);
    expect(title.textContent).toBe("heads: all");
    slide(5);
    expect(seen()).toEqual([false, true]);
    expect(title.textContent).toBe("heads: together");
  });

  test("has one name for rungs that coincide", () => {
    open(store());
    expect(names().map((name) => name.textContent)).toContain("+ residual = + LayerNorm");
    expect(names()).toHaveLength(7);
  });
});

describe("measures that reach back through the layers", () => {
  test("stand in a list, not on the slider, and leave it faint", () => {
    expect(slider().classList.contains("nv-off")).toBe(false);
    pick("reaching back", "rollout:layer-output");
    expect(chosen.state.value.measure).toBe("rollout:layer-output");
    expect(slider().classList.contains("nv-off")).toBe(true);
    expect(slider().value).toBe("8");
    expect(slider().getAttribute("aria-valuetext")).toContain("not on the ladder");
  });

  test("are what the stack traces by, and its first entry goes back to where one was", () => {
    chosen.choose({ view: "stack" });
    slide(5);
    expect(list("trace by").options[0].text).toBe("layer by layer");
    pick("trace by", "decomposition");
    expect(chosen.state.value.measure).toBe("decomposition");
    pick("trace by", "");
    expect(chosen.state.value.measure).toBe("feed-forward");
  });

  test("go back to what they carry where a view was opened with them", () => {
    open(tall(undefined, { measure: "rollout:weight" }));
    pick("reaching back", "");
    expect(chosen.state.value.measure).toBe("weight");
  });

  test("come in groups where there are several kinds", () => {
    const groups = [...list("reaching back").querySelectorAll("optgroup")];
    expect(groups.map(({ label }) => label)).toEqual(["rollout", "exact"]);
  });

  test("are offered only where a flow holds some", () => {
    open(store());
    expect(list("reaching back").closest("label")?.hidden).toBe(true);
  });
});

test("measures that are neither have a list of their own", () => {
  open(tall(["effective-weight"]));
  pick("other measures", "effective-weight");
  expect(chosen.state.value.measure).toBe("effective-weight");
  pick("other measures", "");
  expect(chosen.state.value.measure).toBe("weighted-norm");
});

test("what to compare with is listed in groups where there is much", () => {
  const groups = () => [...list("compare with").querySelectorAll("optgroup")];
  expect(groups().map(({ label }) => label)).toEqual(["measure", "reaching back", "layer"]);
  open(plain.store());
  expect(groups()).toEqual([]);
});

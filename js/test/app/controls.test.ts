import { beforeEach, describe, expect, test, vi } from "vitest";
import { createControls } from "../../src/app/controls";
import { headColor, PALETTES } from "../../src/draw/colors";
import type { Store } from "../../src/state/store";
import type { ViewState } from "../../src/wire/types";
import { store, tiles } from "../support/fixtures";

let chosen: Store;
let panel: ReturnType<typeof createControls>;

const find = (selector: string) => [...panel.node.querySelectorAll<HTMLElement>(selector)];
const titled = (title: string) => find(`[title^="${title}"]`)[0];
const inside = (group: string) => find(`[aria-label="${group}"] button`);
const on = (group: string) =>
  inside(group)
    .filter((made) => made.getAttribute("aria-pressed") === "true")
    .map((made) => made.textContent);
const press = (made: HTMLElement) => {
  made.click();
  panel.show(PALETTES.light);
};
const open = (changes: Partial<ViewState> = {}, held = tiles()) => {
  chosen = store(changes);
  panel = createControls(chosen, held, new AbortController().signal);
  panel.show(PALETTES.light);
};

beforeEach(() => {
  localStorage.clear();
  open();
});

describe("the controls", () => {
  test("offer the measures that the stream holds, by their labels, words and keys", () => {
    const buttons = inside("measure");
    expect(buttons.map((made) => made.textContent)).toEqual([
      "α where it looks",
      "‖f(x)‖ what it holds",
      "‖αf(x)‖ what it moves",
    ]);
    expect(buttons[1].title).toContain("(key 2)");
    press(buttons[0]);
    expect(chosen.state.value.measure).toBe("weight");
    expect(on("measure")).toEqual(["α where it looks"]);
  });

  test("offer measures without such words in a list", () => {
    const [list] = find('select[aria-label="other measures"]') as HTMLSelectElement[];
    expect([...list.options].map(({ text }) => text)).toEqual(["none", "‖Σ αf(x)‖"]);
    list.value = "attention";
    list.dispatchEvent(new Event("change"));
    expect(chosen.state.value.measure).toBe("attention");
    panel.show(PALETTES.light);
    expect(on("measure")).toEqual([]);
    list.value = "";
    list.dispatchEvent(new Event("change"));
    expect(chosen.state.value.measure).toBe("weighted-norm");
  });

  test("keep their elements, and so the keyboard's focus, while the stream is the same", () => {
    const before = find("button");
    press(titled("head 3"));
    expect(find("button").every((made, index) => made === before[index])).toBe(true);
  });

  test("follow another stream", () => {
    press(titled("the cross stream"));
    expect(inside("measure").map((made) => made.textContent)).toEqual(["α where it looks"]);
    // It holds only α, so nothing differs.
    expect(inside("layer").map((made) => made.title)).toEqual(["layer 1"]);
    expect(on("stream")).toEqual(["cross"]);
  });

  test("offer the layers as bars, and show which is on", () => {
    expect(on("layer")).toEqual(["0"]);
    press(inside("layer")[1]);
    expect(chosen.state.value.layer).toBe(2);
    expect(on("layer")).toEqual(["2"]);
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
    for (const made of find("select, [role=group], [role=toolbar]")) {
      expect(made.getAttribute("aria-label")).toBeTruthy();
    }
    for (const made of find("button")) {
      expect(made.getAttribute("aria-label") ?? made.textContent).toMatch(/\w|‖|α/);
    }
  });
});

describe("two measures", () => {
  test("are shown side by side, or as one picture of their difference", () => {
    const [pair, difference] = inside("two measures");
    expect([pair, difference].map((made) => made.textContent)).toEqual([
      "α | ‖αf(x)‖",
      "difference",
    ]);
    press(pair);
    expect(chosen.state.value).toMatchObject({
      ...{ measure: "weight", compare: "weighted-norm", difference: false },
    });
    expect(on("two measures")).toEqual(["α | ‖αf(x)‖"]);
    expect(on("measure")).toEqual([]);
    press(difference);
    expect(chosen.state.value).toMatchObject({ compare: "weighted-norm", difference: true });
    expect(on("two measures")).toEqual(["difference"]);
  });

  test("end where one is chosen", () => {
    press(inside("two measures")[1]);
    press(inside("measure")[2]);
    expect(chosen.state.value).toMatchObject({
      ...{ measure: "weighted-norm", compare: null, difference: false },
    });
    expect(on("two measures")).toEqual([]);
    expect(on("measure")).toEqual(["‖αf(x)‖ what it moves"]);
  });

  test("are the weight and the chosen one, if that has queries", () => {
    const label = () => inside("two measures")[0].textContent;
    open({ measure: "attention" });
    expect(label()).toBe("α | ‖Σ αf(x)‖");
    open({ measure: "value-norm" });
    expect(label()).toBe("α | ‖αf(x)‖");
    open({ measure: "attention", compare: "weighted-norm" });
    expect(label()).toBe("‖Σ αf(x)‖ | ‖αf(x)‖");
  });

  test("are not offered where a view or a stream has no two", () => {
    const [group] = find('[aria-label="two measures"]');
    expect(group.hidden).toBe(false);
    press(titled("thumbnails"));
    expect(group.hidden).toBe(true);
    open({ stream: "cross", measure: "weight", layer: 1 });
    expect(find('[aria-label="two measures"]')[0].hidden).toBe(true);
  });

  test("have no difference in views of all layers, which show them side by side", () => {
    open({ measure: "weight", compare: "weighted-norm", difference: true });
    expect(inside("two measures")[1].hidden).toBe(false);
    press(titled("all layers"));
    expect(inside("two measures")[1].hidden).toBe(true);
    expect(on("two measures")).toEqual(["α | ‖αf(x)‖"]);
  });
});

describe("the heads", () => {
  const title = () => find(".nv-opening .nv-menu")[0] as HTMLButtonElement;
  const box = () => find(".nv-popup")[0];

  test("are named by the model's numbers, and show which are on", () => {
    expect(inside("heads").map((made) => made.textContent)).toEqual(["all", "strongest", "1", "3"]);
    expect(on("heads")).toEqual(["all"]);
    press(titled("head 3"));
    expect(on("heads")).toEqual(["3"]);
    expect(title().textContent).toBe("heads: 3");
    press(titled("all heads"));
    expect(on("heads")).toEqual(["all"]);
    expect(title().textContent).toBe("heads: all");
  });

  test("have the colors of their ribbons", () => {
    const color = (head: string) => titled(`head ${head}`).style.getPropertyValue("--nv-head");
    expect(color("3")).toBe(headColor(3, PALETTES.light));
    expect(color("1")).toBe(headColor(1, PALETTES.light));
  });

  test("are in a box, which a button opens and closes", () => {
    expect([box().hidden, title().getAttribute("aria-expanded")]).toEqual([true, "false"]);
    press(title());
    expect([box().hidden, title().getAttribute("aria-expanded")]).toEqual([false, "true"]);
    press(title());
    expect(box().hidden).toBe(true);
  });

  test("have the one that moves most, for the token in focus or overall", () => {
    const held = tiles();
    // Head 1 reads the first token, and head 3 the others.
    const rows = [new Array(3).fill([1, 0, 0]), new Array(3).fill([0, 1, 1])];
    held.layer = () => Float32Array.from(rows.flat(2));
    const strongest = (token: number | null) => {
      open({ measure: "weight", token, role: "key" }, held);
      press(titled("the head that moves the most"));
      return chosen.state.value.heads;
    };
    expect([null, 0, 1].map(strongest)).toEqual([[3], [1], [3]]);
  });

  test("cannot be chosen for a measure that has none", () => {
    chosen.choose({ measure: "attention" });
    panel.show(PALETTES.light);
    expect([title().disabled, title().textContent]).toEqual([true, "heads: together"]);
  });

  test("are hidden where there are no others to choose from", () => {
    const hidden = () => title().closest<HTMLElement>(".nv-opening")?.hidden;
    expect(hidden()).toBe(false);
    press(titled("the cross stream"));
    expect(hidden()).toBe(true);
  });
});

describe("further controls", () => {
  const more = () => find("button").find((made) => made.textContent === "more") as HTMLElement;
  const row = () => find(".nv-more")[0];

  test("are in a second row, which opens in place and is remembered", () => {
    expect([row().hidden, more().getAttribute("aria-expanded")]).toEqual([true, "false"]);
    press(more());
    expect([row().hidden, more().getAttribute("aria-expanded")]).toEqual([false, "true"]);
    open();
    expect(row().hidden).toBe(false);
    press(more());
    open();
    expect(row().hidden).toBe(true);
  });

  test("open and close where nothing can be remembered", () => {
    const refuse = () => {
      throw new Error("no storage here");
    };
    vi.stubGlobal("localStorage", { getItem: refuse, setItem: refuse });
    open();
    press(more());
    expect(row().hidden).toBe(false);
    vi.unstubAllGlobals();
  });
});

import { describe, expect, test } from "vitest";
import { createControls } from "../../src/app/controls";
import { actionFor } from "../../src/app/keyboard";
import { PALETTES } from "../../src/draw/colors";
import { Store } from "../../src/state/store";
import type { Header } from "../../src/wire/types";
import { type Opened, opened } from "../support/fixtures";

function shown({ store, tiles }: Pick<Opened, "store" | "tiles">) {
  const panel = createControls(store, tiles, new AbortController().signal);
  const show = () => panel.show(PALETTES.light);
  show();
  const find = <T extends HTMLElement>(which: string) => [...panel.node.querySelectorAll<T>(which)];
  return { node: panel.node, show, find };
}

describe("the layer control of a model with layers without attention", () => {
  test("has them at their places, as bars that cannot be chosen", () => {
    const { find } = shown(opened("hybrid"));
    const bars = find<HTMLButtonElement>("[aria-label=layer] button");
    expect(bars.map((bar) => [bar.textContent, bar.disabled, bar.title])).toEqual([
      ["0", true, "layer 0: no attention, but JambaMambaMixer"],
      ["1", false, "layer 1: weight and norm differ by 0.4%"],
      ["2", true, "layer 2: no attention, but JambaMambaMixer"],
      ["3", true, "layer 3: no attention, but JambaMambaMixer"],
      ["4", false, "layer 4: weight and norm differ by 1.9%"],
      ["5", true, "layer 5: no attention, but Conv"],
      ["6", true, "layer 6: no attention, but Conv"],
    ]);
  });

  test("says that measures differ only where there are two", () => {
    const { store, tiles } = opened("hybrid");
    const [flow] = store.header.flows;
    const alone = flow.streams[0].headlines.map((headline) => ({
      ...headline,
      parts: headline.parts.slice(0, 2),
    }));
    const streams = [{ ...flow.streams[0], headlines: alone }];
    const header: Header = { ...store.header, flows: [{ ...flow, streams }] };
    const { find } = shown({ store: new Store(header, store.state.value), tiles });
    expect(find("[data-layer='4']")[0].title).toBe("layer 4");
  });

  test("steps over them, with its arrows and with the keyboard", () => {
    const { store, tiles } = opened("hybrid");
    const { node, find } = shown({ store, tiles });
    document.body.append(node);
    const [, first, , , last] = find<HTMLButtonElement>("[aria-label=layer] button");
    first.focus();
    const arrow = new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true });
    first.dispatchEvent(arrow);
    expect(document.activeElement).toBe(last);
    last.click();
    expect(store.state.value.layer).toBe(4);
    node.remove();
    actionFor(store, "[")?.();
    expect(store.state.value.layer).toBe(1);
    actionFor(store, "[")?.();
    expect(store.state.value.layer).toBe(1);
  });

  test("has only what there is in other models", () => {
    const { find } = shown(opened("towers"));
    const bars = find<HTMLButtonElement>("[aria-label=layer] button");
    expect(bars.map((bar) => bar.textContent)).toEqual(["0", "1"]);
    expect(bars.some(({ disabled }) => disabled)).toBe(false);
  });
});

describe("the bars of the layers", () => {
  /** The towers with other layers of vision, and how far the measures differ in each. */
  function differing(differences: number[]): Opened {
    const { store, tiles, pane } = opened("towers");
    const [flow] = store.header.flows;
    const [vision, ...rest] = flow.streams;
    const layers = differences.map((_, layer) => layer);
    const headlines = differences.map((difference, layer) => ({ layer, difference, parts: [] }));
    const streams = [{ ...vision, layers, headlines }, ...rest];
    const held: Header = { ...store.header, flows: [{ ...flow, streams }] };
    return { store: new Store(held, store.state.value), tiles, pane };
  }

  const heights = (find: ReturnType<typeof shown>["find"]) =>
    find("[aria-label=layer] button i").map(({ style }) => style.height);

  test("are as high as weight and norm differ, and the lowest can be seen", () => {
    const { find } = shown(differing([0.1, 0.4, 0]));
    expect(heights(find)).toEqual(["34%", "100%", "12%"]);
  });

  test("are all full where nothing is known", () => {
    const { find } = shown(differing([0, 0]));
    expect(heights(find)).toEqual(["100%", "100%"]);
  });

  test("choose a layer, which is told beside them and is the stop of the Tab key", () => {
    const { store, tiles } = opened("towers");
    const { find, show } = shown({ store, tiles });
    const bars = find<HTMLButtonElement>("[aria-label=layer] button");
    const seen = () => bars.map((bar) => [bar.getAttribute("aria-pressed"), bar.tabIndex]);
    expect(seen()).toEqual([
      ["true", 0],
      ["false", -1],
    ]);
    bars[1].click();
    show();
    expect(store.state.value.layer).toBe(1);
    expect(find(".nv-layer")[0].textContent).toBe("1");
    expect(seen()).toEqual([
      ["false", -1],
      ["true", 0],
    ]);
  });

  test("have only some numbers where there are many", () => {
    const { find } = shown(differing(new Array(34).fill(0.1)));
    const texts = find("[aria-label=layer] button").map((bar) => bar.textContent);
    expect(texts.filter((text) => text !== "").slice(0, 4)).toEqual(["0", "3", "6", "9"]);
  });

  test("are hidden where there is only one layer", () => {
    const { store, tiles } = opened("towers", { stream: "text.cross" });
    const { find } = shown({ store, tiles });
    expect(find(".nv-layers")[0].closest<HTMLElement>(".nv-picker")?.hidden).toBe(true);
  });
});

describe("the stream control", () => {
  /** The towers with twenty streams. */
  function many(): Opened {
    const { store, tiles, pane } = opened("towers");
    const { header } = store;
    const [flow] = header.flows;
    const [vision] = flow.streams;
    const names = Array.from({ length: 17 }, (_, at) => `vision.${at + 2}`);
    const streams = [...flow.streams, ...names.map((name) => ({ ...vision, name }))];
    const { defaults } = header.state;
    const more = Object.fromEntries(names.map((name) => [name, defaults.vision]));
    const state = { ...header.state, defaults: { ...defaults, ...more } };
    const held: Header = { ...header, flows: [{ ...flow, streams }], state };
    return { store: new Store(held, store.state.value), tiles, pane };
  }

  test("has a button for each of a few streams", () => {
    const { find } = shown(opened("towers"));
    const buttons = find("[role=toolbar][aria-label=stream] button");
    expect(buttons.map((made) => made.textContent)).toEqual(["vision", "text", "text.cross"]);
    expect(find("select[aria-label=stream]")).toHaveLength(0);
  });

  test("is a list for many", () => {
    const { store, tiles, pane } = many();
    const { find } = shown({ store, tiles });
    expect(pane().stream.name).toBe("vision");
    expect(find("[role=toolbar][aria-label=stream]")).toHaveLength(0);
    const [list] = find<HTMLSelectElement>("select[aria-label=stream]");
    expect(list.options).toHaveLength(20);
    expect(list.value).toBe("vision");
    list.value = "vision.18";
    list.dispatchEvent(new Event("change"));
    expect(store.state.value.stream).toBe("vision.18");
  });
});

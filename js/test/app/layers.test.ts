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
  return { show, find };
}

describe("the layer control of a model with layers without attention", () => {
  test("lists them at their places, as entries that cannot be chosen", () => {
    const { find } = shown(opened("hybrid"));
    const options = find<HTMLOptionElement>("select[aria-label=layer] option");
    expect(options.map((option) => [option.textContent, option.disabled, option.title])).toEqual([
      ["0 · no attention", true, "JambaMambaMixer"],
      ["1", false, ""],
      ["2 · no attention", true, "JambaMambaMixer"],
      ["3 · no attention", true, "JambaMambaMixer"],
      ["4", false, ""],
      ["5 · no attention", true, "Conv"],
      ["6 · no attention", true, "Conv"],
    ]);
  });

  test("steps over them, with its buttons and with the keyboard", () => {
    const { store, tiles } = opened("hybrid");
    const { show, find } = shown({ store, tiles });
    const [before, after] = find<HTMLButtonElement>(".nv-stepper button");
    expect([before.disabled, after.disabled]).toEqual([true, false]);
    after.click();
    show();
    expect(store.state.value.layer).toBe(4);
    expect([before.disabled, after.disabled]).toEqual([false, true]);
    actionFor(store, "[")?.();
    expect(store.state.value.layer).toBe(1);
    actionFor(store, "[")?.();
    expect(store.state.value.layer).toBe(1);
  });

  test("lists only what there is in other models", () => {
    const { find } = shown(opened("towers"));
    const options = find("select[aria-label=layer] option");
    expect(options.map((option) => option.textContent)).toEqual(["0", "1"]);
    expect(find(".nv-gappy")).toHaveLength(0);
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
    const buttons = find("[role=group][aria-label=stream] button");
    expect(buttons.map((made) => made.textContent)).toEqual(["vision", "text", "text.cross"]);
    expect(find("select[aria-label=stream]")).toHaveLength(0);
  });

  test("is a list for many", () => {
    const { store, tiles, pane } = many();
    const { find } = shown({ store, tiles });
    expect(pane().stream.name).toBe("vision");
    expect(find("[role=group][aria-label=stream]")).toHaveLength(0);
    const [list] = find<HTMLSelectElement>("select[aria-label=stream]");
    expect(list.options).toHaveLength(20);
    expect(list.value).toBe("vision");
    list.value = "vision.18";
    list.dispatchEvent(new Event("change"));
    expect(store.state.value.stream).toBe("vision.18");
  });
});

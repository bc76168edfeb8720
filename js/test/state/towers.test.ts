import { describe, expect, test } from "vitest";
import { panesOf, shownStreams, translateFocus, viewsOf } from "../../src/state/pane";
import { defaultsOf, Store } from "../../src/state/store";
import { readHash, writeHash } from "../../src/state/url";
import type { Header, Stream } from "../../src/wire/types";
import { opened } from "../support/fixtures";

const { store, tiles } = opened("towers");
const { header } = store;
const first = store.state.value;
const [flow] = header.flows;

/** The same flow with other streams. */
function withStreams(streams: Stream[], defaults = header.state.defaults): Header {
  return { ...header, flows: [{ ...flow, streams }], state: { ...header.state, defaults } };
}

describe("streams named after towers", () => {
  test("are told apart by their kinds, not by their names", () => {
    expect(flow.streams.map(({ name, kind }) => [name, kind])).toEqual([
      ["vision", "encoder"],
      ["text", "decoder"],
      ["text.cross", "cross"],
    ]);
  });

  test("are chosen by name, and each has its defaults", () => {
    const { store: chosen } = opened("towers", { layer: 0, stream: "text.cross" });
    expect(chosen.state.value).toMatchObject({ stream: "text.cross", layer: 1 });
    for (const stream of flow.streams) expect(defaultsOf(header, stream).view).toBe("flow");
  });

  test("have an alignment if one of them is cross-attention, which is then chosen", () => {
    const { store: chosen } = opened("towers");
    expect(viewsOf(header)).toContain("alignment");
    chosen.choose({ view: "alignment" });
    expect(chosen.state.value).toMatchObject({ view: "alignment", stream: "text.cross" });
    chosen.choose({ stream: "vision" });
    expect(chosen.state.value).toMatchObject({ view: "flow", stream: "vision" });
  });

  test("keep the alignment on the cross-attention that is chosen", () => {
    const second = { ...flow.streams[2], name: "audio.cross" };
    const defaults = {
      ...header.state.defaults,
      "audio.cross": header.state.defaults["text.cross"],
    };
    const chosen = new Store(withStreams([...flow.streams, second], defaults), first);
    chosen.choose({ stream: "audio.cross" });
    chosen.choose({ view: "alignment" });
    expect(chosen.state.value.stream).toBe("audio.cross");
  });

  test("are written into an address and read from it", () => {
    const { store: chosen } = opened("towers", { stream: "text.cross", token: 3, role: "key" });
    const hash = writeHash(chosen.state.value, first);
    expect(hash).toBe("stream=text.cross&layer=1&token=3&role=key");
    expect(readHash(`#${hash}`, header, first)).toEqual({
      state: chosen.state.value,
      problems: [],
    });
    const numbered = writeHash(chosen.state.value, first, 2);
    expect(readHash(`#${numbered}`, header, first, 2).state).toEqual(chosen.state.value);
    expect(readHash("#stream=cross", header, first).problems).toEqual(["stream=cross"]);
  });

  test("are offered only if they hold numbers", () => {
    const { vision: _, ...defaults } = header.state.defaults;
    const held = withStreams(flow.streams, defaults);
    expect(shownStreams(held).map(({ name }) => name)).toEqual(["text", "text.cross"]);
    const state = { ...first, stream: "text" };
    expect(readHash("#stream=vision", held, state).problems).toEqual(["stream=vision"]);
  });

  test("have their own counterparts in another flow", () => {
    const back = { there: [1, 0], back: [1, 0] };
    const pair: Header = {
      ...header,
      flows: [flow, flow],
      counterparts: [{ "text.cross": { queries: back, keys: back } }],
    };
    const [, other] = panesOf(
      pair,
      { ...first, stream: "text.cross", layer: 1, compare: "other" },
      tiles,
    );
    const focus = { role: "query" as const, token: 0 };
    expect(translateFocus(pair, other, focus, "there")).toEqual({ role: "query", token: 1 });
  });

  test("hold the numbers that Python wrote under their names", () => {
    const stream = flow.streams[2];
    expect(tiles.layer(0, stream, "weighted-norm", 1)).toHaveLength(2 * 7 * 7);
    expect(tiles.overview(0, stream, "weight")?.about.rows).toBe(7);
  });
});

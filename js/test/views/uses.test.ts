import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { PALETTES } from "../../src/draw/colors";
import { type Pane, panesOf } from "../../src/state/pane";
import { KINDS, usesOf } from "../../src/views/index";
import { STATE_KEYS, type ViewName, type ViewState } from "../../src/wire/types";
import { header, opened } from "../support/fixtures";
import { scoped } from "../support/scope";

const scope = scoped();

/** Everything painted on any canvas, as text. */
const painted: string[] = [];

/** A canvas context that writes down what is painted. */
function scribe(): object {
  const kept: Record<string, unknown> = {};
  return new Proxy(kept, {
    get: (_, name) => {
      if (name === "measureText") return () => ({ width: 10 });
      if (name in kept) return kept[String(name)];
      return (...given: unknown[]) => {
        painted.push(`${String(name)} ${JSON.stringify(given)} ${JSON.stringify(kept)}`);
        return { data: [] };
      };
    },
    set: (_, name, value) => {
      kept[String(name)] = value;
      return true;
    },
  });
}

beforeEach(() => {
  document.body.replaceChildren();
  vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockImplementation(() => scribe() as never);
  vi.stubGlobal("Path2D", class {});
  for (const size of ["clientWidth", "clientHeight", "offsetWidth"] as const) {
    vi.spyOn(HTMLElement.prototype, size, "get").mockReturnValue(600);
  }
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** The elements of a view that are not hidden. */
function visibleIn(node: HTMLElement): string {
  const copy = node.cloneNode(true) as HTMLElement;
  for (const hidden of copy.querySelectorAll("[hidden]")) hidden.remove();
  return copy.outerHTML;
}

/** What a reader sees of these panes: elements, marks and words; not the legend, which may say that
 * something is ignored. */
function seen(panes: Pane[]): string {
  painted.length = 0;
  return panes
    .map((pane) => {
      const { state } = pane;
      const pinned = state.token === null ? null : { role: state.role, token: state.token };
      const nothing = { hover: vi.fn(), pin: vi.fn(), choose: vi.fn() };
      const view = KINDS[state.view].create({ ...nothing, pinned: () => pinned }, scope.signal);
      document.body.append(view.node);
      expect(view.draw(pane, PALETTES.light)).toBe(true);
      view.highlight(pinned);
      const marks = [...(view.vectors?.().values() ?? [])].flat();
      const words = JSON.stringify(view.describe(pinned));
      return [visibleIn(view.node), words, ...marks].join("\n");
    })
    .concat(painted)
    .join("\n");
}

/** Other values of each part of the state that has a control of its own. */
const OTHERS: Partial<{ [key in keyof ViewState]: ViewState[key][] }> = {
  layer: [0, 1],
  heads: [[0]],
  normalize: ["absolute", "layer", "query"],
  words: [true, false],
  special: ["shown", "hidden", "dimmed"],
  threshold: [0.4],
  color_by: ["rank"],
  target_row: ["output", "input"],
};

/** The panes of the flow with two towers: of a text, or of the cross-attention. */
function panesWith(changes: Partial<ViewState>): Pane[] {
  const stream = changes.view === "alignment" ? "text.cross" : "vision";
  const { store, tiles } = opened("towers", { stream, ...changes });
  const panes = panesOf(store.header, store.state.value, tiles);
  return KINDS[store.state.value.view].pairs ? panes : panes.slice(0, 1);
}

/** The parts of the state with a control that changes what is seen. */
function changing(base: Partial<ViewState>): string[] {
  const before = seen(panesWith(base));
  return Object.entries(OTHERS)
    .filter(([key, values]) =>
      values.some((value) => seen(panesWith({ ...base, [key]: value })) !== before),
    )
    .map(([key]) => key);
}

const CASES: [name: string, state: Partial<ViewState>][] = [
  ["flow", { view: "flow", measure: "weight" }],
  ["flow of norms", { view: "flow", measure: "value-norm" }],
  ["flow without heads", { view: "flow", measure: "attention" }],
  ["matrix", { view: "matrix", measure: "weight" }],
  ["matrix of norms", { view: "matrix", measure: "value-norm" }],
  ["stack of all tokens", { view: "stack", measure: "weight" }],
  ["stack of a query", { view: "stack", measure: "weight", token: 1, role: "query" }],
  ["stack of a key", { view: "stack", measure: "weight", token: 1, role: "key" }],
  ["stack of norms, which is none", { view: "stack", measure: "value-norm" }],
  ["two layers of a stack", { view: "stack", measure: "weight", compare: 1, layer: 0 }],
  ["stack of another text", { view: "stack", measure: "weight", stream: "text.cross" }],
  ["grid", { view: "grid", measure: "weight" }],
  ["grid beside a measure", { view: "grid", measure: "weight", compare: "weighted-norm" }],
  ["profile", { view: "profile", measure: "weight" }],
  ["alignment", { view: "alignment", measure: "weight" }],
  ["alignment without heads", { view: "alignment", measure: "attention" }],
  ["alignment of norms, which is none", { view: "alignment", measure: "value-norm" }],
];

describe("what a view uses", () => {
  test.each(CASES)("is what changes it: %s", (_, base) => {
    const [pane] = panesWith(base);
    const uses = usesOf(pane.state.view, pane);
    const told = STATE_KEYS.filter((key) => key in OTHERS && uses.has(key));
    // One layer of the towers has cross-attention, so another cannot be tried.
    const untried = pane.stream.layers.length > 1 ? [] : ["layer"];
    expect(changing(base).sort()).toEqual(told.filter((key) => !untried.includes(key)).sort());
  });
});

describe("a measure without queries", () => {
  test("is drawn by every view but those that need them", () => {
    const norm = header.flows[0].measures.find(({ id }) => id === "value-norm");
    if (!norm) throw new Error("the contract lacks the norms");
    const refusing = (Object.keys(KINDS) as ViewName[]).filter(
      (view) => KINDS[view].canShow?.(norm) === false,
    );
    expect(refusing).toEqual(["stack", "alignment"]);
  });
});

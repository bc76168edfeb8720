import { describe, expect, test } from "vitest";
import { residualMeasure, stackDefaults } from "../../src/state/opening";
import { Store } from "../../src/state/store";
import type { Flow, Header, Measure, Stream, ViewState } from "../../src/wire/types";
import { header, state } from "../support/fixtures";
import { measureWith, rolloutOf } from "../support/measures";

const rung = (id: string): Measure => measureWith({ id, family: "ladder", has_residual: true });
const KNOWN = [
  measureWith(),
  measureWith({ id: "weighted-norm" }),
  measureWith({ id: "attention", family: "ladder" }),
  rung("attention-residual"),
  rung("attention-block"),
  rung("layer-output"),
  measureWith({ id: "globenc", family: "contribution", has_residual: true }),
  measureWith({ id: "value-zeroing", family: "value-zeroing", has_residual: true }),
  measureWith({ id: "decomposition", family: "decomposition", has_residual: true }),
  measureWith(rolloutOf("weight")),
];

/** The contract's flow, whose first stream holds these measures. */
function holding(measures: string[], changes: Partial<Stream> = {}): Header {
  const [flow] = header.flows;
  const [first, ...others] = flow.streams;
  const held: Flow = {
    ...flow,
    measures: KNOWN,
    streams: [{ ...first, ...changes, measures }, ...others],
  };
  return { ...header, flows: [held] };
}

function storeOf(measures: string[], changes: Partial<ViewState> = {}): Store {
  return new Store(holding(measures), { ...state, measure: "weight", ...changes });
}

describe("the measure with the residual connection", () => {
  const chosen = (...measures: string[]) => {
    const [flow] = holding(measures).flows;
    return residualMeasure(flow, flow.streams[0])?.id ?? null;
  };

  test("is the one nearest to the whole layer", () => {
    expect(chosen("weight", "attention", "attention-residual")).toBe("attention-residual");
    expect(chosen("weight", "attention-residual", "attention-block")).toBe("attention-block");
    expect(chosen("attention-block", "layer-output", "decomposition")).toBe("layer-output");
  });

  test("may be another than a rung, and is none if the flow cannot tell", () => {
    expect(chosen("weight", "globenc", "rollout:weight")).toBe("globenc");
    expect(chosen("value-zeroing", "decomposition", "rollout:weight")).toBe("decomposition");
    expect(chosen("weight", "rollout:weight")).toBe("rollout:weight");
    expect(chosen("weight", "value-zeroing")).toBe("value-zeroing");
    expect(chosen("weight", "weighted-norm", "attention")).toBeNull();
  });
});

describe("turning to the stack", () => {
  const HELD = ["weight", "weighted-norm", "attention-block"];

  test("includes the residual connection, and leaving it returns to the measure before", () => {
    const store = storeOf(HELD, { compare: "weighted-norm" });
    store.openView("stack");
    expect(store.state.value).toMatchObject({
      view: "stack",
      measure: "attention-block",
      compare: null,
    });
    store.openView("matrix");
    expect(store.state.value).toMatchObject({
      view: "matrix",
      measure: "weight",
      compare: "weighted-norm",
    });
  });

  test("keeps a measure that was chosen there", () => {
    const store = storeOf(HELD);
    store.openView("stack");
    store.choose({ measure: "weighted-norm" });
    store.openView("stack");
    expect(store.state.value.measure).toBe("weighted-norm");
    store.openView("flow");
    expect(store.state.value.measure).toBe("weighted-norm");
  });

  test("changes nothing if the flow cannot tell, or if it is included already", () => {
    const without = storeOf(["weight", "weighted-norm"], { compare: "weighted-norm" });
    without.openView("stack");
    expect(without.state.value).toMatchObject({ measure: "weight", compare: "weighted-norm" });
    const rolled = storeOf([...HELD, "rollout:weight"], { measure: "rollout:weight" });
    rolled.openView("stack");
    expect(rolled.state.value.measure).toBe("rollout:weight");
  });

  test("keeps a comparison of layers", () => {
    const store = storeOf(HELD, { compare: 2 });
    store.openView("stack");
    expect(store.state.value).toMatchObject({ measure: "attention-block", compare: 2 });
  });
});

describe("the defaults of a stack", () => {
  const defaults = (measures: string[], changes: Partial<Stream> = {}) => {
    const [flow] = holding(measures, changes).flows;
    return stackDefaults(flow, flow.streams[0]);
  };

  test("are one measure, traced from the last layer", () => {
    const last = { compare: null, layer: 2 };
    expect(defaults(["weight", "attention-block"])).toEqual({
      ...last,
      measure: "attention-block",
    });
    expect(defaults(["weight", "weighted-norm"])).toEqual({ ...last, measure: "weighted-norm" });
    expect(defaults(["weight"])).toEqual(last);
  });

  test("do not trace what cannot be chained", () => {
    const held = ["weighted-norm", "attention-block"];
    expect(defaults(held, { interruption: "no attention in layer 1" }).measure).toBe(
      "weighted-norm",
    );
    expect(defaults(held, { kind: "cross" }).measure).toBe("weighted-norm");
  });
});

import { describe, expect, test } from "vitest";
import { actionFor } from "../../src/app/keyboard";
import { aliasLabels, groupMeasures, measureOrder } from "../../src/data/ladder";
import { canonicalId, panesOf } from "../../src/state/pane";
import { readHash } from "../../src/state/url";
import * as plain from "../support/fixtures";
import { header, statistics, store, tall, tiles } from "../support/rungs";

const offered = ({ flow, stream }: ReturnType<typeof store>) => groupMeasures(flow, stream);

describe("the ladder", () => {
  test("has a stop for every rung held, from the weight to the whole layer", () => {
    expect(offered(tall()).stops.map(({ label }) => label)).toEqual([
      "α",
      "‖f(x)‖",
      "‖αf(x)‖",
      "‖Σ αf(x)‖",
      "+ residual",
      "+ LayerNorm",
      "through FF",
      "+ residual 2",
      "whole layer",
    ]);
  });

  test("has one stop for rungs that coincide, and says so", () => {
    expect(
      offered(store())
        .stops.slice(4)
        .map(({ label }) => label),
    ).toEqual(["+ residual = + LayerNorm", "through FF", "+ residual 2 = whole layer"]);
    const [flow] = header.flows;
    expect(aliasLabels(flow, flow.streams[0], "attention-residual")).toEqual(["+ LayerNorm"]);
    expect(aliasLabels(flow, flow.streams[0], "weight")).toEqual([]);
  });

  test("is none where a flow holds only the sum over heads: its measures stand side by side", () => {
    const { stops, buttons, others } = offered(plain.store());
    expect(stops).toEqual([]);
    expect(buttons).toEqual(["weight", "value-norm", "weighted-norm"]);
    expect(others).toEqual(["attention"]);
  });

  test("of measures without a few words for a button has them all as buttons", () => {
    const { flow, stream } = plain.store();
    const measures = flow.measures.map((measure) => ({ ...measure, short: "" }));
    const { buttons, others } = groupMeasures({ ...flow, measures }, stream);
    expect(buttons).toEqual(["weight", "value-norm", "weighted-norm", "attention"]);
    expect(others).toEqual([]);
  });

  test("leaves what reaches back, and what is neither, beside it", () => {
    const { reachingInput, others, stops } = offered(
      tall(["effective-weight", "rollout:layer-output"]),
    );
    expect(reachingInput).toEqual(["rollout:layer-output"]);
    expect(others).toEqual(["effective-weight"]);
    expect(stops).toHaveLength(9);
  });

  test("gives the digits to the stops first", () => {
    const chosen = tall(["effective-weight"]);
    expect(measureOrder(offered(chosen)).at(-1)).toBe("effective-weight");
    actionFor(chosen, "9")?.();
    expect(chosen.state.value.measure).toBe("layer-output");
  });
});

describe("a rung's second name", () => {
  test("opens the rung that is held, as a measure and beside another", () => {
    const chosen = store();
    chosen.choose({ measure: "layer-output", compare: "attention-block" });
    expect(chosen.state.value).toMatchObject({
      measure: "feed-forward-residual",
      compare: "attention-residual",
    });
  });

  test("opens it from the address too", () => {
    const { state, problems } = readHash("#measure=layer-output&compare=attention-block", header, {
      ...store().state.value,
    });
    expect(problems).toEqual([]);
    expect(state.measure).toBe("feed-forward-residual");
    expect(state.compare).toBe("attention-residual");
  });

  test("opens it in the other flow, which holds what the first one has under another name", () => {
    const first = tall([], { measure: "layer-output", compare: "other" });
    const both = { ...first.header, flows: [first.flow, header.flows[0]], counterparts: [{}] };
    const [, second] = panesOf(both, first.state.value, tiles());
    expect(second.measure.id).toBe("feed-forward-residual");
    expect(second.state.measure).toBe("feed-forward-residual");
  });

  test("is no name that every object has", () => {
    expect(canonicalId(header.flows[0].streams[0], "constructor")).toBe("constructor");
  });
});

test.each(statistics)("what Python read of a rung arrives: $statistic layer $layer", (expected) => {
  const [stream] = header.flows[0].streams;
  expect(stream.statistics).toContain(expected.statistic);
  const found = tiles().layer(0, stream, expected.statistic, expected.layer);
  expect(found).toHaveLength(expected.values.length);
  expected.values.forEach((value, at) => {
    expect(Math.abs((found?.[at] ?? Number.NaN) - value)).toBeLessThanOrEqual(
      0.005 * Math.abs(value) + 1e-7,
    );
  });
});

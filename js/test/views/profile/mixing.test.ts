import { describe, expect, test } from "vitest";
import { formatPercent, headColor, PALETTES } from "../../../src/draw/colors";
import { panesOf } from "../../../src/state/pane";
import { Tiles } from "../../../src/state/tiles";
import { profileOf } from "../../../src/views/profile/data";
import { curveChart } from "../../../src/views/profile/layout";
import {
  describeMixing,
  type Mixing,
  meanOf,
  mixingLines,
  mixingOf,
} from "../../../src/views/profile/mixing";
import { profileView } from "../../../src/views/profile/view";
import { describeProfile, profileLines } from "../../../src/views/profile/words";
import type { ViewState } from "../../../src/wire/types";
import { scribe } from "../../support/deep";
import * as plain from "../../support/fixtures";
import { header, statistics, store, tiles } from "../../support/rungs";

const pane = (changes: Partial<ViewState> = {}, from = tiles()) =>
  panesOf(header, store(changes).state.value, from)[0];

function mixing(changes: Partial<ViewState> = {}): Mixing {
  const found = mixingOf(pane(changes), PALETTES.light);
  if (!found) throw new Error("the contract lacks these numbers");
  return found;
}

const ratios = (rung: string, layer: number) =>
  statistics.find(({ statistic, layer: at }) => statistic === `mixing:${rung}` && at === layer)
    ?.values ?? [];

const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

describe("the mixing ratio", () => {
  test("has a curve for every rung held, the mean over the queries by layer", () => {
    const { curves } = mixing();
    expect(curves.map(({ name }) => name)).toEqual([
      "‖Σ αf(x)‖",
      "+ residual",
      "through FF",
      "+ residual 2",
    ]);
    for (const { kind, shares } of curves) {
      shares.forEach((share, layer) => {
        expect(Math.abs(share - mean(ratios(kind.id, layer)))).toBeLessThan(0.005);
      });
    }
  });

  test("leaves hidden tokens out of the mean, and says so", () => {
    const { curves, count } = mixing({ special: "hidden" });
    const [, ...shown] = ratios("attention", 0);
    expect(count).toBe(2);
    expect(Math.abs(curves[0].shares[0] - mean(shown))).toBeLessThan(0.005);
    expect(mixingLines(mixing({ special: "hidden" }))).toContain(
      "1 hidden special tokens are not in the mean",
    );
    expect(mixingLines(mixing())).toHaveLength(1);
  });

  test("brings out the rung that is chosen, and no other", () => {
    const chosen = mixing({ measure: "layer-output" }).curves.filter(({ isChosen }) => isChosen);
    expect(chosen.map(({ kind }) => kind.id)).toEqual(["feed-forward-residual"]);
    expect(chosen[0].kind.color).toBe(headColor(null, PALETTES.light));
    expect(mixing({ measure: "weight" }).curves.some(({ isChosen }) => isChosen)).toBe(false);
  });

  test("has names and shapes that differ, at the ends of the curves", () => {
    const { curves } = mixing();
    expect(new Set(curves.map(({ kind }) => kind.shape)).size).toBe(curves.length);
    const { labels } = curveChart(mixing(), 400, 250);
    expect(labels.map(({ text }) => text)).toEqual(curves.map(({ name }) => name));
  });

  test("is not shown where it is not known, and waited for where it is", () => {
    expect(mixingOf(plain.contractPane(), PALETTES.light)).toBeNull();
    const empty = new Tiles([], new DataView(new ArrayBuffer(0)), () => undefined);
    expect(mixingOf(pane({}, empty), PALETTES.light)).toBeUndefined();
    empty.close();
  });

  test("has a mean also where all tokens are special", () => {
    expect(meanOf([0.2, 0.4], [false, false])).toBeCloseTo(0.3);
  });
});

describe("the mixing ratio in words", () => {
  test("is that of the chosen rung, or of the highest", () => {
    const share = formatPercent(mean(ratios("attention-residual", 1)));
    expect(describeMixing(mixing({ measure: "attention-block" }), 1, null).notes).toEqual([
      `In layer 1, ${share} of a token's vector after the residual comes from other tokens (mixing ratio).`,
    ]);
    expect(describeMixing(mixing(), 1, null).notes[0]).toContain("after the second residual");
  });

  test("is also that of the token that is pinned", () => {
    const { notes, also } = describeMixing(mixing(), 0, { role: "query", token: 2 });
    const own = formatPercent(ratios("feed-forward-residual", 0)[2]);
    expect(notes[0]).toContain(`(mixing ratio; of ‘animal’ ${own})`);
    expect(also[0].columns).toEqual(["", "rung", "mean", "‘animal’"]);
    expect(also[0].rows[3]).toHaveLength(4);
  });

  test("is a table of all rungs", () => {
    const { also } = describeMixing(mixing(), 0, null);
    expect(also[0].caption).toBe("Layer 0: mixing ratio, mean over 3 tokens");
    expect(also[0].rows.map(([, label]) => label)).toEqual(mixing().curves.map(({ name }) => name));
  });

  test("stands below what the profile says of the layer", () => {
    const profile = profileOf(pane(), PALETTES.light);
    if (!profile) throw new Error("the contract lacks these numbers");
    const at = { layer: 0, isPointed: false };
    const { sentence, notes, also } = describeProfile(profile, null, null, at, mixing());
    expect(sentence).toContain("Layer 0:");
    expect(notes).toHaveLength(1);
    expect(also?.[0].rows).toHaveLength(4);
    expect(profileLines(profile, null, null, mixing()).at(-1)).toContain("mean over 3 tokens");
  });
});

test("the profile has a panel for it only where it is known, with what is chosen in front", () => {
  const draw = (shown: ReturnType<typeof pane>) => {
    const view = profileView(scribe().actions, new AbortController().signal);
    view.draw(shown, PALETTES.light);
    return view.node.querySelector<HTMLElement>(".nv-mixing");
  };
  const panel = draw(pane());
  expect([...(panel?.querySelectorAll(".nv-name text") ?? [])].map((t) => t.textContent)).toEqual(
    mixing().curves.map(({ name }) => name),
  );
  expect(draw(plain.contractPane())).toBeNull();
  const front = draw(pane({ measure: "attention-residual" }))?.querySelectorAll(".nv-curve");
  expect(front?.[front.length - 1].getAttribute("data-kind")).toBe("attention-residual");
});

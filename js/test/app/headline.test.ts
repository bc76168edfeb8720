import { expect, test } from "vitest";
import { headline } from "../../src/app/headline";
import { measureColor, PALETTES } from "../../src/draw/colors";
import { Store } from "../../src/state/store";
import { store } from "../support/fixtures";

function shown(chosen = store()) {
  const { node, show } = headline(chosen);
  show(PALETTES.light);
  return { chosen, node, show };
}

test("the headline is the finding of the layer that is shown", () => {
  const { chosen, node, show } = shown();
  expect(node.textContent).toBe(
    "In layer 0, ‘le’ takes 27% of the attention weight and 13% of what attention moves.",
  );
  chosen.choose({ layer: 2 });
  show(PALETTES.light);
  expect(node.textContent).toContain("In layer 2,");
});

test("its numbers have the hues of their measures, and its words have none", () => {
  const { node, show } = shown();
  const seen = () =>
    [...node.querySelectorAll("span")].map((part) => [part.textContent, part.style.color]);
  for (const palette of [PALETTES.light, PALETTES.dark]) {
    show(palette);
    expect(seen()[1]).toEqual(["27%", measureColor({ of_weights: true }, palette)]);
    expect(seen()[4]).toEqual(["13%", measureColor({ of_weights: false }, palette)]);
    expect(seen()[2]).toEqual([" of the attention weight", ""]);
  }
});

test("it is hidden for a layer without a finding, and never parsed as markup", () => {
  const { header, state } = store();
  const [flow] = header.flows;
  const [encoder, ...rest] = flow.streams;
  const parts: [string, string][] = [["<b>le</b>", ""]];
  const streams = [{ ...encoder, headlines: [{ layer: 2, difference: 0, parts }] }, ...rest];
  const { chosen, node, show } = shown(
    new Store({ ...header, flows: [{ ...flow, streams }] }, state.value),
  );
  expect([node.hidden, node.textContent]).toEqual([true, ""]);
  chosen.choose({ layer: 2 });
  show(PALETTES.light);
  expect([node.hidden, node.textContent]).toEqual([false, "<b>le</b>"]);
});

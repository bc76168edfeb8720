"""Negative numbers in a real browser: both sides of zero are painted and described."""

import re

import pytest
from flows import signed_flow
from playwright.sync_api import expect

MEASURE = "effective-weight"


INKS = """canvas => {
  const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let [blue, orange] = [0, 0];
  for (let at = 0; at < data.length; at += 4) {
    if (data[at + 3] < 40) continue;
    if (data[at + 2] > data[at] + 25) blue++;
    if (data[at] > data[at + 2] + 25) orange++;
  }
  return [blue, orange];
}"""
"""How many pixels of a canvas are rather blue, and how many rather orange."""


@pytest.mark.parametrize("view", ["flow", "matrix", "grid"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_view_paints_both_sides_of_zero(show, view, theme):
    tab = show(signed_flow(), measure=MEASURE, view=view, theme=theme)
    legend = tab.locator(".nv-legend")
    expect(legend).to_contain_text("blue: above zero, orange: below")
    tab.wait_for_timeout(400)
    blue, orange = tab.locator(".nv-base").first.evaluate(INKS)
    assert min(blue, orange) > 300
    tab.keyboard.press("1")  # to weights, which are never negative
    expect(legend).not_to_contain_text("orange")


def test_a_pinned_token_says_which_of_its_parts_are_negative(show):
    tab = show(signed_flow(), measure=MEASURE, heads=[0], token=2)
    sentence = tab.locator(".nv-sentence")
    expect(sentence).to_contain_text("of all it takes, signs aside")
    expect(sentence).to_contain_text(re.compile(r"% from ‘.+?’ \(negative\)"))
    expect(tab.locator(".nv-readout table")).to_contain_text("−0.")


def test_all_layers_are_traced_by_size(show):
    tab = show(signed_flow(), measure=MEASURE, view="stack", token=2)
    expect(tab.locator(".nv-legend")).to_contain_text("by size, signs aside")

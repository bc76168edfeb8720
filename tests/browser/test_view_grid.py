"""The grid of small pictures in a real browser, used as a person would."""

import re

import numpy as np
import pytest
from browser import choose_head, expect_layer, ink, pressed
from flows import random_flow, softmax, two_streams
from playwright.sync_api import expect

from normviz.io.from_arrays import from_arrays
from normviz.view.tiles import total_variation

PIXEL = """(canvas, [x, y]) => {
  const ratio = canvas.width / canvas.clientWidth;
  const {data} = canvas.getContext('2d').getImageData(x * ratio, y * ratio, 1, 1);
  return [...data.slice(0, 3)];
}"""


def thumb(tab, name):
    return tab.locator(f".nv-thumb[data-name='{name}']")


def color(tab, name, across, down):
    """The color of a place in a small picture, from 0 to 1 along both sides."""
    box = thumb(tab, name).locator(".nv-box").bounding_box()
    canvas = tab.locator(".nv-base").bounding_box()
    at = [
        box["x"] - canvas["x"] + across * box["width"],
        box["y"] - canvas["y"] + down * box["height"],
    ]
    return tab.locator(".nv-base").evaluate(PIXEL, at)


def apart(flow, layer):
    """How far weight and norm disagree in each head of a layer."""
    return total_variation(flow["weight"][layer], flow["weighted-norm"][layer])


def test_every_head_is_painted_in_its_own_place(show):
    weights = np.zeros((2, 2, 4, 4), np.float32)
    weights[0, 0] = weights[1, 1] = np.eye(4)
    weights[0, 1, :, 0] = weights[1, 0, :, 3] = 1
    tab = show(from_arrays(weights, list("abcd")), view="grid")
    full, nothing = (
        color(tab, "layer 0, head 0", 0.1, 0.1),
        color(tab, "layer 0, head 0", 0.9, 0.1),
    )
    assert sum(full) < sum(nothing) - 200
    assert color(tab, "layer 0, head 0", 0.9, 0.9) == full
    assert color(tab, "layer 0, head 1", 0.1, 0.9) == full
    assert color(tab, "layer 0, head 1", 0.9, 0.9) == nothing
    assert color(tab, "layer 1, head 0", 0.9, 0.1) == full
    assert color(tab, "layer 1, head 1", 0.4, 0.4) == full


def test_a_click_opens_the_head(show):
    tab = show(random_flow(), view="grid")
    thumb(tab, "layer 2, head 1").click()
    assert pressed(tab, "view") == ["flow"]
    expect(tab.locator(".nv-sentence")).to_contain_text("Layer 2, head 1,")
    assert pressed(tab, "heads") == ["1"]


def test_the_keyboard_goes_through_the_heads_and_opens_one(show):
    tab = show(random_flow(), view="grid", layer=1)
    tab.locator("select[aria-label=order]").focus()
    tab.keyboard.press("Tab")
    sentence = tab.locator(".nv-sentence")
    expect(sentence).to_contain_text("Layer 1, head 0,")
    for key, words in (("ArrowRight", "Layer 1, head 1,"), ("ArrowDown", "Layer 2, head 1,")):
        tab.keyboard.press(key)
        expect(sentence).to_contain_text(words)
    expect(tab.locator(".nv-legend")).not_to_contain_text("highlighted")
    tab.keyboard.press("]")
    expect_layer(tab, 2)
    assert tab.evaluate("document.activeElement.dataset.name") == "layer 2, head 1"
    tab.keyboard.press("Enter")
    expect(sentence).to_contain_text("Layer 2, head 1,")
    assert pressed(tab, "view") == ["flow"]


def test_the_focus_can_be_seen(show):
    tab = show(random_flow(), view="grid")
    tab.locator("select[aria-label=order]").focus()
    tab.keyboard.press("Tab")
    outline = "node => getComputedStyle(node).outlineWidth"
    assert thumb(tab, "layer 0, head 0").locator(".nv-box").evaluate(outline) == "2px"


def test_pointing_at_a_head_tells_its_largest_number(show):
    flow = random_flow()
    tab = show(flow, view="grid", measure="weight")
    values = flow["weight"][1][3]
    query, key = divmod(int(values.argmax()), len(flow.tokens))
    thumb(tab, "layer 1, head 3").hover()
    sentence = tab.locator(".nv-sentence")
    expect(sentence).to_contain_text("Layer 1, head 3, α: the largest is ")
    told = float(re.search(r"largest is ([\d.]+)", sentence.inner_text()).group(1))
    assert told == pytest.approx(values.max(), rel=0.005)
    expect(sentence).to_contain_text(f"to ‘{flow.tokens[query]}’ from ‘{flow.tokens[key]}’")
    expect(tab.locator("tbody tr")).to_have_count(8)
    tab.mouse.move(5, 790)
    expect(sentence).to_contain_text("α: strongest is")


def test_a_comparison_sorts_by_disagreement_and_says_how_far(show):
    flow = random_flow()
    tab = show(flow, view="grid", measure="weight", compare="weighted-norm")
    found = [
        (value, f"{layer}·{head}")
        for layer in range(3)
        for head, value in enumerate(apart(flow, layer))
    ]
    wanted = [f"{name} {value:.2f}" for value, name in sorted(found, reverse=True)]
    assert tab.locator(".nv-under").all_inner_texts() == wanted
    expect(tab.locator(".nv-sentence")).to_contain_text(f"disagrees most ({max(found)[0]:.2f})")
    tab.locator("select[aria-label=order]").select_option("")
    numbers = [f"{value:.2f}" for layer in range(3) for value in apart(flow, layer)]
    assert tab.locator(".nv-under").all_inner_texts() == numbers
    expect(tab.locator("[role=rowheader]")).to_have_text(["0", "1", "2"])


def test_an_order_can_be_asked_for_when_nothing_is_compared(show):
    tab = show(random_flow(), view="grid", measure="weight")
    expect(tab.locator(".nv-under").first).to_be_empty()
    tab.locator("select[aria-label=order]").select_option("weighted-norm")
    expect(tab.locator(".nv-under").first).not_to_be_empty()
    expect(tab.locator(".nv-legend")).to_contain_text("total variation distance from ‖αf(x)‖")
    expect(tab.locator(".nv-sentence")).to_contain_text("α against ‖αf(x)‖")


def test_scaling_is_labeled_and_changes_the_pictures(show):
    tab = show(random_flow(), view="grid")
    seen = [ink(tab)["sum"]]
    for scale, words in (("absolute", "the largest in any layer"), ("query", "own largest")):
        tab.locator("select[aria-label=scale]").select_option(scale)
        expect(tab.locator(".nv-legend")).to_contain_text(words)
        seen.append(ink(tab)["sum"])
    assert len(set(seen)) == 3


def test_a_pinned_token_is_highlighted_in_every_thumbnail(show):
    tab = show(random_flow(), view="grid", role="query", token=2)
    expect(tab.locator(".nv-legend")).to_contain_text("highlighted: ‘animal’")
    expect(tab.locator(".nv-sentence")).to_contain_text("‘animal’ takes most in layer")
    size = thumb(tab, "layer 0, head 0").locator(".nv-box").bounding_box()["width"]
    assert ink(tab, ".nv-top")["inked"] == pytest.approx(12 * size**2 * 5 / 6, rel=0.05)
    tab.locator(".normviz").focus()
    tab.keyboard.press("Escape")
    expect(tab.locator(".nv-legend")).not_to_contain_text("highlighted")
    assert ink(tab, ".nv-top")["inked"] == 0


def test_what_is_chosen_is_marked(show):
    tab = show(random_flow(), view="grid", layer=1, heads=[2])
    selected = tab.locator(".nv-thumb[aria-selected=true]")
    expect(selected).to_have_count(1)
    expect(selected).to_have_attribute("data-name", "layer 1, head 2")
    choose_head(tab, "all")
    expect(selected).to_have_count(4)


def test_measures_without_queries_or_heads_have_strips_and_one_column(show):
    tab = show(two_streams(), view="grid", measure="value-norm")
    strip = thumb(tab, "layer 0, head 1").locator(".nv-box").bounding_box()
    assert strip["height"] < strip["width"] / 2
    expect(tab.locator(".nv-legend")).to_contain_text("it has no queries")
    tab.locator(".normviz").focus()
    tab.keyboard.press("4")
    expect(tab.locator(".nv-column")).to_have_text(["all heads"])
    thumb(tab, "layer 2").click()
    expect(tab.locator(".nv-sentence")).to_contain_text("Layer 2, all heads together")


def test_many_layers_scroll_under_their_headings(show):
    draw = np.random.default_rng(0)
    weights = softmax(draw.normal(0, 2, (24, 16, 30, 30)))
    tab = show(from_arrays(weights, [f"t{index}" for index in range(30)]), view="grid")
    expect(tab.locator(".nv-thumb")).to_have_count(24 * 16)
    scroll = tab.locator(".nv-scroll")
    assert scroll.bounding_box()["height"] <= 700
    thumb(tab, "layer 23, head 15").scroll_into_view_if_needed()
    assert scroll.evaluate("node => node.scrollTop") > 0
    top = scroll.bounding_box()["y"]
    assert tab.locator(".nv-columns").bounding_box()["y"] == pytest.approx(top, abs=4)


def test_a_narrow_page_is_not_made_wider(show):
    tab = show(random_flow(heads=12), view="grid", measure="weight", compare="weighted-norm")
    tab.set_viewport_size({"width": 360, "height": 800})
    for order in ("weighted-norm", ""):
        tab.locator("select[aria-label=order]").select_option(order)
        assert tab.evaluate("document.documentElement.scrollWidth") <= 360
        assert thumb(tab, "layer 0, head 0").locator(".nv-box").bounding_box()["width"] >= 22

"""The first five seconds: what a flow opens with, in a real browser."""

import numpy as np
import pytest
from browser import choose_layer, measure_button, opening, token
from flows import SENTENCE, random_flow, softmax, translation_flow
from playwright.sync_api import expect

from normviz.derived.headline import find_headlines
from normviz.io.from_arrays import from_arrays


def sink_flow(tokens=SENTENCE, *, layers=3):
    """[CLS] takes most of the weight, in the middle layer most of all, and its vector is short."""
    random = np.random.default_rng(7)
    logits = random.normal(size=(layers, 4, len(tokens), len(tokens)))
    logits[..., 0] += np.array([1, 4, 2])[:layers, None, None]
    norms = random.uniform(1, 2, size=(layers, 4, len(tokens)))
    norms[..., 0] = 0.02
    return from_arrays(softmax(logits), list(tokens), value_norms=norms)


@pytest.fixture
def open_fresh(browser, tmp_path):
    """Opens a flow as a new reader would: nothing chosen, nothing remembered."""
    with opening(browser, tmp_path, viewport={"width": 1280, "height": 900}) as opened:

        def open_flow(flow, **state):
            return opened(flow, opening=state)

        yield open_flow


def test_the_finding_stands_above_in_large_type(open_fresh):
    flow = sink_flow()
    tab = open_fresh(flow)
    headline = tab.locator("h2.nv-headline")
    expect(headline).to_have_text(flow.headline)
    assert "In layer 1, ‘[CLS]’ takes" in flow.headline
    size = headline.evaluate("node => parseFloat(getComputedStyle(node).fontSize)")
    assert size >= 20
    hues = [part.evaluate("node => node.style.color") for part in headline.locator("span").all()]
    weight, norm = [hue for hue in hues if hue]
    assert weight != norm


def test_weight_and_norm_open_side_by_side_in_the_layer_where_they_differ_most(open_fresh):
    tab = open_fresh(sink_flow())
    expect(tab.locator(".nv-caption b")).to_have_text(["α", "‖αf(x)‖"])
    expect(tab.locator(".nv-layer")).to_have_text("1")
    expect(tab.locator(".nv-sentence").first).to_contain_text("mean of 4 heads")


def test_the_headline_follows_the_layer(open_fresh):
    flow = sink_flow()
    tab = open_fresh(flow)
    choose_layer(tab, 2)
    expect(tab.locator("h2.nv-headline")).to_have_text(str(find_headlines(flow.encoder)[2]))


def test_shares_are_bars_on_one_scale(open_fresh):
    flow = sink_flow()
    tab = open_fresh(flow)
    shares = [flow.encoder.key_shares(name)[1] for name in ("weight", "weighted-norm")]
    full = max(share.max() for share in shares)
    for pane, share in zip(tab.locator(".nv-pane").all(), shares, strict=True):
        bars = pane.locator(".nv-shares i").all()
        widths = np.array([bar.evaluate("node => parseFloat(node.style.width)") for bar in bars])
        np.testing.assert_allclose(widths / widths.max(), share / share.max(), atol=0.03)
        assert widths.max() == pytest.approx(60 * share.max() / full, abs=0.3)


def test_the_bars_of_the_layers_say_how_far_the_measures_differ(open_fresh):
    tab = open_fresh(sink_flow())
    heights = [
        bar.evaluate("node => node.getBoundingClientRect().height")
        for bar in tab.locator(".nv-layers i").all()
    ]
    found = [headline.difference for headline in find_headlines(sink_flow().encoder)]
    assert np.argsort(heights).tolist() == np.argsort(found).tolist()


def test_a_translation_opens_on_its_alignment(open_fresh):
    tab = open_fresh(translation_flow())
    expect(tab.locator("[aria-label=view] [aria-pressed=true]")).to_have_text("alignment")


def test_a_flow_of_one_measure_opens_on_it_alone(open_fresh):
    weights = softmax(np.random.default_rng(0).normal(size=(2, 2, 4, 4)))
    tab = open_fresh(from_arrays(weights, ["[CLS]", "a", "b", "[SEP]"]))
    expect(tab.locator(".nv-pane")).to_have_count(1)
    expect(tab.locator("h2.nv-headline")).to_contain_text("of the attention weight.")


def test_a_ribbon_answers_the_pointer(open_fresh):
    flow = sink_flow()
    tab = open_fresh(flow)
    box = tab.locator(".nv-base").first.bounding_box()
    left = token(tab, "key", 0).bounding_box()
    row = token(tab, "query", 0).bounding_box()
    middle = (left["x"] + left["width"] + row["x"]) / 2
    tab.mouse.move(middle, row["y"] + row["height"] / 2)
    tip = tab.locator(".nv-tip").first
    expect(tip).to_contain_text("‘[CLS]’ → ‘[CLS]’: α ")
    expect(tip).to_contain_text("of what ‘[CLS]’ takes")
    tab.mouse.move(box["x"] + box["width"] + 2, box["y"] + 2)
    expect(tip).to_be_hidden()


def test_a_difference_is_one_picture_in_the_hues_of_both(open_fresh):
    tab = open_fresh(sink_flow())
    tab.get_by_role("button", name="difference").click()
    expect(tab.locator(".nv-pane")).to_have_count(1)
    expect(tab.locator(".nv-legend")).to_contain_text("orange: more by ‖αf(x)‖, blue: more by α")
    bars = tab.locator(".nv-shares i")
    hues = {bar.evaluate("node => node.style.background") for bar in bars.all()}
    assert len(hues) == 2
    expect(tab.locator("tbody tr").first).to_contain_text("[CLS]")
    expect(tab.locator("tbody tr").first).to_contain_text("−")


def test_three_tokens_use_the_height_there_is(open_fresh):
    tab = open_fresh(random_flow(["a", "b", "c"]))
    assert tab.locator(".nv-tokens").first.bounding_box()["height"] > 150


def test_a_long_text_starts_from_the_strongest_links_of_each_token(open_fresh):
    tab = open_fresh(random_flow([f"t{n}" for n in range(60)], heads=2))
    legend = tab.locator(".nv-legend").first
    expect(legend).to_contain_text("the 3 strongest links of each token drawn")


def test_nothing_jumps_when_measures_are_switched_by_keys(open_fresh):
    tab = open_fresh(sink_flow(), measure="weight")
    tab.locator(".normviz").focus()
    places = set()
    for key in "1313":
        tab.keyboard.press(key)
        expect(measure_button(tab, "α" if key == "1" else "‖αf(x)‖")).to_have_attribute(
            "aria-pressed", "true"
        )
        boxes = [token(tab, role, 3).bounding_box() for role in ("key", "query")]
        places.add(tuple(round(box[name]) for box in boxes for name in ("x", "y")))
    assert len(places) == 1


def test_few_stops_of_the_tab_key_come_before_the_picture(open_fresh):
    tab = open_fresh(sink_flow())
    tab.evaluate("localStorage.removeItem('normviz.more')")
    tab.locator(".nv-controls .nv-menu").last.click()  # closes the row of further controls
    before = """() => [...document.querySelectorAll(
      '.normviz, .nv-rows button, .nv-rows select, .nv-rows input')].filter(
      (node) => node.tabIndex >= 0 && node.checkVisibility({visibilityProperty: true})).length"""
    assert tab.evaluate(before) <= 12


@pytest.mark.parametrize("width", [360, 480, 800, 1600])
def test_the_opening_fits_its_width(browser, tmp_path, width):
    with opening(browser, tmp_path, viewport={"width": width, "height": 800}) as opened:
        tab = opened(sink_flow(), opening={})
        assert tab.evaluate("document.documentElement.scrollWidth") <= width

"""The ladder in a real browser: a slider from the weight to the whole layer, and what it tells."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from browser import ink, pressed, token
from flows import SENTENCE, carried_flow, ladder_flow
from playwright.sync_api import expect

from normviz.core.stream import Layers

STOPS = [
    *("α", "‖f(x)‖", "‖αf(x)‖", "‖Σ αf(x)‖", "+ residual"),
    *("+ LayerNorm", "through FF", "+ residual 2", "whole layer"),
]


def percent(share):
    size = abs(share)
    return f"{size:.0%}" if size >= 0.0995 else f"{size:.1%}"


def slider(tab):
    return tab.locator(".nv-ladder input")


def names(tab):
    return [name.replace("\n", "") for name in tab.locator(".nv-stop").all_text_contents()]


@pytest.mark.parametrize(
    ("at", "measure"), [(0, "weight"), (4, "attention-residual"), (8, "layer-output")]
)
def test_every_rung_is_a_stop_of_the_slider_and_has_its_name_below_it(show, at, measure):
    tab = show(ladder_flow(), measure=measure)
    assert names(tab) == STOPS
    expect(slider(tab)).to_have_value(str(at))
    expect(tab.locator(".nv-stop.nv-on")).to_have_text(STOPS[at])
    box, name = slider(tab).bounding_box(), tab.locator(".nv-stop.nv-on").bounding_box()
    thumb = box["x"] + 7 + (box["width"] - 14) * at / 8
    assert thumb == pytest.approx(name["x"] + name["width"] / 2, abs=1.5)


def test_the_arrow_keys_climb_and_the_digits_choose(show):
    tab = show(ladder_flow(), measure="weight", layer=1)
    slider(tab).focus()
    for _ in range(3):
        tab.keyboard.press("ArrowRight")
    expect(tab.locator(".nv-sentence")).to_contain_text("‖Σ αf(x)‖")
    tab.keyboard.press("End")
    expect(tab.locator(".nv-sentence")).to_contain_text("whole layer")
    expect(slider(tab)).to_have_attribute(
        "aria-valuetext", "whole layer: what each key contributes to the layer's output"
    )
    tab.keyboard.press("6")
    expect(slider(tab)).to_have_value("5")


def test_the_picture_stays_in_place_while_its_ribbons_change_and_the_ranks_are_named(show):
    tab = show(ladder_flow(), measure="weighted-norm", layer=1, token=2)
    before, painted = token(tab, "query", 2).bounding_box(), ink(tab, ".nv-top")
    tab.locator(".nv-stop", has_text="whole layer").click()
    assert token(tab, "query", 2).bounding_box() == before
    assert ink(tab, ".nv-top") != painted
    expect(tab.locator(".nv-changes")).to_contain_text("From ‖αf(x)‖ to whole layer:")
    expect(tab.locator(".nv-changes")).to_contain_text(" from ")
    expect(slider(tab)).to_be_focused()


def test_rungs_that_coincide_are_one_stop_that_either_name_opens(show):
    tab = show(ladder_flow(prenorm=True), measure="layer-output")
    pairs = ["+ residual = + LayerNorm", "+ residual 2 = whole layer"]
    assert names(tab)[4:] == [pairs[0], "through FF", pairs[1]]
    expect(slider(tab)).to_have_value("6")
    expect(tab.locator(".nv-legend")).to_contain_text("in this model the same as whole layer")
    tab.evaluate("location.hash = 'measure=attention-block'")
    expect(slider(tab)).to_have_value("4")
    expect(tab.locator(".normviz-told")).to_be_empty()


@pytest.mark.parametrize("width", [340, 520, 760, 1180])
def test_the_controls_wrap_and_never_cover_the_data(show, width):
    tab = show(ladder_flow(), measure="layer-output")
    tab.set_viewport_size({"width": width, "height": 800})
    end = tab.locator(".nv-rows").bounding_box()
    assert end["y"] + end["height"] <= tab.locator(".nv-gallery").bounding_box()["y"]
    boxes = [name.bounding_box() for name in tab.locator(".nv-stop").all()]
    assert all(one["x"] + one["width"] <= two["x"] + 0.5 for one, two in pairwise(boxes))
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_readout_says_how_much_cancels_and_who_points_against_the_whole(show):
    flow = ladder_flow()
    every = flow.encoder.statistic("projection", "layer-output")[1]
    query = int(every.min(axis=-1).argmin())
    tab = show(flow, measure="layer-output", layer=1, token=query)
    lengths, along = flow["layer-output"][1, query], every[query]
    gone = 1 - along.sum() / lengths.sum()
    notes = tab.locator(".nv-aside")
    expect(notes.first).to_contain_text(f"{percent(gone)} cancels")
    cells = tab.locator(".nv-signed")
    order = np.argsort(-lengths)
    shares = (along / along.sum())[order]
    for place, share in enumerate(shares):
        sign = "−" if share < 0 else ""
        expect(cells.nth(place)).to_have_text(f"{sign}{percent(share)}")
    against, along_it = int(np.argmin(shares)), int(np.argmax(shares))
    assert shares[against] < 0
    bar = "cell => getComputedStyle(cell.querySelector('i'), '::after').backgroundColor"
    assert cells.nth(against).evaluate(bar) == "rgba(0, 0, 0, 0)"
    assert cells.nth(along_it).evaluate(bar) != "rgba(0, 0, 0, 0)"
    expect(notes.nth(1)).to_contain_text(f"‘{SENTENCE[order[against]]}’ (−")


def test_what_comes_from_no_token_is_said_below_the_picture_and_in_the_readout(show):
    tab = show(ladder_flow(), measure="attention-block", layer=1)
    expect(tab.locator(".nv-legend")).to_contain_text("16% from biases")
    expect(tab.locator(".nv-aside")).to_have_text(
        "On average, 16% of the vectors of layer 1 comes from biases."
    )
    tab.keyboard.press("1")
    expect(tab.locator(".nv-legend")).not_to_contain_text("from biases")


def test_the_matrix_tells_the_same(show):
    tab = show(ladder_flow(), view="matrix", measure="layer-output", layer=1, token=2)
    expect(tab.locator(".nv-aside").first).to_contain_text("cancels")
    expect(tab.locator(".nv-legend")).to_contain_text("from biases")


def test_the_profile_draws_the_mixing_ratio_of_every_rung(show):
    flow = ladder_flow()
    tab = show(flow, view="profile", measure="attention-block", layer=1)
    panel = tab.locator(".nv-mixing")
    assert sorted(panel.locator(".nv-name text").all_text_contents()) == sorted(STOPS[3:])
    expect(panel.locator(".nv-curve.nv-chosen")).to_have_attribute("data-kind", "attention-block")
    mean = flow.encoder.statistic("mixing", "attention-block")[1].mean()
    expect(tab.locator(".nv-aside")).to_have_text(
        f"In layer 1, {percent(mean)} of a token's vector after LayerNorm comes from other "
        "tokens (mixing ratio)."
    )
    right = panel.locator("svg").bounding_box()
    for name in panel.locator(".nv-name text").all():
        box = name.bounding_box()
        assert box["x"] + box["width"] <= right["x"] + right["width"] + 1


def test_the_panel_stands_below_the_two_charts_which_stay_side_by_side(show):
    tab = show(ladder_flow(), view="profile", measure="layer-output")
    left, right, below = (chart.bounding_box() for chart in tab.locator(".nv-chart").all())
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] <= right["x"]
    assert below["y"] >= left["y"] + left["height"]


def test_pointing_at_a_layer_of_the_panel_tells_of_that_layer(show):
    flow = ladder_flow()
    tab = show(flow, view="profile", measure="layer-output", layer=1)
    tab.locator(".nv-mixing svg").hover(position={"x": 52, "y": 100})
    mean = flow.encoder.statistic("mixing", "layer-output")[0].mean()
    expect(tab.locator(".nv-aside")).to_contain_text(f"In layer 0, {percent(mean)}")


def test_a_profile_without_the_ladder_has_no_such_panel(show):
    tab = show(carried_flow(), view="profile")
    expect(tab.locator(".nv-curves")).to_have_count(1)


@pytest.mark.parametrize("measure", ["rollout:weighted-norm", "decomposition"])
def test_the_stack_traces_by_what_is_carried_through_the_layers(show, measure):
    flow = carried_flow()
    tab = show(flow, view="stack", measure="weighted-norm", layer=2, token=4)
    traced = ink(tab, ".nv-top")
    select = tab.locator("select[aria-label='trace by']")
    expect(select).to_have_value("")
    select.select_option(measure)
    row = flow[measure][2, 4] / flow[measure][2, 4].sum()
    best = int(np.argmax(row))
    expect(tab.locator(".nv-sentence")).to_contain_text(
        f"after layer 2 is made of {percent(row[best])} ‘{SENTENCE[best]}’"
    )
    expect(tab.locator(".nv-sentence")).to_contain_text("of the input's tokens")
    assert ink(tab, ".nv-top")["inked"] > 3000
    assert ink(tab, ".nv-top") != traced
    select.select_option("")
    expect(tab.locator(".nv-sentence")).to_contain_text("of the first layer's tokens")


def test_ribbons_go_straight_past_the_layers_between(show):
    only = np.zeros((3, 6, 6), np.float32)
    only[:, :, 1] = 1
    encoder = carried_flow().encoder
    stored = {**encoder.stored, "decomposition": Layers(only)}
    flow = replace(carried_flow(), streams={"encoder": replace(encoder, stored=stored)})
    tab = show(flow, view="stack", measure="decomposition", layer=2, token=1)
    # All of it comes from the same token, so the ribbon is level and at full width in the middle.
    middle = """canvas => {
      const field = document.querySelector('.nv-field');
      const x = field.offsetLeft + field.offsetWidth / 2;
      const pitch = document.querySelector('.nv-tokens.nv-key li').offsetHeight;
      return canvas.getContext('2d').getImageData(x, 1.5 * pitch, 1, 1).data[3];
    }"""
    assert tab.locator(".nv-top").evaluate(middle) > 60
    expect(tab.locator(".nv-sentence")).to_contain_text("is made of 100% ‘the’")


def test_measures_that_reach_back_are_in_a_list_and_not_among_the_buttons(show):
    tab = show(carried_flow(), measure="rollout:weight", layer=1)
    expect(tab.locator("[aria-label=measure] button")).to_have_count(3)
    select = tab.locator("select[aria-label='reaching back']")
    expect(select).to_have_value("rollout:weight")
    select.select_option("")
    assert pressed(tab, "measure") == ["α"]

"""The curves and points of a profile in a real browser, used as a person would."""

import numpy as np
import pytest
from browser import choose_head, expect_layer, ink, percent, pressed
from flows import random_flow, softmax, wordy_flow
from playwright.sync_api import expect

from normviz.derived.ranks import spearman
from normviz.io.from_arrays import from_arrays
from normviz.view.encoding import decode, encode


def layer_place(tab, layer):
    """Where a layer stands in the chart of curves, from its own corner."""
    number = tab.locator(".nv-curves .nv-axes text", has_text=str(layer)).and_(
        tab.locator(f"text='{layer}'")
    )
    box, chart = number.bounding_box(), tab.locator(".nv-curves").bounding_box()
    return {"x": box["x"] - chart["x"] + box["width"] / 2, "y": 100}


def point_place(tab, flow, layer, head, key):
    """Where a point should stand, read off the axes as a reader would."""
    ticks = """nodes => nodes.map(node => {
      const box = node.getBoundingClientRect();
      return [Number(node.textContent), box.x + box.width / 2, box.y + box.height / 2];
    }).filter(([value]) => !Number.isNaN(value))"""
    found = tab.locator(".nv-points .nv-axes text").evaluate_all(ticks)
    lowest = max(y for _, _, y in found)
    across = [(value, x) for value, x, y in found if y > lowest - 3]
    up = [(value, y) for value, _, y in found if y <= lowest - 3]
    norm = flow["value-norm"][layer][head][key]
    weight = flow["weight"][layer][head][:, key].mean()
    chart = tab.locator(".nv-points").bounding_box()
    is_log = "log scale" in tab.locator(".nv-points").text_content()
    values = np.log([value for value, _ in up]) if is_log else [value for value, _ in up]
    slope = np.polyfit(values, [y for _, y in up], 1)
    x = np.polyval(np.polyfit(*zip(*across, strict=True), 1), norm)
    y = np.polyval(slope, np.log(weight) if is_log else weight)
    return {"x": float(x) - chart["x"], "y": float(y) - chart["y"]}


def test_the_sentence_says_where_weight_and_norm_differ_most(show):
    flow = wordy_flow()
    tab = show(flow, view="profile", measure="weight", compare="weighted-norm", layer=1)
    stream = flow.stream("encoder")
    weight, norm = stream.shares("weight"), stream.shares("weighted-norm")
    kind = max(weight, key=lambda kind: abs(weight[kind][1] - norm[kind][1]))
    expect(tab.locator(".nv-sentence")).to_contain_text("Layer 1: ")
    row = [percent(weight[kind][1]), percent(norm[kind][1])]
    expect(tab.locator(".nv-sentence")).to_contain_text(f"{row[0]} of α and {row[1]} of ‖αf(x)‖")
    cells = tab.locator("tbody tr").all_inner_texts()
    assert any(line.split("\t")[-2:] == row for line in cells)
    assert tab.locator("thead th").all_inner_texts()[-2:] == ["α", "‖αf(x)‖"]


def test_curves_are_named_at_their_end_and_do_not_cover_each_other(show):
    tab = show(random_flow(), view="profile", measure="weight", compare="weighted-norm")
    names = tab.locator(".nv-name text")
    assert set(names.all_text_contents()) >= {"words α", "words ‖αf(x)‖"}
    boxes = sorted((names.nth(at).bounding_box()["y"]) for at in range(names.count()))
    assert min(np.diff(boxes)) > 12
    chart = tab.locator(".nv-curves").bounding_box()
    for at in range(names.count()):
        box = names.nth(at).bounding_box()
        assert box["x"] + box["width"] <= chart["x"] + chart["width"] + 1


def test_a_layer_can_be_looked_at_and_chosen(show):
    flow = random_flow()
    tab = show(flow, view="profile", measure="weight")
    place = layer_place(tab, 2)
    tab.locator(".nv-curves").hover(position=place)
    expect(tab.locator(".nv-sentence")).to_contain_text("Layer 2: ")
    share = flow.stream("encoder").shares("weight")["other"][2]
    expect(tab.locator(".nv-values")).to_contain_text(percent(share))
    expect_layer(tab, 0)
    tab.locator(".nv-curves").click(position=place)
    expect_layer(tab, 2)
    tab.mouse.move(5, 790)
    expect(tab.locator(".nv-values")).to_have_count(0)
    expect(tab.locator(".nv-legend")).to_contain_text("layer 2, all 4 heads")


def test_the_brackets_move_the_line_and_the_points(show):
    tab = show(random_flow(), view="profile", measure="weight")
    before = tab.locator(".nv-here").bounding_box()["x"], ink(tab)["sum"]
    tab.locator(".normviz").focus()
    tab.keyboard.press("]")
    expect(tab.locator(".nv-sentence")).to_contain_text("Layer 1: ")
    after = tab.locator(".nv-here").bounding_box()["x"], ink(tab)["sum"]
    assert after[0] > before[0] + 10
    assert after[1] != before[1]


def test_a_point_shows_its_token_and_a_click_pins_it(show):
    flow = random_flow()
    tab = show(flow, view="profile", measure="weight")
    place = point_place(tab, flow, 0, 2, 4)
    tab.locator(".nv-points").hover(position=place)
    expect(tab.locator(".nv-named")).to_have_text("tired")
    expect(tab.locator(".nv-sentence")).to_contain_text("‘tired’ gets mean α")
    assert "nv-faint" in tab.locator(".nv-base").get_attribute("class")
    assert ink(tab, ".nv-top")["inked"] > 50
    tab.locator(".nv-points").click(position=place)
    tab.mouse.move(5, 790)
    expect(tab.locator(".nv-named")).to_have_text("tired")
    tab.locator(".normviz").focus()
    tab.keyboard.press("Escape")
    expect(tab.locator(".nv-named")).to_be_hidden()
    assert ink(tab, ".nv-top")["inked"] == 0


def test_a_pinned_token_is_named_and_its_kind_highlighted(show):
    tab = show(random_flow(), view="profile", role="query", token=2)
    expect(tab.locator(".nv-named")).to_have_text("animal")
    dim = tab.locator(".nv-curve.nv-dim")
    kinds = {dim.nth(at).get_attribute("data-kind") for at in range(dim.count())}
    assert "other" not in kinds
    assert len(kinds) > 0
    expect(tab.locator("caption")).to_contain_text("‘animal’ (2) in layer 0")


def seen(values):
    """Numbers as a page holds them: a little rounded, so that close ones may become equal."""
    return decode(encode(values, "log16")).reshape(values.shape)


def test_the_correlation_is_spearmans(show):
    flow = random_flow()
    tab = show(flow, view="profile", layer=1)
    norms = seen(flow["value-norm"][1]).ravel()
    means = seen(flow["weight"][1]).mean(axis=1).ravel()
    rho = spearman(norms, means)
    told = f"Spearman ρ = {rho:.2f} over {len(norms)} points".replace("-", "−")
    expect(tab.locator(".nv-legend")).to_contain_text(told)
    choose_head(tab, 2)
    assert pressed(tab, "heads") == ["2"]
    expect(tab.locator(".nv-legend")).to_contain_text(f"over {len(flow.tokens)} points")


def test_weights_over_many_powers_of_ten_are_on_a_log_scale(show):
    draw = np.random.default_rng(0)
    weights = softmax(np.tile(draw.normal(0, 4, (1, 1, 1, 12)), (1, 2, 12, 1)))
    flow = from_arrays(weights, [f"t{at}" for at in range(12)], value_norms=np.ones((1, 2, 12)))
    tab = show(flow, view="profile")
    expect(tab.locator(".nv-points")).to_contain_text("(log scale)")
    expect(tab.locator(".nv-legend")).to_contain_text("too few different points")


def test_missing_norms_are_named_and_the_curves_stay(show):
    flow = from_arrays(softmax(np.zeros((2, 2, 3, 3), np.float32)), list("abc"))
    tab = show(flow, view="profile")
    expect(tab.locator(".nv-excuse")).to_contain_text("value-norm is not held here")
    expect(tab.locator(".nv-curve")).to_have_count(1)


def test_hidden_special_tokens_leave_without_making_the_rest_larger(show):
    flow = wordy_flow()
    tab = show(flow, view="profile", measure="weight", special="hidden")
    share = flow.stream("encoder").shares("weight")["other"][0]
    expect(tab.locator(".nv-sentence")).to_have_text(f"Layer 0: words get {percent(share)} of α.")
    expect(tab.locator(".nv-curve")).to_have_count(1)
    expect(tab.locator(".nv-legend")).to_contain_text("hidden: [CLS], [SEP]; shares still refer")


def test_the_charts_stand_side_by_side_or_one_below_the_other(show):
    tab = show(random_flow(), view="profile", measure="weight", compare="weighted-norm")
    charts = tab.locator(".nv-chart")
    for width, is_wide in ((1300, True), (360, False), (1300, True)):
        tab.set_viewport_size({"width": width, "height": 800})
        expect(tab.locator(".nv-profile.nv-wide")).to_have_count(int(is_wide))
        left, right = charts.nth(0).bounding_box(), charts.nth(1).bounding_box()
        assert (left["y"] == pytest.approx(right["y"])) is is_wide
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert ink(tab)["inked"] > 200

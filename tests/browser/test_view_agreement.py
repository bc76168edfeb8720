"""The grid colored by agreement, in a real browser, used as a person would."""

import re

import numpy as np
import pytest
from browser import hash_of, pressed, token
from flows import random_flow
from playwright.sync_api import expect

import normviz
from normviz.derived.agreement import PERFECT
from normviz.io.from_arrays import from_arrays

PAIR = {"view": "grid", "measure": "weight", "compare": "weighted-norm"}

RIM = """(canvas, [x, y]) => {
  const ratio = canvas.width / canvas.clientWidth;
  const {data} = canvas.getContext('2d').getImageData(x * ratio, y * ratio, 1, 1);
  return [...data];
}"""


def thumb(tab, layer, head):
    return tab.locator(f".nv-thumb[data-name='layer {layer}, head {head}']")


def rim(tab, layer, head):
    """The color beside a small picture: red, green, blue, and how much of it there is."""
    box = thumb(tab, layer, head).locator(".nv-box").bounding_box()
    canvas = tab.locator(".nv-base").bounding_box()
    at = [box["x"] - canvas["x"] - 2, box["y"] - canvas["y"] + box["height"] / 2]
    return tab.locator(".nv-base").evaluate(RIM, at)


def written(value):
    """A number as the grid writes it."""
    return f"{value:.2f}".replace("-", "−")


@pytest.mark.parametrize("by", PERFECT)
def test_every_head_has_the_number_that_python_gives(show, by):
    flow = random_flow()
    tab = show(flow, **PAIR, color_by=by, precision="float32")  # fewer digits may turn a rank round
    found = getattr(normviz.agreement(flow, "weight", "weighted-norm"), by)
    told = [float(text.replace("−", "-")) for text in tab.locator(".nv-under").all_inner_texts()]
    np.testing.assert_allclose(told, found.ravel(), atol=0.006)


def test_the_less_two_measures_agree_the_stronger_the_color(show):
    flow = random_flow()
    tab = show(flow, **PAIR, color_by="distance", theme="light")
    found = normviz.agreement(flow, "weight", "weighted-norm").distance
    order = [divmod(int(place), 4) for place in np.argsort(found, axis=None)]
    blue = [rim(tab, layer, head)[2] for layer, head in order]
    assert blue == sorted(blue, reverse=True)
    assert blue[0] - blue[-1] > 80
    tab.locator("select[aria-label='color by']").select_option("none")
    assert rim(tab, *order[-1])[3] == 0


def test_a_click_goes_to_the_token_where_they_differ_most(show):
    flow = random_flow()
    tab = show(flow, **PAIR, color_by="rank")
    found = normviz.agreement(flow, "weight", "weighted-norm")
    listed = found.most_different(12)
    worst = listed[0]
    query = found.where(worst.layer, worst.head, by="rank")[0]
    sentence = tab.locator(".nv-sentence").first
    expect(sentence).to_contain_text(
        f"α and ‖αf(x)‖ agree least in layer {worst.layer}, head {worst.head} "
        f"(rank correlation {worst.rank:.2f}, most different at ‘{query.query_piece}’)"
    )
    heads = ((head, found.where(head.layer, head.head, by="rank")[0]) for head in listed)
    worst, query = next((head, query) for head, query in heads if query.query > 1)
    thumb(tab, worst.layer, worst.head).click()
    assert pressed(tab, "view") == ["flow"]
    assert pressed(tab, "heads") == [str(worst.head)]
    expect(tab.locator("figure")).to_have_count(2)
    expect(sentence).to_contain_text(
        f"Layer {worst.layer}, head {worst.head}, α: ‘{query.query_piece}’ takes"
    )
    expect(token(tab, "query", query.query).first).to_have_class(re.compile("nv-on"))


def test_the_keyboard_goes_there_too(show):
    flow = random_flow()
    tab = show(flow, **PAIR, color_by="distance", layer=1)
    tab.locator("select[aria-label=order]").focus()
    tab.keyboard.press("Tab")
    sentence = tab.locator(".nv-sentence").first
    found = normviz.agreement(flow, "weight", "weighted-norm")
    expect(sentence).to_contain_text(
        f"Jensen–Shannon distance with ‖αf(x)‖ {found.distance[1, 0]:.2f}"
    )
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("Enter")
    worst = found.where(1, 1, by="distance")[0]
    expect(sentence).to_contain_text(f"Layer 1, head 1, α: ‘{worst.query_piece}’ takes")


def test_without_anything_to_compare_the_control_says_what_to_do(show):
    tab = show(random_flow(), view="grid", measure="weight", color_by="rank")
    expect(tab.get_by_text("(choose a measure to compare with)")).to_be_visible()
    expect(tab.locator(".nv-legend")).to_contain_text("choose another measure to compare with")
    tab.locator("select[aria-label='compare with']").select_option('"weighted-norm"')
    expect(tab.get_by_text("(choose a measure to compare with)")).to_be_hidden()
    expect(tab.locator(".nv-legend")).to_contain_text("rank correlation of α and ‖αf(x)‖")
    assert rim(tab, 0, 3)[3] == 255


def test_the_address_keeps_the_color(show):
    flow = random_flow()
    tab = show(flow, **PAIR)
    tab.locator("select[aria-label='color by']").select_option("overlap")
    assert hash_of(tab) == "color_by=overlap"
    tab.get_by_role("button", name="copy as code").click()
    code = tab.get_by_label("the view as code").input_value()
    assert code == 'flow.widget(view="grid", layer=0, normalize="layer", color_by="overlap")'
    made = eval(code, {"flow": flow})  # noqa: S307 - the code is what is tested
    shown = {"view": made.view, "measure": made.measure, "compare": made.compare}
    assert (shown, made.color_by) == (PAIR, "overlap")


def test_sorted_tiles_stay_on_the_board_and_a_narrow_page_is_not_made_wider(show):
    tab = show(random_flow(heads=12), **PAIR, color_by="rank")
    tab.set_viewport_size({"width": 360, "height": 800})
    for order in ("weighted-norm", ""):
        tab.locator("select[aria-label=order]").select_option(order)
        assert tab.evaluate("document.documentElement.scrollWidth") <= 360
        assert rim(tab, 0, 3)[3] == 255
        where = tab.locator(".nv-box").first.bounding_box()
        board = tab.locator(".nv-base").bounding_box()
        gutter, heading = (38, 36) if order == "" else (3, 3)
        assert where["x"] - board["x"] == pytest.approx(gutter, abs=0.5)
        assert where["y"] - board["y"] == pytest.approx(heading, abs=0.5)


def test_many_tokens_are_worked_out_without_standing_still(show):
    draw = np.random.default_rng(0)
    weights = draw.dirichlet(np.full(100, 0.3), (6, 12, 100))
    flow = from_arrays(
        weights, list(map(str, range(100))), value_norms=draw.gamma(5, 0.3, (6, 12, 100))
    )
    tab = show(flow, **PAIR, color_by="rank")
    found = normviz.agreement(flow, "weight", "weighted-norm").rank
    expect(tab.locator(".nv-under").last).to_have_text(written(found[-1, -1]))
    expect(tab.locator(".nv-waiting")).to_be_empty()

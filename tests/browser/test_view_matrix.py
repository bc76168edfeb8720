"""The matrix in a real browser: one layer as a heatmap, to zoom into and to move about in."""

import numpy as np
import pytest
from browser import ink
from flows import NASTY, random_flow, softmax, two_streams
from playwright.sync_api import expect

from normviz.io.from_arrays import from_arrays

SETTLED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""Two frames: after them a picture has taken up a new width."""

PIXEL = """(canvas, [x, y]) => {
  const ratio = canvas.width / canvas.clientWidth;
  return [...canvas.getContext('2d').getImageData(x * ratio, y * ratio, 1, 1).data];
}"""


def label(tab, role, text):
    return tab.locator(f".nv-axis.nv-{role} li", has_text=text).first


def labels(tab, role):
    return tab.locator(f".nv-axis.nv-{role} li").all_inner_texts()


def cell(tab, row, column, rows):
    """The middle of a cell of the whole field, in pixels of the page."""
    box = tab.locator(".nv-plot").first.bounding_box()
    size = box["height"] / rows
    return box["x"] + (column + 0.5) * size, box["y"] + (row + 0.5) * size


def color(tab, row, column, rows, offset=0.25):
    """The color of a cell, beside its number."""
    size = tab.locator(".nv-plot").bounding_box()["height"] / rows
    at = [(column + offset) * size, (row + offset) * size]
    return tab.locator(".nv-plot .nv-base").evaluate(PIXEL, at)


def long_flow(count, layers=1):
    weights = softmax(np.random.default_rng(0).normal(0, 1, (layers, 1, count, count)))
    return from_arrays(weights, [f"t{at}" for at in range(count)])


def turn(tab, by):
    """Turn the wheel as for zooming."""
    tab.keyboard.down("Control")
    tab.mouse.wheel(0, by)
    tab.keyboard.up("Control")


def test_colors_deepen_with_the_numbers_and_nothing_is_blank(show):
    weights = np.float32([[[[1, 0, 0], [0.5, 0.5, 0], [0.2, 0.3, 0.5]]]])
    tab = show(from_arrays(weights, list("abc")), view="matrix", measure="weight")
    one, half, less = color(tab, 0, 0, 3), color(tab, 1, 1, 3), color(tab, 2, 0, 3)
    assert sum(one[:3]) < sum(half[:3]) < sum(less[:3])
    assert color(tab, 2, 2, 3) == half
    assert color(tab, 0, 2, 3)[3] == 0
    expect(tab.locator(".nv-legend")).to_contain_text("cells from 0.200 to 1.00")
    expect(tab.locator(".nv-legend")).to_contain_text("0 is blank")


def test_pointing_at_a_cell_tells_its_number_and_dims_the_rest(show):
    flow = random_flow()
    tab = show(flow, view="matrix", layer=1)
    count = len(flow.tokens)
    tab.mouse.move(*cell(tab, 2, 4, count))
    values = flow["weighted-norm"][1].mean(axis=0)
    value, share = values[2, 4], values[2, 4] / values[2].sum()
    sight = tab.locator(".nv-sight").inner_text()
    number, portion = sight.split(": ")[1].split(", ")
    assert sight.startswith("‘animal’ from ‘tired’: ")
    assert float(number) == pytest.approx(value, rel=0.01)
    assert float(portion.split("%")[0]) == pytest.approx(100 * share, abs=0.6)
    expect(tab.locator(".nv-sentence")).to_contain_text("‘animal’ takes")
    assert "nv-on" in label(tab, "query", "animal").get_attribute("class")
    assert "nv-on" in label(tab, "key", "tired").get_attribute("class")
    assert "nv-dim" in label(tab, "query", "was").get_attribute("class")
    assert ink(tab, ".nv-top")["inked"] > 10000
    tab.mouse.move(5, 790)
    assert ink(tab, ".nv-top")["inked"] == 0
    expect(tab.locator(".nv-sentence")).to_contain_text("most is read from")


def test_a_click_pins_and_escape_frees(show):
    tab = show(random_flow(), view="matrix")
    tab.mouse.click(*cell(tab, 3, 1, 6))
    tab.mouse.move(5, 790)
    expect(tab.locator(".nv-sentence")).to_contain_text("‘was’ takes")
    tab.keyboard.press("Escape")
    expect(tab.locator(".nv-sentence")).to_contain_text("most is read from")
    label(tab, "key", "tired").click()
    tab.mouse.move(5, 790)
    expect(tab.locator(".nv-sentence")).to_contain_text("‘tired’ gives")


def test_arrows_walk_the_rows(show):
    tab = show(random_flow(), view="matrix")
    tab.locator(".nv-plot").focus()
    for key, words in (
        ("ArrowDown", "‘[CLS]’ takes"),
        ("ArrowDown", "‘the’ takes"),
        ("ArrowLeft", "‘the’ gives"),
    ):
        tab.keyboard.press(key)
        expect(tab.locator(".nv-sentence")).to_contain_text(words)


def test_the_wheel_zooms_where_it_is_and_the_labels_follow(show):
    tab = show(long_flow(200), view="matrix")
    few = labels(tab, "query")
    assert len(few) < 80
    tab.mouse.move(*cell(tab, 100, 100, 200))
    before = tab.locator(".nv-sight").inner_text()
    assert "‘t100’ from ‘t100’" in before
    turn(tab, -600)
    assert tab.locator(".nv-sight").inner_text() == before
    seen = [int(text[1:]) for text in labels(tab, "query")]
    assert seen == list(range(seen[0], seen[0] + len(seen)))
    assert 100 in seen
    turn(tab, 5000)
    tab.mouse.move(5, 790)
    assert labels(tab, "query") == few


def test_cells_are_drawn_where_they_are_pointed_at_also_when_zoomed(show):
    weights = np.eye(60, dtype=np.float32)[None, None]
    tab = show(from_arrays(weights, [f"t{at}" for at in range(60)]), view="matrix")
    x, y = cell(tab, 40, 40, 60)
    box = tab.locator(".nv-plot").bounding_box()
    tab.mouse.move(x, y)
    turn(tab, -300)
    tab.locator(".nv-axis.nv-key .nv-on").wait_for()
    wide = box["width"] / len(labels(tab, "key"))
    for away in (-1, 0, 1):
        at = [x - box["x"] + away * wide, y - box["y"]]
        assert (tab.locator(".nv-plot .nv-base").evaluate(PIXEL, at)[3] > 0) == (away == 0)


def test_without_a_key_the_wheel_moves_the_page_until_the_field_is_zoomed(show):
    tab = show(long_flow(200), view="matrix")
    tab.set_viewport_size({"width": 1000, "height": 500})
    tab.mouse.move(*cell(tab, 50, 100, 200))
    tab.mouse.wheel(0, 60)
    tab.wait_for_function("() => scrollY > 0")
    tab.evaluate("scrollTo(0, 0)")
    tab.mouse.move(*cell(tab, 50, 100, 200))
    turn(tab, -600)
    first = labels(tab, "query")[0]
    tab.mouse.wheel(0, 100)
    expect(tab.locator(".nv-axis.nv-query li").first).not_to_have_text(first)
    assert tab.evaluate("scrollY") == 0


def test_buttons_keys_and_double_clicks_zoom_and_the_whole_comes_back(show):
    tab = show(long_flow(60), view="matrix")
    whole = ink(tab, ".nv-plot .nv-base")
    back = tab.get_by_role("button", name="whole", exact=True)
    expect(back).to_be_disabled()
    for zoom in (
        lambda: tab.get_by_role("button", name="zoom in").click(),
        lambda: (tab.locator(".nv-plot").focus(), tab.keyboard.press("+")),
        lambda: tab.mouse.dblclick(*cell(tab, 20, 20, 60)),
    ):
        zoom()
        assert ink(tab, ".nv-plot .nv-base") != whole
        back.click()
        assert ink(tab, ".nv-plot .nv-base") == whole


def test_dragging_and_shifted_arrows_move_the_field(show):
    tab = show(long_flow(60), view="matrix")
    x, y = cell(tab, 30, 30, 60)
    tab.mouse.dblclick(x, y)
    first = labels(tab, "key")[0]
    tab.mouse.move(x, y)
    tab.mouse.down()
    tab.mouse.move(x - 90, y, steps=4)
    tab.mouse.up()
    moved = labels(tab, "key")[0]
    assert int(moved[1:]) > int(first[1:])
    tab.mouse.move(5, 790)
    expect(tab.locator(".nv-sentence")).to_contain_text("most is read from")
    tab.locator(".nv-plot").focus()
    tab.keyboard.press("Shift+ArrowLeft")
    assert int(labels(tab, "key")[0][1:]) < int(moved[1:])
    expect(tab.locator(".nv-sentence")).to_contain_text("most is read from")


def test_numbers_stand_in_cells_that_are_large_enough(show):
    flow = long_flow(60)
    tab = show(flow, view="matrix")
    into = tab.get_by_role("button", name="zoom in")
    while into.is_enabled():
        into.click()
    dark = """canvas => {
      const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let at = 0; at < data.length; at += 4) {
        count += data[at] < 60 && data[at + 1] < 60 && data[at + 2] < 60;
      }
      return count;
    }"""
    assert tab.locator(".nv-plot .nv-base").evaluate(dark) > 100


def test_scaling_is_labeled_and_changes_the_picture(show):
    tab = show(random_flow(), view="matrix")
    seen = [ink(tab, ".nv-plot .nv-base")["sum"]]
    expect(tab.locator(".nv-legend")).to_contain_text("the largest cell of this layer")
    for scale, words in (
        ("query", "each row divided by its own whole"),
        ("absolute", "the largest cell of any layer"),
    ):
        tab.locator("select[aria-label=scale]").select_option(scale)
        expect(tab.locator(".nv-legend")).to_contain_text(words)
        seen.append(ink(tab, ".nv-plot .nv-base")["sum"])
    assert len(set(seen)) == 3


def test_the_legend_has_the_true_largest_cell(show):
    flow = random_flow()
    text = show(flow, view="matrix", layer=2).locator(".nv-legend").inner_text()
    largest = float(text.split("cells from ")[1].split(" to ")[1].split(" ")[0])
    assert largest == pytest.approx(flow["weighted-norm"][2].mean(axis=0).max(), rel=0.005)


def test_a_norm_is_a_field_of_heads_and_keys(show):
    flow = random_flow()
    tab = show(flow, view="matrix", measure="value-norm")
    assert labels(tab, "query") == ["head 0", "head 1", "head 2", "head 3"]
    box = tab.locator(".nv-plot").bounding_box()
    tab.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + 5)
    number = tab.locator(".nv-sight").inner_text().split(": ")[1]
    assert float(number) == pytest.approx(flow["value-norm"][0, 0, 1], rel=0.01)
    expect(tab.locator(".nv-sentence")).to_contain_text("‘the’")


def test_another_text_has_its_own_sides(show):
    tab = show(two_streams(), view="matrix", stream="cross")
    assert labels(tab, "query") == ["the", "cat"]
    assert labels(tab, "key") == ["le", "chat", "</s>"]


def test_two_stand_side_by_side_and_mark_the_same_row(show):
    tab = show(random_flow(), view="matrix", measure="weight", compare="weighted-norm")
    tab.mouse.move(*cell(tab, 2, 2, 6))
    marked = tab.locator(".nv-axis.nv-query .nv-on")
    expect(marked).to_have_text(["animal", "animal"])


def test_small_text_is_never_smaller_than_nine_pixels(show):
    tab = show(long_flow(200), view="matrix")
    sizes = (
        """nodes => Math.min(...nodes.map(node => parseFloat(getComputedStyle(node).fontSize)))"""
    )
    assert tab.locator(".nv-matrix *").evaluate_all(sizes) >= 9


def test_no_token_breaks_the_page(show):
    weights = np.full((1, 1, len(NASTY), len(NASTY)), 1 / len(NASTY))
    tab = show(from_arrays(weights, NASTY), view="matrix")
    assert len(labels(tab, "query")) == len(NASTY)
    tab.set_viewport_size({"width": 320, "height": 700})
    tab.evaluate(SETTLED)
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")

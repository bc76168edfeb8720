"""The page of a profile in a real browser: side by side, in words, in tables, as a file."""

import numpy as np
import pytest
from browser import opening, percent
from flows import NASTY, random_flow
from playwright.sync_api import expect
from profiles import random_profile
from saved_figures import DARK, SVG, figure, save, texts

from normviz.core.failure import Failure

PANELS = ".nv-panel"


def page(**about):
    return random_profile(mixing=True, **about).report().page()


def boxes(tab, which=PANELS):
    found = tab.locator(which)
    return [found.nth(at).bounding_box() for at in range(found.count())]


def place_of(tab, layer):
    """Where a layer stands in the first chart, from its own corner."""
    panel = tab.locator(PANELS).first
    number = panel.locator(".nv-axes text").and_(tab.locator(f"text='{layer}'"))
    box, picture = number.bounding_box(), panel.locator("svg").bounding_box()
    return {"x": box["x"] - picture["x"] + box["width"] / 2, "y": 60}


def test_weight_and_norm_stand_side_by_side_and_on_a_narrow_page_below_each_other(show):
    tab = show(page())
    weight, norm, *_ = boxes(tab)
    assert weight["y"] == norm["y"]
    assert weight["x"] + weight["width"] < norm["x"]
    assert weight["width"] == pytest.approx(norm["width"], abs=1)
    tab.set_viewport_size({"width": 360, "height": 800})
    expect(tab.locator(".nv-profile.nv-wide")).to_have_count(0)
    weight, norm, *_ = boxes(tab)
    assert weight["y"] + weight["height"] <= norm["y"]
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360


def test_both_have_one_axis_and_one_color_for_each_kind(show):
    tab = show(page())
    ticks, colors = [], []
    for at in range(2):
        panel = tab.locator(PANELS).nth(at)
        written = panel.locator(".nv-axes text[text-anchor=end]")
        top = panel.locator("svg").bounding_box()["y"]
        ticks.append([(one.text_content(), one.bounding_box()["y"] - top) for one in written.all()])
        curves = panel.locator(".nv-curve").all()
        lines = {c.get_attribute("data-kind"): c.locator(".nv-line") for c in curves}
        colors.append({kind: line.get_attribute("stroke") for kind, line in lines.items()})
    assert [text for text, _ in ticks[0]] == ["0%", "25%", "50%", "75%", "100%", "layer"]
    assert ticks[0] == ticks[1]
    assert colors[0] == colors[1]
    assert len(set(colors[0].values())) == 4


def test_every_curve_is_named_inside_its_panel_and_no_name_covers_another(show):
    one, other = random_profile(), random_profile(1, model="a/checkpoint-of-many-0200")
    tab = show(one.compare(other).report().page())
    for at in range(3):
        panel = tab.locator(PANELS).nth(at)
        names = panel.locator(".nv-name text").all()
        assert len(names) == 8
        found = [name.bounding_box() for name in names]
        assert min(np.diff(sorted(box["y"] for box in found))) > 10
        picture = panel.locator("svg").bounding_box()
        assert all(b["x"] + b["width"] <= picture["x"] + picture["width"] + 1 for b in found)


def test_a_layer_under_the_pointer_is_read_in_all_panels_and_a_click_keeps_it(show):
    found = random_profile()
    tab = show(found.report().page())
    first = tab.locator(f"{PANELS} svg").first
    first.hover(position=place_of(tab, 1))
    kinds = ("[CLS]", "[SEP]", "punctuation", "other")
    for at, measure in enumerate(("weight", "weighted-norm")):
        values = tab.locator(PANELS).nth(at).locator(".nv-values text")
        wanted = [percent(found.share(measure, kind)[1]) for kind in kinds]
        assert values.all_text_contents() == wanted
    expect(tab.locator(".nv-sentence")).to_contain_text("In layer 1, share of α: [CLS] ")
    before = boxes(tab)
    first.click(position=place_of(tab, 1))
    assert boxes(tab) == before
    expect(tab.locator("select[aria-label=layer]")).to_have_value("1")
    tab.mouse.move(2, 2)
    expect(tab.locator(".nv-values")).to_have_count(3)
    expect(tab.locator("caption").first).to_have_text("Layer 1: share of α")
    tab.keyboard.press("Escape")
    expect(tab.locator(".nv-values")).to_have_count(0)


def test_the_tables_hold_every_share(show):
    found = random_profile()
    tab = show(found.report().page())
    rows = tab.locator("table").first.locator("tbody tr").all_inner_texts()
    kinds = ("[CLS]", "[SEP]", "punctuation", "other")
    shares = [found.share("weight", kind) for kind in kinds]
    wanted = [[str(n), *(percent(share[n]) for share in shares)] for n in range(3)]
    wanted.append(["mean", *(percent(share.mean()) for share in shares)])
    assert [row.split("\t") for row in rows] == wanted
    for cell in tab.locator("td, th").all():
        assert cell.evaluate("cell => cell.scrollWidth <= cell.clientWidth + 1")


def test_the_page_says_over_what_it_is_and_what_failed(show):
    tab = show(page(failures=[Failure(3, "x", "it is empty")]))
    assert tab.title() == "normviz: small (self), 5 texts, 30 tokens"
    expect(tab.locator(".nv-title")).to_contain_text("5 texts, 30 tokens")
    expect(tab.locator(".nv-note")).to_have_text(
        "1 text could not be measured; the first: it is empty"
    )
    expect(tab.locator(".nv-finding").first).to_contain_text("of ‖αf(x)‖ (mean of layers).")


def test_a_dark_reader_gets_a_dark_page(browser, tmp_path):
    with opening(browser, tmp_path, color_scheme="dark") as opened:
        tab = opened(page())
        color = "node => getComputedStyle(node).backgroundColor"
        for place in ("body", ".normviz"):
            assert tab.locator(place).evaluate(color) == "rgb(21, 24, 28)"
        root = figure(tab)
        strokes = {path.get("stroke") for path in root.iter(f"{SVG}path")}
        assert not strokes & DARK
        assert tab.locator(".normviz").get_attribute("data-shade") == "dark"


def test_all_panels_are_in_the_saved_figure_with_their_captions(show):
    found = random_profile(mixing=True)
    tab = show(found.report().page())
    content, name = save(tab, "SVG")
    assert name == "normviz-small-self-profile.svg"
    shown = texts(figure(tab))
    for chart in found.charts():
        assert f"{chart.title}: {chart.label}" in shown
        assert {one.name for one in chart.series} <= set(shown)
    assert found.charts()[0].finding in content.decode()
    assert save(tab, "PNG")[0].startswith(b"\x89PNG")


def test_the_charts_of_a_profile_stand_in_the_profile_view_of_a_flow_too(show):
    found = random_profile()
    flow = random_flow()
    for chart in found.charts():
        flow = flow.with_chart(chart)
    tab = show(flow, view="profile", measure="weight", layer=1)
    panels = tab.locator(".nv-further")
    assert panels.count() == 3
    words = [tab.locator(f".nv-curve[data-kind={name}] .nv-line") for name in ("other", "words")]
    own, of_corpus = ({line.get_attribute("stroke") for line in one.all()} for one in words)
    assert own == of_corpus
    assert len(own) == 1
    ticks = panels.nth(2).locator(".nv-axes text[text-anchor=end]").all_text_contents()
    assert ticks == ["0", "5", "10", "15", "20", "layer"]
    lengths = found.mean("value-norm", "other")
    expect(tab.locator(".nv-aside").last).to_contain_text(f"words {lengths[1]:.3g}")


def test_hostile_names_stay_text(show):
    name = next(word for word in NASTY if "<" in word)
    tab = show(page(model=name))
    expect(tab.locator(".nv-model")).to_have_text(f"{name} (self)")

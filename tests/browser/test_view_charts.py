"""Charts that come with a flow, in a real browser: curves, words, and the file for a paper."""

from dataclasses import replace

import numpy as np
import pytest
from browser import expect_layer, percent
from flows import NASTY, chart, ladder_flow, random_flow
from playwright.sync_api import expect
from saved_figures import DARK, SVG, figure, texts

PANEL = ".nv-further"


def place_of(tab, layer):
    """Where a layer stands in the chart, from its own corner."""
    number = tab.locator(f"{PANEL} .nv-axes text").and_(tab.locator(f"text='{layer}'"))
    box, picture = number.bounding_box(), tab.locator(f"{PANEL} svg").bounding_box()
    return {"x": box["x"] - picture["x"] + box["width"] / 2, "y": 100}


def test_every_curve_is_named_at_its_end_and_no_name_covers_another(show):
    tab = show(random_flow().with_chart(chart()), view="profile")
    names = tab.locator(f"{PANEL} .nv-name text")
    assert names.all_text_contents() == [series.name for series in chart().series]
    boxes = [names.nth(at).bounding_box() for at in range(names.count())]
    assert min(np.diff(sorted(box["y"] for box in boxes))) > 12
    picture = tab.locator(f"{PANEL} svg").bounding_box()
    assert all(b["x"] + b["width"] <= picture["x"] + picture["width"] + 1 for b in boxes)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_bands_lie_around_their_curves_in_the_same_color(show, theme):
    tab = show(random_flow().with_chart(chart()), view="profile", theme=theme)
    curves = tab.locator(f"{PANEL} .nv-curve:not(.nv-faint)")
    assert curves.count() == 4
    for at in range(4):
        band, line = (curves.nth(at).locator(which) for which in (".nv-band", ".nv-line"))
        assert band.get_attribute("fill") == line.get_attribute("stroke")
        around, inside = band.bounding_box(), line.bounding_box()
        assert around["y"] < inside["y"]
        assert around["y"] + around["height"] > inside["y"] + inside["height"]


def test_a_layer_is_read_and_chosen_in_the_chart_as_in_the_curves_above_it(show):
    tab = show(random_flow().with_chart(chart()), view="profile", measure="weight")
    tab.locator(f"{PANEL} svg").hover(position=place_of(tab, 2))
    values = tab.locator(f"{PANEL} .nv-values text")
    assert values.all_text_contents() == [percent(one.values[2]) for one in chart().series]
    expect(tab.locator(".nv-sentence")).to_contain_text("Layer 2: ")
    told = ", ".join(f"{one.name} {percent(one.values[2])}" for one in chart().series)
    expect(tab.locator(".nv-aside")).to_have_text(f"In layer 2, token identifiability: {told}.")
    tab.locator(f"{PANEL} svg").click(position=place_of(tab, 2))
    expect_layer(tab, 2)
    tab.locator(f"{PANEL} svg").click(position=place_of(tab, 3))  # which the flow does not hold
    expect_layer(tab, 2)


def test_the_chart_is_a_table_too_and_its_words_are_in_the_legend(show):
    tab = show(random_flow().with_chart(chart()), view="profile", layer=1)
    table = tab.locator("table", has_text="Layer 1: token identifiability")
    rows = [line.split("\t") for line in table.locator("tbody tr").all_inner_texts()]
    assert rows[1] == ["2", "naive L2", "65%", "61–69%"]
    for cell in table.locator("td").all():
        assert cell.evaluate("cell => cell.scrollWidth <= cell.clientWidth + 1")
    for words in (chart().about, chart().finding):
        expect(tab.locator(".nv-legend")).to_contain_text(words)


def test_the_chart_stands_beside_the_mixing_ratios_where_there_are_any(show):
    tab = show(ladder_flow().with_chart(chart()), view="profile", measure="layer-output")
    mixing, further = (tab.locator(which).bounding_box() for which in (".nv-mixing", PANEL))
    assert mixing["y"] == pytest.approx(further["y"])
    assert mixing["x"] + mixing["width"] < further["x"]
    tab.set_viewport_size({"width": 360, "height": 800})
    expect(tab.locator(".nv-profile.nv-wide")).to_have_count(0)
    mixing, further = (tab.locator(which).bounding_box() for which in (".nv-mixing", PANEL))
    assert mixing["y"] + mixing["height"] <= further["y"]
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360


def test_other_views_have_no_place_for_it(show):
    tab = show(random_flow().with_chart(chart()), view="flow")
    expect(tab.locator(PANEL)).to_have_count(0)
    tab.locator("[aria-label=view] button").get_by_text("profile", exact=True).click()
    expect(tab.locator(PANEL)).to_have_count(1)


def test_the_chart_is_in_the_saved_figure_on_light_paper(show):
    flow = random_flow().with_chart(chart())
    root = figure(show(flow, view="profile", theme="dark"))
    found = texts(root)
    assert {series.name for series in chart().series} <= set(found)
    assert "token identifiability: tokens found" in found
    bands = [p for p in root.iter(f"{SVG}path") if p.get("fill-opacity") == "0.2"]
    assert len(bands) == 4
    assert not {p.get("stroke") for p in root.iter(f"{SVG}path")} & DARK


def test_hostile_words_of_a_chart_stay_text(show):
    made = chart()
    names = [word for word in NASTY if "<" in word or "$" in word]
    series = [replace(one, name=name) for one, name in zip(made.series, names, strict=False)]
    hostile = replace(made, title=names[0], about=names[1], series=tuple(series))
    tab = show(random_flow().with_chart(hostile), view="profile")
    shown = tab.locator(f"{PANEL} .nv-name text").all_text_contents()
    assert shown == [one.name for one in series]

"""Figures saved from the page: what is shown, as a file for a paper."""

import io
import re
from base64 import b64decode
from html import escape
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from browser import ink, opening, rest, token
from flows import NASTY, SENTENCE, VIEWS_OF_A_TEXT, random_flow, softmax
from hosts import FLOW, TOKENS
from matplotlib.image import imread
from playwright.sync_api import TimeoutError as NothingCame
from playwright.sync_api import expect
from saved_figures import DARK, SVG, figure, parse_svg, save, texts
from visits import Notebook, expect_drawn, visiting

from normviz.io.from_arrays import from_arrays
from normviz.view.page import build_page as html

FAINT = "#6d767f"
"""The color of tokens outside the focus, in light themes."""


def prose(root):
    """All text in one line."""
    return " ".join(" ".join(texts(root)).split())


def inked(picture):
    """How many pixels of a picture are not paper."""
    return (picture[..., :3].min(axis=-1) < 0.9).sum()


def share_of_ink(picture):
    return inked(picture) / picture[..., 0].size


def hide_message(tab):
    """Hide the message of the save buttons, which floats over the view for some seconds."""
    tab.locator(".nv-told").evaluate("node => { node.hidden = true; }")


def drawn(tab, root, tmp_path):
    """A saved figure as a browser draws it."""
    path = tmp_path / "figure.svg"
    path.write_bytes(ET.tostring(root))
    other = tab.context.new_page()
    other.goto(path.as_uri())
    width, height = (float(size) for size in root.get("viewBox").split()[2:])
    clip = {"x": 0, "y": 0, "width": width, "height": height}
    picture = imread(io.BytesIO(other.screenshot(clip=clip)))
    other.close()
    return picture


@pytest.mark.parametrize("view", VIEWS_OF_A_TEXT)
def test_what_is_shown_is_saved_as_svg_that_any_program_can_draw(show, tmp_path, view):
    tab = show(random_flow(), view=view, layer=0)
    content, name = save(tab, "SVG")
    root = parse_svg(content)
    assert name == "normviz-numbers-from-elsewhere-layer0-weighted-norm.svg"
    assert {node.tag.removeprefix(SVG) for node in root.iter()} <= {
        *("svg", "title", "desc", "g", "text", "path", "rect", "line", "image"),
        *("clipPath", "linearGradient", "stop"),
    }
    for dimension, length in zip(("width", "height"), root.get("viewBox").split()[2:], strict=True):
        centimeters = float(root.get(dimension).removesuffix("cm"))
        assert centimeters == pytest.approx(float(length) / 96 * 2.54, abs=0.01)
    assert root.get("font-family").endswith("sans-serif")
    expect(tab.locator(".nv-told")).to_have_text("saved")
    hide_message(tab)
    seen = imread(io.BytesIO(tab.locator(".nv-picture").screenshot()))
    picture = drawn(tab, root, tmp_path)
    assert picture.shape[0] <= seen.shape[0] + 24
    assert inked(picture) == pytest.approx(inked(seen), rel=0.25)


@pytest.mark.parametrize("view", ["flow", "stack", "matrix"])
def test_every_token_is_text_and_what_is_pinned_is_bold(show, view):
    root = figure(show(random_flow(), view=view, token=2))
    assert set(SENTENCE) <= set(texts(root))
    (bold, *_) = [text for text in root.iter(f"{SVG}text") if text.get("stroke-width") == "0.45"]
    assert bold.text in ("animal", "2", "0")  # or the layer that is followed
    faint = [
        text.text
        for text in root.iter(f"{SVG}text")
        if text.get("fill-opacity") or text.get("fill") == FAINT
    ]
    assert "tired" in faint
    assert faint.count("animal") < texts(root).count("animal")


@pytest.mark.parametrize("view", VIEWS_OF_A_TEXT)
def test_the_legend_is_in_the_figure_word_by_word(show, view):
    tab = show(random_flow(), view=view)
    phrases = tab.locator(".nv-legend li").all_inner_texts()
    words = re.sub(r"^0", "0 ", " ".join(phrases)).split()  # a bar of colors stands between
    found = prose(figure(tab))
    assert len(words) > 10
    assert [word for word in words if word not in found] == []
    assert found.count(" ·") >= len(phrases) - 1


def test_the_flow_has_as_many_ribbons_as_its_legend_says(show):
    tab = show(random_flow(), layer=1)
    legend = tab.locator(".nv-legend").inner_text()
    drawn = int(re.search(r"the strongest (\d+) of", legend).group(1))
    root = figure(tab)
    ribbons = list(root.iter(f"{SVG}path"))
    assert len(ribbons) == drawn
    widths = [float(ribbon.get("stroke-width")) for ribbon in ribbons]
    assert widths == sorted(widths)
    assert not list(root.iter(f"{SVG}image"))
    bars = [rect for rect in root.iter(f"{SVG}rect") if rect.get("rx") == "2"]
    shown = tab.locator(".nv-shares i").evaluate_all(
        "bars => bars.map(bar => bar.getBoundingClientRect().width)"
    )
    assert len(shown) == len(SENTENCE)
    assert [float(bar.get("width")) for bar in bars] == pytest.approx(shown, abs=0.01)


@pytest.mark.parametrize("choice", [{}, {"token": 2}], ids=["whole", "pinned"])
def test_the_stack_has_as_many_ribbons_as_its_legend_says(show, choice):
    tab = show(random_flow(), view="stack", layer=2, **choice)
    legend = tab.locator(".nv-legend").inner_text()
    drawn = int(re.search(r"(\d+) ribbons", legend).group(1))
    root = figure(tab)
    assert drawn == len(list(root.iter(f"{SVG}path")))
    assert not list(root.iter(f"{SVG}image"))


def test_a_pinned_token_is_saved_with_its_own_ribbons_only(show):
    tab = show(random_flow(), layer=1)
    whole = len(list(figure(tab).iter(f"{SVG}path")))
    token(tab, "query", 2).click()
    root = figure(tab)
    ribbons = list(root.iter(f"{SVG}path"))
    assert 0 < len(ribbons) < whole
    ends = {ribbon.get("d").split()[-1] for ribbon in ribbons}
    row = token(tab, "query", 2).bounding_box()["height"]
    assert max(map(float, ends)) - min(map(float, ends)) < row
    told = f"{len(ribbons)} ribbons of the token in focus highlighted"
    assert told in prose(root)


@pytest.mark.parametrize("view", VIEWS_OF_A_TEXT)
def test_a_dark_view_is_saved_in_light_colors_and_stays_dark(show, view):
    flow = random_flow()
    light = save(show(flow, view=view, token=1, theme="light"), "SVG")[0]
    tab = show(flow, view=view, token=1, theme="dark")
    before = tab.locator(".nv-gallery").screenshot()
    content, _ = save(tab, "SVG")
    assert content == light
    assert not any(color.encode() in content for color in DARK)
    tab.mouse.move(0, 0)
    hide_message(tab)
    assert tab.locator(".normviz").get_attribute("data-shade") == "dark"
    assert tab.locator(".nv-gallery").screenshot() == before


def test_hostile_tokens_stay_text(show, tmp_path):
    tab = show(random_flow(NASTY))
    content, _ = save(tab, "SVG")
    root = parse_svg(content)
    found = texts(root)
    whole = ("<!--", "${alert(1)}", "↵", "∅", "\ufffd", "مرحبا", "漢字", "\u202egnal\u202c")
    assert set(whole) <= set(found)
    assert any(text.startswith("</script><script") for text in found)
    assert any(text.startswith("<img src=x") for text in found)
    assert any(re.fullmatch("a{5,60}…", text) for text in found)
    assert sorted({node.tag for node in root.iter()}) == [
        SVG + name for name in ("desc", "g", "path", "rect", "svg", "text", "title")
    ]
    assert share_of_ink(drawn(tab, root, tmp_path)) > 0.02


def test_arabic_is_held_at_its_own_end(show):
    root = figure(show(random_flow(["مرحبا", "the"])))
    arabic = [text for text in root.iter(f"{SVG}text") if text.text == "مرحبا"]
    key, query = sorted(arabic, key=lambda text: float(text.get("x")))
    assert (key.get("direction"), key.get("text-anchor")) == ("rtl", None)
    assert (query.get("direction"), query.get("text-anchor")) == ("rtl", "end")


def test_text_read_upwards_stands_over_its_column(show):
    root = figure(show(random_flow(), view="matrix"))
    turned = [text for text in root.iter(f"{SVG}text") if text.get("transform") == "rotate(-90)"]
    assert [text.text for text in turned] == SENTENCE
    heights = [float(text.get("y")) for text in turned]
    steps = {round(b - a) for a, b in pairwise(heights)}
    assert len(steps) == 1


@pytest.mark.parametrize("view", VIEWS_OF_A_TEXT)
def test_a_png_is_twice_as_fine_as_the_screen_and_not_blank(show, view):
    tab = show(random_flow(), view=view, theme="dark")
    width, height = (float(size) for size in figure(tab).get("viewBox").split()[2:])
    content, name = save(tab, "PNG")
    assert name.endswith("weighted-norm.png")
    picture = imread(io.BytesIO(content))
    # JavaScript rounds halves up, Python to even.
    assert picture.shape[:2] == (int(2 * height + 0.5), int(2 * width + 0.5))
    assert 0.01 < share_of_ink(picture) < 0.9
    assert (picture[0, 0, :3] == 1).all()


def test_two_pictures_side_by_side_are_one_figure(show):
    tab = show(random_flow(), measure="weight", compare="weighted-norm")
    root = figure(tab)
    bold = [text.text for text in root.iter(f"{SVG}text") if text.get("font-weight")]
    assert bold == ["α", "‖αf(x)‖"]
    assert [texts(root).count(role) for role in ("where it looks", "what it moves")] == [1, 1]
    assert texts(root).count("animal") == 4


@pytest.mark.parametrize("width", [1000, 560], ids=["beside", "below"])
@pytest.mark.parametrize("compare", [None, "weight"], ids=["one", "two"])
def test_ribbons_end_at_their_tokens_wherever_the_words_are(show, width, compare):
    """The words of a pane are not saved; their room is not taken by the picture meanwhile."""
    tab = show(random_flow(), token=1, compare=compare)
    tab.set_viewport_size({"width": width, "height": 500})
    rest(tab, 300)
    tab.mouse.wheel(0, 1e4)
    rest(tab, 300)
    place = tab.evaluate("scrollY")
    assert place > 0
    with tab.expect_download() as coming:
        tab.get_by_role("button", name="save SVG").dispatch_event("click")  # does not scroll
    root = parse_svg(Path(coming.value.path()).read_bytes())
    assert tab.evaluate("scrollY") == place
    tokens = [text for text in root.iter(f"{SVG}text") if text.text == "animal"]
    lefts = [float(text.get("x")) for text in tokens[1::2]]  # of the tokens that receive
    groups = [group for group in root.iter(f"{SVG}g") if group.get("class") == "marks"]
    assert len(groups) == len(lefts) == (1 if compare is None else 2)
    for group, left in zip(groups, lefts, strict=True):
        start = float(re.match(r"translate\(([\d.]+) ", group.get("transform")).group(1))
        ends = {float(path.get("d").split()[-2]) for path in group.iter(f"{SVG}path")}
        assert [start + end for end in ends] == [pytest.approx(left, abs=15)]
    assert not any("(of all it takes)" in text for text in texts(root))


@pytest.mark.parametrize("view", ["grid", "matrix"])
def test_the_bar_of_colors_in_a_legend_has_its_colors(show, view):
    root = figure(show(random_flow(), view=view))
    (gradient,) = root.iter(f"{SVG}linearGradient")
    assert len({stop.get("stop-color") for stop in gradient}) > 4
    (bar,) = [rect for rect in root.iter(f"{SVG}rect") if rect.get("fill", "").startswith("url")]
    assert bar.get("fill") == f"url(#{gradient.get('id')})"


@pytest.mark.parametrize("view", ["flow", "stack"])
@pytest.mark.parametrize(("token", "top", "seen"), [(3, 700, "t60"), (140, 0, "t3")])
def test_a_part_that_is_in_sight_is_saved_as_such_and_nothing_moves(
    show, tmp_path, view, token, top, seen
):
    flow = random_flow([f"t{index}" for index in range(150)], layers=2, heads=2)
    tab = show(flow, view=view, layer=1, token=token)
    scroller = tab.locator(".nv-figure")
    scroller.evaluate("(node, top) => { node.scrollTop = top; }", top)
    root = figure(tab)
    assert scroller.evaluate("node => node.scrollTop") == top
    found = texts(root)
    assert seen in found
    assert f"t{token}" not in found
    assert found.index(seen) < found.index("read from" if view == "flow" else "after layer")
    assert list(root.iter(f"{SVG}clipPath"))
    (note,) = [text for text in root.iter(f"{SVG}text") if "continues beyond" in text.text]
    _, start, _, height = map(float, root.get("viewBox").split())
    assert float(note.get("y")) < start + height - 4
    papers = [rect for rect in root.iter(f"{SVG}rect") if rect.get("fill") == "#ffffff"]
    assert len(papers) > 1  # what stays in place covers what goes by under it
    seen = imread(io.BytesIO(scroller.screenshot()))
    picture = drawn(tab, root, tmp_path)[: seen.shape[0]]
    assert inked(picture) == pytest.approx(inked(seen), rel=0.2)


def test_marks_far_from_the_pinned_token_are_saved_too(show, tmp_path):
    weights = softmax(9 * np.eye(300)[None, None].repeat(2, axis=0))
    flow = from_arrays(weights, ["."] * 300)
    tab = show(flow, view="stack", layer=1, token=290)
    scroller = tab.locator(".nv-figure")
    scroller.evaluate("node => { node.scrollTop = 0; }")
    root = figure(tab)
    above = round(scroller.bounding_box()["y"] - float(root.get("viewBox").split()[1]))
    hide_message(tab)
    seen = imread(io.BytesIO(scroller.screenshot()))
    picture = drawn(tab, root, tmp_path)[above : above + seen.shape[0]]
    middle = [pixels[50:, 200:-200] for pixels in (seen, picture)]
    # A dot between two pixels is as dark as one within them, but covers more.
    seen_ink, saved_ink = ((1 - pixels[..., :3].min(axis=-1)).sum() for pixels in middle)
    assert saved_ink == pytest.approx(seen_ink, rel=0.1)
    assert inked(middle[0]) > 100


def test_a_zoomed_field_is_saved_as_it_is_zoomed(show):
    tab = show(random_flow([f"t{index}" for index in range(60)], layers=1), view="matrix")
    for _ in range(4):
        tab.get_by_role("button", name="zoom in").click()
    seen = tab.locator(".nv-axis.nv-query li").all_inner_texts()
    assert len(seen) < 30
    found = [text for text in texts(figure(tab)) if re.fullmatch(r"t\d+", text)]
    assert found.count(seen[1]) >= 1
    assert set(found) == set(seen + tab.locator(".nv-axis.nv-key li").all_inner_texts())


def test_a_fine_picture_is_saved_of_a_coarse_screen(show):
    tab = show(random_flow(), view="matrix")
    wide = tab.locator(".nv-plot .nv-base").evaluate("canvas => canvas.width")
    image = next(figure(tab).iter(f"{SVG}image"))
    assert 0 < float(image.get("width")) <= wide
    data = image.get("{http://www.w3.org/1999/xlink}href").partition(",")[2]
    assert imread(io.BytesIO(b64decode(data))).shape[1] == pytest.approx(3 * wide, abs=3)
    assert tab.locator(".nv-plot .nv-base").evaluate("canvas => canvas.width") == wide


def test_saving_while_things_move_leaves_the_picture_as_it_was(browser, tmp_path):
    with opening(browser, tmp_path, reduced_motion="no-preference") as opened:
        tab = opened(random_flow())
        before = ink(tab)
        save(tab, "SVG")
        rest(tab, 400)
        assert ink(tab) == before


def test_a_save_that_is_refused_leaves_a_sentence(show):
    text = html(random_flow())
    tab = show(re.sub(r"img-src [^;]*;", "", text), complains=True)
    tab.get_by_role("button", name="save PNG").click()
    expect(tab.locator(".nv-told")).to_contain_text(
        "The view could not be saved. This page does not allow"
    )


@pytest.mark.parametrize(("rights", "comes"), [("", False), (" allow-downloads", True)])
def test_a_frame_that_may_forbid_files_says_so(browser, rights, comes):
    """A browser does not tell a page that its file was kept from the reader."""
    context = browser.new_context()
    tab = context.new_page()
    inside = escape(html(random_flow()))
    tab.set_content(
        f'<iframe sandbox="allow-scripts{rights}" width=900 height=700 srcdoc="{inside}"></iframe>'
    )
    frame = tab.frame_locator("iframe")
    frame.get_by_role("button", name="more").click()
    button = frame.get_by_role("button", name="save SVG")
    if comes:
        with tab.expect_download() as coming:
            button.click()
        assert parse_svg(Path(coming.value.path()).read_bytes()).tag == f"{SVG}svg"
    else:
        with pytest.raises(NothingCame), tab.expect_download(timeout=1500):
            button.click()
    expect(frame.locator(".nv-told")).to_contain_text(
        "if no file was downloaded, this frame blocks"
    )
    context.close()


def test_a_notebook_saves_the_same_figures(browser, jupyter_host):
    jupyter_host.notebook(
        "saving.ipynb", FLOW, 'flow.widget(measure="weighted-norm", theme="dark", token=1)'
    )
    with visiting(browser) as visit:
        lab = Notebook(visit, jupyter_host, "lab/workspaces/saving/tree", "saving.ipynb")
        lab.run_all()
        expect_drawn(lab.view(1))
        root = figure(lab.view(1))
        assert set(TOKENS) <= set(texts(root))
        assert list(root.iter(f"{SVG}path"))
        assert share_of_ink(imread(io.BytesIO(save(lab.view(1), "PNG")[0]))) > 0.01
        assert lab.view(1).get_attribute("data-shade") == "dark"
        assert "#" not in lab.page.url
    assert (visit.trouble, visit.elsewhere) == ([], [])

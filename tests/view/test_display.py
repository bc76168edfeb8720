"""Displaying a flow: as a widget, or in a frame that needs no kernel, manager or network."""

import html
import re
import sys
from dataclasses import replace

import pytest
from browser import INK, choose_layer, expect_layer, measure_button, pressed, token
from flows import NASTY, random_flow
from playwright.sync_api import expect
from profiles import random_profile

from normviz.errors import MissingPackage
from normviz.view.page import build_page
from normviz.view.state import BadChoice

STRICT = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "child-src https: data:"
)
"""A policy like that of editors: inline code, and no frames except from the network."""


@pytest.fixture
def displays(monkeypatch):
    """The objects that IPython displays."""
    objects = []
    monkeypatch.setattr("IPython.display.display", objects.append)
    return objects


@pytest.fixture
def put_frame(browser):
    """Puts frames into the page of a strict host without network; a request or error fails."""
    context = browser.new_context(viewport={"width": 1000, "height": 800}, offline=True)
    tab = context.new_page()
    problems = []
    tab.on("request", lambda request: problems.append(request.url))
    tab.on("pageerror", lambda error: problems.append(error.message))
    tab.on("console", lambda line: line.type != "error" or problems.append(line.text))
    tab.on("dialog", lambda dialog: (problems.append("alert"), dialog.dismiss()))

    def put(flow, **options):
        policy = f'<meta http-equiv="Content-Security-Policy" content="{STRICT}">'
        tab.set_content(f"{policy}<body><textarea autofocus></textarea><div></div></body>")
        tab.locator("textarea").focus()
        markup = flow.frame(**options)._repr_html_()
        tab.locator("div").evaluate("(node, markup) => { node.innerHTML = markup }", markup)
        inside = tab.frame_locator("iframe")
        expect(inside.locator(".nv-sentence").first).not_to_be_empty()
        return tab, inside

    yield put
    context.close()
    assert problems == []


def test_a_flow_is_shown_as_a_widget_that_opens_with_the_state(displays):
    assert random_flow().show(layer=2, heads=[1]) is None
    (widget,) = displays
    assert (type(widget).__name__, widget.layer, widget.heads) == ("FlowWidget", 2, [1])


def test_a_static_flow_is_shown_as_html_and_as_text(displays):
    flow = random_flow()
    assert flow.show(static=True, layer=2) is None
    (frame,) = displays
    assert frame == flow.frame(layer=2)
    assert not hasattr(frame, "_repr_mimebundle_")
    assert repr(frame) == repr(flow)


def test_ipython_would_send_the_html_and_the_text():
    from IPython.core.formatters import DisplayFormatter

    flow = random_flow()
    frame = flow.frame()
    data, _ = DisplayFormatter().format(frame)
    assert data == {"text/html": frame.html, "text/plain": repr(flow)}


def test_the_frame_holds_the_page_and_only_scripts_and_saving_are_allowed():
    flow = random_flow()
    match = re.fullmatch(
        r'<iframe title="normviz: [^"]*" sandbox="allow-scripts allow-downloads" '
        r'width="100%" height="700" '
        r'style="border: 0" srcdoc="([^"<>]*)"></iframe>',
        flow.frame(layer=1, height=700).html,
    )
    assert html.unescape(match[1]) == build_page(flow, layer=1)


def test_the_name_of_a_frame_is_short_and_only_text():
    flow = replace(random_flow(), title='"><script>alert(1)</script> \ud800 ' + "word " * 100)
    frame = flow.frame().html
    title = html.unescape(re.search(r'title="([^"]*)"', frame)[1])
    assert title.startswith('normviz: "><script>alert(1)</script> ')
    assert title.endswith("word …")
    assert len(title) <= 100
    assert frame.isascii()


@pytest.mark.parametrize("static", [False, True])
def test_what_the_flow_lacks_is_refused_before_anything_is_shown(displays, static):
    with pytest.raises(BadChoice, match="There is no layer 9 here"):
        random_flow().show(static=static, layer=9)
    assert displays == []


def test_a_widget_has_no_height():
    with pytest.raises(BadChoice, match=r"^show without static=True has no keyword 'height'"):
        random_flow().show(height=300)


def test_without_ipython_a_sentence_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython.display", None)
    with pytest.raises(MissingPackage) as refusal:
        random_flow().show(static=True)
    assert str(refusal.value) == (
        "The package IPython is not installed. A notebook shows things through IPython. "
        "Run: pip install ipython. Outside of notebooks, write a file with to_html(path)."
    )
    assert random_flow().frame().html


def test_a_frame_draws_on_the_page_of_a_strict_host_without_network(put_frame):
    flow = random_flow()
    _, inside = put_frame(flow, layer=1)
    expect(inside.locator(".nv-sentence").first).to_contain_text("Layer 1,")
    pane = inside.locator(".nv-pane").first
    assert pane.locator(".nv-tokens.nv-key li").all_inner_texts() == list(flow.tokens)
    assert inside.locator(".nv-base").first.evaluate(INK)["inked"] > 5000


def test_a_profile_is_shown_in_such_a_frame(put_frame, displays):
    profile = random_profile()
    profile.show(height=500)
    (frame,) = displays
    assert (frame.html, repr(frame)) == (profile.frame(height=500).html, str(profile))
    tab, inside = put_frame(profile)
    assert inside.locator(".nv-panel svg").count() == 3
    expect(inside.locator(".nv-finding").first).to_contain_text("(mean of layers).")
    assert tab.evaluate("document.activeElement.tagName") == "TEXTAREA"


def test_the_controls_in_a_frame_work(put_frame):
    tab, inside = put_frame(random_flow())
    before = inside.locator(".nv-base").first.evaluate(INK)
    measure_button(inside, "α").click()
    assert pressed(inside, "measure") == ["α"]
    choose_layer(inside, 2)
    token(inside, "query", 2).click()
    expect(inside.locator(".nv-sentence").first).to_contain_text("‘animal’ takes")
    tab.keyboard.press("[")
    expect_layer(inside, 1)
    assert inside.locator(".nv-base").first.evaluate(INK) != before


def test_tokens_that_look_like_markup_stay_text_in_a_frame(put_frame):
    tab, inside = put_frame(random_flow(NASTY))
    assert inside.locator(".nv-tokens.nv-key li").all_text_contents()[:4] == list(NASTY[:4])
    assert inside.locator("main img").count() == 0
    assert tab.locator("img").count() == 0
    for index in range(3):
        token(inside, "key", index).click()


def test_the_page_in_a_frame_cannot_reach_the_notebook(put_frame):
    tab, _ = put_frame(random_flow())
    (frame,) = tab.main_frame.child_frames
    reach = "() => { try { return parent.document.title } catch (error) { return error.name } }"
    assert frame.evaluate(reach) == "SecurityError"


def test_a_frame_does_not_take_the_keyboard_from_who_is_typing(put_frame):
    tab, _ = put_frame(random_flow())
    tab.keyboard.type("go on")
    expect(tab.locator("textarea")).to_have_value("go on")


def test_a_frame_has_a_name_for_those_who_do_not_see_it(put_frame):
    tab, _ = put_frame(random_flow())
    expect(tab.locator("iframe")).to_have_accessible_name(
        "normviz: [CLS] the animal was tired [SEP]"
    )

"""The one-file page's address, and pages of several flows."""

import re
from html import escape

import pytest
from browser import (
    INK,
    choose_head,
    expect_layer,
    hash_of,
    ink,
    plain_state,
    pressed,
    step_layer,
    token,
)
from flows import random_flow, two_streams
from playwright.sync_api import expect

from normviz.view.assets import asset_path
from normviz.view.page import build_page as html

WORDS = [f"t{index}" for index in range(30)]


def plain(flow, **state):
    """A page that opens with one measure in the first layer."""
    return html(flow, **plain_state(flow, state))


def gallery(*flows):
    """One page with the views of several flows."""
    pages = [plain(flow) for flow in flows]
    mains = [re.search(r"<main.*</main>", text, re.DOTALL).group() for text in pages]
    return pages[0].replace(mains[0], "\n".join(mains))


@pytest.fixture
def visit(browser, tmp_path):
    """Opens a page from disk at an address; any error fails the test at the end."""
    context = browser.new_context(viewport={"width": 1000, "height": 800}, reduced_motion="reduce")
    context.add_init_script("try { localStorage.setItem('normviz.more', 'open'); } catch {}")
    trouble = []

    def visited(text, hash_="", script=None):
        path = tmp_path / "page.html"
        path.write_text(text, encoding="ascii")
        tab = context.new_page()
        if script:
            tab.add_init_script(script)
        tab.on("pageerror", lambda error: trouble.append(str(error)))
        tab.on("console", lambda line: line.type != "error" or trouble.append(line.text))
        tab.goto(path.as_uri() + hash_)
        expect(tab.locator(".nv-sentence").first).not_to_be_empty()
        return tab

    yield visited
    context.close()
    assert trouble == []


def told(tab):
    return tab.get_by_role("status").filter(has_text="Ignored unknown URL parameter")


def test_an_address_reproduces_the_view(visit):
    text = plain(random_flow())
    tab = visit(text)
    assert hash_of(tab) == ""
    tab.keyboard.press("]")
    tab.keyboard.press("1")
    choose_head(tab, 2)
    choose_head(tab, 0)
    token(tab, "key", 3).click()
    tab.locator("select[aria-label=scale]").select_option("query")
    tab.locator("select[aria-label='compare with']").select_option('"value-norm"')
    tab.locator("select[aria-label='compare with']").select_option("null")
    written = hash_of(tab)
    assert written == "measure=weight&layer=1&heads=0,2&token=3&role=key&normalize=query"
    tab.mouse.move(5, 790)
    again = visit(text, f"#{written}")
    assert pressed(again, "heads") == ["0", "2"]
    sentence = tab.locator(".nv-sentence").inner_text()
    assert "gives" in sentence
    expect(again.locator(".nv-sentence")).to_have_text(sentence)
    for which in (".nv-base", ".nv-top"):
        assert ink(again, which) == ink(tab, which)
    assert told(again).count() == 0


@pytest.mark.parametrize("view", ["stack", "grid", "matrix", "profile"])
def test_an_address_opens_every_view(visit, view):
    tab = visit(plain(random_flow()), f"#view={view}&theme=dark")
    assert pressed(tab, "view") == [view]
    assert tab.locator(".normviz").get_attribute("data-shade") == "dark"


def test_only_what_differs_from_the_first_choice_is_written(visit):
    tab = visit(plain(random_flow(), layer=2, token=1, heads=[1]))
    assert "#" not in tab.url
    tab.keyboard.press("[")
    assert hash_of(tab) == "layer=1"
    tab.keyboard.press("Escape")
    choose_head(tab, "all")
    assert hash_of(tab) == "layer=1&heads=all&token=none"
    tab.keyboard.press("]")
    choose_head(tab, 1)
    token(tab, "query", 1).click()
    hash_of(tab)
    assert "#" not in tab.url


def test_all_heads_by_name_are_no_difference(visit):
    tab = visit(plain(random_flow(), heads=[0, 1, 2, 3]))
    tab.keyboard.press("]")
    assert hash_of(tab) == "layer=1"


@pytest.mark.parametrize(
    ("address", "names", "layer"),
    [
        ("#layer=99", ["layer=99"], "0"),
        ("#color_by=red&layer=1", ["color_by=red"], "1"),
        ("#side=key&layer=1", ["side=key"], "1"),
        ("#view=<img src=x onerror=alert(1)>", ["view=<img src=x onerror=alert(1)>"], "0"),
        ("#token=6&heads=1,9&%E0%A4%A=1", ["token=6", "heads=1,9"], "0"),
        ("#here", ["here"], "0"),
    ],
)
def test_what_the_page_does_not_know_is_named_and_all_else_is_shown(visit, address, names, layer):
    tab = visit(plain(random_flow()), address)
    expect(told(tab)).to_be_visible()
    for name in names:
        expect(told(tab)).to_contain_text(name)
    assert ink(tab)["inked"] > 5000
    expect_layer(tab, layer)
    tab.locator(".normviz").focus()
    tab.keyboard.press("2")
    expect(told(tab)).to_have_count(0)
    assert hash_of(tab).startswith("measure=value-norm")


def test_two_measures_open_and_one_is_a_difference(visit):
    text = html(random_flow())
    tab = visit(text)
    expect(tab.locator(".nv-pane")).to_have_count(2)
    assert hash_of(tab) == ""
    tab.keyboard.press("3")
    expect(tab.locator(".nv-pane")).to_have_count(1)
    written = hash_of(tab)
    assert written == "measure=weighted-norm&compare=none"
    again = visit(text, f"#{written}")
    expect(again.locator(".nv-pane")).to_have_count(1)
    expect(again.locator(".nv-sentence")).to_have_text(tab.locator(".nv-sentence").inner_text())
    assert told(again).count() == 0


def test_a_changed_address_changes_the_view_and_so_do_back_and_forth(visit):
    tab = visit(plain(random_flow()))
    tab.evaluate("location.hash = 'layer=2&token=1'")
    expect_layer(tab, 2)
    expect(tab.locator(".nv-sentence")).to_contain_text("‘the’ takes")
    tab.evaluate("location.hash = 'layer=1'")
    expect_layer(tab, 1)
    expect(tab.locator(".nv-sentence")).to_contain_text("most is read from")
    tab.go_back()
    expect_layer(tab, 2)
    tab.evaluate("location.hash = 'layer=7'")
    expect(told(tab)).to_contain_text("layer=7")
    expect_layer(tab, 0)


def test_another_stream_keeps_what_it_can(visit):
    tab = visit(plain(two_streams()), "#stream=cross&role=key&token=2")
    assert pressed(tab, "stream") == ["cross"]
    expect(tab.locator(".nv-sentence")).to_contain_text("‘</s>’ gives")
    assert told(tab).count() == 0


def test_the_address_is_written_a_few_times_in_a_second_at_most(visit):
    count = """
      window.written = 0;
      const replace = history.replaceState;
      history.replaceState = function (...given) { window.written++; replace.apply(this, given); };
    """
    tab = visit(plain(random_flow()), script=count)
    for _ in range(20):
        tab.keyboard.press("]")
        tab.keyboard.press("]")
        tab.keyboard.press("[")
        tab.keyboard.press("[")
    seconds = tab.evaluate("performance.now()") / 1000
    assert hash_of(tab) == ""
    tab.keyboard.press("]")
    assert hash_of(tab) == "layer=1"
    assert 1 <= tab.evaluate("window.written") <= 3 * seconds + 4


def test_a_host_that_forbids_it_is_done_without(visit):
    refuse = """history.replaceState = () => { throw new DOMException('no', 'SecurityError'); };"""
    tab = visit(plain(random_flow()), "#layer=1", refuse)
    tab.keyboard.press("]")
    expect(tab.locator(".nv-sentence")).to_contain_text("Layer 2,")
    assert hash_of(tab) == "layer=1"


def test_a_frame_without_an_address_of_its_own_works(visit):
    tab = visit(plain(random_flow()))
    inside = escape(html([random_flow(WORDS), random_flow()]))
    frame = f'<iframe sandbox="allow-scripts" width=900 height=700 srcdoc="{inside}"></iframe>'
    tab.evaluate("markup => { document.body.innerHTML = markup; }", frame)
    view = tab.frame_locator("iframe")
    view.locator(".nv-tokens.nv-query li").nth(1).click()
    expect(view.locator(".nv-sentence").first).to_contain_text("‘t1’ takes")
    view.get_by_role("link").nth(1).click()
    expect(view.locator(".nv-title").nth(1)).to_be_in_viewport()


def test_a_notebook_keeps_its_address():
    assert "replaceState" not in asset_path("widget.js").read_text()
    assert "replaceState" in asset_path("standalone.js").read_text()


def test_several_flows_are_listed_and_drawn_as_they_come_near(visit):
    flows = [random_flow(WORDS, layers=1, heads=1) for _ in range(9)]
    tab = visit(gallery(two_streams(), *flows))
    links = tab.get_by_role("navigation", name="flows on this page").get_by_role("link")
    expect(links).to_have_count(10)
    expect(links.first).to_have_text("tiny le chat")
    views = tab.locator(".normviz")
    tab.wait_for_timeout(300)
    assert 1 <= views.count() < 6
    links.nth(8).click()
    ninth = tab.locator("main").nth(8)
    expect(ninth.locator(".normviz")).to_be_focused()
    tab.wait_for_timeout(500)
    assert ninth.bounding_box()["y"] == pytest.approx(0, abs=3)
    assert ninth.locator(".nv-base").evaluate(INK)["inked"] > 5000
    assert views.count() < 10
    tab.mouse.move(995, 795)
    tab.keyboard.press("ArrowDown")
    expect(ninth.locator(".nv-sentence")).to_contain_text("‘t0’ takes")
    assert hash_of(tab) == "flow=9&9.token=0"


def test_every_flow_of_a_page_has_its_own_part_of_the_address(visit):
    text = gallery(random_flow(), two_streams(), random_flow(WORDS, layers=2))
    tab = visit(text)
    views = tab.locator("main")
    step_layer(views.nth(1))
    choose_head(views.nth(0), 2)
    assert hash_of(tab) == "1.heads=2&2.layer=2"
    again = visit(text, "#1.heads=2&2.layer=2&3.layer=1&flow=3&layer=1&4.layer=0&2.token=99")
    assert again.locator("main").nth(2).bounding_box()["y"] < 60
    expect(again.locator("main").nth(2).locator(".nv-sentence")).to_contain_text("Layer 1,")
    expect(again.locator("main").nth(1).locator(".nv-sentence")).to_contain_text("Layer 2,")
    expect(again.locator("main").nth(0).locator(".nv-sentence")).to_contain_text("head 2,")
    expect(told(again)).to_have_text(
        "Ignored unknown URL parameters: layer=1, 4.layer=0, 2.token=99."
    )
    expect(told(again)).to_be_in_viewport()


def test_an_address_goes_to_its_flow_whatever_room_the_others_take(visit):
    small = [random_flow() for _ in range(8)]
    tab = visit(gallery(random_flow(WORDS), two_streams(), *small), "#flow=7")
    tab.wait_for_timeout(700)
    assert tab.locator("main").nth(6).bounding_box()["y"] == pytest.approx(0, abs=3)


def test_the_address_of_one_flow_has_no_numbers(visit):
    tab = visit(plain(random_flow()), "#1.layer=1&flow=1")
    expect(told(tab)).to_contain_text("1.layer=1, flow=1")


def test_a_flow_that_cannot_be_read_does_not_take_the_others_along(visit):
    text = gallery(random_flow(), random_flow(), two_streams())
    tab = visit(text.replace('{"header"', '{"header', 1))
    assert tab.locator(".nv-notice").count() == 1
    expect(tab.locator("main").nth(0).locator(".nv-notice")).to_contain_text("could not be drawn")
    step_layer(tab.locator("main").nth(2))
    assert hash_of(tab) == "3.layer=2"


def test_ten_flows_open_quickly(visit):
    flows = [random_flow(WORDS, layers=4, heads=12) for _ in range(10)]
    tab = visit(gallery(*flows))
    assert tab.locator("main").count() == 10
    assert tab.locator("main .normviz").count() <= 4

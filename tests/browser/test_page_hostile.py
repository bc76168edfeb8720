"""The one-file view under strain: hostile tokens, long texts, broken files, company on the page."""

import re

import pytest
from browser import INK, ink, pressed, token
from flows import NASTY, VIEWS_OF_A_TEXT, random_flow
from playwright.sync_api import expect

from normviz.view.page import build_page as html
from normviz.view.payload import FORMAT

PLAIN = {"measure": "weighted-norm", "layer": 0, "normalize": "layer"}
"""One measure, of the first layer."""


def test_nasty_tokens_are_shown_and_do_nothing(show):
    tab = show(random_flow(NASTY))
    shown = tab.locator(".nv-tokens.nv-key li").all_text_contents()
    assert shown[:4] == list(NASTY[:4])
    assert shown[9:11] == ["↵", "∅"]
    assert tab.locator("main img").count() == 0
    for index in range(3):
        token(tab, "key", index).click()


@pytest.mark.parametrize("view", VIEWS_OF_A_TEXT)
def test_nasty_tokens_do_nothing_in_any_view(show, view):
    tab = show(random_flow(NASTY), view=view, token=4)
    for role in ("query", "key"):
        for _ in NASTY:
            tab.keyboard.press("ArrowDown")
            assert tab.locator(".nv-notice").count() == 0
        tab.keyboard.press("ArrowLeft" if role == "query" else "ArrowRight")
    assert tab.locator("main img, main script:not([type])").count() == 0
    assert tab.title() == "normviz: " + " ".join(NASTY[:6]).replace("\x00", "\ufffd").replace(
        "\ud800", "\ufffd"
    )


BEFORE = """(words) => {
  const sentence = document.querySelector('.nv-sentence');
  const walker = document.createTreeWalker(sentence, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const at = node.data.indexOf(words);
    if (at < 0) continue;
    return [at, at + words.length - 1].map((place) => {
      const range = document.createRange();
      range.setStart(node, place);
      range.setEnd(node, place + 1);
      return range.getBoundingClientRect().left;
    });
  }
}"""
"""Where the first and the last letter of some words of the sentence lie."""


@pytest.mark.parametrize(
    "mark", ["\u202e", "\u202b", "\u2067", "\u2069\u202e", "\u200f", "\u05d0", "\U0001e900"]
)
def test_a_token_cannot_turn_the_sentence_round(show, mark):
    tab = show(random_flow([f"{mark}evil", "b"]), token=0)
    first, last = tab.evaluate(BEFORE, "takes")
    assert first < last
    order = [tab.evaluate(BEFORE, words)[0] for words in ("mean of 4", "takes")]
    assert order == sorted(order)


def test_two_views_on_one_page_keep_apart(show):
    text = html(random_flow(), **PLAIN)
    main = re.search(r"<main.*</main>", text, re.DOTALL).group()
    tab = show(text.replace(main, main + main))
    views = tab.locator(".normviz")
    expect(views).to_have_count(2)
    second = views.nth(1).locator(".nv-base").evaluate(INK)
    views.nth(0).locator(".nv-tokens.nv-query li").nth(1).click()
    views.nth(0).get_by_role("button", name="α", exact=True).click()
    assert pressed(views.nth(0), "measure") == ["α"]
    assert pressed(views.nth(1), "measure") == ["‖αf(x)‖"]
    assert views.nth(1).locator(".nv-base").evaluate(INK) == second
    assert tab.locator("[id]").count() == 0


def test_a_long_text_scrolls_and_stays_legible(show):
    tab = show(random_flow([f"t{index}" for index in range(150)], layers=1, heads=2))
    figure = tab.locator(".nv-figure")
    assert figure.evaluate("node => node.scrollHeight > node.clientHeight + 500")
    assert token(tab, "key", 0).evaluate("node => getComputedStyle(node).fontSize") == "9px"
    tab.locator(".normviz").focus()
    for _ in range(81):
        tab.keyboard.press("ArrowDown")
    expect(token(tab, "query", 80)).to_be_in_viewport()


def test_a_file_of_512_tokens_and_144_heads_opens_and_answers(show):
    flow = random_flow([f"t{index}" for index in range(512)], layers=12, heads=12)
    tab = show(flow)
    seen = [ink(tab)["sum"]]
    for key, words in (("]", "Layer 1,"), ("1", "α:"), ("ArrowDown", "‘t0’ takes")):
        tab.keyboard.press(key)
        expect(tab.locator(".nv-sentence")).to_contain_text(words)
        seen.append(ink(tab)["sum"])
    assert len(set(seen[:3])) == 3
    tab.get_by_role("button", name="grid").click()
    expect(tab.locator(".nv-sentence")).to_contain_text("‘t0’")
    assert ink(tab)["inked"] > 5000


def test_a_file_of_128_tokens_and_144_heads_is_as_small_as_promised():
    flow = random_flow([f"t{index}" for index in range(128)], layers=12, heads=12)
    assert 1e6 < len(html(flow)) <= 5.3e6


def test_a_picture_drawn_while_hidden_appears_when_shown(show):
    text = html(random_flow()).replace('<main class="', '<main hidden class="')
    tab = show(text)
    tab.evaluate("document.querySelector('main').hidden = false")
    tab.wait_for_function(f"() => ({INK})(document.querySelector('.nv-base')).inked > 5000")


def test_numbers_that_did_not_arrive_leave_a_sentence(show):
    text = html(random_flow()).replace('"name":"0/encoder/weight/', '"name":"0/encoder/lost/')
    tab = show(text, complains=True)
    expect(tab.locator(".nv-notice")).to_contain_text("does not contain")


def test_a_file_of_another_version_leaves_a_sentence(show):
    tab = show(html(random_flow()).replace(f'"format":{FORMAT},', '"format":99,'), complains=True)
    expect(tab.locator(".nv-notice")).to_contain_text("has format 99")


def test_a_file_opens_the_same_where_the_browser_cannot_read_base64_itself(show):
    tab = show(random_flow())
    itself = ink(tab)
    tab.add_init_script("""delete Uint8Array.fromBase64;
        const own = atob;
        window.atob = (letters) => { window.byHand = true; return own(letters); };""")
    tab.reload()
    expect(tab.locator(".nv-sentence").first).not_to_be_empty()
    assert tab.evaluate("window.byHand")
    assert ink(tab) == itself

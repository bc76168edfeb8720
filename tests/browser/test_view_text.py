"""Running text in a real browser: shades, pins, search, two measures, long and foreign texts."""

import numpy as np
import pytest
from browser import ink, percent, pressed
from flows import NASTY, random_flow, signed_flow, softmax, translation_flow, wordy_flow
from playwright.sync_api import expect
from saved_figures import SVG, figure, texts

from normviz.core.tokens import Tokens
from normviz.io.from_arrays import from_arrays

STORY = [
    *("the", "animal", "did", "not", "cross", "the", "street"),
    *("because", "it", "was", "too", "tired", "."),
]

SHADES = """pieces => pieces.map(piece => getComputedStyle(piece).backgroundColor)"""

LEGIBLE = """pieces => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = (color) => channels(color).slice(0, 3).map(channel => channel / 255)
    .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const paper = getComputedStyle(document.querySelector('.normviz')).backgroundColor;
  return Math.min(...pieces.map(piece => {
    const { color, backgroundColor } = getComputedStyle(piece);
    const behind = channels(backgroundColor)[3] === 0 ? paper : backgroundColor;
    const [low, high] = [light(color), light(behind)].sort((one, other) => one - other);
    return (high + 0.05) / (low + 0.05);
  }));
}"""
"""The lowest contrast of any token with what is behind it."""

RECTS = "pieces => pieces.map(piece => piece.getBoundingClientRect().left)"

SETTLED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""Two frames: after them a text has taken up a new place."""

CLEAR = "rgba(0, 0, 0, 0)"


def passage(tab, at=0):
    return tab.locator(".nv-passage:visible").nth(at)


def piece(tab, text, at=0):
    return passage(tab, at).locator(".nv-piece", has_text=text).first


def shades(tab, at=0):
    return passage(tab, at).locator(".nv-piece").evaluate_all(SHADES)


def title(tab, text, at=0):
    return piece(tab, text, at).locator("..").get_attribute("title")


def long_flow(count, queries=8):
    """A flow with few queries and many keys."""
    weights = softmax(np.random.default_rng(0).normal(0, 2, (1, 1, queries, count)))
    keys = [STORY[at % len(STORY)] + ("" if at % 100 else f" {at}") for at in range(count)]
    return from_arrays(weights, keys, target_tokens=[f"q{at}" for at in range(queries)])


def test_text_reads_as_written(show):
    tab = show(wordy_flow(), view="text")
    assert passage(tab).inner_text() == "[CLS] unbelievable cats [SEP]"
    tab.locator("select[aria-label=in]").select_option("words")
    assert passage(tab).locator(".nv-piece").all_inner_texts() == [
        *("[CLS]", "unbelievable", "cats", "[SEP]")
    ]


def test_pointing_shades_what_the_token_takes_and_leaving_what_all_give(show):
    flow = random_flow()
    tab = show(flow, view="text", layer=1)
    expect(tab.locator("select[aria-label=scale]")).to_be_hidden()
    given = shades(tab)
    piece(tab, "animal").hover()
    values = flow["weighted-norm"][1].sum(axis=0)[2]
    shares = values / values.sum()
    for at, text in enumerate(flow.tokens):
        assert title(tab, text) == f"{at}: {text}\n{percent(shares[at])} of what ‘animal’ takes"
    taken = shades(tab)
    assert taken != given
    darkness = [-sum(map(int, shade[4:-1].split(", "))) for shade in taken]
    assert np.argsort(darkness).tolist() == np.argsort(shares).tolist()
    expect(tab.locator(".nv-sentence")).to_contain_text("‘animal’ takes")
    expect(tab.locator(".nv-legend")).to_contain_text(
        f"full shade: {percent(shares.max())} of what ‘animal’ takes"
    )
    tab.mouse.move(5, 790)
    assert shades(tab) == given
    assert title(tab, "the").endswith("of all that is given")


def test_a_click_pins_and_the_outline_stays_while_others_are_pointed_at(show):
    tab = show(random_flow(), view="text")
    piece(tab, "animal").click()
    piece(tab, "tired").hover()
    expect(tab.locator(".nv-sentence")).to_contain_text("‘tired’ takes")
    expect(tab.locator(".nv-pinned")).to_have_text("animal")
    expect(tab.locator(".nv-piece.nv-on")).to_have_text("tired")
    tab.mouse.move(5, 790)
    expect(tab.locator(".nv-sentence")).to_contain_text("‘animal’ takes")
    tab.keyboard.press("Escape")
    expect(tab.locator(".nv-pinned")).to_have_count(0)


def test_what_a_token_gives_is_a_button_or_an_arrow_away(show):
    tab = show(random_flow(), view="text", token=2)
    taken = shades(tab)
    tab.get_by_role("button", name="gives", exact=True).click()
    expect(tab.locator(".nv-sentence")).to_contain_text("‘animal’ gives")
    assert shades(tab) != taken
    assert pressed(tab, "what the token in focus does") == ["gives"]
    tab.keyboard.press("ArrowRight")
    expect(tab.locator(".nv-sentence")).to_contain_text("‘animal’ takes")
    assert pressed(tab, "what the token in focus does") == ["takes"]
    tab.keyboard.press("ArrowDown")
    expect(tab.locator(".nv-pinned")).to_have_text("was")


def test_moving_along_a_line_never_leaves_the_tokens(show):
    tab = show(random_flow(STORY), view="text")
    boxes = [piece(tab, text).bounding_box() for text in ("animal", "street")]
    tab.evaluate("""() => {
      window.seen = [];
      new MutationObserver(() => seen.push(document.querySelector('.nv-sentence').textContent))
        .observe(document.querySelector('.nv-spoken'), { childList: true });
    }""")
    tab.mouse.move(boxes[0]["x"] + 2, boxes[0]["y"] + 10)
    tab.mouse.move(boxes[1]["x"] + 2, boxes[1]["y"] + 10, steps=80)
    seen = tab.evaluate("seen")
    assert len(seen) >= 5
    assert all("takes" in sentence for sentence in seen)


def test_the_search_goes_from_match_to_match(show):
    tab = show(random_flow(STORY * 20, layers=1, heads=1), view="text")
    tab.set_viewport_size({"width": 700, "height": 800})
    field, found = tab.get_by_label("search the text"), tab.locator(".nv-found")
    field.fill("Not cross")
    expect(found).to_have_text("1 of 20")
    expect(tab.locator(".nv-current")).to_have_text(["not", "cross"])
    assert passage(tab).locator(".nv-match").count() > 10
    field.press("Shift+Enter")
    expect(found).to_have_text("20 of 20")
    expect(tab.locator(".nv-current").first).to_be_in_viewport()
    tab.get_by_role("button", name="next match").click()
    expect(found).to_have_text("1 of 20")
    tab.keyboard.press("Shift+Tab")
    tab.keyboard.press("Shift+Tab")
    expect(field).to_be_focused()
    tab.keyboard.type("1")
    expect(found).to_have_text("no match")
    tab.keyboard.press("Escape")
    expect(field).to_have_value("")
    expect(tab.locator(".nv-match")).to_have_count(0)


def test_two_measures_are_two_texts_that_mark_the_same_token(show):
    tab = show(random_flow(), view="text", measure="weight", compare="weighted-norm")
    piece(tab, "animal").hover()
    expect(tab.locator(".nv-piece.nv-on")).to_have_text(["animal", "animal"])
    one, other = shades(tab, 0), shades(tab, 1)
    assert one != other
    red, _, blue = (int(channel) for channel in max(one)[4:-1].split(", "))
    assert red < blue
    red, _, blue = (int(channel) for channel in min(other)[4:-1].split(", "))
    assert red > blue
    tab.get_by_role("button", name="gives", exact=True).first.click()
    assert pressed(tab, "what the token in focus does") == ["gives", "gives"]
    piece(tab, "tired", 1).hover()
    expect(tab.locator(".nv-sentence").first).to_contain_text("‘tired’ gives")


def test_two_texts_stand_one_above_the_other(show):
    tab = show(translation_flow(), view="text", stream="cross")
    assert passage(tab, 0).inner_text() == "Tengo tres gatos. </s>"
    assert passage(tab, 1).inner_text() == "<pad> I have three cats."
    assert tab.locator(".nv-passage-title").all_inner_texts() == ["read from", "receives"]
    piece(tab, "three", 1).hover()
    assert set(shades(tab, 1)) == {CLEAR}
    assert CLEAR not in shades(tab, 0)
    piece(tab, "tres", 0).hover()
    assert set(shades(tab, 0)) == {CLEAR}
    assert CLEAR not in shades(tab, 1)


@pytest.mark.parametrize("count", [2_500, 10_000])
def test_a_long_text_scrolls_with_few_tokens_in_the_page(show, count):
    tab = show(long_flow(count), view="text")
    box = passage(tab)
    assert box.evaluate("node => node.scrollHeight > 5 * node.clientHeight")
    assert box.locator(".nv-piece").count() < 800
    assert box.evaluate("node => node.clientHeight") < 600
    assert ink(tab, ".nv-strip")["inked"] > 200
    piece(tab, "q3", 1).hover()
    expect(tab.locator(".nv-sentence")).to_contain_text("‘q3’ takes")
    tab.get_by_label("search the text").fill(str(count - 100))
    last = box.locator(".nv-current")
    expect(last).to_be_in_viewport()
    assert last.evaluate("piece => getComputedStyle(piece).backgroundColor") != CLEAR
    box.evaluate("node => { node.scrollTop = 0; }")
    expect(piece(tab, "the 0")).to_be_in_viewport()
    expect(last).to_have_count(0)
    box.hover()
    tab.mouse.wheel(0, 900)
    tab.wait_for_function("() => document.querySelector('.nv-passage').scrollTop === 900")
    assert box.locator(".nv-piece").count() < 800


def test_a_narrow_page_breaks_lines_anew_and_keeps_its_place(show):
    tab = show(random_flow([f"t{at}" for at in range(900)], layers=1, heads=1), view="text")
    box = passage(tab)
    tall = box.evaluate("node => node.scrollHeight")
    box.evaluate("node => { node.scrollTop = 28 * 30; }")
    tab.evaluate(SETTLED)
    first = box.evaluate("""node => [...node.querySelectorAll('.nv-piece')].find(piece =>
        piece.getBoundingClientRect().top >= node.getBoundingClientRect().top).textContent""")
    tab.set_viewport_size({"width": 420, "height": 800})
    tab.wait_for_function(
        "tall => document.querySelector('.nv-passage').scrollHeight > 1.5 * tall", arg=tall
    )
    expect(box.get_by_text(first, exact=True)).to_be_in_viewport()
    fits = """node => [...node.querySelectorAll('.nv-piece')].every(piece =>
        piece.getBoundingClientRect().right <= node.getBoundingClientRect().right)"""
    assert box.evaluate(fits)
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("measure", ["weight", "weighted-norm", "effective-weight"])
def test_text_is_legible_on_every_shade(show, theme, measure):
    tab = show(signed_flow(), view="text", measure=measure, theme=theme)
    for token in range(6):
        tab.keyboard.press("ArrowDown")
        expect(tab.locator(".nv-pinned")).to_have_text(signed_flow().tokens[token])
        assert tab.locator(".nv-piece").evaluate_all(LEGIBLE) >= 4.5


def test_right_to_left_text_is_ordered_and_joined(show):
    pieces = ("[CLS]", "مر", "حبا", "بك", ".", "[SEP]")
    words = ("[CLS]", "مرحبا", "بك", ".", "[SEP]")
    tokens = Tokens(
        *(pieces, (0,) * 6, (True, *(False,) * 4, True), (0, 1, 1, 2, 3, 4)),
        *(("other",) * 6, words),
    )
    tab = show(from_arrays(np.full((1, 1, 6, 6), 1 / 6), tokens), view="text")
    lefts = passage(tab).locator(".nv-piece").evaluate_all(RECTS)
    assert lefts == sorted(lefts, reverse=True)
    assert passage(tab).inner_text() == "[CLS] مرحبا بك. [SEP]"
    first, second = (piece(tab, text).bounding_box() for text in pieces[1:3])
    # Letters that join across two pieces leave no gap.
    assert second["x"] + second["width"] == pytest.approx(first["x"], abs=0.1)


def test_a_foreign_word_in_a_text_keeps_its_own_order(show):
    weights = np.full((1, 1, 5, 5), 0.2)
    tab = show(from_arrays(weights, ["he", "said", "שלום", "עולם", "twice"]), view="text")
    he, said, first, second, twice = passage(tab).locator(".nv-piece").evaluate_all(RECTS)
    assert he < said < second < first < twice


def test_ideographs_wrap_without_spaces(show):
    text = "私は猫が好きです。" * 30
    flow = from_arrays(np.full((1, 1, 4, len(text)), 1 / len(text)), list(text),
                       target_tokens=list("abcd"))  # fmt: skip
    tab = show(flow, view="text")
    assert passage(tab).inner_text().replace("\n", "") == text
    starts = (
        passage(tab)
        .locator(".nv-passage-line")
        .evaluate_all("lines => lines.map(line => line.textContent[0])")
    )
    assert len(starts) > 3
    assert "。" not in starts


def test_hostile_tokens_stay_text_and_turn_nothing_round(show):
    flow = random_flow(["before", *NASTY, "after", "all"])
    tab = show(flow, view="text")
    seen = passage(tab).locator(".nv-piece").all_text_contents()
    assert {"</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>"} <= set(seen)
    assert tab.locator("main img").count() == 0
    assert "…" in " ".join(texts(figure(tab)))  # of the widest token
    after, last = (piece(tab, text).bounding_box()["x"] for text in ("after", "all"))
    assert after < last
    tab.set_viewport_size({"width": 340, "height": 800})
    tab.wait_for_function("() => document.querySelector('.nv-passage').clientWidth < 340")
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("mark", ["\u202e", "\u202b", "\u2067"])
def test_a_token_that_turns_text_round_turns_only_itself(show, mark):
    tab = show(random_flow(["one", f"{mark}two", "three", "four"]), view="text")
    lefts = passage(tab).locator(".nv-piece").evaluate_all(RECTS)
    assert lefts == sorted(lefts)


def test_line_breaks_of_the_text_are_kept(show):
    tab = show(random_flow(["one", "\n", "two", "\n\n", "three"]), view="text")
    assert passage(tab).inner_text().split() == ["one", "↵", "two", "↵↵", "three"]
    tops = [piece(tab, text).bounding_box()["y"] for text in ("one", "two", "three")]
    assert tops[1] - tops[0] == pytest.approx(28, abs=1)
    assert tops[2] - tops[1] == pytest.approx(56, abs=1)


def test_the_shaded_text_is_saved(show):
    tab = show(random_flow(STORY, layers=1, heads=1), view="text", token=8)
    root = figure(tab)
    on_screen = {f"#{''.join(f'{int(c):02x}' for c in shade[4:-1].split(', '))}"
                 for shade in shades(tab) if shade != CLEAR}  # fmt: skip
    saved = {rect.get("fill") for rect in root.iter(f"{SVG}rect")}
    assert on_screen <= saved
    label, short, *passages = texts(root)
    assert (label, short) == ("‖αf(x)‖", "what it moves")
    words = " ".join(passages).split()
    assert [word for word in words if word in {*STORY, "tired."}][: len(STORY)] == STORY
    (ring,) = [rect for rect in root.iter(f"{SVG}rect") if rect.get("stroke-width") == "2"]
    assert float(ring.get("width")) == pytest.approx(
        piece(tab, "it").bounding_box()["width"], abs=3
    )


def test_words_without_a_share_are_saved_as_words(show):
    weights = np.eye(12, dtype=np.float32)[None, None]
    tab = show(from_arrays(weights, STORY[:12]), view="text", token=0)
    assert " ".join(STORY[1:12]) in " ".join(texts(figure(tab)))


def test_the_keyboard_reaches_the_text_and_the_focus_is_seen(show):
    tab = show(random_flow([f"t{at}" for at in range(900)], layers=1, heads=1), view="text")
    tab.get_by_label("search the text").focus()
    tab.keyboard.press("Tab")
    expect(passage(tab)).to_be_focused()
    outline = "node => getComputedStyle(node).outlineStyle + getComputedStyle(node).outlineWidth"
    assert passage(tab).evaluate(outline) == "solid2px"
    tab.keyboard.press("End")
    expect(piece(tab, "t899")).to_be_in_viewport()

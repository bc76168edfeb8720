"""The one-file view in Firefox, opened from disk without a network: the same as in Chromium."""

import json
import time
from xml.etree import ElementTree as ET

import pytest
from browser import INK, plain_state
from firefox import PATIENCE, executable, firefox
from flows import (
    NASTY,
    SENTENCE,
    VIEWS_OF_A_TEXT,
    check,
    random_flow,
    receipt,
    two_streams,
)

import normviz
from normviz.core.flow import Flow

PRESSED = "document.querySelector('[aria-label={}] [aria-pressed=true]')?.textContent"

SHADES = "[...document.querySelectorAll('.nv-piece')].map(piece => piece.style.backgroundColor)"


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """A Firefox without a network, started once."""
    if executable() is None:
        pytest.skip("There is no Firefox on this machine, so nothing was tried in it.")
    with firefox(tmp_path_factory.mktemp("firefox")) as started:
        yield started


@pytest.fixture
def opened(running, tmp_path):
    """Opens flows from disk; any error, alert or request fails the test at the end."""
    before = len(running.events)

    def open_(flows, hash_="", **choice):
        state = plain_state(flows, choice) if isinstance(flows, Flow) else choice
        path = normviz.to_html(flows, tmp_path / "page.html", **state)
        tab = running.open(path.as_uri() + hash_)
        tab.until("!!document.querySelector('.nv-sentence, .nv-notice')?.textContent")
        return tab

    yield open_
    trouble = running.trouble()
    del running.events[before:]
    assert trouble == []


def ink(tab, which=".nv-base"):
    return tab.evaluate(f"({INK})(document.querySelector('{which}'))")


def test_it_is_firefox_and_it_is_offline(opened):
    tab = opened(random_flow())
    assert "Gecko/20100101 Firefox/" in tab.evaluate("navigator.userAgent")
    assert tab.evaluate("navigator.onLine") is False
    assert tab.evaluate("location.protocol") == "file:"
    assert tab.evaluate("performance.getEntriesByType('resource').map(one => one.name)") == []


def test_what_goes_wrong_in_a_page_is_noticed(running, tmp_path):
    path = tmp_path / "bad.html"
    address = "http://elsewhere.test/x.png"
    path.write_text(f"<img src='{address}'><script>alert(1); console.error('oh'); no();</script>")
    before = len(running.events)
    running.open(path.as_uri())
    found = " ".join(running.trouble())
    del running.events[before:]
    for word in ("elsewhere.test", "alert", "oh", "ReferenceError"):
        assert word in found


@pytest.mark.parametrize("view", VIEWS_OF_A_TEXT)
def test_every_view_is_opened_by_its_button_and_painted(opened, view):
    tab = opened(random_flow(), view="matrix" if view == "flow" else "flow")
    tab.point(
        f"[aria-label=view] button:nth-of-type({VIEWS_OF_A_TEXT.index(view) + 1})", click=True
    )
    tab.until(PRESSED.format("view"), gives=view)
    if view == "text":
        assert len(set(tab.evaluate(SHADES))) == len(SENTENCE)
    else:
        assert ink(tab)["inked"] > 1000
    assert tab.texts(".nv-notice") == []
    assert tab.texts(".nv-sentence") != [""]


def test_the_number_keys_change_the_measure_and_the_picture(opened):
    tab = opened(random_flow())
    seen = [ink(tab)["sum"]]
    for key, label in (
        ("1", "α where it looks"),
        ("2", "‖f(x)‖ what it holds"),
        ("3", "‖αf(x)‖ what it moves"),
    ):
        tab.press(key)
        tab.until(PRESSED.format("measure"), gives=label)
        seen.append(ink(tab)["sum"])
    assert len(set(seen)) == 3
    assert seen[0] == seen[-1]


def test_the_keyboard_reaches_layers_and_tokens(opened):
    tab = opened(random_flow())
    tab.press("]", "]", "[")
    tab.says(".nv-sentence", "Layer 1,")
    for key, words in (
        ("ArrowDown", "‘[CLS]’ takes"),
        ("ArrowDown", "‘the’ takes"),
        ("ArrowLeft", "‘the’ gives"),
        ("ArrowUp", "‘[CLS]’ gives"),
        ("Escape", "most is read from"),
    ):
        tab.press(key)
        tab.says(".nv-sentence", words)


def test_pointing_tells_and_a_click_pins_with_the_numbers_of_the_flow(opened):
    flow = random_flow()
    tab = opened(flow)
    values = flow["weighted-norm"][0].mean(axis=0)[2]
    share = f"{values.max() / values.sum():.0%}"
    giver = SENTENCE[int(values.argmax())]
    tab.point(".nv-tokens.nv-query li:nth-child(3)")
    tab.says(".nv-sentence", f"‘animal’ takes {share} from ‘{giver}’")
    assert ink(tab, ".nv-top")["inked"] > 300
    tab.point(".nv-tokens.nv-query li:nth-child(3)", click=True)
    tab.leave()
    tab.says("caption", "what ‘animal’ (2) takes")
    assert tab.texts("tbody tr:first-child td:nth-child(2)") == [giver]
    assert tab.texts("tbody tr:first-child td:nth-child(3)") == [share]
    assert float(tab.texts("tbody tr:first-child td:nth-child(4)")[0]) == pytest.approx(
        values.max(), rel=5e-3
    )


def test_two_measures_and_two_flows_stand_side_by_side(opened):
    tab = opened(random_flow(), measure="weight")
    tab.choose("compare with", json.dumps("weighted-norm"))
    tab.until("[...document.querySelectorAll('.nv-caption')].map(node => node.textContent)",
              gives=["α where it looks", "‖αf(x)‖ what it moves"])  # fmt: skip
    inks = f"[...document.querySelectorAll('.nv-base')].map({INK})"
    left, right = tab.evaluate(inks)
    assert left != right
    assert min(left["inked"], right["inked"]) > 1000
    other = opened(random_flow(), compare=random_flow(["one", "other"]))
    assert other.evaluate("document.querySelectorAll('.nv-pane').length") == 2


def test_the_receipt_opens_and_a_failed_one_has_another_color(opened):
    flow = two_streams()
    color = "getComputedStyle(document.querySelector('.nv-receipt summary')).color"
    good = opened(flow)
    good.says(".nv-receipt summary", "within 2.5e-07")
    good.point(".nv-receipt summary", click=True)
    good.until("document.querySelector('.nv-receipt').open")
    good.says(".nv-receipt pre", "within 0.2%")
    bad = opened(Flow(flow.streams, receipt([check("encoder", 0, 0.5)])))
    bad.says(".nv-receipt summary", "the parts miss the model's own output by 5.0e-01")
    assert bad.evaluate(color) != good.evaluate(color)


def test_the_address_is_written_read_and_followed(opened):
    flow = random_flow()
    tab = opened(flow)
    tab.press("]", "1", "ArrowDown")
    tab.until("location.hash", gives="#measure=weight&layer=1&token=0")
    again = opened(flow, "#measure=weight&layer=1&token=0")
    assert again.texts(".nv-sentence") == tab.texts(".nv-sentence")
    assert ink(again, ".nv-top") == ink(tab, ".nv-top")
    again.evaluate("void (location.hash = 'view=grid&layer=9')")
    again.until(PRESSED.format("view"), gives="grid")
    again.says("[role=status]", "layer=9")


def test_the_theme_can_be_chosen_and_follows_the_host(opened):
    tab = opened(random_flow())
    shade = "document.querySelector('.normviz').dataset.shade"
    assert tab.evaluate(shade) == "light"
    light = ink(tab)["sum"]
    tab.choose("theme", "dark")
    tab.until(shade, gives="dark")
    assert ink(tab)["sum"] != light
    tab.choose("theme", "auto")
    tab.until(shade, gives="light")
    tab.evaluate("void (document.body.className = 'vscode-dark')")
    tab.until(shade, gives="dark")


def saved(tab, kind):
    """Press the button; the file that came, once it is whole."""
    folder = tab.browser.downloads
    number = next(
        index
        for index, text in enumerate(tab.texts(".normviz button"))
        if text == f"save {kind.upper()}"
    )
    tab.evaluate(f"void document.querySelectorAll('.normviz button')[{number}].click()")
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        done = [path for path in folder.glob(f"*.{kind}") if path.stat().st_size]
        if done and not list(folder.glob("*.part")):
            return done[0].read_bytes()
        time.sleep(0.1)
    raise AssertionError(f"No {kind} came.")


def test_the_figure_can_be_saved(opened):
    tab = opened(random_flow())
    root = ET.fromstring(saved(tab, "svg"))  # noqa: S314 - our own file
    assert set(SENTENCE) <= {"".join(node.itertext()) for node in root.iter()}
    assert saved(tab, "png").startswith(b"\x89PNG")


def test_nasty_tokens_and_titles_are_shown_and_do_nothing(opened):
    flow = random_flow(NASTY)
    tab = opened(Flow(flow.streams, flow.receipt, NASTY[0] + NASTY[1]))
    assert tab.texts(".nv-tokens.nv-key li")[:4] == list(NASTY[:4])
    assert tab.evaluate("document.title").startswith(f"normviz: {NASTY[0]}")
    assert tab.evaluate("document.querySelectorAll('main img').length") == 0
    for index in range(len(NASTY)):
        tab.point(f".nv-tokens.nv-key li:nth-child({index + 1})", click=True)


def test_several_flows_share_one_page(opened):
    tab = opened([random_flow(), two_streams()])
    tab.until("document.querySelectorAll('.normviz').length", gives=2)
    assert tab.texts("nav a b") == ["numbers from elsewhere", "tiny"]

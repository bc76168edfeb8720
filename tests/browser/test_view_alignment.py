"""The alignment in a real browser: links and gold, both target rows, two measures, and audio."""

import numpy as np
import pytest
from browser import ink, pressed
from flows import translation_flow
from playwright.sync_api import expect

from normviz import Gold, aer, align, from_arrays

GOLD = Gold({(0, 1), (1, 2), (2, 3), (3, 4)}, {(0, 0), (2, 4)})

JUDGED = """paths => paths.map(path => {
  const verdict = [...path.classList].find(name => /^nv-(right|extra|miss|plain)$/.test(name));
  return [Number(path.dataset.source), Number(path.dataset.target), verdict.slice(3)];
})"""

STROKES = """paths => Object.fromEntries(paths.map(path => {
  const { stroke, strokeDasharray } = getComputedStyle(path);
  return [path.classList[1], `${stroke} ${strokeDasharray}`];
}))"""


def golden():
    return translation_flow().with_gold(GOLD)


def word(tab, role, text):
    return tab.locator(f".nv-facing-words.nv-{role} li", has_text=text).first


def lines(tab):
    return {tuple(line) for line in tab.locator(".nv-link").evaluate_all(JUDGED)}


def judged(flow, measure, **choice):
    """What the lines should be, by Python's own links."""
    links = align(flow, measure, **choice).links
    right = {(*link, "right" if link in GOLD.possible else "extra") for link in links}
    return right | {(*link, "miss") for link in GOLD.sure - links}


def test_links_are_those_of_python_and_judged_by_the_gold(show):
    flow = golden()
    tab = show(flow, view="alignment", measure="weight", layer=0)
    assert pressed(tab, "stream") == ["cross"]
    expected = judged(flow, "weight", layer=0)
    assert lines(tab) == expected
    assert {verdict for *_, verdict in expected} == {"right", "extra", "miss"}
    looks = tab.locator(".nv-link").evaluate_all(STROKES)
    assert len(set(looks.values())) == 3
    assert "none" in looks["nv-right"]
    assert "none" not in looks["nv-miss"]
    scores = aer(align(flow, "weight", layer=0), GOLD)
    sentence = tab.locator(".nv-sentence").inner_text()
    assert f"AER {100 * scores.aer:.0f}%, precision {100 * scores.precision:.0f}%" in sentence
    assert tab.locator(".nv-golden .nv-sure").count() == 4
    assert tab.locator(".nv-golden .nv-possible").count() == 2
    tab.locator("select[aria-label='row of a word']").select_option("output")
    assert lines(tab) == judged(flow, "weight", layer=0, target_row="output")
    expect(tab.locator(".nv-aside").first).to_contain_text("the row that predicts it")


def test_two_measures_stand_side_by_side_and_point_at_the_same_word(show):
    flow = golden()
    tab = show(flow, view="alignment", measure="weight", compare="weighted-norm", layer=1)
    expect(tab.locator(".nv-caption b")).to_have_text(["α", "‖αf(x)‖"])
    expect(tab.locator(".nv-caption small")).to_have_text(["where it looks", "what it moves"])
    for at, measure in enumerate(("weight", "weighted-norm")):
        found = tab.locator(".nv-pane").nth(at).locator(".nv-link").evaluate_all(JUDGED)
        assert {tuple(line) for line in found} == judged(flow, measure, layer=1)
    word(tab, "query", "cats").hover()
    expect(tab.locator(".nv-facing-words .nv-on")).to_have_text(["cats", "cats"])
    soft = align(flow, "weight", layer=1).soft[3]
    best = int(soft.argmax())
    share = f"‘cats’ ← ‘{flow.cross.keys.word_texts[best]}’: {100 * soft[best]:.0f}%"
    gold = "sure" if (best, 3) in GOLD.sure else "none"
    said = tab.locator(".nv-sentence").first
    expect(said).to_contain_text(f"{share} of what ‘cats’ takes; gold: {gold}")
    assert ink(tab, ".nv-plot .nv-top")["inked"] > 1000
    assert tab.locator(".nv-why:visible").count() == 1


def test_why_the_end_of_a_sentence_is_told_in_numbers(show):
    flow = golden()
    tab = show(flow, view="alignment", measure="weighted-norm", layer=0, heads=[1])
    parts = [align(flow, name, layer=0, heads=[1]) for name in ("weight", "weighted-norm")]
    bars = [
        float(text[:-1]) for text in tab.locator(".nv-reason span:last-child").all_inner_texts()
    ]
    assert bars[0] == pytest.approx(100 * parts[0].null_share.mean(), abs=0.6)
    widths = tab.locator(".nv-part").evaluate_all(
        "bars => bars.map(bar => parseFloat(bar.style.width))"
    )
    assert widths == pytest.approx(bars, abs=0.6)
    lengths = flow.cross.at("value-norm", 0)[1]
    said = tab.locator(".nv-why-said").inner_text()
    assert f"‖f(x)‖ is {lengths[6]:.3g} there" in said
    assert f"and {lengths[:6].mean():.3g} at the words" in said


def test_the_field_can_be_pointed_at_and_a_click_pins(show):
    tab = show(golden(), view="alignment", measure="weight", layer=0)
    box = tab.locator(".nv-plot").bounding_box()
    at = {"x": box["width"] * 0.5 / 5, "y": box["height"] * 1.5 / 5}
    tab.locator(".nv-plot").hover(position=at)
    expect(tab.locator(".nv-sight")).to_contain_text("‘have’ ← ‘Tengo’: ")
    expect(tab.locator(".nv-sight")).to_contain_text("gold: sure")
    tab.locator(".nv-plot").click(position=at)
    tab.mouse.move(5, 790)
    expect(tab.locator(".nv-sentence")).to_contain_text("‘have’ ← ")
    tab.keyboard.press("Escape")
    expect(tab.locator(".nv-sentence")).to_contain_text("5 target words have a link")


def test_what_cannot_be_aligned_says_so_and_the_tab_is_for_two_texts_only(show):
    tab = show(golden(), view="alignment", measure="value-norm")
    expect(tab.locator(".nv-sentence")).to_contain_text("‖f(x)‖ has no queries")
    tab.get_by_role("button", name="encoder", exact=True).click()
    assert pressed(tab, "view") == ["flow"]
    tab.locator("[aria-label=view] button").get_by_text("alignment", exact=True).click()
    assert (pressed(tab, "view"), pressed(tab, "stream")) == (["alignment"], ["cross"])
    alone = show(from_arrays([[[[1.0]]]], ["a"]))
    assert alone.locator("[aria-label=view] button").all_inner_texts()[-1] == "profile"


def test_a_sound_has_a_time_axis_and_each_word_its_stretch(show):
    weights = np.full((1, 1, 2, 200), 0.001, dtype=np.float32)
    weights[0, 0, 0, 20:30] += 0.08
    weights[0, 0, 1, 150:160] += 0.08
    weights /= weights.sum(axis=-1, keepdims=True)
    times = [f"{place * 0.02:.2f} s" for place in range(200)]
    tab = show(from_arrays(weights, times, target_tokens=["yes", "no"]), view="alignment")
    ticks = tab.locator(".nv-ruler text").all_text_contents()
    assert {"0 s", "1 s", "2 s", "3 s"} <= set(ticks)
    assert tab.locator(".nv-facing-words.nv-key li").count() == 0
    word(tab, "query", "no").hover()
    expect(tab.locator(".nv-sentence")).to_contain_text("(reads 3.00–3.20 s)")

"""Ways of looking, in a real browser: side by side, in words, without special tokens, as code."""

import re

import pytest
from browser import INK, choose_head, ink, opening, pressed, rest, token
from flows import SENTENCE, random_flow, wordy_flow
from playwright.sync_api import expect

from normviz.model.analyze import analyze


def choose(tab, label, value):
    tab.get_by_label(label, exact=True).select_option(value)


@pytest.mark.parametrize("press", ["the button", "the list"])
def test_weight_and_norm_stand_side_by_side_in_one_click(show, press):
    tab = show(random_flow(), measure="weight")
    if press == "the list":
        choose(tab, "compare with", "‖αf(x)‖")
    else:
        tab.get_by_role("button", name="α | ‖αf(x)‖").click()
    expect(tab.locator(".nv-caption b")).to_have_text(["α", "‖αf(x)‖"])
    left, right = (tab.locator(".nv-pane").nth(n).locator(".nv-base") for n in (0, 1))
    assert left.evaluate(INK)["inked"] > 1000
    assert right.evaluate(INK) != left.evaluate(INK)
    choose(tab, "compare with", "nothing")
    expect(tab.locator(".nv-pane")).to_have_count(1)


def test_hovering_and_pinning_are_linked_across_panes(show):
    tab = show(random_flow(), measure="weight", compare="weighted-norm")
    panes = tab.locator(".nv-pane")
    panes.nth(1).locator(".nv-tokens.nv-query li").nth(2).hover()
    for pane in (panes.nth(0), panes.nth(1)):
        expect(pane.locator(".nv-tokens.nv-query .nv-on")).to_have_text("animal")
    panes.nth(0).locator(".nv-tokens.nv-key li").nth(4).click()
    tab.mouse.move(1, 1)
    for pane in (panes.nth(0), panes.nth(1)):
        expect(pane.locator(".nv-tokens.nv-key .nv-on")).to_have_text("tired")
    expect(tab.locator(".nv-sentence")).to_have_count(2)
    expect(tab.locator("table")).to_have_count(2)


def test_two_texts_are_linked_by_the_characters_they_share(show):
    one = random_flow(["the", "unbelievable", "cat"])
    other = random_flow(["the", "old", "un", "##believ", "##able", "cats"])
    tab = show(one, compare=other)
    panes = tab.locator(".nv-pane")
    panes.nth(1).locator(".nv-tokens.nv-key li").nth(3).hover()
    expect(panes.nth(0).locator(".nv-tokens.nv-key .nv-on")).to_have_text("unbelievable")
    expect(panes.nth(1).locator(".nv-tokens.nv-key .nv-on")).to_have_text("##believ")
    panes.nth(1).locator(".nv-tokens.nv-key li").nth(1).hover()
    expect(panes.nth(0).locator(".nv-on")).to_have_count(0)


def test_two_layers_stand_side_by_side(show):
    tab = show(random_flow(), layer=0, compare=2)
    expect(tab.locator(".nv-caption")).to_have_text(["layer 0", "layer 2"])
    expect(tab.locator(".nv-sentence").nth(1)).to_contain_text("Layer 2,")


def test_rank_changes_are_named_when_the_measure_changes(show):
    flow = random_flow()
    tab = show(flow, measure="weight", layer=1)
    expect(tab.locator(".nv-changes")).to_be_empty()
    tab.locator(".normviz").focus()
    tab.keyboard.press("3")
    given = [flow[name][1].sum(axis=(0, 1)) for name in ("weight", "weighted-norm")]
    places = [(-values).argsort().argsort() + 1 for values in given]
    widest = abs(places[0] - places[1]).argmax()
    before, after = int(places[0][widest]), int(places[1][widest])
    said = tab.locator(".nv-changes").inner_text()
    assert said.startswith("From α to ‖αf(x)‖:")
    verb = "falls" if after > before else "rises"
    assert re.search(
        rf"‘{re.escape(SENTENCE[widest])}’ {verb} from {before}\w\w to {after}\w\w", said
    )
    tab.keyboard.press("]")
    expect(tab.locator(".nv-changes")).to_be_empty()


def test_pieces_are_merged_to_words(show):
    flow = wordy_flow()
    tab = show(flow, measure="weight")
    choose(tab, "in", "words")
    labels = tab.locator(".nv-tokens.nv-key li").all_inner_texts()
    assert labels == ["[CLS]", "unbelievable", "cats", "[SEP]"]
    expect(tab.locator(".nv-legend")).to_contain_text("added over keys, averaged over queries")
    token(tab, "query", 1).click()
    row = flow.words()["weight"][0][:, 1].sum(axis=0)
    share = row[row.argmax()] / row.sum()
    expect(tab.locator(".nv-sentence")).to_contain_text(f"takes {share:.0%} from")
    choose(tab, "in", "pieces")
    expect(tab.locator(".nv-tokens.nv-query .nv-on")).to_have_text("un")


LOOK = """node => {
  const {color, fontStyle} = getComputedStyle(node);
  return {color: color.match(/\\d+/g).map(Number), style: fontStyle};
}"""
"""Red, green and blue of a token, and whether it is slanted."""


def test_special_tokens_are_dimmed_or_hidden_and_their_mass_is_stated(show):
    flow = wordy_flow()
    tab = show(flow, measure="weight")
    usual = [token(tab, "key", at).evaluate(LOOK) for at in (0, 1)]
    choose(tab, "special tokens", "dimmed")
    special, other = (token(tab, "key", at).evaluate(LOOK) for at in (0, 1))
    assert sum(other["color"]) < sum(usual[0]["color"]) < sum(special["color"])
    assert (special["style"], other["style"]) == ("italic", "normal")
    assert other == usual[1]
    choose(tab, "special tokens", "hidden")
    assert tab.locator(".nv-tokens.nv-key li").count() == 5
    seen = flow["weight"][0][:, 1:6]
    gone = seen[:, :, [0, 6]].sum() / seen.sum()
    expect(tab.locator(".nv-legend")).to_contain_text(
        f"2 special tokens hidden, and with them {gone:.0%} of the sum"
    )


def test_the_threshold_thins_out_the_picture_and_says_what_is_left_out(show):
    flow = random_flow()
    tab = show(flow, measure="weight")
    full = ink(tab)["inked"]
    slider = tab.get_by_label("threshold, as a fraction of the largest value")
    slider.focus()
    for _ in range(70):
        tab.keyboard.press("ArrowRight")
    values = flow["weight"][0].mean(axis=0)
    kept = values >= 0.49 * values.max()
    assert 0 < kept.sum() < 36
    left = values[kept].sum() / values.sum()
    assert ink(tab)["inked"] == pytest.approx(left * full, rel=0.3)  # ribbons overlap
    expect(tab.locator(".nv-legend")).to_contain_text(f"the strongest {kept.sum()} of 36 ribbons")
    expect(tab.locator(".nv-slider output")).to_have_text("49.0%")


def test_the_strongest_head_of_a_token_can_be_chosen(show):
    flow = random_flow()
    tab = show(flow, measure="weighted-norm")
    choose_head(tab, "strongest")
    assert pressed(tab, "heads") == [str(flow["weighted-norm"][0].sum(axis=(1, 2)).argmax())]
    token(tab, "key", 2).click()
    choose_head(tab, "strongest")
    assert pressed(tab, "heads") == [str(flow["weighted-norm"][0][:, :, 2].sum(axis=1).argmax())]


def test_the_view_can_be_copied_as_code_that_makes_it_again(show):
    flow = random_flow()
    tab = show(flow, layer=2)
    token(tab, "key", 2).click()
    choose_head(tab, 3)
    tab.get_by_role("button", name="copy as code").click()
    code = tab.get_by_label("the view as code").input_value()
    chosen = 'flow.widget(measure="weighted-norm", compare=None, layer=2, heads=[3], '
    assert code == chosen + 'token=2, role="key", normalize="layer")'
    made = eval(code, {"flow": flow})  # noqa: S307 - the code is what is tested
    assert (made.layer, made.heads, made.token, made.role) == (2, [3], 2, "key")
    assert (made.measure, made.compare, made.normalize) == ("weighted-norm", None, "layer")
    tab.keyboard.press("Escape")
    expect(tab.get_by_label("the view as code")).to_have_value(
        chosen + 'role="key", normalize="layer")'
    )


@pytest.mark.parametrize(("motion", "frames"), [("no-preference", 3), ("reduce", 1)])
def test_ribbons_morph_unless_stillness_is_wanted(browser, tmp_path, motion, frames):
    with opening(browser, tmp_path, reduced_motion=motion) as opened:
        tab = opened(random_flow(), measure="weight")
        tab.evaluate("""() => {
          window.painted = 0;
          const own = CanvasRenderingContext2D.prototype.clearRect;
          CanvasRenderingContext2D.prototype.clearRect = function (...given) {
            if (this.canvas.matches('.nv-base')) window.painted++;
            return own.apply(this, given);
          };
        }""")
        tab.locator(".normviz").focus()
        tab.keyboard.press("3")
        tab.wait_for_function("frames => window.painted >= frames", arg=frames)
        rest(tab, 400)
        painted = tab.evaluate("window.painted")
        assert painted == 1 if frames == 1 else painted >= frames


def test_long_texts_have_a_strip_that_leads_to_any_place(show):
    tab = show(random_flow([f"t{index}" for index in range(150)], layers=1, heads=2))
    figure, strip = tab.locator(".nv-figure"), tab.locator(".nv-strip")
    assert ink(tab, ".nv-strip")["inked"] > 500
    strip.click(position={"x": 5, "y": strip.bounding_box()["height"] - 3})
    assert figure.evaluate("node => node.scrollTop + node.clientHeight >= node.scrollHeight - 2")
    short = show(random_flow())
    expect(short.locator(".nv-strip")).to_be_hidden()


def test_what_a_real_model_shows_adds_up_on_the_screen(show, demo):
    model, tokenizer = demo
    text, pair = "The animal was too tired.", "It slept."
    flow = analyze(model, text, tokenizer=tokenizer, pair=pair)
    tab = show(flow, measure="weight", layer=2, compare="weighted-norm")
    expect(tab.locator(".nv-receipt summary")).to_contain_text("✓")
    expect(tab.locator(".nv-changes")).to_contain_text("‘[CLS]’ falls from 1st to")

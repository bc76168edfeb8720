"""The one-file view in a real browser, opened from disk and used as a person would."""

import re

import numpy as np
import pytest
from browser import choose_head, choose_layer, expect_layer, ink, pressed, token
from flows import check, random_flow, receipt, softmax, two_streams
from playwright.sync_api import expect

from normviz.io.from_arrays import from_arrays


def test_ribbons_and_bars_are_really_painted(show):
    tab = show(random_flow())
    assert ink(tab)["inked"] > 5000
    assert tab.locator(".nv-tokens.nv-key li").all_inner_texts() == list(random_flow().tokens)


ALPHAS = """(canvas, row) => {
  const {left, top} = canvas.getBoundingClientRect();
  const token = document.querySelectorAll('.nv-key.nv-tokens li')[row].getBoundingClientRect();
  const x = token.right - left + 12;
  const {data} = canvas.getContext('2d').getImageData(x, token.top - top, 1, token.height);
  return [...data].filter((_, at) => at % 4 === 3);
}"""
"""How opaque the pixels right of a key are, from the top of its row to the bottom."""


def alphas(tab, row):
    return tab.locator(".nv-base").evaluate(ALPHAS, row)


def test_no_weight_paints_no_ribbon(show):
    weights = np.zeros((1, 1, 2, 2), np.float32)
    weights[..., 0] = 1
    tab = show(from_arrays(weights, ["all", "none"]))
    assert [max(alphas(tab, row)) > 0 for row in (0, 1)] == [True, False]


def test_a_ribbon_is_as_wide_as_it_weighs(show):
    weights = np.float32([[[[0.75, 0.25], [0.75, 0.25]]]])
    tab = show(from_arrays(weights, ["much", "little"]))
    row, found = token(tab, "key", 1).bounding_box()["height"], alphas(tab, 1)
    assert sum(found) / max(found) == pytest.approx(2 * 0.25 * 0.84 * row, abs=0.8)


def test_the_number_keys_change_the_measure_and_the_picture(show):
    tab = show(random_flow())
    assert pressed(tab, "measure") == ["‖αf(x)‖"]
    before = ink(tab)
    tab.keyboard.press("1")
    assert pressed(tab, "measure") == ["α"]
    assert ink(tab) != before
    expect(tab.locator(".nv-sentence")).to_contain_text("α:")


def test_value_norms_are_bars_alone_and_the_legend_says_so(show):
    tab = show(random_flow())
    tab.get_by_role("button", name="‖f(x)‖", exact=True).click()
    expect(tab.locator(".nv-legend")).to_contain_text("only bars are shown")
    expect(tab.locator(".nv-tokens.nv-query")).to_be_hidden()
    assert ink(tab)["inked"] > 1000


def test_brackets_step_through_the_layers_and_stop_at_the_ends(show):
    tab = show(random_flow())
    tab.locator(".normviz").focus()
    seen = [ink(tab)["sum"]]
    for layer in (1, 2, 2):
        tab.keyboard.press("]")
        expect(tab.locator(".nv-sentence")).to_contain_text(f"Layer {layer},")
        seen.append(ink(tab)["sum"])
    assert len(set(seen)) == 3
    tab.keyboard.press("[")
    expect_layer(tab, 1)


def test_the_list_of_layers_has_the_numbers_of_the_model(show):
    tab = show(two_streams())
    assert tab.locator(".nv-layers [data-layer]").all_inner_texts() == ["0", "2"]
    choose_layer(tab, 2)
    expect_layer(tab, 2)
    expect(tab.locator(".nv-sentence")).to_contain_text("Layer 2,")


def test_pointing_at_a_token_tells_about_it_and_dims_the_rest(show):
    flow = random_flow()
    tab = show(flow)
    token(tab, "query", 2).hover()
    values = flow["weighted-norm"][0].sum(axis=0)[2]
    share = f"{values.max() / values.sum():.0%}"
    giver = flow.tokens[int(values.argmax())]
    expect(tab.locator(".nv-sentence")).to_contain_text(f"‘animal’ takes {share} from ‘{giver}’")
    assert "nv-faint" in tab.locator(".nv-base").get_attribute("class")
    assert "nv-dim" in token(tab, "query", 3).get_attribute("class")
    assert ink(tab, ".nv-top")["inked"] > 300
    tab.mouse.move(5, 700)
    expect(tab.locator(".nv-sentence")).to_contain_text("most is read from")
    assert "nv-faint" not in tab.locator(".nv-base").get_attribute("class")


def test_a_click_pins_and_escape_frees(show):
    tab = show(random_flow())
    token(tab, "key", 0).click()
    tab.mouse.move(5, 700)
    expect(tab.locator(".nv-sentence")).to_contain_text("‘[CLS]’ gives")
    expect(tab.locator("caption")).to_contain_text("what ‘[CLS]’ (0) gives")
    tab.keyboard.press("Escape")
    expect(tab.locator(".nv-sentence")).to_contain_text("most is read from")


def test_a_faint_token_is_widened_and_the_legend_says_so(show):
    tab = show(from_arrays(np.full((1, 1, 60, 60), 1 / 60), [f"t{i}" for i in range(60)]))
    expect(tab.locator(".nv-legend")).not_to_contain_text("wider")
    token(tab, "query", 5).hover()
    expect(tab.locator(".nv-legend")).to_contain_text("the token in focus: 12 times wider")


def test_a_second_click_frees_too(show):
    tab = show(random_flow())
    for _ in range(2):
        token(tab, "query", 4).click()
    tab.mouse.move(5, 700)
    expect(tab.locator(".nv-sentence")).to_contain_text("most is read from")


def test_arrows_walk_the_tokens_and_cross_over(show):
    tab = show(random_flow())
    tab.locator(".normviz").focus()
    for key, words in (
        ("ArrowDown", "‘[CLS]’ takes"),
        ("ArrowDown", "‘the’ takes"),
        ("ArrowLeft", "‘the’ gives"),
        ("ArrowUp", "‘[CLS]’ gives"),
        ("ArrowRight", "‘[CLS]’ takes"),
    ):
        tab.keyboard.press(key)
        expect(tab.locator(".nv-sentence")).to_contain_text(words)


def test_pinning_moves_nothing(show):
    tab = show(random_flow(["a", "bb", "because"]))
    before = tab.locator(".nv-tokens.nv-query").bounding_box()
    token(tab, "query", 2).click()
    assert tab.locator(".nv-tokens.nv-query").bounding_box() == before


def test_heads_are_chosen_singly_and_together(show):
    tab = show(random_flow())
    everything = ink(tab)
    choose_head(tab, 2)
    assert pressed(tab, "heads") == ["2"]
    one = ink(tab)
    assert one != everything
    choose_head(tab, 0)
    assert pressed(tab, "heads") == ["0", "2"]
    expect(tab.locator(".nv-sentence")).to_contain_text("heads 0, 2")
    choose_head(tab, "all")
    assert ink(tab) == everything


def test_a_measure_without_heads_hides_the_chips(show):
    tab = show(two_streams())
    menu, chips = tab.locator(".nv-opening > .nv-menu"), tab.locator(".nv-heads")
    menu.click()
    expect(chips).to_be_visible()
    chips.get_by_role("button").first.focus()
    tab.keyboard.press("4")
    expect(chips).to_be_hidden()
    expect(menu).to_be_disabled()
    expect(menu).to_contain_text("heads: together")
    expect(tab.locator(".normviz")).to_be_focused()
    assert ink(tab)["inked"] > 500


def test_another_stream_shows_its_own_tokens(show):
    tab = show(two_streams())
    tab.get_by_role("button", name="cross").click()
    assert tab.locator(".nv-tokens.nv-query li").all_inner_texts() == ["the", "cat"]
    assert tab.locator(".nv-tokens.nv-key li").all_inner_texts() == ["le", "chat", "</s>"]
    expect(tab.locator(".nv-sentence")).to_contain_text("Layer 1,")


def test_one_stream_needs_no_selector(show):
    expect(show(random_flow()).locator("[aria-label=stream]")).to_be_hidden()


def test_scaling_is_labeled_and_changes_the_picture(show):
    tab = show(random_flow())
    seen = [ink(tab)["sum"]]
    for scale, words in (("query", "100% (all that"), ("absolute", "in any layer")):
        tab.locator("select[aria-label=scale]").select_option(scale)
        expect(tab.locator(".nv-legend")).to_contain_text(words)
        seen.append(ink(tab)["sum"])
    assert len(set(seen)) == 3


def test_the_legend_tells_the_true_maximum_and_what_is_left_out(show):
    flow = random_flow()
    legend = show(flow, layer=2).locator(".nv-legend").inner_text()
    largest = float(re.search(r"largest ribbon: ([\d.]+)", legend).group(1))
    assert largest == pytest.approx(flow["weighted-norm"][2].mean(axis=0).max(), rel=0.005)
    shown, left = map(float, re.search(r"drawn: ([\d.]+)% .*; ([\d.]+)% is left", legend).groups())
    assert shown + left == pytest.approx(100, abs=1)
    assert shown >= 94.5


def test_the_theme_can_be_chosen_and_follows_the_host(show):
    tab = show(random_flow())
    root = tab.locator(".normviz")
    shade = "node => node.dataset.shade"
    assert root.evaluate(shade) == "light"
    light = ink(tab)["sum"]
    tab.emulate_media(color_scheme="dark")
    expect(root).to_have_attribute("data-shade", "dark")
    assert ink(tab)["sum"] != light
    tab.evaluate("document.body.dataset.jpThemeLight = 'true'")
    expect(root).to_have_attribute("data-shade", "light")
    tab.evaluate("delete document.body.dataset.jpThemeLight; document.body.className='vscode-dark'")
    expect(root).to_have_attribute("data-shade", "dark")
    tab.locator("select[aria-label=theme]").select_option("light")
    expect(root).to_have_attribute("data-shade", "light")


def test_the_receipt_opens_and_a_failed_one_is_red(show):
    flow = two_streams()
    good = show(flow)
    summary = good.locator(".nv-receipt summary")
    expect(summary).to_contain_text("within 2.5e-07")
    green = summary.evaluate("node => getComputedStyle(node).color")
    summary.click()
    expect(good.locator(".nv-receipt pre")).to_contain_text("output projection")
    failed = type(flow)(flow.streams, receipt([check("encoder", 0, 0.5)]))
    bad = show(failed).locator(".nv-receipt summary")
    expect(bad).to_contain_text("the parts miss the model's own output by 5.0e-01")
    assert bad.evaluate("node => getComputedStyle(node).color") != green


def test_every_token_that_is_drawn_has_a_place_in_the_table(show):
    weights = softmax(np.random.default_rng(1).normal(0, 1, (1, 2, 20, 20)))
    tab = show(from_arrays(weights, [f"t{index}" for index in range(20)]), token=3)
    assert tab.locator("thead th").all_inner_texts() == ["#", "read from", "share", "α"]
    shares = tab.locator("tbody td:nth-child(3)").all_inner_texts()
    assert sum(float(share.strip("%<>")) for share in shares) == pytest.approx(100, abs=1.5)
    assert "12 others" in tab.locator("tbody tr").last.inner_text()

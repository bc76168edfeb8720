"""Layers without attention, and streams named after towers, in a real browser."""

from dataclasses import replace
from itertools import pairwise

import pytest
from browser import expect_layer, hash_of, ink, opening, pressed
from flows import hybrid_flow, towers_flow
from playwright.sync_api import expect

from normviz import analyze
from normviz.core.stream import Layers


def layer_bars(tab):
    return tab.get_by_role("toolbar", name="layer").get_by_role("button")


def test_layers_without_attention_are_listed_and_cannot_be_chosen(show):
    tab = show(hybrid_flow())
    bars = layer_bars(tab)
    has_attention = [number in (1, 4) for number in range(7)]
    expect(bars).to_have_text([str(number) for number in range(7)])
    enabled = bars.evaluate_all("all => all.map(one => !one.disabled)")
    assert enabled == has_attention
    expect(bars.nth(2)).to_have_accessible_name("layer 2: no attention, but JambaMambaMixer")
    assert bars.nth(2).get_attribute("title") == "layer 2: no attention, but JambaMambaMixer"
    assert len({bar.bounding_box()["width"] for bar in bars.all()}) == 1
    heights = [bar.bounding_box()["height"] for bar in bars.locator("i").all()]
    assert [height > 0 for height in heights] == has_attention


def test_the_keyboard_steps_over_layers_without_attention(show):
    tab = show(hybrid_flow())
    layer_bars(tab).nth(1).focus()
    tab.keyboard.press("ArrowRight")
    expect(layer_bars(tab).nth(4)).to_be_focused()
    tab.keyboard.press("Enter")
    expect_layer(tab, 4)
    expect(tab.locator(".nv-sentence")).to_contain_text("Layer 4,")
    tab.locator(".normviz").focus()
    tab.keyboard.press("]")
    expect_layer(tab, 4)
    tab.keyboard.press("[")
    expect_layer(tab, 1)


@pytest.mark.parametrize("width", [480, 1200])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("view", "places"),
    [("stack", ".nv-titles .nv-band"), ("grid", ".nv-thin"), ("profile", ".nv-none")],
)
def test_every_view_has_a_place_for_layers_without_attention(
    browser, tmp_path, view, places, width, theme
):
    with opening(browser, tmp_path, viewport={"width": width, "height": 800}) as opened:
        tab = opened(hybrid_flow(), view=view, theme=theme)
        expect(tab.locator(places)).to_have_count(3)
        for place in tab.locator(places).all():
            box = place.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
        assert tab.evaluate("document.documentElement.scrollWidth") <= width


def traceable_flow():
    """The hybrid with a measure that reaches the input by itself, so that columns are connected."""
    flow = hybrid_flow()
    stream = flow.stream("decoder")
    stored = {**stream.stored, "hidden-attribution": Layers(stream["weight"].mean(axis=1))}
    return replace(flow, streams={"decoder": replace(stream, stored=stored)})


@pytest.mark.parametrize("measure", ["weight", "hidden-attribution"])
def test_numbers_above_the_stack_do_not_touch(show, measure):
    tab = show(traceable_flow(), view="stack", measure=measure)
    numbers = tab.locator(".nv-titles > :is(.nv-number, .nv-band)").all()
    boxes = sorted((number.bounding_box() for number in numbers), key=lambda box: box["x"])
    assert len(boxes) == 5
    for box, following in pairwise(boxes):
        assert box["x"] + box["width"] < following["x"]


def test_the_stack_says_in_a_sentence_why_nothing_is_chained(show):
    tab = show(hybrid_flow(), view="stack")
    expect(tab.locator(".nv-aside")).to_contain_text("cannot be chained: there is no attention")
    assert ink(tab)["inked"] > 1000


def test_a_hybrid_model_is_shown_by_its_own_numbers(show):
    import torch
    from transformers import Lfm2Config, Lfm2ForCausalLM

    config = Lfm2Config(
        vocab_size=60,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        full_attn_idxs=[1, 3],
    )
    torch.manual_seed(0)
    model = Lfm2ForCausalLM(config).eval()
    flow = analyze(model, inputs={"input_ids": torch.tensor([[5, 9, 3, 22, 41]])})
    (stream,) = flow.streams.values()
    assert stream.layers == (1, 3)
    tab = show(flow, view="grid")
    part = stream.other_layers[2]
    for number in (0, 2):
        bar = layer_bars(tab).nth(number)
        expect(bar).to_be_disabled()
        expect(bar).to_have_accessible_name(f"layer {number}: no attention, but {part}")
    for number in (1, 3):
        expect(layer_bars(tab).nth(number)).to_be_enabled()
    expect(tab.locator(".nv-thin").nth(1)).to_have_text(f"2· no attention: {part}")


def test_a_stream_with_a_dotted_name_is_chosen_and_written_into_the_address(show):
    tab = show(towers_flow())
    tab.get_by_role("button", name="text.cross", exact=True).click()
    assert pressed(tab, "stream") == ["text.cross"]
    assert hash_of(tab) == "stream=text.cross&layer=1"
    tab.reload()
    assert pressed(tab, "stream") == ["text.cross"]
    tab.locator("[aria-label=view] button", has_text="alignment").click()
    assert pressed(tab, "view") == ["alignment"]


def test_twenty_streams_are_in_a_list(show):
    tab = show(towers_flow(more=17))
    streams = tab.get_by_role("combobox", name="stream")
    expect(streams.locator("option")).to_have_count(20)
    streams.select_option("vision.18")
    assert hash_of(tab) == "stream=vision.18"

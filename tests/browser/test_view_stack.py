"""The stack in a real browser: what a token is made of, traced back through the layers."""

import numpy as np
import pytest
from browser import choose_head, expect_layer, ink, pressed, token
from flows import SENTENCE, flow_of, random_flow, softmax, two_streams, wordy_flow
from playwright.sync_api import expect

from normviz.io.from_arrays import from_arrays

SETTLED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""Two frames: after them a picture has taken up a new width."""

HEADING = 24
"""The height of the titles above the tokens."""


def divided(flow, measure="weighted-norm", heads=slice(None)):
    """How each layer divides what its queries take, heads added up [layer query key]."""
    values = flow[measure][:, heads].sum(axis=1)
    return values / values.sum(axis=-1, keepdims=True)


def made_of(flow, query, layer, measure="weighted-norm"):
    """The shares of the first layer's tokens in one token after a layer: the plain product."""
    row = np.eye(len(flow.tokens))[query]
    for division in divided(flow, measure)[: layer + 1][::-1]:
        row = row @ division
    return row


def told(flow, shares):
    """The two largest shares as the sentence tells them."""
    order = np.argsort(-shares)[:2]
    return ", ".join(f"{percent(shares[at])} ‘{flow.tokens[int(at)]}’" for at in order)


def percent(share):
    return f"{share:.0%}" if share >= 0.0995 else f"{share:.1%}"


def place(tab, column, columns, row):
    """Where a token of a column of the field is, in pixels of the page."""
    box = tab.locator(".nv-field").bounding_box()
    pitch = token(tab, "key", 0).bounding_box()["height"]
    across = (box["width"] - 16) * column / (columns - 1) + 8
    return box["x"] + across, box["y"] + (row + 0.5) * pitch


def test_the_sentence_is_the_product_of_the_layers(show):
    flow = random_flow()
    tab = show(flow, view="stack", layer=2, token=4)
    sentence = tab.locator(".nv-sentence")
    expect(sentence).to_contain_text("‘tired’ after layer 2 is made of")
    expect(sentence).to_contain_text("without the residual connection")
    wanted = made_of(flow, 4, 2)
    rows = [row.split("\t") for row in tab.locator("tbody tr").all_inner_texts()]
    for index, piece, share in rows:
        assert piece == flow.tokens[int(index)]
        assert float(share.strip("%")) == pytest.approx(100 * wanted[int(index)], abs=0.6)
    assert len(rows) == len(flow.tokens)


def test_ribbons_are_painted_and_a_token_in_focus_is_painted_alone(show):
    tab = show(random_flow(), view="stack", layer=2)
    assert ink(tab)["inked"] > 5000
    assert ink(tab, ".nv-top")["inked"] == 0
    token(tab, "query", 3).hover()
    assert ink(tab, ".nv-top")["inked"] > 3000
    expect(tab.locator(".nv-base")).to_have_css("opacity", "0")
    tab.mouse.move(5, 700)
    expect(tab.locator(".nv-base")).to_have_css("opacity", "1")
    expect(tab.locator(".nv-sentence")).to_contain_text("all tokens together after layer 2")


def test_mass_goes_only_where_the_layers_send_it(show):
    weights = np.zeros((2, 1, 3, 3), np.float32)
    weights[0, 0] = np.eye(3)[[1, 1, 1]]
    weights[1, 0] = np.eye(3)[[2, 2, 2]]
    tab = show(from_arrays(weights, ["first", "second", "third"]), view="stack", layer=1, token=0)
    expect(tab.locator(".nv-sentence")).to_contain_text("is made of 100% ‘second’")
    inked = """canvas => [[0.02, 1.5], [0.02, 2.5], [0.52, 2.5], [0.52, 0.5]].map(([x, row]) => {
      const field = document.querySelector('.nv-field');
      const at = field.offsetLeft + 8 + (field.offsetWidth - 16) * x;
      const pitch = document.querySelector('.nv-tokens.nv-key li').offsetHeight;
      return canvas.getContext('2d').getImageData(at, row * pitch, 1, 1).data[3] > 60;
    })"""
    assert tab.locator(".nv-top").evaluate(inked) == [True, False, True, False]


def test_pointing_at_a_token_of_a_layer_traces_from_there(show):
    flow = random_flow()
    tab = show(flow, view="stack", layer=2)
    tab.mouse.move(*place(tab, 1, 4, 2))
    expect(tab.locator(".nv-sentence")).to_contain_text("‘animal’ after layer 0 is made of")
    tab.mouse.move(*place(tab, 2, 4, 2))
    expect(tab.locator(".nv-sentence")).to_contain_text(
        f"‘animal’ after layer 1 is made of {told(flow, made_of(flow, 2, 1))}"
    )
    expect(tab.locator(".nv-number.nv-on")).to_have_text("1")
    tab.mouse.move(*place(tab, 0, 4, 2))
    expect(tab.locator(".nv-sentence")).to_contain_text("‘animal’ makes up")


def test_a_click_chooses_the_layer_and_pins_the_token(show):
    tab = show(random_flow(), view="stack", layer=2)
    tab.mouse.click(*place(tab, 2, 4, 3))
    tab.mouse.move(5, 700)
    expect_layer(tab, 1)
    expect(tab.locator(".nv-sentence")).to_contain_text("‘was’ after layer 1 is made of")
    tab.mouse.click(*place(tab, 3, 4, 3))
    tab.mouse.move(5, 700)
    expect(tab.locator(".nv-sentence")).to_contain_text("‘was’ after layer 2 is made of")
    tab.mouse.click(*place(tab, 3, 4, 3))
    tab.mouse.move(5, 700)
    expect(tab.locator(".nv-sentence")).to_contain_text("all tokens together")


def test_the_keyboard_walks_tokens_and_layers(show):
    tab = show(random_flow(), view="stack", layer=2)
    tab.locator(".normviz").focus()
    for key, words in (
        ("ArrowDown", "‘[CLS]’ after layer 2 is made of"),
        ("ArrowDown", "‘the’ after layer 2 is made of"),
        ("[", "‘the’ after layer 1 is made of"),
        ("ArrowLeft", "‘the’ makes up"),
        ("Escape", "all tokens together after layer 2"),
    ):
        tab.keyboard.press(key)
        expect(tab.locator(".nv-sentence")).to_contain_text(words)


def test_hidden_special_tokens_take_their_mass_with_them(show):
    flow = random_flow()
    tab = show(flow, view="stack", layer=1, token=3, special="hidden")
    inner = divided(flow)[:, 1:5, 1:5]
    shares = np.eye(4)[2] @ inner[1] @ inner[0]
    gone = f"{percent(1 - shares.sum())} went to hidden special tokens"
    expect(tab.locator(".nv-sentence")).to_contain_text(gone)
    expect(tab.locator(".nv-legend")).to_contain_text(gone)
    expect(tab.locator("tbody tr").last).to_contain_text("hidden special tokens")
    assert token(tab, "key", 0).inner_text() == "the"


def test_words_are_traced_as_words(show):
    tab = show(wordy_flow(), view="stack", layer=1, words=True)
    assert tab.locator(".nv-tokens.nv-key li").all_inner_texts()[1] == "unbelievable"
    expect(tab.locator(".nv-legend")).to_contain_text("pieces merged into words")


def test_a_threshold_thins_the_links_and_the_legend_restates_the_share(show):
    flow = random_flow()
    much = show(flow, view="stack", layer=2, token=4)
    little = show(flow, view="stack", layer=2, token=4, threshold=0.2)
    assert ink(little, ".nv-top")["inked"] < ink(much, ".nv-top")["inked"]
    expect(little.locator(".nv-legend")).to_contain_text("no link below")
    expect(little.locator(".nv-legend")).to_contain_text("of the mass shown")


def test_one_head_is_traced_alone_in_its_color(show):
    flow = random_flow()
    tab = show(flow, view="stack", layer=2, token=4)
    before = ink(tab, ".nv-top")
    choose_head(tab, 2)
    alone = divided(flow, heads=[2])
    shares = np.eye(len(flow.tokens))[4] @ alone[2] @ alone[1] @ alone[0]
    expect(tab.locator(".nv-sentence")).to_contain_text(
        f"‖αf(x)‖, head 2: ‘tired’ after layer 2 is made of {told(flow, shares)}"
    )
    assert ink(tab, ".nv-top") != before


def test_cross_attention_is_shown_layer_by_layer_and_says_so(show):
    tab = show(two_streams(), view="stack", stream="cross", token=1)
    expect(tab.locator(".nv-sentence")).to_contain_text(
        "‘cat’ in layer 1 takes 73% from ‘le’, 27% from ‘chat’"
    )
    expect(tab.locator(".nv-sentence")).to_contain_text("nothing is traced")
    assert ink(tab, ".nv-top")["inked"] > 1000


def test_layers_that_are_not_held_are_named(show):
    tab = show(two_streams(), view="stack", layer=2, token=0)
    expect(tab.locator(".nv-sentence")).to_contain_text("left out of the trace: layer 1")


def test_a_norm_has_nothing_to_trace(show):
    tab = show(random_flow(), view="stack", measure="value-norm")
    expect(tab.locator(".nv-remark")).to_contain_text("there is nothing to trace")
    expect(tab.locator(".nv-lanes")).to_be_hidden()
    tab.locator(".normviz").focus()
    tab.keyboard.press("1")
    expect(tab.locator(".nv-lanes")).to_be_visible()
    assert ink(tab)["inked"] > 3000


def test_two_stand_side_by_side_and_point_at_the_same_token(show):
    flow = random_flow()
    tab = show(flow, view="stack", measure="weight", compare="weighted-norm", layer=2)
    token(tab, "key", 0).hover()
    assert len(tab.locator(".nv-tokens.nv-key .nv-on").all()) == 2
    tab.locator(".normviz").focus()
    tab.mouse.move(5, 790)
    tab.keyboard.press("ArrowDown")
    sentences = tab.locator(".nv-sentence").all_inner_texts()
    assert told(flow, made_of(flow, 0, 2, "weight")) in sentences[0]
    assert told(flow, made_of(flow, 0, 2)) in sentences[1]
    expect(tab.locator(".nv-changes")).to_contain_text("From α to ‖αf(x)‖")


def test_a_narrow_page_keeps_the_tokens_and_scrolls_the_layers(show):
    flow = random_flow([*SENTENCE[:5], "unbelievable"], layers=64)
    tab = show(flow, view="stack", layer=63)
    tab.set_viewport_size({"width": 320, "height": 800})
    tab.evaluate(SETTLED)
    figure = tab.locator(".nv-stack")
    assert figure.evaluate("node => node.scrollWidth > node.clientWidth + 100")
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    figure.evaluate("node => { node.scrollLeft = 9999; }")
    box = token(tab, "key", 5).bounding_box()
    assert box["x"] >= 0
    assert token(tab, "key", 5).inner_text() == "unbelievable"


@pytest.mark.parametrize("layers", [24, 30, 32, 48])
def test_a_deep_model_fits_and_its_numbers_do_not_overlap(show, layers):
    tab = show(random_flow(layers=layers, heads=1), view="stack", layer=layers - 1)
    for width in (800, 1000, 1200):
        tab.set_viewport_size({"width": width, "height": 800})
        tab.evaluate(SETTLED)
        figure = tab.locator(".nv-stack")
        assert figure.evaluate("node => node.scrollWidth <= node.clientWidth")
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        titles = tab.locator(".nv-stack :is(.nv-first, .nv-number)").all()
        boxes = [title.bounding_box() for title in titles]
        first = figure.bounding_box()["x"] + tab.locator(".nv-field").evaluate("f => f.offsetLeft")
        assert titles[0].inner_text() == "after layer"
        assert all(box["x"] >= first for box in boxes[1:])
        ends = [box["x"] + box["width"] for box in boxes[1:]]
        starts = [box["x"] for box in boxes[2:]]
        assert all(end < start for end, start in zip(ends, starts, strict=False))
        expect(tab.locator(".nv-number.nv-on")).to_have_text(str(layers - 1))


def causal_flow(layers, *, residual):
    """A decoder in which every token reads all before it, with or without a rung that keeps it."""
    draw = np.random.default_rng(4)
    weights = softmax(draw.normal(0, 1, (layers, 2, 6, 6)) - 99 * (1 - np.tri(6)))
    rungs = {"attention-residual": 0.1 * weights.mean(axis=1) + 0.9 * np.eye(6)}
    tokens = ["The", "animal", "was", "tired", "of", "it"]
    return flow_of({"weight": weights} | (rungs if residual else {}), tokens, stream="decoder")


def test_a_flow_that_cannot_tell_says_that_the_residual_is_missing_and_why_paths_gather(show):
    tab = show(causal_flow(12, residual=False), opening={"view": "stack", "token": 5})
    note = tab.locator(".nv-residual")
    expect(note).to_contain_text("this flow has no measure that includes it")
    expect(note).to_contain_text('analyze with measures=[…, "attention-block"]')
    expect(note).to_contain_text("paths gather at ‘The’, because it can read only itself")
    expect(note.locator("button")).to_have_count(0)
    sentence = tab.locator(".nv-sentence")
    expect(sentence).to_contain_text("‘it’ after layer 11 leads back to ‘The’")
    expect(sentence).not_to_contain_text("made of")
    box, figure = note.bounding_box(), tab.locator(".nv-stack").bounding_box()
    assert box["y"] + box["height"] <= figure["y"] + 1
    assert box["width"] <= figure["width"] + 1


def test_the_stack_includes_the_residual_where_the_flow_can_tell(show):
    flow = causal_flow(12, residual=True)
    tab = show(flow, opening={"view": "stack", "token": 5})
    expect(tab.locator(".nv-residual")).to_be_hidden()
    wanted = np.eye(6)[5]
    for division in flow["attention-residual"][::-1]:
        wanted = wanted @ (division / division.sum(axis=-1, keepdims=True))
    expect(tab.locator(".nv-sentence")).to_contain_text(f"is made of {told(flow, wanted)}")


def test_turning_to_the_stack_includes_the_residual_and_turning_back_returns(show):
    tab = show(causal_flow(3, residual=True), measure="weight")
    others = tab.get_by_role("combobox", name="other measures")
    tab.get_by_role("button", name="stack", exact=True).click()
    expect(others).to_have_value("attention-residual")
    assert pressed(tab, "measure") == []
    expect(tab.locator(".nv-residual")).to_be_hidden()
    tab.get_by_role("button", name="matrix", exact=True).click()
    assert pressed(tab, "measure") == ["α"]
    expect(others).to_have_value("")
    tab.get_by_role("button", name="stack", exact=True).click()
    tab.locator(".normviz").focus()
    tab.keyboard.press("1")
    expect(tab.locator(".nv-residual")).to_contain_text("α does not include it")
    tab.locator(".nv-residual button").click()
    expect(others).to_have_value("attention-residual")
    expect(tab.locator(".nv-residual")).to_be_hidden()


def strongest(flow, query, key, measure):
    """The strongest path of a token back to the input, by trying all of them."""
    size, divisions = len(flow.tokens), divided(flow, measure)
    paths = {(query,): 1.0}
    for division in divisions[::-1]:
        paths = {
            (*path, below): share * division[path[-1], below]
            for path, share in paths.items()
            for below in range(size)
        }
    return max((share, path) for path, share in paths.items() if path[-1] == key)


def test_pointing_at_an_input_token_shows_the_strongest_path_to_the_pinned_one(show):
    flow = random_flow()
    tab = show(flow, view="stack", layer=2, token=4)
    before = ink(tab, ".nv-top")
    token(tab, "key", 2).hover()
    share, path = strongest(flow, 4, 2, "weighted-norm")
    sentence = tab.locator(".nv-sentence")
    expect(sentence).to_contain_text("the strongest path ‘tired’ (layer 2) ←")
    expect(sentence).to_contain_text(f"‘animal’ (input) carries {percent(share)} of ‘tired’")
    whole = made_of(flow, 4, 2)[2]
    expect(sentence).to_contain_text(f"all paths between the two carry {percent(whole)}")
    for at, row in enumerate(path[1:-1], start=1):
        if row != path[at - 1]:
            expect(sentence).to_contain_text(f"‘{flow.tokens[row]}’ (layer {2 - at})")
    assert ink(tab, ".nv-top") != before
    expect(tab.locator(".nv-legend")).to_contain_text("dark line: the strongest path")
    tab.mouse.move(5, 790)
    expect(sentence).to_contain_text("‘tired’ after layer 2 is made of")
    assert ink(tab, ".nv-top") == before


def test_a_click_keeps_a_path_and_a_second_one_pins_its_end(show):
    tab = show(random_flow(), view="stack", layer=2, token=4)
    sentence = tab.locator(".nv-sentence")
    tab.mouse.click(*place(tab, 1, 4, 2))
    tab.mouse.move(5, 790)
    expect(sentence).to_contain_text("‘animal’ (layer 0) carries")
    tab.mouse.click(*place(tab, 1, 4, 2))
    tab.mouse.move(5, 790)
    expect(sentence).to_contain_text("‘animal’ after layer 0 is made of")


def test_the_keyboard_reaches_paths(show):
    tab = show(random_flow(), view="stack", layer=2, token=4)
    sentence = tab.locator(".nv-sentence")
    tab.locator(".nv-stack").focus()
    tab.keyboard.press("Shift+ArrowDown")
    expect(sentence).to_contain_text("(input) carries")
    tab.keyboard.press("Shift+ArrowRight")
    expect(sentence).to_contain_text("(layer 0) carries")
    tab.keyboard.press("Escape")
    expect(sentence).to_contain_text("‘tired’ after layer 2 is made of")
    tab.keyboard.press("ArrowDown")
    expect(sentence).to_contain_text("‘[SEP]’ after layer 2 is made of")


HUE = """canvas => {
  const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const seen = new Set();
  for (let at = 0; at < data.length; at += 4) {
    if (data[at + 3] === 255) seen.add([...data.slice(at, at + 3)].join());
  }
  return [...seen];
}"""
"""The colors of the solid pixels of a canvas."""


@pytest.mark.parametrize(("measure", "is_blue"), [("weight", True), ("weighted-norm", False)])
def test_all_heads_have_the_hue_of_the_measure(show, measure, is_blue):
    tab = show(random_flow(), view="stack", measure=measure)
    colors = [tuple(map(int, text.split(","))) for text in tab.locator(".nv-base").evaluate(HUE)]
    assert colors
    assert all((blue > red) == is_blue for red, _green, blue in colors)


def test_a_long_text_scrolls_to_the_pinned_token(show):
    weights = softmax(np.random.default_rng(0).normal(0, 1, (2, 1, 150, 150)))
    tab = show(from_arrays(weights, [f"t{at}" for at in range(150)]), view="stack", token=120)
    box, frame = token(tab, "key", 120).bounding_box(), tab.locator(".nv-stack").bounding_box()
    assert frame["y"] + HEADING <= box["y"] <= frame["y"] + frame["height"]
    assert pressed(tab, "view") == ["stack"]


SEEN = """canvas => {
  const [box, frame] = [canvas, canvas.closest('.nv-stack')].map(n => n.getBoundingClientRect());
  const ratio = canvas.width / box.width;
  const top = Math.max(box.top, frame.top + 24) - box.top;
  const height = Math.min(box.bottom, frame.bottom) - box.top - top;
  const {data} = canvas.getContext('2d')
    .getImageData(0, top * ratio, canvas.width, height * ratio);
  return {height, covered: frame.bottom - box.bottom < 2 && box.top - frame.top < 26,
    inked: data.filter((_, at) => at % 4 === 3).reduce((sum, alpha) => sum + (alpha > 0), 0)};
}"""
"""Whether the part of a canvas that is in sight covers the figure, and what is painted there."""


@pytest.mark.parametrize("pinned", [None, 7])
def test_marks_are_painted_wherever_the_reader_scrolls(show, pinned):
    weights = softmax(np.random.default_rng(0).normal(0, 1, (2, 1, 300, 300)))
    flow = from_arrays(weights, [f"t{at}" for at in range(300)])
    tab = show(flow, view="stack", layer=1, token=pinned)
    canvas = tab.locator(".nv-base" if pinned is None else ".nv-top")
    assert canvas.bounding_box()["height"] < 1500
    for place in (0, 1200, 9999, 1800, 0):
        tab.locator(".nv-stack").evaluate("(node, place) => { node.scrollTop = place; }", place)
        tab.evaluate(SETTLED)
        seen = canvas.evaluate(SEEN)
        assert seen["covered"]
        assert seen["inked"] > 2000


def test_the_whole_is_there_again_after_scrolling_with_a_token_in_focus(show):
    weights = softmax(np.random.default_rng(0).normal(0, 1, (2, 1, 300, 300)))
    flow = from_arrays(weights, [f"t{at}" for at in range(300)])
    tab = show(flow, view="stack", layer=1, token=0)
    tab.locator(".nv-stack").evaluate("node => { node.scrollTop = 2500; }")
    tab.evaluate(SETTLED)
    tab.locator(".normviz").focus()
    tab.keyboard.press("Escape")
    seen = tab.locator(".nv-base").evaluate(SEEN)
    assert seen["covered"]
    assert seen["inked"] > 2000


def test_marks_stay_beside_their_tokens_far_down_in_a_long_text(show):
    weights = np.eye(300, dtype=np.float32)[None, None]
    flow = from_arrays(weights, [f"t{at}" for at in range(300)])
    tab = show(flow, view="stack", token=250)
    box, canvas = token(tab, "key", 250).bounding_box(), tab.locator(".nv-top").bounding_box()
    across = canvas["width"] / 2
    down = box["y"] + box["height"] / 2 - canvas["y"]
    alpha = """(canvas, [x, y]) => {
      const ratio = canvas.width / canvas.clientWidth;
      return canvas.getContext('2d').getImageData(x * ratio, y * ratio, 1, 1).data[3];
    }"""
    painted = [tab.locator(".nv-top").evaluate(alpha, [across, down + by]) for by in (-60, 0, 60)]
    assert [solid > 100 for solid in painted] == [False, True, False]

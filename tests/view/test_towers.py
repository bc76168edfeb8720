"""Models of several towers, and of layers without attention, in everything that shows a flow."""

from dataclasses import replace

import pytest
import traitlets
from flows import assert_same_flow, hybrid_flow, towers_flow

from normviz import align, load
from normviz.core.flow import Flow
from normviz.core.stream import Stream
from normviz.core.token_matching import counterparts
from normviz.view.payload import pack, unpack
from normviz.view.state import BadChoice, resolve_state
from normviz.view.tiles import TileKey, make_tile

DOTTED = "text.cross"


@pytest.mark.parametrize("name", ["vision", "text", DOTTED, "vision.3"])
def test_any_stream_of_the_flow_can_be_chosen_by_its_name(name):
    flow = towers_flow(more=2)
    widget = flow.widget()
    widget.stream = name
    assert widget.stream == flow.widget(stream=name).stream == name
    assert widget.selection["key_piece"][0] in flow.stream(name).keys.pieces


def test_a_name_that_is_only_a_kind_is_refused_with_the_names_there_are():
    with pytest.raises(BadChoice, match=r"The streams are: vision, text, text\.cross\."):
        towers_flow().widget(stream="cross")


def test_the_alignment_opens_on_the_first_cross_attention_whatever_its_name():
    flow = towers_flow()
    assert resolve_state(flow, {"view": "alignment"}).stream == DOTTED
    widget = flow.widget()
    widget.view = "alignment"
    assert (widget.view, widget.stream) == ("alignment", DOTTED)


def test_the_alignment_stays_on_the_cross_attention_that_is_chosen():
    flow = towers_flow()
    second = replace(flow.stream(DOTTED), name="text.2.cross")
    both = replace(flow, streams={**flow.streams, "text.2.cross": second})
    widget = both.widget(stream="text.2.cross")
    widget.view = "alignment"
    assert widget.stream == "text.2.cross"


def test_the_alignment_of_a_stream_of_another_kind_is_refused():
    with pytest.raises(BadChoice, match=r"the stream is 'text'.*needs cross-attention"):
        towers_flow().widget(view="alignment", stream="text")


def test_words_are_aligned_by_the_first_cross_attention():
    flow = towers_flow()
    renamed = Flow({"cross": replace(flow.stream(DOTTED), name="cross")}, flow.receipt)
    assert align(flow, "weight").links == align(renamed, "weight").links
    gold = [(0, 0), (3, 4)]
    assert flow.with_gold(gold).gold == renamed.with_gold(gold).gold


@pytest.mark.parametrize("heads", ["all", "sum", 1])
def test_tiles_of_a_dotted_stream_are_made_by_their_names(heads):
    flow = towers_flow()
    key = TileKey(0, DOTTED, "weight", 1, heads)
    assert str(key) == f"0/text.cross/weight/1/{heads}"
    assert TileKey.parse(str(key)) == key
    alpha = flow.stream(DOTTED).at("weight", 1)
    expected = {"all": alpha, "sum": alpha.sum(axis=0), 1: alpha[1]}[heads]
    assert make_tile([flow], key, "float32").decode().tolist() == expected.ravel().tolist()


def test_every_stream_has_its_tiles_defaults_and_counterparts():
    flow = towers_flow(more=1)
    payload = pack(flow, flow, precision="float32")
    assert list(payload.header["state"]["defaults"]) == ["vision", "vision.2", "text", DOTTED]
    norms = unpack(payload, "1/text.cross/value-norm/1/all")
    assert norms.tolist() == flow.stream(DOTTED).at("value-norm", 1).ravel().tolist()
    (matches,) = payload.header["counterparts"]
    assert matches == counterparts(flow, flow)
    assert matches[DOTTED]["queries"]["there"] == list(range(7))


def test_the_header_says_the_kind_of_a_stream_its_other_layers_and_why_it_is_not_chained():
    (stream,) = pack(hybrid_flow(), whole=False).header["flows"][0]["streams"]
    assert (stream["kind"], stream["layers"]) == ("decoder", (1, 4))
    mixers = dict.fromkeys((0, 2, 3), "JambaMambaMixer")
    assert stream["other_layers"] == {**mixers, 5: "Conv", 6: "Conv"}
    assert stream["interruption"].startswith("there is no attention of this stream in layer 0, 2")
    chained = pack(towers_flow(), whole=False).header["flows"][0]["streams"]
    assert [(s["kind"], s["interruption"]) for s in chained] == [
        ("encoder", ""),
        ("decoder", ""),
        ("cross", ""),
    ]


@pytest.mark.parametrize("flow", [hybrid_flow(), towers_flow(more=2)], ids=["hybrid", "towers"])
def test_a_saved_flow_has_the_same_streams_and_layers(tmp_path, flow):
    assert_same_flow(load(flow.save(tmp_path / "flow.normviz")), flow)


def test_a_layer_without_attention_is_refused_with_what_it_has():
    sentence = "Layer 2 has no attention in the decoder stream, but JambaMambaMixer. The layers"
    with pytest.raises(BadChoice, match=rf"{sentence} with attention are: 1, 4\."):
        hybrid_flow().widget(layer=2)
    widget = hybrid_flow().widget(layer=1)
    with pytest.raises(traitlets.TraitError, match=sentence):
        widget.layer = 2
    assert widget.layer == 1


def test_a_view_opens_on_the_first_stream_that_has_numbers():
    flow = towers_flow()
    vision = flow.stream("vision")
    empty = Stream(*("vision", vision.queries, vision.keys, (), vision.heads, {}), kind=vision.kind)
    assert Flow({**flow.streams, "vision": empty}, flow.receipt).widget().stream == "text"


@pytest.mark.parametrize("suffix", ["svg", "png"])
@pytest.mark.parametrize("view", ["flow", "matrix"])
def test_figures_of_a_dotted_stream_and_of_a_hybrid_are_drawn(tmp_path, suffix, view):
    for name, flow, options in (
        ("towers", towers_flow(), {"stream": DOTTED}),
        ("hybrid", hybrid_flow(), {"layer": 4}),
    ):
        save = flow.to_svg if suffix == "svg" else flow.to_png
        path = save(tmp_path / f"{name}-{view}.{suffix}", view=view, **options)
        assert path.stat().st_size > 1000
    if suffix == "svg":
        assert "layer 4" in path.read_text(encoding="utf-8")

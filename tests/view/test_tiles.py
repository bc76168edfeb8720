"""Tiles: what a view may ask for by key, and what it is sent."""

import numpy as np
import pytest
from flows import SENTENCE, random_flow, two_streams, wordy_flow

from normviz.errors import NormvizError, UnknownName
from normviz.io.from_arrays import from_arrays
from normviz.view.encoding import EncodedArray, decode
from normviz.view.tiles import (
    THUMB_CELLS,
    TileKey,
    count_numbers,
    make_tile,
    tile_keys,
    total_variation,
)
from normviz.view.widget import MESSAGE_BYTES, SEND_WHOLE_LIMIT, FlowWidget


def tile(flow, name, precision="log16"):
    return make_tile([flow], TileKey.parse(name), precision)


def numbers(flow, name):
    return tile(flow, name, "float32").decode()


def test_every_tile_of_a_whole_payload_has_a_key_and_can_be_made():
    flow = two_streams()
    keys = list(tile_keys([flow]))
    assert TileKey.parse("0/cross/weight/1/all") in keys
    assert TileKey.parse("0/encoder/weighted-norm/overview") in keys
    for key in keys:
        assert make_tile([flow], key, "log16").key == key


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("0/encoder/weight/3/all", TileKey(0, "encoder", "weight", 3)),
        ("1/cross/weight/0/sum", TileKey(1, "cross", "weight", 0, "sum")),
        ("0/encoder/mixing:layer-output/2/5", TileKey(0, "encoder", "mixing:layer-output", 2, 5)),
        ("0/decoder/rollout:weight/overview", TileKey(0, "decoder", "rollout:weight")),
    ],
)
def test_a_key_is_written_as_the_view_asks_for_it(name, key):
    assert TileKey.parse(name) == key
    assert str(key) == name


@pytest.mark.parametrize("measure", ["weight", "weighted-norm"])
def test_heads_come_all_added_up_or_one_by_one(measure):
    flow = two_streams()
    whole = flow.encoder.at(measure, 2)
    prefix = f"0/encoder/{measure}/2"
    assert numbers(flow, f"{prefix}/all").tolist() == whole.ravel().tolist()
    assert numbers(flow, f"{prefix}/sum").tolist() == whole.sum(axis=0).ravel().tolist()
    assert numbers(flow, f"{prefix}/3").tolist() == whole[1].ravel().tolist()


def test_a_measure_without_heads_is_its_own_sum():
    flow = two_streams()
    expected = flow.encoder.at("attention", 0).ravel().tolist()
    assert numbers(flow, "0/encoder/attention/0/sum").tolist() == expected


@pytest.mark.parametrize(
    "name",
    ["", "0", "1/encoder/weight/0/all", "0/decoder/weight/0/all", "0/encoder/wait/0/all",
     "0/encoder/weight/1/all", "0/encoder/weight/0/7", "0/encoder/weight/x/all",
     "0/encoder/weight/0/all/more", "-9/encoder/weight/0/all", "-1/encoder/weight/0/all"],
)  # fmt: skip
def test_a_tile_that_is_not_there_is_refused_with_a_sentence(name):
    with pytest.raises(NormvizError):
        tile(two_streams(), name)


def test_an_overview_is_every_layer_and_head_in_small():
    flow = random_flow([f"t{n}" for n in range(50)], layers=2, heads=3)
    overview = tile(flow, "0/encoder/weight/overview", "float32")
    thumbs = overview.decode().reshape(2, 3, THUMB_CELLS, THUMB_CELLS)
    starts = np.linspace(0, 50, THUMB_CELLS, endpoint=False).astype(int)
    ends = [*starts[1:], 50]
    weights = flow["weight"]
    for row, column in ((0, 0), (5, 17), (23, 23)):
        block = weights[:, :, starts[row] : ends[row], starts[column] : ends[column]]
        assert thumbs[:, :, row, column].tolist() == block.max(axis=(2, 3)).tolist()
    assert (overview.about["rows"], overview.about["columns"]) == (THUMB_CELLS, THUMB_CELLS)
    assert np.allclose(overview.about["peaks"], 1)


def test_an_overview_has_what_a_profile_needs():
    flow = wordy_flow()
    about = tile(flow, "0/encoder/weighted-norm/overview").about
    for kind, shares in flow.encoder.shares("weighted-norm").items():
        assert about["shares"][kind] == pytest.approx(shares.tolist(), rel=1e-5)
    expected = total_variation(flow.encoder.at("weighted-norm", 1), flow.encoder.at("weight", 1))
    assert about["disagreement"]["weight"][1] == pytest.approx(expected.tolist(), rel=1e-5)
    assert list(about["disagreement"]) == ["weight"]


def test_an_overview_of_norms_has_one_row():
    flow = two_streams()
    about = tile(flow, "0/encoder/value-norm/overview").about
    assert (about["rows"], about["columns"], about["disagreement"]) == (1, 3, {})
    assert about["peaks"] == flow.encoder["value-norm"].max(axis=-1).tolist()


def test_total_variation_is_zero_for_the_same_shares_and_one_for_other_keys():
    first = np.float32([[[0.2, 0.8, 0]], [[1, 0, 0]]])
    same, elsewhere = first * 7, np.float32([[[0.2, 0.8, 0]], [[0, 0, 3]]])
    assert total_variation(first, same).tolist() == pytest.approx([0, 0])
    assert total_variation(first, elsewhere).tolist() == pytest.approx([0, 1])
    assert total_variation(first, np.zeros_like(first)).tolist() == pytest.approx([0.5, 0.5])


class Messages(list):
    """The messages that a widget sends."""

    def __init__(self, widget, monkeypatch):
        super().__init__()
        keep = lambda content, buffers=(): self.append((content, buffers))  # noqa: E731
        monkeypatch.setattr(widget, "send", keep)


def large():
    count = 130
    weights = np.full((2, 70, count, count), 1 / count, np.float32)
    return from_arrays(weights, [str(n) for n in range(count)])


def test_a_small_flow_is_sent_whole():
    widget = random_flow().widget()
    assert len(widget._data) > 0
    assert count_numbers([random_flow()]) <= SEND_WHOLE_LIMIT


def test_a_large_flow_is_sent_when_asked_for_in_messages_of_a_few_megabytes(monkeypatch):
    flow = large()
    widget = FlowWidget(flow, precision="float32")
    assert (widget._data, widget._header["tiles"]) == (b"", [])
    messages = Messages(widget, monkeypatch)
    widget._handle_custom_msg({"want": "0/encoder/weight/1/all"}, [])
    assert [content["part"] for content, _ in messages] == [0, 1]
    assert all(len(buffer) <= MESSAGE_BYTES for _, buffers in messages for buffer in buffers)
    joined = b"".join(buffer for _, (buffer,) in messages)
    assert (
        decode(EncodedArray(messages[0][0]["dtype"], joined)).tolist()
        == flow["weight"][1].ravel().tolist()
    )


def test_what_cannot_be_sent_is_refused_with_a_message(monkeypatch):
    widget = random_flow().widget()
    messages = Messages(widget, monkeypatch)
    widget._handle_custom_msg({"want": "0/encoder/weight/9/all"}, [])
    [(content, _)] = messages
    assert content["tile"] == "0/encoder/weight/9/all"
    assert "There is no layer 9 here" in content["refused"]
    for nonsense in ({}, {"want": 3}, "want", None):
        widget._handle_custom_msg(nonsense, [])
    assert len(messages) == 1


def test_another_flow_travels_along_and_can_be_asked_for(monkeypatch):
    one, other = random_flow(), random_flow([*SENTENCE, "!"])
    widget = one.widget(compare=other)
    assert widget.compare == "other"
    assert [len(flow["streams"][0]["keys"]["pieces"]) for flow in widget._header["flows"]] == [6, 7]
    messages = Messages(widget, monkeypatch)
    widget._handle_custom_msg({"want": "1/encoder/weight/0/sum"}, [])
    [(content, [data])] = messages
    assert decode(EncodedArray(content["dtype"], data)).size == 49


def test_another_flow_cannot_be_assigned_later():
    widget = random_flow().widget()
    with pytest.raises(UnknownName, match=r"Pass the second flow: flow.widget\(compare=other\)"):
        widget.compare = random_flow()

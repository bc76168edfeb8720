"""A flow as bytes: every number comes back, and JavaScript reads what Python wrote."""

import base64
import json
import math
import os
from dataclasses import asdict
from itertools import combinations

import numpy as np
import pytest
from flows import (
    SENTENCE,
    chart,
    flow_of,
    hybrid_flow,
    ladder_flow,
    random_flow,
    signed_flow,
    towers_flow,
    translation_flow,
    two_streams,
    wordy_flow,
)
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from paths import ROOT

from normviz import aer, align
from normviz.alignment.align import TARGET_ROWS
from normviz.core.catalog import MEASURES
from normviz.core.flow import Flow
from normviz.core.gold import Gold
from normviz.core.stream import Layers, Stream
from normviz.derived.agreement import PERFECT, agreement
from normviz.errors import NotFinite, UnknownName
from normviz.view.encoding import PRECISIONS, decode, encode
from normviz.view.figures.colors import BELOW, PALETTES, heat_colors
from normviz.view.figures.geometry import place_bars, place_focused_ribbons, place_ribbons
from normviz.view.figures.picture import make_picture
from normviz.view.payload import pack, unpack
from normviz.view.state import ALLOWED, STATE_NAMES, resolve_state
from normviz.view.tiles import TileKey

CONTRACT = ROOT / "js" / "test" / "support" / "contract.json"

any_numbers = arrays.arrays(
    np.float32,
    st.integers(1, 40),
    elements=st.floats(0, 2.0**127, width=32, allow_subnormal=True),
)
"""From zero and the smallest positive float32 to nearly the largest."""


@given(values=any_numbers)
def test_every_number_comes_back_within_half_a_percent(values):
    exact = values.astype(np.float64)
    found = decode(encode(values, "log16")).astype(np.float64)
    assert ((found == 0) == (exact == 0)).all()
    # The least floats have too few digits of their own to be within any percentage.
    digits = np.spacing(values).astype(np.float64) / 2
    assert (np.abs(found - exact) <= 0.005 * exact + digits).all()


@given(values=arrays.arrays(np.float32, st.integers(1, 40), elements=st.floats(-9, 9, width=32)))
def test_float32_keeps_every_bit(values):
    assert decode(encode(values, "float32")).tobytes() == values.tobytes()


def test_one_and_zero_are_exact():
    assert decode(encode(np.array([0, 1], np.float32), "log16")).tolist() == [0, 1]


def test_negative_numbers_are_kept_whole_since_they_have_no_logarithm():
    values = np.array([-1.5, 2], np.float32)
    encoded = encode(values, "log16")
    assert encoded.dtype == "float32"
    assert decode(encoded).tolist() == [-1.5, 2]


@given(values=any_numbers)
def test_one_byte_keeps_numbers_within_four_percent_down_to_a_hundred_millionth(values):
    encoded = encode(values, "uint8")
    assert len(encoded.data) == values.size
    exact, found = values.astype(np.float64), decode(encoded).astype(np.float64)
    large = exact > 1.7e-8 * exact.max()
    digits = np.spacing(values).astype(np.float64) / 2
    assert (np.abs(found - exact)[large] <= 0.037 * exact[large] + digits[large]).all()
    assert (found[exact == 0] == 0).all()


def test_the_receipt_of_a_view_says_how_exact_its_numbers_are():
    for precision, words in PRECISIONS.items():
        text = pack(random_flow(), precision=precision).header["flows"][0]["receipt"]["text"]
        assert text.endswith(f"numbers in this view: {words}, as {precision}")


def test_numbers_take_two_bytes():
    assert len(encode(np.ones((3, 5), np.float32), "log16").data) == 30


def test_what_is_multiplied_is_not_sent():
    payload = pack(random_flow())
    assert _layers_sent(payload) == {"weight", "value-norm"}
    stream = payload.header["flows"][0]["streams"][0]
    assert stream["measures"] == ("weight", "value-norm", "weighted-norm")
    assert stream["multiplied"] == ["weighted-norm"]


def test_between_words_the_product_does_not_hold_so_everything_is_sent():
    assert "weighted-norm" in _layers_sent(pack(random_flow().words()))


def _layers_sent(payload):
    keys = [TileKey.parse(tile["name"]) for tile in payload.header["tiles"]]
    return {key.measure for key in keys if key.layer is not None}


def test_each_tile_is_the_layer_it_says():
    flow = two_streams()
    payload = pack(flow, precision="float32")
    tiles = payload.header["tiles"]
    for tile in tiles:
        key = TileKey.parse(tile["name"])
        if key.layer is not None:
            expected = flow.stream(key.stream).at(key.measure, key.layer).ravel()
            assert unpack(payload, tile["name"]).tolist() == expected.tolist()
    assert tiles[-1]["offset"] + tiles[-1]["bytes"] == len(payload.data)


def test_the_header_has_every_allowed_value_and_the_defaults_of_each_stream():
    header = json.loads(json.dumps(pack(two_streams()).header))
    assert (header["format"], list(header["state"])) == (5, ["allowed", "defaults"])
    assert header["state"]["allowed"] == {name: list(words) for name, words in ALLOWED.items()}
    assert list(header["state"]["defaults"]) == ["encoder", "cross"]
    for name, state in header["state"]["defaults"].items():
        assert state == asdict(resolve_state(two_streams(), {"stream": name}))


def test_a_stream_without_numbers_has_no_defaults():
    flow = two_streams()
    cross = flow.cross
    empty = Stream("cross", cross.queries, cross.keys, (), cross.heads, {})
    header = pack(Flow({"encoder": flow.encoder, "cross": empty}, flow.receipt)).header
    assert list(header["state"]["defaults"]) == ["encoder"]


def test_every_fact_of_a_measure_is_in_the_header():
    described = pack(two_streams()).header["flows"][0]["measures"]
    assert described == [asdict(MEASURES[name]) for name in two_streams().measures]


def test_numbers_that_cannot_be_drawn_are_named():
    flow = random_flow()
    broken = flow.encoder["weight"].copy()
    broken[1, 0, 0, 0] = np.nan
    encoder = flow.encoder
    stored = {"weight": Layers(broken)}
    stream = Stream("encoder", encoder.queries, encoder.keys, encoder.layers, encoder.heads, stored)
    with pytest.raises(NotFinite, match="'weight' of encoder layer 1 holds NaN"):
        pack(Flow({"encoder": stream}, flow.receipt))


def test_an_unknown_precision_is_refused():
    with pytest.raises(UnknownName, match="The precisions are: log16, float32, uint8"):
        pack(random_flow(), precision="float8")


FIGURES = (
    {"measure": "weight", "layer": 2},
    {"measure": "weighted-norm", "normalize": "query", "heads": [3]},
    {"measure": "attention", "normalize": "absolute"},
    {"measure": "weight", "threshold": 0.5},
    {"measure": "weighted-norm", "layer": 2, "token": 1},
    {"measure": "weight", "role": "key", "token": 2},
)
"""States whose geometry must be the same in Python and in the view."""


SIGNED = tuple(
    {"measure": "effective-weight", **options}
    for options in (
        {"layer": 1},
        {"normalize": "query", "heads": [1]},
        {"normalize": "absolute", "heads": [1], "threshold": 0.3},
        {"token": 2},
        {"token": 3, "role": "key", "special": "hidden"},
    )
)
"""The same for a measure that may be negative."""


def _plain_state(flow):
    """One measure of the first stream in its first layer, to which tests add their own choices."""
    stream = next(iter(flow.streams.values()))
    measure = "weighted-norm" if "weighted-norm" in stream else stream.measures[0]
    layer = stream.layers[0]
    return {"stream": stream.name, "measure": measure, "layer": layer, "normalize": "layer"}


def _figure(flow, **options):
    picture = make_picture(flow, resolve_state(flow, _plain_state(flow) | options))
    place = place_focused_ribbons if picture.focus else place_ribbons
    ribbons = place(picture, 20)
    starts, ends = place_bars(picture.norms)
    return {
        "state": options,
        "ribbons": np.stack([
            ribbons.plane, ribbons.query, ribbons.key, ribbons.width, ribbons.start, ribbons.end,
        ], axis=1).round(4).tolist(),
        "bars": np.stack([starts, ends], axis=-1).round(6).tolist(),
        "shares": picture.shares.totals.round(6).tolist(),
        "shown": round(ribbons.shown, 6),
        "zoom": ribbons.zoom,
    }  # fmt: skip


def _contract_of(flow):
    """A flow as the view gets it, and beside it the statistics as Python holds them."""
    payload, stream = pack(flow), flow.encoder
    return {
        "header": payload.header,
        "data": base64.b64encode(payload.data).decode("ascii"),
        "statistics": [
            {"statistic": name, "layer": layer, "values": stream.at(name, layer).ravel().tolist()}
            for name in stream.statistics
            for layer in stream.layers
        ],
    }


def _plain_contract_of(flow):
    """A flow as the view gets it, and the state in which it opens."""
    payload = pack(flow)
    return {
        "header": payload.header,
        "data": base64.b64encode(payload.data).decode("ascii"),
        "state": asdict(resolve_state(flow, _plain_state(flow))),
    }


def _masked_flow():
    """A decoder whose numbers are partly negative, and partly equal."""
    values = np.random.default_rng(4).integers(-3, 6, (1, 2, 6, 6)) / 4
    norms = np.arange(1, 13).reshape(1, 2, 6) % 5
    measures = {
        "weight": values * np.tri(6),
        "value-norm": norms,
        "layer-output": values[:, 0] ** 2,
    }
    return flow_of(measures, list("abcdef"), stream="decoder")


def _agreement(found):
    """How far two measures agree in the last layer of a flow, and where they differ most."""
    stream, layer = found.stream, found.layers[-1]

    def head_agreement(head):
        values = {by: getattr(found.at(layer, head), by) for by in PERFECT}
        worst = {by: [row.query for row in found.where(layer, head, by=by)] for by in PERFECT}
        known = {by: None if math.isnan(value) else value for by, value in values.items()}
        return {**known, "worst": {by: next(iter(queries), None) for by, queries in worst.items()}}

    def layer_of(name):
        has = {f"has{axis.title()}": axis in MEASURES[name].axes for axis in ("head", "query")}
        return {"values": stream.at(name, layer).ravel().tolist(), **has}

    return {
        "of": f"{found.first} and {found.second} of the {stream.name}",
        "size": {"queries": len(stream.queries), "keys": len(stream.keys)},
        "layers": [layer_of(name) for name in (found.first, found.second)],
        "heads": [head_agreement(head) for head in found.heads],
    }


def _alignments():
    """A translation with gold, and its links by measure, layer, heads and target row."""
    gold = Gold({(0, 1), (1, 2), (2, 3), (3, 4)}, {(0, 0), (2, 4)})
    flow = translation_flow().with_gold(gold)
    payload = pack(flow, precision="float32")
    states = [
        {"measure": measure, "layer": layer, "heads": heads, "target_row": target_row}
        for measure in ("weight", "weighted-norm")
        for layer in flow.cross.layers
        for heads in (None, [1], [0, 2])
        for target_row in TARGET_ROWS
    ]

    def links_of(state):
        where = {"layer": state["layer"], "heads": state["heads"]}
        alignment = align(flow, state["measure"], target_row=state["target_row"], **where)
        scores = aer([alignment], [gold])
        return {
            "state": state,
            "links": [list(link) for link in alignment],
            "soft": alignment.soft.round(6).tolist(),
            "none": alignment.null_share.round(6).tolist(),
            "scores": [round(n, 9) for n in (scores.aer, scores.precision, scores.recall)],
        }

    return {
        "header": payload.header,
        "data": base64.b64encode(payload.data).decode("ascii"),
        "state": asdict(resolve_state(flow, {"view": "alignment"})),
        "found": [links_of(state) for state in states],
    }


def test_the_contract_that_javascript_reads_is_what_python_writes():
    """Set NORMVIZ_WRITE_CONTRACT=1 to write it again, then review the difference."""
    flow, wordy = two_streams(), wordy_flow()
    payload, ladder = pack(flow), _contract_of(ladder_flow(SENTENCE[:3], prenorm=True))
    merged, signed = wordy.encoder.words(), signed_flow()
    contract = {
        "header": payload.header,
        "data": base64.b64encode(payload.data).decode("ascii"),
        "state": asdict(resolve_state(flow, _plain_state(flow))),
        "state_names": list(STATE_NAMES),
        "numbers": [
            {"stream": stream.name, "measure": measure, "layer": layer,
             "values": stream.at(measure, layer).ravel().tolist()}
            for stream in flow.streams.values()
            for measure in stream
            for layer in stream.layers
        ],
        "ladder": ladder,
        "hybrid": _plain_contract_of(hybrid_flow()),
        "towers": _plain_contract_of(towers_flow()),
        "charts": pack(flow.with_chart(chart())).header["flows"][0]["charts"],
        "signed": {
            **_contract_of(signed),
            "state": asdict(resolve_state(signed, _plain_state(signed))),
            "figures": [_figure(signed, **options) for options in SIGNED],
        },
        "wordy": pack(wordy, whole=False).header["flows"][0],
        "words": [
            {"measure": measure, "layer": layer,
             "pieces": wordy.encoder.at(measure, layer).ravel().tolist(),
             "values": merged.at(measure, layer).ravel().tolist()}
            for measure in merged
            for layer in merged.layers
        ],
        "agreements": [
            _agreement(agreement(held, first, second, stream=name))
            for held, name in ((flow, "encoder"), (_masked_flow(), "decoder"))
            for first, second in combinations(held.stream(name), 2)
        ],
        "figures": [_figure(flow, **options) for options in FIGURES],
        "alignments": _alignments(),
        "colors": {
            theme: {"heads": [palette.head(head) for head in (None, *range(16))],
                    "heat": heat_colors(theme)[::15], "below": heat_colors(theme, BELOW)[::15],
                    "signs": palette.signs, "hues": palette.hues}
            for theme, palette in PALETTES.items()
        },
    }  # fmt: skip
    text = json.dumps(contract, indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("NORMVIZ_WRITE_CONTRACT"):
        CONTRACT.write_text(text, encoding="utf-8")
    assert json.loads(CONTRACT.read_text(encoding="utf-8")) == json.loads(text)

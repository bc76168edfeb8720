"""A flow as bytes: every number comes back, and JavaScript reads what Python wrote."""

import base64
import json
import math
import os
from itertools import combinations

import numpy as np
import pytest
from flows import (
    SENTENCE,
    chart,
    flow_of,
    ladder_flow,
    random_flow,
    signed_flow,
    translation_flow,
    two_streams,
    wordy_flow,
)
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from paths import ROOT

from normviz import aer, align
from normviz.alignment.align import SETTINGS
from normviz.core.catalog import MEASURES
from normviz.core.flow import Flow
from normviz.core.gold import Gold
from normviz.core.stream import Layers, Stream
from normviz.derived.agreement import BEST, agreement
from normviz.errors import NotFinite, UnknownName
from normviz.view.encoding import PRECISIONS, decode, encode
from normviz.view.figures.colors import BELOW, PALETTES, heat
from normviz.view.figures.geometry import bars, focused, ribbons
from normviz.view.figures.picture import picture
from normviz.view.payload import pack, unpack
from normviz.view.state import CHOICES, resolve

CONTRACT = ROOT / "js" / "test" / "support" / "contract.json"

any_numbers = arrays.arrays(
    np.float32,
    st.integers(1, 40),
    elements=st.floats(0, 2.0**127, width=32, allow_subnormal=True),
)
"""From zero and the least float32 there is, to nearly the greatest."""


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
    coded = encode(values, "log16")
    assert coded.dtype == "float32"
    assert decode(coded).tolist() == [-1.5, 2]


@given(values=any_numbers)
def test_one_byte_keeps_numbers_within_four_percent_down_to_a_hundred_millionth(values):
    coded = encode(values, "uint8")
    assert len(coded.data) == values.size
    exact, found = values.astype(np.float64), decode(coded).astype(np.float64)
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
    names = [place["name"].split("/") for place in payload.header["tiles"]]
    return {measure for _, _, measure, *rest in names if rest != ["overview"]}


def test_each_tile_is_the_layer_it_says():
    flow = two_streams()
    payload = pack(flow, precision="float32")
    places = payload.header["tiles"]
    for place in places:
        _, stream, measure, layer, *heads = place["name"].split("/")
        if heads:
            expected = flow.stream(stream).at(measure, int(layer)).ravel()
            assert unpack(payload, place["name"]).tolist() == expected.tolist()
    assert places[-1]["offset"] + places[-1]["bytes"] == len(payload.data)


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
    {"measure": "weight", "side": "key", "token": 2},
)
"""Choices whose geometry must be the same in Python and on the screen."""


SIGNED = tuple(
    {"measure": "effective-weight", **choice}
    for choice in (
        {"layer": 1},
        {"normalize": "query", "heads": [1]},
        {"normalize": "absolute", "heads": [1], "threshold": 0.3},
        {"token": 2},
        {"token": 3, "side": "key", "special": "hidden"},
    )
)
"""The same of a measure that may be negative."""


def _figure(flow, **given):
    choice = resolve(flow, given)
    shown = picture(flow, choice)
    found = focused(shown, 20) if shown.focus else ribbons(shown, 20)
    starts, ends = bars(shown.norms)
    return {
        "choice": given,
        "ribbons": np.stack([
            found.plane, found.query, found.key, found.width, found.start, found.end,
        ], axis=1).round(4).tolist(),
        "bars": np.stack([starts, ends], axis=-1).round(6).tolist(),
        "shown": round(found.shown, 6),
        "zoom": found.zoom,
    }  # fmt: skip


def _contract_of(flow):
    """A flow as the view gets it, and beside it the readings as Python holds them."""
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

    def told(head):
        values = {by: getattr(found.at(layer, head), by) for by in BEST}
        places = {by: [there.query for there in found.where(layer, head, by=by)] for by in BEST}
        known = {by: None if math.isnan(value) else value for by, value in values.items()}
        return {**known, "worst": {by: next(iter(there), None) for by, there in places.items()}}

    def layer_of(name):
        has = {f"has{axis.title()}": axis in MEASURES[name].axes for axis in ("head", "query")}
        return {"values": stream.at(name, layer).ravel().tolist(), **has}

    return {
        "of": f"{found.first} and {found.second} of the {stream.name}",
        "size": {"queries": len(stream.queries), "keys": len(stream.keys)},
        "layers": [layer_of(name) for name in (found.first, found.second)],
        "heads": [told(head) for head in found.heads],
    }


def _alignments():
    """A translation with gold, and its links by several measures, heads, layers and settings."""
    gold = Gold({(0, 1), (1, 2), (2, 3), (3, 4)}, {(0, 0), (2, 4)})
    flow = translation_flow().with_gold(gold)
    payload = pack(flow, precision="float32")
    chosen = [
        {"measure": measure, "layer": layer, "heads": heads, "setting": setting}
        for measure in ("weight", "weighted-norm")
        for layer in flow.cross.layers
        for heads in (None, [1], [0, 2])
        for setting in SETTINGS
    ]

    def told(choice):
        found = align(
            flow, choice["measure"], **{k: v for k, v in choice.items() if k != "measure"}
        )
        scores = aer([found], [gold])
        return {
            "choice": choice,
            "links": [list(link) for link in found],
            "soft": found.soft.round(6).tolist(),
            "none": found.none.round(6).tolist(),
            "scores": [round(n, 9) for n in (scores.aer, scores.precision, scores.recall)],
        }

    return {
        "header": payload.header,
        "data": base64.b64encode(payload.data).decode("ascii"),
        "choice": resolve(flow, {"view": "alignment"}),
        "found": [told(choice) for choice in chosen],
    }


def test_the_contract_that_javascript_reads_is_what_python_writes():
    """Set NORMVIZ_WRITE_CONTRACT=1 to write it anew, then look at the difference."""
    flow, wordy = two_streams(), wordy_flow()
    payload, ladder = pack(flow), _contract_of(ladder_flow(SENTENCE[:3], prenorm=True))
    merged, signed = wordy.encoder.words(), signed_flow()
    contract = {
        "header": payload.header,
        "data": base64.b64encode(payload.data).decode("ascii"),
        "choice": resolve(flow, {}),
        "choices": list(CHOICES),
        "numbers": [
            {"stream": stream.name, "measure": measure, "layer": layer,
             "values": stream.at(measure, layer).ravel().tolist()}
            for stream in flow.streams.values()
            for measure in stream
            for layer in stream.layers
        ],
        "ladder": ladder,
        "charts": pack(flow.with_chart(chart())).header["flows"][0]["charts"],
        "signed": {
            **_contract_of(signed),
            "choice": resolve(signed, {}),
            "figures": [_figure(signed, **choice) for choice in SIGNED],
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
        "figures": [_figure(flow, **choice) for choice in FIGURES],
        "alignments": _alignments(),
        "colors": {
            theme: {"heads": [palette.head(head) for head in (None, *range(16))],
                    "heat": heat(theme)[::15], "below": heat(theme, BELOW)[::15],
                    "signs": palette.signs}
            for theme, palette in PALETTES.items()
        },
    }  # fmt: skip
    text = json.dumps(contract, indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("NORMVIZ_WRITE_CONTRACT"):
        CONTRACT.write_text(text, encoding="utf-8")
    assert json.loads(CONTRACT.read_text(encoding="utf-8")) == json.loads(text)

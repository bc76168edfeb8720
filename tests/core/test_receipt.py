"""Receipts: no failures where everything adds up, and one sentence for each that occurs."""

import dataclasses
import json

import pytest
from flows import ladder_flow

from normviz.core.receipt import TOLERANCE, GradientCheck, LayerCheck, Receipt

GOOD = LayerCheck(
    stream="decoder", layer=3, module="o_proj", dtype="float32", error=2e-7, least_row=1.0,
    greatest_row=1.0, leak=0.0, bias_share=0.1,
)  # fmt: skip


def test_a_good_layer_has_no_failures():
    assert GOOD.failures == ()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"error": 1e-3},
            "parts miss the model's own output by 1.0e-03 (allowed 1e-05 in float32)",
        ),
        ({"error": float("nan")}, "parts miss"),
        ({"least_row": 0.9}, "add up to 0.9 … 1 instead of 1"),
        ({"greatest_row": 1.1}, "add up to 1 … 1.1 instead of 1"),
        ({"leak": 1e-9}, "masked position has weight 1.0e-09 instead of 0"),
        ({"least_row": -0.1, "sink": True}, "instead of 1"),
    ],
)
def test_each_failure_has_its_sentence(change, words):
    (failure,) = dataclasses.replace(GOOD, **change).failures
    assert failure.startswith("decoder layer 3: ")
    assert words in failure


def test_a_sink_may_take_weight():
    assert dataclasses.replace(GOOD, least_row=0.4, sink=True).failures == ()


def test_every_precision_has_a_tolerance_that_halves_need():
    assert TOLERANCE["float64"] < TOLERANCE["float32"] < TOLERANCE["bfloat16"]
    assert dataclasses.replace(GOOD, error=1e-2, dtype="bfloat16").failures == ()


def test_a_receipt_with_every_kind_of_check_survives_json():
    gradient = GradientCheck("encoder", 0, "hidden-attribution", "float32", 1e-6, 16, 64, 0.02)
    receipt = dataclasses.replace(ladder_flow().receipt, gradients=(gradient,), notes=("a note",))
    assert Receipt.from_dict(json.loads(json.dumps(receipt.to_dict()))) == receipt
    assert receipt.ok
    assert "gradients sampled, standard error up to 2.0%" in receipt.headline()

"""Flows of real models: streams, layers and heads, measures, tables and files."""

import architectures
import numpy as np
import pytest
from flows import assert_same_flow

from normviz import analyze, from_arrays, load
from normviz.core.catalog import DEFAULT, MEASURES, ON_REQUEST
from normviz.errors import UnknownName


def analyze_text(demo, text, **options):
    model, tokenizer = demo
    return analyze(model, tokenizer=tokenizer, text=text, **options)


@pytest.fixture(scope="module")
def translation():
    return analyze(architectures.ALL["bart"].build(), inputs=architectures.pair_inputs())


def test_streams_are_named_where_there_are_several(translation):
    assert list(translation.streams) == ["encoder", "decoder", "cross"]
    assert translation.encoder["weight"].shape == (2, 4, 9, 9)
    assert translation.decoder["weight"].shape == (2, 4, 6, 6)
    assert translation.cross["weight"].shape == (2, 4, 6, 9)
    assert translation.cross.queries.ids == tuple(range(20, 26))
    assert translation.cross.keys.ids == tuple(range(5, 14))
    assert "weight" in translation
    assert "nothing" not in translation
    with pytest.raises(UnknownName, match="3 streams") as error:
        translation["weight"]
    assert "flow.cross" in error.value.do


def test_layers_and_heads_are_chosen_and_keep_their_numbers(demo):
    some = analyze_text(demo, "A cat.", layers=[4, 1], heads=[0, 11])
    every = analyze_text(demo, "A cat.")
    assert (some.stream().layers, some.stream().heads) == ((1, 4), (0, 11))
    np.testing.assert_array_equal(some["weight"], every["weight"][[1, 4]][:, [0, 11]])
    # `attention` combines all heads, whichever of them are kept
    np.testing.assert_array_equal(some["attention"], every["attention"][[1, 4]])
    np.testing.assert_array_equal(some.stream().at("weight", 4), some["weight"][1])
    with pytest.raises(UnknownName, match="layer 2"):
        some.stream().at("weight", 2)


def test_only_requested_measures_are_kept(demo):
    flow = analyze_text(demo, "A cat.", measures=["value-norm"])
    assert flow.measures == ("value-norm",)
    assert analyze_text(demo, "A cat.").measures == DEFAULT
    everything = analyze_text(demo, "A cat.", measures="all").measures
    assert everything == tuple(name for name in MEASURES if name not in ON_REQUEST)


def test_a_labeled_array_has_axis_words_as_dimensions(translation):
    array = translation.to_xarray("weighted-norm", stream="cross")
    assert array.dims == ("layer", "head", "query", "key")
    assert array.sel(layer=1, head=2).shape == (6, 9)
    assert array.name == "weighted-norm"
    assert list(array.key_piece.values[:2]) == ["#5", "#6"]


def test_arrays_may_be_torch_tensors_in_half_precision():
    import torch

    weight = torch.rand(1, 2, 3, 3).softmax(-1).to(torch.bfloat16).requires_grad_()
    flow = from_arrays(weight, ["a", "b", "c"])
    assert flow.receipt.ok
    assert flow["weight"].dtype == np.float32
    assert flow.receipt.error is None


@pytest.mark.parametrize("name", ["bert", "bart", "vit"])
def test_what_is_saved_comes_back(name, tmp_path):
    architecture = architectures.ALL[name]
    flow = analyze(architecture.build(), inputs=architecture.inputs(), layers=[1], heads=[0, 2])
    path = flow.save(tmp_path / "deep" / "flow.normviz")
    assert_same_flow(flow, load(path))

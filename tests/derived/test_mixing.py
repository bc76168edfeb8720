"""Mixing ratios, contextualization change, and ranks."""

import math
from dataclasses import replace

import numpy as np
import pytest
import reference
from flows import ladder_flow, random_flow, two_streams
from hypothesis import given, settings
from hypothesis import strategies as st

from normviz.core.stream import Layers
from normviz.derived.ranks import ranks, spearman
from normviz.errors import BadInput, UnknownName

lists = st.lists(st.integers(-4, 4) | st.floats(-1, 1, width=32), min_size=1, max_size=20)


@given(lists)
def test_ranks_are_those_of_counting(values):
    np.testing.assert_allclose(ranks(values), reference.ranks(values))


@given(st.lists(st.tuples(st.integers(-3, 3), st.floats(-1, 1, width=32)), min_size=2, max_size=20))
def test_spearman_is_the_correlation_of_ranks(pairs):
    one, other = zip(*pairs, strict=True)
    if len(set(one)) == 1 or len(set(other)) == 1:
        assert math.isnan(spearman(one, other))
        return
    assert spearman(one, other) == pytest.approx(reference.spearman(one, other), abs=1e-9)
    assert spearman(other, one) == pytest.approx(spearman(one, other), abs=1e-12)
    assert spearman(one, [-value for value in one]) == pytest.approx(-1)
    assert spearman([2 * value for value in other], other) == pytest.approx(1)


def with_map(flow, name, maps):
    stream = flow.stream()
    layers = Layers(np.asarray(layer, dtype=np.float32) for layer in maps)
    return replace(
        flow, streams={stream.name: replace(stream, stored={**stream.stored, name: layers})}
    )


def test_by_weight_a_token_mixes_what_is_not_on_the_diagonal():
    flow = random_flow()
    mean = flow["weight"].astype(np.float64).mean(axis=1)
    for layer in range(3):
        for query in range(6):
            others = sum(mean[layer, query, key] for key in range(6) if key != query)
            assert flow.mixing("weight")[layer, query] == pytest.approx(others, rel=1e-5)
            residual = flow.mixing("weight-residual")[layer, query]
            assert residual == pytest.approx(others / 2, rel=1e-5)
    assert flow.mixing("weight").dtype == np.float32


@given(seed=st.integers(0, 999))
@settings(max_examples=20, deadline=None)
def test_a_change_is_one_less_the_rank_correlation_of_each_layer(seed):
    draw = np.random.default_rng(seed)
    before, after = draw.integers(1, 9, (2, 3, 6, 6))
    flow = with_map(with_map(random_flow(), "attention", before), "layer-output", after)
    found = flow.contextualization_change("attention", "layer-output")
    for layer in range(3):
        expected = 1 - reference.spearman(before[layer].ravel(), after[layer].ravel())
        assert found[layer] == pytest.approx(expected, abs=1e-5)


def test_no_change_is_zero_and_the_opposite_is_two():
    draw = np.random.default_rng(0)
    maps = draw.random((3, 6, 6)) + 1
    flow = with_map(with_map(random_flow(), "attention", maps), "layer-output", 3 * maps**2)
    flow = with_map(flow, "feed-forward", 1 / maps)
    np.testing.assert_allclose(
        flow.contextualization_change("attention", "layer-output"), 0, atol=1e-6
    )
    opposite = flow.contextualization_change("attention", "feed-forward")
    np.testing.assert_allclose(opposite, 2, atol=1e-6)


def test_pairs_that_a_mask_forbids_do_not_count():
    draw = np.random.default_rng(1)
    before, after = (np.tril(draw.random((3, 6, 6)) + 0.1) for _ in range(2))
    flow = with_map(with_map(random_flow(), "attention", before), "layer-output", after)
    seen = np.tril_indices(6)
    expected = [1 - spearman(b[seen], a[seen]) for b, a in zip(before, after, strict=True)]
    found = flow.contextualization_change("attention", "layer-output")
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_one_token_has_nothing_to_rank():
    flow = with_map(random_flow(["a"]), "attention", np.ones((3, 1, 1)))
    assert np.isnan(flow.contextualization_change("attention", "attention")).all()


def test_a_change_between_maps_of_heads_or_of_unknown_measures_is_refused():
    flow = with_map(random_flow(), "attention", np.ones((3, 6, 6)))
    with pytest.raises(BadInput, match=r"'weight' has one map for each head"):
        flow.contextualization_change("weight", "attention")
    with pytest.raises(UnknownName, match="no measure 'layer-output' here"):
        flow.contextualization_change("attention", "layer-output")
    with pytest.raises(UnknownName, match="no measure 'nothing' here"):
        flow.contextualization_change("nothing", "attention")


def test_the_mixing_of_a_rung_is_its_statistic_under_either_id():
    flow = ladder_flow(prenorm=True)
    np.testing.assert_array_equal(
        flow.mixing("layer-output"), flow.encoder.statistic("mixing", "feed-forward-residual")
    )


def test_a_mixing_ratio_that_is_not_held_is_refused():
    with pytest.raises(UnknownName, match=r"'attention' is not held.*weight, weight-residual"):
        random_flow().mixing("attention")
    with pytest.raises(UnknownName, match="measures="):
        random_flow().mixing("nothing")
    with pytest.raises(BadInput, match="tokens of different texts"):
        two_streams().mixing("weight", stream="cross")
    with pytest.raises(UnknownName, match="2 streams"):
        two_streams().mixing("weight")

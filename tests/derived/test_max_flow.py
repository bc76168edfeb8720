"""The maximum flow equals every other way of computing it."""

import numpy as np
import pytest
import reference
from flows import random_flow, softmax, two_streams
from hypothesis import given, settings
from hypothesis import strategies as st

from normviz import attention_flow, from_arrays, rollout
from normviz.derived.max_flow import maximum_flow
from normviz.errors import BadInput, UnknownName


def capacities(layers, tokens, seed, zeros=0.3):
    """Return random capacities, some of them zero, the first layer first."""
    draw = np.random.default_rng(seed)
    return draw.random((layers, tokens, tokens)) * (draw.random((layers, tokens, tokens)) > zeros)


sizes = {"layers": st.integers(1, 5), "tokens": st.integers(1, 6), "seed": st.integers(0, 10**6)}


@given(**sizes, zeros=st.sampled_from([0, 0.3, 0.7]))
@settings(max_examples=150, deadline=None)
def test_the_maximum_flow_equals_another_algorithm(layers, tokens, seed, zeros):
    maps = capacities(layers, tokens, seed, zeros)
    query, key = seed % tokens, seed // 7 % tokens
    found = maximum_flow(maps[::-1], query, key)
    assert found == pytest.approx(reference.edmonds_karp(maps, query, key), abs=1e-9)


@given(tokens=st.integers(2, 3), seed=st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_the_maximum_flow_is_the_narrowest_of_all_cuts(tokens, seed):
    maps = capacities(2, tokens, seed)
    found = maximum_flow(maps[::-1], 0, tokens - 1)
    assert found == pytest.approx(reference.least_cut(maps, 0, tokens - 1), abs=1e-9)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_through_two_layers_each_token_between_passes_on_the_smaller_capacity(seed):
    first, second = capacities(2, 6, seed)
    expected = np.minimum(second[1], first[:, 4]).sum()
    assert maximum_flow(np.stack([second, first]), 1, 4) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("upper", [[0, 1], [1, 0]])
@pytest.mark.parametrize("lower", [[0, 1], [1, 0]])
def test_a_path_may_push_back_what_another_sent(upper, lower):
    """One token between has two paths on, the other only one, which the first may have taken."""
    top = np.array([[1.0, 1.0], [0, 0]])
    middle = np.array([[1.0, 1.0], [1.0, 0]])[upper][:, lower]
    bottom = np.array([[1.0, 0], [1.0, 0]])
    assert maximum_flow(np.stack([top, middle, bottom]), 0, 0) == 2


@given(seed=st.integers(0, 999))
@settings(max_examples=15, deadline=None)
def test_no_flow_is_larger_than_the_edges_at_either_end_or_less_than_the_rollout(seed):
    draw = np.random.default_rng(seed)
    flow = from_arrays(softmax(draw.normal(0, 2, (3, 2, 5, 5))), list("abcde"))
    found = attention_flow(flow)["attention-flow"]
    edges = 0.5 * flow["weight"].mean(axis=1) + 0.5 * np.eye(5)
    assert (found <= 1 + 1e-6).all()
    assert (found <= edges[0].sum(axis=0) + 1e-6).all()
    # rows add up to one, so that the rollout is a flow that fits into the edges
    assert (found >= rollout(flow, "weight")["rollout:weight"] - 1e-6).all()
    np.testing.assert_allclose(found[0], edges[0], rtol=1e-6)


def test_every_layer_and_pair_equals_the_reference():
    flow = random_flow(layers=3)
    found = attention_flow(flow)["attention-flow"]
    maps = 0.5 * flow["weight"].mean(axis=1, dtype=np.float64) + 0.5 * np.eye(6)
    for layer, query, key in np.ndindex(found.shape):
        expected = reference.edmonds_karp(maps[: layer + 1], query, key)
        assert found[layer, query, key] == pytest.approx(expected, abs=1e-6)


def test_permuting_the_tokens_permutes_the_flow():
    weights = softmax(np.random.default_rng(3).normal(0, 2, (3, 2, 5, 5)))
    order = np.array([3, 0, 4, 2, 1])
    one = attention_flow(from_arrays(weights, list("abcde")))["attention-flow"]
    moved = weights[:, :, order][:, :, :, order]
    two = attention_flow(from_arrays(moved, list("abcde")))["attention-flow"]
    np.testing.assert_allclose(two, one[:, order][:, :, order], rtol=1e-5)


def test_without_identity_the_edges_are_the_weights():
    flow = attention_flow(random_flow(), identity=False)
    np.testing.assert_allclose(flow["attention-flow"][0], flow["weight"][0].mean(axis=0), rtol=1e-5)
    assert "encoder: attention-flow: mean over 4 heads, no identity added" in flow.receipt.notes


def test_only_some_layers_are_those_of_the_whole():
    flow = random_flow(layers=4)
    some = attention_flow(flow, layers=[1, 3])
    assert some.stream().layers == (1, 3)
    np.testing.assert_array_equal(some["weight"], flow["weight"][[1, 3]])
    np.testing.assert_array_equal(
        some["attention-flow"], attention_flow(flow)["attention-flow"][[1, 3]]
    )
    with pytest.raises(UnknownName, match="no layer 7"):
        attention_flow(flow, layers=[7])


def test_cross_attention_and_missing_layers_are_refused():
    with pytest.raises(BadInput, match="Expected self-attention"):
        attention_flow(two_streams(), stream="cross")
    with pytest.raises(BadInput, match="holds the layers 0, 2"):
        attention_flow(two_streams(), stream="encoder")

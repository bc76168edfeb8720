"""Where the content of tokens comes from: own share, largest share, and distance."""

import numpy as np
import pytest
from flows import SENTENCE, flow_of, ladder_flow, random_flow, two_streams
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import normviz
from normviz.errors import BadInput, UnknownName

SIZE = 4
TOKENS = list("abcd")

numbers = st.sampled_from([0.0, 0.5, 1.0, 3.0, -2.0])
maps = arrays(np.float64, (2, 3, SIZE, SIZE), elements=numbers)


def context_of(values, **options):
    """Return the context of two layers of three heads."""
    return normviz.context(flow_of({"weight": values}, TOKENS, **options), "weight")


@given(maps)
def test_shares_are_those_of_slow_loops(values):
    found = context_of(values)
    for layer in range(2):
        own, largest, first, far = [], [], [], np.zeros(2 * SIZE - 1)
        for query in range(SIZE):
            row = [sum(abs(values[layer, h, query, k]) for h in range(3)) for k in range(SIZE)]
            if not sum(row):
                continue
            shares = [value / sum(row) for value in row]
            own.append(shares[query])
            largest.append(max(shares))
            first.append(row[query] == max(row))
            for key, share in enumerate(shares):
                far[key - query + SIZE - 1] += share
        columns = (found.own_mean, found.largest_mean, found.own_first)
        for column, expected in zip(columns, (own, largest, first), strict=True):
            mean = np.mean(expected) if expected else np.nan
            assert column[layer] == pytest.approx(mean, nan_ok=True)
        if own:
            quartiles = np.quantile(own, (0.25, 0.5, 0.75))
            np.testing.assert_allclose(found.own_quartiles[layer], quartiles)
            np.testing.assert_allclose(found.by_offset[layer], far / len(own), atol=1e-9)
        else:
            assert np.isnan(found.by_offset[layer]).all()
            assert np.isnan(found.own_quartiles[layer]).all()


def test_shares_from_all_distances_add_up_to_one():
    found = normviz.context(ladder_flow(), "layer-output")
    np.testing.assert_allclose(found.by_offset.sum(axis=1), 1)
    np.testing.assert_allclose(found.by_distance.sum(axis=1), 1)
    np.testing.assert_allclose(found.by_distance[:, 0], found.own_mean)
    assert found.by_distance.shape == (2, len(SENTENCE))
    assert found.offsets[[0, -1]].tolist() == [-5, 5]
    assert found.chance.sum() == pytest.approx(1)


def test_tokens_that_read_only_themselves_have_an_own_share_of_one():
    found = context_of(np.broadcast_to(np.eye(SIZE), (2, 3, SIZE, SIZE)))
    np.testing.assert_allclose(found.own_mean, 1)
    np.testing.assert_allclose(found.own_first, 1)
    np.testing.assert_allclose(found.largest_mean, 1)
    np.testing.assert_allclose(found.by_distance[:, 1:], 0)


def test_the_token_before_is_at_offset_minus_one():
    found = context_of(np.broadcast_to(np.eye(SIZE, k=-1), (2, 3, SIZE, SIZE)))
    assert found.by_offset[0, found.offsets == -1].item() == 1
    assert found.by_distance[0].tolist() == [0, 1, 0, 0]
    np.testing.assert_allclose(found.own_first, 0)


def test_even_rows_are_chance():
    for stream, values in (("encoder", np.ones((SIZE, SIZE))), ("decoder", np.tri(SIZE))):
        found = context_of(np.broadcast_to(values, (2, 3, SIZE, SIZE)), stream=stream)
        np.testing.assert_allclose(found.by_offset[0], found.chance)
        np.testing.assert_allclose(found.by_distance[0], found.chance_by_distance)


def test_scaling_a_token_changes_nothing():
    flow = ladder_flow()
    rows = np.arange(1, 7)[None, :, None]
    scaled = flow_of({"layer-output": flow["layer-output"] * rows}, SENTENCE)
    one, other = (normviz.context(each, "layer-output") for each in (flow, scaled))
    np.testing.assert_allclose(one.by_offset, other.by_offset, rtol=1e-6)
    np.testing.assert_allclose(one.largest_mean, other.largest_mean, rtol=1e-6)


def test_the_tables_have_a_row_for_each_layer_and_for_each_offset():
    found = normviz.context(random_flow(), "weight")
    table = found.to_dataframe()
    assert list(table.columns) == [
        "layer", "own", "own_lower", "own_median", "own_upper", "largest", "own_first",
    ]  # fmt: skip
    assert table["own"].tolist() == found.own_mean.tolist()
    assert table["own_median"].tolist() == found.own_quartiles[:, 1].tolist()
    far = found.to_dataframe("offset")
    row = far[(far["layer"] == 1) & (far["offset"] == -2)]
    assert row["share"].item() == found.by_offset[1, found.offsets == -2].item()
    assert row["distance"].item() == 2
    with pytest.raises(UnknownName, match="The tables are: layer, offset"):
        found.to_dataframe("token")


def test_the_text_has_a_line_for_each_layer():
    found = normviz.context(random_flow(), "weight")
    lines = str(found).splitlines()
    assert lines[0] == "weight (encoder, 6 tokens), as shares"
    assert lines[2].split()[:2] == ["0", f"{found.own_mean[0]:.0%}"]
    assert len(lines) == 5
    assert repr(found) == str(found)


def test_a_single_token_is_its_own_context():
    found = normviz.context(flow_of({"layer-output": [[[2.0]]]}, ["a"]), "layer-output")
    assert found.by_distance.tolist() == [[1]]
    assert "100%" in str(found)


def test_what_has_no_own_share_is_refused_with_a_sentence():
    with pytest.raises(BadInput, match="tokens of different texts"):
        normviz.context(two_streams(), "weight", stream="cross")
    with pytest.raises(BadInput, match="'value-norm' has no queries"):
        normviz.context(random_flow(), "value-norm")
    with pytest.raises(UnknownName, match="no measure 'wait' here"):
        normviz.context(random_flow(), "wait")

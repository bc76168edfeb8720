"""The catalog: one source for the facts about measures, and types that agree with it."""

from typing import get_args

import numpy as np
import pytest
from flows import signed_flow

from normviz.core.axes import STREAM_KINDS, StreamKind
from normviz.core.catalog import (
    LADDER,
    MEASURES,
    ROLLOUT_OF,
    MeasureId,
    base_of,
    ids_of,
    require_known,
)
from normviz.core.reductions import combine_heads, row_shares
from normviz.core.words import Comparison, MixingId, ZeroingSite
from normviz.derived.agreement import PERFECT
from normviz.derived.faithfulness import EFFECT
from normviz.derived.mixing import BY_WEIGHT
from normviz.errors import UnknownName


def test_the_type_of_measure_ids_has_exactly_the_ids_of_the_catalog():
    assert get_args(MeasureId) == tuple(MEASURES)
    assert all(name == measure.id for name, measure in MEASURES.items())


def test_the_types_of_option_words_have_exactly_the_words_that_are_accepted():
    assert get_args(StreamKind) == STREAM_KINDS
    assert get_args(Comparison) == tuple(PERFECT)
    assert get_args(ZeroingSite) == tuple(EFFECT)
    assert tuple(EFFECT.values()) == ids_of("value-zeroing")
    assert set(get_args(MixingId)) == {*BY_WEIGHT, *LADDER}


def test_measures_name_only_measures_of_the_catalog():
    for measure in MEASURES.values():
        assert measure.base is None or measure.base in MEASURES
        assert measure.coincides_with is None or measure.coincides_with in MEASURES
        assert (measure.over_heads is None) == ("head" not in measure.axes)


def test_derived_measures_have_a_base_and_others_are_their_own():
    assert base_of("rollout:globenc") == "globenc"
    assert base_of("attention-flow") == "weight"
    assert base_of("mixing:layer-output") == "mixing:layer-output"
    assert {base_of(name) for name in ids_of("rollout")} == set(ROLLOUT_OF)
    derived = {name for name in MEASURES if base_of(name) != name}
    assert derived == set(ids_of("rollout", "max-flow"))


@pytest.mark.parametrize("measure", ["weight", "weighted-norm", "value-norm", "effective-weight"])
def test_heads_are_averaged_by_weight_and_summed_by_norm(measure):
    values = signed_flow().encoder.at(measure, 0)
    by_mean = measure in {"weight", "effective-weight"}
    expected = values.mean(axis=0) if by_mean else values.sum(axis=0)
    np.testing.assert_array_equal(combine_heads(values, measure), expected)
    moved = np.moveaxis(values, 0, -1)
    np.testing.assert_allclose(combine_heads(moved, measure, axis=-1), expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_shares_of_a_row_are_parts_of_its_absolute_sum(dtype):
    values = np.array([[1, -3], [0, 0], [2, 2]], dtype=dtype)
    np.testing.assert_array_equal(
        row_shares(values), np.array([[0.25, -0.75], [np.nan, np.nan], [0.5, 0.5]])
    )
    np.testing.assert_array_equal(row_shares(values, keep_empty=True)[1], [0, 0])
    assert row_shares(values).dtype == dtype


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match=r"no color 'grene' here.*names, perhaps 'green'"):
        require_known("grene", ["red", "green"], "color")
    with pytest.raises(UnknownName, match=r"no layer 7 here.*Use one of these names\."):
        require_known(7, [0, 1], "layer")

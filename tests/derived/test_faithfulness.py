"""A measure is faithful where it ranks keys as the effect of zeroing their values does."""

import numpy as np
import pytest
from flows import flow_of

import normviz
from normviz.errors import BadInput, UnknownName


def flow_with(measures):
    return flow_of(measures, list("abcdefgh"[: next(iter(measures.values())).shape[-1]]))


def random_maps(seed, *shape):
    return np.random.default_rng(seed).random(shape).astype(np.float32)


def test_the_effect_is_faithful_to_itself_and_its_opposite_is_not():
    truth = random_maps(0, 2, 6, 6)
    flow = flow_with({"value-zeroing": truth, "attention": truth**3, "layer-output": 2 - truth})
    assert normviz.faithfulness(flow, "value-zeroing").mean == pytest.approx(1)
    assert normviz.faithfulness(flow, "attention").mean == pytest.approx(1)
    assert normviz.faithfulness(flow, "layer-output").mean == pytest.approx(-1)


def test_the_correlation_is_that_of_each_query_averaged():
    truth, measured = random_maps(1, 2, 5, 5), random_maps(2, 2, 5, 5)
    flow = flow_with({"value-zeroing": truth, "attention": measured})
    found = normviz.faithfulness(flow, "attention")
    for layer in range(2):
        orders = [values[layer].argsort(axis=-1).argsort(axis=-1) for values in (measured, truth)]
        rows = [np.corrcoef(orders[0][query], orders[1][query])[0, 1] for query in range(5)]
        np.testing.assert_allclose(found.rank_by_query[layer], rows, atol=1e-12)
        assert found.rank[layer] == pytest.approx(np.mean(rows))
    assert found.mean == pytest.approx(found.rank.mean())


def test_heads_are_averaged_by_absolute_value_first():
    truth, heads = random_maps(3, 1, 4, 4), random_maps(4, 1, 3, 4, 4) - 0.5
    flow = flow_with({"value-zeroing": truth, "weight": np.abs(heads)})
    alone = flow_with({"value-zeroing": truth, "attention": np.abs(heads).mean(axis=1)})
    found, expected = normviz.faithfulness(flow, "weight"), normviz.faithfulness(alone, "attention")
    np.testing.assert_allclose(found.rank_by_query, expected.rank_by_query)


def test_the_layer_and_the_models_output_are_two_questions():
    one, other = random_maps(5, 2, 4, 4), random_maps(6, 2, 4, 4)
    flow = flow_with({"value-zeroing": one, "value-zeroing-output": other, "attention": other})
    assert normviz.faithfulness(flow, "attention", at="output").mean == pytest.approx(1)
    assert normviz.faithfulness(flow, "attention").mean < 0.9


def test_it_is_refused_where_the_effect_was_not_measured():
    flow = flow_with({"attention": random_maps(7, 1, 3, 3)})
    with pytest.raises(BadInput) as caught:
        normviz.faithfulness(flow, "attention", at="output")
    assert "value-zeroing-output" in caught.value.found
    assert '["attention", "value-zeroing-output"]' in caught.value.do
    with pytest.raises(UnknownName, match="'nowhere'"):
        normviz.faithfulness(flow, "attention", at="nowhere")
    with pytest.raises(UnknownName, match="'weight'"):
        normviz.faithfulness(flow, "weight")


def test_the_table_has_a_row_for_each_layer_and_the_text_says_what_was_compared():
    truth = random_maps(8, 3, 4, 4)
    found = normviz.faithfulness(flow_with({"value-zeroing": truth}), "value-zeroing")
    table = found.to_dataframe()
    assert list(table["layer"]) == [0, 1, 2]
    assert set(table["measure"]) == {"value-zeroing"}
    np.testing.assert_allclose(table["rank"], found.rank)
    assert "the layer's output" in str(found)
    assert "mean rank correlation 1.00" in str(found)

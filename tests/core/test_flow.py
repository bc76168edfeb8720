"""Flows: indexing, words, tables, and their description."""

import dataclasses
import subprocess
import sys

import numpy as np
import pytest
from flows import ladder_flow, random_flow, translation_flow

from normviz import Flow, Gradients, Tokens, from_arrays
from normviz.core.keywords import require_keywords
from normviz.errors import UnknownKeyword, UnknownName


def example(layers=2, heads=3, tokens=("the", "cat", "sat", "."), seed=0):
    draw = np.random.default_rng(seed)
    weight = draw.random((layers, heads, len(tokens), len(tokens)))
    weight /= weight.sum(-1, keepdims=True)
    return from_arrays(weight, tokens, value_norms=draw.random((layers, heads, len(tokens))) + 0.1)


def test_measures_are_float32_with_the_axes_of_the_catalog():
    flow = example()
    assert flow["weight"].dtype == np.float32
    assert flow["weight"].shape == (2, 3, 4, 4)
    assert flow["value-norm"].shape == (2, 3, 4)
    assert flow.measures == ("weight", "value-norm", "weighted-norm")


def test_weighted_norm_is_the_product_whole_or_by_layer():
    flow = example()
    product = flow["weight"] * flow["value-norm"][:, :, None, :]
    np.testing.assert_array_equal(flow["weighted-norm"], product)
    np.testing.assert_array_equal(flow.stream().at("weighted-norm", 1), product[1])


def test_stacking_the_layers_makes_no_copies():
    flow = example()
    whole = flow["weight"]
    assert flow["weight"] is whole
    assert np.shares_memory(flow.stream().at("weight", 1), whole)


def test_a_flow_is_frozen():
    flow = example()
    with pytest.raises(ValueError, match="read-only"):
        flow["weight"][0] = 0
    with pytest.raises(ValueError, match="read-only"):
        example().stream().at("weight", 0)[0] = 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        flow.title = "other"
    with pytest.raises(TypeError):
        flow.streams["decoder"] = None


def test_streams_are_named_where_there_are_several():
    flow = translation_flow()
    assert list(flow.streams) == ["encoder", "decoder", "cross"]
    assert flow.cross["weight"].shape == (2, 3, 7, 7)
    assert "weight" in flow
    assert "nothing" not in flow
    with pytest.raises(UnknownName, match="3 streams") as error:
        flow["weight"]
    assert "flow.cross" in error.value.do
    with pytest.raises(UnknownName, match=r"The streams are: encoder\."):
        example().decoder  # noqa: B018


def test_a_notebook_completes_the_measures_that_can_be_indexed():
    assert example()._ipython_key_completions_() == ["weight", "value-norm", "weighted-norm"]
    assert translation_flow()._ipython_key_completions_() == []
    assert translation_flow().cross._ipython_key_completions_() == [
        "weight", "value-norm", "weighted-norm", "attention",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("measure", "advice"),
    [
        ("layer-output", 'Analyze with measures=["layer-output"].'),
        (
            "rollout:weight",
            (
                'Analyze with measures=["rollout:weight"], or compute it: '
                'normviz.rollout(flow, "weight").'
            ),
        ),
        (
            "attention-flow",
            (
                'Analyze with measures=["attention-flow"], or compute it: '
                "normviz.attention_flow(flow)."
            ),
        ),
        ("wieght", "Did you mean 'weight'?"),
        (
            "layer-ouput",
            "Did you mean 'layer-output'? Analyze with measures=[\"layer-output\"].",
        ),
        ("xyz", "normviz.MEASURES lists every measure there is."),
    ],
)
def test_a_measure_that_is_not_held_comes_with_advice(measure, advice):
    with pytest.raises(UnknownName) as error:
        example()[measure]
    assert error.value.found == f"There is no measure {measure!r} here."
    assert error.value.expected == "The measures are: weight, value-norm, weighted-norm."
    assert error.value.do == advice


def test_measures_that_coincide_are_held_under_one_id():
    stream = ladder_flow(prenorm=True).encoder
    assert stream.canonical_id("layer-output") == "feed-forward-residual"
    assert stream.canonical_id("rollout:layer-output") == "rollout:feed-forward-residual"
    assert stream.canonical_id("mixing:layer-output") == "mixing:feed-forward-residual"
    for other in ("weight", "rollout:weight", "attention-flow", "mixing:attention", "nothing"):
        assert stream.canonical_id(other) == other


def test_a_misspelled_option_of_gradients_is_answered_with_the_right_one():
    with pytest.raises(UnknownKeyword, match=r"^Gradients has no keyword 'sample'.*Write samples="):
        Gradients(sample=4)


def test_a_keyword_that_resembles_no_other_is_answered_with_the_list_alone():
    with pytest.raises(UnknownKeyword, match=r"role, normalize.*Use one of these\.$"):
        require_keywords("widget", ["side"], ["view", "role", "normalize"])


def test_misspelled_keywords_are_answered_with_the_right_one():
    with pytest.raises(UnknownKeyword, match=r"no keyword 'laier'.*Write layer=… instead"):
        random_flow().to_dataframe("weight", laier=1)
    with pytest.raises(UnknownKeyword, match="no keyword 'sorce'"):
        translation_flow().with_gold([(0, 0)], sorce="le chat")


def test_words_add_up_over_keys_and_average_over_queries():
    tokens = Tokens(
        ("play", "ing", "cat"), (1, 2, 3), (False,) * 3, (0, 0, 1), ("other",) * 3,
        ("playing", "cat"),
    )  # fmt: skip
    weight = np.array([[[[0.2, 0.3, 0.5], [0.4, 0.4, 0.2], [0.1, 0.1, 0.8]]]])
    norms = np.array([[[2.0, 4.0, 1.0]]])
    flow = from_arrays(weight, tokens, value_norms=norms).words()
    assert flow.tokens.pieces == ("playing", "cat")
    np.testing.assert_allclose(flow["weight"][0, 0], [[0.65, 0.35], [0.2, 0.8]], rtol=1e-6)
    np.testing.assert_allclose(flow["value-norm"][0, 0], [3, 1])
    parts = [[0.2 * 2 + 0.3 * 4, 0.5], [0.4 * 2 + 0.4 * 4, 0.2]]
    np.testing.assert_allclose(flow["weighted-norm"][0, 0, 0], np.mean(parts, axis=0), rtol=1e-6)
    np.testing.assert_allclose(flow["weight"].sum(-1), 1, rtol=1e-6)


def test_shares_by_category_add_up_to_one():
    flow = example(tokens=("a", ".", "b", ","))
    for measure in ("weight", "weighted-norm"):
        shares = flow.stream().shares(measure)
        assert set(shares) == {"other", "punctuation"}
        np.testing.assert_allclose(sum(shares.values()), 1, rtol=1e-6)
    weight = flow["weight"][..., [1, 3]].sum(-1).mean((1, 2))
    np.testing.assert_allclose(flow.stream().shares("weight")["punctuation"], weight, rtol=1e-5)


def test_a_dataframe_is_tidy_with_axis_words_as_columns():
    flow = example()
    table = flow.to_dataframe("weighted-norm")
    columns = ["layer", "head", "query", "key", "query_piece", "key_piece", "value"]
    assert list(table.columns) == columns
    assert len(table) == flow["weighted-norm"].size
    row = table[
        (table.layer == 1) & (table["head"] == 2) & (table["query"] == 0) & (table.key == 3)
    ]
    assert row.value.item() == flow["weighted-norm"][1, 2, 0, 3]
    assert (row.query_piece.item(), row.key_piece.item()) == ("the", ".")
    one = flow.to_dataframe("value-norm", layer=1, head=2)
    assert list(one.columns) == ["layer", "head", "key", "key_piece", "value"]
    np.testing.assert_array_equal(one.value, flow["value-norm"][1, 2])
    with pytest.raises(UnknownName, match="layer 7"):
        flow.to_dataframe("weight", layer=7)
    with pytest.raises(UnknownName, match="head 7"):
        flow.to_dataframe("weight", head=7)


def test_the_repr_of_a_flow_says_what_it_holds_and_whether_it_adds_up():
    assert "2 layers × 3 heads, 4 queries × 4 keys" in repr(example())
    assert "✓" in repr(example())
    flow = example()
    wrong = dataclasses.replace(flow.receipt.checks[0], greatest_row=1.5)
    receipt = dataclasses.replace(flow.receipt, checks=(wrong,))
    bad = Flow(flow.streams, receipt)
    assert "✗ encoder layer 0: the weights of a query add up to" in repr(bad)


@pytest.mark.parametrize(
    ("weight", "options", "name"),
    [
        (np.tril(np.ones((3, 3))), {}, "decoder"),
        (np.ones((3, 3)), {}, "encoder"),
        (np.ones((2, 3)), {"target_tokens": ["x", "y"]}, "cross"),
        (np.ones((3, 3)), {"stream": "cross"}, "cross"),
    ],
)
def test_the_stream_of_arrays_is_inferred(weight, options, name):
    weight = (weight / weight.sum(-1, keepdims=True))[None, None]
    assert list(from_arrays(weight, ["a", "b", "c"], **options).streams) == [name]


def run(code):
    """Run Python in a process of its own, where torch and transformers cannot be imported."""
    block = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition('.')[0] in {'torch', 'transformers'}:
            raise ModuleNotFoundError(f'No module named {name!r}', name=name)
sys.meta_path.insert(0, Missing())
"""
    return subprocess.run(
        [sys.executable, "-c", block + code], capture_output=True, text=True, check=False
    )


def test_a_flow_opens_without_torch_or_transformers(tmp_path):
    path = example().save(tmp_path / "flow.normviz")
    done = run(f"import normviz; print(normviz.load({str(path)!r})['weighted-norm'].shape)")
    assert done.stdout.strip() == "(2, 3, 4, 4)", done.stderr


def test_without_torch_an_analysis_says_what_to_install():
    done = run("import normviz; normviz.analyze('demo', 'A cat.')")
    assert "MissingPackage: The package torch is not installed." in done.stderr
    assert 'pip install "normviz[models]"' in done.stderr


def test_importing_and_loading_do_not_import_torch(tmp_path):
    path = example().save(tmp_path / "flow.normviz")
    code = f"import sys, normviz; normviz.load({str(path)!r}); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"

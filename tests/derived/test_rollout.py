"""A rollout is the product of the layers, and its note says how it was computed."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import reference
from flows import SENTENCE, random_flow, softmax, two_streams
from hypothesis import given, settings
from hypothesis import strategies as st

import normviz
from normviz import Tokens, from_arrays, rollout
from normviz.core.catalog import MEASURES, ids_of
from normviz.core.flow import Flow
from normviz.core.stream import Layers
from normviz.derived.complete import add_derived
from normviz.errors import BadInput, UnknownName

TOKENS = len(SENTENCE)


def flow_with(measure, layers=3, tokens=TOKENS, seed=0, aliases=None):
    """Return a random flow that also holds a measure without heads."""
    draw = np.random.default_rng(seed)
    flow = random_flow([f"t{n}" for n in range(tokens)], layers=layers)
    maps = draw.gamma(1, 1, (layers, tokens, tokens)).astype(np.float32)
    stream = flow.stream()
    stored = {**stream.stored, measure: Layers(maps)}
    return replace(flow, streams={"encoder": replace(stream, stored=stored, aliases=aliases or {})})


def normalize_rows(maps):
    return maps / maps.sum(axis=-1, keepdims=True)


def add_half_identity(maps):
    return 0.5 * maps + 0.5 * np.eye(maps.shape[-1])


@given(layers=st.integers(1, 5), tokens=st.integers(1, 7), seed=st.integers(0, 999))
@settings(max_examples=40, deadline=None)
def test_a_rollout_is_the_product_of_the_layers_by_loops(layers, tokens, seed):
    flow = flow_with("layer-output", layers, tokens, seed)
    expected = reference.rollout(normalize_rows(flow["layer-output"].astype(np.float64)))
    np.testing.assert_allclose(
        rollout(flow, "layer-output")["rollout:layer-output"], expected, rtol=1e-5
    )


@given(
    seed=st.integers(0, 999), measure=st.sampled_from(["weight", "weighted-norm", "layer-output"])
)
@settings(max_examples=30, deadline=None)
def test_rows_of_a_normalized_rollout_add_up_to_one(seed, measure):
    flow = flow_with("layer-output", seed=seed)
    for identity in (None, True, False):
        rolled = rollout(flow, measure, identity=identity)[f"rollout:{measure}"]
        np.testing.assert_allclose(rolled.sum(axis=-1), 1, rtol=1e-5)


@given(seed=st.integers(0, 999))
@settings(max_examples=30, deadline=None)
def test_permuting_the_tokens_permutes_the_rollout(seed):
    flow = flow_with("layer-output", seed=seed)
    order = np.random.default_rng(seed).permutation(TOKENS)
    shuffled = Layers(np.ascontiguousarray(flow["layer-output"][:, order][:, :, order]))
    stream = flow.stream()
    other = replace(
        flow,
        streams={"encoder": replace(stream, stored={**stream.stored, "layer-output": shuffled})},
    )
    one, two = (rollout(f, "layer-output")["rollout:layer-output"] for f in (flow, other))
    np.testing.assert_allclose(two, one[:, order][:, :, order], rtol=1e-5)


def test_layers_that_only_copy_leave_it_unchanged():
    copies = np.broadcast_to(np.eye(4, dtype=np.float32), (2, 3, 4, 4))
    first = softmax(np.random.default_rng(0).normal(0, 2, (1, 3, 4, 4)))
    flow = from_arrays(np.concatenate([first, copies]), list("abcd"))
    for identity in (True, False):
        rolled = rollout(flow, "weight", identity=identity)["rollout:weight"]
        np.testing.assert_allclose(rolled[1], rolled[0], rtol=1e-6)
        np.testing.assert_allclose(rolled[2], rolled[0], rtol=1e-6)
    only = from_arrays(copies, list("abcd"))
    np.testing.assert_array_equal(rollout(only, "weight")["rollout:weight"][-1], np.eye(4))


def test_a_chain_of_single_weights_leads_back_to_its_first_token():
    """Each query reads the token before it: after three layers it holds the third before."""
    back = np.roll(np.eye(5, dtype=np.float32), -1, axis=1)[None, None].repeat(3, axis=0)
    rolled = rollout(from_arrays(back, list("abcde")), "weight", identity=False)["rollout:weight"]
    assert back[0, 0, 3, 2] == 1
    assert rolled[2, 3, 0] == 1


def test_heads_are_averaged_by_weight_and_added_up_by_norm():
    flow = random_flow()
    by_weight = reference.rollout(add_half_identity(flow["weight"].mean(axis=1, dtype=np.float64)))
    np.testing.assert_allclose(rollout(flow, "weight")["rollout:weight"], by_weight, rtol=1e-5)
    added = flow["weighted-norm"].sum(axis=1, dtype=np.float64)
    raw = rollout(flow, "weighted-norm", rows="raw", identity=False)["rollout:weighted-norm"]
    np.testing.assert_allclose(raw, reference.rollout(added), rtol=1e-5)
    mixed = rollout(flow, "weighted-norm")["rollout:weighted-norm"]
    np.testing.assert_allclose(
        mixed, reference.rollout(add_half_identity(normalize_rows(added))), rtol=1e-5
    )


def test_raw_rows_scale_with_the_layers_and_normalized_rows_do_not():
    flow = flow_with("layer-output")
    stream = flow.stream()
    doubled = {**stream.stored, "layer-output": Layers(2 * flow["layer-output"])}
    other = replace(flow, streams={"encoder": replace(stream, stored=doubled)})
    raw = [rollout(f, "layer-output", rows="raw")["rollout:layer-output"] for f in (flow, other)]
    for layer in range(3):
        np.testing.assert_allclose(raw[1][layer], 2 ** (layer + 1) * raw[0][layer], rtol=1e-5)
    same = [rollout(f, "layer-output")["rollout:layer-output"] for f in (flow, other)]
    np.testing.assert_allclose(same[1], same[0], rtol=1e-5)


def test_an_empty_row_stays_empty():
    flow = flow_with("layer-output")
    maps = flow["layer-output"].copy()
    maps[1, 2] = 0
    stream = flow.stream()
    stored = {**stream.stored, "layer-output": Layers(maps)}
    empty = replace(flow, streams={"encoder": replace(stream, stored=stored)})
    rolled = rollout(empty, "layer-output")["rollout:layer-output"]
    assert (rolled[1, 2] == 0).all()
    assert np.isfinite(rolled).all()


@pytest.mark.parametrize("name", ids_of("rollout"))
def test_an_identity_models_the_residual_where_a_measure_has_none(name):
    measure = MEASURES[name].base
    without = measure in {"weight", "weighted-norm", "attention", "feed-forward"}
    flow = random_flow() if "weight" in measure else flow_with(measure)
    plain, with_identity = (
        rollout(flow, measure, identity=identity)[name] for identity in (False, True)
    )
    default = rollout(flow, measure)[name]
    assert not np.allclose(plain, with_identity)
    np.testing.assert_array_equal(default, with_identity if without else plain)


@pytest.mark.parametrize("size", [1e12, 1e-12])
def test_raw_products_that_leave_single_precision_are_scaled_and_noted(size):
    plain = flow_with("layer-output", layers=6)
    stream = plain.stream()
    values = Layers((size * plain["layer-output"]).astype(np.float32))
    flow = replace(
        plain,
        streams={"encoder": replace(stream, stored={**stream.stored, "layer-output": values})},
    )
    rolled = rollout(flow, "layer-output", rows="raw")
    expected = reference.rollout(plain["layer-output"].astype(np.float64))
    found = rolled["rollout:layer-output"]
    assert np.isfinite(found).all()
    np.testing.assert_allclose(normalize_rows(found), normalize_rows(expected), rtol=1e-4)
    assert any("from layer 2 on divided by a constant" in note for note in rolled.receipt.notes)


def test_the_receipt_says_how_it_was_computed():
    flow = flow_with("layer-output")
    notes = lambda new: [n for n in new.receipt.notes if "rollout" in n]  # noqa: E731
    assert notes(rollout(flow, "layer-output")) == [
        "encoder: rollout:layer-output: rows normalized, no identity added"
    ]
    again = rollout(rollout(flow, "layer-output"), "layer-output", rows="raw", identity=True)
    assert notes(again) == [
        "encoder: rollout:layer-output: rows left as they are, half identity added"
    ]
    (note,) = notes(rollout(flow, "weight"))
    assert (
        note == "encoder: rollout:weight: mean over 4 heads, rows normalized, half identity added"
    )
    assert "rollout:layer-output" not in flow  # the first flow is unchanged


def test_the_attention_block_alone_comes_with_a_warning_in_post_norm_models():
    flow = rollout(flow_with("attention-block"), "attention-block")
    assert any("-.21, -.06 and .08" in note and "GlobEnc" in note for note in flow.receipt.notes)
    (warning,) = [note for note in flow.receipt.notes if "GlobEnc" in note]
    assert 'with rows left as they are (rows="raw")' in warning
    assert warning.endswith("; rows are normalized here, for which the paper has no number")
    raw = rollout(flow_with("attention-block"), "attention-block", rows="raw")
    (warning,) = [note for note in raw.receipt.notes if "GlobEnc" in note]
    assert warning.endswith("Table 1 of Modarressi et al. 2022 (GlobEnc)")
    for measure in ("attention-residual", "layer-output"):
        assert "GlobEnc" not in str(rollout(flow_with(measure), measure).receipt)
    aliases = {"attention-block": "attention-residual"}
    pre_norm = rollout(flow_with("attention-residual", aliases=aliases), "attention-block")
    assert "GlobEnc" not in str(pre_norm.receipt)


def test_globenc_is_rolled_out_as_its_authors_do_without_normalizing_rows():
    flow = flow_with("globenc")
    values = flow["globenc"].astype(np.float64)
    found = rollout(flow, "globenc")
    np.testing.assert_allclose(found["rollout:globenc"], reference.rollout(values), rtol=1e-5)
    assert found.receipt.notes[-1] == (
        "encoder: rollout:globenc: rows left as they are, no identity added"
    )
    derived = add_derived(flow, ["rollout:globenc"], None, insist=True)
    np.testing.assert_array_equal(derived["rollout:globenc"], found["rollout:globenc"])
    normalized = rollout(flow, "globenc", rows="normalized")
    expected = reference.rollout(normalize_rows(values))
    np.testing.assert_allclose(normalized["rollout:globenc"], expected, rtol=1e-5)
    assert "rows normalized, no identity added" in normalized.receipt.notes[-1]


def test_globenc_of_a_pre_norm_model_is_the_normalized_rollout_of_the_rung_it_equals():
    flow = flow_with("attention-residual", aliases={"globenc": "attention-residual"})
    found = rollout(flow, "globenc")["rollout:globenc"]
    np.testing.assert_allclose(found.sum(axis=-1), 1, rtol=1e-5)


def test_rungs_that_coincide_have_one_rollout_under_both_ids():
    flow = flow_with("feed-forward-residual", aliases={"layer-output": "feed-forward-residual"})
    for measure in ("layer-output", "feed-forward-residual"):
        rolled = rollout(flow, measure)
        assert rolled.stream().measures[-1] == "rollout:feed-forward-residual"
        assert "rollout:layer-output" in rolled
        np.testing.assert_array_equal(
            rolled["rollout:layer-output"], rolled["rollout:feed-forward-residual"]
        )


def test_a_cross_attention_is_refused():
    with pytest.raises(BadInput, match=r"leads from the encoder's tokens.*Expected self-attention"):
        rollout(two_streams(), "weight", stream="cross")
    alone = from_arrays([[[[0.5, 0.5]]]], ["a", "b"], target_tokens=["c"])
    with pytest.raises(BadInput, match="cross stream"):
        rollout(alone, "weight")


def test_missing_layers_are_refused():
    with pytest.raises(BadInput, match=r"holds the layers 0, 2\..*Expected every layer from 0 on"):
        rollout(two_streams(), "weight", stream="encoder")


def test_what_cannot_be_rolled_out_is_refused():
    flow = random_flow()
    with pytest.raises(
        UnknownName, match=r"no rollout of 'value-norm'.*There are rollouts of: weight, "
    ):
        rollout(flow, "value-norm")
    with pytest.raises(UnknownName, match=r"no measure 'layer-output' here.*weight, value-norm"):
        rollout(flow, "layer-output")
    with pytest.raises(UnknownName, match="The row scales are: normalized, raw"):
        rollout(flow, "weight", rows="softmax")
    with pytest.raises(UnknownName, match=r"2 streams .*stream="):
        rollout(two_streams(), "weight")


def test_a_rollout_survives_a_file_a_table_and_a_page(tmp_path):
    flow = rollout(rollout(flow_with("layer-output"), "layer-output"), "weight")
    again = normviz.load(flow.save(tmp_path / "x.normviz"))
    for name in ("rollout:layer-output", "rollout:weight"):
        np.testing.assert_array_equal(again[name], flow[name])
    assert again.receipt == flow.receipt
    table = again.to_dataframe("rollout:layer-output", layer=2)
    np.testing.assert_array_equal(table["value"], flow["rollout:layer-output"][2].ravel())
    assert "rollout:layer-output" in again.to_html(tmp_path / "x.html").read_text()
    assert again.words()["rollout:layer-output"].shape == (3, TOKENS, TOKENS)


def test_a_rollout_needs_no_torch():
    code = """
import sys, normviz
flow = normviz.from_arrays([[[[0.25, 0.75], [0.5, 0.5]]]] * 2, ["a", "b"])
sys.modules["tqdm"] = None  # it comes with transformers
assert normviz.attention_flow(normviz.rollout(flow, "weight"))["attention-flow"].shape == (2, 2, 2)
assert "torch" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_flow_with_a_rollout_is_still_a_flow():
    flow = rollout(random_flow(), "weight")
    assert isinstance(flow, Flow)
    assert isinstance(flow.tokens, Tokens)
    with pytest.raises(ValueError, match="read-only"):
        flow["rollout:weight"][0] = 0

"""Effective attention: α without what cannot reach the head's output (Brunner et al. 2020)."""

from dataclasses import replace
from functools import cache

import architectures
import numpy as np
import pytest
import reference
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from normviz import load
from normviz.errors import NotFinite, UnknownName, UnsupportedModel
from normviz.model.analyze import analyze, analyze_many
from normviz.model.capture import capture
from normviz.model.inputs import from_inputs
from normviz.model.measures import effective
from normviz.model.measures.effective import effective_attention
from normviz.model.measures.reducer import AttentionReducer

LONG = (
    "The animal did not cross the street because it was too tired. It stayed where it was, and "
    "looked unbelievably sad. A boy who had seen it all from his window came down with some water."
)
SHORT = "The animal was tired."
SIZES = st.tuples(*(st.integers(1, 3) for _ in range(2)), *(st.integers(1, 9) for _ in range(4)))


def example(sizes, seed):
    """Random weights, values and an output map: batch head query key dim model."""
    batch, heads, queries, keys, dim, model = sizes
    draw = torch.Generator().manual_seed(seed)
    numbers = {"generator": draw, "dtype": torch.float64}
    weight = torch.randn(batch, heads, queries, keys, **numbers).softmax(-1)
    value = torch.randn(batch, heads, keys, dim, **numbers)
    return weight, value, torch.randn(heads, dim, model, **numbers)


def everything(weight):
    return torch.ones_like(weight[:, :1], dtype=torch.bool)


def looking_back(weight):
    """A causal mask, and the weights under it."""
    visible = everything(weight).tril(weight.shape[-1] - weight.shape[-2])
    visible[..., 0] = True
    masked = weight * visible
    return masked / masked.sum(dim=-1, keepdim=True), visible


def outputs(weight, value, out):
    return weight @ value @ out


@settings(deadline=None, max_examples=60)
@given(SIZES, st.integers(0, 10**6), st.booleans(), st.booleans())
def test_it_equals_the_projection_written_out_row_by_row(sizes, seed, causal, stochastic):
    weight, value, out = example(sizes, seed)
    weight, visible = looking_back(weight) if causal else (weight, everything(weight))
    found = effective_attention(weight, value, out, visible, stochastic=stochastic)
    for text in range(len(weight)):
        wanted = reference.effective(
            weight[text], value[text], out, visible[text, 0], stochastic=stochastic
        )
        np.testing.assert_allclose(found.weight[text], wanted, atol=1e-8)


@settings(deadline=None, max_examples=60)
@given(SIZES, st.integers(0, 10**6), st.booleans(), st.booleans())
def test_the_heads_output_stays_and_removing_twice_removes_no_more(sizes, seed, causal, both):
    weight, value, out = example(sizes, seed)
    weight, visible = looking_back(weight) if causal else (weight, everything(weight))
    once = effective_attention(weight, value, out, visible, stochastic=both).weight
    before, after = outputs(weight, value, out), outputs(once, value, out)
    torch.testing.assert_close(after, before, rtol=0, atol=1e-10 * float(before.abs().max()))
    again = effective_attention(once, value, out, visible, stochastic=both).weight
    torch.testing.assert_close(again, once, rtol=0, atol=1e-9)
    assert (once[~visible.expand(once.shape)] == 0).all()
    if both:
        torch.testing.assert_close(once.sum(dim=-1), weight.sum(dim=-1), rtol=0, atol=1e-10)


def test_no_row_with_the_same_output_is_shorter():
    weight, value, out = example((1, 2, 5, 12, 4, 6), 0)
    found = effective_attention(weight, value, out, everything(weight)).weight
    moved = (value @ out)[0]
    for head in range(2):
        nothing = torch.linalg.svd(moved[head]).U[:, 4:]  # what reaches no output
        for seed in range(20):
            step = torch.randn(5, 8, generator=torch.Generator().manual_seed(seed)).double()
            other = found[0, head] + step @ nothing.T
            torch.testing.assert_close(other @ moved[head], found[0, head] @ moved[head])
            assert (other.norm(dim=-1) > found[0, head].norm(dim=-1)).all()


def test_with_no_more_keys_than_dimensions_it_is_alpha_to_the_last_bit():
    weight, value, out = example((2, 3, 7, 7, 8, 24), 0)
    for some, visible in ((weight, everything(weight)), looking_back(weight)):
        found = effective_attention(some, value, out, visible)
        assert torch.equal(found.weight, some)
        assert (found.rank == 7).all()
        assert (found.null_space == 0).all()


def test_rank_and_null_space_are_those_of_the_moved_vectors():
    weight, value, out = example((1, 2, 20, 20, 6, 12), 0)
    out[1, 3:] = out[1, :3]  # the second head's output map has rank three only
    found = effective_attention(weight, value, out, everything(weight))
    assert found.rank.tolist() == [[6, 3]]
    assert found.null_space.tolist() == [[14, 17]]
    torch.testing.assert_close(outputs(found.weight, value, out), outputs(weight, value, out))
    summed = effective_attention(weight, value, out, everything(weight), stochastic=True)
    assert summed.null_space.tolist() == [[13, 16]]


def test_keys_with_the_same_value_share_their_weight_evenly():
    """Tokens that occur twice have one value in the first layer, and cannot be told apart."""
    weight, value, out = example((1, 1, 4, 4, 8, 8), 0)
    value[:, :, 2] = value[:, :, 0]
    for some, visible in ((weight, everything(weight)), looking_back(weight)):
        found = effective_attention(some, value, out, visible)
        assert found.null_space.item() == 1
        last = found.weight[0, 0, -1]
        torch.testing.assert_close(last[0], some[0, 0, -1, [0, 2]].mean())
        torch.testing.assert_close(last[2], last[0])
        torch.testing.assert_close(last[1], some[0, 0, -1, 1])


@pytest.mark.parametrize("seed", range(5))
def test_a_key_that_nobody_reads_stays_at_zero_and_padding_is_not_counted(seed):
    weight, value, out = example((1, 2, 7, 9, 3, 4), seed)
    visible = everything(weight)
    visible[..., 2] = False
    visible[..., -1, :] = True  # a padding row, which a mask may let read anything
    queries = torch.arange(7)[None] < 6
    found = effective_attention(weight * visible, value, out, visible, queries)
    assert not found.by_row
    assert (found.weight[:, :, :6, 2] == 0).all()
    assert (found.null_space == 8 - 3).all()


def test_rows_that_are_worked_out_few_at_a_time_are_the_same(monkeypatch):
    weight, value, out = example((2, 2, 9, 9, 3, 4), 0)
    weight, visible = looking_back(weight)
    whole = effective_attention(weight, value, out, visible).weight
    monkeypatch.setattr(effective, "CHUNK", 1)
    torch.testing.assert_close(effective_attention(weight, value, out, visible).weight, whole)


def capture_attentions(model, inputs, **options):
    """Every attention of one pass without a cache, as `analyze` runs it."""
    prepared = from_inputs(model, None, inputs)
    return capture(model, prepared.for_forward(), lambda captured: captured, **options)


SINGLE = {"mixtral", "qwen2_moe", "gpt_oss"}
"""Their experts cannot be run in double precision."""


@cache
def attentions_of(name, tokens=24):
    """Every attention of a tiny model in double precision, with the biases of its values."""
    architecture = architectures.ALL[name]
    inputs = {
        k: v.double() if v.is_floating_point() else v for k, v in architecture.inputs().items()
    }
    for side in ("input_ids", "decoder_input_ids"):
        if side in inputs:
            inputs[side] = torch.arange(5, 5 + tokens)[None]
    model = architecture.build()
    return capture_attentions(model if name in SINGLE else model.double(), inputs, value_bias=True)


@pytest.mark.parametrize("name", architectures.ALL)
@pytest.mark.parametrize("form", effective.FORMS)
def test_every_architecture_keeps_its_heads_outputs(name, form):
    """More tokens than a head has dimensions; masks, windows, groups and streams as they come."""
    reducer = AttentionReducer(["effective-weight"], effective_form=form)
    exact = 1e-5 if name in SINGLE else 1e-10
    for attention in attentions_of(name):
        found = reducer(attention).numbers
        less = found["effective-weight"]
        value = attention.value
        value = value - attention.value_bias if form == "paper" else value
        before = outputs(attention.weight, value, attention.projection.weight)
        after = outputs(less, value, attention.projection.weight)
        torch.testing.assert_close(after, before, rtol=0, atol=exact * float(before.abs().max()))
        assert (
            less[(attention.weight == 0).all(dim=1, keepdim=True).expand(less.shape)] == 0
        ).all()
        if form == "stochastic":
            torch.testing.assert_close(less.sum(-1), attention.weight.sum(-1))
        read = int((attention.weight != 0).any(dim=1).sum(dim=-1).max())
        spare = read - value.shape[-1] - (form == "stochastic")
        assert (found["null-space:effective-weight"] >= max(0, spare)).all()


@pytest.mark.parametrize("name", architectures.ALL)
def test_the_bias_of_the_values_is_what_the_model_adds_to_them(name):
    """Removing every bias of the first layer's projections changes its values by their biases."""
    architecture = architectures.ALL[name]
    model, inputs = architecture.build(), architecture.inputs()
    first = capture_attentions(model, inputs, value_bias=True)[0]
    here = model.get_submodule(first.name.removesuffix(".output"))
    linear = [module for module in here.modules() if hasattr(module, "bias")]
    with torch.no_grad():
        for module in linear:
            if isinstance(module.bias, torch.Tensor) and module.weight.dim() == 2:
                module.bias.zero_()
    without = capture_attentions(model, inputs)[0].value
    torch.testing.assert_close(first.value - first.value_bias, without, rtol=0, atol=1e-5)


@pytest.mark.parametrize("form", effective.FORMS)
@pytest.mark.parametrize("name", ["bert", "gpt2", "gemma2", "gptj"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_changes_nothing(name, form, side):
    model = architectures.ALL[name].build()
    ids, pads = torch.arange(5, 25)[None], torch.zeros(1, 5, dtype=torch.long)
    parts = [pads, ids] if side == "left" else [ids, pads]
    mask = torch.cat([torch.ones_like(part) * (part is ids) for part in parts], dim=1)
    padded = {
        "input_ids": torch.cat(parts, dim=1),
        "attention_mask": mask,
        "position_ids": (mask.cumsum(-1) - 1).clamp(min=0),
    }
    asked = {"measures": ["weight", "effective-weight"], "effective_form": form}
    alone, flow = (analyze(model, inputs=i, **asked) for i in ({"input_ids": ids}, padded))
    np.testing.assert_allclose(flow["effective-weight"], alone["effective-weight"], atol=2e-4)
    np.testing.assert_array_equal(flow.null_space(), alone.null_space())
    assert alone.null_space().any()


def test_a_batch_gives_each_text_what_it_gets_alone(demo):
    texts = [LONG, SHORT, LONG.replace("animal", "dog")[:150]]
    flows = analyze_many(
        demo[0], texts, tokenizer=demo[1], measures=["effective-weight"], layers=[1, 4]
    )
    for text, flow in zip(texts, flows, strict=True):
        alone = analyze(
            demo[0], text, tokenizer=demo[1], measures=["effective-weight"], layers=[1, 4]
        )
        np.testing.assert_allclose(flow["effective-weight"], alone["effective-weight"], atol=2e-4)
        np.testing.assert_array_equal(flow.null_space(), alone.null_space())


def test_a_trained_model_has_negative_entries_and_the_reference_agrees(demo):
    model, tokenizer = demo
    flow = analyze(model, LONG, tokenizer=tokenizer, measures=["weight", "effective-weight"])
    count = len(flow.tokens)
    assert count > 32  # more than a head has dimensions
    assert flow["effective-weight"].min() < -0.05
    assert (flow.null_space() == count - 32).all()
    assert (flow.stream().statistic("rank", "effective-weight") == 32).all()
    layers = capture(model, dict(tokenizer(LONG, return_tensors="pt")), lambda captured: captured)
    seen = np.ones((count, count), dtype=bool)
    for number in (0, 5):
        layer = layers[number]
        wanted = reference.effective(layer.weight[0], layer.value[0], layer.projection.weight, seen)
        np.testing.assert_allclose(flow["effective-weight"][number], wanted, atol=1e-5)


def test_the_forms_differ_in_what_they_keep(demo):
    model, tokenizer = demo
    found = {
        form: analyze(
            model,
            LONG,
            tokenizer=tokenizer,
            measures=["effective-weight"],
            effective_form=form,
            layers=[2],
        )
        for form in effective.FORMS
    }
    sums = {form: flow["effective-weight"].sum(axis=-1) for form, flow in found.items()}
    np.testing.assert_allclose(sums["stochastic"], 1, atol=1e-5)
    assert np.abs(sums["bias"] - 1).max() > 0.05
    assert (
        np.abs(found["bias"]["effective-weight"] - found["paper"]["effective-weight"]).max() > 0.01
    )
    for form, flow in found.items():
        (note,) = [note for note in flow.receipt.notes if "form" in note]
        assert note == f"encoder: effective-weight, form {form!r}: {effective.FORMS[form]}"


def test_the_receipt_says_so_where_there_is_nothing_to_remove(demo):
    model, tokenizer = demo
    flow = analyze(model, SHORT, tokenizer=tokenizer, measures=["weight", "effective-weight"])
    np.testing.assert_array_equal(flow["effective-weight"], flow["weight"])
    (note,) = [note for note in flow.receipt.notes if "nothing to remove" in note]
    assert f"keys {len(flow.tokens)}, dimensions of a head 32" in note
    longer = analyze(model, LONG, tokenizer=tokenizer, measures=["effective-weight"], layers=[0])
    assert not any("nothing to remove" in note for note in longer.receipt.notes)


def test_a_causal_model_has_a_null_space_for_each_row_and_the_receipt_says_so(tiny):
    flow = analyze(
        tiny("gpt2"), inputs={"input_ids": torch.arange(5, 25)[None]}, measures="effective-weight"
    )
    assert (np.triu(flow["effective-weight"], 1) == 0).all()
    assert any("this extends Brunner et al." in note for note in flow.receipt.notes)
    both = analyze(
        tiny("bert"), inputs={"input_ids": torch.arange(5, 25)[None]}, measures="effective-weight"
    )
    assert not any("this extends Brunner et al." in note for note in both.receipt.notes)


def test_some_heads_are_what_they_are_among_all(tiny):
    asked = {"inputs": {"input_ids": torch.arange(5, 25)[None]}, "measures": "effective-weight"}
    every, some = analyze(tiny("llama"), **asked), analyze(tiny("llama"), **asked, heads=[1, 3])
    np.testing.assert_allclose(
        some["effective-weight"], every["effective-weight"][:, [1, 3]], atol=1e-6
    )


def test_the_statistics_are_saved_with_the_flow(tiny, tmp_path):
    flow = analyze(
        tiny("t5"), inputs=architectures.pair_inputs(), measures=["rank:effective-weight"]
    )
    again = load(flow.save(tmp_path / "flow.normviz"))
    for stream in ("encoder", "decoder", "cross"):
        held = again.streams[stream]
        assert held.measures == ("effective-weight",)
        np.testing.assert_array_equal(held.words().statistic("null-space", "effective-weight"),
                                      flow.null_space(stream=stream))  # fmt: skip
        assert held.select_layers((1,)).statistic("rank", "effective-weight").shape == (1, 4)


def test_it_is_not_among_the_usual_measures_but_among_all(tiny):
    asked = {"inputs": architectures.text_inputs()}
    assert "effective-weight" not in analyze(tiny("bert"), **asked)
    assert "effective-weight" in analyze(tiny("bert"), **asked, measures="all")


def test_a_form_that_does_not_exist_is_refused_with_those_that_do(tiny):
    with pytest.raises(UnknownName, match="no effective form 'row'") as error:
        analyze(tiny("bert"), inputs=architectures.text_inputs(), effective_form="row")
    assert "bias, paper, stochastic" in error.value.expected


def test_values_that_are_changed_after_their_projection_have_no_bias_to_leave_out():
    """This model clips its values in place."""
    clipping = replace(architectures.ALL["olmo"], extra={"clip_qkv": 0.1})
    asked = {"inputs": architectures.text_inputs(), "measures": "effective-weight"}
    with pytest.raises(UnsupportedModel, match="do not come straight from a linear") as error:
        analyze(clipping.build(), **asked, effective_form="paper")
    assert 'effective_form="bias"' in error.value.do
    assert "effective-weight" in analyze(clipping.build(), **asked)


def test_numbers_that_are_not_finite_are_refused_by_name(tiny):
    model = tiny("bert")
    with torch.no_grad():
        model.encoder.layer[0].attention.self.value.bias[0] = torch.nan
    with pytest.raises(NotFinite, match="encoder layer 0"):
        analyze(model, inputs=architectures.text_inputs(), measures="effective-weight")


@pytest.mark.parametrize("name", ["bert", "gpt2", "phi3", "bloom", "deberta-v2", "falcon-grouped"])
def test_beside_the_ladder_it_is_what_it_is_alone(name, tiny):
    """On tape the values are followed through tensors that remember their tokens."""
    asked = {"inputs": {"input_ids": torch.arange(5, 25)[None]}, "effective_form": "paper"}
    alone = analyze(tiny(name), **asked, measures="effective-weight")
    beside = analyze(tiny(name), **asked, measures=["effective-weight", "attention-residual"])
    np.testing.assert_allclose(beside["effective-weight"], alone["effective-weight"], atol=1e-5)
    assert "attention-residual" in beside

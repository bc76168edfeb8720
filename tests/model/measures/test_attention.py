"""The closed forms equal the papers' formulas, and obey their laws."""

import architectures
import numpy as np
import pytest
import reference
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from jaxtyping import TypeCheckError

from normviz.model.analyze import analyze
from normviz.model.capture import capture
from normviz.model.measures import attention
from normviz.model.measures.attention import gram, gram_norm, head_sum_norm, value_norm

SIZES = st.tuples(*(st.integers(1, 5) for _ in range(6)))


def example(sizes, seed, dtype=torch.float64):
    """Random weights, values and an output map of the given sizes."""
    batch, heads, queries, keys, dim, model = sizes
    draw = torch.Generator().manual_seed(seed)
    weight = torch.rand(batch, heads, queries, keys, generator=draw, dtype=dtype).softmax(-1)
    value = torch.randn(batch, heads, keys, dim, generator=draw, dtype=dtype)
    out = torch.randn(heads, dim, model, generator=draw, dtype=dtype)
    return weight, value, out


def measure_attention(weight, value, out):
    table = gram(value, out)
    norm = gram_norm(table)
    return {
        "weight": weight,
        "value-norm": norm,
        "weighted-norm": weight * norm[:, :, None],
        "attention": head_sum_norm(weight, table),
    }


@settings(deadline=None, max_examples=60)
@given(SIZES, st.integers(0, 10**6))
def test_every_measure_equals_the_loops_in_double_precision(sizes, seed):
    weight, value, out = example(sizes, seed)
    found = measure_attention(weight, value, out)
    for row in range(sizes[0]):
        for name, wanted in reference.measures(weight[row], value[row], out).items():
            np.testing.assert_allclose(found[name][row], wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("small", [0, 2**30])
@pytest.mark.parametrize("chunk", [1, 2**20])
def test_short_and_long_texts_are_summed_alike(monkeypatch, small, chunk):
    monkeypatch.setattr(attention, "SMALL_PLANE", small)
    monkeypatch.setattr(attention, "CHUNK", chunk)
    weight, value, out = example((2, 5, 4, 7, 3, 6), 1)
    found = measure_attention(weight, value, out)
    for row in range(2):
        for name, wanted in reference.measures(weight[row], value[row], out).items():
            np.testing.assert_allclose(found[name][row], wanted, rtol=1e-10)


@settings(deadline=None, max_examples=30)
@given(SIZES, st.integers(0, 10**6))
def test_the_norm_alone_equals_the_diagonal_of_the_table(sizes, seed):
    _, value, out = example(sizes, seed)
    torch.testing.assert_close(value_norm(value, out), gram_norm(gram(value, out)))


@settings(deadline=None, max_examples=30)
@given(SIZES, st.integers(0, 10**6))
def test_heads_together_move_no_more_than_heads_apart(sizes, seed):
    weight, value, out = example(sizes, seed)
    found = measure_attention(weight, value, out)
    assert (found["attention"] <= found["weighted-norm"].sum(dim=1) + 1e-9).all()


@settings(deadline=None, max_examples=30)
@given(SIZES, st.integers(0, 10**6), st.randoms(use_true_random=False))
def test_permuting_the_heads_changes_nothing(sizes, seed, random):
    weight, value, out = example(sizes, seed)
    order = random.sample(range(sizes[1]), sizes[1])
    plain = head_sum_norm(weight, gram(value, out))
    permuted = head_sum_norm(weight[:, order], gram(value[:, order], out[order]))
    torch.testing.assert_close(plain, permuted)


@pytest.mark.parametrize("name", ["bert", "gpt2", "llama", "gemma2", "t5", "bloom", "vit"])
def test_a_whole_model_in_double_precision_equals_the_loops(name):
    architecture = architectures.ALL[name]
    model = architecture.build().double()
    inputs = {
        k: v.double() if v.is_floating_point() else v for k, v in architecture.inputs().items()
    }
    layers = capture(model, inputs, lambda captured: captured)
    assert len(layers) == 2 * len(architecture.streams)
    for layer in layers:
        tensors = (layer.weight, layer.value, layer.projection.weight)
        found = measure_attention(*tensors)
        for measure, numbers in reference.measures(
            tensors[0][0], tensors[1][0], tensors[2]
        ).items():
            np.testing.assert_allclose(found[measure][0], numbers, rtol=1e-10)


TEXT = "The quick brown fox, having jumped over the lazy dog, slept until noon."


@pytest.mark.parametrize("name", ["demo", "demo-decoder"])
def test_a_trained_model_in_single_precision_is_within_a_hundred_thousandth(name, request):
    """Trained heads cancel each other more than random ones: the hard case for the head sum."""
    model, tokenizer = request.getfixturevalue({"demo": "demo"}.get(name, "smollm2"))
    flow = analyze(model, TEXT, tokenizer=tokenizer, layers=range(6))
    inputs = dict(tokenizer(TEXT, return_tensors="pt"))
    layers = capture(model, inputs, lambda captured: captured)[:6]
    for number, layer in enumerate(layers):
        tensors = (layer.weight[0], layer.value[0], layer.projection.weight)
        for measure, numbers in reference.measures(*tensors).items():
            found = flow.stream().at(measure, number)
            np.testing.assert_allclose(found, numbers, rtol=1e-5, err_msg=f"{measure} {number}")


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_halves_are_accumulated_in_single_precision(tiny, dtype):
    model = tiny("bert").to(getattr(torch, dtype))
    captured = capture(model, architectures.text_inputs(), lambda h: h)
    flow = analyze(model, inputs=architectures.text_inputs())
    assert flow.receipt.dtype == dtype
    assert flow.receipt.ok, flow.receipt
    for number, layer in enumerate(captured):
        halves = (layer.weight[0].float(), layer.value[0].float(), layer.projection.weight.float())
        wanted = reference.measures(*halves)
        for measure, numbers in wanted.items():
            # from the same rounded numbers, the norms themselves are exact
            np.testing.assert_allclose(flow.stream().at(measure, number), numbers, rtol=1e-5)


def test_a_wrong_axis_is_caught():
    weight, value, out = example((1, 2, 3, 4, 5, 6), 0)
    with pytest.raises(TypeCheckError):
        head_sum_norm(weight, gram(value[:, :, :3], out))  # 4 keys, then 3


def test_keys_that_give_nothing_move_nothing():
    weight, value, out = example((1, 2, 3, 4, 5, 6), 0)
    value[:, :, 1] = 0
    found = measure_attention(weight, value, out)
    assert (found["attention"][:, :, 1] == 0).all()
    assert (found["weighted-norm"][:, :, :, 1] == 0).all()

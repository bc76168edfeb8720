"""Input tokens followed through all layers add up, and equal the formulas written as loops."""

import copy
from typing import get_args

import architectures
import numpy as np
import pytest
import reference
import torch
from passes import bert_layer, bert_projections, capture_all, double

from normviz.core.catalog import LADDER
from normviz.model.analyze import analyze
from normviz.model.decompose.tape import BiasHandling


@pytest.mark.parametrize("name", architectures.ALL)
def test_input_tokens_and_biases_add_up_to_every_layers_output(name):
    architecture = architectures.ALL[name]
    wanted = ["decomposition", "globenc", "alti"]
    flow = analyze(
        architecture.build(), inputs=architecture.inputs(), measures=wanted, dtype="float64"
    )
    assert flow.receipt.ok, flow.receipt
    checks = [check for check in flow.receipt.rungs if check.rung == "decomposition"]
    assert len(checks) == 2 * len(architecture.streams)
    for check in checks:
        assert check.error < {"float64": 1e-12, "float32": 1e-6}[check.dtype]
    for stream in flow.streams.values():
        rows = stream["alti"].sum(axis=-1)  # shares of what brings the output nearer, if any does
        assert (np.isclose(rows, 1) | (rows == 0)).all()


def own_vectors(hidden):
    """Each token's vector as its own part, `source token model`."""
    vectors = hidden[0].numpy()
    return np.einsum("st,td->std", np.eye(len(vectors)), vectors)


@pytest.mark.parametrize("bias_handling", ["source", "bias-token"])
def test_the_carried_parts_equal_the_formulas_in_double_precision(bias_handling):
    model, inputs = double("bert")
    with torch.no_grad():
        hidden = model(**inputs, output_hidden_states=True).hidden_states
    parts = own_vectors(hidden[0])
    free = np.zeros_like(parts[0])
    flow = analyze(
        model,
        inputs=architectures.text_inputs(),
        measures=["decomposition"],
        bias_handling=bias_handling,
    )
    for number, captured in enumerate(capture_all(model, inputs)):
        projections = bert_projections(model, number, captured)
        _, norms, forward = bert_layer(model, number, None)
        weight = captured.weight[0].numpy()
        read = bias_handling == "source" or number == 0
        parts, free = reference.decompose_layer(
            parts, free, weight, projections, norms, forward, read=read
        )
        np.testing.assert_allclose(parts.sum(axis=0) + free, hidden[number + 1][0], atol=1e-12)
        lengths = np.linalg.norm(parts, axis=-1).T
        np.testing.assert_allclose(flow.stream().at("decomposition", number), lengths, rtol=1e-6)


def assert_equals_decompx(model, tokenizer, text, inputs, rtol):
    """Compare every layer of a BERT in double precision with the loops, all rungs included."""
    asked = {"inputs": inputs} if tokenizer is None else {"text": text, "tokenizer": tokenizer}
    flow = analyze(model, **asked, measures=["decomposition", *LADDER], bias_handling="decompx")
    assert flow.receipt.ok, flow.receipt
    with torch.no_grad():
        hidden = model(**inputs, output_hidden_states=True).hidden_states
    parts = own_vectors(hidden[0])
    for number, captured in enumerate(capture_all(model, inputs)):
        _, norms, forward = bert_layer(model, number, None)
        given = (
            captured.weight[0].numpy(), bert_projections(model, number, captured), norms, forward,
        )  # fmt: skip
        carried = reference.decompx_layer(parts, *given, first=number == 0)
        parts = carried["layer-output"]
        np.testing.assert_allclose(parts.sum(axis=0), hidden[number + 1][0], atol=1e-10)
        found = flow.stream().at("decomposition", number)
        np.testing.assert_allclose(found, np.linalg.norm(parts, axis=-1).T, rtol=rtol)
        alone = reference.decompx_layer(own_vectors(hidden[number]), *given, first=True)
        for rung in LADDER:
            lengths = np.linalg.norm(alone[rung], axis=-1).T
            np.testing.assert_allclose(flow.stream().at(rung, number), lengths, rtol=rtol)


def test_with_biases_as_in_decompx_every_layer_and_every_rung_equal_decompx():
    model, inputs = double("bert")
    assert all(layer.attention.self.value.bias.any() for layer in model.encoder.layer)
    assert_equals_decompx(model, None, None, inputs, rtol=1e-6)


def test_a_trained_model_with_biases_as_in_decompx_equals_decompx(demo):
    model, tokenizer = copy.deepcopy(demo[0]).double(), demo[1]
    text = "A cat sat."
    inputs = dict(tokenizer(text, return_tensors="pt"))
    assert_equals_decompx(model.base_model, tokenizer, text, inputs, rtol=1e-6)


SEVERAL = ("bert", "gpt2", "gpt_neox", "gptj", "bloom", "gpt_oss", "whisper")


@pytest.mark.parametrize(
    ("name", "bias_handling"),
    [(name, "source") for name in architectures.ALL]
    + [(name, other) for name in SEVERAL for other in get_args(BiasHandling)[1:]],
)
def test_after_the_first_layer_the_ladder_says_the_same_of_every_token(name, bias_handling):
    architecture = architectures.ALL[name]
    flow = analyze(
        architecture.build(),
        inputs=architecture.inputs(),
        measures=["decomposition", "layer-output"],
        dtype="float64",
        bias_handling=bias_handling,
    )
    assert flow.receipt.ok, flow.receipt
    # the encoder's tokens went through its layers before; shares of a bias depend on them too
    before = (
        {"cross", "decoder"}
        if bias_handling == "decompx" and "cross" in flow.streams
        else {"cross"}
    )
    for stream in flow.streams.values():
        if stream.name in before:
            continue
        first, ladder = stream["decomposition"][0], stream["layer-output"][0]
        np.testing.assert_allclose(first, ladder, rtol=1e-4, atol=1e-6 * ladder.max())


def test_after_the_second_layer_the_ladder_is_no_longer_the_decomposition(tiny):
    flow = analyze(
        tiny("llama"),
        inputs=architectures.text_inputs(),
        measures=["decomposition", "layer-output"],
    )
    assert not np.allclose(flow["decomposition"][1], flow["layer-output"][1], rtol=1e-2)


def test_biases_shared_out_among_the_tokens_leave_nothing_over():
    for name in ("bert", "gpt2", "gpt_neox", "marian"):
        architecture = architectures.ALL[name]
        flow = analyze(
            architecture.build(),
            inputs=architecture.inputs(),
            measures=["decomposition", "layer-output"],
            bias_handling="decompx",
        )
        assert flow.receipt.ok, flow.receipt
        assert max(check.bias_share for check in flow.receipt.rungs) == 0


@pytest.mark.parametrize("bias_handling", ["source", "decompx"])
@pytest.mark.parametrize("name", ["bert", "marian", "llama"])
def test_little_memory_changes_nothing(name, bias_handling):
    architecture = architectures.ALL[name]
    model, inputs = architecture.build(), architecture.inputs()
    measures = ["decomposition", "layer-output"]
    asked = {"inputs": inputs, "measures": measures, "bias_handling": bias_handling}
    plenty = analyze(model, **asked)
    little = analyze(model, **asked, memory=1)
    for stream, other in zip(plenty.streams.values(), little.streams.values(), strict=True):
        for measure in measures:
            np.testing.assert_allclose(stream[measure], other[measure], rtol=1e-4, atol=1e-6)


def test_a_trained_model_is_within_its_tolerance(demo):
    flow = analyze(
        demo[0],
        "The cat sat, and slept.",
        tokenizer=demo[1],
        measures=["decomposition", "layer-output"],
    )
    assert flow.receipt.ok, flow.receipt
    assert flow["decomposition"].shape == flow["layer-output"].shape
    share = flow["decomposition"][-1].diagonal() / flow["decomposition"][-1].sum(axis=-1)
    first = flow["decomposition"][0].diagonal() / flow["decomposition"][0].sum(axis=-1)
    assert share.mean() < first.mean()  # tokens mix more and more


def test_layers_may_be_chosen_though_all_are_followed(demo):
    whole = analyze(demo[0], "A cat sat.", tokenizer=demo[1], measures=["decomposition"])
    some = analyze(demo[0], "A cat sat.", tokenizer=demo[1], measures=["decomposition"], layers=[5])
    np.testing.assert_allclose(some["decomposition"][0], whole["decomposition"][5], rtol=1e-5)


def test_deep_models_do_not_run_out_of_stack():
    config = architectures.ALL["llama"]
    from dataclasses import replace

    deep = replace(config, extra={"num_hidden_layers": 40}).build()
    flow = analyze(deep, inputs=architectures.text_inputs(), measures=["decomposition"])
    assert flow.receipt.ok
    assert flow["decomposition"].shape[0] == 40


def test_without_a_feed_forward_block_globenc_is_the_attention_block_normed_again(tiny):
    model = tiny("bert")
    for layer in model.encoder.layer:
        torch.nn.init.zeros_(layer.output.dense.weight)
        torch.nn.init.zeros_(layer.output.dense.bias)
    flow = analyze(model, inputs=architectures.text_inputs(), measures=["globenc", "layer-output"])
    np.testing.assert_allclose(flow["globenc"], flow["layer-output"], rtol=1e-4)


def test_alti_equals_its_formula(tiny):
    model, inputs = double("bert")
    flow = analyze(model, inputs=architectures.text_inputs(), measures=["alti"])
    assert flow.measures == ("alti",)
    with torch.no_grad():
        hidden = model(**inputs, output_hidden_states=True).hidden_states
    for number, captured in enumerate(capture_all(model, inputs)):
        before, norms, _ = bert_layer(model, number, hidden[number][0].numpy())
        weight, value, out = (
            np.asarray(t)
            for t in (captured.weight[0], captured.value[0], captured.projection.weight)
        )
        moved = np.einsum("hqk,hkd,hdm->qkm", weight, value, out)
        for query in range(len(before)):
            parts = moved[query].copy()
            parts[query] += before[query]
            whole = parts.sum(axis=0) + captured.projection.bias.detach().numpy()
            normed = reference._normalize(parts, whole, norms[0])
            final = reference._normalize(whole[None], whole, norms[0])[0] + norms[0][1]
            gain = np.abs(final).sum() - np.abs(final - normed).sum(axis=-1)
            wanted = np.maximum(gain, 0) / np.maximum(gain, 0).sum()
            found = flow.stream().at("alti", number)[query]
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-7)


def test_statistics_are_kept_only_when_they_are_asked_for(demo):
    plain = analyze(demo[0], "A cat.", tokenizer=demo[1], measures=["layer-output"])
    assert set(plain.stream().statistics) == {"mixing:layer-output"}
    more = analyze(
        demo[0], "A cat.", tokenizer=demo[1], measures=["layer-output", "projection:layer-output"]
    )
    assert set(more.stream().statistics) == {"mixing:layer-output", "projection:layer-output"}
    every = analyze(demo[0], "A cat.", tokenizer=demo[1], measures="all")
    assert {f"projection:{rung}" for rung in LADDER} <= set(every.stream().statistics)

"""The ladder adds up in every architecture, and equals the papers' formulas."""

from dataclasses import replace
from itertools import pairwise

import architectures
import numpy as np
import pytest
import reference
import torch
from passes import bert_layer, capture_all, double
from torch import nn

from normviz.core.catalog import LADDER
from normviz.errors import BadInput, UnknownName, UnsupportedModel
from normviz.model.analyze import analyze, analyze_many
from normviz.model.capture import capture
from normviz.model.decompose import DecomposedTensor, NoRule, Record
from normviz.model.decompose.vectors import PerHeadParts
from normviz.model.measures.ladder import measure
from normviz.model.measures.ladder.measure import LadderRequest, measure_ladder
from normviz.model.measures.ladder.rungs import find_rungs

PRE_NORM = "esm modernbert llama gpt2 gemma2 olmo2 t5 mbart whisper vit dinov2 gpt_neox cohere"
POST_NORM = "bert distilbert albert bart marian wav2vec2 deberta-v2 mpnet"
PARALLEL = "gpt_neox phi cohere gptj falcon"
ALL = LadderRequest((*LADDER, "globenc", "alti", *(f"projection:{rung}" for rung in LADDER)))
MIXTURES = ("mixtral", "qwen2_moe", "gpt_oss", "nllb-moe")


def trace_layers(model, inputs, callback):
    """Run the model on tape, and call back with the trace of each layer."""
    capture(model, inputs, lambda captured: None, callback)


def output_of(model, inputs, callback=None):
    """Return the model's output while it is captured, with its layers on tape or without."""
    outputs = []
    hook = model.register_forward_hook(lambda m, args, out: outputs.append(out[0]))
    capture(model, inputs, lambda captured: None, callback)
    hook.remove()
    return outputs[0]


@pytest.mark.parametrize("name", architectures.ALL)
def test_the_parts_of_every_rung_add_up_and_the_model_computes_what_it_always_does(name):
    model, inputs = double(name)
    found = []
    output = output_of(model, inputs, lambda t: found.append(measure_ladder(t, ALL)))
    assert type(output) is torch.Tensor
    if name in MIXTURES:
        model.set_experts_implementation("eager")  # fused experts do not run in double precision
    assert torch.equal(output, output_of(model, inputs))
    assert len(found) == 2 * len({s for s in architectures.ALL[name].streams if s != "cross"})
    for layer in found:
        for result in layer.values():
            # some models compute their norms in float32, whatever they are given
            allowed = {"float64": 1e-12, "float32": 1e-6}[result.dtype]
            assert {"attention", "attention-residual", "feed-forward"} <= result.errors.keys()
            assert max(result.errors.values()) < allowed, result.errors


@pytest.mark.parametrize("name", ["bert", "gpt2", "gpt_neox", "whisper", "nllb-moe", "gemma2"])
def test_biases_shared_out_among_the_tokens_add_up_on_every_rung(name):
    model, inputs = double(name)
    request, found = replace(ALL, bias_handling="decompx"), []
    trace_layers(model, inputs, lambda t: found.append(measure_ladder(t, request)))
    for result in (result for layer in found for result in layer.values()):
        assert max(result.errors.values()) < {"float64": 1e-12, "float32": 1e-6}[result.dtype]
        assert result.bias_share["feed-forward-residual"] == 0


@pytest.mark.parametrize("name", ["llama", "gpt2", "gpt_neox", "bart", "t5", "bloom"])
def test_nothing_comes_from_a_later_token(name):
    model, inputs = double(name)
    found = []
    trace_layers(model, inputs, lambda t: found.append(measure_ladder(t, ALL)))
    causal = found if len(architectures.ALL[name].streams) == 1 else found[2:]
    for layer in causal:
        for rung in LADDER:
            numbers = layer["own"].numbers.get(rung)
            if numbers is not None:
                assert (numbers[0].triu(1) == 0).all()
                assert (numbers[0].diagonal() > 0).all()


def loops(model, inputs):
    """The ladder of every layer of a BERT, by the slow reference."""
    with torch.no_grad():
        hidden = model(**inputs, output_hidden_states=True).hidden_states
    for number, captured in enumerate(capture_all(model, inputs)):
        arrays = (
            captured.weight[0],
            captured.value[0],
            captured.projection.weight,
            captured.projection.bias,
        )
        weight, value, out, bias = (np.asarray(a.double()) for a in arrays)
        before, norms, forward = bert_layer(model, number, hidden[number][0].numpy())
        yield reference.ladder(weight, value, out, bias, before, norms, forward)


def test_every_rung_and_its_mixing_ratio_equal_the_loops_in_double_precision():
    model, inputs = double("bert")
    found = []
    trace_layers(model, inputs, lambda t: found.append(measure_ladder(t, ALL)["own"].numbers))
    for numbers, (lengths, ratios) in zip(found, loops(model, inputs), strict=True):
        for rung in LADDER:
            np.testing.assert_allclose(numbers[rung][0], lengths[rung], rtol=1e-10)
            np.testing.assert_allclose(numbers[f"mixing:{rung}"][0], ratios[rung], rtol=1e-10)


def test_a_trained_model_in_single_precision_is_within_a_hundred_thousandth(demo):
    model, tokenizer = demo
    text = "The quick brown fox slept until noon."
    flow = analyze(model, text, tokenizer=tokenizer, measures=LADDER)
    exact = analyze(model, text, tokenizer=tokenizer, measures=LADDER, dtype="float64")
    assert flow.receipt.ok, flow.receipt
    assert exact.receipt.ok, exact.receipt
    for rung in LADDER:
        np.testing.assert_allclose(flow[rung], exact[rung], rtol=2e-4, atol=1e-6)
        largest = exact[rung].max()
        assert np.abs(flow[rung] - exact[rung]).max() < 1e-5 * largest


def test_a_trained_model_mixes_as_the_paper_says_it_does(demo):
    """Not the paper's model, but the same order: most of it at attention, little after the norm."""
    flow = analyze(
        demo[0],
        "The quick brown fox slept until noon, and so did I.",
        tokenizer=demo[1],
        measures=LADDER,
    )
    ratio = {rung: flow.stream().statistic("mixing", rung).mean() for rung in LADDER}
    assert ratio["attention"] > 0.75
    assert 0.1 < ratio["attention-block"] < ratio["attention-residual"] < 0.4


@pytest.mark.parametrize("name", ["bert", "llama", "gpt_neox", "bart", "gemma2", "mixtral"])
def test_the_closed_forms_equal_the_general_mechanism(name, monkeypatch):
    model, inputs = double(name)
    closed, general = [], []
    trace_layers(model, inputs, lambda t: closed.append(measure_ladder(t, ALL)))
    monkeypatch.setattr(Record, "flat", property(lambda record: False))
    monkeypatch.setattr(PerHeadParts, "project", lambda heads, matrix: None)
    trace_layers(model, inputs, lambda t: general.append(measure_ladder(t, ALL)))
    for one, other in zip(closed, general, strict=True):
        for side in one:
            for rung, numbers in one[side].numbers.items():
                wanted = other[side].numbers[rung]
                torch.testing.assert_close(numbers, wanted, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", ["bert", "llama", "t5"])
@pytest.mark.parametrize("memory", [1, 60_000])
def test_little_memory_changes_nothing_but_the_time(name, memory, monkeypatch):
    model, inputs = double(name)
    runs, most = [], []
    trace_layers(
        model, inputs, lambda t: runs.append(measure_ladder(t, replace(ALL, memory=memory)))
    )
    trace_layers(model, inputs, lambda t: most.append(measure_ladder(t, ALL)))
    for one, other in zip(runs, most, strict=True):
        for side in one:
            for rung, numbers in one[side].numbers.items():
                torch.testing.assert_close(numbers, other[side].numbers[rung])


def test_no_vector_for_every_pair_and_every_inner_feature_is_ever_whole(monkeypatch):
    model, inputs = double("bert")
    largest = []
    built = torch.bmm

    def watched(*args, **options):
        found = built(*args, **options)
        largest.append(found.numel())
        return found

    monkeypatch.setattr(torch, "bmm", watched)
    trace_layers(model, inputs, lambda t: measure_ladder(t, replace(ALL, memory=1)))
    tokens, inner = architectures.TOKENS, 48
    assert max(largest) == tokens * inner  # one source at a time
    assert measure.LARGEST_RUN <= 2**30


@pytest.mark.parametrize("name", ["bert", "llama", "gpt_oss", "bart"])
def test_biases_held_constant_add_up_too_and_give_tokens_other_parts(name):
    model, inputs = double(name)
    source, constant = [], []
    trace_layers(model, inputs, lambda t: source.append(measure_ladder(t, ALL)))
    trace_layers(
        model,
        inputs,
        lambda t: constant.append(measure_ladder(t, replace(ALL, bias_handling="constant"))),
    )
    for one, other in zip(source, constant, strict=True):
        assert max(other["own"].errors.values()) < 1e-6
        forward = one["own"].numbers["feed-forward"], other["own"].numbers["feed-forward"]
        has_bias = one["own"].bias_share["feed-forward"] > 0
        assert torch.allclose(*forward) == (not has_bias)
        for rung in ("attention", "attention-residual"):
            torch.testing.assert_close(one["own"].numbers[rung], other["own"].numbers[rung])


@pytest.mark.parametrize("name", PRE_NORM.split())
def test_rungs_that_coincide_in_pre_norm_models_are_one(name):
    architecture = architectures.ALL[name]
    flow = analyze(architecture.build(), inputs=architecture.inputs(), measures="all")
    for stream in flow.streams.values():
        wanted = {"attention-block": "attention-residual", "layer-output": "feed-forward-residual"}
        if stream.name != "decoder" or len(flow.streams) == 1:  # no cross-attention in between
            wanted["globenc"] = "attention-residual"
        assert dict(stream.aliases) == wanted
        assert "layer-output" not in stream.measures
        assert "layer-output" in stream
        np.testing.assert_array_equal(stream["layer-output"], stream["feed-forward-residual"])
        np.testing.assert_array_equal(stream.at("layer-output", 1), stream["layer-output"][1])
    assert any("is feed-forward-residual" in note for note in flow.receipt.notes)


@pytest.mark.parametrize("name", POST_NORM.split())
def test_post_norm_models_have_six_rungs_that_differ(name):
    architecture = architectures.ALL[name]
    flow = analyze(architecture.build(), inputs=architecture.inputs(), measures="all")
    for stream in flow.streams.values():
        assert not stream.aliases
        lengths = [stream[rung] for rung in LADDER]
        changes = [not np.allclose(a, b, rtol=1e-3) for a, b in pairwise(lengths)]
        if stream.name == "cross":  # what was there before holds nothing of the encoder's tokens
            assert changes == [False, True, True, True, True]
        else:
            assert all(changes)


@pytest.mark.parametrize("name", PARALLEL.split())
def test_parallel_feed_forward_reads_one_token_alone(name):
    model, inputs = double(name)
    found = []
    trace_layers(model, inputs, lambda t: found.append(measure_ladder(t, ALL)["own"].numbers))
    for numbers in found:
        own = numbers["feed-forward"][0]
        assert (own - own.diagonal().diag_embed() == 0).all()
        context = numbers["feed-forward-residual"][0] - numbers["attention-residual"][0]
        off = ~torch.eye(len(own), dtype=torch.bool)
        torch.testing.assert_close(context[off], torch.zeros_like(context[off]), atol=1e-9, rtol=0)


FIRST_MATRICES = {
    "gpt_neox": "dense_h_to_4h", "falcon": "dense_h_to_4h", "phi": "fc1", "gptj": "fc_in",
    "bert": "intermediate.dense", "gpt2": "c_fc", "opt": "fc1", "bloom": "dense_h_to_4h",
}  # fmt: skip
"""What a feed-forward block multiplies first, in parallel models and in sequential ones."""


@pytest.mark.parametrize("bias_handling", ["source", "constant", "bias-token"])
@pytest.mark.parametrize("name", FIRST_MATRICES)
def test_a_feed_forward_block_that_reads_nothing_gives_its_biases_to_no_token(name, bias_handling):
    model, inputs = double(name)
    for path, parameter in model.named_parameters():
        if path.endswith(f"{FIRST_MATRICES[name]}.weight"):
            torch.nn.init.zeros_(parameter)
        elif ".mlp." in path and path.endswith("bias"):
            torch.nn.init.normal_(parameter)
    found = []
    request = replace(ALL, bias_handling=bias_handling)
    trace_layers(model, inputs, lambda t: found.append(measure_ladder(t, request)["own"]))
    for layer in found:
        assert layer.numbers["feed-forward"].abs().max() < 1e-12
        has_bias = layer.bias_share["feed-forward"]
        assert has_bias == pytest.approx(0 if name == "falcon" else 1)
        below = layer.numbers["attention-block"] if name == "bert" else None
        below = layer.numbers["attention-residual"] if below is None else below
        torch.testing.assert_close(layer.numbers["feed-forward-residual"], below)


def test_parallel_feed_forward_equals_the_formula_of_sequential_blocks():
    model, inputs = double("gpt_neox")
    found = []
    trace_layers(model, inputs, lambda t: found.append(measure_ladder(t, ALL)["own"].numbers))
    with torch.no_grad():
        hidden = model(**inputs, output_hidden_states=True).hidden_states
    for number, layer in enumerate(model.layers):
        norm, mlp = layer.post_attention_layernorm, layer.mlp
        forward = (
            mlp.dense_h_to_4h.weight.T, mlp.dense_h_to_4h.bias,
            mlp.dense_4h_to_h.weight.T, mlp.dense_4h_to_h.bias,
        )  # fmt: skip
        parts = reference.parallel_feed_forward(
            hidden[number][0].numpy(),
            (norm.weight.detach().numpy(), norm.bias.detach().numpy(), norm.eps),
            [tensor.detach().numpy() for tensor in forward],
        )
        wanted = np.diag(np.linalg.norm(parts, axis=-1))
        np.testing.assert_allclose(found[number]["feed-forward"][0], wanted, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("name", MIXTURES)
def test_mixtures_of_experts_are_run_one_by_one_and_put_back(name):
    architecture = architectures.ALL[name]
    model = architecture.build()
    before = getattr(model.config, "_experts_implementation_internal", None)
    flow = analyze(model, inputs=architecture.inputs(), measures=["layer-output"])
    assert flow.receipt.ok, flow.receipt
    assert getattr(model.config, "_experts_implementation_internal", None) == before


def test_encoder_tokens_are_a_second_set_of_sources():
    architecture = architectures.ALL["marian"]
    flow = analyze(architecture.build(), inputs=architecture.inputs(), measures="all")
    assert flow.cross["layer-output"].shape == (2, 6, 9)
    assert flow.decoder["layer-output"].shape == (2, 6, 6)
    assert (flow.cross["layer-output"] > 0).all()
    model, inputs = double("marian")
    found = []
    trace_layers(model, inputs, lambda t: found.append(measure_ladder(t, ALL)))
    with_cross = found[2]
    # a projection on the whole vector adds up over both sides, and the bias, to its length
    along = [
        with_cross[side].numbers["projection:layer-output"].sum(-1) for side in ("own", "other")
    ]
    assert (along[0] + along[1]).shape == (1, 6)


def test_what_each_part_gives_along_the_whole_adds_up_to_its_length():
    model, inputs = double("llama")  # without biases, tokens are all there is
    found, lengths = [], []

    def add(trace):
        found.append(measure_ladder(trace, ALL)["own"].numbers)
        ladder = find_rungs(trace)["own"]
        lengths.append({rung: record.total.norm(dim=-1) for rung, record in ladder.items()})

    trace_layers(model, inputs, add)
    for numbers, whole in zip(found, lengths, strict=True):
        for rung in ("attention", "attention-residual", "feed-forward-residual"):
            added = numbers[f"projection:{rung}"].sum(dim=-1)
            torch.testing.assert_close(added, whole[rung], rtol=1e-6, atol=1e-9)
            assert (numbers[f"projection:{rung}"].abs() <= numbers[rung] + 1e-9).all()


def test_the_receipt_knows_every_rung(demo):
    flow = analyze(
        demo[0],
        "A cat sat.",
        tokenizer=demo[1],
        measures=["layer-output", "attention-block"],
        layers=[1, 4],
    )
    rows = [(check.layer, check.rung) for check in flow.receipt.rungs]
    assert rows == [
        (1, "attention-block"),
        (1, "layer-output"),
        (4, "attention-block"),
        (4, "layer-output"),
    ]
    assert all(0.01 < check.bias_share < 0.5 for check in flow.receipt.rungs)
    assert "attention-block" in str(flow.receipt)
    shares = flow.receipt.bias_share("encoder", (1, 4))
    assert shares.keys() == {"attention-block", "layer-output"}


def test_a_rung_that_does_not_add_up_is_named(demo):
    flow = analyze(demo[0], "A cat sat.", tokenizer=demo[1], measures=["layer-output"], layers=[1])
    broken = replace(flow.receipt, rungs=(replace(flow.receipt.rungs[0], error=0.1),))
    assert not broken.ok
    assert "encoder layer 1: on the rung 'layer-output' the parts miss" in broken.headline()


def test_padding_has_no_part_in_it(demo):
    model, tokenizer = demo
    alone = analyze(
        model, "A cat sat.", tokenizer=tokenizer, measures=["layer-output", "attention-block"]
    )
    padded = tokenizer("A cat sat.", padding="max_length", max_length=12, return_tensors="pt")
    flow = analyze(
        model,
        tokenizer=tokenizer,
        inputs=dict(padded),
        measures=["layer-output", "attention-block"],
    )
    for rung in ("layer-output", "attention-block"):
        assert flow[rung].shape == alone[rung].shape
        np.testing.assert_allclose(flow[rung], alone[rung], rtol=1e-4, atol=1e-5)
    mixing = flow.stream().statistic("mixing", "layer-output")
    np.testing.assert_allclose(
        mixing, alone.stream().statistic("mixing", "layer-output"), atol=1e-5
    )


def test_many_texts_are_run_one_by_one(demo):
    texts = ["A cat.", "A cat sat on a mat."]
    flows = list(analyze_many(demo[0], texts, tokenizer=demo[1], measures=["layer-output"]))
    for flow, text in zip(flows, texts, strict=True):
        np.testing.assert_allclose(
            flow["layer-output"],
            analyze(demo[0], text, tokenizer=demo[1], measures=["layer-output"])["layer-output"],
            rtol=1e-4,
            atol=1e-5,
        )


def test_one_token_is_all_its_own():
    architecture = architectures.ALL["gpt2"]
    inputs = {"input_ids": torch.tensor([[5]])}
    flow = analyze(architecture.build(), inputs=inputs, measures="all")
    assert flow.receipt.ok
    assert flow["layer-output"].shape == (2, 1, 1)
    assert (flow.stream().statistic("mixing", "layer-output") < 1e-5).all()


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", ["bert", "llama"])
def test_half_precision_is_measured_in_single_precision(name, dtype):
    architecture = architectures.ALL[name]
    flow = analyze(architecture.build(), inputs=architecture.inputs(), measures="all", dtype=dtype)
    assert flow.receipt.ok, flow.receipt
    assert {check.dtype for check in flow.receipt.rungs} == {dtype}


class Unruly(nn.Module):
    """A feed-forward block that adds up over the tokens, which no rule allows."""

    def forward(self, x):
        return torch.cumsum(x, dim=1)


def test_an_operation_without_a_rule_names_itself_its_module_and_its_model(tiny):
    model = tiny("llama")
    model.layers[1].mlp = Unruly()
    hooks = [len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules()]
    with pytest.raises(NoRule) as caught:
        analyze(model, inputs=architectures.text_inputs(), measures=["layer-output"])
    message = str(caught.value)
    assert "'cumsum' in layers.1.mlp (Unruly) of LlamaModel" in message
    assert "attention measures only" in message
    assert hooks == [len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules()]
    assert analyze(model, inputs=architectures.text_inputs()).receipt.ok


class Uneven(nn.Module):
    """A feed-forward block that no rule covers once biases are taken out of it."""

    def forward(self, x):
        return x * nn.functional.gelu(x).mean(dim=-1, keepdim=True).expand_as(x)


@pytest.mark.parametrize(("name", "type_name"), [("gpt_neox", "GPTNeoXModel"), ("phi", "PhiModel")])
def test_a_parallel_block_without_a_rule_is_refused_as_a_sequential_one_is(tiny, name, type_name):
    model = tiny(name)
    model.layers[1].mlp = Uneven()
    with pytest.raises(NoRule) as caught:
        analyze(model, inputs=architectures.text_inputs(), measures=["layer-output"])
    assert f"'mean' in layers.1.mlp (Uneven) of {type_name}" in str(caught.value)
    # what it takes is not needed where biases go back to the one token
    analyze(
        model,
        inputs=architectures.text_inputs(),
        measures=["layer-output"],
        bias_handling="decompx",
    )


class Forgetful(nn.Module):
    """A feed-forward block that copies its numbers past torch."""

    def forward(self, x):
        return torch.from_numpy(np.asarray(x.tolist(), dtype=np.float32))


class Swap(nn.Module):
    """A layer that returns the output of its forgetful block."""

    def __init__(self, layer):
        super().__init__()
        self.self_attn_Attention = layer.self_attn
        self.inner = layer

    def forward(self, hidden_states, **options):
        return Forgetful()(self.inner(hidden_states, **options))


def test_a_layer_that_forgets_its_parts_is_refused(tiny):
    model = tiny("llama")
    model.layers = nn.ModuleList(Swap(layer) for layer in model.layers)
    with pytest.raises(NoRule, match="no longer knows which token"):
        analyze(model, inputs=architectures.text_inputs(), measures=["layer-output"])


def test_a_model_without_layers_is_refused(tiny):
    model = tiny("bert")
    model.encoder.layer = nn.ModuleList()
    with pytest.raises(UnsupportedModel, match="No attention was captured"):
        analyze(model, inputs=architectures.text_inputs(), measures=["layer-output"])


@pytest.mark.parametrize("memory", [0, -1, float("nan"), float("inf"), "much", True])
def test_memory_that_makes_no_sense_is_refused(demo, memory):
    with pytest.raises(BadInput, match="memory is"):
        analyze(demo[0], "A cat.", tokenizer=demo[1], measures=["layer-output"], memory=memory)


def test_an_unknown_bias_handling_is_refused(demo):
    with pytest.raises(UnknownName, match="source, constant, bias-token, decompx"):
        analyze(demo[0], "A cat.", tokenizer=demo[1], bias_handling="none")


@pytest.mark.parametrize("bias_handling", ["source", "constant", "bias-token", "decompx"])
def test_the_receipt_says_how_biases_are_treated_unless_by_default(tiny, bias_handling):
    flow = analyze(
        tiny("bert"),
        inputs=architectures.text_inputs(),
        measures=["layer-output"],
        bias_handling=bias_handling,
    )
    note = f"biases are treated as bias_handling={bias_handling!r} says"
    assert (note in flow.receipt.notes) == (bias_handling != "source")


def test_a_statistic_that_is_not_there_is_named(demo):
    flow = analyze(demo[0], "A cat.", tokenizer=demo[1], measures=["layer-output"])
    with pytest.raises(UnknownName, match="mixing:layer-output"):
        flow.stream().statistic("mixing", "attention")


def test_statistics_and_coinciding_rungs_survive_a_file(tmp_path):
    import normviz

    architecture = architectures.ALL["llama"]
    flow = analyze(architecture.build(), inputs=architecture.inputs(), measures="all")
    again = normviz.load(flow.save(tmp_path / "x.normviz"))
    assert again.stream().aliases == flow.stream().aliases
    assert again.receipt == flow.receipt
    for name in flow.stream().statistics:
        kind, _, rung = name.partition(":")
        np.testing.assert_array_equal(
            again.stream().statistic(kind, rung), flow.stream().statistic(kind, rung)
        )


def test_parts_do_not_outlive_the_pass(tiny):
    model = tiny("bert")
    analyze(model, inputs=architectures.text_inputs(), measures=["layer-output"])
    held = [*model.parameters(), *model.buffers()]
    assert not any(isinstance(tensor, DecomposedTensor) for tensor in held)

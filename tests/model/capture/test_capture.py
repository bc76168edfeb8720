"""For every architecture, captured attention is the model's own, and its parts add up."""

import architectures
import pytest
import torch
from architectures import ALL, OFF_REGISTRY, ON_REGISTRY
from torch import nn

from normviz.errors import UnsupportedModel
from normviz.model.analyze import analyze
from normviz.model.capture import capture


def recompute_output(captured):
    """Return the output of the projection, computed from weights, values and W_O."""
    mixed = torch.einsum("bhqk,bhkd->bhqd", captured.weight, captured.value)
    projected = torch.einsum("bhqd,hdm->bqm", mixed, captured.projection.weight)
    bias = captured.projection.bias
    return projected if bias is None else projected + bias


def returned_attention(architecture):
    """Return the weights that the eager model itself returns, by stream."""
    with torch.no_grad():
        model = architecture.build(attention="eager")
        out = model(**architecture.inputs(), output_attentions=True)
    if "cross" in architecture.streams:
        return {
            "encoder": out.encoder_attentions,
            "decoder": out.decoder_attentions,
            "cross": out.cross_attentions,
        }
    return {architecture.streams[0]: out.attentions}


def test_there_are_at_least_fifty_architectures():
    assert len({a.kind or a.name for a in ON_REGISTRY}) >= 50
    assert {a.kind or a.name for a in OFF_REGISTRY} == {
        "deberta-v2", "gptj", "bloom", "falcon", "mpnet",
    }  # fmt: skip


@pytest.mark.parametrize("name", ALL)
def test_the_parts_add_up_to_the_projections_own_output(name):
    model = ALL[name].build()
    errors = capture(
        model,
        ALL[name].inputs(),
        lambda c: (recompute_output(c) - c.output).abs().max() / c.output.abs().max(),
    )
    assert len(errors) == 2 * len(ALL[name].streams)
    assert max(errors) < 1e-5


@pytest.mark.parametrize("name", ALL)
def test_the_weights_are_the_models_own_eager_attention(name):
    architecture = ALL[name]
    flow = analyze(architecture.build(), inputs=architecture.inputs(), measures=["weight"])
    assert set(flow.streams) == set(architecture.streams)
    assert flow.receipt.ok, flow.receipt
    for stream, layers in returned_attention(architecture).items():
        weights = flow.streams[stream]["weight"]
        assert len(weights) == len(layers)
        for weight, expected in zip(weights, layers, strict=True):
            assert (torch.from_numpy(weight.copy()) - expected[0]).abs().max() < 1e-6


@pytest.mark.parametrize("name", [a.name for a in OFF_REGISTRY])
def test_weights_are_tracked_through_the_casts_of_half_precision(name):
    flow = analyze(ALL[name].build().to(torch.bfloat16), inputs=ALL[name].inputs())
    assert flow.receipt.ok, flow.receipt
    assert flow["weight"].shape == (2, 4, 9, 9)


def test_tied_layers_are_counted_as_they_are_run(tiny):
    flow = analyze(tiny("albert"), inputs=architectures.text_inputs())
    assert flow["weight"].shape == (2, 4, 9, 9)
    assert (flow["weight"][0] != flow["weight"][1]).any()


def test_sliding_windows_and_causal_masks_are_seen(tiny):
    flow = analyze(tiny("gpt_oss"), inputs=architectures.text_inputs())
    sliding, full = flow["weight"]
    assert (sliding[:, 8, :5] == 0).all()
    assert (full[:, 8, :5] > 0).all()
    assert (full[:, 0, 1:] == 0).all()


def test_grouped_heads_take_the_value_of_their_group(tiny):
    model = tiny("llama")
    captured = capture(model, architectures.text_inputs(), lambda captured: captured)[0]
    value_heads = model.layers[0].self_attn.v_proj.weight.shape[0] // 8
    assert value_heads == 2
    assert torch.equal(captured.value[:, 0], captured.value[:, 1])
    assert torch.equal(captured.value[:, 2], captured.value[:, 3])
    assert not torch.equal(captured.value[:, 1], captured.value[:, 2])


class Squashed(nn.Module):
    """A nonlinear function between an attention and its projection."""

    def __init__(self, projection):
        super().__init__()
        self.inner = projection

    def forward(self, hidden):
        return self.inner(hidden.tanh())


def test_something_before_the_projection_is_refused_by_name(tiny):
    model = tiny("llama")
    model.layers[1].self_attn.o_proj = Squashed(model.layers[1].self_attn.o_proj)
    with pytest.raises(UnsupportedModel, match=r"LlamaModel.*layers\.1\.self_attn") as error:
        capture(model, architectures.text_inputs(), lambda captured: None)
    assert "'tanh' is not linear" in error.value.found
    assert "linear" in error.value.expected


def test_a_model_without_attention_is_refused_by_name():
    class Bag(nn.Module):
        def forward(self, numbers):
            return numbers.mean()

    with pytest.raises(UnsupportedModel, match="No attention was captured in Bag"):
        capture(Bag(), {"numbers": torch.ones(1, 3)}, lambda captured: None)


def test_an_attention_computed_in_another_way_is_refused_by_name():
    from transformers import AutoConfig, AutoModel

    sizes = architectures.TEXT | {"attention_window": 4, "vocab_size": 99}
    model = AutoModel.from_config(AutoConfig.for_model("longformer", **sizes)).eval()
    with pytest.raises(UnsupportedModel, match=r"LongformerModel.*encoder\.layer\.0"):
        analyze(model, inputs=architectures.text_inputs())


def test_no_tensor_is_as_large_as_every_head_query_key_and_model(tiny):
    """The largest tensor of a pass is far below `head query key model`."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Largest(TorchDispatchMode):
        numbers = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            if isinstance(result, torch.Tensor):
                Largest.numbers = max(Largest.numbers, result.numel())
            return result

    model = tiny("bert")
    ids = torch.arange(5, 65)[None]
    with Largest():
        analyze(model, inputs={"input_ids": ids})
    heads, tokens, width = 4, 60, 32
    assert heads * tokens * tokens <= Largest.numbers < heads * tokens * tokens * width / 8


def test_a_model_with_a_table_of_attention_functions_of_its_own_is_captured(tiny):
    """A table by the names of implementations does not have the one that normviz registers."""
    model = tiny("llama")
    expected = analyze(model, inputs=architectures.text_inputs())

    def look_up(*_):
        return {"eager": None, "sdpa": None}[model.config._attn_implementation]

    handle = model.layers[0].register_forward_pre_hook(look_up)
    flow = analyze(model, inputs=architectures.text_inputs())
    handle.remove()
    assert flow.receipt.ok, flow.receipt
    assert abs(flow["weighted-norm"] - expected["weighted-norm"]).max() < 1e-6

"""The receipt of a model: good when it adds up, and a named failure when anything was lost."""

import dataclasses
import json

import architectures
import numpy as np
import pytest
import torch
import zoo

from normviz.core.receipt import Receipt
from normviz.model.analyze import analyze
from normviz.model.capture import capture, finishing, listener, registry
from normviz.model.measures.checks import check_attention


def inputs():
    return architectures.text_inputs()


def test_a_receipt_survives_json(tiny):
    receipt = analyze(tiny("gpt_oss"), inputs=inputs()).receipt
    assert Receipt.from_dict(json.loads(json.dumps(receipt.to_dict()))) == receipt
    assert receipt.checks[0].sink


def test_a_receipt_says_what_ran(tiny):
    receipt = analyze(tiny("bert"), inputs=inputs()).receipt
    assert receipt.ok
    assert receipt.error < 1e-6
    assert receipt.attention == "sdpa"
    assert (receipt.dtype, receipt.device) == ("float32", "cpu")
    assert set(receipt.versions) == {"normviz", "torch", "transformers", "numpy", "python"}
    text = str(receipt)
    assert text == repr(receipt)
    assert "✓ the parts add up to the model's own output" in text
    assert "encoder.layer.1.attention.output.dense" in text


def test_the_hash_tells_inputs_apart(tiny):
    model = tiny("bert")
    other = {"input_ids": inputs()["input_ids"] + 1}
    one, two, three = (analyze(model, inputs=i).receipt.inputs for i in (inputs(), inputs(), other))
    assert one == two != three


def test_the_bias_share_is_that_of_the_projections_bias(tiny):
    model = tiny("bert")
    with torch.no_grad():
        model.encoder.layer[0].attention.output.dense.bias.zero_()
    first, second = analyze(model, inputs=inputs()).receipt.checks
    assert first.bias_share == 0
    assert 0.5 < second.bias_share < 1


def test_a_mask_lost_on_the_way_is_noticed(tiny, monkeypatch):
    """The accident of the sdpa fallback: plausible weights, no causal mask."""
    model = tiny("llama")
    own = registry.eager_attention_of(model.layers[0].self_attn)

    def forgetful(module, query, key, value, mask, **more):
        return own(module, query, key, value, None, **more)

    monkeypatch.setattr(registry, "eager_attention_of", lambda module: forgetful)
    receipt = analyze(model, inputs=inputs()).receipt
    assert not receipt.ok
    assert "a masked position has weight" in receipt.failures[0]
    assert receipt.headline().startswith("✗ decoder layer 0")


PADDED = {"attention_mask": torch.tensor([[1] * 6 + [0] * 3])}


@pytest.mark.parametrize(("name", "more"), [("llama", {}), ("bert", PADDED)])
def test_a_mask_lost_everywhere_is_noticed_too(tiny, name, more):
    """Even the mask that normviz sees is missing; causality and padding are known without it."""

    def unmasked(module, query, key, value, mask, *args, **options):
        return registry._attend(module, query, key, value, None, *args, **options)

    registry.AttentionInterface.register(registry.NAME, unmasked)
    try:
        receipt = analyze(tiny(name), inputs=inputs() | more).receipt
    finally:
        registry.register()
    assert not receipt.ok
    assert "masked position" in receipt.failures[0]


def test_padding_does_not_count_in_the_checks_of_a_layer(tiny):
    real = torch.tensor([[True] * 6 + [False] * 3])
    model = tiny("bert")
    captured = capture(model, inputs() | PADDED, lambda call: call)[0]
    spoiled = captured.weight.clone()
    spoiled[:, :, 6:] = 7
    checked = check_attention(dataclasses.replace(captured, weight=spoiled), real, real)
    assert checked.error < 1e-6
    assert abs(checked.greatest_row - 1) < 1e-6
    assert abs(checked.least_row - 1) < 1e-6
    assert checked.leak == 0
    careless = check_attention(dataclasses.replace(captured, weight=spoiled), None, real)
    assert careless.error > 1
    assert careless.greatest_row > 1
    assert careless.leak > 1


def test_weights_that_are_not_what_was_mixed_are_noticed(tiny, monkeypatch):
    original = listener.Listener.observe_attention

    def wrong(self, module, value, mask, output, weight):
        return original(self, module, value, mask, output, weight.flip(-1))

    monkeypatch.setattr(listener.Listener, "observe_attention", wrong)
    receipt = analyze(tiny("bert"), inputs=inputs()).receipt
    assert not receipt.ok
    assert "the parts miss the model's own output" in receipt.failures[0]


def test_heads_in_the_wrong_order_are_noticed(tiny, monkeypatch):
    original = finishing.Context.by_sequence

    def wrong(self, tensor, rows):
        heads = self.leading[1] // tensor.shape[1]
        return original(self, tensor.repeat(1, heads, 1, 1), rows)

    monkeypatch.setattr(finishing.Context, "by_sequence", wrong)
    receipt = analyze(tiny("llama"), inputs=inputs()).receipt
    assert "the parts miss the model's own output" in receipt.failures[0]


@pytest.mark.parametrize("name", ["bert", "llama", "gpt2"])
def test_a_change_of_any_coordinate_of_what_leaves_the_attention_is_noticed(tiny, name):
    model = tiny(name)
    path = {
        "bert": "encoder.layer.1.attention.output.dense",
        "llama": "layers.1.self_attn",
        "gpt2": "h.1.attn",
    }
    module = model.get_submodule(path[name])
    for coordinate in range(32):

        def change(_module, _args, output, coordinate=coordinate):
            (output[0] if isinstance(output, tuple) else output)[..., coordinate] += 0.5

        handle = module.register_forward_hook(change)
        receipt = analyze(model, inputs=inputs()).receipt
        handle.remove()
        assert not receipt.ok, f"coordinate {coordinate} was changed, and the receipt is green"
        assert "layer 1: the parts miss the model's own output" in receipt.failures[0]


def test_a_factor_after_the_projection_is_part_of_what_is_measured(tiny):
    """A hook that is linear belongs to f(x), as an adapter does."""
    model = tiny("llama")
    plain = analyze(model, inputs=inputs(), layers=[1])
    module = model.layers[1].self_attn
    handle = module.register_forward_hook(lambda _m, _a, output: (output[0] * 3, *output[1:]))
    tripled = analyze(model, inputs=inputs(), layers=[1])
    handle.remove()
    assert tripled.receipt.ok, tripled.receipt
    torch.testing.assert_close(
        torch.tensor(tripled["value-norm"]), 3 * torch.tensor(plain["value-norm"])
    )


def test_a_negative_weight_is_noticed(tiny, monkeypatch):
    """Norms of weighted vectors are products of weight and norm only if no weight is negative."""
    original = listener.Listener.observe_attention

    def turned(self, module, value, mask, output, weight):
        return original(self, module, -value, mask, output, -weight)

    monkeypatch.setattr(listener.Listener, "observe_attention", turned)
    receipt = analyze(tiny("bert"), inputs=inputs()).receipt
    assert any("which is negative" in failure for failure in receipt.failures)


def test_an_attention_that_was_not_captured_is_named(tiny):
    """A softmax in an attention that weights no values in a way normviz knows."""

    class RunningAttention(torch.nn.Module):
        def forward(self, hidden):
            weight = (hidden @ hidden.mT).softmax(dim=-1)
            return (weight[..., None] * hidden[:, None]).sum(dim=2)

    model = tiny("bert")
    model.pooler.extra = RunningAttention()
    handle = model.pooler.register_forward_pre_hook(lambda module, args: (module.extra(*args),))
    receipt = analyze(model, inputs=inputs()).receipt
    handle.remove()
    assert receipt.missed == ("pooler.extra",)
    assert receipt.failures == ("the attention in pooler.extra was not captured",)
    assert Receipt.from_dict(json.loads(json.dumps(receipt.to_dict()))).missed == receipt.missed


def test_a_model_that_goes_through_single_precision_is_judged_by_it(tiny):
    """The norms of a Llama are computed in single precision, whatever it runs in."""
    model = tiny("llama").double()
    receipt = analyze(model, inputs=inputs(), measures=["hidden-attribution"]).receipt
    assert receipt.ok, receipt
    assert {check.dtype for check in receipt.gradients} == {"float32"}
    model = tiny("bert").double()
    receipt = analyze(model, inputs=inputs(), measures=["hidden-attribution"]).receipt
    assert receipt.ok, receipt
    assert {check.dtype for check in receipt.gradients} == {"float64"}


def test_image_tokens_that_read_ahead_are_no_false_alarm():
    specimen = zoo.build("gemma3-image-block")
    flow = analyze(specimen.model, inputs=specimen.inputs, measures=["weight"])
    assert flow.receipt.ok, flow.receipt
    weight = flow.stream("text")["weight"]
    assert np.triu(weight, k=1).any(), "no token reads ahead"


def test_a_model_that_decides_by_the_name_of_its_attention_sees_eager():
    """Sparse attention leaves its mask out under any name that it does not know."""
    specimen = zoo.build("deepseek_v32")
    flow = analyze(specimen.model, inputs=specimen.inputs, measures=["weight"])
    own = zoo.build("deepseek_v32", attention="eager")
    with torch.no_grad():
        expected = own.model(**own.inputs, output_attentions=True).attentions
    for weight, layer in zip(flow["weight"], expected, strict=True):
        np.testing.assert_allclose(weight, layer[0].numpy(), atol=1e-5)

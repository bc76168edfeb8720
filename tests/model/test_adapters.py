"""An adapted model has the measures of the merged model; what cannot have them is refused."""

import copy
import types

import adapters
import numpy as np
import peft
import pytest
import torch
from adapters import (
    CASES,
    COMMON,
    OUTPUT,
    VALUE_AND_OUTPUT,
)
from architectures import ALL, text_inputs
from hand_adapters import (
    Bottleneck,
    BottleneckAfter,
    LowRankBranch,
    LowRankLinear,
    ScaledContext,
    adapt_by_hand,
    read_by_two,
)
from outcomes import (
    ATTENTION_MEASURES,
    FOUR,
    assert_names,
    assert_refused,
    assert_right_or_said,
    assert_same_numbers,
    run_or_refusal,
)
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification

from normviz.core.receipt import TOLERANCE
from normviz.model.analyze import analyze

MEASURES = ("weight", *FOUR)
LADDER = ("attention", "attention-residual")
"""With a second rung, `attention` too is computed from the layer's tape."""


def measure(model, measures=MEASURES):
    return analyze(model, inputs=text_inputs(), measures=measures)


def assert_exact(model, merged, measures=MEASURES):
    """Assert that a model has the measures of the merged one, with a green receipt."""
    flow = measure(model, measures)
    assert_same_numbers(flow, measure(merged, measures), measures)
    assert flow.receipt.ok, flow.receipt


def assert_ladder_agrees(model, merged):
    """Assert that `attention` is the same with and without the tape, and as in the merged model."""
    plain, taped = measure(model, ["attention"]), measure(model, LADDER)
    assert_same_numbers(taped, measure(merged, LADDER), LADDER)
    assert_same_numbers(plain, taped, ["attention"])
    assert taped.receipt.ok, taped.receipt


class TestThePairs:
    """What the tests compare with: the same function, far from the model without adapter."""

    @pytest.mark.parametrize(("name", "kind"), CASES)
    def test_merged_and_adapted_models_compute_the_same(self, name, kind):
        wrapped = adapters.wrap(name, kind)
        merged = adapters.merge(wrapped)
        assert not any(".base_layer" in path for path, _ in merged.named_modules())
        torch.testing.assert_close(
            adapters.outputs(wrapped, name), adapters.outputs(merged, name), rtol=1e-6, atol=1e-6
        )

    @pytest.mark.parametrize(("name", "kind"), CASES)
    def test_the_adapter_changes_the_values_and_the_projection(self, name, kind):
        merged = adapters.merge(adapters.wrap(name, kind))
        base = ALL[name].build().double()
        for path, module in base.named_modules():
            if path.endswith(tuple(VALUE_AND_OUTPUT[name])):
                change = merged.get_submodule(path).weight - module.weight
                assert change.norm() > 0.01 * module.weight.norm(), path


class TestPeft:
    @pytest.mark.parametrize(("name", "kind"), CASES)
    def test_the_measures_are_those_of_the_merged_model(self, name, kind):
        wrapped = adapters.wrap(name, kind)
        assert_exact(wrapped.get_base_model(), adapters.merge(wrapped))

    @pytest.mark.parametrize(("name", "kind"), CASES)
    def test_the_ladder_agrees_with_the_attention_measure(self, name, kind):
        wrapped = adapters.wrap(name, kind)
        model = wrapped.get_base_model()
        _, refusal = run_or_refusal(lambda: measure(model, LADDER))
        if refusal and kind not in COMMON:
            layer = OUTPUT[name].format(0).partition(".0.")[0] + ".0"
            assert_names(refusal, [*VALUE_AND_OUTPUT[name], layer])
        else:
            assert_ladder_agrees(model, adapters.merge(wrapped))

    @pytest.mark.parametrize("name", VALUE_AND_OUTPUT)
    def test_single_precision_is_exact_too(self, name):
        wrapped = adapters.wrap(name, "lora")
        exact = measure(adapters.merge(wrapped), ATTENTION_MEASURES)
        flow = measure(wrapped.get_base_model().float(), ATTENTION_MEASURES)
        assert_same_numbers(flow, exact, ATTENTION_MEASURES)
        assert flow.receipt.ok, flow.receipt

    @pytest.mark.parametrize("name", VALUE_AND_OUTPUT)
    def test_several_adapters_at_once_are_added_up(self, name):
        wrapped = with_a_second_adapter(name)
        wrapped.base_model.set_adapter(["default", "second"])
        alone = adapters.merge(adapters.wrap(name, "lora"))
        both = adapters.merge(wrapped)
        assert (adapters.outputs(both, name) - adapters.outputs(alone, name)).abs().max() > 0.01
        assert_exact(wrapped.get_base_model(), both)
        assert_ladder_agrees(wrapped.get_base_model(), both)

    @pytest.mark.parametrize("name", VALUE_AND_OUTPUT)
    def test_of_several_adapters_only_the_active_one_counts(self, name):
        wrapped = with_a_second_adapter(name)
        wrapped.set_adapter("second")
        assert_exact(wrapped.get_base_model(), adapters.merge(wrapped))
        wrapped.set_adapter("default")
        assert_exact(wrapped.get_base_model(), adapters.merge(adapters.wrap(name, "lora")))

    def test_adapters_of_different_methods_are_combined(self):
        config = adapters.configure("bert", "lora")
        model = ALL["bert"].build().double()
        mixed = peft.get_peft_model(model, config, mixed=True)
        mixed.add_adapter("second", adapters.configure("bert", "loha"))
        mixed.set_adapter(["default", "second"])
        adapters.fill(mixed.double()).eval()
        merged = copy.deepcopy(mixed).merge_and_unload()
        torch.testing.assert_close(
            adapters.outputs(mixed, "bert"), adapters.outputs(merged, "bert")
        )
        inner = mixed.base_model.model
        assert_exact(inner, merged)
        assert_ladder_agrees(inner, merged)

    @pytest.mark.parametrize(("name", "kind"), [case for case in CASES if case[1] in COMMON])
    def test_a_disabled_adapter_changes_nothing(self, name, kind):
        wrapped = adapters.wrap(name, kind)
        base = ALL[name].build().double()
        with wrapped.disable_adapter():
            assert_exact(wrapped.get_base_model(), base)
            assert_ladder_agrees(wrapped.get_base_model(), base)

    @pytest.mark.parametrize("name", VALUE_AND_OUTPUT)
    def test_an_adapter_merged_in_place_is_not_counted_twice(self, name):
        wrapped = adapters.wrap(name, "lora")
        merged = adapters.merge(wrapped)
        wrapped.merge_adapter()
        assert_exact(wrapped.get_base_model(), merged)
        assert_ladder_agrees(wrapped.get_base_model(), merged)

    @pytest.mark.parametrize("name", VALUE_AND_OUTPUT)
    def test_an_adapter_in_one_layer_leaves_the_other_as_it_is(self, name):
        layer = OUTPUT[name].format(1).partition(".1.")[0] + ".1."
        paths = [path for path, _ in ALL[name].build().named_modules() if path.startswith(layer)]
        targets = [path for path in paths if path.endswith(tuple(VALUE_AND_OUTPUT[name]))]
        wrapped = adapters.wrap(name, "lora", target_modules=targets)
        assert_exact(wrapped.get_base_model(), adapters.merge(wrapped))

    def test_an_adapter_added_by_transformers_is_the_same(self):
        model = ALL["llama"].build().double()
        torch.manual_seed(1)
        model.add_adapter(adapters.configure("llama", "lora"))
        adapters.fill(model.double()).eval()
        wrapped = adapters.wrap("llama", "lora")
        torch.testing.assert_close(
            adapters.outputs(model, "llama"), adapters.outputs(wrapped, "llama")
        )
        assert_exact(model, adapters.merge(wrapped))

    def test_dropout_of_a_model_in_training_is_left_out_and_comes_back(self):
        wrapped = adapters.wrap("bert", "lora", lora_dropout=0.5)
        merged = adapters.merge(wrapped)
        inner = wrapped.get_base_model().train()
        assert_exact(inner, merged)
        assert all(module.training for module in inner.modules())


def with_a_second_adapter(name):
    """Return a wrapped model with two adapters, of ranks four and two; the first is active."""
    wrapped = adapters.wrap(name, "lora")
    second = adapters.configure(name, "lora")
    second.r = 2
    wrapped.add_adapter("second", second)
    wrapped.set_adapter("second")  # only active adapters can be trained, and so are filled
    adapters.fill(wrapped.double(), seed=4).eval()
    wrapped.set_adapter("default")
    return wrapped


WITH_HEADS = {
    "bert": (AutoModelForSequenceClassification, "SEQ_CLS", "bert"),
    "llama": (AutoModelForCausalLM, "CAUSAL_LM", "model"),
    "gpt2": (AutoModelForCausalLM, "CAUSAL_LM", "transformer"),
}


class TestTheWrapperItself:
    """A `PeftModel` is given as it is, not the model inside."""

    @pytest.mark.parametrize("kind", ["lora", "dora", "ia3"])
    @pytest.mark.parametrize("name", VALUE_AND_OUTPUT)
    @pytest.mark.parametrize("measures", [ATTENTION_MEASURES, FOUR])
    def test_it_has_the_measures_of_the_merged_model(self, name, kind, measures):
        wrapped = adapters.wrap(name, kind)
        assert_exact(wrapped, adapters.merge(wrapped), measures)

    @pytest.mark.parametrize("name", VALUE_AND_OUTPUT)
    def test_all_measures_are_those_of_the_merged_model(self, name):
        wrapped = adapters.wrap(name, "lora")
        flow, merged = measure(wrapped, "all"), measure(adapters.merge(wrapped), "all")
        assert flow.measures == merged.measures
        assert all(m in flow for m in (*ATTENTION_MEASURES, "decomposition", "layer-output"))
        assert_same_numbers(flow, merged, flow.measures)
        assert flow.receipt.ok, flow.receipt

    @pytest.mark.parametrize("kind", ["lora", "dora", "ia3"])
    @pytest.mark.parametrize("name", ["bert", "gpt2"])
    def test_the_hidden_attribution_is_that_of_the_merged_model(self, name, kind):
        wrapped = adapters.wrap(name, kind)
        assert_exact(wrapped, adapters.merge(wrapped), ["hidden-attribution"])

    def test_the_hidden_attribution_of_a_model_that_rounds_is_as_exact_as_its_rounding(self):
        """The norms of a Llama go through single precision in any case."""
        wrapped = adapters.wrap("llama", "lora").float()
        measures = ["hidden-attribution"]
        merged = measure(adapters.merge(wrapped), measures)
        flow = measure(wrapped, measures)
        assert_same_numbers(flow, merged, measures, rtol=1e-4)
        assert flow.receipt.ok, flow.receipt

    @pytest.mark.parametrize("name", WITH_HEADS)
    def test_a_model_for_a_task_has_the_same_measures(self, name):
        auto, task, inside = WITH_HEADS[name]
        torch.manual_seed(0)
        model = auto.from_config(ALL[name].build().config).double().eval()
        wrapped = adapters.wrap(name, "lora", model=model, task_type=task)
        merged = adapters.merge(wrapped)
        assert type(wrapped) is not peft.PeftModel
        assert hasattr(merged, inside)
        assert_exact(wrapped, merged)
        assert_exact(wrapped, merged, ["hidden-attribution"] if name != "llama" else ["weight"])

    @pytest.mark.parametrize("name", VALUE_AND_OUTPUT)
    def test_it_comes_back_as_it_was(self, name):
        wrapped = adapters.wrap(name, "lora")
        before = copy.deepcopy(wrapped.state_dict())
        hooks = [len(module._forward_hooks) for module in wrapped.modules()]
        ran = adapters.outputs(wrapped, name)
        measure(wrapped)
        assert [len(module._forward_hooks) for module in wrapped.modules()] == hooks
        assert all(torch.equal(before[key], held) for key, held in wrapped.state_dict().items())
        assert torch.equal(adapters.outputs(wrapped, name), ran)


class TestQuantized:
    """LoRA over projections in four and eight bits, against the dequantized model, merged."""

    @pytest.mark.parametrize("bits", [4, 8])
    def test_it_has_the_measures_of_the_dequantized_model(self, bits):
        wrapped, merged = adapters.quantized_and_merged(bits)
        flow, exact = measure(wrapped.get_base_model()), measure(merged)
        assert flow.receipt.ok, flow.receipt
        assert_within_rounding(flow, exact, MEASURES)

    @pytest.mark.parametrize("bits", [4, 8])
    def test_the_receipt_says_what_the_projections_round_to(self, bits):
        wrapped, _ = adapters.quantized_and_merged(bits)
        flow = measure(wrapped.get_base_model(), ATTENTION_MEASURES)
        weight = wrapped.get_base_model().layers[0].self_attn.o_proj.base_layer.weight
        packed = getattr(getattr(weight, "quant_state", None), "packing_format_for_cpu", False)
        rounds = "int8" if bits == 8 else "bfloat16" if packed else "float32"
        assert {check.dtype for check in flow.receipt.checks} == {rounds}

    @pytest.mark.parametrize("bits", [4, 8])
    def test_the_ladder_agrees_or_names_the_kernel_it_cannot_follow(self, bits):
        wrapped, merged = adapters.quantized_and_merged(bits)
        flow, refusal = run_or_refusal(lambda: measure(wrapped.get_base_model(), LADDER))
        if flow is None:
            assert_names(refusal, ["self_attn.v_proj", "self_attn.o_proj"])
        else:
            assert_within_rounding(flow, measure(merged, LADDER), LADDER)


def assert_within_rounding(flow, exact, measures):
    """Assert that numbers differ by no more than the receipt allows, relative to the largest."""
    allowed = max(TOLERANCE[check.dtype] for check in flow.receipt.checks)
    for name in measures:
        error = np.abs(flow[name] - exact[name]).max() / np.abs(exact[name]).max()
        assert error <= allowed, f"{name} is off by {error:.2g}, {allowed} is allowed"


ADAPTERS = {
    "a branch called before": lambda main: LowRankBranch(main, branch_first=True),
    "a branch called after": lambda main: LowRankBranch(main, branch_first=False),
    "a factor for each feature of the context": ScaledContext,
}
AS_LINEAR = {
    "a kind of linear module, branch before": lambda main: LowRankLinear(main, branch_first=True),
    "a kind of linear module, branch after": lambda main: LowRankLinear(main, branch_first=False),
}
HAND_WRITTEN = [
    *((name, adapter) for name in VALUE_AND_OUTPUT for adapter in ADAPTERS),
    *((name, adapter) for name in ("bert", "llama") for adapter in AS_LINEAR),
]


class TestHandWritten:
    @pytest.mark.parametrize(("name", "adapter"), HAND_WRITTEN)
    def test_the_measures_are_those_of_the_merged_model(self, name, adapter):
        assert_exact(*adapt_by_hand(name, (ADAPTERS | AS_LINEAR)[adapter]))

    @pytest.mark.parametrize(("name", "adapter"), HAND_WRITTEN)
    def test_the_ladder_agrees_with_the_attention_measure(self, name, adapter):
        assert_ladder_agrees(*adapt_by_hand(name, (ADAPTERS | AS_LINEAR)[adapter]))

    @pytest.mark.parametrize("second_first", [True, False])
    @pytest.mark.parametrize("name", ["bert", "llama"])
    def test_two_linear_modules_may_read_the_context(self, name, second_first):
        model, merged = read_by_two(name, second_first=second_first)
        assert_exact(model, merged)
        assert_ladder_agrees(model, merged)

    @pytest.mark.parametrize("layer", [0, 1])
    @pytest.mark.parametrize("name", ["bert", "llama", "gpt2"])
    def test_a_nonlinear_adapter_after_the_projection_is_refused_because_no_part_is_a_tokens(
        self, name, layer
    ):
        """What the residual sum receives is not linear in the context: there is no f(x)."""
        model = ALL[name].build()
        path = OUTPUT[name].format(layer)
        parent, _, last = path.rpartition(".")
        bottleneck = BottleneckAfter(model.get_submodule(path))
        setattr(model.get_submodule(parent), last, bottleneck)
        model.double()
        assert_refused(lambda: measure(model, ATTENTION_MEASURES), [parent])

    def test_a_nonlinear_adapter_beside_the_projection_module_is_refused_too(self):
        """Here the projection itself is plain; the attention block still ends in a bottleneck."""
        model = ALL["bert"].build()
        block = model.encoder.layer[1].attention.output
        block.bottleneck = Bottleneck(32)

        def forward(self, hidden_states, input_tensor):
            return self.LayerNorm(self.bottleneck(self.dense(hidden_states)) + input_tensor)

        block.forward = types.MethodType(forward, block)
        model.double()
        assert_refused(lambda: measure(model, ATTENTION_MEASURES), ["encoder.layer.1.attention"])


UNCHECKED = 1
"""A coordinate that is not among sixteen spread evenly over the thirty-two of these models."""


def hook_output(name, change):
    """Return a model with a hook on the output projection of layer 1."""
    model = ALL[name].build().double()
    projection = model.get_submodule(OUTPUT[name].format(1))

    def hook(module, args, output):
        changed = output.clone()
        changed[..., UNCHECKED] = change(output)
        return changed

    projection.register_forward_hook(hook)
    return model


class TestHooksOnOneCoordinate:
    """A hook on the output projection changes a single coordinate of what it moves."""

    PLACES = ("layer 1", "layer.1.", "layers.1.", "h.1.")

    @pytest.mark.parametrize("name", VALUE_AND_OUTPUT)
    def test_a_linear_change_is_measured_or_said(self, name):
        model = hook_output(name, lambda out: out[..., UNCHECKED] + 3 * out[..., 2])
        merged = ALL[name].build().double()
        projection = merged.get_submodule(OUTPUT[name].format(1))
        weight = projection.weight.data if name == "gpt2" else projection.weight.data.T
        weight[:, UNCHECKED] += 3 * weight[:, 2]  # a view of the weights themselves
        if projection.bias is not None:
            projection.bias.data[UNCHECKED] += 3 * projection.bias.data[2]
        torch.testing.assert_close(
            adapters.outputs(model, name), adapters.outputs(merged, name), rtol=1e-6, atol=1e-6
        )
        wanted = measure(merged)
        assert_right_or_said(lambda: measure(model), wanted, self.PLACES, MEASURES)

    @pytest.mark.parametrize("name", VALUE_AND_OUTPUT)
    def test_a_constant_is_a_bias_or_is_said(self, name):
        """No token gives a constant: the measures stay, and the receipt counts it as bias."""
        model = hook_output(name, lambda out: out[..., UNCHECKED] + 30)
        plain = ALL[name].build().double()
        wanted = measure(plain, ATTENTION_MEASURES)
        assert_right_or_said(lambda: measure(model, ATTENTION_MEASURES), wanted, self.PLACES)
        flow, _ = run_or_refusal(lambda: measure(model, ATTENTION_MEASURES))
        if flow is not None and flow.receipt.ok:
            assert flow.receipt.checks[1].bias_share > 0.9

    @pytest.mark.parametrize("name", VALUE_AND_OUTPUT)
    def test_a_nonlinear_change_is_said(self, name):
        model = hook_output(name, lambda out: out[..., UNCHECKED] + 3 * out[..., 2].abs())
        assert_right_or_said(lambda: measure(model, ATTENTION_MEASURES), None, self.PLACES)

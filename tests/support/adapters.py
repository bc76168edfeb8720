"""Tiny models with adapters on their value and output projections, and the same models merged.

Merging is done by peft, or by adding matrices: nothing here uses normviz.
"""

import copy
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import bitsandbytes as bnb
import peft
import torch
from architectures import ALL, quantized_llama
from torch import Tensor, nn

VALUE_AND_OUTPUT = {
    "bert": ["attention.self.value", "attention.output.dense"],
    "llama": ["v_proj", "o_proj"],
    "gpt2": ["attn.c_attn", "attn.c_proj"],
}
"""Where the adapters go; the value projection of GPT-2 is one with those of query and key."""
OUTPUT = {
    "bert": "encoder.layer.{}.attention.output.dense",
    "llama": "layers.{}.self_attn.o_proj",
    "gpt2": "h.{}.attn.c_proj",
}
"""The name of the output projection of a layer."""

Configure = Callable[..., peft.PeftConfig]


def _with(configure: Configure, **options: Any) -> Configure:
    return lambda **where: configure(**options, **where)


def _scaling_the_input(target_modules: list[str], **more: Any) -> peft.PeftConfig:
    """Return IA3 that scales what enters the output projection instead of what leaves it."""
    return peft.IA3Config(
        target_modules=target_modules, feedforward_modules=target_modules[1:], **more
    )


KINDS: dict[str, Configure] = {
    "lora": _with(peft.LoraConfig, r=4, lora_alpha=8),
    "lora-bias": _with(peft.LoraConfig, r=4, lora_bias=True),
    "dora": _with(peft.LoraConfig, r=4, use_dora=True),
    "ia3": _with(peft.IA3Config, feedforward_modules=[]),
    "ia3-input": _scaling_the_input,
    "loha": _with(peft.LoHaConfig, r=4),
    "lokr": _with(peft.LoKrConfig, r=4),
    "vera": _with(peft.VeraConfig, r=4),
    "oft": _with(peft.OFTConfig, oft_block_size=4),
    "hra": _with(peft.HRAConfig, r=4),
    "adalora": _with(peft.AdaLoraConfig, init_r=4, target_r=4, total_step=10),
    "fourierft": _with(peft.FourierFTConfig, n_frequency=50),
    "randlora": _with(peft.RandLoraConfig, r=4),
    "vblora": _with(peft.VBLoRAConfig, r=4, num_vectors=16, vector_length=8),
    "miss": _with(peft.MissConfig, r=4),
    "road": _with(peft.RoadConfig, group_size=8),
    "shira": _with(peft.ShiraConfig, r=4),
    "waveft": _with(peft.WaveFTConfig, n_frequency=64),
    "delora": _with(peft.DeloraConfig, r=4),
    "gralora": _with(peft.GraloraConfig, r=4),
    "hira": _with(peft.HiraConfig, r=4),
}
"""Methods of peft that stay linear in what the projection reads, and so can be merged."""
COMMON = {"lora", "dora", "ia3", "loha", "lokr", "vera", "oft"}
"""The methods that the ladder must be able to follow; it may refuse the others by name."""
WITHOUT_CONV1D = {
    "loha", "lokr", "oft", "hra", "miss", "road", "shira", "delora",
}  # fmt: skip
"""Methods that peft does not offer for the Conv1D of GPT-2."""
CASES = [
    (name, kind)
    for name in VALUE_AND_OUTPUT
    for kind in KINDS
    if not (name == "gpt2" and kind in WITHOUT_CONV1D)
]


def configure(name: str, kind: str, **more: Any) -> peft.PeftConfig:
    """Return the configuration of a method for the value and output projections of a model."""
    config = KINDS[kind](**{"target_modules": list(VALUE_AND_OUTPUT[name])} | more)
    if name == "gpt2" and "fan_in_fan_out" in {field.name for field in fields(config)}:
        config.fan_in_fan_out = True
    return config


def wrap(name: str, kind: str, *, model: nn.Module | None = None, **more: Any) -> peft.PeftModel:
    """Return a tiny model in double precision inside a `PeftModel`, with a random adapter."""
    model = ALL[name].build() if model is None else model
    torch.manual_seed(1)
    wrapped = peft.get_peft_model(model.double(), configure(name, kind, **more))
    return fill(wrapped.double()).eval()


def fill(model: nn.Module, *, seed: int = 3) -> nn.Module:
    """Return the model with random numbers added to its adapter.

    An adapter as it is initialized does nothing, and would hide mistakes.
    """
    draw = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                noise = torch.randn(parameter.shape, generator=draw, dtype=torch.float64)
                parameter.add_((0.2 * noise).to(parameter.dtype))
    return model


def merge(wrapped: peft.PeftModel) -> nn.Module:
    """Return a copy of the model inside, with the active adapters merged into its weights.

    An adapter's bias is merged into that of its projection, which Llama's projections lack.
    """
    merged = copy.deepcopy(wrapped)
    for module in merged.modules():
        if any(getattr(module, "lora_bias", {}).values()) and module.base_layer.bias is None:
            zero = module.base_layer.weight.new_zeros(module.out_features)
            module.base_layer.bias = nn.Parameter(zero)
    return merged.merge_and_unload()


def outputs(model: nn.Module, name: str) -> Tensor:
    """Return what a model computes for the inputs of its architecture."""
    with torch.no_grad():
        return model(**ALL[name].inputs()).last_hidden_state


def quantized_and_merged(bits: int) -> tuple[peft.PeftModel, nn.Module]:
    """Return a Llama with LoRA over quantized projections, and it dequantized and merged."""
    names = VALUE_AND_OUTPUT["llama"]
    quantized, plain = (quantized_llama(bits, projections=names) for _ in range(2))
    for layer in plain.layers:
        for name in names:
            projection = getattr(layer.self_attn, name)
            setattr(layer.self_attn, name, _dequantize(projection))
    setattr(quantized, f"is_loaded_in_{bits}bit", True)  # where peft looks for it
    wrapped, merged = map(_add_lora, (quantized, plain))
    return wrapped, merged.merge_and_unload()


def _add_lora(model: nn.Module) -> peft.PeftModel:
    """Return a Llama with LoRA of always the same numbers."""
    torch.manual_seed(1)
    return fill(peft.get_peft_model(model, configure("llama", "lora"))).eval()


def _dequantize(projection: nn.Module) -> nn.Linear:
    """Return a plain linear module with the weights that the quantized one stands for."""
    weight = projection.weight
    if isinstance(weight, bnb.nn.Params4bit):
        matrix = bnb.functional.dequantize_4bit(weight.data, weight.quant_state)
    else:
        state = projection.state
        codes, scales = (weight.CB, weight.SCB) if state.CB is None else (state.CB, state.SCB)
        matrix = codes.float() * scales[:, None] / 127
    linear = nn.Linear(projection.in_features, projection.out_features, bias=False)
    linear.weight = nn.Parameter(matrix.float().clone(), requires_grad=False)
    return linear

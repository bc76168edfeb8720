"""The output projection W_O of an attention, as a matrix split into heads."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from normviz.errors import UnsupportedModel
from normviz.model.types import OutputMap


@dataclass(frozen=True)
class Projection:
    """W_O and b_O of one attention."""

    name: str
    weight: OutputMap
    bias: Float[Tensor, " model"] | None
    probed: bool
    """Whether the matrix was found by sending unit vectors through the module."""
    rounds: str | None
    """The type that the module rounds its input to, which makes it not quite linear; else None."""


def is_linear(module: nn.Module) -> bool:
    """Whether a module maps vectors to vectors: linear, Conv1D, or a quantized or adapted one."""
    return isinstance(module, Conv1D) or (
        hasattr(module, "in_features") and hasattr(module, "out_features")
    )


def projection_of(module: nn.Module, name: str, sample: Tensor, heads: int) -> Projection:
    """Return the matrix and bias of a linear module, split into heads.

    Plain modules have both in their weights. Any other module (quantized, adapted, offloaded to
    another device) is probed: its output for the unit vectors is the matrix, for zero the bias.
    """
    matrix, bias, probed = _matrix(module, name, sample)
    by_head = matrix.reshape(heads, -1, matrix.shape[-1])  # head dim model
    return Projection(name, by_head, bias, probed, _rounding_type(module) if probed else None)


def bias_of(module: nn.Module, sample: Tensor) -> Tensor | None:
    """Return the bias of a linear module: the one beside its weights, or its output for zero."""
    if _is_plain(module, sample):
        return _detached(module.bias)  # type: ignore[arg-type]
    zero: Tensor = module.forward(sample.new_zeros(1, 1, sample.shape[-1]))
    return zero[0, 0]


def _is_plain(module: nn.Module, sample: Tensor) -> bool:
    """Whether the module has its matrix as a tensor, on the device where it is used."""
    weight = getattr(module, "weight", None)
    here = isinstance(weight, Tensor) and weight.device == sample.device
    return here and type(module) in (nn.Linear, Conv1D)


def _matrix(module: nn.Module, name: str, sample: Tensor) -> tuple[Tensor, Tensor | None, bool]:
    """Return the matrix, the bias, and whether they were found by probing."""
    if _is_plain(module, sample):
        weight: Tensor = module.weight.detach()  # type: ignore[operator]
        matrix = weight.T if type(module) is nn.Linear else weight
        return matrix, _detached(module.bias), False  # type: ignore[arg-type]
    try:
        zero = module.forward(torch.zeros_like(sample[:1, :1]))
        units = torch.eye(sample.shape[-1], dtype=sample.dtype, device=sample.device)
        images = module.forward(units[None])
    except Exception as error:
        raise UnsupportedModel(
            f"The output projection {name} is a {type(module).__name__}, and sending unit vectors "
            f"through it failed ({error}).",
            "normviz needs its matrix to compute the norms of the transformed vectors.",
            "Load the model without quantization, or dequantize this module.",
        ) from error
    return (images - zero)[0], zero[0, 0], True


def _detached(bias: Tensor | None) -> Tensor | None:
    return None if bias is None else bias.detach()


def _rounding_type(module: nn.Module) -> str | None:
    """Return the type a quantized module rounds its input to, or None.

    Modules in eight bits round to int8; modules in four bits, packed for some CPUs, to bfloat16.
    """
    weight = getattr(module, "weight", None)
    weight = weight() if callable(weight) else weight  # torch's own quantized modules unpack it
    if getattr(weight, "dtype", None) in (torch.int8, torch.qint8):
        return "int8"
    packed = getattr(getattr(weight, "quant_state", None), "packing_format_for_cpu", False)
    return "bfloat16" if packed else None

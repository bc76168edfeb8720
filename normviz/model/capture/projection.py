"""The map from an attention's heads to what leaves its block: W_O and all that stands beside it."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from normviz.errors import UnsupportedModel
from normviz.model.types import ModelVectors, OutputMap, Values, at_least_single


@dataclass(frozen=True, eq=False)
class ProjectionTerm:
    """One branch of a projection whose parts depend on the query that receives them."""

    weight: OutputMap
    scale: Float[Tensor, "batch query 1"] | None = None
    """A factor of each query."""
    before: Float[Tensor, "batch head query dim"] | None = None
    """A factor of each number of a head's output, as a gate has."""
    after: ModelVectors | None = None
    """A factor of each number of the output."""

    def apply(self, context: Values) -> ModelVectors:
        """Return what this branch makes of the heads' outputs."""
        if self.before is not None:
            context = context * at_least_single(self.before)
        output = torch.einsum("bhqd,hdm->bqm", context, at_least_single(self.weight))
        for factor in (self.scale, self.after):
            output = output if factor is None else output * at_least_single(factor)
        return output


@dataclass(frozen=True, eq=False)
class Projection:
    """Everything between the heads' outputs and what leaves the attention block."""

    name: str
    """The module that the output leaves, or the one that mapped it."""
    weight: OutputMap
    """W_O with the adapters beside it; factors of single queries left out."""
    bias: Float[Tensor, " model"] | ModelVectors | None
    """What is added that comes from no token that is read."""
    terms: tuple[ProjectionTerm, ...] = ()
    """The branches with their factors, where queries have some; empty where `weight` is all."""
    probed: tuple[str, ...] = ()
    """The modules whose matrix was found by sending unit vectors through."""
    rounds: str | None = None
    """The type that a module rounds its input to, which makes it not quite linear; else None."""


def is_linear(module: nn.Module) -> bool:
    """Whether a module maps vectors to vectors: linear, Conv1D, or a quantized or adapted one."""
    return isinstance(module, Conv1D) or (
        hasattr(module, "in_features") and hasattr(module, "out_features")
    )


def is_plain(module: nn.Module) -> bool:
    """Whether a module is one of the two linear modules whose function has a rule."""
    return type(module) in (nn.Linear, Conv1D)


def bias_of(module: nn.Module, sample: Tensor) -> Tensor | None:
    """Return the bias of a linear module: the one beside its weights, or its output for zero."""
    if _is_plain_here(module, sample):
        bias: Tensor | None = module.bias  # type: ignore[assignment]
        return None if bias is None else bias.detach()
    zero: Tensor = module.forward(sample.new_zeros(1, 1, sample.shape[-1]))
    return zero[0, 0]


def _is_plain_here(module: nn.Module, sample: Tensor) -> bool:
    """Whether the module has its matrix as a tensor, on the device where it is used."""
    weight = getattr(module, "weight", None)
    here = isinstance(weight, Tensor) and weight.device == sample.device
    return here and is_plain(module)


def probe(module: nn.Module, name: str, sample: Tensor) -> tuple[Tensor, Tensor]:
    """Return the matrix and bias of a linear module: its images of the unit vectors and of zero."""
    width = sample.shape[-1]
    units = torch.eye(width, dtype=sample.dtype, device=sample.device)
    try:
        zero = module.forward(units.new_zeros(1, 1, width))
        images = module.forward(units[None])
    except Exception as error:
        raise UnsupportedModel(
            f"The output projection {name} is a {type(module).__name__}, and sending unit vectors "
            f"through it failed ({error}).",
            "normviz needs its matrix to compute the norms of the transformed vectors.",
            "Load the model without quantization, or dequantize this module.",
        ) from error
    return (images - zero)[0], zero[0, 0]


def rounding_type(module: nn.Module) -> str | None:
    """Return the type a quantized module rounds its input to, or None.

    Modules in eight bits round to int8; modules in four bits, packed for some CPUs, to bfloat16.
    """
    weight = getattr(module, "weight", None)
    weight = weight() if callable(weight) else weight  # torch's own quantized modules unpack it
    if getattr(weight, "dtype", None) in (torch.int8, torch.qint8):
        return "int8"
    packed = getattr(getattr(weight, "quant_state", None), "packing_format_for_cpu", False)
    return "bfloat16" if packed else None

"""Rules for elementwise functions: activations, powers, gates."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from torch import Tensor

from normviz.model.decompose.rules.table import elementwise_record, identity_record, rule
from normviz.model.decompose.tape import ElementwiseRecord, Record

FUNCTIONS: dict[str, Callable[..., Tensor]] = {
    "gelu": F.gelu, "silu": F.silu, "relu": F.relu, "relu6": F.relu6, "tanh": torch.tanh,
    "sigmoid": torch.sigmoid, "softplus": F.softplus, "mish": F.mish, "elu": F.elu,
    "leaky_relu": F.leaky_relu, "hardswish": F.hardswish, "hardtanh": F.hardtanh,
    "hardsigmoid": F.hardsigmoid, "selu": F.selu, "celu": F.celu, "log_sigmoid": F.logsigmoid,
    "exp": torch.exp, "log": torch.log, "erf": torch.erf, "abs": torch.abs, "sqrt": torch.sqrt,
    "rsqrt": torch.rsqrt, "reciprocal": torch.reciprocal, "sin": torch.sin, "cos": torch.cos,
    "log1p": torch.log1p, "expm1": torch.expm1, "maximum": torch.maximum, "minimum": torch.minimum,
    "rdiv": lambda x, number: number / x, "rpow": lambda x, number: number**x,
}  # fmt: skip
"""Elementwise functions, under the names that models call them by."""


def _add_rule(name: str) -> None:
    @rule(name)
    def elementwise(total: Tensor, *args: Any, **options: Any) -> Record:
        """F(x): integrated gradients from the origin to x, which add up exactly."""
        options.pop("inplace", None)
        return elementwise_record(total, FUNCTIONS[name], args, options)


for _name in FUNCTIONS:
    _add_rule(_name)


@rule("pow", "square")
def power(total: Tensor, x: Record, exponent: Any = 2) -> Record:
    """A power; squares are marked as such, because norms take their mean."""
    record = elementwise_record(total, torch.pow, (x, exponent), {})
    if isinstance(record, ElementwiseRecord):
        record.is_square = not isinstance(exponent, Tensor) and exponent == 2  # noqa: PLR2004
    return record


@rule("clamp", "clip", "clamp_min", "clamp_max")
def clamp(total: Tensor, x: Record, *args: Any, **options: Any) -> Record:
    """A bound; one that changes no number changes no part."""
    if not isinstance(x, ElementwiseRecord) and torch.equal(total, x.total):
        return identity_record(total, x)
    return elementwise_record(total, torch.clamp, (x, *args), options)

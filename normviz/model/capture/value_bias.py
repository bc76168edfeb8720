"""The part of the value vectors that is bias, tracked from the linear module that made them.

A view lies in the storage of its module's output. The bias is written in the same places of a
second storage, and the same view of that is the bias of the view: fused projections, splits and
grouped heads need no rules of their own. Where numbers are copied, their biases are copied too.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from normviz.model.capture.projection import bias_of
from normviz.model.capture.tracking import SAME_NUMBERS, TorchFunctionObserver, storage_id

COPYING = SAME_NUMBERS | {"__getitem__", "expand", "broadcast_to", "repeat_interleave"}
"""Functions whose result holds only numbers of their input."""

WRITING = {"__setitem__", "__iadd__", "__isub__", "__imul__", "__itruediv__"}
"""Functions that change their input, besides those whose names end in an underscore."""


class ValueBiasTracker(TorchFunctionObserver):
    """Knows the biases in the outputs of all linear modules since the last attention."""

    def __init__(self) -> None:
        super().__init__()
        self.biases: dict[int, tuple[Tensor, Tensor]] = {}
        """By storage: a tensor of it, kept so that it is not reused, and the biases in it."""

    def add_output(self, module: nn.Module, sample: Tensor, output: Tensor) -> None:
        """Register where the bias of a linear module lies in its output."""
        with torch._C.DisableTorchFunction():  # noqa: SLF001 - our own work is not observed
            self._add(output, bias_of(module, sample))

    def _add(self, tensor: Tensor, bias: Tensor | None) -> None:
        """Register a tensor with its bias; zero, where there is none."""
        length = tensor.untyped_storage().nbytes() // tensor.element_size()
        biases = tensor.new_zeros(length)
        if bias is not None:
            _view_like(tensor, biases).copy_(bias)
        self.biases[storage_id(tensor)] = (tensor, biases)

    def bias_in(self, tensor: Tensor) -> Tensor | None:
        """Return the bias part of a tensor; None unless its numbers come from a linear module."""
        try:
            known = self.biases.get(storage_id(tensor))
        except NotImplementedError:  # under vmap a tensor has no storage
            return None
        return None if known is None else _view_like(tensor, known[1])

    def clear(self) -> None:
        """Forget all outputs, after an attention."""
        self.biases.clear()

    def observe(
        self,
        func: Callable[..., Any],
        args: tuple[Any, ...],
        options: Mapping[str, Any],
        result: Tensor | None,
    ) -> None:
        """Copy biases where the function copied numbers; drop them where it wrote over them."""
        name, tensor = getattr(func, "__name__", ""), args[0]
        bias = self.bias_in(tensor)
        if bias is None:
            return
        if name in COPYING and result is not None and storage_id(result) != storage_id(tensor):
            with torch._C.DisableTorchFunction():  # noqa: SLF001
                self._add(result, func(bias, *args[1:], **options))
        elif _writes(name):
            del self.biases[storage_id(tensor)]


def _writes(name: str) -> bool:
    """Whether a function changes its input; `dropout_` does not, in evaluation mode."""
    in_place = name.endswith("_") and not name.endswith("__")
    return (in_place or name in WRITING) and name not in COPYING


def _view_like(tensor: Tensor, storage: Tensor) -> Tensor:
    """Return the view of a flat storage that the tensor is of its own storage."""
    return storage.as_strided(tensor.size(), tensor.stride(), tensor.storage_offset())

"""What of the value vectors is bias: each is followed from the linear module that made it.

A view lies in its module's output, so the bias written in the same places, looked at in the same
way, is the bias of the view: fused projections, splits and grouped heads need no rules of their
own. Where numbers are copied on the way, their biases are copied alike.
"""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from normviz.model.capture.projection import bias_of
from normviz.model.capture.tracking import SAME_NUMBERS, storage
from normviz.model.decompose import unwrap

COPYING = SAME_NUMBERS | {"__getitem__", "expand", "broadcast_to", "repeat_interleave"}
"""Functions whose result holds nothing but numbers that they were given."""

WRITING = {"__setitem__", "__iadd__", "__isub__", "__imul__", "__itruediv__"}
"""Functions that change what they are given, besides those whose names end in an underscore."""


class ValueBiasTracker(TorchFunctionMode):
    """Knows the biases inside what linear modules have put out since the last attention."""

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[int, tuple[Tensor, Tensor]] = {}
        """By storage: a tensor of it, kept so that it is not reused, and the biases in it."""

    def put_out(self, module: nn.Module, given: Tensor, output: Tensor) -> None:
        """Write down where a linear module's bias lies in its output."""
        with torch._C.DisableTorchFunction():  # noqa: SLF001 - our own work is not followed
            self._note(output, bias_of(module, given))

    def _note(self, tensor: Tensor, bias: Tensor | None) -> None:
        """Write a bias in the places of a tensor; nothing, where there is none."""
        places = tensor.untyped_storage().nbytes() // tensor.element_size()
        written = tensor.new_zeros(places)
        if bias is not None:
            _like(tensor, written).copy_(bias)
        self.known[storage(tensor)] = (tensor, written)

    def bias_in(self, tensor: Tensor) -> Tensor | None:
        """What of a tensor is bias; None where it was not made by a linear module alone."""
        place = _place(tensor)
        found = None if place is None else self.known.get(place)
        return None if found is None else _like(tensor, found[1])

    def forget(self) -> None:
        """Begin anew, after an attention."""
        self.known.clear()

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Run the function; copy biases where it copied numbers, drop them where it wrote over."""
        returned = func(*args, **(kwargs or {}))
        name = getattr(func, "__name__", "")
        result = unwrap(returned) if isinstance(returned, Tensor) else None
        given = unwrap(args[0]) if args and isinstance(args[0], Tensor) else None
        bias = None if given is None else self.bias_in(given)
        if given is None or bias is None:
            return returned
        if name in COPYING and result is not None and storage(result) != storage(given):
            with torch._C.DisableTorchFunction():  # noqa: SLF001
                self._note(result, func(bias, *args[1:], **(kwargs or {})))
        elif _writes(name):
            del self.known[storage(given)]
        return returned


def _writes(name: str) -> bool:
    """Whether a function changes the tensor that it is given; a dropout does not, here."""
    spelled = name.endswith("_") and not name.endswith("__")
    return (spelled or name in WRITING) and name not in COPYING


def _place(tensor: Tensor) -> int | None:
    """What identifies a tensor's storage; None under a vmap, where there is none."""
    try:
        return storage(tensor)
    except NotImplementedError:
        return None


def _like(tensor: Tensor, written: Tensor) -> Tensor:
    """The numbers that lie where the tensor's would."""
    return written.as_strided(tensor.size(), tensor.stride(), tensor.storage_offset())

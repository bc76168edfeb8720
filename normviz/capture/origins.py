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

from normviz.capture.products import SAME_NUMBERS, storage
from normviz.capture.projection import bias_of
from normviz.parts import plain

COPYING = SAME_NUMBERS | {"__getitem__", "expand", "broadcast_to", "repeat_interleave"}
"""Functions whose result holds nothing but numbers that they were given."""


class Origins(TorchFunctionMode):
    """Knows the biases inside what linear modules have put out since the last attention."""

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[int, tuple[Tensor, Tensor]] = {}
        """By storage: a tensor of it, kept so that it is not reused, and the biases in it."""

    def put_out(self, module: nn.Module, given: Tensor, output: Tensor) -> None:
        """Write down where a linear module's bias lies in its output."""
        with torch._C.DisableTorchFunction():  # noqa: SLF001 - our own work is not followed
            bias = bias_of(module, given)
            places = output.untyped_storage().nbytes() // output.element_size()
            written = output.new_zeros(places)
            if bias is not None:
                _like(output, written).copy_(bias)
            self.known[storage(output)] = (output, written)

    def bias_in(self, tensor: Tensor) -> Tensor | None:
        """What of a tensor is bias; None where it was not made by a linear module alone."""
        found = self.known.get(storage(tensor))
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
        """Run the function, and copy biases where it copied numbers."""
        returned = func(*args, **(kwargs or {}))
        result = plain(returned) if isinstance(returned, Tensor) else None
        given = plain(args[0]) if args and isinstance(args[0], Tensor) else None
        if result is None or given is None or getattr(func, "__name__", "") not in COPYING:
            return returned
        if storage(result) != storage(given) and (bias := self.bias_in(given)) is not None:
            with torch._C.DisableTorchFunction():  # noqa: SLF001
                copied = func(bias, *args[1:], **(kwargs or {}))
                written = copied.new_zeros(
                    result.untyped_storage().nbytes() // result.element_size()
                )
                _like(result, written).copy_(copied)
                self.known[storage(result)] = (result, written)
        return returned


def _like(tensor: Tensor, written: Tensor) -> Tensor:
    """The numbers that lie where the tensor's would."""
    return written.as_strided(tensor.size(), tensor.stride(), tensor.storage_offset())

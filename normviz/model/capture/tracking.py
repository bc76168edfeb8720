"""Following tensors from one torch function to the next.

A view, a transpose or a cast passes its numbers on; following these leads from an attention to its
output projection. For models that are not on the attention registry, the attention itself is found
so: they compute it in their own words, but all say the same two, a softmax and a product of it with
the values. Whether what was heard is the whole attention is not assumed: the receipt checks it.
"""

import sys
from collections.abc import Callable, Iterable
from typing import Any, Protocol, runtime_checkable

from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from normviz.model.decompose import unwrap

CROSS_INPUT_NAMES = ("key_value_states", "encoder_hidden_states")
"""What attention modules call the sequence they read, when it is not their own."""
PRODUCTS = {"matmul", "bmm", "__matmul__"}
SAME_NUMBERS = {
    "view", "reshape", "permute", "transpose", "contiguous", "flatten", "unsqueeze", "squeeze",
    "dropout", "to", "type_as", "type", "float", "clone", "dropout_", "split", "chunk",
}  # fmt: skip
"""Functions that pass their numbers on: in evaluation mode a dropout does too."""


def uses_registry(modules: Iterable[nn.Module]) -> bool:
    """Whether any of the modules was written in a file that knows the attention registry."""
    names = {type(module).__module__ for module in modules}
    return any(hasattr(sys.modules.get(name), "ALL_ATTENTION_FUNCTIONS") for name in names)


def storage(tensor: Tensor) -> int:
    """What identifies a tensor's storage, also on devices that hold no data."""
    return tensor.untyped_storage()._cdata  # type: ignore[no-any-return] # noqa: SLF001


@runtime_checkable
class TensorObserver(Protocol):
    """Who is told of a product, and of every new shape of its result."""

    def multiplied(self, weight: Tensor, value: Tensor, output: Tensor) -> None:
        """Hear a product of weights and values."""

    def passed_on(self, before: Tensor, after: Tensor) -> None:
        """Hear that the numbers of one tensor went on in another."""


class TensorTracker(TorchFunctionMode):
    """Overhears torch functions in this thread; with `products`, also softmax times values."""

    def __init__(self, hearer: TensorObserver, *, products: bool = False) -> None:
        super().__init__()
        self.hearer = hearer
        self.products = products
        self.weights: dict[int, Tensor] = {}
        """The last softmax in all its shapes, by storage; kept, so that no storage is reused."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Run the function, and note where the weights went."""
        returned = func(*args, **(kwargs or {}))
        name = getattr(func, "__name__", "")
        result = unwrap(returned) if isinstance(returned, Tensor) else None
        given = unwrap(args[0]) if args and isinstance(args[0], Tensor) else None
        if result is None or given is None:
            return returned
        if name in SAME_NUMBERS:
            if storage(given) in self.weights:
                self.weights[storage(result)] = result
            self.hearer.passed_on(given, result)
        elif self.products and name == "softmax":
            self.weights = {storage(result): result}
        elif name in PRODUCTS and storage(given) in self.weights:
            first = next(iter(self.weights.values()))
            self.weights = {}
            self.hearer.multiplied(given.reshape(first.shape), unwrap(args[1]), result)
        return returned

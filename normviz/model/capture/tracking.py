"""Tracking tensors from one torch function to the next.

A view, a transpose or a cast keeps the numbers of its input; tracking these leads from an attention
to its output projection. In models that do not use the attention registry of transformers, the
attention itself is found in this way, as a softmax whose result is multiplied with the values.
Whether that is the whole attention is not assumed: the receipt checks it.
"""

import sys
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, runtime_checkable

from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from normviz.model.decompose import unwrap

CROSS_INPUT_NAMES = ("key_value_states", "encoder_hidden_states")
"""The parameters in which modules receive the other sequence that cross-attention reads."""
PRODUCTS = {"matmul", "bmm", "__matmul__"}
SAME_NUMBERS = {
    "view", "reshape", "permute", "transpose", "contiguous", "flatten", "unsqueeze", "squeeze",
    "dropout", "to", "type_as", "type", "float", "clone", "dropout_", "split", "chunk",
}  # fmt: skip
"""Functions whose result has the numbers of their input; in evaluation mode dropout is one."""


def uses_registry(modules: Iterable[nn.Module]) -> bool:
    """Whether the file of any of the modules uses the attention registry of transformers."""
    names = {type(module).__module__ for module in modules}
    return any(hasattr(sys.modules.get(name), "ALL_ATTENTION_FUNCTIONS") for name in names)


def storage_id(tensor: Tensor) -> int:
    """Return what identifies a tensor's storage, also on devices that hold no data."""
    return tensor.untyped_storage()._cdata  # type: ignore[no-any-return] # noqa: SLF001


class TorchFunctionObserver(TorchFunctionMode):
    """Runs every torch function of this thread as it is, and observes its input and result."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Run the function, and observe it if its first argument is a tensor."""
        options = kwargs or {}
        returned = func(*args, **options)
        if args and isinstance(args[0], Tensor):
            result = unwrap(returned) if isinstance(returned, Tensor) else None
            self.observe(func, (unwrap(args[0]), *args[1:]), options, result)
        return returned

    @abstractmethod
    def observe(
        self,
        func: Callable[..., Any],
        args: tuple[Any, ...],
        options: Mapping[str, Any],
        result: Tensor | None,
    ) -> None:
        """Observe a call whose first argument is a tensor; `result` is None if it is no tensor."""


@runtime_checkable
class TensorObserver(Protocol):
    """What a `TensorTracker` reports to."""

    def observe_product(self, weight: Tensor, value: Tensor, output: Tensor) -> None:
        """Observe a product of attention weights and values."""

    def observe_view(self, before: Tensor, after: Tensor) -> None:
        """Observe that a tensor has the numbers of another one."""


class TensorTracker(TorchFunctionObserver):
    """Reports tensors that keep their numbers; with `products`, also softmax times values."""

    def __init__(self, observer: TensorObserver, *, products: bool = False) -> None:
        super().__init__()
        self.observer = observer
        self.products = products
        self.weights: dict[int, Tensor] = {}
        """The last softmax in all its shapes, by storage; kept, so that no storage is reused."""

    def observe(
        self,
        func: Callable[..., Any],
        args: tuple[Any, ...],
        options: Mapping[str, Any],
        result: Tensor | None,
    ) -> None:
        """Track where the numbers of the weights went."""
        del options
        if result is None:
            return
        name, tensor = getattr(func, "__name__", ""), args[0]
        if name in SAME_NUMBERS:
            if storage_id(tensor) in self.weights:
                self.weights[storage_id(result)] = result
            self.observer.observe_view(tensor, result)
        elif self.products and name == "softmax":
            self.weights = {storage_id(result): result}
        elif name in PRODUCTS and storage_id(tensor) in self.weights:
            softmax = next(iter(self.weights.values()))
            self.weights = {}
            self.observer.observe_product(tensor.reshape(softmax.shape), unwrap(args[1]), result)

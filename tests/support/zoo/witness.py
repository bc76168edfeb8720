"""An independent count of the attentions a model computes, by watching torch itself."""

from collections.abc import Iterator
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

SOFTMAX = ("softmax", "_softmax")
CARRIED = {
    "to", "type", "float", "half", "type_as", "view", "view_as", "reshape", "expand", "repeat",
    "transpose", "permute", "contiguous", "clone", "squeeze", "unsqueeze", "flatten", "unflatten",
    "dropout", "dropout_", "alpha_dropout", "masked_fill", "masked_fill_", "where", "nan_to_num",
    "mul", "__mul__", "__rmul__", "div", "__truediv__", "sub", "__sub__", "__rsub__",
    "__getitem__", "index_select", "pad", "_pad", "constant_pad_nd", "as_strided", "cat", "narrow",
}  # fmt: skip
"""What weights may go through between the softmax and the values."""
MULTIPLIED = {"matmul", "__matmul__", "bmm", "einsum", "baddbmm", "_sparse_semi_structured_linear"}
WHOLE = {
    "scaled_dot_product_attention",
    "multi_head_attention_forward",
    "_native_multi_head_attention",
}
"""Functions that are an attention by themselves."""


class Witness(TorchFunctionMode):
    """Counts softmaxes whose result multiplies something, and calls of whole attentions.

    `count` is the number of calls, `weights` how many numbers their weights have together.
    """

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self.weights = 0
        self._kept: list[torch.Tensor] = []
        self._origin: dict[int, int] = {}
        self._counted: set[int] = set()

    def __torch_function__(
        self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        """Run a function of torch, and look at what went in and came out."""
        name = getattr(func, "__name__", "")
        result = func(*args, **(kwargs or {}))
        if name in WHOLE:
            self.count += 1
            self.weights += count_whole(name, args, kwargs or {})
        elif name in MULTIPLIED:
            operands = list(tensors_in(args))
            if any(isinstance(tensor, torch.nn.Parameter) for tensor in operands):
                return result  # shares of a vocabulary or of experts, not of tokens
            for tensor in operands:
                if (origin := self._origin.get(id(tensor))) and origin not in self._counted:
                    self._counted.add(origin)
                    self.count += 1
                    self.weights += tensor.numel()
        elif name in SOFTMAX and isinstance(result, torch.Tensor) and result.dim() > 2:
            self._mark(result, len(self._kept) + 1)
        elif name in CARRIED and isinstance(result, torch.Tensor):
            for tensor in tensors_in(args):
                if origin := self._origin.get(id(tensor)):
                    self._mark(result, origin)
                    break
        return result

    def _mark(self, tensor: torch.Tensor, origin: int) -> None:
        self._kept.append(tensor)  # so that no other tensor gets its id
        self._origin[id(tensor)] = origin


def count_whole(name: str, args: tuple, kwargs: dict[str, Any]) -> int:
    """Return how many weights a whole attention has inside."""
    query, key = (args[n] if len(args) > n else kwargs[k] for n, k in enumerate(("query", "key")))
    rows = query.shape[:-1].numel()
    if name == "scaled_dot_product_attention":
        return rows * key.shape[-2]
    heads = args[4] if len(args) > 4 else kwargs["num_heads"]
    return rows * heads * key.shape[1 if name.startswith("_") else 0]


def watch(model: torch.nn.Module, inputs: dict[str, Any]) -> Witness:
    """Run a model once, and return what was seen of its attentions."""
    with torch.no_grad(), Witness() as witness:
        model(**inputs)
    return witness


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """Yield every tensor of a nest of containers."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from tensors_in(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from tensors_in(part)


def own_attentions(model: torch.nn.Module, inputs: dict[str, Any]) -> list[torch.Tensor]:
    """Return the weights that a model itself reports, one sequence each; [] if it cannot.

    Without a cache: with one, some models leave out their mask, as they do to continue a text.
    """
    for module in model.modules():
        if hasattr(getattr(module, "config", None), "use_cache"):
            module.config.use_cache = False
    try:
        with torch.no_grad():
            output = model(**inputs, output_attentions=True)
    except Exception:  # noqa: BLE001 (many models have no such option)
        return []
    return [t[n] for t in _attentions_in(output) if t.dim() == 4 for n in range(len(t))]


def _attentions_in(output: Any) -> Iterator[torch.Tensor]:
    if not isinstance(output, dict):
        return
    for name, value in output.items():
        if name.endswith("attentions") and value is not None:
            yield from tensors_in(value)
        else:
            yield from _attentions_in(value)

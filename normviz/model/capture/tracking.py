"""Recognizing attentions in the torch functions that a model calls.

In code that does not use the attention registry of transformers, an attention is a softmax whose
result is multiplied with the values. Whether that is the whole attention is not assumed: the
receipt checks it.
"""

import inspect
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from torch import Tensor
from torch.overrides import TorchFunctionMode

from normviz.model.capture.hooks import AttentionObserver, active_observer
from normviz.model.decompose import DecomposedTensor, unwrap
from normviz.model.einsum import read_product

CROSS_INPUT_NAMES = ("key_value_states", "encoder_hidden_states", "cross_attention_states")
"""The parameters in which modules receive the other sequence that cross-attention reads."""
ATTENTION_STEPS = {"softmax", "scaled_dot_product_attention", "multi_head_attention_forward"}
"""The functions in which an attention is recognized."""
PRODUCTS = {"matmul", "bmm", "__matmul__"}
SAME_NUMBERS = {
    "view", "reshape", "permute", "transpose", "contiguous", "flatten", "unsqueeze", "squeeze",
    "dropout", "to", "type_as", "type", "float", "clone", "dropout_", "split", "chunk",
}  # fmt: skip
"""Functions whose result has the numbers of their input; in evaluation mode dropout is one."""
STILL_WEIGHTS = SAME_NUMBERS | {
    "mul", "__mul__", "__rmul__", "__imul__", "div", "__truediv__", "masked_fill", "masked_fill_",
    "where", "__getitem__", "half", "bfloat16", "double", "nan_to_num", "view_as", "reshape_as",
    "expand", "repeat_interleave", "add", "__add__", "sub", "__sub__", "narrow",
}  # fmt: skip
"""Functions of weights whose result may still be weights: what the values are multiplied with."""


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


@dataclass(frozen=True, eq=False)
class Product:
    """Attention weights times values, and where the result's axes come from."""

    weight: Tensor
    """`[..., query, key]`."""
    value: Tensor
    """`[..., key, dim]`; its leading axes are those of the weights, or can be expanded to them."""
    axes: tuple[int, ...] | None = None
    """The axes of `[..., query, dim]` in the order of the result; None where it is the same."""


@runtime_checkable
class FunctionObserver(AttentionObserver, Protocol):
    """What an `AttentionTracker` reports to."""

    @property
    def is_following(self) -> bool:
        """Whether every function is reported, and not only the steps of an attention."""

    def observe_product(self, product: Product, output: Tensor) -> Tensor:
        """Observe a product of attention weights and values; return what takes its place."""

    def observe_multihead(
        self, arguments: Mapping[str, Any], weight: Tensor, output: Tensor
    ) -> Tensor:
        """Observe torch's own multi-head attention, projected; return what takes its place."""

    def edit_heads(self, context: Tensor) -> Tensor:
        """Return what takes the place of the heads' outputs inside torch's own attention."""

    def before_function(self, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        """Observe that a function is about to run."""

    def after_function(
        self, name: str, args: tuple[Any, ...], options: dict[str, Any], result: Any
    ) -> None:
        """Observe what a function returned."""


class AttentionTracker(TorchFunctionMode):
    """Reports softmax times values, and every other function, to an observer."""

    def __init__(self, observer: FunctionObserver, *, written_out: bool = False) -> None:
        super().__init__()
        self.observer = observer
        self.written_out = written_out
        """Whether fused attention is computed step by step, so that it can be differentiated."""
        self.paused = False
        """Whether an attention function runs that is observed as a whole."""
        self.dtypes: set[Any] = set()
        """The types of all results."""
        self.weights: dict[int, Tensor] = {}
        """The last softmax in all its forms, by id; kept, so that no id is reused."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Run the function, and report it."""
        del types
        result = self._run(func, args, kwargs or {})
        self.dtypes.add(getattr(result, "dtype", None))
        return result

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Report nothing inside a `with`."""
        self.paused = True
        try:
            yield
        finally:
            self.paused = False

    def least_precise(self) -> torch.dtype:
        """Return the least precise floating-point type that any result had."""
        known = (t for t in self.dtypes if isinstance(t, torch.dtype))
        floating = [t for t in known if t.is_floating_point]
        return max(floating, key=lambda t: torch.finfo(t).eps, default=torch.float32)

    def _run(self, func: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        # A pass nested inside another one has an observer of its own.
        if self.paused or active_observer.get() is not self.observer:
            return func(*args, **options)
        name = getattr(func, "__name__", "")
        if name not in ATTENTION_STEPS and not self.weights and not self.observer.is_following:
            return func(*args, **options)
        self.observer.before_function(name, args, options)
        if name == "scaled_dot_product_attention":
            weight, value = _scaled_dot_product(*unwrap(args), **unwrap(options))
            output = self._fused_output(func, args, options, weight)
            return self.observer.observe_product(Product(weight, value), output)
        if name == "multi_head_attention_forward":
            return self._observe_multihead(func, args, options)
        result = func(*args, **options)
        if name == "softmax":
            if _is_over_last_axis(result, args, options):
                self.weights = {id(result): result}
        elif self.weights:
            product = self._product(name, args, result)
            if product is not None:
                self.weights = {}
                return self.observer.observe_product(product, result)
        self.observer.after_function(name, args, options, result)
        return result

    def _fused_output(
        self, func: Callable[..., Any], args: Any, options: dict[str, Any], weight: Tensor
    ) -> Any:
        """Return what fused attention returns; step by step where its values are on tape."""
        original = args[2] if len(args) > 2 else options["value"]  # noqa: PLR2004
        if not (self.written_out or isinstance(original, DecomposedTensor)):
            return func(*args, **options)
        groups = weight.shape[-3] // original.shape[-3] if weight.ndim > 2 else 1  # noqa: PLR2004
        return weight @ (original.repeat_interleave(groups, dim=-3) if groups > 1 else original)

    def _product(self, name: str, args: tuple[Any, ...], result: Any) -> Product | None:
        """Return weights and values, if a function multiplies them; else track the weights."""
        if name == "einsum":
            return self._einsum_product(args)
        if not any(id(arg) in self.weights for arg in args):
            return None
        if name in PRODUCTS and id(args[0]) in self.weights:
            weight, value = unwrap(args[0]), unwrap(args[1])
            return Product(weight, value) if value.ndim > 1 else None
        if name in STILL_WEIGHTS and isinstance(result, Tensor):
            self.weights[id(result)] = result
        return None

    def _einsum_product(self, args: tuple[Any, ...]) -> Product | None:
        """Return weights and values of a product written in letters; None if it is no such."""
        equation, *operands = args
        operands = list(operands[0]) if len(operands) == 1 else operands
        known = [id(operand) in self.weights for operand in operands]
        if len(operands) != 2 or sum(known) != 1 or "->" not in equation:  # noqa: PLR2004
            return None
        letters, target = read_product(equation, [operand.ndim for operand in operands])
        pairs = list(zip(letters, operands, strict=True))
        (w, weight), (v, value) = pairs if known[0] else reversed(pairs)
        keys = [c for c in w if c in v and c not in target]
        lead = [c for c in target if c in w and c in v]
        queries, dims = [c for c in w if c not in v], [c for c in v if c not in w]
        if [len(keys), len(queries), len(dims)] != [1, 1, 1]:
            return None
        canonical = [*lead, *queries, *dims]
        return Product(
            unwrap(weight).permute([w.index(c) for c in [*lead, *queries, *keys]]),
            unwrap(value).permute([v.index(c) for c in [*lead, *keys, *dims]]),
            tuple(canonical.index(c) for c in target),
        )

    def _observe_multihead(
        self, func: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        bound = inspect.signature(F.multi_head_attention_forward).bind(*args, **options)
        bound.apply_defaults()
        arguments = unwrap(dict(bound.arguments))
        wanted = arguments | {"need_weights": True, "average_attn_weights": False}
        with torch._C.DisableTorchFunction():  # noqa: SLF001 - our own work is not observed
            _, weight = F.multi_head_attention_forward(**wanted)
        assert weight is not None  # noqa: S101 - it was asked for
        given = dict(bound.arguments)
        if self.written_out or isinstance(given["value"], DecomposedTensor):
            output, returned = _multihead_output(given, weight, self.observer.edit_heads), weight
        else:
            output, returned = func(*args, **options)
        return self.observer.observe_multihead(arguments, weight, output), returned


def multihead_value_map(arguments: Mapping[str, Any]) -> tuple[Tensor, Tensor | None]:
    """Return the matrix and bias of the values of torch's own multi-head attention."""
    bias = arguments["in_proj_bias"]
    weight = arguments["v_proj_weight"]
    if not arguments["use_separate_proj_weight"]:
        weight = arguments["in_proj_weight"].chunk(3)[2]
    return weight, None if bias is None else bias.chunk(3)[2]


def _multihead_output(
    arguments: Mapping[str, Any], weight: Tensor, edit_heads: Callable[[Tensor], Tensor]
) -> Tensor:
    """Return the output of torch's own multi-head attention, step by step."""
    sequences, heads = weight.shape[:2]
    value: Tensor = F.linear(arguments["value"], *multihead_value_map(arguments))
    by_head = value.reshape(value.shape[0], sequences * heads, -1).transpose(0, 1)
    context = torch.bmm(weight.flatten(0, 1), by_head).transpose(0, 1)
    context = edit_heads(context.reshape(weight.shape[2], sequences, heads, -1))
    joined = context.reshape(weight.shape[2], sequences, -1)
    return F.linear(joined, arguments["out_proj_weight"], arguments["out_proj_bias"])


def _is_over_last_axis(result: Tensor, args: tuple[Any, ...], options: Mapping[str, Any]) -> bool:
    dim = options.get("dim", args[1] if len(args) > 1 else -1)
    return isinstance(dim, int) and dim % max(1, result.ndim) == result.ndim - 1


def _scaled_dot_product(  # noqa: PLR0917 - as torch takes them
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,  # noqa: FBT001, FBT002
    scale: float | None = None,
    enable_gqa: bool = False,  # noqa: FBT001, FBT002
) -> tuple[Tensor, Tensor]:
    """Return the weights behind torch's fused attention, and its values for each query head."""
    del dropout_p
    with torch._C.DisableTorchFunction():  # noqa: SLF001 - our own work is not observed
        if enable_gqa:
            key, value = (
                t.repeat_interleave(query.shape[-3] // t.shape[-3], dim=-3) for t in (key, value)
            )
        scores = query @ key.mT * (query.shape[-1] ** -0.5 if scale is None else scale)
        if is_causal:
            visible = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
            scores = scores.masked_fill(~visible, -torch.inf)
        if attn_mask is not None and attn_mask.dtype == torch.bool:
            scores = scores.masked_fill(~attn_mask, -torch.inf)
        elif attn_mask is not None:
            scores = scores + attn_mask
        return scores.softmax(dim=-1), value

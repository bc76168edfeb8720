"""Following an attention's context, operation by operation, to what leaves the attention block.

Every torch function that reads a followed tensor has a rule here, which gives the form of its
result (see `output_map`), or makes the result lost, with the function's name.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from normviz.model.capture.layout import join_layouts
from normviz.model.capture.output_map import (
    Followed,
    Form,
    Lost,
    Mean,
    NotLinear,
    Statistic,
    apply_center,
    apply_joining,
    apply_linear,
    apply_move,
    apply_offset,
    apply_scale,
    apply_sum,
)
from normviz.model.decompose import unwrap
from normviz.model.einsum import read_product
from normviz.model.types import at_least_single

Rule = Callable[..., Any]
"""Takes the follower and the function's arguments; returns what is followed of its result."""
RULES: dict[str, Rule] = {}

SAME_NUMBERS = {
    "contiguous", "dropout", "dropout_", "to", "type_as", "type", "float", "double", "half",
    "bfloat16", "clone", "detach", "cpu", "cuda", "alpha_dropout", "feature_dropout",
}  # fmt: skip
"""Functions whose result has the numbers of their input; in evaluation mode dropout is one."""

MOVES: dict[str, Callable[..., Any]] = {
    "view": Tensor.reshape,
    "view_as": lambda x, other: x.reshape(other.shape),
    "reshape_as": lambda x, other: x.reshape(other.shape),
    "__getitem__": lambda x, index: x[index],
    "__get__ T": lambda x: x.T,
    "__get__ mT": lambda x: x.mT,
}
MOVES |= {
    name: getattr(torch.Tensor, name)
    for name in (
        "reshape", "permute", "transpose", "flatten", "unflatten", "unsqueeze", "squeeze", "narrow",
        "index_select", "movedim", "moveaxis", "swapaxes", "swapdims", "roll", "flip", "select",
        "chunk", "split", "unbind", "tensor_split", "split_with_sizes", "ravel", "t",
    )
}  # fmt: skip
"""Functions that only move numbers, into one tensor or several."""

READS_ONLY = {"__get__", "size", "dim", "stride", "numel", "is_contiguous", "__len__", "tolist"}


class ContextFollower:
    """Knows, for every tensor made of a context, how it follows from it."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[Tensor, Followed]] = {}
        """By the id of a tensor: the tensor, kept so that the id is not reused, and its form."""

    def __bool__(self) -> bool:
        """Whether anything is followed."""
        return bool(self.known)

    def get(self, value: Any) -> Followed | None:
        """Return what is known of a value; None if it does not come from a context."""
        known = self.known.get(id(value))
        return None if known is None else known[1]

    def set(self, tensor: Tensor, followed: Followed | None) -> None:
        """Follow a tensor, or stop following it."""
        if followed is None:
            self.known.pop(id(tensor), None)
        else:
            self.known[id(tensor)] = (tensor, followed)

    def clear(self) -> None:
        """Forget everything."""
        self.known.clear()

    def reads(self, args: Iterable[Any]) -> bool:
        """Whether any argument is followed."""
        known = self.known
        for arg in args:
            if id(arg) in known:
                return True
            if isinstance(arg, list | tuple) and any(id(item) in known for item in arg):
                return True
        return False

    def observe(
        self, name: str, args: tuple[Any, ...], options: Mapping[str, Any], result: Any
    ) -> None:
        """Follow the result of a function that read a followed tensor."""
        results = [result] if isinstance(result, Tensor) else result
        if not isinstance(results, list | tuple) or name in READS_ONLY:
            return
        tensors = [r for r in results if isinstance(r, Tensor) and r.is_floating_point()]
        if not tensors:
            return
        followed = self._apply(name, args, options)
        if isinstance(followed, tuple):
            for tensor, one in zip(results, followed, strict=True):
                self.set(tensor, one)
        else:
            for tensor in tensors:
                self.set(tensor, followed)

    def _apply(
        self, name: str, args: tuple[Any, ...], options: Mapping[str, Any]
    ) -> Followed | tuple[Followed, ...] | None:
        lost = next((f for f in map(self.get, _flat(args, options)) if isinstance(f, Lost)), None)
        if lost is not None:
            return lost
        in_place = name.endswith("_") and not name.startswith("__") and name not in SAME_NUMBERS
        name = name.removesuffix("_") if in_place else name
        try:
            # Forms are worked out with plain tensors, unobserved.
            with torch._C.DisableTorchFunction():  # noqa: SLF001
                if name in SAME_NUMBERS:
                    return self.get(args[0])
                if name in MOVES:
                    return self._move(name, args, options)
                apply_rule: Rule = RULES.get(name, _lose)
                return apply_rule(self, *args, **options)  # type: ignore[no-any-return]
        except (NotLinear, TypeError, IndexError, RuntimeError, ValueError) as error:
            reason = str(error).partition("\n")[0]
            return Lost(f"{name}: {reason}" if reason else name)

    def _move(
        self, name: str, args: tuple[Any, ...], options: Mapping[str, Any]
    ) -> Followed | tuple[Followed, ...] | None:
        form, function = self.get(args[0]), MOVES[name]
        if form is None:  # something else was given its shape
            return None
        if not isinstance(form, Form):
            return Lost(name)
        rest = unwrap(args[1:])
        key = _hashable((name, rest, tuple(sorted(options.items(), key=str))))

        def move(tensor: Tensor) -> Any:
            return function(tensor, *_on_device(rest, tensor.device), **options)

        return apply_move(form, key, move, unwrap(args[0]).shape)


def _lose(*_args: Any, **_options: Any) -> Followed:
    """The rule of functions that have none."""
    raise NotLinear


def _on_device(args: Any, device: torch.device) -> Any:
    if isinstance(args, Tensor):
        return args.to(device)
    if isinstance(args, tuple):
        return tuple(_on_device(item, device) for item in args)
    return args


def _flat(args: Iterable[Any], options: Mapping[str, Any]) -> Iterable[Any]:
    for value in (*args, *options.values()):
        if isinstance(value, list | tuple):
            yield from value
        else:
            yield value


def _hashable(value: Any) -> Any:
    """Return a key that stands for the arguments of a move; None where a tensor is among them."""
    if any(isinstance(item, Tensor) for item in _deep(value)):
        return None
    return repr(value)


def _deep(value: Any) -> Iterable[Any]:
    if isinstance(value, list | tuple):
        for item in value:
            yield from _deep(item)
    else:
        yield value


def is_bias(value: Any) -> bool:
    """Whether a term of a sum is a bias: a number, a parameter, or one vector for all tokens."""
    return not isinstance(value, Tensor) or isinstance(value, nn.Parameter) or value.ndim <= 1


# --- the rules ----------------------------------------------------------------------------------


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Add a rule under each of its names."""

    def register(function: Rule) -> Rule:
        for name in names:
            RULES[name] = function
        return function

    return register


def _require_form(follower: ContextFollower, x: Any, operation: str) -> Form:
    form = follower.get(x)
    if not isinstance(form, Form):
        raise NotLinear(f"{operation} of a statistic")
    return form


@rule("linear")
def _linear(follower: ContextFollower, x: Any, weight: Any, bias: Any = None) -> Followed:
    form = _require_form(follower, x, "a linear map")
    if follower.reads((weight, bias)):
        raise NotLinear("its matrix depends on the context")
    return apply_linear(form, unwrap(weight).detach().T, _detach(bias))


@rule("addmm")
def _addmm(follower: ContextFollower, bias: Any, x: Any, matrix: Any) -> Followed:
    followed: Followed = _linear(follower, x, unwrap(matrix).T, bias)
    return followed


@rule("matmul", "__matmul__", "mm", "bmm")
def _matmul(follower: ContextFollower, x: Any, matrix: Any) -> Followed:
    form = _require_form(follower, x, "a product")
    plain = unwrap(matrix)
    if follower.reads((matrix,)) or plain.shape[:-2].numel() != 1 or plain.ndim < 2:  # noqa: PLR2004
        raise NotLinear("a product with something else than one matrix")
    return apply_linear(form, plain.reshape(plain.shape[-2:]).detach(), None)


@rule("einsum")
def _einsum(follower: ContextFollower, equation: str, *operands: Any) -> Followed:
    """A product that contracts features of the context with a matrix."""
    operands = tuple(operands[0]) if len(operands) == 1 else operands
    (first, second), target = read_product(equation, [operand.ndim for operand in operands])
    x, weight = operands
    if follower.get(x) is None:
        (first, x), (second, weight) = (second, weight), (first, x)
    form = _require_form(follower, x, "a product")
    if follower.reads((weight,)) or not target:
        raise NotLinear("a product with something else than one matrix")
    contracted = [c for c in first if c in second and c not in target]
    kept = [c for c in first if c in target]
    new = [c for c in second if c not in first]
    if any(c in second for c in kept) or {*kept, *new} != set(target) or not contracted:
        raise NotLinear("a product with something else than one matrix")
    shape = unwrap(x).shape
    sizes = {c: shape[n] for n, c in enumerate(first)}
    order = [first.index(c) for c in kept + contracted]
    lead = [sizes[c] for c in kept]
    flattened = apply_move(form, None, lambda t: t.permute(order).reshape(*lead, -1), shape)
    assert isinstance(flattened, Form)  # noqa: S101 - one tensor in, one out
    plain = unwrap(weight).detach().permute([second.index(c) for c in contracted + new])
    tail = plain.shape[len(contracted) :]
    mapped = apply_linear(flattened, plain.reshape(-1, tail.numel()), None)
    back = [(kept + new).index(c) for c in target]
    width = torch.Size([*lead, tail.numel()])
    moved = apply_move(mapped, None, lambda t: t.reshape(*lead, *tail).permute(back), width)
    assert isinstance(moved, Form)  # noqa: S101
    return moved


@rule("conv1d", "conv2d")
def _pointwise_conv(
    follower: ContextFollower, x: Any, weight: Any, bias: Any = None, *args: Any, **options: Any
) -> Followed:
    """A convolution over single positions is a linear map of their channels."""
    form = _require_form(follower, x, "a convolution")
    plain = unwrap(weight).detach()
    if plain.shape[2:].numel() != 1 or plain.shape[1] != unwrap(x).shape[1]:
        raise NotLinear("it mixes positions or groups of channels")
    del args, options
    shape = unwrap(x).shape
    last = apply_move(form, None, lambda t: t.movedim(1, -1), shape)
    assert isinstance(last, Form)  # noqa: S101
    mapped = apply_linear(last, plain.flatten(1).T, _detach(bias))
    width = torch.Size([shape[0], *shape[2:], plain.shape[0]])
    back = apply_move(mapped, None, lambda t: t.movedim(-1, 1), width)
    assert isinstance(back, Form)  # noqa: S101
    return back


@rule("add", "__add__", "__radd__", "__iadd__")
def _add(follower: ContextFollower, a: Any, b: Any, *, alpha: float = 1.0) -> Followed:
    return _sum(follower, a, b, alpha)


@rule("sub", "__sub__", "__isub__", "subtract")
def _sub(follower: ContextFollower, a: Any, b: Any, *, alpha: float = 1.0) -> Followed:
    return _sum(follower, a, b, -alpha)


@rule("rsub", "__rsub__")
def _rsub(follower: ContextFollower, a: Any, b: Any) -> Followed:
    return _sum(follower, b, a, -1.0)


def _sum(follower: ContextFollower, a: Any, b: Any, factor: float) -> Followed:
    first, second = follower.get(a), follower.get(b)
    if isinstance(first, Statistic) or isinstance(second, Statistic):
        return _held_statistic(first, second)
    if isinstance(first, Form) and isinstance(second, Mean):
        if second.of is not first or factor != -1:
            raise NotLinear("a sum with a mean")
        return apply_center(first, unwrap(a).shape[-1])
    if isinstance(first, Form) and isinstance(second, Form):
        return apply_sum(first, second, factor)
    if isinstance(first, Form):
        other = unwrap(b)
        return apply_offset(first, other * factor if factor != 1 else other)
    if isinstance(second, Form):
        scaled = second if factor == 1 else apply_scale(second, factor, unwrap(b).shape)
        return apply_offset(scaled, unwrap(a))
    raise NotLinear("a sum with a mean")


def _held_statistic(*followed: Followed | None) -> Followed:
    if any(isinstance(one, Form | Mean) for one in followed):
        raise NotLinear("a sum with a statistic of itself")
    return Statistic()


@rule("mul", "__mul__", "__rmul__", "__imul__", "multiply")
def _mul(follower: ContextFollower, a: Any, b: Any) -> Followed:
    first, second = follower.get(a), follower.get(b)
    if first is not None and second is not None:
        if a is b and isinstance(first, Form):
            return Statistic()
        return _scale_by_statistic(first, second, a, b, inverse=False)
    form, x, factor = (first, a, b) if first is not None else (second, b, a)
    if not isinstance(form, Form):
        return Statistic()
    return apply_scale(form, unwrap(factor), unwrap(x).shape)


@rule("div", "__truediv__", "__itruediv__", "true_divide", "divide")
def _div(follower: ContextFollower, a: Any, b: Any) -> Followed:
    first, second = follower.get(a), follower.get(b)
    if first is not None and second is not None:
        return _scale_by_statistic(first, second, a, b, inverse=True)
    if isinstance(first, Form):
        return apply_scale(first, 1 / unwrap(b), unwrap(a).shape)
    if isinstance(first, Statistic) or isinstance(second, Statistic):
        return Statistic()
    raise NotLinear("a division by the context")


def _scale_by_statistic(
    first: Followed, second: Followed, a: Any, b: Any, *, inverse: bool
) -> Followed:
    """Return a vector scaled by a statistic of its own, which is held as computed."""
    if isinstance(first, Form) and isinstance(second, Statistic):
        factor = unwrap(b)
        return apply_scale(first, 1 / factor if inverse else factor, unwrap(a).shape)
    if isinstance(second, Form) and isinstance(first, Statistic) and not inverse:
        return apply_scale(second, unwrap(a), unwrap(b).shape)
    if isinstance(first, Statistic) and isinstance(second, Statistic):
        return Statistic()
    raise NotLinear("a product of two tensors that both come from the context")


@rule("neg", "negative", "__neg__")
def _neg(follower: ContextFollower, x: Any) -> Followed:
    return apply_scale(_require_form(follower, x, "a negative"), -1.0, unwrap(x).shape)


@rule("pow", "__pow__", "square")
def _power(follower: ContextFollower, x: Any, exponent: Any = 2) -> Followed:
    followed = follower.get(x)
    if isinstance(followed, Statistic):
        return Statistic()
    if isinstance(followed, Form) and exponent == 2:  # noqa: PLR2004
        return Statistic()
    raise NotLinear("a power of the context")


@rule("mean")
def _mean(
    follower: ContextFollower,
    x: Any,
    dim: Any = None,
    keepdim: Any = None,
    **_: Any,
) -> Followed:
    followed, axes = follower.get(x), unwrap(x).ndim
    if isinstance(followed, Statistic):
        return Statistic()
    dims = [dim] if isinstance(dim, int) else list(dim or ())
    if isinstance(followed, Form) and [d % axes for d in dims] == [axes - 1] and keepdim:
        return Mean(followed)
    raise NotLinear("a mean over something else than the features")


@rule("var", "std", "norm", "vector_norm", "rsqrt", "sqrt", "reciprocal", "clamp", "clamp_min",
      "var_mean", "clip", "abs", "amax", "max")  # fmt: skip
def _statistic(follower: ContextFollower, x: Any, *_: Any, **__: Any) -> Followed:
    """A size of the context's vectors: norms divide by it; it is held as computed."""
    followed = follower.get(x)
    if isinstance(followed, Mean):
        raise NotLinear("a function of a mean")
    return Statistic()


@rule("layer_norm")
def _layer_norm(  # noqa: PLR0917 - as torch takes them
    follower: ContextFollower,
    x: Any,
    shape: Any,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
) -> Followed:
    form, plain = _require_form(follower, x, "a norm"), at_least_single(unwrap(x))
    if len(shape) != 1:
        raise NotLinear("it normalizes over several axes")
    deviation = (plain.var(dim=-1, keepdim=True, correction=0) + eps).sqrt()
    return _norm(apply_center(form, plain.shape[-1]), plain.shape, 1 / deviation, weight, bias)


@rule("rms_norm")
def _rms_norm(
    follower: ContextFollower, x: Any, shape: Any, weight: Any = None, eps: float | None = None
) -> Followed:
    form, plain = _require_form(follower, x, "a norm"), at_least_single(unwrap(x))
    if len(shape) != 1:
        raise NotLinear("it normalizes over several axes")
    small = torch.finfo(unwrap(x).dtype).eps if eps is None else eps
    size = (plain.square().mean(dim=-1, keepdim=True) + small).sqrt()
    return _norm(form, plain.shape, 1 / size, weight, None)


def _norm(form: Form, shape: torch.Size, inverse: Tensor, weight: Any, bias: Any) -> Followed:
    scaled = apply_scale(form, inverse, shape)
    if weight is not None:
        scaled = apply_scale(scaled, _detach(weight), shape)
    return scaled if bias is None else apply_offset(scaled, _detach(bias))


@rule("cat", "concat", "concatenate")
def _concatenate(follower: ContextFollower, pieces: Any, dim: int = 0, **_: Any) -> Followed:
    return _join(follower, pieces, lambda tensors: torch.cat(tensors, dim=dim))


@rule("stack")
def _stack(follower: ContextFollower, pieces: Any, dim: int = 0) -> Followed:
    return _join(follower, pieces, lambda tensors: torch.stack(tensors, dim=dim))


def _join(
    follower: ContextFollower, pieces: Any, join: Callable[[list[Tensor]], Tensor]
) -> Followed:
    forms = [_require_form(follower, piece, "a concatenation") for piece in pieces]
    if len(forms) == 1:
        moved = apply_move(forms[0], None, lambda t: join([t]), unwrap(pieces[0]).shape)
        assert isinstance(moved, Form)  # noqa: S101 - one tensor in, one out
        return moved
    return apply_joining(forms, join, join_layouts)


@rule("masked_fill")
def _masked_fill(follower: ContextFollower, x: Any, mask: Any, value: Any) -> Followed:
    """Numbers under a mask replaced by zero."""
    form, plain = _require_form(follower, x, "a mask"), unwrap(x)
    if isinstance(value, Tensor) or value != 0:
        raise NotLinear("numbers filled in that are not zero")
    return apply_scale(form, (~unwrap(mask)).to(plain.dtype), plain.shape)


def _detach(tensor: Any) -> Any:
    return None if tensor is None else unwrap(tensor).detach()

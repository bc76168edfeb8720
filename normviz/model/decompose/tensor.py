"""A tensor that remembers which token each part of it came from.

`Parts` goes through a model's own, unmodified code in place of a plain tensor. Every torch function
runs on the totals exactly as the model wrote it; a rule says how the parts follow, and a record of
that goes on the tape. A function without a rule raises and names itself: nothing is guessed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from torch import Tensor

from normviz.errors import NormvizError
from normviz.model.decompose.rules import table
from normviz.model.decompose.tape import Record, SourceSequence, own, register_use

_running: ContextVar[Callable[[], str] | None] = ContextVar("running", default=None)
"""Who knows which module is running, so that an error can name it."""


class NoRule(NormvizError, NotImplementedError):
    """A model used an operation whose parts normviz does not know."""


class DecomposedTensor(Tensor):
    """A tensor with a record of how it was made."""

    record: Record
    bare: Tensor
    """The same numbers in the same memory, as a plain tensor."""

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., Any],
        types: Any,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run the function on the totals, and write down what becomes of the parts."""
        del types
        options = dict(kwargs or {})
        name, writes = _name(func)
        if writes:
            return _written(name, func, args, options)
        total = func(*unwrap(args), **unwrap(options))
        if not _holds_tensor(total) or name in table.READ:
            return total
        return _wrapped(total, _made(name, total, args, options))


def _written(name: str, func: Callable[..., Any], args: Sequence[Any], options: Any) -> Tensor:
    """Run a function that writes on its first argument; the tape keeps what was there before."""
    target = args[0]
    bare = unwrap(target).detach()  # the same memory, whatever becomes of the target
    before: Any = bare.clone()
    if isinstance(target, DecomposedTensor):
        target.record.total = before
        before = target
    func(bare, *unwrap(args[1:]), **unwrap(options))
    made = _made(name, bare, (before, *args[1:]), options)
    if isinstance(made, Record):
        target.__class__ = DecomposedTensor  # what was plain has parts from now on
        target.record, target.bare = register_use(made), bare
    return target  # type: ignore[no-any-return]


def _made(name: str, total: Any, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """What the rule for a function writes down."""
    rule = table.RULES.get(name)
    if rule is None:
        raise no_rule(name, "it has no rule")
    try:
        return rule(total, *_records(args), **_records(options))
    except table.RuleNotApplicable as reason:
        raise no_rule(name, str(reason)) from reason


def no_rule(name: str, reason: str) -> NoRule:
    """The error that names an operation, and where it ran."""
    where = _running.get()
    place = f" in {where()}" if where is not None else ""
    return NoRule(
        f"The operation {name!r}{place} cannot be taken apart by token: {reason}.",
        "Every operation between a layer's input and its output needs a rule for its parts.",
        "Ask for the attention measures only, or report the model: a rule is a few lines.",
    )


@contextmanager
def error_location(where: Callable[[], str]) -> Iterator[None]:
    """Let errors say which module was running."""
    token = _running.set(where)
    try:
        yield
    finally:
        _running.reset(token)


def track(
    total: Tensor, side: SourceSequence = "own", *, followed: bool = False
) -> DecomposedTensor:
    """Vectors as they enter: token by token, each its own source.

    What a layer makes of a token's vector alone is the token's too, biases and all: f(x) is. Where
    vectors are `followed` through all layers, biases come from no token, in the first layer too.
    """
    return wrap(own(total, side, followed=followed))


def wrap(record: Record) -> DecomposedTensor:
    """The tensor of a record, as one that remembers it."""
    parts = record.total.as_subclass(DecomposedTensor)
    parts.record, parts.bare = record, record.total
    return parts


def unwrap(value: Any) -> Any:
    """Whatever a function takes or gives, with plain tensors in it."""
    return _deep(value, lambda parts: parts.bare)


def _records(value: Any) -> Any:
    return _deep(value, lambda parts: parts.record)


def _deep(value: Any, change: Callable[[DecomposedTensor], Any]) -> Any:
    if isinstance(value, DecomposedTensor):
        return change(value)
    if isinstance(value, list | tuple):
        changed = [_deep(one, change) for one in value]
        return type(value)(*changed) if hasattr(value, "_fields") else type(value)(changed)
    if isinstance(value, dict):
        return {name: _deep(one, change) for name, one in value.items()}
    return value


def _name(func: Callable[..., Any]) -> tuple[str, bool]:
    """What a function is called in the table of rules, and whether it writes on its argument."""
    name = getattr(func, "__name__", str(func))
    if name == "__get__":  # a property, such as .shape or .T
        return str(func.__self__.__name__), False  # type: ignore[attr-defined]
    if name.startswith("__i") and name[3:-2] in table.OPERATORS:
        return table.SPELLINGS.get(name[3:-2], name[3:-2]), True
    if name.startswith("__"):
        return table.SPELLINGS.get(name.strip("_"), name.strip("_")), name == "__setitem__"
    if name.endswith("_"):
        return name.removesuffix("_"), True
    return name, False


def _holds_tensor(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(_holds_tensor(one) for one in value)
    return isinstance(value, Tensor)


def _wrapped(total: Any, made: Any) -> Any:
    if isinstance(made, list | tuple):
        return type(total)(wrap(register_use(one)) for one in made)
    return wrap(register_use(made)) if isinstance(made, Record) else total

"""A tensor that knows which token each part of it came from.

`DecomposedTensor` goes through a model's own, unmodified code in place of a plain tensor. Every
torch function runs on the totals exactly as the model wrote it; a rule says how the parts follow,
and a record of that goes on the tape. A function without a rule raises an error with its name.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from torch import Tensor

from normviz.errors import NormvizError
from normviz.model.decompose.rules import table
from normviz.model.decompose.tape import Record, SourceSequence, register_use, source_record

_location: ContextVar[Callable[[], str] | None] = ContextVar("location", default=None)
"""Returns the module that is running, for error messages."""


class NoRule(NormvizError, NotImplementedError):
    """A model used an operation that normviz cannot decompose."""


class DecomposedTensor(Tensor):
    """A tensor with a record of how it was computed."""

    record: Record
    plain: Tensor
    """The same numbers in the same memory, as a plain tensor."""

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., Any],
        types: Any,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run the function on the totals, and record what becomes of the parts."""
        del types
        options = dict(kwargs or {})
        name, in_place = _rule_name(func)
        if in_place:
            return _run_in_place(name, func, args, options)
        total = func(*unwrap(args), **unwrap(options))
        if not _has_tensor(total) or name in table.READ_FROM_TOTAL:
            return total
        return _wrap_all(total, _apply_rule(name, total, args, options))


def _run_in_place(
    name: str, func: Callable[..., Any], args: Sequence[Any], options: Mapping[str, Any]
) -> Tensor:
    """Run a function that overwrites its first argument; the tape keeps the numbers from before."""
    target = args[0]
    plain = unwrap(target).detach()  # the same memory, whatever becomes of the target
    before: Any = plain.clone()
    if isinstance(target, DecomposedTensor):
        target.record.total = before
        before = target
    func(plain, *unwrap(args[1:]), **unwrap(options))
    record = _apply_rule(name, plain, (before, *args[1:]), options)
    if isinstance(record, Record):
        target.__class__ = DecomposedTensor  # a plain tensor has parts from now on
        target.record, target.plain = register_use(record), plain
    return target  # type: ignore[no-any-return]


def _apply_rule(name: str, total: Any, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Return what the rule for a function gives: records, or the total where it is only read."""
    rule = table.RULES.get(name)
    if rule is None:
        raise _no_rule_error(name, "it has no rule")
    try:
        return rule(total, *_records(args), **_records(options))
    except table.RuleNotApplicable as reason:
        raise _no_rule_error(name, str(reason)) from reason


def _no_rule_error(name: str, reason: str) -> NoRule:
    location = _location.get()
    where = f" in {location()}" if location is not None else ""
    return NoRule(
        f"The operation {name!r}{where} cannot be decomposed by token: {reason}.",
        "Every operation between a layer's input and its output needs a rule for its parts.",
        "Ask for the attention measures only, or report the model: a rule is a few lines.",
    )


@contextmanager
def error_location(location: Callable[[], str]) -> Iterator[None]:
    """Let errors inside the `with` name the module that was running."""
    token = _location.set(location)
    try:
        yield
    finally:
        _location.reset(token)


def track(
    total: Tensor, sequence: SourceSequence = "own", *, stepwise: bool = False
) -> DecomposedTensor:
    """Return input vectors on tape, each token its own source.

    What a layer computes from a token's vector alone, such as f(x), is the token's own, biases
    included. With `stepwise` it is not: every step is recorded, and biases come from no token.
    """
    return wrap(source_record(total, sequence, stepwise=stepwise))


def wrap(record: Record) -> DecomposedTensor:
    """Return the tensor of a record, with the record attached."""
    tensor = record.total.as_subclass(DecomposedTensor)
    tensor.record, tensor.plain = record, record.total
    return tensor


def unwrap(value: Any) -> Any:
    """Return arguments or results of a function with plain tensors in them."""
    return _map_tensors(value, lambda tensor: tensor.plain)


def _records(value: Any) -> Any:
    return _map_tensors(value, lambda tensor: tensor.record)


def _map_tensors(value: Any, function: Callable[[DecomposedTensor], Any]) -> Any:
    """Apply a function to every decomposed tensor in nested lists, tuples and dicts."""
    if isinstance(value, DecomposedTensor):
        return function(value)
    if isinstance(value, list | tuple):
        mapped = [_map_tensors(item, function) for item in value]
        return type(value)(*mapped) if hasattr(value, "_fields") else type(value)(mapped)
    if isinstance(value, dict):
        return {name: _map_tensors(item, function) for name, item in value.items()}
    return value


def _rule_name(func: Callable[..., Any]) -> tuple[str, bool]:
    """Return a function's name in the table of rules, and whether it writes on its argument."""
    name = getattr(func, "__name__", str(func))
    if name == "__get__":  # a property, such as .shape or .T
        return str(func.__self__.__name__), False  # type: ignore[attr-defined]
    if name.startswith("__i") and name[3:-2] in table.OPERATORS:
        return table.OPERATOR_RULES.get(name[3:-2], name[3:-2]), True
    if name.startswith("__"):
        operator = name.strip("_")
        return table.OPERATOR_RULES.get(operator, operator), name == "__setitem__"
    if name.endswith("_"):
        return name.removesuffix("_"), True
    return name, False


def _has_tensor(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(_has_tensor(item) for item in value)
    return isinstance(value, Tensor)


def _wrap_all(total: Any, records: Any) -> Any:
    """Return a function's result with its records attached."""
    if isinstance(records, list | tuple):
        return type(total)(wrap(register_use(record)) for record in records)
    return wrap(register_use(records)) if isinstance(records, Record) else total

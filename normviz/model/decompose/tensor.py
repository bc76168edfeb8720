"""A tensor that knows which token each part of it came from.

`DecomposedTensor` goes through a model's own, unmodified code in place of a plain tensor. Every
torch function runs on the totals exactly as the model wrote it; a rule says how the parts follow,
and a record of that goes on the tape. What a function without a rule returns is lost: its total may
still be read, and an error with the function's name is raised where its parts are needed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

from torch import Tensor

from normviz.errors import NormvizError
from normviz.model.decompose.rules import table
from normviz.model.decompose.tape import (
    LostRecord,
    Record,
    SourceSequence,
    register_use,
    source_record,
    stays_own,
)

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
    recorded, where = (_records(args), _records(options)), _where()
    run = partial(_run_rule, name, where)
    result = run(total, *recorded)
    for number, record in enumerate(_as_list(result)):
        if stays_own(record):
            record.derive = partial(_derive, run, total, number, recorded)
    return result


def _run_rule(name: str, where: str, total: Any, args: Any, options: Any) -> Any:
    """Return what a rule gives; lost records where there is none, or it does not apply."""
    lost = next((r for r in _flatten((args, options)) if isinstance(r, LostRecord)), None)
    if lost is not None:
        return _run_rule_after_loss(name, total, args, lost)
    rule = table.RULES.get(name)
    if rule is None:
        return _lose(total, _no_rule_error(name, "it has no rule", where))
    try:
        return rule(total, *args, **options)
    except table.RuleNotApplicable as reason:
        return _lose(total, _no_rule_error(name, str(reason), where))
    except (TypeError, AttributeError, IndexError, ValueError, RuntimeError, StopIteration):
        uncovered = "its rule does not cover these arguments"
        return _lose(total, _no_rule_error(name, uncovered, where))


def _run_rule_after_loss(name: str, total: Any, records: Sequence[Any], lost: LostRecord) -> Any:
    """Return what a function makes of a lost tensor: lost too, except where only totals count.

    A factor of whole tokens, such as a router's weight, is held as it was computed.
    """
    if name in ("softmax", "log_softmax"):
        return total
    others = [r for r in records if isinstance(r, Record) and r is not lost]
    is_factor = name in ("mul", "multiply") and lost.total.shape[-1:] == (1,)
    if is_factor and len(others) == 1 and not isinstance(others[0], LostRecord):
        return table.RULES["mul"](total, others[0], lost.total)
    return _lose(total, lost.error)


def _lose(total: Any, error: Exception) -> Any:
    """Return lost records of what a function returned; integers may be rounded numbers."""
    if isinstance(total, Tensor):
        return LostRecord(total=total, axis=-2, error=error)
    if isinstance(total, list | tuple):
        return [_lose(item, error) for item in total]
    return total


def _derive(
    run: Callable[..., Any], result: Any, number: int, recorded: tuple[Any, Any], total: Tensor
) -> Record | Tensor:
    """Return how a token's own vectors were computed, with every step on record.

    They are one of a rule's results, and may have been overwritten in the one that was returned.
    """
    by_steps = [_by_steps(values) for values in recorded]
    if not _has_record(by_steps):
        return total  # it was computed from what is only read
    if not isinstance(result, list | tuple):
        return run(total, *by_steps)  # type: ignore[no-any-return]
    totals = [total if index == number else other for index, other in enumerate(result)]
    return run(totals, *by_steps)[number]  # type: ignore[no-any-return]


def _no_rule_error(name: str, reason: str, where: str) -> NoRule:
    return NoRule(
        f"The operation {name!r}{where} cannot be decomposed by token: {reason}.",
        "Every operation between a layer's input and its output needs a rule for its parts.",
        "Ask for the attention measures only, or report the model: a rule is a few lines.",
    )


def _where() -> str:
    """Return the module that is running, as errors name it."""
    location = _location.get()
    return f" in {location()}" if location is not None else ""


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

    What a layer computes from a token's vector alone is the token's own: an attention reads it
    whole, as f(x), and anywhere else biases are taken out of it (see `biases`). With `stepwise`,
    every step is a record of its own from the start.
    """
    return wrap(source_record(total, sequence, stepwise=stepwise))


def wrap(record: Record) -> DecomposedTensor:
    """Return the tensor of a record, with the record attached."""
    tensor = record.total.as_subclass(DecomposedTensor)
    tensor.record, tensor.plain = record, record.total
    return tensor


def unwrap(value: Any) -> Any:
    """Return arguments or results of a function with plain tensors in them."""
    return _map_nested(value, DecomposedTensor, lambda tensor: tensor.plain)


def _records(value: Any) -> Any:
    return _map_nested(value, DecomposedTensor, lambda tensor: tensor.record)


def _by_steps(value: Any) -> Any:
    """Return arguments with the steps of every record in place of a token's own vectors."""
    return _map_nested(value, Record, lambda r: r.by_steps if stays_own(r) else r)


def _map_nested(value: Any, kind: type, function: Callable[[Any], Any]) -> Any:
    """Apply a function to everything of one kind in nested lists, tuples and dicts."""
    if isinstance(value, kind):
        return function(value)
    if isinstance(value, list | tuple):
        mapped = [_map_nested(item, kind, function) for item in value]
        return type(value)(*mapped) if hasattr(value, "_fields") else type(value)(mapped)
    if isinstance(value, dict):
        return {name: _map_nested(item, kind, function) for name, item in value.items()}
    return value


def _has_record(value: Any) -> bool:
    if isinstance(value, list | tuple | dict):
        return any(map(_has_record, value.values() if isinstance(value, dict) else value))
    return isinstance(value, Record)


def _as_list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [value]


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


def _flatten(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for item in value:
            yield from _flatten(item)
    elif isinstance(value, dict):
        yield from _flatten(tuple(value.values()))
    else:
        yield value


def _has_tensor(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(_has_tensor(item) for item in value)
    return isinstance(value, Tensor)


def _wrap_all(total: Any, records: Any) -> Any:
    """Return a function's result with its records attached."""
    if isinstance(records, list | tuple):
        return type(total)([_wrap_all(t, r) for t, r in zip(total, records, strict=True)])
    return wrap(register_use(records)) if isinstance(records, Record) else total

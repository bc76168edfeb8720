"""The table of rules: what becomes of the parts, function by function.

A rule gets the function's result (the total) and its arguments, with records in place of tensors
that have parts, and gives a record. Each says its law in a line. The laws are tested for every
entry: parts sum to the total, the map is linear in the parts, and sources stay apart.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from normviz.model.decompose.tape import ElementwiseRecord, LinearRecord, Record, SourceRecord
from normviz.model.decompose.vectors import LowRankParts

Rule = Callable[..., Any]
RULES: dict[str, Rule] = {}

READ = {
    "eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "isfinite", "any", "all", "max", "min",
    "amax", "amin", "argmax", "topk", "argsort", "sort", "nonzero", "one_hot", "zeros_like",
    "ones_like", "empty_like", "new_zeros", "new_empty", "new_ones", "new_tensor", "new_full",
    "full_like",
}  # fmt: skip
"""What is read from the total: comparisons, choices, and new tensors of the same kind."""

OPERATORS = {"add", "sub", "mul", "truediv", "and", "or", "pow", "matmul"}
SPELLINGS = {
    "radd": "add", "rmul": "mul", "truediv": "div", "rtruediv": "rdiv", "rsub": "minus_from",
}  # fmt: skip
"""Operators under their functions' names."""


class RuleNotApplicable(Exception):
    """A rule does not cover these arguments."""


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Enter a rule in the table under each of its names."""

    def enter(function: Rule) -> Rule:
        for name in names:
            RULES[name] = function
        return function

    return enter


def linear_record(
    total: Tensor,
    of: tuple[Record, ...],
    apply: Callable[..., Tensor],
    *,
    axis: int | None = None,
    tokens: Tensor | None = None,
    name: str = "",
    **more: Any,
) -> Record:
    """The record of a map that keeps tokens apart: vectors that are one token's remain so."""
    where = of[0].axis if axis is None else axis
    alone = same_owner(of)
    if alone is not None:
        mine = alone.tokens if tokens is None else tokens
        return SourceRecord(total=total, axis=where, side=alone.side, tokens=mine, name=name)
    return LinearRecord(total=total, axis=where, of=of, apply=apply, name=name, **more)


def same_owner(of: tuple[Record, ...]) -> SourceRecord | None:
    """The first of the records, where all of them are own vectors of the same tokens."""
    first = of[0]
    if not isinstance(first, SourceRecord) or first.followed:
        return None
    for other in of[1:]:
        same = isinstance(other, SourceRecord) and other.side == first.side and not other.followed
        if not same or not torch.equal(other.tokens, first.tokens):  # type: ignore[attr-defined]
            return None
    return first


def carried(total: Tensor, x: Record, *_: Any, **__: Any) -> Record:
    """The same numbers in another form: the parts are the same."""
    return linear_record(total, (x,), _as_it_is, mixed=_as_it_is, kind="carry")


def _as_it_is(part: Any) -> Any:
    return part


def expression(total: Tensor, function: Callable[..., Tensor], args: Any, options: Any) -> Record:
    """A function of numbers one by one, folded into the expression its arguments belong to."""
    given = [one for one in (*args, *options.values()) if isinstance(one, Record)]
    if (alone := same_owner(tuple(given))) is not None:
        return linear_record(total, (alone,), _as_it_is)
    leaves = tuple(dict.fromkeys(leaf for one in given for leaf in leaves_of(one)))

    def whole(*values: Tensor) -> Tensor:
        known = dict(zip(leaves, values, strict=True))
        return function(
            *(_value(one, known) for one in args),
            **{name: _value(one, known) for name, one in options.items()},
        )

    axis = next(one.axis for one in given if one.total.ndim == total.ndim)
    return ElementwiseRecord(total=total, axis=axis, leaves=leaves, function=whole)


def leaves_of(record: Record) -> tuple[Record, ...]:
    """The tensors an expression is made of; a record that is none is its own leaf."""
    return record.leaves if isinstance(record, ElementwiseRecord) else (record,)


def _value(argument: Any, known: dict[Record, Tensor]) -> Any:
    if isinstance(argument, ElementwiseRecord):
        return argument.function(*(known[leaf] for leaf in argument.leaves))
    return known[argument] if isinstance(argument, Record) else argument


def by_vector(
    apply: Callable[[Tensor], Tensor], x: Record
) -> Callable[[LowRankParts], LowRankParts | None]:
    """The same map on mixed vectors, where the tensor is a list of vectors."""
    return lambda mixed: mixed.mapped(apply) if x.flat else None

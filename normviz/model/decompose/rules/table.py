"""The table of rules: how the parts of a torch function's result follow from its arguments' parts.

A rule gets the function's result (the total) and its arguments, with records in place of decomposed
tensors, and returns a record. The docstring of each states its law. The laws are tested for every
entry: parts sum to the total, the map is linear in the parts, and sources stay apart.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from normviz.model.decompose.tape import (
    ElementwiseRecord,
    LinearRecord,
    Record,
    SourceRecord,
    stays_own,
)
from normviz.model.decompose.vectors import LowRankParts

Rule = Callable[..., Any]
RULES: dict[str, Rule] = {}

READ_FROM_TOTAL = {
    "eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "isfinite", "any", "all", "max", "min",
    "amax", "amin", "argmax", "topk", "argsort", "sort", "nonzero", "one_hot", "zeros_like",
    "ones_like", "empty_like", "new_zeros", "new_empty", "new_ones", "new_tensor", "new_full",
    "full_like", "argmin", "bincount", "histc", "searchsorted", "bucketize", "unique", "isin",
    "logical_not", "logical_and", "logical_or", "bitwise_not", "bitwise_and", "bitwise_or",
    "invert", "unique_consecutive",
}  # fmt: skip
"""Functions whose result has no parts: comparisons, choices, and new tensors of the same kind."""

OPERATORS = {"add", "sub", "mul", "truediv", "and", "or", "pow", "matmul"}
OPERATOR_RULES = {
    "radd": "add", "rmul": "mul", "truediv": "div", "rtruediv": "rdiv", "rsub": "minus_from",
}  # fmt: skip
"""The rules of operators whose name is not the rule's."""


class RuleNotApplicable(Exception):
    """A rule does not cover these arguments."""


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Add a rule to the table under each of its names."""

    def register(function: Rule) -> Rule:
        for name in names:
            RULES[name] = function
        return function

    return register


def linear_record(
    total: Tensor,
    operands: tuple[Record, ...],
    apply: Callable[..., Tensor],
    *,
    axis: int | None = None,
    tokens: Tensor | None = None,
    name: str = "",
    **fields: Any,
) -> Record:
    """Return the record of a map that keeps tokens apart: a token's own vectors stay its own."""
    token_axis = operands[0].axis if axis is None else axis
    source = common_source(operands)
    if source is not None:
        return SourceRecord(
            total=total,
            axis=token_axis,
            sequence=source.sequence,
            tokens=source.tokens if tokens is None else tokens,
            name=name,
        )
    return LinearRecord(
        total=total, axis=token_axis, operands=operands, apply=apply, name=name, **fields
    )


def common_source(records: tuple[Record, ...]) -> SourceRecord | None:
    """Return the first record, if all of them are own vectors of the same tokens."""
    first = records[0]
    if not isinstance(first, SourceRecord) or first.stepwise:
        return None
    for record in records[1:]:
        same = (
            isinstance(record, SourceRecord)
            and stays_own(record)
            and record.sequence == first.sequence
            and torch.equal(record.tokens, first.tokens)
        )
        if not same:
            return None
    return first


def identity_record(total: Tensor, x: Record) -> Record:
    """Return the record of the same numbers in another form: the parts are the same."""
    return linear_record(total, (x,), _identity, apply_low_rank=_identity, kind="identity")


def _identity(part: Any) -> Any:
    return part


def elementwise_record(
    total: Tensor, function: Callable[..., Tensor], args: Any, options: Any
) -> Record:
    """Return the record of an elementwise function, merged with those of its arguments."""
    records = [value for value in (*args, *options.values()) if isinstance(value, Record)]
    if (source := common_source(tuple(records))) is not None:
        return linear_record(total, (source,), _identity)
    leaves = tuple(dict.fromkeys(leaf for record in records for leaf in leaves_of(record)))

    def combine(*values: Tensor) -> Tensor:
        known = dict(zip(leaves, values, strict=True))
        return function(
            *(_evaluate(argument, known) for argument in args),
            **{name: _evaluate(argument, known) for name, argument in options.items()},
        )

    axis = next(record.axis for record in records if record.total.ndim == total.ndim)
    return ElementwiseRecord(total=total, axis=axis, leaves=leaves, function=combine)


def leaves_of(record: Record) -> tuple[Record, ...]:
    """Return the leaves of an elementwise record; any other record is its own leaf."""
    return record.leaves if isinstance(record, ElementwiseRecord) else (record,)


def _evaluate(argument: Any, known: dict[Record, Tensor]) -> Any:
    """Return an argument's value, given the values of all leaves."""
    if isinstance(argument, ElementwiseRecord):
        return argument.function(*(known[leaf] for leaf in argument.leaves))
    return known[argument] if isinstance(argument, Record) else argument


def map_low_rank(
    apply: Callable[[Tensor], Tensor], x: Record
) -> Callable[[LowRankParts], LowRankParts | None]:
    """Return a map of vectors as a map of low-rank parts, if the tensor is a list of vectors."""
    return lambda parts: parts.map_vectors(apply) if x.flat else None

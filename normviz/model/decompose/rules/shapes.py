"""Rules for functions that move numbers: the parts are moved in the same way."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.func import vmap

from normviz.model.decompose.rules.table import (
    RuleNotApplicable,
    elementwise_record,
    identity_record,
    linear_record,
    rule,
)
from normviz.model.decompose.tape import (
    ElementwiseRecord,
    LinearRecord,
    Record,
    SourceRecord,
    in_order,
    stays_own,
)
from normviz.model.decompose.vectors import LowRankParts

Move = Callable[[Tensor], Tensor]
"""A movement of numbers, with all arguments but the tensor filled in."""

MOVES: dict[str, Callable[..., Any]] = {
    "view": Tensor.reshape,
    "view_as": lambda x, other: x.reshape(other.shape),
    "expand_as": lambda x, other: x.expand(other.shape),
    "broadcast_to": torch.broadcast_to,
    "getitem": lambda x, index: x[index],
    "T": lambda x: x.T,
    "mT": lambda x: x.mT,
}
MOVES |= {
    name: getattr(Tensor, name)
    for name in (
        "reshape", "transpose", "permute", "unsqueeze", "squeeze", "flatten", "unflatten", "expand",
        "index_select", "narrow", "swapaxes", "swapdims", "movedim", "repeat_interleave", "flip",
        "roll", "select", "repeat", "gather", "tile", "t",
    )
}  # fmt: skip
"""Functions that return one tensor with numbers of their input."""
SPLITS: dict[str, Callable[..., Any]] = {
    name: getattr(Tensor, name) for name in ("chunk", "split", "unbind", "tensor_split")
} | {"split_with_sizes": Tensor.split}
"""Functions that return several."""


def locate_tokens(x: Record, move: Move) -> tuple[int, Tensor]:
    """Return the token axis after a move, and the index in `x` of the token at each index of it.

    They are found by moving a tensor that holds, everywhere, the index of its token.
    """
    shape = [1] * x.total.ndim
    shape[x.axis] = x.token_count
    marks = torch.arange(x.token_count, device=x.total.device, dtype=torch.int32).reshape(shape)
    moved = move(marks.expand(x.total.shape))
    if not moved.numel():  # nothing is left, and it belongs to no token
        return x.axis, marks.flatten()
    lines = {axis: _line(moved, axis) for axis in range(-moved.ndim, 0)}
    varying = [axis for axis, line in lines.items() if bool((line != line[0]).any())]
    axis = varying[0] if varying else _axis_of_one_token(moved)
    along_axis = lines[axis].reshape([-1] + [1] * (-axis - 1))
    if len(varying) > 1 or not torch.equal(along_axis.expand(moved.shape), moved):
        raise RuleNotApplicable("it folds the tokens into another axis")
    return axis, lines[axis]


def _line(marks: Tensor, axis: int) -> Tensor:
    """Return the marks along an axis, at index 0 of every other axis."""
    return marks[tuple(slice(None) if a == axis else 0 for a in range(-marks.ndim, 0))]


def _axis_of_one_token(marks: Tensor) -> int:
    """Return the token axis of a single token: the last of length one before the features."""
    ones = [axis for axis in range(-marks.ndim, -1) if marks.shape[axis] == 1]
    return ones[-1] if ones else -1


def move_record(total: Tensor, x: Record, move: Move, name: str) -> Record:
    """Return the record of a tensor that has numbers of `x`, moved."""
    axis, indices = locate_tokens(x, move)
    if isinstance(x, ElementwiseRecord):  # it is no longer part of the expression
        return LinearRecord(
            total=total,
            axis=axis,
            operands=(x,),
            apply=vmap(move),
            move=move,
            indices=None if in_order(indices, x.token_count) else indices,
        )
    if isinstance(x, SourceRecord) and not x.stepwise:
        return linear_record(total, (x,), move, axis=axis, tokens=x.tokens[indices])
    keeps_all = total.numel() == x.total.numel()
    ordered = in_order(indices, x.token_count)
    low_rank = _move_low_rank(total, x, move, indices) if axis == -2 else None  # noqa: PLR2004
    return LinearRecord(
        total=total,
        axis=axis,
        operands=(x,),
        apply=vmap(move),
        name=name,
        move=move if ordered else None,
        indices=None if ordered else indices,
        apply_low_rank=low_rank,
        kind="identity" if keeps_all else "map",
    )


def _move_low_rank(
    total: Tensor, x: Record, move: Move, indices: Tensor
) -> Callable[[LowRankParts], LowRankParts | None]:
    """Return a move of lists of vectors, possibly to some of the queries, on low-rank parts."""

    def apply_low_rank(parts: LowRankParts) -> LowRankParts | None:
        width = x.total.shape[-1]
        if not x.flat or total.shape[:-2].numel() != 1 or total.shape[-1] != width:
            return None
        features = torch.arange(width, device=total.device)
        if not bool((move(features.expand(x.total.shape)) == features).all()):
            return None
        return parts if in_order(indices, x.token_count) else parts.select_queries(indices)

    return apply_low_rank


def _add_move_rule(name: str, function: Callable[..., Tensor]) -> None:
    @rule(name)
    def move(total: Tensor, x: Any, *args: Any, **options: Any) -> Record:
        """The parts are moved like the total."""
        if not isinstance(x, Record):
            raise RuleNotApplicable("its index depends on the tokens")
        plain = [value.total if isinstance(value, Record) else value for value in args]
        return move_record(total, x, lambda t: function(t, *plain, **options), name)


def _add_split_rule(name: str, function: Callable[..., tuple[Tensor, ...]]) -> None:
    @rule(name)
    def split(total: Any, x: Record, *args: Any, **options: Any) -> list[Record]:
        """Each piece has its piece of the parts."""

        def piece(number: int) -> Move:
            return lambda t: function(t, *args, **options)[number]

        return [move_record(t, x, piece(number), name) for number, t in enumerate(total)]


for _name, _function in MOVES.items():
    _add_move_rule(_name, _function)
for _name, _function in SPLITS.items():
    _add_split_rule(_name, _function)


@rule("cat", "concat", "concatenate", "stack")
def concatenate(total: Tensor, pieces: Any, dim: int = 0, **_: Any) -> Record:
    """Pieces side by side; a piece without parts comes from no token."""
    records = tuple(piece for piece in pieces if isinstance(piece, Record))
    first = records[0]
    if len(pieces) == 1 and total.ndim == first.total.ndim:
        return identity_record(total, first)
    function = torch.stack if total.ndim > first.total.ndim else torch.cat
    axis = dim % total.ndim - total.ndim
    if function is torch.cat and axis == first.axis:
        raise RuleNotApplicable("it puts tokens behind tokens")
    zeros = [None if isinstance(piece, Record) else torch.zeros_like(piece) for piece in pieces]
    plain = [torch.zeros_like(p.total) if isinstance(p, Record) else p for p in pieces]

    def apply(*parts: Tensor) -> Tensor:
        remaining = iter(parts)
        return function(
            [next(remaining) if z is None else z.expand(len(parts[0]), *z.shape) for z in zeros],
            dim=axis,
        )

    token_axis = first.axis - (1 if function is torch.stack and axis > first.axis else 0)
    constant = None if len(records) == len(pieces) else function(plain, dim=axis)
    return linear_record(total, records, apply, axis=token_axis, constant=constant)


@rule("index_add")
def index_add(total: Tensor, base: Any, dim: int, index: Tensor, source: Any, **_: Any) -> Record:
    """Rows added at an index, as mixtures of experts put their tokens back."""
    if not isinstance(source, Record):
        raise RuleNotApplicable("what it adds has no parts")
    axis = dim % total.ndim - total.ndim

    def spread(part: Tensor) -> Tensor:
        zeros = part.new_zeros(len(part), *total.shape)
        return zeros.index_add(axis, index, part)

    if isinstance(base, Record):
        return LinearRecord(
            total=total, axis=base.axis, operands=(base, source), apply=lambda b, s: b + spread(s)
        )
    constant = base if bool(base.any()) else None
    return LinearRecord(total=total, axis=axis, operands=(source,), apply=spread, constant=constant)


@rule("where")
def where(total: Tensor, condition: Any, a: Any, b: Any) -> Record:
    """A choice between two: the condition is read from its total."""
    chosen = condition.total if isinstance(condition, Record) else condition
    return elementwise_record(total, lambda x, y: torch.where(chosen, x, y), (a, b), {})


@rule("masked_fill")
def masked_fill(total: Tensor, x: Record, mask: Tensor, value: Any) -> Record:
    """A number filled in under a mask: it comes from no token."""
    apply = lambda part: part.masked_fill(mask, 0)  # noqa: E731
    if stays_own(x) or value == 0:
        return linear_record(total, (x,), apply)
    constant = torch.zeros_like(total).masked_fill(mask, value)
    return linear_record(total, (x,), apply, constant=constant)


@rule("setitem")
def setitem(total: Tensor, x: Record, index: Any, value: Any) -> Record:
    """Some numbers replaced: their parts are the parts of the new numbers."""
    replaced = torch.zeros_like(total, dtype=torch.bool)
    replaced[index] = True
    if not isinstance(value, Record):
        constant = torch.where(replaced, total, 0)
        return linear_record(
            total, (x,), lambda part: part.masked_fill(replaced, 0), constant=constant
        )

    def apply(part: Tensor, new: Tensor) -> Tensor:
        inserted = torch.zeros_like(part)
        indices = index if isinstance(index, tuple) else (index,)
        inserted[slice(None), *indices] = new
        return torch.where(replaced, inserted, part)

    return LinearRecord(total=total, axis=x.axis, operands=(x, value), apply=apply)

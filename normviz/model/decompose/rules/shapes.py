"""Rules for changes of shape: parts change theirs in the same way."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.func import vmap

from normviz.model.decompose.rules.table import RuleNotApplicable, expression, linear_record, rule
from normviz.model.decompose.tape import (
    ElementwiseRecord,
    LinearRecord,
    Record,
    SourceRecord,
    in_order,
    remains_own,
)
from normviz.model.decompose.vectors import LowRankParts

Move = Callable[..., Any]
MOVES: dict[str, Move] = {
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
"""Functions that give one tensor of the same numbers."""
CUTS: dict[str, Callable[..., Any]] = {
    name: getattr(Tensor, name) for name in ("chunk", "split", "unbind", "tensor_split")
} | {"split_with_sizes": Tensor.split}
"""Functions that give several."""


def tokens_after(x: Record, move: Callable[[Tensor], Tensor]) -> tuple[int, Tensor]:
    """Where the tokens lie after a change of shape, and which token stands at each place.

    Found by moving a tensor that holds, at every place, the number of its token.
    """
    shape = [1] * x.total.ndim
    shape[x.axis] = x.places
    marks = torch.arange(x.places, device=x.total.device, dtype=torch.int32).reshape(shape)
    moved = move(marks.expand(x.total.shape))
    if not moved.numel():  # nothing is left, and it belongs to nobody
        return x.axis, marks.flatten()
    lines = {axis: _line(moved, axis) for axis in range(-moved.ndim, 0)}
    varying = [axis for axis, line in lines.items() if bool((line != line[0]).any())]
    axis = varying[0] if varying else _only_place(moved)
    spread = lines[axis].reshape([-1] + [1] * (-axis - 1))
    if len(varying) > 1 or not torch.equal(spread.expand(moved.shape), moved):
        raise RuleNotApplicable("it folds the tokens into another axis")
    return axis, lines[axis]


def _line(marks: Tensor, axis: int) -> Tensor:
    """The marks along an axis, at the first place of every other."""
    return marks[tuple(slice(None) if a == axis else 0 for a in range(-marks.ndim, 0))]


def _only_place(marks: Tensor) -> int:
    """The axis of a single token: the last of one place that is not the features'."""
    ones = [axis for axis in range(-marks.ndim, -1) if marks.shape[axis] == 1]
    return ones[-1] if ones else -1


def shaped(total: Tensor, x: Record, move: Callable[[Tensor], Tensor], name: str) -> Record:
    """One tensor of the same numbers, or of some of them."""
    if isinstance(x, ElementwiseRecord):
        return _shaped_expression(total, x, move)
    axis, line = tokens_after(x, move)
    if isinstance(x, SourceRecord) and not x.followed:
        return linear_record(total, (x,), move, axis=axis, tokens=x.tokens[line])
    whole = total.numel() == x.total.numel()
    return LinearRecord(
        total=total, axis=axis, of=(x,), apply=vmap(move), name=name,
        move=move if in_order(line, x.places) else None,
        mixed=_mixed(total, x, move, line) if axis == -2 else None,  # noqa: PLR2004
        kind="carry" if whole else "map",
    )  # fmt: skip


def _mixed(
    total: Tensor, x: Record, move: Callable[[Tensor], Tensor], line: Tensor
) -> Callable[[LowRankParts], LowRankParts | None]:
    """Lists of vectors stay what they are; some of the queries may be chosen."""

    def moved(mixed: LowRankParts) -> LowRankParts | None:
        width = x.total.shape[-1]
        if not x.flat or total.shape[:-2].numel() != 1 or total.shape[-1] != width:
            return None
        features = torch.arange(width, device=total.device)
        if not bool((move(features.expand(x.total.shape)) == features).all()):
            return None
        return mixed if in_order(line, x.places) else mixed.chosen(line)

    return moved


def _shaped_expression(
    total: Tensor, x: ElementwiseRecord, move: Callable[[Tensor], Tensor]
) -> Record:
    """An expression that changes shape is a tensor of its own from then on."""
    axis, _ = tokens_after(x, move)
    return LinearRecord(total=total, axis=axis, of=(x,), apply=vmap(move), move=move, kind="map")


def _move_entered(name: str, function: Callable[..., Tensor]) -> None:
    @rule(name)
    def moved(total: Tensor, x: Any, *args: Any, **options: Any) -> Record:
        """The parts are moved as the total is."""
        if not isinstance(x, Record):
            raise RuleNotApplicable("its index depends on the tokens")
        plain = [one.total if isinstance(one, Record) else one for one in args]
        return shaped(total, x, lambda t: function(t, *plain, **options), name)


def _cut_entered(name: str, function: Callable[..., tuple[Tensor, ...]]) -> None:
    @rule(name)
    def cut(total: Any, x: Record, *args: Any, **options: Any) -> list[Record]:
        """Each piece holds its piece of the parts."""

        def piece(number: int) -> Callable[[Tensor], Tensor]:
            return lambda t: function(t, *args, **options)[number]

        return [shaped(one, x, piece(number), name) for number, one in enumerate(total)]


for _name, _function in MOVES.items():
    _move_entered(_name, _function)
for _name, _function in CUTS.items():
    _cut_entered(_name, _function)


@rule("cat", "concat", "concatenate", "stack")
def joined(total: Tensor, pieces: Any, dim: int = 0, **_: Any) -> Record:
    """Pieces side by side; a piece without parts comes from no token."""
    given = tuple(one for one in pieces if isinstance(one, Record))
    function = torch.stack if total.ndim > given[0].total.ndim else torch.cat
    axis = dim % total.ndim - total.ndim
    if function is torch.cat and axis == given[0].axis:
        raise RuleNotApplicable("it puts tokens behind tokens")
    zeros = [None if isinstance(one, Record) else torch.zeros_like(one) for one in pieces]
    base = [torch.zeros_like(one.total) if isinstance(one, Record) else one for one in pieces]

    def whole(*parts: Tensor) -> Tensor:
        waiting = iter(parts)
        every = [next(waiting) if z is None else z.expand(len(parts[0]), *z.shape) for z in zeros]
        return function(every, dim=axis)

    where = given[0].axis - (1 if function is torch.stack and axis > given[0].axis else 0)
    constant = None if len(given) == len(pieces) else function(base, dim=axis)
    return linear_record(total, given, whole, axis=where, constant=constant)


@rule("index_add")
def index_added(total: Tensor, base: Any, dim: int, index: Tensor, source: Any, **_: Any) -> Record:
    """Rows put back where they belong, as mixtures of experts do."""
    if not isinstance(source, Record):
        raise RuleNotApplicable("what it adds has no parts")
    axis = dim % total.ndim - total.ndim

    def placed(part: Tensor) -> Tensor:
        empty = part.new_zeros(len(part), *total.shape)
        return empty.index_add(axis, index, part)

    if isinstance(base, Record):
        return LinearRecord(
            total=total, axis=base.axis, of=(base, source), apply=lambda b, s: b + placed(s)
        )
    constant = base if bool(base.any()) else None
    return LinearRecord(total=total, axis=axis, of=(source,), apply=placed, constant=constant)


@rule("where")
def where(total: Tensor, condition: Any, a: Any, b: Any) -> Record:
    """A choice between two, read from the total."""
    chosen = condition.total if isinstance(condition, Record) else condition
    return expression(total, lambda one, other: torch.where(chosen, one, other), (a, b), {})


@rule("masked_fill")
def masked_fill(total: Tensor, x: Record, mask: Tensor, value: Any) -> Record:
    """A number in some places: those come from no token."""
    constant = torch.zeros_like(total).masked_fill(mask, value)
    apply = lambda part: part.masked_fill(mask, 0)  # noqa: E731
    if remains_own(x) or value == 0:
        return linear_record(total, (x,), apply)
    return linear_record(total, (x,), apply, constant=constant)


@rule("setitem")
def setitem(total: Tensor, x: Record, index: Any, value: Any) -> Record:
    """Some numbers replaced: their parts are those of what they are replaced by."""
    replaced = torch.zeros_like(total, dtype=torch.bool)
    replaced[index] = True
    if not isinstance(value, Record):
        constant = torch.where(replaced, total, 0)
        return linear_record(
            total, (x,), lambda part: part.masked_fill(replaced, 0), constant=constant
        )

    def both(part: Tensor, new: Tensor) -> Tensor:
        whole = torch.zeros_like(part)
        place = index if isinstance(index, tuple) else (index,)
        whole[slice(None), *place] = new
        return torch.where(replaced, whole, part)

    return LinearRecord(total=total, axis=x.axis, of=(x, value), apply=both)

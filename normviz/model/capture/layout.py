"""Where each number of a context lies in the tensors that the model makes of it.

A model views, transposes, splits and joins the heads' outputs before it projects them. Doing the
same to a tensor of marks, one for each number, shows which numbers a linear map reads together:
those of one query, head by head. Nothing is assumed about the order of axes, about heads that are
folded into the batch, or about windows and chunks that are computed apart and joined.

Every layer of a stack moves its context alike, so moves are remembered and made once per pass.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

Marks = Int[Tensor, "..."]


@dataclass(frozen=True)
class ContextShape:
    """The sizes of one context: sets of heads and texts folded together, queries, dimensions."""

    rows: int
    """How many pairs of a sequence and a head there are."""
    queries: int
    dim: int

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return self.rows * self.queries * self.dim


@dataclass(frozen=True, eq=False)
class Grouping:
    """Which numbers of the contexts one row of a linear map reads: the heads of one query."""

    marks: Int[Tensor, "position feature"]
    contexts: Int[Tensor, " position"]
    """The number of the context that each position reads."""
    rows: Int[Tensor, "position head"]
    """Which pair of a sequence and a head, of that context, each head of a position is."""
    queries: Int[Tensor, " position"]
    order: Int[Tensor, " feature"] | None
    """Where each feature stands among the heads joined in order; None where it stands there."""
    shapes: tuple[ContextShape, ...]

    @cached_property
    def readings(self) -> tuple["ContextReading", ...]:
        """The contexts that are read, with their positions; empty where some are missing."""
        readings = []
        for number in sorted(set(self.contexts.tolist())):
            (positions,) = torch.nonzero(self.contexts == number, as_tuple=True)
            first, queries = self.rows[positions, 0], self.queries[positions]
            count = self.shapes[number].queries
            positions = positions[(first * count + queries).argsort()]
            if len(positions) * self.rows.shape[1] != self.shapes[number].rows * count:
                return ()
            readings.append(ContextReading(number, self.rows[positions[::count]], positions))
        return tuple(readings)


@dataclass(frozen=True, eq=False)
class ContextReading:
    """One context as it is read: the heads of each sequence, and the position of each query."""

    number: int
    rows: Int[Tensor, "sequence head"]
    positions: Int[Tensor, " query"]
    """By sequence, then by query."""

    @cached_property
    def has_rows_in_order(self) -> bool:
        """Whether the heads of the sequences are the rows one after the other."""
        return _counts_up(self.rows.flatten())

    @cached_property
    def has_positions_in_order(self) -> bool:
        """Whether the queries are the first positions one after the other."""
        return _counts_up(self.positions)


@dataclass(eq=False)
class Layout:
    """The marks of one tensor, made when they are first needed, and the tensors made of it."""

    shapes: tuple[ContextShape, ...]
    """The contexts that the marks count through, one after the other."""
    make: Callable[[], Marks]
    children: dict[Hashable, Any] = field(default_factory=dict)

    @cached_property
    def marks(self) -> Marks:
        """The number of the context's number at each place."""
        return self.make()

    def move(self, key: Hashable | None, function: Callable[[Tensor], Any]) -> Any:
        """Return the layout (or the layouts) after a move, remembered under its key."""
        if key is not None and key in self.children:
            return self.children[key]
        moved = function(self.marks)
        layouts: Any
        if isinstance(moved, Tensor):
            layouts = Layout(self.shapes, lambda: moved)
        else:
            layouts = tuple(Layout(self.shapes, partial(_same, piece)) for piece in moved)
        if key is not None:
            self.children[key] = layouts
        return layouts

    def widen(self, width: int) -> "Layout":
        """Return the layout after a linear map along the last axis: a row and a feature each."""
        key = ("linear", width)
        if key not in self.children:
            rows = self.marks.shape[:-1]

            def make() -> Marks:
                count = rows.numel() * width
                return torch.arange(count).reshape(*rows, width)

            self.children[key] = Layout(self.shapes, make)
        child: Layout = self.children[key]
        return child

    @cached_property
    def positions(self) -> Int[Tensor, " row"] | None:
        """After a map: the position of each row; None where rows are not one position's features.

        `widen` numbers the features of one position after another.
        """
        width = self.marks.shape[-1]
        rows = self.marks.reshape(-1, width)
        first = rows[:, 0]
        whole = bool((first % width == 0).all()) and torch.equal(
            rows, first[:, None] + torch.arange(width)
        )
        return first // width if whole else None

    @cached_property
    def has_positions_in_order(self) -> bool:
        """Whether the rows are the positions one after the other."""
        return self.positions is not None and _counts_up(self.positions)

    @cached_property
    def grouping(self) -> Grouping | None:
        """The heads that each row reads; None where rows are not each one query's heads."""
        if self.marks.ndim == 0:
            return None
        return _group(self.marks.reshape(-1, self.marks.shape[-1]), self.shapes)


def _counts_up(numbers: Int[Tensor, " n"]) -> bool:
    return torch.equal(numbers, torch.arange(len(numbers)))


def _same(marks: Marks) -> Marks:
    return marks


def join_layouts(layouts: Sequence[Layout], join: Callable[[Sequence[Tensor]], Tensor]) -> Layout:
    """Return the layout of tensors that were joined into one."""
    longest = max((layout.shapes for layout in layouts), key=len)
    return Layout(longest, lambda: join([layout.marks for layout in layouts]))


def _group(marks: Int[Tensor, "row feature"], shapes: Sequence[ContextShape]) -> Grouping | None:
    """Return the heads behind each row of marks, or None."""
    plain = _group_in_order(marks, shapes[0]) if len(shapes) == 1 else None
    if plain is not None:
        return plain
    sizes = torch.tensor([shape.size for shape in shapes])
    starts = sizes.cumsum(0) - sizes
    context = torch.bucketize(marks, starts, right=True) - 1
    dims = torch.tensor([shape.dim for shape in shapes])[context]
    counts = torch.tensor([shape.queries for shape in shapes])[context]
    within = marks - starts[context]
    dim = within % dims
    query = within // dims % counts
    row = within // (dims * counts)
    head_dim = int(dims.flatten()[0])
    one_query = (query == query[:, :1]).all() and (context == context[:, :1]).all()
    if marks.shape[1] % head_dim or not bool((dims == head_dim).all() and one_query):
        return None
    # Every position must read the same pattern: each head with all of its dimensions, once.
    ranks = row.sort(dim=1).values[:, ::head_dim].contiguous()
    rank = torch.searchsorted(ranks, row)
    place = rank * head_dim + dim
    same = bool((place == place[0]).all())
    if not same or not torch.equal(place[0].sort().values, torch.arange(marks.shape[1])):
        return None
    in_order = torch.equal(place[0], torch.arange(marks.shape[1]))
    order = None if in_order else place[0]
    return Grouping(marks, context[:, 0], ranks, query[:, 0], order, tuple(shapes))


def _group_in_order(marks: Int[Tensor, "row feature"], shape: ContextShape) -> Grouping | None:
    """Return the grouping of what nearly all models do: the heads of each query side by side."""
    heads, rest = divmod(marks.shape[1], shape.dim)
    if rest or not heads or shape.rows % heads or len(marks) != shape.size // marks.shape[1]:
        return None
    by_row = torch.arange(shape.size).reshape(-1, heads, shape.queries, shape.dim)
    if not torch.equal(by_row.transpose(1, 2).reshape(marks.shape), marks):
        return None
    positions = torch.arange(len(marks))
    first = positions // shape.queries * heads
    return Grouping(
        marks,
        torch.zeros_like(positions),
        first[:, None] + torch.arange(heads),
        positions % shape.queries,
        None,
        (shape,),
    )

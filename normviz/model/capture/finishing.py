"""From a followed context to a captured attention: weights, values and W_O, head by head."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from normviz.model.capture.layout import ContextReading, ContextShape, Grouping, Layout
from normviz.model.capture.output_map import Form, Term
from normviz.model.capture.projection import ProjectionTerm


@dataclass(frozen=True, eq=False)
class Context:
    """One attention: its weights and values, with the heads and sequences in the leading axes."""

    weight: Tensor
    value: Tensor
    mask: Tensor | None
    value_bias: Tensor | None
    order: Any
    """How the axes of its tensor are ordered: as for `root_form`."""
    tensor_shape: torch.Size | None

    @property
    def from_registry(self) -> bool:
        """Whether a function of the registry computed it."""
        return isinstance(self.order, str) and self.order == "queries first"

    @property
    def leading(self) -> torch.Size:
        """The axes before `query dim`, of weights and values together."""
        if self.from_registry:
            return self.weight.shape[:-2]
        return (self.weight[..., :1, :1] @ self.value[..., :1, :1]).shape[:-2]

    @property
    def shape(self) -> ContextShape:
        """The sizes of the heads' outputs."""
        queries, dim = self.weight.shape[-2], self.value.shape[-1]
        return ContextShape(self.leading.numel(), queries, dim)

    def by_sequence(self, tensor: Tensor, reading: ContextReading) -> Tensor:
        """Return a tensor of the leading axes as `[sequence head ...]`."""
        if self.from_registry and tensor.shape[1] != self.leading[1]:
            # Consecutive heads of a group share their values.
            tensor = tensor.repeat_interleave(self.leading[1] // tensor.shape[1], dim=1)
        flat = tensor.expand(*self.leading, *tensor.shape[-2:]).reshape(-1, *tensor.shape[-2:])
        if reading.has_rows_in_order:
            return flat.reshape(*reading.rows.shape, *flat.shape[1:])
        return flat[reading.rows.to(flat.device)]


@dataclass(frozen=True, eq=False)
class ContextAxes:
    """How the tensor in which an attention gives its heads' outputs is ordered."""

    leading: torch.Size
    order: Any
    """As for `root_form`."""
    shape: torch.Size
    queries: int
    dim: int
    rows: Tensor
    """Which of the leading axes each head of each sequence is `[sequence head]`."""

    def to_heads(self, tensor: Tensor) -> Tensor:
        """Return the heads' outputs as `[sequence query head dim]`."""
        if self.order == "queries first":
            batch, heads = self.leading
            apart = tensor.reshape(batch, self.queries, heads, self.dim)
            return apart if self._has_queries_first else tensor.transpose(1, 2)
        if isinstance(self.order, tuple):
            tensor = tensor.permute([self.order.index(axis) for axis in range(len(self.order))])
        flat = tensor.reshape(-1, self.queries, self.dim)[self.rows.flatten().to(tensor.device)]
        return flat.reshape(*self.rows.shape, self.queries, self.dim).transpose(1, 2)

    def from_heads(self, tensor: Tensor) -> Tensor:
        """Return the tensor that `to_heads` was given."""
        if self.order == "queries first":
            back = tensor if self._has_queries_first else tensor.transpose(1, 2)
            return back.reshape(self.shape)
        flat = tensor.transpose(1, 2).reshape(-1, self.queries, self.dim)
        back = flat[self.rows.flatten().argsort().to(tensor.device)]
        back = back.reshape(*self.leading, self.queries, self.dim)
        return back.permute(self.order) if isinstance(self.order, tuple) else back

    @property
    def _has_queries_first(self) -> bool:
        whole = (*self.leading, self.queries, self.dim)
        swapped = (whole[0], whole[2], whole[1], whole[3])
        return tuple(self.shape) == swapped or tuple(self.shape) != whole


@dataclass(frozen=True, eq=False)
class AssembledAttention:
    """Everything of one attention, in the shapes that measures expect."""

    attention_weight: Tensor
    value: Tensor
    mask: Tensor | None
    value_bias: Tensor | None
    weight: Tensor
    bias: Tensor | None
    terms: tuple[ProjectionTerm, ...]
    output: Tensor
    axes: ContextAxes


def root_form(contexts: Sequence[Context], roots: dict[Any, Layout]) -> Form:
    """Return the form of the last context itself; layouts are shared by layers that are alike.

    Its tensor may have the queries before the heads, as functions of the registry return it, the
    sequences inside the queries, as torch's own multi-head attention has them, or the axes of
    `[..., query, dim]` in any order, given as numbers (None: in this order).
    """
    shapes = tuple(context.shape for context in contexts)
    leading = tuple(contexts[-1].leading)
    order, shape = contexts[-1].order, contexts[-1].tensor_shape
    key = (shapes, leading, order, shape)
    if key not in roots:
        roots[key] = Layout(shapes, lambda: _root_marks(shapes, leading, order, shape))
    return Form(roots[key])


def _root_marks(
    shapes: tuple[ContextShape, ...], leading: tuple[int, ...], order: Any, shape: Any
) -> Tensor:
    """Return the number of each number of a context, where it lies in the context's tensor."""
    last = shapes[-1]
    start = sum(other.size for other in shapes[:-1])
    marks = torch.arange(start, start + last.size).reshape(*leading, last.queries, last.dim)
    if order == "queries first":  # as the registry's functions return it
        queries_first = marks.transpose(1, 2)
        fits = shape == queries_first.shape or shape != marks.shape
        return queries_first.reshape(shape) if fits else marks
    if order == "sequence first":  # as torch's own multi-head attention projects it
        return marks.permute(2, 0, 1, 3).flatten(-2)
    return marks if order is None else marks.permute(order)


def assemble(
    form: Form, tensor: Tensor, contexts: Sequence[Context]
) -> list[tuple[Context, AssembledAttention]]:
    """Return every attention that a mapped tensor is made of; none if some part is missing."""
    grouping, positions = form.grouping, form.layout.positions
    if grouping is None or positions is None or not grouping.readings:
        return []
    output = tensor.reshape(-1, tensor.shape[-1])
    offset = form.offset
    if offset is not None and offset.ndim > 1:
        offset = offset.expand(tensor.shape).reshape(output.shape)
    if not form.layout.has_positions_in_order:
        order = positions.argsort().to(output.device)
        output = output[order]
        offset = offset[order] if offset is not None and offset.ndim > 1 else offset
    return [
        (
            contexts[reading.number],
            _assemble(form, reading, contexts[reading.number], output, offset),
        )
        for reading in grouping.readings
    ]


def _assemble(
    form: Form,
    reading: ContextReading,
    context: Context,
    output: Tensor,
    offset: Tensor | None,
) -> AssembledAttention:
    grouping = form.grouping
    assert grouping is not None  # noqa: S101 - the form is mapped
    sequences, heads = reading.rows.shape

    def by_query(rows: Tensor) -> Tensor:
        """Return rows of all positions as `[sequence query feature]` of this context."""
        whole = reading.has_positions_in_order and len(reading.positions) == len(rows)
        chosen = rows if whole else rows[reading.positions.to(rows.device)]
        return chosen.reshape(sequences, -1, rows.shape[-1])

    terms = tuple(_assemble_term(term, grouping, heads, by_query) for term in form.terms)
    weight = terms[0].weight
    for term in terms[1:]:
        weight = weight + term.weight
    plain = all(t.scale is None and t.before is None and t.after is None for t in terms)
    attention_weight = context.by_sequence(context.weight, reading)
    mask = context.mask
    if not context.from_registry:
        # The mask is not known here: what no head reads at all counts as masked.
        mask = attention_weight.ne(0).any(dim=1, keepdim=True)
    bias = None
    if offset is not None:
        bias = by_query(offset) if offset.ndim > 1 else offset.expand(output.shape[-1])
    return AssembledAttention(
        attention_weight,
        context.by_sequence(context.value, reading),
        mask,
        None if context.value_bias is None else context.by_sequence(context.value_bias, reading),
        weight,
        bias,
        () if plain else terms,
        by_query(output),
        _axes(context, reading),
    )


def _axes(context: Context, reading: ContextReading) -> ContextAxes:
    shape = context.shape
    if context.tensor_shape is None:  # torch's own attention: see `tracking`
        sequences, heads = context.leading
        order = torch.Size([shape.queries, sequences, heads, shape.dim])
        return ContextAxes(
            context.leading, (2, 0, 1, 3), order, shape.queries, shape.dim, reading.rows
        )
    return ContextAxes(
        context.leading, context.order, context.tensor_shape, shape.queries, shape.dim, reading.rows
    )


def _assemble_term(term: Term, grouping: Grouping, heads: int, by_query: Any) -> ProjectionTerm:
    """Return one branch with its features in the order of heads and dimensions."""
    matrix, before = term.matrix, term.before
    if grouping.order is not None:
        order = grouping.order.argsort().to(matrix.device)
        matrix = matrix[order]
        before = None if before is None else before[:, order]
    if before is not None:
        before = by_query(before).unflatten(-1, (heads, -1)).transpose(1, 2)
    return ProjectionTerm(
        matrix.reshape(heads, -1, matrix.shape[-1]),
        None if term.scale is None else by_query(term.scale),
        before,
        None if term.after is None else by_query(term.after),
    )

"""The map from an attention's context to what leaves its block, followed operation by operation.

The context is the heads' outputs, Σ_j α_ij v_j. Everything between it and the residual sum is part
of f: the output projection, adapters beside it, gates and norms before or after it. An operation
that is linear in the context, given all other tensors as the model computed them, has a rule here;
any other makes its result *lost*, and a block whose output is lost is refused by name.

y_i = ((c_i ⊙ before_i) M ⊙ after_i) scale_i + offset_i + bias, with M the same for every query.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from normviz.model.capture.layout import Grouping, Layout


@dataclass(frozen=True, eq=False)
class Term:
    """One branch between the context and the output: a matrix, and factors that queries have."""

    matrix: Tensor
    """Over the features of a position, in the order of their grouping."""
    scale: Tensor | None = None
    """A factor of each position [position 1]."""
    before: Tensor | None = None
    """A factor of each feature of the context [position feature]."""
    after: Tensor | None = None
    """A factor of each feature of the output [position model]."""


@dataclass(frozen=True, eq=False)
class Form:
    """How a tensor follows from the context: its numbers themselves, or a linear map of them."""

    layout: Layout
    factor: Tensor | None = None
    """Before any map: what the numbers were multiplied by, in the tensor's own shape."""
    offset: Tensor | None = None
    """What was added that comes from no context, in a shape that broadcasts to the tensor's."""
    grouping: Grouping | None = None
    """After a map: the numbers that each position read."""
    terms: tuple[Term, ...] = ()

    @property
    def is_mapped(self) -> bool:
        """Whether a linear map was applied."""
        return self.grouping is not None


@dataclass(frozen=True)
class Statistic:
    """A number per vector, such as a mean of squares, that norms divide by: held as computed."""


@dataclass(frozen=True, eq=False)
class Mean:
    """The mean of each vector of a form, which norms subtract."""

    of: Form


@dataclass(frozen=True)
class Lost:
    """What follows from the context in a way that is not linear, and by which operation."""

    operation: str


Followed = Form | Statistic | Mean | Lost


class NotLinear(Exception):
    """An operation has no linear form here; the message names it."""


def apply_move(
    form: Form, key: Any, function: Callable[[Tensor], Any], shape: torch.Size
) -> Form | tuple[Form, ...]:
    """Return the form after numbers were moved: viewed, transposed, selected or split."""
    layouts = form.layout.move(key, function)
    factors = None if form.factor is None else function(form.factor.expand(shape))
    offsets = None if form.offset is None else function(form.offset.expand(shape))
    if isinstance(layouts, Layout):
        return replace(form, layout=layouts, factor=factors, offset=offsets)
    return tuple(
        replace(
            form,
            layout=layout,
            factor=None if factors is None else factors[number],
            offset=None if offsets is None else offsets[number],
        )
        for number, layout in enumerate(layouts)
    )


def apply_linear(form: Form, weight: Tensor, bias: Tensor | None) -> Form:
    """Return the form after x W + b along the last axis, W as `[feature, model]`."""
    offset = None if form.offset is None else form.offset @ weight
    if bias is not None:
        offset = bias if offset is None else offset + bias
    layout = form.layout.widen(weight.shape[1])
    if form.is_mapped:
        terms = tuple(_append_matrix(term, weight) for term in form.terms)
        _require_rows(form)
        return replace(form, layout=layout, offset=offset, terms=terms)
    grouping = form.layout.grouping
    if grouping is None:
        raise NotLinear("a linear map of something else than the heads of one query")
    before = scale = None
    if form.factor is not None:
        factor = form.factor.reshape(grouping.marks.shape)
        before, scale, gain = _split_factor(factor)
        weight = weight if gain is None else gain[:, None] * weight
    term = Term(weight, scale=scale, before=before)
    return Form(layout, offset=offset, grouping=grouping, terms=(term,))


def apply_center(form: Form, width: int) -> Form:
    """Return the form after each vector lost its mean, as a norm does."""
    if not form.is_mapped:
        return apply_linear(form, torch.eye(width) - 1 / width, None)
    if any(term.after is not None for term in form.terms):
        raise NotLinear("a norm after a gate")
    terms = tuple(
        replace(term, matrix=term.matrix - term.matrix.mean(dim=1, keepdim=True))
        for term in form.terms
    )
    _require_rows(form)
    offset = form.offset
    if offset is not None:
        offset = offset - offset.mean(dim=-1, keepdim=True)
    return replace(form, terms=terms, offset=offset)


def apply_scale(form: Form, factor: Any, shape: torch.Size) -> Form:
    """Return the form after a product with a number or a tensor that is held as it is."""
    offset = None if form.offset is None else form.offset * factor
    if not form.is_mapped:
        scaled = factor if form.factor is None else form.factor * factor
        if not isinstance(scaled, Tensor):
            scaled = torch.tensor(float(scaled))
        return replace(form, factor=scaled.expand(shape), offset=offset)
    if not isinstance(factor, Tensor) or factor.numel() == 1:
        number = factor.reshape(()) if isinstance(factor, Tensor) else factor
        terms = tuple(replace(term, matrix=term.matrix * number) for term in form.terms)
        return replace(form, terms=terms, offset=offset)
    _require_rows(form)
    after, scale, gain = _split_factor(factor.expand(shape).reshape(-1, shape[-1]))
    terms = tuple(_append_factors(term, after, scale, gain) for term in form.terms)
    return replace(form, terms=terms, offset=offset)


def apply_sum(a: Form, b: Form, sign: float) -> Form:
    """Return the form of a + sign · b, two branches that read the same context."""
    if not (a.is_mapped and b.is_mapped):
        raise NotLinear("a sum of several contexts")
    if not torch.equal(a.layout.marks, b.layout.marks) or not _same_grouping(a, b):
        raise NotLinear("a sum of different positions")
    more = tuple(replace(term, matrix=term.matrix * sign) for term in b.terms)
    terms = list(a.terms)
    for term in more:
        twin = next((n for n, other in enumerate(terms) if _same_factors(term, other)), None)
        if twin is None:
            terms.append(term)
        else:
            terms[twin] = replace(term, matrix=terms[twin].matrix + term.matrix)
    offsets = [a.offset, None if b.offset is None else sign * b.offset]
    present = [offset for offset in offsets if offset is not None]
    offset = present[0] if present else None
    for other in present[1:]:
        offset = other if offset is None else offset + other
    return replace(a, terms=tuple(terms), offset=offset)


def apply_offset(form: Form, other: Any) -> Form:
    """Return the form after something was added that does not come from the context."""
    if not isinstance(other, Tensor):
        other = torch.tensor(float(other))
    return replace(form, offset=other if form.offset is None else form.offset + other)


def apply_joining(
    forms: list[Form], join: Callable[[Any], Tensor], join_layouts: Callable[..., Layout]
) -> Form:
    """Return the form of contexts that were joined into one tensor."""
    if any(form.is_mapped or form.offset is not None or form.factor is not None for form in forms):
        raise NotLinear("a concatenation of what was mapped already")
    return Form(join_layouts([form.layout for form in forms], join))


def _append_matrix(term: Term, weight: Tensor) -> Term:
    if term.after is not None:
        raise NotLinear("a linear map after a gate")
    return replace(term, matrix=term.matrix @ weight.to(term.matrix.dtype))


def _append_factors(
    term: Term, after: Tensor | None, scale: Tensor | None, gain: Tensor | None
) -> Term:
    matrix = term.matrix if gain is None else term.matrix * gain
    return replace(
        term, matrix=matrix, scale=_times(term.scale, scale), after=_times(term.after, after)
    )


def _times(a: Tensor | None, b: Tensor | None) -> Tensor | None:
    if a is None or b is None:
        return b if a is None else a
    return a * b


def _split_factor(
    factor: Tensor,
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Return a factor `[position feature]` as one of: per number, per position, per feature."""
    if bool((factor == factor[:1]).all()):
        return None, None, factor[0]
    if bool((factor == factor[:, :1]).all()):
        return None, factor[:, :1], None
    return factor, None, None


def _same_factors(a: Term, b: Term) -> bool:
    return all(
        x is y or (x is not None and y is not None and torch.equal(x, y))
        for x, y in ((a.scale, b.scale), (a.before, b.before), (a.after, b.after))
    )


def _same_grouping(a: Form, b: Form) -> bool:
    first, second = a.grouping, b.grouping
    assert first is not None and second is not None  # noqa: S101, PT018 - both are mapped
    return first is second or torch.equal(first.marks, second.marks)


def _require_rows(form: Form) -> None:
    """Refuse a mapped tensor whose last axis is no longer the features of one position."""
    if form.layout.positions is None:
        raise NotLinear("an operation on some of the output's features")

"""Rules for linear maps, attention, sums, products and softmax."""

import string
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from torch import Tensor

from normviz.model.decompose.rules.table import (
    RULES,
    RuleNotApplicable,
    elementwise_record,
    identity_record,
    leaves_of,
    linear_record,
    map_low_rank,
    rule,
)
from normviz.model.decompose.tape import (
    AttentionRecord,
    ElementwiseRecord,
    LinearRecord,
    MixedAttentionRecord,
    Record,
    SourceRecord,
    in_order,
    stays_own,
)
from normviz.model.decompose.vectors import LowRankParts, add_low_rank
from normviz.model.einsum import read_product
from normviz.model.types import at_least_single

# --- linear maps of vectors ---------------------------------------------------------------------


@rule("linear")
def linear(total: Tensor, x: Any, weight: Tensor, bias: Tensor | None = None) -> Record:
    """The map x W + b: it acts on each part; the bias comes from no token."""
    if not isinstance(x, Record) or isinstance(weight, Record) or isinstance(bias, Record):
        raise RuleNotApplicable("its matrix depends on the tokens")
    if x.axis == -1:
        raise RuleNotApplicable("it maps along the tokens")
    apply = lambda part: F.linear(part, at_least_single(weight))  # noqa: E731
    return linear_record(
        total,
        (x,),
        apply,
        constant=bias,
        apply_low_rank=map_low_rank(apply, x),
        matrix=weight.T,
    )


@rule("addmm")
def addmm(total: Tensor, bias: Tensor, x: Any, matrix: Tensor) -> Record:
    """The map b + x W, as Conv1D writes it."""
    record: Record = linear(total, x, matrix.T, bias)
    return record


@rule("matmul", "bmm")
def matmul(total: Tensor, left: Any, right: Any) -> Any:
    """A product of two tensors: a linear map, scores, or weights times values."""
    if not isinstance(right, Record):
        return _times_matrix(total, left, right)
    if right.axis == -1:
        # Queries times keys: scores decide where to look, and are read from the totals.
        return total
    weight = left.total if isinstance(left, Record) else left
    apply = lambda part: at_least_single(weight) @ part  # noqa: E731
    if right.axis != -2:  # noqa: PLR2004
        return linear_record(total, (right,), apply)
    if isinstance(right, SourceRecord) and not right.stepwise:
        if not in_order(right.tokens):
            raise RuleNotApplicable("its values are not all of the tokens in order")
        return AttentionRecord(total=total, axis=-2, weight=weight, value=right)
    _mark_values(right)
    return MixedAttentionRecord(total=total, axis=-2, operands=(right,), apply=apply)


def _mark_values(value: Record) -> None:
    """Mark what an attention weights, back to the projection of the values."""
    waiting = [value]
    while waiting:
        record = waiting.pop()
        if isinstance(record, LinearRecord) and not isinstance(record, MixedAttentionRecord):
            record.holds_values = True
            waiting += record.operands if record.matrix is None else ()


@rule("baddbmm")
def baddbmm(total: Tensor, base: Any, batch1: Any, batch2: Any, **_: Any) -> Any:
    """Scores on top of a bias, as models with ALiBi write them."""
    del base
    if not (isinstance(batch1, Record) and isinstance(batch2, Record) and batch2.axis == -1):
        raise RuleNotApplicable("it is not a product of queries and keys")
    return total


def _times_matrix(total: Tensor, x: Record, matrix: Tensor) -> Record:
    if x.axis == -1:
        raise RuleNotApplicable("it maps along the tokens")
    if matrix.ndim == 2:  # noqa: PLR2004
        record: Record = linear(total, x, matrix.T)
        return record
    return linear_record(total, (x,), lambda part: part @ at_least_single(matrix))


# --- sums ---------------------------------------------------------------------------------------


@rule("add")
def add(total: Tensor, a: Any, b: Any, *, alpha: float = 1.0) -> Record:
    """Sums: the parts are added; a term without parts comes from no token."""
    return _weighted_sum(total, a, b, alpha)


@rule("sub")
def sub(total: Tensor, a: Any, b: Any, *, alpha: float = 1.0) -> Record:
    """Differences: sums with the opposite sign."""
    return _weighted_sum(total, a, b, -alpha)


@rule("minus_from", "rsub")
def minus_from(total: Tensor, a: Any, b: Any) -> Record:
    """A difference with its operands exchanged, b − a, as Python writes it if b is a number."""
    return _weighted_sum(total, b, a, -1.0)


def _weighted_sum(total: Tensor, a: Any, b: Any, factor: float) -> Record:
    """Return the record of a + factor · b, where one or both have parts."""
    if isinstance(a, Record) and isinstance(b, Record):
        if _is_one_expression(a, b):
            return elementwise_record(total, lambda x, y: x + factor * y, (a, b), {})
        return sum_record(total, a, b, factor)
    x, sign, constant = (a, 1.0, factor * b) if isinstance(a, Record) else (b, factor, a)
    if isinstance(x, ElementwiseRecord):
        return elementwise_record(total, lambda v: sign * v + constant, (x,), {})
    if not isinstance(constant, Tensor):
        constant = at_least_single(total).new_tensor(constant)
    return linear_record(
        total,
        (x,),
        lambda part: sign * part,
        constant=constant,
        axis=x.axis,
        apply_low_rank=lambda parts: parts.map_vectors(lambda v: sign * v),
        kind="diagonal",
    )


def _is_one_expression(a: Record, b: Record) -> bool:
    """Whether one is an expression of the other's leaves: x + 0.04 x³ is one activation."""
    if not (isinstance(a, ElementwiseRecord) or isinstance(b, ElementwiseRecord)):
        return False
    leaves_of_a, leaves_of_b = set(leaves_of(a)), set(leaves_of(b))
    return leaves_of_a <= leaves_of_b or leaves_of_b <= leaves_of_a


def sum_record(total: Tensor, a: Record, b: Record, factor: float) -> Record:
    """Return the record of a + factor · b, where both have parts."""

    def apply_low_rank(
        first: LowRankParts | None, second: LowRankParts | None
    ) -> LowRankParts | None:
        if not (a.flat and b.flat and a.total.shape == b.total.shape):
            return None
        if second is not None and factor != 1:
            second = second.map_vectors(lambda v: factor * v)
        if first is None or second is None:
            return first if second is None else second
        return add_low_rank(first, second)

    record = linear_record(
        total,
        (a, b),
        lambda first, second: torch.add(first, second, alpha=factor),
        apply_low_rank=apply_low_rank,
        axis=a.axis if a.total.ndim >= b.total.ndim else b.axis,
        kind="diagonal" if b.name == "mean" and b.inputs == (a,) else "sum",
    )
    if (
        isinstance(record, SourceRecord)
        and isinstance(a, SourceRecord)
        and isinstance(b, SourceRecord)
    ):
        record.terms = (*(a.terms or (a,)), *(b.terms or (b,)))
    return record


# --- products -----------------------------------------------------------------------------------


@rule("mul", "multiply")
def mul(total: Tensor, a: Any, b: Any) -> Record:
    """Products: a factor without parts scales every part; two factors with parts are a gate."""
    if isinstance(a, Record) and isinstance(b, Record):
        record = elementwise_record(total, torch.mul, (a, b), {})
        if a is b and isinstance(record, ElementwiseRecord):
            record.is_square = True
        return record
    x, factor = (a, b) if isinstance(a, Record) else (b, a)
    return _scale(total, x, factor)


@rule("div", "true_divide")
def div(total: Tensor, a: Any, b: Any) -> Record:
    """Quotients: a divisor without parts scales every part."""
    if isinstance(a, Record) and not isinstance(b, Record):
        return _scale(total, a, 1 / b)
    return elementwise_record(total, torch.div, (a, b), {})


@rule("neg", "negative")
def neg(total: Tensor, x: Record) -> Record:
    """The negative: every part is negated."""
    return _scale(total, x, -1.0)


def _scale(total: Tensor, x: Record, factor: Any) -> Record:
    if isinstance(x, ElementwiseRecord):
        return elementwise_record(total, torch.mul, (x, factor), {})
    if total.ndim != x.total.ndim:
        raise RuleNotApplicable("its factor has more axes than the vectors")
    if isinstance(factor, Tensor):
        factor = at_least_single(factor)
    return linear_record(
        total,
        (x,),
        lambda part: part * factor,
        apply_low_rank=lambda parts: _scale_low_rank(parts, x, factor),
        kind="diagonal",
    )


def _scale_low_rank(parts: LowRankParts, x: Record, factor: Any) -> LowRankParts | None:
    """Scale the vectors by a factor per feature, or the weights by one per query; else None."""
    if not isinstance(factor, Tensor):
        return parts.map_vectors(lambda v: v * factor)
    if not x.flat:
        return None
    matrix = factor.reshape([1] * (2 - factor.ndim) + list(factor.shape)).flatten(0, -2)
    queries, features = matrix.shape
    if queries == 1:
        return parts.map_vectors(lambda v: v * matrix[0])
    return parts.scale_queries(matrix[:, 0]) if features == 1 else None


# --- routing and copies -------------------------------------------------------------------------


@rule("softmax", "log_softmax")
def softmax(total: Tensor, x: Record, *_: Any, **__: Any) -> Any:
    """Shares: a choice, read from the total; of a token's own numbers, they are its own."""
    return linear_record(total, (x,), lambda part: part) if stays_own(x) else total


@rule(
    "to", "type", "type_as", "float", "double", "half", "bfloat16", "contiguous", "clone", "detach",
    "dropout", "cpu", "cuda", "data",
)  # fmt: skip
def identity(total: Tensor, x: Any, *_: Any, **__: Any) -> Any:
    """A cast, a copy, or a dropout that drops nothing: the parts are the same."""
    return identity_record(total, x) if isinstance(x, Record) else total


# --- products written in letters ----------------------------------------------------------------


@rule("einsum")
def einsum(total: Tensor, equation: str, *operands: Any) -> Any:
    """A product of two tensors in letters: one that can be written as a matrix product."""
    factors = tuple(operands[0]) if len(operands) == 1 else operands
    if len(factors) != 2 or "->" not in equation:  # noqa: PLR2004
        raise RuleNotApplicable("it is not a product of two tensors")
    shapes = [(f.total if isinstance(f, Record) else f).ndim for f in factors]
    letters, target = read_product(equation, shapes)
    (first, left), (second, right) = zip(letters, factors, strict=True)
    if isinstance(left, Record) and not isinstance(right, Record):
        # A product is symmetric: the parts are on the right, as values are.
        (first, left), (second, right) = (second, right), (first, left)
    shared = [c for c in second if c in first and c in target]
    summed = [c for c in second if c in first and c not in target]
    rows = [c for c in target if c not in second]
    columns = [c for c in target if c not in first]
    if len({*first}) + len({*second}) != len(first) + len(second):
        raise RuleNotApplicable("an axis is named twice")
    if {*first} - {*shared, *summed, *rows} or {*second} - {*shared, *summed, *columns}:
        raise RuleNotApplicable("an axis is summed in one of its factors alone")
    if isinstance(left, Record) or not isinstance(right, Record):
        raise RuleNotApplicable("both of its factors have parts")
    token = second[right.axis]
    if token not in summed:
        apply = lambda part: _einsum_part(letters, target, factors, right, part)  # noqa: E731
        return linear_record(total, (right,), apply, axis=target.index(token) - len(target))
    if len(summed) != 1 or len(rows) != 1 or len(columns) != 1:
        raise RuleNotApplicable("it is not a product of weights and values")
    return _weights_times_values(total, (first, left), (second, right), target)


def _einsum_part(
    letters: list[str], target: str, factors: tuple[Any, ...], right: Record, part: Tensor
) -> Tensor:
    """Return the product with parts, which have their sources in front, in place of the total."""
    free = next(letter for letter in string.ascii_letters if letter not in "".join(letters))
    terms = [free + t if f is right else t for t, f in zip(letters, factors, strict=True)]
    values = [part if f is right else at_least_single(f) for f in factors]
    return torch.einsum(f"{','.join(terms)}->{free}{target}", values)


def _weights_times_values(
    total: Tensor, weight: tuple[str, Tensor], value: tuple[str, Record], target: str
) -> Record:
    """Return the record of weights times values whose axes are in any order."""
    (first, weights), (second, values) = weight, value
    shared = [c for c in target if c in first and c in second]
    (key,) = (c for c in second if c in first and c not in target)
    (query,), (dim,) = [c for c in target if c not in second], [c for c in target if c not in first]
    to_canonical = [second.index(c) for c in [*shared, key, dim]]
    canonical = [*shared, query, dim]
    moved: Record = RULES["permute"](values.total.permute(to_canonical), values, *to_canonical)
    product: Any = matmul(
        total.permute([target.index(c) for c in canonical]),
        weights.permute([first.index(c) for c in [*shared, query, key]]),
        moved,
    )
    back: Record = RULES["permute"](total, product, *[canonical.index(c) for c in target])
    return back

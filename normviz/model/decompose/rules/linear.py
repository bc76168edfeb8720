"""Rules for sums, products, linear maps, attention and norms."""

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from torch import Tensor

from normviz.model.decompose.rules.table import (
    RuleNotApplicable,
    by_vector,
    carried,
    expression,
    leaves_of,
    linear_record,
    rule,
)
from normviz.model.decompose.tape import (
    AttentionRecord,
    ElementwiseRecord,
    LinearRecord,
    Record,
    SourceRecord,
    in_order,
    remains_own,
)
from normviz.model.decompose.vectors import LowRankParts, together
from normviz.model.types import at_least_single

# --- linear maps of vectors ---------------------------------------------------------------------


@rule("linear")
def linear(total: Tensor, x: Any, weight: Tensor, bias: Tensor | None = None) -> Record:
    """The map x W + b: it acts on each part; the bias comes from no token."""
    _only_first(x, weight, bias)
    if x.axis == -1:
        raise RuleNotApplicable("it maps along the tokens")
    matrix = weight.T
    apply = lambda part: F.linear(part, at_least_single(weight))  # noqa: E731
    return linear_record(
        total, (x,), apply, constant=bias, mixed=by_vector(apply, x), matrix=matrix
    )


@rule("addmm")
def addmm(total: Tensor, bias: Tensor, x: Any, matrix: Tensor) -> Record:
    """The map b + x W, as Conv1D writes it."""
    found: Record = linear(total, x, matrix.T, bias)
    return found


@rule("matmul", "bmm")
def matmul(total: Tensor, left: Any, right: Any) -> Any:
    """A product of two tensors: a linear map, scores, or weights times values."""
    if not isinstance(right, Record):
        return _mapped(total, left, right)
    if right.axis == -1:
        # Queries times keys: a choice of where to look, read from the totals.
        return total
    weight = left.total if isinstance(left, Record) else left
    if right.axis != -2:  # noqa: PLR2004
        return linear_record(total, (right,), lambda part: at_least_single(weight) @ part)
    if isinstance(right, SourceRecord) and not right.followed:
        if not in_order(right.tokens):
            raise RuleNotApplicable("its values are not all of the tokens in order")
        return AttentionRecord(total=total, axis=-2, weight=weight, value=right)
    apply = lambda part: at_least_single(weight) @ part  # noqa: E731
    return LinearRecord(total=total, axis=-2, of=(right,), apply=apply)


@rule("baddbmm")
def baddbmm(total: Tensor, base: Any, batch1: Any, batch2: Any, **_: Any) -> Any:
    """Scores on top of a bias, as models with ALiBi write them."""
    del base
    if not (isinstance(batch1, Record) and isinstance(batch2, Record) and batch2.axis == -1):
        raise RuleNotApplicable("it is not a product of queries and keys")
    return total


def _mapped(total: Tensor, x: Record, matrix: Tensor) -> Record:
    if x.axis == -1:
        raise RuleNotApplicable("it maps along the tokens")
    if matrix.ndim == 2:  # noqa: PLR2004
        found: Record = linear(total, x, matrix.T)
        return found
    return linear_record(total, (x,), lambda part: part @ at_least_single(matrix))


def _only_first(x: Any, *others: Any) -> None:
    if not isinstance(x, Record) or any(isinstance(other, Record) for other in others):
        raise RuleNotApplicable("its matrix depends on the tokens")


# --- sums ---------------------------------------------------------------------------------------


@rule("add")
def add(total: Tensor, a: Any, b: Any, *, alpha: float = 1.0) -> Record:
    """Sums: the parts are added; what has none comes from no token."""
    return _sum(total, a, b, alpha)


@rule("sub")
def sub(total: Tensor, a: Any, b: Any, *, alpha: float = 1.0) -> Record:
    """Differences: as sums, with the sign turned."""
    return _sum(total, a, b, -alpha)


@rule("minus_from", "rsub")
def minus_from(total: Tensor, a: Any, b: Any) -> Record:
    """A difference as Python writes it where the first is a number: b − a."""
    return _sum(total, b, a, -1.0)


def _sum(total: Tensor, a: Any, b: Any, times: float) -> Record:
    """The sum a + times · b, of which one or both have parts."""
    if isinstance(a, Record) and isinstance(b, Record):
        if _one_expression(a, b):
            return expression(total, lambda one, other: one + times * other, (a, b), {})
        return sum_of_parts(total, a, b, times)
    x, sign, constant = (a, 1.0, times * b) if isinstance(a, Record) else (b, times, a)
    if isinstance(x, ElementwiseRecord):
        return expression(total, lambda v: sign * v + constant, (x,), {})
    if not isinstance(constant, Tensor):
        constant = at_least_single(total).new_tensor(constant)
    return linear_record(
        total, (x,), lambda part: sign * part, constant=constant, axis=x.axis,
        mixed=lambda mixed: mixed.mapped(lambda v: sign * v), kind="diagonal",
    )  # fmt: skip


def _one_expression(a: Record, b: Record) -> bool:
    """Whether one is an expression of the other's leaves: x + 0.04 x³ is one activation."""
    if not (isinstance(a, ElementwiseRecord) or isinstance(b, ElementwiseRecord)):
        return False
    mine, others = set(leaves_of(a)), set(leaves_of(b))
    return mine <= others or others <= mine


def _times(factor: float, mixed: LowRankParts) -> LowRankParts:
    return mixed if factor == 1 else mixed.mapped(lambda v: factor * v)


def sum_of_parts(total: Tensor, a: Record, b: Record, times: float) -> Record:
    """The sum a + times · b of two tensors that have parts."""

    def mixed(one: LowRankParts | None, other: LowRankParts | None) -> LowRankParts | None:
        if not (a.flat and b.flat and a.total.shape == b.total.shape):
            return None
        if one is None or other is None:
            return one if other is None else _times(times, other)
        return together(one, _times(times, other))

    found = linear_record(
        total, (a, b), lambda one, other: torch.add(one, other, alpha=times), mixed=mixed,
        axis=a.axis if a.total.ndim >= b.total.ndim else b.axis,
        kind="diagonal" if b.name == "mean" and b.inputs == (a,) else "sum",
    )  # fmt: skip
    if (
        isinstance(found, SourceRecord)
        and isinstance(a, SourceRecord)
        and isinstance(b, SourceRecord)
    ):
        found.terms = (*(a.terms or (a,)), *(b.terms or (b,)))
    return found


# --- products -----------------------------------------------------------------------------------


@rule("mul", "multiply")
def mul(total: Tensor, a: Any, b: Any) -> Record:
    """Products: a factor without parts scales every part; two that have them are a gate."""
    if isinstance(a, Record) and isinstance(b, Record):
        return _product(total, a, b)
    x, factor = (a, b) if isinstance(a, Record) else (b, a)
    return _scaled(total, x, factor)


@rule("div", "true_divide")
def div(total: Tensor, a: Any, b: Any) -> Record:
    """Quotients: a divisor without parts scales every part."""
    if isinstance(a, Record) and not isinstance(b, Record):
        return _scaled(total, a, 1 / b)
    return expression(total, torch.div, (a, b), {})


@rule("neg", "negative")
def neg(total: Tensor, x: Record) -> Record:
    """The opposite: every part turned round."""
    return _scaled(total, x, -1.0)


def _product(total: Tensor, a: Record, b: Record) -> Record:
    found = expression(total, torch.mul, (a, b), {})
    if a is b and isinstance(found, ElementwiseRecord):
        found.square = True
    return found


def _scaled(total: Tensor, x: Record, factor: Any) -> Record:
    if isinstance(x, ElementwiseRecord):
        return expression(total, torch.mul, (x, factor), {})
    if total.ndim != x.total.ndim:
        raise RuleNotApplicable("its factor has more axes than the vectors")
    if isinstance(factor, Tensor):
        factor = at_least_single(factor)
    return linear_record(
        total, (x,), lambda part: part * factor, kind="diagonal",
        mixed=lambda mixed: _scaled_mixed(mixed, x, factor),
    )  # fmt: skip


def _scaled_mixed(mixed: LowRankParts, x: Record, factor: Any) -> LowRankParts | None:
    """A factor by feature scales the vectors, one by query the weights; others neither."""
    if not isinstance(factor, Tensor):
        return mixed.mapped(lambda v: v * factor)
    if not x.flat:
        return None
    whole = factor.reshape([1] * (2 - factor.ndim) + list(factor.shape)).flatten(0, -2)
    rows, features = whole.shape
    if rows == 1:
        return mixed.mapped(lambda v: v * whole[0])
    return mixed.scaled(whole[:, 0]) if features == 1 else None


# --- routing: read from the total ---------------------------------------------------------------


@rule("softmax", "log_softmax")
def softmax(total: Tensor, x: Record, *_: Any, **__: Any) -> Any:
    """Shares: a choice, read from the total; of a token's own numbers, they are its own."""
    return linear_record(total, (x,), lambda part: part) if remains_own(x) else total


@rule(
    "to", "type", "type_as", "float", "double", "half", "bfloat16", "contiguous", "clone", "detach",
    "dropout", "cpu", "cuda", "data",
)  # fmt: skip
def carry(total: Tensor, x: Record, *_: Any, **__: Any) -> Record:
    """A cast, a copy, or a dropout that drops nothing: the parts are the same."""
    return carried(total, x)

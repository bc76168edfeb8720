"""Rules for norms: linear, once the statistics of the total are known."""

from typing import Any

import torch
from torch import Tensor

from normviz.model.decompose.rules.table import RuleNotApplicable, linear_record, rule
from normviz.model.decompose.tape import ElementwiseRecord, Record, stays_own
from normviz.model.decompose.vectors import LowRankParts
from normviz.model.types import at_least_single


@rule("layer_norm")
def layer_norm(  # noqa: PLR0917 - as torch takes them
    total: Tensor,
    x: Record,
    shape: Any,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Record:
    """Each part is centered by its own mean; all are divided by the deviation of the total."""
    if len(shape) != 1:
        raise RuleNotApplicable("it normalizes over several axes")
    deviation = (at_least_single(x.total).var(dim=-1, keepdim=True, correction=0) + eps).sqrt()
    return _norm_record(total, x, deviation, weight, bias, centered=True)


@rule("rms_norm")
def rms_norm(
    total: Tensor, x: Record, shape: Any, weight: Tensor | None = None, eps: float | None = None
) -> Record:
    """Each part is divided by the root mean square of the total."""
    if len(shape) != 1:
        raise RuleNotApplicable("it normalizes over several axes")
    small = torch.finfo(x.total.dtype).eps if eps is None else eps
    size = (at_least_single(x.total).square().mean(dim=-1, keepdim=True) + small).sqrt()
    return _norm_record(total, x, size, weight, None, centered=False)


def _norm_record(
    total: Tensor,
    x: Record,
    size: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    *,
    centered: bool,
) -> Record:
    gain = 1.0 if weight is None else at_least_single(weight)

    def scale(part: Tensor) -> Tensor:
        # The difference is fresh memory, so it can be scaled in place.
        return (part - part.mean(dim=-1, keepdim=True)).mul_(gain) if centered else part * gain

    def apply_low_rank(parts: LowRankParts) -> LowRankParts | None:
        return parts.map_vectors(scale).scale_queries(1 / size.reshape(-1)) if x.flat else None

    return linear_record(
        total,
        (x,),
        lambda part: scale(part) / size,
        constant=bias,
        apply_low_rank=apply_low_rank,
        kind="diagonal",
    )


@rule("mean")
def mean(total: Tensor, x: Record, dim: Any = None, keepdim: bool = False, **_: Any) -> Any:  # noqa: FBT001, FBT002
    """The mean over features is linear; the mean of squares is a statistic, read from the total."""
    dims = [dim] if isinstance(dim, int) else list(dim or ())
    if [d % x.total.ndim - x.total.ndim for d in dims] != [-1] or x.axis == -1:
        raise RuleNotApplicable("it is not a mean over the features")
    if isinstance(x, ElementwiseRecord):
        if not x.is_square:
            raise RuleNotApplicable("it is the mean of something that is not linear")
        return total
    axis = x.axis if keepdim else x.axis + 1
    apply = lambda part: part.mean(dim=-1, keepdim=keepdim)  # noqa: E731
    return linear_record(total, (x,), apply, axis=axis, name="mean")


@rule("var", "std", "norm", "vector_norm", "linalg_vector_norm")
def statistic(total: Tensor, x: Record, *_: Any, **__: Any) -> Any:
    """A statistic of a vector is read from the total; of a token's own vector, it is its own."""
    if stays_own(x):
        return linear_record(
            total, (x,), lambda part: part, axis=x.axis + x.total.ndim - total.ndim
        )
    return total

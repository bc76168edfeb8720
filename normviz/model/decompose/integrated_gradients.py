"""Activations and gates: integrated gradients along a straight path, exactly complete.

The path leads from an origin o to the leaves' values s. Each leaf gets the factor
C = ∫₀¹ ∂F(o + t(s − o)) dt, and Σ C (s − o) = F(s) − F(o). With one leaf that is the closed form
(F(s) − F(o)) / (s − o). With several, as in a gated unit act(g)·u, the integrals are computed at
Gauss–Legendre points, and the remaining error goes to the leaf that moved furthest, so that the sum
is exact.

The origin is zero (a bias is a source of its own and is scaled like every other part) or the bias
part (biases are held constant, and only the tokens' parts move).
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from normviz.model.decompose.tape import BiasHandling, ElementwiseRecord
from normviz.model.types import at_least_single

POINTS = 32
"""The number of points at which an integral is computed."""


def elementwise_parts(
    record: ElementwiseRecord,
    bias_handling: BiasHandling,
    parts: Sequence[Tensor | None],
    bias_parts: Sequence[Tensor | None],
) -> Tensor | None:
    """Return the parts of a function's value, from the dense parts of its leaves."""
    factors, _ = _leaf_factors(record, bias_handling, bias_parts)
    scaled = [part * f for part, f in zip(parts, factors, strict=True) if part is not None]
    return torch.stack(scaled).sum(dim=0) if len(scaled) > 1 else scaled[0] if scaled else None


def elementwise_bias_part(
    record: ElementwiseRecord, bias_handling: BiasHandling, bias_parts: Sequence[Tensor | None]
) -> Tensor:
    """Return the bias part of a function's value, from the bias parts of its leaves."""
    factors, at_origin = _leaf_factors(record, bias_handling, bias_parts)
    if bias_handling == "constant":
        return at_origin
    scaled = [f * part for f, part in zip(factors, bias_parts, strict=True) if part is not None]
    return at_origin + sum(scaled) if scaled else at_origin


def _leaf_factors(
    record: ElementwiseRecord, bias_handling: BiasHandling, bias_parts: Sequence[Tensor | None]
) -> tuple[list[Tensor], Tensor]:
    """Return the factor of each leaf, and the function's value at the origin."""
    constant = bias_handling == "constant"
    if constant not in record.factors:
        ends = [at_least_single(leaf.total) for leaf in record.leaves]
        starts = [
            bias if constant and bias is not None else torch.zeros_like(end)
            for end, bias in zip(ends, bias_parts, strict=True)
        ]
        record.factors[constant] = _path_factors(record, starts, ends)
    return record.factors[constant]


def _path_factors(
    record: ElementwiseRecord, starts: Sequence[Tensor], ends: Sequence[Tensor]
) -> tuple[list[Tensor], Tensor]:
    shape = record.total.shape
    starts = [start.expand(shape) for start in starts]
    steps = [end.expand(shape) - start for end, start in zip(ends, starts, strict=True)]
    at_start = at_least_single(record.function(*starts))
    change = at_least_single(record.function(*(end.expand(shape) for end in ends))) - at_start
    factors = _integrate_gradients(record, starts, steps)
    missing = change - sum(factor * step for factor, step in zip(factors, steps, strict=True))
    sizes = torch.stack([step.abs() for step in steps])
    furthest, longest = sizes.argmax(dim=0), sizes.amax(dim=0)
    # On a shorter path, dividing by the step loses more than the integral's error.
    safe = longest > torch.finfo(longest.dtype).eps ** (1 / 3)
    for leaf, step in enumerate(steps):
        corrected = safe & (furthest == leaf)
        factors[leaf] += torch.where(corrected, missing, 0) / step.where(
            corrected, step.new_ones(())
        )
    return factors, at_start


def _integrate_gradients(
    record: ElementwiseRecord, starts: Sequence[Tensor], steps: Sequence[Tensor]
) -> list[Tensor]:
    """Return ∫₀¹ ∂F dt for each leaf; with one leaf, one point is enough: it is corrected after."""
    points, weights = np.polynomial.legendre.leggauss(POINTS if len(steps) > 1 else 1)
    integrals = [torch.zeros_like(step) for step in steps]
    for point, weight in zip((points + 1) / 2, weights / 2, strict=True):
        with torch.enable_grad():
            leaves = [
                (start + float(point) * step).detach().requires_grad_()
                for start, step in zip(starts, steps, strict=True)
            ]
            gradients = torch.autograd.grad(record.function(*leaves).sum(), leaves)
        for integral, gradient in zip(integrals, gradients, strict=True):
            integral.add_(gradient, alpha=float(weight))
    return integrals

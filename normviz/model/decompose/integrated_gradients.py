"""Activations and gates: integrated gradients along a straight path, exactly complete.

A function of the leaves s is followed from an origin o to s; each leaf then counts with
C = ∫₀¹ ∂F(o + t(s − o)) dt, and Σ C (s − o) = F(s) − F(o). With one leaf that is the closed form
(F(s) − F(o)) / (s − o). With several, as in a gated unit act(g)·u, the integrals are taken at
Gauss–Legendre points, and what these leave over goes to the leaf that moved furthest, so that the
sum is exact.

The origin is zero (a bias is a source of its own and is scaled like every other part) or what
comes from no token (biases are held constant, and only tokens are followed).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from normviz.model.decompose.tape import Biases, ElementwiseRecord
from normviz.model.types import at_least_single

if TYPE_CHECKING:
    from normviz.model.decompose.replay import BiasPart

POINTS = 32
"""How many points an integral is taken at."""


def factors(
    record: ElementwiseRecord, biases: Biases, bias_share: Sequence[Tensor | None]
) -> tuple[list[Tensor], Tensor]:
    """How much each leaf counts, and the function at the origin."""
    if biases not in record.factors:
        ends = [at_least_single(leaf.total) for leaf in record.leaves]
        starts = [
            torch.zeros_like(end) if biases == "source" or start is None else start
            for end, start in zip(ends, bias_share, strict=True)
        ]
        record.factors[biases] = _factors(record, starts, ends)
    return record.factors[biases]


def _factors(
    record: ElementwiseRecord, starts: Sequence[Tensor], ends: Sequence[Tensor]
) -> tuple[list[Tensor], Tensor]:
    shape = record.total.shape
    starts = [start.expand(shape) for start in starts]
    steps = [end.expand(shape) - start for end, start in zip(ends, starts, strict=True)]
    at_start = at_least_single(record.function(*starts))
    gained = at_least_single(record.function(*(end.expand(shape) for end in ends))) - at_start
    found = _integrals(record, starts, steps)
    missing = gained - sum(factor * step for factor, step in zip(found, steps, strict=True))
    sizes = torch.stack([step.abs() for step in steps])
    furthest, longest = sizes.argmax(dim=0), sizes.amax(dim=0)
    # A shorter path loses more by dividing than the middle of it is wrong.
    safe = longest > torch.finfo(longest.dtype).eps ** (1 / 3)
    for leaf, step in enumerate(steps):
        mends = safe & (furthest == leaf)
        found[leaf] += torch.where(mends, missing, 0) / step.where(mends, step.new_ones(()))
    return found, at_start


def _integrals(
    record: ElementwiseRecord, starts: Sequence[Tensor], steps: Sequence[Tensor]
) -> list[Tensor]:
    """∫₀¹ ∂F dt for each leaf; with one leaf, one point is enough: the mending is exact."""
    points, shares = np.polynomial.legendre.leggauss(POINTS if len(steps) > 1 else 1)
    found = [torch.zeros_like(step) for step in steps]
    for point, share in zip((points + 1) / 2, shares / 2, strict=True):
        with torch.enable_grad():
            at = [
                (start + float(point) * step).detach().requires_grad_()
                for start, step in zip(starts, steps, strict=True)
            ]
            slopes = torch.autograd.grad(record.function(*at).sum(), at)
        for whole, slope in zip(found, slopes, strict=True):
            whole.add_(slope, alpha=float(share))
    return found


def applied(
    record: ElementwiseRecord, free: "BiasPart", given: Sequence[Tensor | None]
) -> Tensor | None:
    """The parts of a function's value, from the dense parts of its leaves."""
    scales, _ = factors(record, free.biases, [free.of(leaf) for leaf in record.leaves])
    found = [part * scale for part, scale in zip(given, scales, strict=True) if part is not None]
    return torch.stack(found).sum(dim=0) if len(found) > 1 else found[0] if found else None


def bias_share(record: ElementwiseRecord, biases: Biases, given: Sequence[Tensor | None]) -> Tensor:
    """What a function's value owes to no token."""
    scales, at_start = factors(record, biases, given)
    if biases == "constant":
        return at_start
    parts = [scale * part for scale, part in zip(scales, given, strict=True) if part is not None]
    return at_start + sum(parts) if parts else at_start

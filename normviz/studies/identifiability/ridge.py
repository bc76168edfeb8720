"""A linear probe in closed form, from sums over the hidden states."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

STRENGTHS = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)
"""The ridges that are tried, in units of the states' mean variance."""
MIN_PENALTY = 1e-30
"""Keeps the solution unique if all states are equal and their variance is 0."""


class RegressionSums:
    """The sums that a ridge regression with an intercept needs of states and inputs.

    The states have a 1 as their last entry, so that sums and means are among the products.
    """

    def __init__(
        self, gram: Float[Tensor, "one one"], cross: Float[Tensor, "one model"], square: float
    ) -> None:
        self.gram = gram
        self.cross = cross
        self.square = square

    @classmethod
    def zeros(cls, model: int, device: torch.device) -> "RegressionSums":
        """Return the sums over no tokens."""
        gram = torch.zeros(model + 1, model + 1, dtype=torch.float64, device=device)
        return cls(gram, gram.new_zeros(model + 1, model), 0.0)

    def add(self, states: Float[Tensor, "query model"], inputs: Float[Tensor, "key model"]) -> None:
        """Add the tokens of one text."""
        augmented = torch.nn.functional.pad(states, (0, 1), value=1.0)
        self.gram.addmm_(augmented.T, augmented)
        self.cross.addmm_(augmented.T, inputs)
        self.square += float(inputs.square().sum())

    def __add__(self, other: "RegressionSums") -> "RegressionSums":
        """Return the sums over the tokens of both."""
        return RegressionSums(
            self.gram + other.gram, self.cross + other.cross, self.square + other.square
        )


@dataclass(frozen=True)
class Linear:
    """A linear map with an intercept, its last row."""

    weight: Float[Tensor, "one model"]
    strength: float
    """The ridge it was fitted with."""

    def __call__(self, states: Float[Tensor, "query model"]) -> Float[Tensor, "query model"]:
        """Return the inputs predicted from hidden states."""
        return states @ self.weight[:-1] + self.weight[-1]

    def loss(self, sums: RegressionSums) -> float:
        """Return the sum of squared errors over all tokens of the sums."""
        twice = 2 * (self.weight * sums.cross).sum()
        return float(sums.square - twice + (self.weight * (sums.gram @ self.weight)).sum())


def fit_ridge(sums: RegressionSums, strength: float) -> Linear:
    """Return the map that minimizes Σ‖x − Wh − b‖² + penalty ‖W‖², with a free intercept b.

    The penalty is the strength times the mean variance of the states' coordinates times their
    number, so that a strength means the same in every layer and for every corpus.
    """
    count = sums.gram[-1, -1]
    mean, goal = sums.gram[-1, :-1] / count, sums.cross[-1] / count
    spread = sums.gram[:-1, :-1] - count * torch.outer(mean, mean)
    shared = sums.cross[:-1] - count * torch.outer(mean, goal)
    penalty = (strength * spread.trace() / len(mean)).clamp(min=MIN_PENALTY)
    spread.diagonal().add_(penalty)
    weight = torch.linalg.solve(spread, shared)
    return Linear(torch.cat([weight, (goal - mean @ weight)[None]]), strength)


def fit_without_fold(
    folds: Sequence[RegressionSums], held_out: int, strength: float | None
) -> Linear:
    """Return the probe for one fold, fitted on all the others.

    If the strength is None, the next fold is held out of the training too, to choose it; then the
    probe is fitted on that fold as well.
    """
    training = [fold for fold in range(len(folds)) if fold != held_out]
    if strength is None:
        validation = (held_out + 1) % len(folds)
        others = _add_folds(folds, [fold for fold in training if fold != validation])
        tried = [fit_ridge(others, each) for each in STRENGTHS]
        strength = min(tried, key=lambda probe: probe.loss(folds[validation])).strength
    return fit_ridge(_add_folds(folds, training), strength)


def _add_folds(folds: Sequence[RegressionSums], numbers: Sequence[int]) -> RegressionSums:
    first, *rest = (folds[number] for number in numbers)
    return sum(rest, start=first)

"""A linear probe in closed form, from sums that are taken as the states pass."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

STRENGTHS = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)
"""The ridges that are tried, in units of the states' mean variance."""
LEAST = 1e-30
"""Of states that are all the same the variance is nothing, and there is still one answer."""


class Moments:
    """All that a ridge regression with an intercept needs to know of states and inputs.

    The states have a 1 as their last entry, so that sums and means are among the products.
    """

    def __init__(
        self, gram: Float[Tensor, "one one"], cross: Float[Tensor, "one model"], square: float
    ) -> None:
        self.gram = gram
        self.cross = cross
        self.square = square

    @classmethod
    def none(cls, model: int, device: torch.device) -> "Moments":
        """Nothing seen yet."""
        gram = torch.zeros(model + 1, model + 1, dtype=torch.float64, device=device)
        return cls(gram, gram.new_zeros(model + 1, model), 0.0)

    def take(
        self, states: Float[Tensor, "query model"], inputs: Float[Tensor, "key model"]
    ) -> None:
        """Add what one text has to say."""
        ones = torch.nn.functional.pad(states, (0, 1), value=1.0)
        self.gram.addmm_(ones.T, ones)
        self.cross.addmm_(ones.T, inputs)
        self.square += float(inputs.square().sum())

    def __add__(self, other: "Moments") -> "Moments":
        """What both have seen."""
        return Moments(self.gram + other.gram, self.cross + other.cross, self.square + other.square)


@dataclass(frozen=True)
class Linear:
    """A linear map with an intercept, its last row."""

    weight: Float[Tensor, "one model"]
    strength: float
    """The ridge it was fitted with."""

    def __call__(self, states: Float[Tensor, "query model"]) -> Float[Tensor, "query model"]:
        """What the inputs would be."""
        return states @ self.weight[:-1] + self.weight[-1]

    def loss(self, seen: Moments) -> float:
        """The sum of squared errors over all that was seen, from the moments alone."""
        twice = 2 * (self.weight * seen.cross).sum()
        return float(seen.square - twice + (self.weight * (seen.gram @ self.weight)).sum())


def ridge(seen: Moments, strength: float) -> Linear:
    """The map with the least Σ‖x − Wh − b‖² + penalty ‖W‖², the intercept b left free.

    The penalty is the strength times the mean variance of the states' coordinates times their
    number, so that a strength means the same in every layer and for every corpus.
    """
    count = seen.gram[-1, -1]
    mean, goal = seen.gram[-1, :-1] / count, seen.cross[-1] / count
    spread = seen.gram[:-1, :-1] - count * torch.outer(mean, mean)
    shared = seen.cross[:-1] - count * torch.outer(mean, goal)
    penalty = (strength * spread.trace() / len(mean)).clamp(min=LEAST)
    spread.diagonal().add_(penalty)
    weight = torch.linalg.solve(spread, shared)
    return Linear(torch.cat([weight, (goal - mean @ weight)[None]]), strength)


def fitted(folds: Sequence[Moments], held_out: int, strength: float | None) -> Linear:
    """The probe for one fold, from all the others; the fold itself is never looked at.

    Where no strength is given, one more fold is held out of the training to choose it, the next
    one, and is learned from in the end.
    """
    training = [place for place in range(len(folds)) if place != held_out]
    if strength is None:
        judge = (held_out + 1) % len(folds)
        others = _all(folds, [place for place in training if place != judge])
        tried = [ridge(others, each) for each in STRENGTHS]
        strength = min(tried, key=lambda probe: probe.loss(folds[judge])).strength
    return ridge(_all(folds, training), strength)


def _all(folds: Sequence[Moments], places: Sequence[int]) -> Moments:
    first, *rest = (folds[place] for place in places)
    return sum(rest, start=first)

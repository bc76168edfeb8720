"""How large a derivative is for every pair of tokens: directions, and norms added up over them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from normviz.model.measures.gradients.chain import Origin
from normviz.model.types import at_least_single, shares

Norm = Literal["frobenius", "spectral"]
Rows = Literal["normalized", "raw"]


@dataclass(frozen=True)
class GradientOptions:
    """How derivatives are taken and measured."""

    norm: Norm = "frobenius"
    origin: Origin = "after-norm"
    rows: Rows = "normalized"
    samples: int | None = None
    """How many random directions are tried for each token; None for every coordinate."""
    seed: int = 0
    memory: int | None = None


@dataclass(frozen=True)
class Directions:
    """The directions in which each token's vector is changed.

    All coordinates in turn, or random ones: orthonormal for each token, drawn for each token anew.
    """

    width: int
    samples: int | None
    seed: int

    @property
    def count(self) -> int:
        """How many there are for each token."""
        return self.width if self.samples is None else min(self.samples, self.width)

    @property
    def exact(self) -> bool:
        """Whether they span the whole space, so that nothing is estimated."""
        return self.count == self.width

    def of(self, source: int, like: Tensor) -> Float[Tensor, "direction width"]:
        """Those of one token, where the model is and in its precision."""
        if self.exact:
            return torch.eye(self.width, dtype=like.dtype, device=like.device)
        draw = torch.Generator().manual_seed(self.seed * 2**20 + source)
        normal = torch.randn(self.width, self.count, generator=draw, dtype=torch.float64)
        orthonormal: Tensor = torch.linalg.qr(normal).Q
        return orthonormal.T.to(like)


@dataclass(frozen=True, eq=False)
class Changes:
    """Changes that are pushed at once: some directions of some tokens."""

    sources: range
    directions: Directions
    vectors: Float[Tensor, "change *position width"]
    ends: bool
    """Whether these are the last of their tokens."""


def changes(
    given: Tensor, directions: Directions, most: int, *, together: bool
) -> Iterator[Changes]:
    """Every direction of every token, at most so many at once; a token's together if need be."""
    places = given.numel() // given.shape[-1]
    each = directions.count if together else min(directions.count, most)
    tokens = max(1, most // directions.count)
    for begin in range(0, places, tokens):
        sources = range(begin, min(places, begin + tokens))
        some = torch.stack([directions.of(source, given) for source in sources])
        parts = torch.split(some, each, dim=1)
        for part in parts:
            vectors = given.new_zeros(*part.shape[:2], places, given.shape[-1])
            for number, source in enumerate(sources):
                vectors[number, :, source] = part[number]
            whole = vectors.reshape(-1, *given.shape)
            yield Changes(sources, directions, whole, ends=part is parts[-1])


class Lengths:
    """The size of a derivative for every pair of tokens, from its effects in some directions."""

    def __init__(self, directions: Directions, norm: Norm) -> None:
        self.directions = directions
        self.norm = norm
        self.sums: dict[int, Tensor] = {}
        self.squares: dict[int, Tensor] = {}
        """What is added up for each source, and the squares of it."""

    def add(self, sources: range, effects: Tensor) -> None:
        """Enter the effects [change, *query, *head, dim] of the changes of some sources."""
        each = at_least_single(effects.reshape(len(sources), -1, *effects.shape[1:]))
        if self.norm == "spectral":
            largest = torch.linalg.matrix_norm(each.movedim(1, -2), ord=2)
            self.sums.update(zip(sources, largest, strict=True))
            return
        lengths = each.square().sum(dim=-1)
        for source, of_one in zip(sources, lengths, strict=True):
            zero = torch.zeros_like(of_one[0])
            self.sums[source] = self.sums.get(source, zero) + of_one.sum(dim=0)
            self.squares[source] = self.squares.get(source, zero) + of_one.square().sum(dim=0)

    def raw(self) -> Tensor:
        """The norms [*head, query, key]."""
        found = _by_source(self.sums)
        if self.norm == "spectral":
            return found
        return (found * (self.directions.width / self.directions.count)).sqrt()

    def error(self) -> Tensor:
        """The standard error of each norm: nothing, where no direction was left out.

        Directions without repetition: the mean of k of d orthonormal ones has the variance of one,
        over k, times 1 - k/d. The square of the norm is estimated without bias, and its error is
        carried over to the norm to first order.
        """
        if self.directions.exact:
            return torch.zeros_like(self.raw())
        count, width = self.directions.count, self.directions.width
        mean = _by_source(self.sums) / count
        variance = (_by_source(self.squares) / count - mean.square()).clamp(min=0)
        variance = variance * (count / (count - 1)) * (1 - count / width) / count
        tiny = torch.finfo(mean.dtype).tiny
        return self.raw() * variance.sqrt() / (2 * mean).clamp(min=tiny)


def _by_source(found: dict[int, Tensor]) -> Tensor:
    """All sources side by side, heads in front where there are any."""
    whole = torch.stack([found[source] for source in sorted(found)], dim=-1)
    return whole.movedim(0, -2)


def in_rows(numbers: Tensor, error: Tensor) -> tuple[Tensor, Tensor]:
    """Each row as shares of its sum, and the errors of the shares."""
    whole = numbers.sum(dim=-1, keepdim=True).clamp(min=torch.finfo(numbers.dtype).tiny)
    share, wrong = shares(numbers), (error / whole).square()
    others = wrong.sum(dim=-1, keepdim=True) - wrong
    return share, ((1 - share).square() * wrong + share.square() * others).sqrt()


def relative(numbers: Tensor, error: Tensor) -> float:
    """How large errors are beside the numbers, over all of them: root mean squares."""
    size = float(numbers.square().mean())
    return math.sqrt(float(error.square().mean()) / size) if size else 0.0

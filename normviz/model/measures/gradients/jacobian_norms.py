"""The norm of a derivative for every pair of tokens: directions, and norms added up over them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from normviz.core.gradients import Norm
from normviz.model.types import at_least_single, row_shares, row_sums


@dataclass(frozen=True)
class Directions:
    """The directions in which each token's vector is changed.

    All coordinates in turn, or random ones: orthonormal for each token, and drawn for each anew.
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
        """Return those of one token, with the device and type of a tensor."""
        if self.exact:
            return torch.eye(self.width, dtype=like.dtype, device=like.device)
        generator = torch.Generator().manual_seed(self.seed * 2**20 + source)
        normal = torch.randn(self.width, self.count, generator=generator, dtype=torch.float64)
        orthonormal: Tensor = torch.linalg.qr(normal).Q
        return orthonormal.T.to(like)


@dataclass(frozen=True, eq=False)
class DirectionBatch:
    """Directions that are pushed at once: some directions of some tokens."""

    sources: range
    directions: Directions
    vectors: Float[Tensor, "change *position width"]
    is_last: bool
    """Whether these are the last of their tokens."""


def direction_batches(
    inputs: Tensor, directions: Directions, batch_size: int, *, together: bool
) -> Iterator[DirectionBatch]:
    """Yield all directions of all tokens in batches.

    `together` keeps all directions of a token in one batch, even if that exceeds `batch_size`.
    """
    positions = inputs.numel() // inputs.shape[-1]
    each = directions.count if together else min(directions.count, batch_size)
    tokens = max(1, batch_size // directions.count)
    for begin in range(0, positions, tokens):
        sources = range(begin, min(positions, begin + tokens))
        by_source = torch.stack([directions.of(source, inputs) for source in sources])
        chunks = torch.split(by_source, each, dim=1)
        for chunk in chunks:
            vectors = inputs.new_zeros(*chunk.shape[:2], positions, inputs.shape[-1])
            for number, source in enumerate(sources):
                vectors[number, :, source] = chunk[number]
            whole = vectors.reshape(-1, *inputs.shape)
            yield DirectionBatch(sources, directions, whole, is_last=chunk is chunks[-1])


class NormAccumulator:
    """The norm of a derivative for every pair of tokens, from its effects in some directions."""

    def __init__(self, directions: Directions, norm: Norm) -> None:
        self.directions = directions
        self.norm = norm
        self.sums: dict[int, Tensor] = {}
        self.squares: dict[int, Tensor] = {}
        """For each source, the sum over directions, and the sum of squares."""

    def add(self, sources: range, effects: Tensor) -> None:
        """Add the effects [change, *query, *head, dim] of the directions of some sources."""
        by_source = at_least_single(effects.reshape(len(sources), -1, *effects.shape[1:]))
        if self.norm == "spectral":
            largest = torch.linalg.matrix_norm(by_source.movedim(1, -2), ord=2)
            self.sums.update(zip(sources, largest, strict=True))
            return
        lengths = by_source.square().sum(dim=-1)
        for source, of_source in zip(sources, lengths, strict=True):
            zero = torch.zeros_like(of_source[0])
            self.sums[source] = self.sums.get(source, zero) + of_source.sum(dim=0)
            self.squares[source] = self.squares.get(source, zero) + of_source.square().sum(dim=0)

    def norms(self) -> Tensor:
        """Return the norms [*head, query, key]."""
        sums = _stack_sources(self.sums)
        if self.norm == "spectral":
            return sums
        return (sums * (self.directions.width / self.directions.count)).sqrt()

    def standard_errors(self) -> Tensor:
        """Return the standard error of each norm; zero where no direction was left out.

        Directions without repetition: the mean of k of d orthonormal ones has the variance of one,
        over k, times 1 - k/d. The square of the norm is estimated without bias, and its error is
        carried over to the norm to first order.
        """
        if self.directions.exact:
            return torch.zeros_like(self.norms())
        count, width = self.directions.count, self.directions.width
        mean = _stack_sources(self.sums) / count
        variance = (_stack_sources(self.squares) / count - mean.square()).clamp(min=0)
        variance = variance * (count / (count - 1)) * (1 - count / width) / count
        tiny = torch.finfo(mean.dtype).tiny
        return self.norms() * variance.sqrt() / (2 * mean).clamp(min=tiny)


def _stack_sources(by_source: dict[int, Tensor]) -> Tensor:
    """Return all sources along the last axis, heads in front where there are any."""
    stacked = torch.stack([by_source[source] for source in sorted(by_source)], dim=-1)
    return stacked.movedim(0, -2)


def normalize_rows(numbers: Tensor, errors: Tensor) -> tuple[Tensor, Tensor]:
    """Return each row as shares of its sum, and the errors of the shares."""
    shares, variances = row_shares(numbers), (errors / row_sums(numbers)).square()
    of_others = variances.sum(dim=-1, keepdim=True) - variances
    return shares, ((1 - shares).square() * variances + shares.square() * of_others).sqrt()


def relative_error(numbers: Tensor, errors: Tensor) -> float:
    """Return the root mean square of the errors over that of the numbers."""
    size = float(numbers.square().mean())
    return math.sqrt(float(errors.square().mean()) / size) if size else 0.0

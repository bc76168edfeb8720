"""Vectors by source: what each query gets from each source, in the smallest form that holds it.

After attention, and up to the next activation, what source s gives to query q is a sum of a few
vectors that depend on s alone, one for each head, weighted by numbers that depend on both; plus the
residual connection, by which a token gives to itself. Linear maps act on these few vectors, and
norms follow from their inner products.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Size, Tensor

from normviz.model.types import Gram


@dataclass(frozen=True)
class LowRankParts:
    """A few vectors for each source, their weights for each query, and a residual."""

    weight: Float[Tensor, "term query source"]
    vectors: Float[Tensor, "term source feature"]
    residual: Float[Tensor, "source feature"] | None = None
    """What each source gives to itself in addition; it reaches no other query."""
    start: int = 0
    """The query that is the first source itself."""

    def map_vectors(self, function: Callable[[Tensor], Tensor]) -> "LowRankParts":
        """Apply a linear map to the vectors."""
        residual = None if self.residual is None else function(self.residual)
        return LowRankParts(self.weight, function(self.vectors), residual, self.start)

    def scale_queries(self, factor: Float[Tensor, " query"]) -> "LowRankParts":
        """Multiply what each query gets by a factor."""
        residual = None
        if self.residual is not None:
            residual = self.residual * factor[self.self_queries, None]
        return LowRankParts(self.weight * factor[:, None], self.vectors, residual, self.start)

    def select_queries(self, queries: Tensor) -> "LowRankParts":
        """Return the parts of some queries, in the order given."""
        parts = self._with_residual_as_term()
        return LowRankParts(parts.weight[:, queries], parts.vectors)

    def _with_residual_as_term(self) -> "LowRankParts":
        if self.residual is None:
            return self
        diagonal = self.weight.new_zeros(1, *self.weight.shape[1:])
        diagonal[:, self.self_queries].diagonal(dim1=1, dim2=2).fill_(1)
        weight = torch.cat([self.weight, diagonal])
        return LowRankParts(weight, torch.cat([self.vectors, self.residual[None]]))

    @property
    def self_queries(self) -> slice:
        """The queries that are the sources themselves."""
        return slice(self.start, self.start + self.weight.shape[2])

    def dense(self, shape: Size) -> Tensor:
        """Return a vector for each source and query, in a tensor's shape with sources in front."""
        by_source = self.weight.permute(2, 1, 0)  # source query term
        vectors = torch.bmm(by_source, self.vectors.transpose(0, 1))  # source query feature
        if self.residual is not None:
            vectors[:, self.self_queries].diagonal(dim1=0, dim2=1).add_(self.residual.T)
        return vectors.reshape(-1, *shape)

    def gram(self) -> Gram:
        """Return the inner products of the terms at each source."""
        by_source = self.vectors.transpose(0, 1)  # source term feature
        products = torch.bmm(by_source, by_source.transpose(1, 2))
        return products.permute(1, 2, 0).contiguous()[:, :, None]

    def project_onto(
        self, direction: Float[Tensor, "query feature"]
    ) -> Float[Tensor, "query source"]:
        """Return the inner product of each vector with its query's direction."""
        products = self.vectors @ direction.T  # term source query
        projections = (self.weight * products.transpose(1, 2)).sum(dim=0)
        if self.residual is not None:
            own = (self.residual * direction[self.self_queries]).sum(dim=-1)
            projections[self.self_queries].diagonal().add_(own)
        return projections

    def sum_over_sources(
        self, directions: Float[Tensor, "feature direction"]
    ) -> Float[Tensor, "query direction"]:
        """Return the sum over all sources, on some directions."""
        total = (self.weight @ (self.vectors @ directions)).sum(dim=0)
        if self.residual is not None:
            total[self.self_queries] += self.residual @ directions
        return total

    def self_parts(self, start: int) -> Float[Tensor, "source feature"]:
        """Return what each source gives to itself, where the first source is the query `start`."""
        own = self.weight[:, start : start + self.weight.shape[2]]
        weight = own.diagonal(dim1=1, dim2=2).T[:, None]  # source one term
        vectors = torch.bmm(weight, self.vectors.transpose(0, 1))[:, 0]
        return vectors if self.residual is None else vectors + self.residual


def add_low_rank(a: LowRankParts, b: LowRankParts) -> LowRankParts:
    """Return the sum of two: the terms of both, and the sum of their residuals."""
    if len(a.vectors) and len(b.vectors):
        weight = torch.cat([a.weight, b.weight])
        vectors = torch.cat([a.vectors, b.vectors])
    else:
        longer = max((a, b), key=lambda parts: len(parts.vectors))
        weight, vectors = longer.weight, longer.vectors
    if a.residual is None or b.residual is None:
        holder = b if a.residual is None else a
        return LowRankParts(weight, vectors, holder.residual, holder.start)
    return LowRankParts(weight, vectors, a.residual + b.residual, a.start)


@dataclass(frozen=True)
class PerHeadParts:
    """The output of attention, head by head, on its way to the output projection.

    It keeps this form while the model moves the heads' axis, until a linear map turns heads into
    terms.
    """

    weight: Float[Tensor, "head query source"]
    value: Float[Tensor, "head source dim"]
    shape: Size
    """The shape of the attention's output, before it was moved."""
    moves: tuple[Callable[[Tensor], Tensor], ...] = ()
    """How the model moved its axes since."""

    def append_move(self, move: Callable[[Tensor], Tensor]) -> "PerHeadParts":
        """Return the parts with one more move."""
        return PerHeadParts(self.weight, self.value, self.shape, (*self.moves, move))

    def dense(self, shape: Size) -> Tensor:
        """Return a vector for each source and query, in its present shape, sources in front."""
        pairs = self.weight.permute(2, 0, 1)[..., None] * self.value.transpose(0, 1)[:, :, None]
        vectors = pairs.reshape(-1, *self.shape)  # source, then the shape of the output
        for move in self.moves:
            vectors = torch.func.vmap(move)(vectors)
        return vectors.reshape(-1, *shape)

    def project(self, matrix: Float[Tensor, "feature model"]) -> LowRankParts | None:
        """Map the joined heads: one term for each head. None where heads are not joined."""
        heads, _, dim = self.value.shape
        order = self._feature_order()
        if order is None:
            return None
        if not torch.equal(order, torch.arange(len(order), device=order.device)):
            matrix = matrix[order.argsort()]
        return LowRankParts(self.weight, torch.bmm(self.value, matrix.reshape(heads, dim, -1)))

    def _feature_order(self) -> Tensor | None:
        """Return which coordinate of which head each feature is after the moves."""
        heads, _, dim = self.value.shape
        marks = torch.arange(heads * dim, device=self.value.device).reshape(heads, 1, dim)
        marks = marks.expand(-1, self.weight.shape[1], -1).reshape(self.shape)
        for move in self.moves:
            marks = move(marks)
        joined = marks.shape[-1] == heads * dim
        return marks.reshape(-1, heads * dim)[0] if joined else None

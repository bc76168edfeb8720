"""Vectors by source: what reaches each query from each source, in the smallest form that holds it.

After attention, and up to the next activation, what source s gives to query q is a sum of few
vectors that depend on s alone, one for each head, weighted by numbers that depend on both; and the
residual, which a token gives to itself. Linear maps act on the few vectors, and lengths follow from
their inner products.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Size, Tensor

from normviz.model.types import Gram


@dataclass(frozen=True)
class LowRankParts:
    """Few vectors for each source, how much of each every query gets, and what it keeps itself."""

    weight: Float[Tensor, "term query source"]
    vectors: Float[Tensor, "term source feature"]
    own: Float[Tensor, "source feature"] | None = None
    """What each source gives to itself besides: a residual reaches no other query."""
    start: int = 0
    """Which query the first source is to itself."""

    def mapped(self, apply: Callable[[Tensor], Tensor]) -> "LowRankParts":
        """A map of vectors, applied to the few."""
        own = None if self.own is None else apply(self.own)
        return LowRankParts(self.weight, apply(self.vectors), own, self.start)

    def scaled(self, factor: Float[Tensor, " query"]) -> "LowRankParts":
        """A factor for each query."""
        own = None if self.own is None else self.own * factor[self.mine, None]
        return LowRankParts(self.weight * factor[:, None], self.vectors, own, self.start)

    def chosen(self, places: Tensor) -> "LowRankParts":
        """Only these queries, in this order."""
        whole = self._spread()
        return LowRankParts(whole.weight[:, places], whole.vectors)

    def _spread(self) -> "LowRankParts":
        """The same with what sources give themselves as one more term."""
        if self.own is None:
            return self
        alone = self.weight.new_zeros(1, *self.weight.shape[1:])
        alone[:, self.mine].diagonal(dim1=1, dim2=2).fill_(1)
        weight, vectors = torch.cat([self.weight, alone]), torch.cat([self.vectors, self.own[None]])
        return LowRankParts(weight, vectors)

    @property
    def mine(self) -> slice:
        """The queries that are the sources themselves."""
        return slice(self.start, self.start + self.weight.shape[2])

    def dense(self, shape: Size) -> Tensor:
        """A vector for each source and query, in a tensor's shape with the sources in front."""
        by_source = self.weight.permute(2, 1, 0)  # source query term
        whole = torch.bmm(by_source, self.vectors.transpose(0, 1))  # source query feature
        if self.own is not None:
            whole[:, self.mine].diagonal(dim1=0, dim2=1).add_(self.own.T)
        return whole.reshape(-1, *shape)

    def gram(self) -> Gram:
        """The inner products of the terms, at each source."""
        by_source = self.vectors.transpose(0, 1)  # source term feature
        table = torch.bmm(by_source, by_source.transpose(1, 2))
        return table.permute(1, 2, 0).contiguous()[:, :, None]

    def along(self, direction: Float[Tensor, "query feature"]) -> Float[Tensor, "query source"]:
        """The inner product of each vector with its query's direction."""
        reach = self.vectors @ direction.T  # term source query
        found = (self.weight * reach.transpose(1, 2)).sum(dim=0)
        if self.own is not None:
            mine = (self.own * direction[self.mine]).sum(dim=-1)
            found[self.mine].diagonal().add_(mine)
        return found

    def added_up(self, step: int = 1) -> Float[Tensor, "query coordinate"]:
        """The sum over all sources, in every coordinate or in some."""
        found = (self.weight @ self.vectors[..., ::step]).sum(dim=0)
        if self.own is not None:
            found[self.mine] += self.own[:, ::step]
        return found

    def selves(self, start: int) -> Float[Tensor, "source feature"]:
        """What each source gives to itself, where the first source is the query `start`."""
        mine = self.weight[:, start : start + self.weight.shape[2]]
        weight = mine.diagonal(dim1=1, dim2=2).T[:, None]  # source one term
        found = torch.bmm(weight, self.vectors.transpose(0, 1))[:, 0]
        return found if self.own is None else found + self.own


def together(one: LowRankParts, other: LowRankParts) -> LowRankParts:
    """The sum of two: all their terms, and what sources give themselves through both."""
    if len(one.vectors) and len(other.vectors):
        weight = torch.cat([one.weight, other.weight])
        vectors = torch.cat([one.vectors, other.vectors])
    else:
        more = max((one, other), key=lambda mixed: len(mixed.vectors))
        weight, vectors = more.weight, more.vectors
    if one.own is None or other.own is None:
        kept = other if one.own is None else one
        return LowRankParts(weight, vectors, kept.own, kept.start)
    return LowRankParts(weight, vectors, one.own + other.own, one.start)


@dataclass(frozen=True)
class PerHeadParts:
    """What attention gives, head by head, on its way to the output projection.

    It waits in this form while the model moves the heads' axis about, until a linear map turns
    heads into terms.
    """

    weight: Float[Tensor, "head query source"]
    value: Float[Tensor, "head source dim"]
    shape: Size
    """The shape of the attention's output, before it was moved about."""
    moves: tuple[Callable[[Tensor], Tensor], ...] = ()
    """What the model did to the shape since."""

    def moved(self, move: Callable[[Tensor], Tensor]) -> "PerHeadParts":
        """One more change of shape."""
        return PerHeadParts(self.weight, self.value, self.shape, (*self.moves, move))

    def dense(self, shape: Size) -> Tensor:
        """A vector for each source and query, in the shape it now has."""
        pairs = self.weight.permute(2, 0, 1)[..., None] * self.value.transpose(0, 1)[:, :, None]
        whole = pairs.reshape(-1, *self.shape)  # source, then as the attention put it out
        for move in self.moves:
            whole = torch.func.vmap(move)(whole)
        return whole.reshape(-1, *shape)

    def projected(self, matrix: Float[Tensor, "feature model"]) -> LowRankParts | None:
        """A linear map of the joined heads: one term for each head. None: heads are not joined."""
        heads, _, dim = self.value.shape
        order = self._order()
        if order is None:
            return None
        if not torch.equal(order, torch.arange(len(order), device=order.device)):
            matrix = matrix[order.argsort()]
        return LowRankParts(self.weight, torch.bmm(self.value, matrix.reshape(heads, dim, -1)))

    def _order(self) -> Tensor | None:
        """Which number of which head each feature is, after the moves."""
        heads, _, dim = self.value.shape
        marks = torch.arange(heads * dim, device=self.value.device).reshape(heads, 1, dim)
        marks = marks.expand(-1, self.weight.shape[1], -1).reshape(self.shape)
        for move in self.moves:
            marks = move(marks)
        joined = marks.shape[-1] == heads * dim
        return marks.reshape(-1, heads * dim)[0] if joined else None

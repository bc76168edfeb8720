"""Sums over texts: everything that is kept of a corpus. They do not grow with its size."""

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from normviz.corpus.moments import Moments
from normviz.corpus.rank_correlation import JointHistogram, TokenSample

if TYPE_CHECKING:
    from normviz.core.catalog import MeasureId

Key = tuple[str, str]
"""A measure, and a category of tokens (or a pattern, or another measure)."""

COMPARED: "tuple[MeasureId, MeasureId]" = ("weight", "weighted-norm")
"""The two measures that a profile sets side by side, as in Kobayashi et al. 2020."""
MAX_EXAMPLES = 20
"""How many of the texts in which two measures disagree most are kept."""

Sum = TypeVar("Sum", Moments, JointHistogram)


@dataclass(frozen=True, order=True)
class Example:
    """A text in which α and ‖αf(x)‖ disagree in a head."""

    distance: float
    layer: int
    head: int
    text: str


@dataclass
class CorpusSums:
    """The sums over some texts of a corpus; `+` merges those of others."""

    texts: int = 0
    tokens: int = 0
    masses: dict[Key, Moments] = field(default_factory=dict)
    """What a query takes from each category of key, averaged over queries: [layer column].

    A column for each head, and a last one for their mean if there are several.
    """
    shares: dict[Key, Moments] = field(default_factory=dict)
    """The same as a share of what is taken from all keys together: [layer column].

    Within each text a ratio of sums over its queries, and in the last column over its heads too.
    """
    query_shares: dict[Key, Moments] = field(default_factory=dict)
    """The share of what each query takes, averaged over queries, then over heads: [layer column].

    A query that takes nothing has no share.
    """
    means: dict[Key, Moments] = field(default_factory=dict)
    """Means over the tokens of a category, of ‖f(x)‖ and of mixing ratios: [layer column]."""
    dispersions: dict[Key, Moments] = field(default_factory=dict)
    """‖f(x)‖ over single tokens of all categories: [layer head]."""
    correlations: dict[str, JointHistogram] = field(default_factory=dict)
    """α against ‖f(x)‖, over all pairs of tokens with α above 0, by category of the key."""
    occurrences: TokenSample = field(default_factory=TokenSample)
    """α, ‖f(x)‖ and mixing ratios of single tokens, averaged over layers, heads and queries."""
    patterns: dict[Key, Moments] = field(default_factory=dict)
    """How strongly each head has each pattern under each measure, above chance: [layer head]."""
    disagreements: dict[Key, Moments] = field(default_factory=dict)
    """How far two measures disagree: [layer head]."""
    examples: list[Example] = field(default_factory=list)

    def __add__(self, other: "CorpusSums") -> "CorpusSums":
        """Return the sums over both; their order affects only the last digits."""
        return CorpusSums(
            self.texts + other.texts,
            self.tokens + other.tokens,
            _merge(self.masses, other.masses, self.texts, other.texts),
            _merge(self.shares, other.shares, self.texts, other.texts),
            _merge(self.query_shares, other.query_shares, self.texts, other.texts),
            _merge(self.means, other.means),
            _merge(self.dispersions, other.dispersions),
            _merge(self.correlations, other.correlations),
            self.occurrences + other.occurrences,
            _merge(self.patterns, other.patterns),
            _merge(self.disagreements, other.disagreements),
            heapq.nlargest(MAX_EXAMPLES, {*self.examples, *other.examples}),
        )


def _merge(first: Mapping[Any, Sum], second: Mapping[Any, Sum], *texts: int) -> dict[Any, Sum]:
    """Add sums under the keys of both; with `texts`, a key missing from some texts is 0 there."""
    merged: dict[Any, Sum] = {}
    for key in {**first, **second}:
        one, other = first.get(key), second.get(key)
        if one is None or other is None:
            known = one if one is not None else other
            missing = texts[0 if one is None else 1] if texts else 0
            merged[key] = _with_zeros(known, missing) if missing else known  # type: ignore[assignment, arg-type]
        else:
            merged[key] = one + other
    return merged


def _with_zeros(moments: Moments, texts: int) -> Moments:
    """Return the moments with this many more texts, in which every value is 0."""
    zero = np.zeros(moments.mean.shape)
    return moments + Moments(np.full(zero.shape, texts), zero, zero)

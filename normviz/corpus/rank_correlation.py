"""How two quantities go together over millions of pairs, from counts that can be merged.

Numbers are sorted into bins an eighth of an octave wide, so that what is kept does not grow;
numbers in one bin tie, and share the mean of their ranks.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64, Int64

PER_OCTAVE = 8
LOWEST = -28
"""The octave of the lowest bin but one; the first is for zero, and for what is smaller."""
BINS = 1 + PER_OCTAVE * 40


def binned(values: Any) -> Int64[np.ndarray, "*place"]:
    """The bin of every number: equal ratios are equal steps."""
    numbers = np.asarray(values, dtype=np.float64)
    logs = np.log2(numbers, out=np.full(numbers.shape, -math.inf), where=numbers > 0)
    places = np.floor((np.maximum(logs, LOWEST - 1.0) - LOWEST) * PER_OCTAVE) + 1
    bins: Int64[np.ndarray, "*place"] = np.clip(places, 0, BINS - 1).astype(np.int64)
    return bins


def spearman(
    one: Int64[np.ndarray, " pair"],
    other: Int64[np.ndarray, " pair"],
    count: Int64[np.ndarray, " pair"],
) -> float:
    """The rank correlation of pairs that each occur some number of times; NaN without order."""
    whole = int(count.sum())
    if not whole:
        return math.nan
    centered = [_ranks(values, count) - (whole + 1) / 2 for values in (one, other)]
    first, second = (float((count * ranks**2).sum()) for ranks in centered)
    both = float((count * centered[0] * centered[1]).sum())
    return both / math.sqrt(first * second) if first and second else math.nan


def _ranks(
    values: Int64[np.ndarray, " pair"], count: Int64[np.ndarray, " pair"]
) -> Float64[np.ndarray, " pair"]:
    """The mean rank of each value among all that occur."""
    known, where = np.unique(values, return_inverse=True)
    sizes = np.bincount(where, weights=count, minlength=len(known))
    ranks: Float64[np.ndarray, " pair"] = (np.cumsum(sizes) - (sizes - 1) / 2)[where]
    return ranks


@dataclass(frozen=True, eq=False)
class Relation:
    """How often each bin of one quantity met each bin of another."""

    counts: Int64[np.ndarray, "bin another"]

    @classmethod
    def of(cls, one: Any, other: Any) -> "Relation":
        """The pairs of two arrays of one shape."""
        together = binned(one).ravel() * BINS + binned(other).ravel()
        return cls(np.bincount(together, minlength=BINS**2).reshape(BINS, BINS))

    def __add__(self, other: "Relation") -> "Relation":
        """Both together."""
        return Relation(self.counts + other.counts)

    @property
    def pairs(self) -> int:
        """How many pairs were counted."""
        return int(self.counts.sum())

    @property
    def spearman(self) -> float:
        """The rank correlation."""
        one, other = np.nonzero(self.counts)
        return spearman(one, other, self.counts[one, other])


@dataclass(frozen=True, eq=False)
class Occurrences:
    """How often each entry of a vocabulary was met with a number in each bin."""

    counts: Mapping[tuple[int, int], int]

    @classmethod
    def of(cls, ids: Any, values: Any) -> "Occurrences":
        """One number for each occurrence."""
        met: dict[tuple[int, int], int] = {}
        for one in zip(map(int, ids), binned(values).tolist(), strict=True):
            met[one] = met.get(one, 0) + 1
        return cls(met)

    def __add__(self, other: "Occurrences") -> "Occurrences":
        """Both together."""
        counts = dict(self.counts)
        for one, count in other.counts.items():
            counts[one] = counts.get(one, 0) + count
        return Occurrences(counts)

    @property
    def totals(self) -> dict[int, int]:
        """How often each entry occurs."""
        found: dict[int, int] = {}
        for (entry, _), count in self.counts.items():
            found[entry] = found.get(entry, 0) + count
        return found

    def spearman(
        self, ranks: Mapping[int, int] | None = None, *, without: frozenset[int] = frozenset()
    ) -> float:
        """How numbers go with the rank of an entry's frequency, from 1 for the most frequent.

        By default entries are ranked by how often they occur here; an entry that is not among the
        ranks comes after all that are.
        """
        known = _by_count(self.totals) if ranks is None else ranks
        last = max(known.values(), default=0) + 1
        kept = [(one, count) for one, count in self.counts.items() if one[0] not in without]
        table = np.array(
            [(known.get(entry, last), place, count) for (entry, place), count in kept], np.int64
        ).reshape(-1, 3)
        return spearman(table[:, 0], table[:, 1], table[:, 2])


def _by_count(totals: Mapping[int, int]) -> dict[int, int]:
    """Ranks by frequency; entries that occur equally often share the best of theirs."""
    ordered = sorted(totals.items(), key=lambda one: (-one[1], one[0]))
    ranks: dict[int, int] = {}
    best: dict[int, int] = {}
    for place, (entry, count) in enumerate(ordered, 1):
        ranks[entry] = best.setdefault(count, place)
    return ranks

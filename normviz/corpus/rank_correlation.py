"""Rank correlation over millions of pairs, from histograms that can be merged.

Values are sorted into bins an eighth of an octave wide, so that a histogram does not grow with the
corpus; values in one bin tie, and share the mean of their ranks.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64, Int64

PER_OCTAVE = 8
LOWEST_OCTAVE = -28
"""The octave of the second bin; the first bin is for zero and anything smaller."""
BINS = 1 + PER_OCTAVE * 40


def bin_indices(values: Any) -> Int64[np.ndarray, "*place"]:
    """Return the bin of every value, on a logarithmic scale."""
    array = np.asarray(values, dtype=np.float64)
    logs = np.log2(array, out=np.full(array.shape, -math.inf), where=array > 0)
    steps = np.floor((np.maximum(logs, LOWEST_OCTAVE - 1.0) - LOWEST_OCTAVE) * PER_OCTAVE) + 1
    bins: Int64[np.ndarray, "*place"] = np.clip(steps, 0, BINS - 1).astype(np.int64)
    return bins


def spearman(
    first: Int64[np.ndarray, " pair"],
    second: Int64[np.ndarray, " pair"],
    count: Int64[np.ndarray, " pair"],
) -> float:
    """Return the rank correlation of pairs that each occur `count` times; NaN without order."""
    whole = int(count.sum())
    if not whole:
        return math.nan
    centered = [_mean_ranks(values, count) - (whole + 1) / 2 for values in (first, second)]
    variances = [float((count * ranks**2).sum()) for ranks in centered]
    covariance = float((count * centered[0] * centered[1]).sum())
    return covariance / math.sqrt(variances[0] * variances[1]) if all(variances) else math.nan


def _mean_ranks(
    values: Int64[np.ndarray, " pair"], count: Int64[np.ndarray, " pair"]
) -> Float64[np.ndarray, " pair"]:
    """Return the mean rank of each value among all occurrences."""
    known, inverse = np.unique(values, return_inverse=True)
    sizes = np.bincount(inverse, weights=count, minlength=len(known))
    ranks: Float64[np.ndarray, " pair"] = (np.cumsum(sizes) - (sizes - 1) / 2)[inverse]
    return ranks


@dataclass(frozen=True, eq=False)
class JointHistogram:
    """How often each bin of one quantity occurred with each bin of another."""

    counts: Int64[np.ndarray, "bin another"]

    @classmethod
    def of(cls, first: Any, second: Any) -> "JointHistogram":
        """Return the histogram of the pairs of two arrays of one shape."""
        flat = bin_indices(first).ravel() * BINS + bin_indices(second).ravel()
        return cls(np.bincount(flat, minlength=BINS**2).reshape(BINS, BINS))

    def __add__(self, other: "JointHistogram") -> "JointHistogram":
        """Return the histogram of the pairs of both."""
        return JointHistogram(self.counts + other.counts)

    @property
    def pairs(self) -> int:
        """The number of pairs counted."""
        return int(self.counts.sum())

    @property
    def spearman(self) -> float:
        """The rank correlation."""
        first, second = np.nonzero(self.counts)
        return spearman(first, second, self.counts[first, second])


@dataclass(frozen=True, eq=False)
class Occurrences:
    """How often each entry of a vocabulary occurred with a value in each bin."""

    counts: Mapping[tuple[int, int], int]
    """By token id and bin."""

    @classmethod
    def of(cls, ids: Any, values: Any) -> "Occurrences":
        """Count one value for each occurrence of an id."""
        counts: dict[tuple[int, int], int] = {}
        for key in zip(map(int, ids), bin_indices(values).tolist(), strict=True):
            counts[key] = counts.get(key, 0) + 1
        return cls(counts)

    def __add__(self, other: "Occurrences") -> "Occurrences":
        """Return the counts of both."""
        counts = dict(self.counts)
        for key, count in other.counts.items():
            counts[key] = counts.get(key, 0) + count
        return Occurrences(counts)

    @property
    def totals(self) -> dict[int, int]:
        """How often each id occurs."""
        totals: dict[int, int] = {}
        for (token, _), count in self.counts.items():
            totals[token] = totals.get(token, 0) + count
        return totals

    def spearman(
        self, ranks: Mapping[int, int] | None = None, *, without: frozenset[int] = frozenset()
    ) -> float:
        """Return the correlation of the values with frequency rank, 1 for the most frequent.

        By default ids are ranked by how often they occur here; an id without a rank comes after
        all that have one.
        """
        known = _frequency_ranks(self.totals) if ranks is None else ranks
        last = max(known.values(), default=0) + 1
        kept = [(key, count) for key, count in self.counts.items() if key[0] not in without]
        table = np.array(
            [(known.get(token, last), bin_, count) for (token, bin_), count in kept], np.int64
        ).reshape(-1, 3)
        return spearman(table[:, 0], table[:, 1], table[:, 2])


def _frequency_ranks(totals: Mapping[int, int]) -> dict[int, int]:
    """Rank ids by frequency; ids that occur equally often share their best rank."""
    ordered = sorted(totals.items(), key=lambda entry: (-entry[1], entry[0]))
    ranks: dict[int, int] = {}
    best: dict[int, int] = {}
    for rank, (token, count) in enumerate(ordered, 1):
        ranks[token] = best.setdefault(count, rank)
    return ranks

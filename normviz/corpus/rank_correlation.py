"""Rank correlation over millions of pairs, from counts and samples that can be merged.

Every pair of tokens is counted: values are rounded to `DIGITS` binary digits, so that the counts do
not grow with the corpus; values that are rounded alike tie, and share the mean of their ranks.
Values of single tokens are kept as they are, in a random sample once there are too many.
"""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float64, Int32, Int64, UInt64

from normviz.derived.ranks import spearman

DIGITS = 6
"""How many binary digits of a value are kept before pairs are counted: steps of 1.6% to 3.1%."""
CELL_BINS = 1 << (8 + DIGITS)
"""More than the number of bins of all positive numbers in single precision."""
SAMPLE_SIZE = 200_000
"""How many tokens of a corpus are kept with their values; of a larger corpus a random sample."""
SAMPLE_SEED = 0
"""The seed of the sample: the same texts give the same sample, in any order and any split."""


def bin_indices(values: Any) -> Int32[np.ndarray, "*place"]:
    """Return the bin of every value that is not negative: its exponent and its first digits."""
    with np.errstate(over="ignore"):  # beyond single precision lies infinity, the last bin
        array = np.ascontiguousarray(values, dtype=np.float32)
    bins: Int32[np.ndarray, "*place"] = array.view(np.int32) >> (24 - DIGITS)
    return bins


def counted_spearman(
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

    cells: Int64[np.ndarray, " cell"]
    """The pairs of bins that occurred, in rising order: bin · `CELL_BINS` + other bin."""
    counts: Int64[np.ndarray, " cell"]

    @classmethod
    def of(cls, first: Any, second: Any) -> "JointHistogram":
        """Return the histogram of the pairs of two arrays of one shape, none of them negative."""
        return cls.of_bins(bin_indices(first).ravel(), bin_indices(second).ravel())

    @classmethod
    def of_bins(
        cls, first: Int32[np.ndarray, " pair"], second: Int32[np.ndarray, " pair"]
    ) -> "JointHistogram":
        """Return the histogram of pairs whose bins are known already."""
        if not first.size:
            return cls(np.zeros(0, np.int64), np.zeros(0, np.int64))
        lowest, other_lowest = int(first.min()), int(second.min())
        width = int(second.max()) - other_lowest + 1
        counts = np.bincount((first - lowest) * width + (second - other_lowest))
        occupied = np.flatnonzero(counts)
        rows, columns = np.divmod(occupied, width)
        return cls((rows + lowest) * CELL_BINS + columns + other_lowest, counts[occupied])

    def __add__(self, other: "JointHistogram") -> "JointHistogram":
        """Return the histogram of the pairs of both."""
        cells = np.concatenate([self.cells, other.cells])
        if not cells.size:
            return self
        order = np.argsort(cells, kind="stable")
        ordered = cells[order]
        starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        counts = np.concatenate([self.counts, other.counts])[order]
        return JointHistogram(ordered[starts], np.add.reduceat(counts, starts))

    @property
    def pairs(self) -> int:
        """The number of pairs counted."""
        return int(self.counts.sum())

    @property
    def spearman(self) -> float:
        """The rank correlation."""
        return counted_spearman(*np.divmod(self.cells, CELL_BINS), self.counts)


@dataclass(frozen=True, eq=False)
class TokenSample:
    """How often each id of a vocabulary occurred, and the values of a random sample of tokens.

    Every token of every text has a random number, drawn from `SAMPLE_SEED` and its text. The
    sample holds the tokens with the `SAMPLE_SIZE` smallest: all of them while there are no more,
    and of any number each with the same chance, however the corpus was split.
    """

    totals: Mapping[int, int] = field(default_factory=dict)
    """How often each id occurs, in all tokens and not only in the sample."""
    draws: UInt64[np.ndarray, " token"] = field(default_factory=lambda: np.zeros(0, np.uint64))
    """The random number of each token of the sample."""
    ids: Int64[np.ndarray, " token"] = field(default_factory=lambda: np.zeros(0, np.int64))
    columns: Mapping[str, Float64[np.ndarray, " token"]] = field(default_factory=dict)
    """The values of each measure; NaN where a token has none."""

    @classmethod
    def of(cls, text: str, ids: Iterable[int], values: Mapping[str, Any]) -> "TokenSample":
        """Return the tokens of one text, with a value of each measure for every token."""
        numbers = [int(token) for token in ids]
        columns = {name: np.asarray(column, np.float64) for name, column in values.items()}
        whole = cls(Counter(numbers), _draw(text, numbers), np.array(numbers, np.int64), columns)
        return whole._draw_sample()

    def __add__(self, other: "TokenSample") -> "TokenSample":
        """Return a sample of the tokens of both."""
        totals = Counter(self.totals)
        totals.update(other.totals)
        columns = {
            name: np.concatenate([part.column(name) for part in (self, other)])
            for name in {**self.columns, **other.columns}
        }
        draws = np.concatenate([self.draws, other.draws])
        return TokenSample(
            totals, draws, np.concatenate([self.ids, other.ids]), columns
        )._draw_sample()

    def column(self, measure: str) -> Float64[np.ndarray, " token"]:
        """Return the values of a measure; NaN for each token if it was not measured."""
        missing = np.full(len(self.ids), math.nan)
        return self.columns.get(measure, missing)

    def _draw_sample(self) -> "TokenSample":
        """Return the sample with no more than `SAMPLE_SIZE` tokens."""
        if len(self.ids) <= SAMPLE_SIZE:
            return self
        kept = np.sort(np.argpartition(self.draws, SAMPLE_SIZE)[:SAMPLE_SIZE])
        columns = {name: column[kept] for name, column in self.columns.items()}
        return TokenSample(self.totals, self.draws[kept], self.ids[kept], columns)

    @property
    def tokens(self) -> int:
        """The number of tokens that the sample was drawn from."""
        return sum(self.totals.values())

    @property
    def note(self) -> str:
        """How the sample was drawn; empty if it holds all tokens."""
        if len(self.ids) == self.tokens:
            return ""
        return (
            f"Correlations with frequency rank are from a random sample of {len(self.ids):,} of "
            f"{self.tokens:,} tokens (seed {SAMPLE_SEED})."
        )

    def spearman(
        self,
        measure: str,
        ranks: Mapping[int, int] | None = None,
        *,
        without: Collection[int] = frozenset(),
    ) -> float:
        """Return the correlation of a measure with frequency rank, 1 for the most frequent.

        By default ids are ranked by how often they occur here; an id without a rank comes after
        all that have one. Ties share the mean of their ranks.
        """
        known = _frequency_ranks(self.totals) if ranks is None else ranks
        last = max(known.values(), default=0) + 1
        values = self.columns[measure]
        kept = ~(np.isin(self.ids, list(without)) | np.isnan(values))
        by_id = [known.get(token, last) for token in self.ids[kept].tolist()]
        return spearman(by_id, values[kept]) if by_id else math.nan


def _draw(text: str, ids: list[int]) -> UInt64[np.ndarray, " token"]:
    """Return a random number for each token of a text, always the same ones."""
    content = json.dumps([SAMPLE_SEED, text, ids]).encode()
    seed = int.from_bytes(hashlib.blake2b(content, digest_size=16).digest())
    return np.asarray(np.random.PCG64(seed).random_raw(len(ids)), np.uint64)


def _frequency_ranks(totals: Mapping[int, int]) -> dict[int, int]:
    """Rank ids by frequency; ids that occur equally often share their best rank."""
    ordered = sorted(totals.items(), key=lambda entry: (-entry[1], entry[0]))
    ranks: dict[int, int] = {}
    best: dict[int, int] = {}
    for rank, (token, count) in enumerate(ordered, 1):
        ranks[token] = best.setdefault(count, rank)
    return ranks

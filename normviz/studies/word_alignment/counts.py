"""Counts of links over a corpus, for all layers, heads, measures and target rows at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from normviz.alignment.align import WordGrouping
from normviz.alignment.scores import describe_links_outside
from normviz.core.failure import Failure
from normviz.core.gold import Gold, Link
from normviz.core.stream import Stream
from normviz.studies.word_alignment.result import Alignments

HeadValues = Float[np.ndarray, "layer head query key"]
"""A measure of every head of every layer, and of all heads together as the last head."""


@dataclass
class AlignmentCounts:
    """The counts so far; arrays are [layer head], with all heads together as the last head."""

    pairs: int = 0
    sure: int = 0
    possible: int = 0
    target_words: int = 0
    token_pairs: int = 0
    layers: tuple[int, ...] = ()
    heads: tuple[int, ...] = ()
    norms: Any = 0.0
    counts: dict[tuple[str, str], Any] = field(default_factory=dict)
    null_sums: dict[tuple[str, str], Any] = field(default_factory=dict)
    out_of_range: list[tuple[int, str]] = field(default_factory=list)

    def add(
        self, stream: Stream, groupings: Mapping[str, WordGrouping], gold: Gold, line: int
    ) -> None:
        """Count one sentence pair.

        Parameters
        ----------
        stream
            Its cross-attention.
        groupings
            Its words, by target row.
        gold
            Its gold links.
        line
            Its number, for notes about it.
        """
        self.layers, self.heads = stream.layers, stream.heads
        weight, norm = stream["weight"], stream["weighted-norm"]
        values = {
            "weight": np.concatenate([weight, weight.mean(axis=1, keepdims=True)], axis=1),
            "weighted-norm": np.concatenate([norm, stream["attention"][:, None]], axis=1),
        }
        words = next(iter(groupings.values()))
        golds = [_link_matrix(links, words) for links in (gold.sure, gold.possible)]
        for target_row, grouping in groupings.items():
            for measure, of_measure in values.items():
                self._count((measure, target_row), grouping, of_measure, golds)
        sizes = len(words.source), len(words.target)
        self.pairs += 1
        self.sure += len(gold.sure)
        self.possible += len(gold.possible - gold.sure)
        self.target_words += len(words.target)
        self.norms = self.norms + values["weighted-norm"].sum(axis=(2, 3), dtype=np.float64)
        self.token_pairs += stream.size("query") * stream.size("key")
        self.out_of_range += [(line, note) for note in describe_links_outside(line, gold, sizes)]

    def _count(
        self,
        key: tuple[str, str],
        grouping: WordGrouping,
        values: HeadValues,
        golds: Sequence[np.ndarray],
    ) -> None:
        matrix = grouping.between_words(values)
        best, words = grouping.best_columns(matrix), len(grouping.source)
        linked = (best >= 0) & (best < words)
        target = np.arange(len(grouping.target))
        hits = [linked, *(gold[target, best] for gold in golds)]
        counts: Int[np.ndarray, "layer head 3"] = np.stack([hit.sum(-1) for hit in hits], -1)
        sums = matrix.sum(axis=-1)
        null_share = matrix[..., words:].sum(axis=-1) / np.where(sums > 0, sums, 1)
        self.counts[key] = self.counts.get(key, 0) + counts
        self.null_sums[key] = self.null_sums.get(key, 0.0) + null_share.sum(axis=-1)

    def result(self, model: str, failures: Sequence[Failure]) -> Alignments:
        """Return the result of the study."""
        return Alignments(
            model=model,
            pairs=self.pairs,
            sure=self.sure,
            possible=self.possible,
            layers=self.layers,
            heads=self.heads,
            counts=self.counts,
            norms=self.norms / self.token_pairs,
            null_share={key: total / self.target_words for key, total in self.null_sums.items()},
            out_of_range=tuple(note for _, note in sorted(self.out_of_range)),
            failures=tuple(sorted(failures, key=lambda failure: failure.number)),
        )


def _link_matrix(links: frozenset[Link], grouping: WordGrouping) -> np.ndarray:
    """Return links as booleans [target column]; the last column is for words without a link."""
    matrix = np.zeros((len(grouping.target), grouping.columns.shape[1] + 1), dtype=bool)
    for source, target in links:
        if source < len(grouping.source) and target < len(grouping.target):
            matrix[target, source] = True
    return matrix

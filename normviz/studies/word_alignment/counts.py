"""Counting links over a corpus: all layers, heads, measures and settings of a pair at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from normviz.alignment.align import Grouping
from normviz.alignment.scores import beyond
from normviz.core.gold import Gold, Link
from normviz.core.stream import Stream
from normviz.corpus.sums import Failure
from normviz.studies.word_alignment.result import Alignments

Planes = Float[np.ndarray, "layer head query key"]
"""Every head of every layer, and all heads together behind them."""


@dataclass
class Tally:
    """What has been counted so far; arrays are [layer head], all heads together last."""

    pairs: int = 0
    sure: int = 0
    possible: int = 0
    words: int = 0
    cells: int = 0
    layers: tuple[int, ...] = ()
    heads: tuple[int, ...] = ()
    norms: Any = 0.0
    counts: dict[tuple[str, str], Any] = field(default_factory=dict)
    nowhere: dict[tuple[str, str], Any] = field(default_factory=dict)
    beyond: list[tuple[int, str]] = field(default_factory=list)

    def add(self, stream: Stream, words: Mapping[str, Grouping], gold: Gold, line: int) -> None:
        """Count one pair of sentences; `line` is its number, for what is to be said of it."""
        self.layers, self.heads = stream.layers, stream.heads
        weight, norm = stream["weight"], stream["weighted-norm"]
        planes = {
            "weight": np.concatenate([weight, weight.mean(axis=1, keepdims=True)], axis=1),
            "weighted-norm": np.concatenate([norm, stream["attention"][:, None]], axis=1),
        }
        here = next(iter(words.values()))
        kinds = [_drawn(links, here) for links in (gold.sure, gold.possible)]
        for setting, grouping in words.items():
            for measure, values in planes.items():
                self._count((measure, setting), grouping, values, kinds)
        sizes = len(here.source), len(here.target)
        self.pairs += 1
        self.sure += len(gold.sure)
        self.possible += len(gold.possible - gold.sure)
        self.words += len(here.target)
        self.norms = self.norms + planes["weighted-norm"].sum(axis=(2, 3), dtype=np.float64)
        self.cells += stream.size("query") * stream.size("key")
        self.beyond += [(line, note) for note in beyond(line, gold, sizes)]

    def _count(
        self,
        name: tuple[str, str],
        grouping: Grouping,
        values: Planes,
        kinds: Sequence[np.ndarray],
    ) -> None:
        matrix = grouping.matrix(values)
        best, words = grouping.best(matrix), len(grouping.source)
        linked = (best >= 0) & (best < words)
        target = np.arange(len(grouping.target))
        found = [linked, *(kind[target, best] for kind in kinds)]
        counts: Int[np.ndarray, "layer head 3"] = np.stack([one.sum(-1) for one in found], -1)
        sums = matrix.sum(axis=-1)
        share = matrix[..., words:].sum(axis=-1) / np.where(sums > 0, sums, 1)
        self.counts[name] = self.counts.get(name, 0) + counts
        self.nowhere[name] = self.nowhere.get(name, 0.0) + share.sum(axis=-1)

    def result(self, model: str, failures: Sequence[Failure]) -> Alignments:
        """The counts as the result of a study."""
        return Alignments(
            model=model,
            pairs=self.pairs,
            sure=self.sure,
            possible=self.possible,
            layers=self.layers,
            heads=self.heads,
            counts=self.counts,
            norms=self.norms / self.cells,
            nowhere={name: share / self.words for name, share in self.nowhere.items()},
            beyond=tuple(note for _, note in sorted(self.beyond)),
            failures=tuple(sorted(failures, key=lambda one: one.number)),
        )


def _drawn(links: frozenset[Link], grouping: Grouping) -> np.ndarray:
    """Links as ones and zeros [target column]; the last column is for words that have none."""
    drawn = np.zeros((len(grouping.target), grouping.columns.shape[1] + 1), dtype=bool)
    for source, target in links:
        if source < len(grouping.source) and target < len(grouping.target):
            drawn[target, source] = True
    return drawn

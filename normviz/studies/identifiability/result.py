"""The result of a study of identifiability: a table, its curves, and cosine against L2."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from normviz.core.chart import Chart, Series
from normviz.io.tables import dataframe_of

if TYPE_CHECKING:
    import pandas as pd

Z_95 = 1.96
"""How many standard errors on either side hold 95% of a normal distribution."""
LABELS = {"cosine": "cosine", "l2": "L2"}

Counts = Float[np.ndarray, " document"]


@dataclass(frozen=True)
class Accuracy:
    """How often one probe finds the right token in one layer, by one distance."""

    layer: int
    probe: str
    distance: str
    accuracy: float
    count: int
    """The number of tokens."""
    error: float
    """The standard error between texts: tokens of one text are not independent."""
    low: float
    high: float
    """The 95% interval."""


@dataclass(frozen=True)
class CosineGain:
    """How much more often cosine finds the right token than L2 does."""

    layer: int
    probe: str
    difference: float
    error: float

    @property
    def sign(self) -> int:
        """1 or −1 if the difference is more than 1.96 standard errors, else 0."""
        return int(np.sign(self.difference)) if abs(self.difference) > Z_95 * self.error else 0


def hit_rate(hits: Counts, tokens: Counts) -> tuple[float, float]:
    """Return hits per token over all documents, and its standard error as a ratio of two sums."""
    mean = hits.sum() / tokens.sum()
    residual = hits - mean * tokens
    count = len(tokens)
    error = np.sqrt((residual**2).sum() * count / max(1, count - 1)) / tokens.sum()
    return float(mean), float(error)


@dataclass(frozen=True)
class Identifiability:
    """How often tokens are found from their hidden states, after Brunner et al. 2020, §4."""

    model: str
    texts: int
    tokens: int
    """The number of tokens in all texts, including special ones."""
    folds: int
    chance: float
    """How often a random guess would be right, averaged over tokens."""
    accuracies: tuple[Accuracy, ...]
    gains: tuple[CosineGain, ...]
    """Cosine against L2, on the same tokens; empty if only one of them was measured."""
    ridges: Mapping[int, tuple[float, ...]]
    """By layer: the strength of the linear probe's ridge in each fold."""

    def __post_init__(self) -> None:
        """Make the ridges read-only."""
        object.__setattr__(self, "ridges", MappingProxyType(dict(self.ridges)))

    @classmethod
    def from_hits(
        cls,
        hits: Mapping[tuple[int, str, str], Counts],
        tokens: Counts,
        *,
        model: str,
        folds: int,
        chance: float,
        ridges: Mapping[int, tuple[float, ...]],
    ) -> "Identifiability":
        """Return the result, from how many tokens of each document were found.

        Parameters
        ----------
        hits
            By layer, probe and distance.
        tokens
            The number of tokens of each document.
        model, folds, chance, ridges
            As in the result.
        """
        accuracies = []
        for key, found in hits.items():
            mean, error = hit_rate(found, tokens)
            low, high = max(0.0, mean - Z_95 * error), min(1.0, mean + Z_95 * error)
            accuracies.append(Accuracy(*key, mean, int(tokens.sum()), error, low, high))
        gains = [
            CosineGain(layer, probe, *hit_rate(found - hits[layer, probe, "l2"], tokens))
            for (layer, probe, distance), found in hits.items()
            if distance == "cosine" and (layer, probe, "l2") in hits
        ]
        return cls(
            model=model,
            texts=len(tokens),
            tokens=int(tokens.sum()),
            folds=folds,
            chance=chance,
            accuracies=tuple(accuracies),
            gains=tuple(gains),
            ridges=ridges,
        )

    @property
    def layers(self) -> tuple[int, ...]:
        """The layers measured, numbered from 0."""
        return tuple(sorted({row.layer for row in self.accuracies}))

    @property
    def cosine_against_l2(self) -> str:
        """How much more often cosine finds the right token than L2, on average over layers.

        A layer counts as clear if the difference is more than 1.96 standard errors.
        """
        return ", ".join(
            _describe_gain(probe, [gain for gain in self.gains if gain.probe == probe])
            for probe in dict.fromkeys(gain.probe for gain in self.gains)
        )

    def __str__(self) -> str:
        """Return the table in percent: a row per layer, a column per probe and distance."""
        columns = list(dict.fromkeys((row.probe, row.distance) for row in self.accuracies))
        names = [f"{probe} {LABELS[distance]}" for probe, distance in columns]
        cells = {(row.layer, row.probe, row.distance): row.accuracy for row in self.accuracies}
        lines = [f"{'tokens found, %':<15} " + " ".join(f"{name:>13}" for name in names)]
        for layer in self.layers:
            row = " ".join(f"{100 * cells[layer, *column]:>13.1f}" for column in columns)
            lines.append(f"{f'layer {layer}':<15} {row}")
        counts = f"{self.texts} texts, {self.tokens:,} tokens, chance {100 * self.chance:.1f}%"
        lines += [f"cosine against L2: {self.cosine_against_l2}"] if self.gains else []
        return "\n".join([f"{self.model}: {counts}", *lines])

    __repr__ = __str__

    def to_dataframe(self) -> "pd.DataFrame":
        """Return one row for each layer, probe and distance, with shares between 0 and 1."""
        return dataframe_of(
            {f.name: [getattr(row, f.name) for row in self.accuracies] for f in fields(Accuracy)}
        )

    def chart(self) -> Chart:
        """Return the curves for the profile view: `flow.with_chart(study.chart())`."""
        curves = list(dict.fromkeys((row.probe, row.distance) for row in self.accuracies))
        return Chart(
            title="token identifiability",
            about=f"how often a hidden state of {self.model}, as a probe maps it back, is nearest "
            f"to its own token's input among those of its text; {self.tokens:,} tokens of "
            f"{self.texts} texts; bands: 95% intervals",
            label="tokens found",
            layers=self.layers,
            series=(
                *(self._curve(*names) for names in curves),
                Series("chance", (self.chance,) * len(self.layers), faint=True),
            ),
            finding=f"Cosine against L2: {self.cosine_against_l2}." if self.gains else "",
        )

    def _curve(self, probe: str, distance: str) -> Series:
        rows = {r.layer: r for r in self.accuracies if (r.probe, r.distance) == (probe, distance)}
        ordered = [rows[layer] for layer in self.layers]
        return Series(
            f"{probe} {LABELS[distance]}",
            tuple(row.accuracy for row in ordered),
            group=probe,
            dashed=distance == "l2",
            low=tuple(row.low for row in ordered),
            high=tuple(row.high for row in ordered),
        )


def _describe_gain(probe: str, gains: Sequence[CosineGain]) -> str:
    """Return what cosine finds more or less than L2, over all layers of a probe."""
    mean = 100 * float(np.mean([gain.difference for gain in gains]))
    more = sum(gain.sign > 0 for gain in gains)
    less = sum(gain.sign < 0 for gain in gains)
    clearly = f"clearly more in {more}, less in {less} of {len(gains)} layers"
    return f"{probe} {mean:+.1f} points ({clearly})".replace("-", "−")

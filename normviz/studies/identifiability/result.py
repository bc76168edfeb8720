"""The result of a study of identifiability: a table, its curves, and what it says of angles."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from normviz.core.chart import Chart, Series
from normviz.system.optional import require_packages

if TYPE_CHECKING:
    import pandas as pd

SURE = 1.96
"""So many standard errors to either side hold the truth 19 times out of 20."""
SPELLED = {"cosine": "cosine", "l2": "L2"}

Counts = Float[np.ndarray, " document"]


@dataclass(frozen=True)
class Accuracy:
    """How often one probe finds tokens in one layer, by one distance."""

    layer: int
    probe: str
    distance: str
    accuracy: float
    count: int
    """Over how many tokens."""
    error: float
    """The standard error, from text to text: tokens of one text are not independent."""
    low: float
    high: float
    """The 95% interval that follows."""


@dataclass(frozen=True)
class Lead:
    """How much more often the angle finds a token than the distance does."""

    layer: int
    probe: str
    difference: float
    error: float

    @property
    def sign(self) -> int:
        """1 or −1 where the difference is beyond 1.96 standard errors, else 0."""
        return int(np.sign(self.difference)) if abs(self.difference) > SURE * self.error else 0


def share(hits: Counts, tokens: Counts) -> tuple[float, float]:
    """Hits per token over all documents, and its standard error as a ratio of two sums."""
    mean = hits.sum() / tokens.sum()
    rest = hits - mean * tokens
    many = len(tokens)
    error = np.sqrt((rest**2).sum() * many / max(1, many - 1)) / tokens.sum()
    return float(mean), float(error)


@dataclass(frozen=True)
class Identifiability:
    """How often tokens can be told from their hidden states, after Brunner et al. 2020, §4."""

    model: str
    texts: int
    tokens: int
    """How many there were in all texts together, special ones included."""
    folds: int
    chance: float
    """How often a blind guess would be right, averaged over tokens."""
    accuracies: tuple[Accuracy, ...]
    leads: tuple[Lead, ...]
    """Cosine against L2, on the same tokens; empty where only one of them was asked for."""
    ridges: Mapping[int, tuple[float, ...]]
    """By layer: the strength of the linear probe's ridge in each fold."""

    def __post_init__(self) -> None:
        """Lock the ridges."""
        object.__setattr__(self, "ridges", MappingProxyType(dict(self.ridges)))

    @classmethod
    def counted(
        cls,
        hits: Mapping[tuple[int, str, str], Counts],
        tokens: Counts,
        **about: object,
    ) -> "Identifiability":
        """The result, from how many tokens of each document were found."""
        rows = []
        for key, found in hits.items():
            mean, error = share(found, tokens)
            low, high = max(0.0, mean - SURE * error), min(1.0, mean + SURE * error)
            rows.append(Accuracy(*key, mean, int(tokens.sum()), error, low, high))
        leads = [
            Lead(layer, probe, *share(found - hits[layer, probe, "l2"], tokens))
            for (layer, probe, distance), found in hits.items()
            if distance == "cosine" and (layer, probe, "l2") in hits
        ]
        return cls(
            texts=len(tokens),
            tokens=int(tokens.sum()),
            accuracies=tuple(rows),
            leads=tuple(leads),
            **about,  # type: ignore[arg-type]
        )

    @property
    def layers(self) -> tuple[int, ...]:
        """The layers looked at, numbered from 0."""
        return tuple(sorted({row.layer for row in self.accuracies}))

    @property
    def angle(self) -> str:
        """Whether identity lives in the angle: what cosine finds beyond L2, on average over layers.

        A layer counts as clear where the difference is beyond 1.96 standard errors.
        """
        return ", ".join(
            _told(probe, [lead for lead in self.leads if lead.probe == probe])
            for probe in dict.fromkeys(lead.probe for lead in self.leads)
        )

    def __str__(self) -> str:
        """The table in per cent: a row for each layer, a column for each probe and distance."""
        columns = list(dict.fromkeys((row.probe, row.distance) for row in self.accuracies))
        names = [f"{probe} {SPELLED[distance]}" for probe, distance in columns]
        cells = {(row.layer, row.probe, row.distance): row.accuracy for row in self.accuracies}
        lines = [f"{'tokens found, %':<15} " + " ".join(f"{name:>13}" for name in names)]
        for layer in self.layers:
            row = " ".join(f"{100 * cells[layer, *column]:>13.1f}" for column in columns)
            lines.append(f"{f'layer {layer}':<15} {row}")
        counted = f"{self.texts} texts, {self.tokens:,} tokens, chance {100 * self.chance:.1f}%"
        told = [f"cosine against L2: {self.angle}"] if self.leads else []
        return "\n".join([f"{self.model}: {counted}", *lines, *told])

    __repr__ = __str__

    def to_dataframe(self) -> "pd.DataFrame":
        """One row for each layer, probe and distance; shares between 0 and 1."""
        with require_packages("pandas", extra="tables"):
            import pandas as pd

        return pd.DataFrame([asdict(row) for row in self.accuracies])

    def chart(self) -> Chart:
        """The curves for the profile view: `flow.with_chart(study.chart())`."""
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
            finding=f"Does identity live in the angle? Cosine against L2: {self.angle}."
            if self.leads
            else "",
        )

    def _curve(self, probe: str, distance: str) -> Series:
        rows = {r.layer: r for r in self.accuracies if (r.probe, r.distance) == (probe, distance)}
        ordered = [rows[layer] for layer in self.layers]
        return Series(
            f"{probe} {SPELLED[distance]}",
            tuple(row.accuracy for row in ordered),
            group=probe,
            dashed=distance == "l2",
            low=tuple(row.low for row in ordered),
            high=tuple(row.high for row in ordered),
        )


def _told(probe: str, leads: Sequence[Lead]) -> str:
    """What the angle finds more or less than the distance, over all layers of a probe."""
    mean = 100 * float(np.mean([lead.difference for lead in leads]))
    more = sum(lead.sign > 0 for lead in leads)
    less = sum(lead.sign < 0 for lead in leads)
    clearly = f"clearly more in {more}, less in {less} of {len(leads)} layers"
    return f"{probe} {mean:+.1f} points ({clearly})".replace("-", "−")

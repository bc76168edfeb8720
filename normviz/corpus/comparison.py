"""Two models, or two checkpoints of one, over the same corpus, in the same charts."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from normviz.core.catalog import require_known
from normviz.core.chart import Chart
from normviz.core.counts import pluralize
from normviz.corpus.charts import Panel, ProfileSeries
from normviz.corpus.moments import Moments
from normviz.corpus.profile import Profile
from normviz.errors import BadInput
from normviz.io.tables import dataframe_of
from normviz.view.report import Report, ReportMixin

if TYPE_CHECKING:
    import pandas as pd

    ComparedTable = Literal["share", "mass", "mean"]

TABLES = {"share": "shares", "mass": "masses", "mean": "means"}
"""The tables that two profiles can be compared in, and their names in `CorpusSums`."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ReportMixin):
    """Two profiles compared layer by layer; see `Profile.compare`."""

    first: Profile = field(repr=False)
    second: Profile = field(repr=False)
    names: tuple[str, str]

    def __post_init__(self) -> None:
        """Refuse profiles without a layer in common, or with the same name."""
        if self.names[0] == self.names[1]:
            raise BadInput(
                f"Both profiles are called {self.names[0]!r}.",
                "Expected two names, to tell them apart.",
                'Write first.compare(second, names=("before", "after")).',
            )
        if not self.layers:
            raise BadInput(
                f"{self.names[0]} has the layers {self.first.layers} and {self.names[1]} "
                f"{self.second.layers}.",
                "Expected layers of the same number in both.",
                "Profile both models with layers in common.",
            )

    @property
    def layers(self) -> tuple[int, ...]:
        """The layers that both have, by number."""
        return tuple(layer for layer in self.first.layers if layer in self.second.layers)

    def charts(self) -> tuple[Chart, ...]:
        """Return the charts of both, the first solid and the second dashed."""
        profiles = (
            ProfileSeries(self.first, self.names[0]),
            ProfileSeries(self.second, self.names[1], dashed=True),
        )
        return Panel(profiles, self.layers).charts()

    def report(self) -> Report:
        """Return the charts as a page."""
        title = f"{self.names[0]} (solid) and {self.names[1]} (dashed)"
        sizes = f"{self.first.corpus_size} and {self.second.corpus_size}"
        return Report(title, sizes, self._notes(), self.charts())

    def _notes(self) -> tuple[str, ...]:
        """Return sentences on what limits the comparison."""
        notes = []
        for name, profile in zip(self.names, (self.first, self.second), strict=True):
            other = [str(layer) for layer in profile.layers if layer not in self.layers]
            if other:
                layers = pluralize(len(other), "more layer")
                notes.append(f"Only {name} has {layers}, not drawn: {', '.join(other)}.")
            notes += [f"{name}: {note}" for note in profile.notes]
        if self.first.texts != self.second.texts:
            notes.append("The two profiles have different numbers of texts.")
        if self.first.punctuation != self.second.punctuation:
            notes.append("Other tokens count as punctuation in one profile than in the other.")
        return tuple(notes)

    def to_dataframe(self, table: "ComparedTable" = "share") -> "pd.DataFrame":
        """Return a tidy table of both means and their difference (second minus first).

        Shares are those of texts: see `Profile.share`.
        The 95% interval treats the two means as independent. A profile keeps sums and not single
        texts, so variation that both models share on a text cannot be removed; if there is any, the
        true interval is narrower.
        """
        require_known(table, TABLES, "table")
        rows = list(self._rows(TABLES[table]))
        return dataframe_of({name: [row[name] for row in rows] for name in rows[0]} if rows else {})

    def _rows(self, table: str) -> Iterator[dict[str, Any]]:
        """Yield one row for each measure, category and layer, averaged over heads."""
        first, second = (getattr(profile.sums, table) for profile in (self.first, self.second))
        for (measure, category), moments in first.items():
            if (measure, category) not in second:
                continue
            means, halves = zip(
                _at_layers(moments, self.first, self.layers),
                _at_layers(second[measure, category], self.second, self.layers),
                strict=True,
            )
            difference, half = means[1] - means[0], np.hypot(*halves)
            for index, layer in enumerate(self.layers):
                yield {
                    "measure": measure, "category": category, "layer": layer,
                    self.names[0]: means[0][index], self.names[1]: means[1][index],
                    "difference": difference[index],
                    "low": difference[index] - half[index],
                    "high": difference[index] + half[index],
                }  # fmt: skip

    def __str__(self) -> str:
        """Return both profiles as text, and what limits the comparison."""
        profiles = [f"{self.names[0]}: {self.first}", f"{self.names[1]}: {self.second}"]
        return "\n".join([*profiles, *self._notes()])

    __repr__ = __str__


def _at_layers(
    moments: Moments, profile: Profile, layers: tuple[int, ...]
) -> tuple[np.ndarray, ...]:
    """Return the mean over heads at some layers, and half its interval."""
    indices = [profile.layers.index(layer) for layer in layers]
    return moments.means[indices, -1], moments.interval[indices, -1]

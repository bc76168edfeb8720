"""Two models, or two checkpoints of one, over the same corpus: both in the same charts."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from normviz.core.catalog import require_known
from normviz.core.chart import Chart
from normviz.corpus.charts import Panel, Side
from normviz.corpus.moments import Moments
from normviz.corpus.profile import Profile, plural
from normviz.errors import BadInput
from normviz.io.tables import tidy
from normviz.view.report import Report, ReportMixin

if TYPE_CHECKING:
    import pandas as pd

TABLES = {"share": "shares", "mass": "masses", "mean": "means"}
"""The tables that two profiles can be compared in, and where a tally holds them."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ReportMixin):
    """Two profiles beside each other, layer by layer; see `Profile.compare`."""

    one: Profile = field(repr=False)
    other: Profile = field(repr=False)
    names: tuple[str, str]

    def __post_init__(self) -> None:
        """Refuse profiles that have nothing to compare, or one name for both."""
        if self.names[0] == self.names[1]:
            raise BadInput(
                f"Both profiles are called {self.names[0]!r}.",
                "Two names are wanted, to tell them apart.",
                'Write one.compare(other, names=("before", "after")).',
            )
        if not self.layers:
            raise BadInput(
                f"{self.names[0]} has the layers {self.one.layers} and {self.names[1]} "
                f"{self.other.layers}.",
                "Layers of the same number are compared.",
                "Profile both models with layers in common.",
            )

    @property
    def layers(self) -> tuple[int, ...]:
        """The layers that both have, by number."""
        return tuple(layer for layer in self.one.layers if layer in self.other.layers)

    def charts(self) -> tuple[Chart, ...]:
        """The charts of both, the first solid and the second dashed."""
        sides = (Side(self.one, self.names[0]), Side(self.other, self.names[1], dashed=True))
        return Panel(sides, self.layers).charts()

    def report(self) -> Report:
        """The charts, and over what each profile is."""
        first, second = self.names
        title = f"{first} (solid) and {second} (dashed)"
        return Report(
            title, f"{self.one.corpus} and {self.other.corpus}", self._notes(), self.charts()
        )

    def _notes(self) -> tuple[str, ...]:
        """What speaks against comparing them."""
        found = []
        for name, profile in zip(self.names, (self.one, self.other), strict=True):
            left = [str(layer) for layer in profile.layers if layer not in self.layers]
            if left:
                layers = plural(len(left), "layer")
                found.append(f"Only {name} has {layers} more, not drawn: {', '.join(left)}.")
            found += [f"{name}: {note}" for note in profile.notes]
        if self.one.texts != self.other.texts:
            found.append("The profiles are not over the same number of texts.")
        return tuple(found)

    def to_dataframe(self, table: str = "share") -> "pd.DataFrame":
        """A tidy table of both means and their difference (second minus first): share, mass, mean.

        The 95% interval takes the two means as independent. A profile keeps sums and not single
        texts, so that what both models have in common on a text cannot be taken out; where there
        is such a thing, the true interval is narrower.
        """
        require_known(table, TABLES, "table")
        rows = list(self._rows(TABLES[table]))
        return tidy({name: [row[name] for row in rows] for name in rows[0]} if rows else {})

    def _rows(self, part: str) -> Iterator[dict[str, Any]]:
        """One row for each measure, kind and layer, heads averaged."""
        mine, theirs = (getattr(side.tally, part) for side in (self.one, self.other))
        for (measure, kind), moments in mine.items():
            if (measure, kind) not in theirs:
                continue
            means, halves = zip(
                _at(moments, self.one, self.layers),
                _at(theirs[measure, kind], self.other, self.layers),
                strict=True,
            )
            difference, half = means[1] - means[0], np.hypot(*halves)
            for place, layer in enumerate(self.layers):
                yield {
                    "measure": measure, "category": kind, "layer": layer,
                    self.names[0]: means[0][place], self.names[1]: means[1][place],
                    "difference": difference[place],
                    "low": difference[place] - half[place],
                    "high": difference[place] + half[place],
                }  # fmt: skip

    def __str__(self) -> str:
        """Both profiles in words, and what speaks against comparing them."""
        parts = [f"{self.names[0]}: {self.one}", f"{self.names[1]}: {self.other}"]
        return "\n".join([*parts, *self._notes()])

    __repr__ = __str__


def _at(moments: Moments, profile: Profile, layers: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    """The mean over heads at some layers, and half its interval."""
    places = [profile.layers.index(layer) for layer in layers]
    return moments.means[places, -1], moments.interval[places, -1]

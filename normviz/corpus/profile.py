"""What a model does on average over a corpus: the result people keep. Plain numpy, no torch."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float64

from normviz.core.catalog import MEASURES, require_known
from normviz.core.chart import Chart
from normviz.corpus.moments import Moments
from normviz.corpus.sums import Example, Failure, Tally
from normviz.errors import BadInput
from normviz.io.tables import tidy
from normviz.view.report import Report, ReportMixin

if TYPE_CHECKING:
    import pandas as pd

    from normviz.corpus.charts import Panel
    from normviz.corpus.comparison import Comparison

TABLES = ("mass", "share", "mean", "relation", "pattern", "disagreement", "failure")
"""The tables a profile can be asked for."""

ByLayer = Float64[np.ndarray, " layer"]
Columns = tuple[int | None, ...]
"""What the columns of a table of heads are: heads by number, and None for their mean."""


@dataclass(frozen=True, eq=False, repr=False)
class Profile(ReportMixin):
    """What attention moves on average, by layer, head and kind of token; see `normviz.profile`."""

    model: str
    stream: str
    layers: tuple[int, ...]
    heads: tuple[int, ...]
    tally: Tally = field(repr=False)
    failures: tuple[Failure, ...] = ()

    def __add__(self, other: "Profile") -> "Profile":
        """Two parts of a corpus together, as if they had been measured in one run.

        Failures keep the numbers they have in their own part.
        """
        about = [(p.model, p.stream, p.layers, p.heads) for p in (self, other)]
        if about[0] != about[1]:
            raise BadInput(
                f"The profiles are of {self.model} and {other.model}, or of other layers or heads.",
                "Parts of one corpus, measured in one model, can be added up.",
                "Use compare for two models.",
            )
        failures = self.failures + other.failures
        return Profile(*about[0], self.tally + other.tally, failures)

    @property
    def texts(self) -> int:
        """How many texts were measured."""
        return self.tally.texts

    @property
    def tokens(self) -> int:
        """How many tokens they have, special ones included."""
        return self.tally.tokens

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures whose masses are known, in the order of the catalog."""
        known = {measure for measure, _ in (*self.tally.masses, *self.tally.means)}
        return tuple(name for name in MEASURES if name in known)

    @property
    def categories(self) -> tuple[str, ...]:
        """The kinds of token that occur."""
        sums = [*self.tally.masses.items(), *self.tally.means.items()]
        found = (kind for (name, kind), one in sums if name in MEASURES and one.mean.any())
        return tuple(dict.fromkeys(found))

    def share(self, measure: str, category: str) -> ByLayer:
        """Which share of what queries take comes from a kind of token, heads averaged, by layer."""
        return self._moments("shares", measure, category).means[:, -1]

    def mass(self, measure: str, category: str) -> ByLayer:
        """How much a query takes from a kind of token, heads averaged, by layer."""
        return self._moments("masses", measure, category).means[:, -1]

    def mean(self, measure: str, category: str) -> ByLayer:
        """The mean over tokens of a kind, of `value-norm` or of a mixing ratio, by layer."""
        return self._moments("means", measure, category).means[:, -1]

    def _moments(self, table: str, measure: str, category: str) -> Moments:
        held: dict[tuple[str, str], Moments] = getattr(self.tally, table)
        require_known(measure, dict.fromkeys(name for name, _ in held), "measure")
        require_known(category, [kind for name, kind in held if name == measure], "category")
        return held[measure, category]

    def correlation(self, category: str) -> float:
        """Spearman's ρ of α and ‖f(x)‖ over pairs of all texts whose key is of a kind."""
        require_known(category, self.tally.relations, "category")
        return self.tally.relations[category].spearman

    def frequency(
        self, ranks: Mapping[int, int] | None = None, *, without: Collection[int] = ()
    ) -> dict[str, float]:
        """Spearman's ρ of a token's frequency rank with what it gets of α and has of ‖f(x)‖.

        Averaged over layers, heads and queries for each occurrence, as in Kobayashi et al. 2020;
        mixing ratios too, where they are known.

        Parameters
        ----------
        ranks
            By token id, from 1 for the most frequent; by default as counted in this corpus.
        without
            Ids that are left out, such as those of special tokens.
        """
        left_out = frozenset(without)
        return {
            measure: met.spearman(ranks, without=left_out)
            for measure, met in self.tally.occurrences.items()
        }

    def dispersion(self) -> Float64[np.ndarray, "layer head"]:
        """How much ‖f(x)‖ differs between tokens: the deviation over the mean, in each head."""
        require_known("value-norm", [measure for measure, _ in self.tally.spreads], "measure")
        moments = self.tally.spreads["value-norm", "all"]
        ratio: Float64[np.ndarray, "layer head"] = moments.deviation / moments.means
        return ratio

    @property
    def examples(self) -> tuple[Example, ...]:
        """Texts in which α and ‖αf(x)‖ disagree most, the worst first."""
        return tuple(sorted(self.tally.examples, reverse=True))

    def to_dataframe(self, table: str = "share") -> "pd.DataFrame":
        """A tidy table: `share`, `mass`, `mean`, `relation`, `pattern`, `disagreement`, `failure`.

        Means over texts, with the standard deviation and the 95% interval between texts. A head
        that is missing stands for the mean over all.
        """
        require_known(table, TABLES, "table")
        rows = list(getattr(self, f"_{table}_rows")())
        names = dict.fromkeys(name for row in rows for name in row)
        return tidy({name: [row.get(name) for row in rows] for name in names})

    def _share_rows(self) -> Iterator[dict[str, Any]]:
        yield from self._rows(self.tally.shares, "category")

    def _mass_rows(self) -> Iterator[dict[str, Any]]:
        yield from self._rows(self.tally.masses, "category")

    def _mean_rows(self) -> Iterator[dict[str, Any]]:
        yield from self._rows(self.tally.means, "category")

    def _pattern_rows(self) -> Iterator[dict[str, Any]]:
        yield from self._rows(self.tally.shapes, "pattern")

    def _disagreement_rows(self) -> Iterator[dict[str, Any]]:
        yield from self._rows(self.tally.apart, "against")

    def _relation_rows(self) -> Iterator[dict[str, Any]]:
        for kind, relation in self.tally.relations.items():
            yield {"category": kind, "spearman": relation.spearman, "pairs": relation.pairs}

    def _failure_rows(self) -> Iterator[dict[str, Any]]:
        for one in self.failures:
            yield {"number": one.number, "text": one.text, "reason": one.reason}

    def _rows(self, held: dict[tuple[str, str], Moments], second: str) -> Iterator[dict[str, Any]]:
        """One row for each layer and column."""
        for (measure, name), moments in held.items():
            columns: Columns = (*self.heads, None)
            columns = columns[: moments.mean.shape[1]] if moments.mean.shape[1] > 1 else (None,)
            for place, layer in enumerate(self.layers):
                for at, head in enumerate(columns):
                    mean, half = moments.means[place, at], moments.interval[place, at]
                    yield {
                        "measure": measure, second: name, "layer": layer, "head": head,
                        "mean": mean, "low": mean - half, "high": mean + half,
                        "deviation": moments.deviation[place, at],
                        "texts": int(moments.count[place, at]),
                    }  # fmt: skip

    def save(self, path: str | Path) -> Path:
        """Write the profile to one file that `normviz.load` opens, without torch."""
        from normviz.corpus.profile_file import save

        return save(self, path)

    def chart(self, measure: str) -> Chart:
        """Curves over the layers: which share of a measure each kind of token has."""
        require_known(measure, dict.fromkeys(name for name, _ in self.tally.shares), "measure")
        return self._panel().shares(measure)

    def charts(self) -> tuple[Chart, ...]:
        """The curves worth seeing: shares of α beside ‖αf(x)‖, ‖f(x)‖, mixing ratios, further."""
        return self._panel().charts()

    def _panel(self) -> "Panel":
        from normviz.corpus.charts import Panel, Side

        return Panel((Side(self),), self.layers)

    @property
    def corpus(self) -> str:
        """How large the corpus was."""
        return f"{plural(self.texts, 'text')}, {plural(self.tokens, 'token')}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know of the run, a sentence each."""
        if not self.failures:
            return ()
        count = plural(len(self.failures), "text")
        return (f"{count} could not be measured; the first: {self.failures[0].reason}",)

    def report(self) -> Report:
        """The charts, and over what they are."""
        return Report(f"{self.model} ({self.stream})", self.corpus, self.notes, self.charts())

    def compare(self, other: "Profile", names: tuple[str, str] | None = None) -> "Comparison":
        """Two models or checkpoints over the same corpus: this profile, and another.

        Parameters
        ----------
        other
            The other profile; layers of the same number are compared.
        names
            What the two are called; without it, by their models.
        """
        from normviz.corpus.comparison import Comparison

        return Comparison(self, other, names or (self.model, other.model))

    def __str__(self) -> str:
        """The corpus, and the shares of each kind of token under each measure."""
        title = f"{self.model} ({self.stream}): {self.corpus}"
        title += f"; {len(self.failures):,} failed" if self.failures else ""
        kinds = self.categories
        lines = [f"{'share, mean of layers':<24}" + "".join(f"{kind:>13}" for kind in kinds)]
        for measure in dict.fromkeys(name for name, _ in self.tally.shares):
            shares = [float(self.share(measure, kind).mean()) for kind in kinds]
            lines.append(f"{measure:<24}" + "".join(f"{share:>13.1%}" for share in shares))
        return "\n".join([title, *lines])

    __repr__ = __str__


def plural(count: int, word: str) -> str:
    """So many of something."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"

"""What a model does on average over a corpus, as plain numpy arrays; no torch is needed."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from jaxtyping import Float64

from normviz.core.catalog import MEASURES, require_known
from normviz.core.chart import Chart
from normviz.core.counts import pluralize
from normviz.core.failure import Failure
from normviz.core.words import SHARE_UNITS
from normviz.corpus.moments import Moments
from normviz.corpus.sums import CorpusSums, Example
from normviz.errors import BadInput
from normviz.io.tables import dataframe_of
from normviz.view.report import Report, ReportMixin

if TYPE_CHECKING:
    import pandas as pd

    from normviz.core.words import Punctuation, ShareUnit
    from normviz.corpus.charts import Panel
    from normviz.corpus.comparison import Comparison

    Table = Literal["mass", "share", "mean", "correlation", "pattern", "disagreement", "failure"]

TABLES: "tuple[Table, ...]" = (
    "mass",
    "share",
    "mean",
    "correlation",
    "pattern",
    "disagreement",
    "failure",
)
"""The tables of a profile."""

ByLayer = Float64[np.ndarray, " layer"]
Columns = tuple[int | None, ...]
"""The heads of the columns of an array by number, and None for their mean."""


@dataclass(frozen=True, eq=False, repr=False)
class Profile(ReportMixin):
    """What attention moves on average, by layer, head and category; see `normviz.profile`."""

    model: str
    stream: str
    layers: tuple[int, ...]
    heads: tuple[int, ...]
    sums: CorpusSums = field(repr=False)
    failures: tuple[Failure, ...] = ()
    punctuation: "Punctuation" = "unicode"
    """Which tokens counted as punctuation: see `normviz.profile`."""

    def __add__(self, other: "Profile") -> "Profile":
        """Return the profile of two parts of a corpus, as if they had been measured in one run.

        Failures keep the numbers they have in their own part.
        """
        about = [(p.model, p.stream, p.layers, p.heads) for p in (self, other)]
        if about[0] != about[1]:
            raise BadInput(
                f"The profiles are of {self.model} and {other.model}, or of other layers or heads.",
                "Expected parts of one corpus, measured with one model.",
                "Use compare for two models.",
            )
        if self.punctuation != other.punctuation:
            raise BadInput(
                f"Punctuation is {self.punctuation!r} in one profile and {other.punctuation!r} in "
                "the other.",
                "Expected parts of one corpus, with the same categories of tokens.",
                "Measure both with the same punctuation=….",
            )
        failures = self.failures + other.failures
        return Profile(*about[0], self.sums + other.sums, failures, self.punctuation)

    @property
    def texts(self) -> int:
        """The number of texts measured."""
        return self.sums.texts

    @property
    def tokens(self) -> int:
        """The number of their tokens, including special ones."""
        return self.sums.tokens

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures in the profile, in the order of the catalog."""
        known = {measure for measure, _ in (*self.sums.masses, *self.sums.means)}
        return tuple(name for name in MEASURES if name in known)

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories of tokens that occur."""
        items = [*self.sums.masses.items(), *self.sums.means.items()]
        names = (
            category
            for (measure, category), moments in items
            if measure in MEASURES and moments.mean.any()
        )
        return tuple(dict.fromkeys(names))

    def share(self, measure: str, category: str, *, per: "ShareUnit" = "text") -> ByLayer:
        """Return a category's share of what queries take, of all heads together: [layer].

        A share of α hardly depends on `per`, because each row of α sums to one; shares of norms
        do: in sums, a query or head that takes more counts more.

        Parameters
        ----------
        measure, category
            Of what, and whose share.
        per
            Within what sums are divided, before quotients are averaged:
            `"text"`: sums over the heads and queries of each text; the mean of the texts' shares.
            `"corpus"`: the ratio of sums, `mass` of the category over `mass` of all categories.
            `"query"`: the mean of shares: each query's in each head, averaged over the queries
            of a text, then over texts and heads. A query that takes nothing has none.
        """
        return _moments(self._shares(per), measure, category).means[:, -1]

    def mass(self, measure: str, category: str) -> ByLayer:
        """Return how much a query takes from a category, averaged over heads: [layer].

        The sum over the keys of the category, averaged over the queries of a text, then over texts.
        """
        return _moments(self.sums.masses, measure, category).means[:, -1]

    def mean(self, measure: str, category: str) -> ByLayer:
        """Return the mean `value-norm` or mixing ratio over the tokens of a category: [layer].

        Averaged over the tokens of a text, then over the texts that have any.
        """
        return _moments(self.sums.means, measure, category).means[:, -1]

    def _shares(self, per: str) -> "dict[tuple[str, str], Moments]":
        """Return the moments of shares; the ratios of sums over the corpus vary over nothing."""
        require_known(per, SHARE_UNITS, "share unit")
        if per == "corpus":
            return dict(_corpus_shares(self.sums.masses))
        return self.sums.query_shares if per == "query" else self.sums.shares

    def correlation(self, category: str) -> float:
        """Return Spearman's ρ of α and ‖f(x)‖ over the pairs of tokens with a key of a category.

        Pooled over all texts, layers, heads and queries, as in Kobayashi et al. 2020; pairs with
        α = 0, such as masked ones, are left out. Both are rounded to six binary digits before pairs
        are counted, which changes ρ by less than 0.001 unless nearly all values are alike.
        """
        require_known(category, self.sums.correlations, "category")
        return self.sums.correlations[category].spearman

    def frequency(
        self, ranks: Mapping[int, int] | None = None, *, without: Collection[int] = ()
    ) -> dict[str, float]:
        """Return Spearman's ρ of a token's frequency rank with its α and its ‖f(x)‖, by measure.

        Averaged over layers, heads and queries for each occurrence, as in Kobayashi et al. 2020;
        also of mixing ratios, if the profile has them. Ranks are exact, and ties share their mean.
        Of a corpus with more than 200,000 tokens this is computed from 200,000 of them, drawn
        uniformly at random with seed 0 (`notes` says so); ids are counted in all tokens.

        Parameters
        ----------
        ranks
            By token id, from 1 for the most frequent; by default as counted in this corpus. An id
            that is missing here comes last.
        without
            Ids that are left out, such as those of special tokens.
        """
        occurrences = self.sums.occurrences
        return {
            measure: occurrences.spearman(measure, ranks, without=without)
            for measure in occurrences.columns
        }

    def dispersion(self) -> Float64[np.ndarray, "layer head"]:
        """Return the coefficient of variation of ‖f(x)‖ over tokens: [layer head]."""
        require_known("value-norm", [measure for measure, _ in self.sums.dispersions], "measure")
        moments = self.sums.dispersions["value-norm", "all"]
        ratio: Float64[np.ndarray, "layer head"] = moments.deviation / moments.means
        return ratio

    @property
    def examples(self) -> tuple[Example, ...]:
        """The texts in which α and ‖αf(x)‖ disagree most, in falling order."""
        return tuple(sorted(self.sums.examples, reverse=True))

    def to_dataframe(
        self, table: "Table" = "share", *, per: "ShareUnit | None" = None
    ) -> "pd.DataFrame":
        """Return a tidy table: share, mass, mean, correlation, pattern, disagreement or failure.

        Means over texts, with the standard deviation and the 95% interval between texts. A missing
        head is all heads together. `per` is that of `share`, and belongs to its table only: by
        default `"text"`; the ratios of `"corpus"` have no interval.
        """
        require_known(table, TABLES, "table")
        if per is not None and table != "share":
            raise BadInput(
                f"per={per!r} was given for the table {table!r}.",
                "Expected it with the table of shares only.",
                f'Write to_dataframe("share", per={per!r}), or leave it out.',
            )
        rows = list(self._moment_rows(self._shares(per or "text"), "category")
                    if table == "share" else getattr(self, f"_{table}_rows")())  # fmt: skip
        names = dict.fromkeys(name for row in rows for name in row)
        return dataframe_of({name: [row.get(name) for row in rows] for name in names})

    def _mass_rows(self) -> Iterator[dict[str, Any]]:
        yield from self._moment_rows(self.sums.masses, "category")

    def _mean_rows(self) -> Iterator[dict[str, Any]]:
        yield from self._moment_rows(self.sums.means, "category")

    def _pattern_rows(self) -> Iterator[dict[str, Any]]:
        yield from self._moment_rows(self.sums.patterns, "pattern")

    def _disagreement_rows(self) -> Iterator[dict[str, Any]]:
        yield from self._moment_rows(self.sums.disagreements, "against")

    def _correlation_rows(self) -> Iterator[dict[str, Any]]:
        for category, pairs in self.sums.correlations.items():
            yield {"category": category, "spearman": pairs.spearman, "pairs": pairs.pairs}

    def _failure_rows(self) -> Iterator[dict[str, Any]]:
        for failure in self.failures:
            yield {"number": failure.number, "text": failure.text, "reason": failure.reason}

    def _moment_rows(
        self, held: dict[tuple[str, str], Moments], second: str
    ) -> Iterator[dict[str, Any]]:
        """Yield one row for each layer and column; `second` names what the keys' second part is."""
        for (measure, name), moments in held.items():
            columns: Columns = (*self.heads, None)
            columns = columns[: moments.mean.shape[1]] if moments.mean.shape[1] > 1 else (None,)
            for row, layer in enumerate(self.layers):
                for column, head in enumerate(columns):
                    mean, half = moments.means[row, column], moments.interval[row, column]
                    yield {
                        "measure": measure, second: name, "layer": layer, "head": head,
                        "mean": mean, "low": mean - half, "high": mean + half,
                        "deviation": moments.deviation[row, column],
                        "texts": int(moments.count[row, column]),
                    }  # fmt: skip

    def save(self, path: str | Path) -> Path:
        """Write the profile to a file that `normviz.load` opens without torch; return its path."""
        from normviz.corpus.profile_file import save

        return save(self, path)

    def chart(self, measure: str) -> Chart:
        """Return curves over the layers: each category's share of a measure, by text."""
        require_known(measure, dict.fromkeys(name for name, _ in self.sums.shares), "measure")
        return self._panel().shares(measure)

    def charts(self) -> tuple[Chart, ...]:
        """Return the charts: shares of α and ‖αf(x)‖, ‖f(x)‖, mixing ratios, other shares."""
        return self._panel().charts()

    def _panel(self) -> "Panel":
        from normviz.corpus.charts import Panel, ProfileSeries

        return Panel((ProfileSeries(self),), self.layers)

    @property
    def corpus_size(self) -> str:
        """The number of texts and tokens, in words."""
        return f"{pluralize(self.texts, 'text')}, {pluralize(self.tokens, 'token')}"

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what went wrong in the run, what was sampled, and other than usual."""
        notes = []
        if self.failures:
            count = pluralize(len(self.failures), "text")
            notes.append(f"{count} could not be measured; the first: {self.failures[0].reason}")
        if self.punctuation == "paper":
            notes.append("Punctuation is only “,” and “.”, as in Kobayashi et al. 2020.")
        return (*notes, *filter(None, [self.sums.occurrences.note]))

    def report(self) -> Report:
        """Return the charts as a page."""
        return Report(f"{self.model} ({self.stream})", self.corpus_size, self.notes, self.charts())

    def compare(self, other: "Profile", names: tuple[str, str] | None = None) -> "Comparison":
        """Compare two models or checkpoints over the same corpus.

        Parameters
        ----------
        other
            The other profile; layers of the same number are compared.
        names
            The names of the two; by default those of their models.
        """
        from normviz.corpus.comparison import Comparison

        return Comparison(self, other, names or (self.model, other.model))

    def __str__(self) -> str:
        """Return the size of the corpus, and a table of shares by measure and category."""
        title = f"{self.model} ({self.stream}): {self.corpus_size}"
        title += f"; {len(self.failures):,} failed" if self.failures else ""
        header = "".join(f"{category:>13}" for category in self.categories)
        lines = [f"{'share, mean of layers':<24}{header}"]
        for measure in dict.fromkeys(name for name, _ in self.sums.shares):
            shares = [float(self.share(measure, name).mean()) for name in self.categories]
            lines.append(f"{measure:<24}" + "".join(f"{share:>13.1%}" for share in shares))
        return "\n".join([title, *lines])

    __repr__ = __str__


def _moments(held: dict[tuple[str, str], Moments], measure: str, category: str) -> Moments:
    require_known(measure, dict.fromkeys(name for name, _ in held), "measure")
    known = [held_category for name, held_category in held if name == measure]
    require_known(category, known, "category")
    return held[measure, category]


def _corpus_shares(
    masses: dict[tuple[str, str], Moments],
) -> Iterator[tuple[tuple[str, str], Moments]]:
    """Yield the mass of each category over that of all categories, without any deviation."""
    totals: dict[str, np.ndarray] = {}
    for (measure, _), moments in masses.items():
        totals[measure] = totals.get(measure, 0.0) + moments.mean
    for (measure, category), moments in masses.items():
        total = totals[measure]
        ratio = np.divide(moments.mean, total, out=np.zeros(total.shape), where=total > 0)
        yield (measure, category), Moments(moments.count, ratio, np.full(total.shape, np.nan))

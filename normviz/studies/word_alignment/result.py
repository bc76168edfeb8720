"""The result of a study of alignment: error rates by layer and head, and shares of no word."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from jaxtyping import Float, Int

from normviz.alignment.align import TARGET_ROWS
from normviz.alignment.scores import Scores
from normviz.core.catalog import require_known
from normviz.core.chart import Chart, Series
from normviz.core.failure import Failure
from normviz.derived.ranks import spearman
from normviz.io.tables import dataframe_of
from normviz.view.report import Report, ReportMixin

if TYPE_CHECKING:
    import pandas as pd

    from normviz.alignment.align import TargetRow

    LinkMeasure = Literal["weight", "weighted-norm"]

MEASURES: "dict[LinkMeasure, str]" = {"weight": "α", "weighted-norm": "‖αf(x)‖"}
"""The measures of links, with their labels. All heads together: their mean, and ‖Σ αf(x)‖."""
ROW_MEANING = {"input": "the row that reads the word", "output": "the row that predicts it"}
COLUMN_WIDTH = 23
"""The width of a printed column, which holds the longest entry: 81.6 (layer 10 head 11)."""
ALL_HEADS = -1
"""The index of all heads together, after the single ones."""


@dataclass(frozen=True)
class Best:
    """A layer, or a head of a layer, with its error rate."""

    aer: float
    layer: int
    head: int | None = None

    def __str__(self) -> str:
        """Return the rate in percent, and where it is."""
        where = f"layer {self.layer}" + ("" if self.head is None else f" head {self.head}")
        return f"{100 * self.aer:.1f} ({where})"


@dataclass(frozen=True, eq=False)
class Alignments(ReportMixin):
    """Alignment error rates of a translation model, after Kobayashi et al. 2020, Experiment 2."""

    model: str
    pairs: int
    sure: int
    """The number of sure gold links."""
    possible: int
    """The number of gold links that are possible but not sure."""
    layers: tuple[int, ...]
    heads: tuple[int, ...]
    counts: Mapping[tuple[str, str], Int[np.ndarray, "layer head 3"]]
    """By measure and target row: links, sure ones, possible ones; all heads together are last."""
    norms: Float[np.ndarray, "layer head"]
    """The mean ‖αf(x)‖ of a pair of tokens; the last is ‖Σ αf(x)‖ of all heads together."""
    null_share: Mapping[tuple[str, str], Float[np.ndarray, "layer head"]]
    """By measure and target row: the share of target words that comes from no word."""
    out_of_range: tuple[str, ...] = ()
    """Gold links to words that their sentences do not have, one sentence for each."""
    failures: tuple[Failure, ...] = ()
    """Sentence pairs that could not be aligned, and why."""

    def __post_init__(self) -> None:
        """Make the mappings read-only."""
        for name in ("counts", "null_share"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def scores(
        self, measure: "LinkMeasure", target_row: "TargetRow", layer: int, head: int | None = None
    ) -> Scores:
        """Return error rate, precision and recall of one layer: of one head, or of all together."""
        links, sure, possible = self._counts(measure, target_row)[self._index(layer, head)]
        return Scores(int(links), self.sure, int(sure), int(possible))

    def aer(self, measure: "LinkMeasure", target_row: "TargetRow") -> Float[np.ndarray, " layer"]:
        """Return the error rate of each layer, with all heads together."""
        return self._rates(measure, target_row)[:, ALL_HEADS]

    def head_aer(
        self, measure: "LinkMeasure", target_row: "TargetRow"
    ) -> Float[np.ndarray, "layer head"]:
        """Return the error rate of each head."""
        return self._rates(measure, target_row)[:, :ALL_HEADS]

    def best_layer(self, measure: "LinkMeasure", target_row: "TargetRow") -> Best:
        """Return the layer with the lowest error rate."""
        rates = self.aer(measure, target_row)
        return Best(float(rates.min()), self.layers[int(rates.argmin())])

    def best_head(self, measure: "LinkMeasure", target_row: "TargetRow") -> Best:
        """Return the head with the lowest error rate."""
        rates = self.head_aer(measure, target_row)
        layer, head = np.unravel_index(int(rates.argmin()), rates.shape)
        return Best(float(rates.min()), self.layers[layer], self.heads[head])

    def largest_norm_layer(self, target_row: "TargetRow") -> Best:
        """Return the layer that moves most, with its error rate by norm."""
        index = int(self.norms[:, ALL_HEADS].argmax())
        return Best(float(self.aer("weighted-norm", target_row)[index]), self.layers[index])

    def largest_norm_head(self, target_row: "TargetRow") -> Best:
        """Return the head that moves most, with its error rate by norm."""
        norms = self.norms[:, :ALL_HEADS]
        layer, head = np.unravel_index(int(norms.argmax()), norms.shape)
        rate = self.head_aer("weighted-norm", target_row)[layer, head]
        return Best(float(rate), self.layers[layer], self.heads[head])

    def correlation(self, target_row: "TargetRow") -> dict[str, float]:
        """Return the correlation of a head's error rate by norm with its mean ‖αf(x)‖.

        Negative if heads that move more align better; NaN if there is nothing to compare.
        """
        norms = self.norms[:, :ALL_HEADS].ravel()
        rates = self.head_aer("weighted-norm", target_row).ravel()
        known = rates.std() > 0 and norms.std() > 0
        pearson = float(np.corrcoef(norms, rates)[0, 1]) if known else float("nan")
        return {"spearman": spearman(norms, rates), "pearson": pearson}

    def _counts(self, measure: str, target_row: str) -> Int[np.ndarray, "layer head 3"]:
        require_known(measure, MEASURES, "measure")
        require_known(target_row, TARGET_ROWS, "target row")
        return self.counts[measure, target_row]

    def _index(self, layer: int, head: int | None) -> tuple[int, int]:
        require_known(layer, self.layers, "layer")
        if head is None:
            return self.layers.index(layer), ALL_HEADS
        require_known(head, self.heads, "head")
        return self.layers.index(layer), self.heads.index(head)

    def _rates(self, measure: str, target_row: str) -> Float[np.ndarray, "layer head"]:
        links, sure, possible = np.moveaxis(self._counts(measure, target_row), -1, 0)
        rates: np.ndarray = 1 - (sure + possible) / (links + self.sure)
        return rates

    def to_dataframe(self) -> "pd.DataFrame":
        """Return one row for each measure, target row, layer and head; no head: all together."""
        rows: list[dict[str, Any]] = []
        for measure, target_row in self.counts:
            for row, layer in enumerate(self.layers):
                for column, head in enumerate((*self.heads, None)):
                    scores = self.scores(measure, target_row, layer, head)  # type: ignore[arg-type]
                    rows.append({
                        "measure": measure, "target_row": target_row, "layer": layer, "head": head,
                        "aer": scores.aer, "precision": scores.precision, "recall": scores.recall,
                        "links": scores.links,
                        "null_share": self.null_share[measure, target_row][row, column],
                        "mean_norm": self.norms[row, column],
                    })  # fmt: skip
        table = dataframe_of(
            {name: [entry[name] for entry in rows] for name in rows[0]} if rows else {}
        )
        table["head"] = table["head"].astype("Int64")
        return table

    def __str__(self) -> str:
        """Return the table as the paper prints it, in percent, and each layer."""
        counts = f"{self.pairs} pairs, {self.sure:,} sure links, {self.possible:,} more possible"
        lines = [f"{self.model}: {counts}"]
        for target_row in TARGET_ROWS:
            lines += ["", *self._table_lines(target_row)]
        return "\n".join([*lines, *(f"  {note}" for note in self._notes())])

    __repr__ = __str__

    def _table_lines(self, target_row: "TargetRow") -> list[str]:
        """Return the printed table of one target row."""
        rates = [self.aer(measure, target_row) for measure in MEASURES]
        lines = [_row(f"AER, %, with {target_row}", *MEASURES.values())]
        for index, layer in enumerate(self.layers):
            lines.append(_row(f"layer {layer}", *(f"{100 * r[index]:.1f}" for r in rates)))
        lines.append(_row("layer mean", *(f"{100 * r.mean():.1f}" for r in rates)))
        for name, find in (("best layer", self.best_layer), ("best head", self.best_head)):
            lines.append(_row(name, *(str(find(measure, target_row)) for measure in MEASURES)))
        lines += [
            _row("layer that moves most", "", str(self.largest_norm_layer(target_row))),
            _row("head that moves most", "", str(self.largest_norm_head(target_row))),
        ]
        by = self.correlation(target_row)
        text = f"ρ {by['spearman']:+.2f}, r {by['pearson']:+.2f}".replace("-", "−")
        return [*lines, _row("AER and mean norm", "", text)]

    def _notes(self) -> list[str]:
        """Return sentences on what limits the rates."""
        notes = list(self.out_of_range)
        if self.failures:
            first = self.failures[0]
            notes.append(f"{len(self.failures)} pairs could not be aligned; the first is "
                         f"line {first.number + 1}: {first.reason}")  # fmt: skip
        return notes

    def charts(self) -> tuple[Chart, ...]:
        """Return error rates by layer for both target rows, and the shares of no word."""
        return (*(self.chart(target_row) for target_row in TARGET_ROWS), self._null_chart())

    def chart(self, target_row: "TargetRow" = "input") -> Chart:
        """Return error rates by layer, for a report or the profile view: `flow.with_chart(…)`."""
        series = [
            Series(f"{label} {name}", tuple(map(float, rates)), group=label, dashed=name != "layer")
            for measure, label in MEASURES.items()
            for name, rates in (
                ("layer", self.aer(measure, target_row)),
                ("best head", self.head_aer(measure, target_row).min(axis=1)),
            )
        ]
        ahead = sum(self.aer("weighted-norm", target_row) < self.aer("weight", target_row))
        best = [self.best_layer(measure, target_row) for measure in MEASURES]
        return Chart(
            title=f"alignment error rate with {target_row}",
            about=f"AER of links read from {ROW_MEANING[target_row]}; {self.pairs} sentence pairs, "
            f"{self.sure:,} sure links",
            label="AER",
            layers=self.layers,
            series=tuple(series),
            finding=f"With {target_row}, ‖αf(x)‖ aligns better than α in {ahead} of "
            f"{len(self.layers)} layers; the best layer has {100 * best[1].aer:.1f}% by ‖αf(x)‖ "
            f"and {100 * best[0].aer:.1f}% by α. Over heads, AER correlates with the mean ‖αf(x)‖ "
            f"at ρ = {self.correlation(target_row)['spearman']:+.2f}.".replace("-", "−"),
        )

    def _null_chart(self) -> Chart:
        """Return a chart of how much weight, and how much of what it moves, is of no word."""
        series = tuple(
            Series(label, tuple(map(float, self.null_share[measure, "input"][:, ALL_HEADS])))
            for measure, label in MEASURES.items()
        )
        means = [100 * float(np.mean(curve.values)) for curve in series]
        return Chart(
            title="share of no word",
            about="the share of target words that comes from the end of the sentence and other "
            "tokens outside all words, all heads together",
            label="share",
            layers=self.layers,
            series=series,
            finding=f"Tokens outside all words have {means[0]:.0f}% of the weight, and "
            f"{means[1]:.0f}% of what it moves.",
        )

    def report(self) -> Report:
        """Return the charts as a page."""
        pairs = f"{self.pairs} sentence pairs"
        return Report(f"word alignment by {self.model}", pairs, self._notes(), self.charts())


def _row(name: str, first: str, second: str) -> str:
    return f"{name:<22} {first:>{COLUMN_WIDTH}} {second:>{COLUMN_WIDTH}}"

"""The result of a study of alignment: error rates by layer, by head, and what goes nowhere."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int

from normviz.alignment.align import SETTINGS
from normviz.alignment.scores import Scores
from normviz.core.catalog import require_known
from normviz.core.chart import Chart, Series
from normviz.corpus.sums import Failure
from normviz.derived.ranks import spearman
from normviz.system.optional import require_packages
from normviz.view.report import Report, ReportMixin

if TYPE_CHECKING:
    import pandas as pd

MEASURES = {"weight": "α", "weighted-norm": "‖αf(x)‖"}
"""What links are drawn by. With all heads together: their mean, and ‖Σ αf(x)‖."""
MEANING = {"input": "the row that reads the word", "output": "the row that predicts it"}
WIDTH = 23
"""Of a column in print, which holds the longest entry: 81.6 (layer 10 head 11)."""
ALL_HEADS = -1
"""The place of all heads together, behind the single ones."""


@dataclass(frozen=True)
class Best:
    """The layer, or the head of a layer, with the lowest error rate."""

    aer: float
    layer: int
    head: int | None = None

    def __str__(self) -> str:
        """The rate in per cent, and where."""
        where = f"layer {self.layer}" + ("" if self.head is None else f" head {self.head}")
        return f"{100 * self.aer:.1f} ({where})"


@dataclass(frozen=True, eq=False)
class Alignments(ReportMixin):
    """Alignment error rates of a translation model, after Kobayashi et al. 2020, Experiment 2."""

    model: str
    pairs: int
    sure: int
    """How many links people are sure of."""
    possible: int
    """How many more they hold possible."""
    layers: tuple[int, ...]
    heads: tuple[int, ...]
    counts: Mapping[tuple[str, str], Int[np.ndarray, "layer head 3"]]
    """By measure and setting: links, sure ones, possible ones; all heads together come last."""
    norms: Float[np.ndarray, "layer head"]
    """The mean ‖αf(x)‖ of a pair of tokens; of all heads together, ‖Σ αf(x)‖, last."""
    nowhere: Mapping[tuple[str, str], Float[np.ndarray, "layer head"]]
    """By measure and setting: the share of what words take that comes from no word."""
    beyond: tuple[str, ...] = ()
    """Gold links that name words which their sentences do not have."""
    failures: tuple[Failure, ...] = ()
    """Pairs that could not be aligned, and why."""

    def __post_init__(self) -> None:
        """Lock what is held by name."""
        for name in ("counts", "nowhere"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def scores(self, measure: str, setting: str, layer: int, head: int | None = None) -> Scores:
        """Error rate, precision and recall of one layer, of one head or of all together."""
        links, right, allowed = self._counts(measure, setting)[self._place(layer, head)]
        return Scores(int(links), self.sure, int(right), int(allowed))

    def aer(self, measure: str, setting: str) -> Float[np.ndarray, " layer"]:
        """The error rate of each layer, all heads together."""
        return self._rates(measure, setting)[:, ALL_HEADS]

    def head_aer(self, measure: str, setting: str) -> Float[np.ndarray, "layer head"]:
        """The error rate of each head."""
        return self._rates(measure, setting)[:, :ALL_HEADS]

    def best_layer(self, measure: str, setting: str) -> Best:
        """The layer with the lowest error rate."""
        rates = self.aer(measure, setting)
        return Best(float(rates.min()), self.layers[int(rates.argmin())])

    def best_head(self, measure: str, setting: str) -> Best:
        """The head with the lowest error rate."""
        rates = self.head_aer(measure, setting)
        layer, head = np.unravel_index(int(rates.argmin()), rates.shape)
        return Best(float(rates.min()), self.layers[layer], self.heads[head])

    def loudest_layer(self, setting: str) -> Best:
        """The layer that moves most, and its error rate by norm."""
        place = int(self.norms[:, ALL_HEADS].argmax())
        return Best(float(self.aer("weighted-norm", setting)[place]), self.layers[place])

    def loudest_head(self, setting: str) -> Best:
        """The head that moves most, and its error rate by norm."""
        norms = self.norms[:, :ALL_HEADS]
        layer, head = np.unravel_index(int(norms.argmax()), norms.shape)
        rate = self.head_aer("weighted-norm", setting)[layer, head]
        return Best(float(rate), self.layers[layer], self.heads[head])

    def correlation(self, setting: str) -> dict[str, float]:
        """How the error rate of a head by norm goes with its mean ‖αf(x)‖, over all heads.

        Negative where heads that move more align better. NaN where there is nothing to compare.
        """
        norms, rates = self.norms[:, :ALL_HEADS].ravel(), self.head_aer("weighted-norm", setting)
        flat = rates.ravel()
        known = flat.std() > 0 and norms.std() > 0
        pearson = float(np.corrcoef(norms, flat)[0, 1]) if known else float("nan")
        return {"spearman": spearman(norms, flat), "pearson": pearson}

    def _counts(self, measure: str, setting: str) -> Int[np.ndarray, "layer head 3"]:
        require_known(measure, MEASURES, "measure")
        require_known(setting, SETTINGS, "setting")
        return self.counts[measure, setting]

    def _place(self, layer: int, head: int | None) -> tuple[int, int]:
        require_known(layer, self.layers, "layer")
        if head is None:
            return self.layers.index(layer), ALL_HEADS
        require_known(head, self.heads, "head")
        return self.layers.index(layer), self.heads.index(head)

    def _rates(self, measure: str, setting: str) -> Float[np.ndarray, "layer head"]:
        links, right, allowed = np.moveaxis(self._counts(measure, setting), -1, 0)
        rates: np.ndarray = 1 - (right + allowed) / (links + self.sure)
        return rates

    def to_dataframe(self) -> "pd.DataFrame":
        """One row for each measure, setting, layer and head; no head is all heads together."""
        with require_packages("pandas", extra="tables"):
            import pandas as pd

        rows: list[dict[str, Any]] = []
        for measure, setting in self.counts:
            for at, layer in enumerate(self.layers):
                for place, head in enumerate((*self.heads, None)):
                    scores = self.scores(measure, setting, layer, head)
                    rates = {n: getattr(scores, n) for n in ("aer", "precision", "recall", "links")}
                    place_of = {"measure": measure, "setting": setting, "layer": layer}
                    more = {
                        "nowhere": self.nowhere[measure, setting][at, place],
                        "mean_norm": self.norms[at, place],
                    }
                    rows.append({**place_of, "head": head, **rates, **more})
        table = pd.DataFrame(rows)
        table["head"] = table["head"].astype("Int64")
        return table

    def __str__(self) -> str:
        """The table as the paper prints it, in per cent, and each layer below."""
        counted = f"{self.pairs} pairs, {self.sure:,} sure links, {self.possible:,} more possible"
        lines = [f"{self.model}: {counted}"]
        for setting in SETTINGS:
            lines += ["", *self._told(setting)]
        return "\n".join([*lines, *(f"  {note}" for note in self._doubts())])

    __repr__ = __str__

    def _told(self, setting: str) -> list[str]:
        """What is to be said of one setting."""
        pair = [self.aer(measure, setting) for measure in MEASURES]
        lines = [f"{f'AER, %, with {setting}':<22} " + _columns("α", "‖αf(x)‖")]
        for at, layer in enumerate(self.layers):
            lines.append(
                f"{f'layer {layer}':<22} " + _columns(*(f"{100 * r[at]:.1f}" for r in pair))
            )
        lines.append(f"{'layer mean':<22} " + _columns(*(f"{100 * r.mean():.1f}" for r in pair)))
        for name, find in (("best layer", self.best_layer), ("best head", self.best_head)):
            lines.append(f"{name:<22} " + _columns(*(str(find(m, setting)) for m in MEASURES)))
        loudest = (self.loudest_layer, self.loudest_head)
        for name, found in zip(("layer", "head"), loudest, strict=True):
            lines.append(f"{f'{name} that moves most':<22} " + _columns("", str(found(setting))))
        ways = self.correlation(setting)
        said = f"ρ {ways['spearman']:+.2f}, r {ways['pearson']:+.2f}"
        return [*lines, f"{'AER and mean norm':<22} " + _columns("", said.replace("-", "−"))]

    def _doubts(self) -> list[str]:
        """What a reader should know before believing the rates."""
        notes = list(self.beyond)
        if self.failures:
            first = self.failures[0]
            notes.append(f"{len(self.failures)} pairs could not be aligned; the first is "
                         f"line {first.number + 1}: {first.reason}")  # fmt: skip
        return notes

    def charts(self) -> tuple[Chart, ...]:
        """Error rates by layer for both settings, and what goes to no word."""
        return (*(self.chart(setting) for setting in SETTINGS), self._nowhere())

    def chart(self, setting: str = "input") -> Chart:
        """Error rates by layer, for a report or the profile view: `flow.with_chart(…)`."""
        series = [
            Series(f"{label} {name}", tuple(map(float, rates)), group=label, dashed=name != "layer")
            for measure, label in MEASURES.items()
            for name, rates in (
                ("layer", self.aer(measure, setting)),
                ("best head", self.head_aer(measure, setting).min(axis=1)),
            )
        ]
        ahead = sum(self.aer("weighted-norm", setting) < self.aer("weight", setting))
        best = [self.best_layer(measure, setting) for measure in MEASURES]
        return Chart(
            title=f"alignment error rate with {setting}",
            about=f"AER of links drawn from {MEANING[setting]}; {self.pairs} pairs of sentences, "
            f"{self.sure:,} sure links",
            label="AER",
            layers=self.layers,
            series=tuple(series),
            finding=f"With {setting}, ‖αf(x)‖ aligns better than α in {ahead} of "
            f"{len(self.layers)} layers; the best layer has {100 * best[1].aer:.1f}% by ‖αf(x)‖ "
            f"and {100 * best[0].aer:.1f}% by α. Over heads, AER goes with the mean ‖αf(x)‖ at "
            f"ρ = {self.correlation(setting)['spearman']:+.2f}.".replace("-", "−"),
        )

    def _nowhere(self) -> Chart:
        """Why the end of the sentence: it has much of the weight, and little to give."""
        series = tuple(
            Series(label, tuple(map(float, self.nowhere[measure, "input"][:, ALL_HEADS])))
            for measure, label in MEASURES.items()
        )
        means = [100 * float(np.mean(curve.values)) for curve in series]
        return Chart(
            title="what goes to no word",
            about="the share of what target words take that comes from the end of the sentence "
            "and other tokens that are no words, all heads together",
            label="share",
            layers=self.layers,
            series=series,
            finding=f"Tokens that are no words have {means[0]:.0f}% of the weight, and "
            f"{means[1]:.0f}% of what it moves.",
        )

    def report(self) -> Report:
        """The charts as a page."""
        counted = f"{self.pairs} pairs of sentences"
        return Report(f"word alignment by {self.model}", counted, self._doubts(), self.charts())


def _columns(one: str, other: str) -> str:
    return f"{one:>{WIDTH}} {other:>{WIDTH}}"

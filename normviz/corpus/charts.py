"""Profiles as curves over the layers: α beside ‖αf(x)‖, one profile or two in the same charts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from normviz.core.catalog import MEASURES
from normviz.core.chart import Chart, Series
from normviz.corpus.moments import Moments
from normviz.corpus.profile import Profile
from normviz.derived.headline import called

PAIR = ("weight", "weighted-norm")
"""The two that stand side by side, as in Kobayashi et al. 2020."""
LENGTH = "value-norm"
MIXING = "mixing:"

LONGEST = 16
"""How many letters of a profile's name find room beside a curve."""


@dataclass(frozen=True)
class Side:
    """A profile among those that are drawn together, and what it is called there."""

    profile: Profile
    name: str = ""
    dashed: bool = False

    def titled(self, curve: str) -> str:
        """What a curve of it is called; of a long path, only the end is what tells it apart."""
        end = self.name.rstrip("/").rpartition("/")[2]
        short = end if len(end) <= LONGEST else f"…{end[1 - LONGEST :]}"
        return f"{curve} {short}".strip()


@dataclass(frozen=True)
class Panel:
    """What the charts of some profiles have in common: whose curves, and which layers."""

    sides: tuple[Side, ...]
    layers: tuple[int, ...]

    def charts(self) -> tuple[Chart, ...]:
        """Everything worth seeing: shares of α and ‖αf(x)‖, ‖f(x)‖, mixing ratios, further shares.

        Measures that may be negative have no share that could be drawn, and are left out, as is
        what only one of two profiles knows.
        """
        each = ({name for name, _ in side.profile.tally.shares} for side in self.sides)
        held = set.intersection(*each)
        further = [name for name in MEASURES if name in held and name not in PAIR]
        found = [
            *(self.shares(name) for name in PAIR if name in held),
            self.lengths(),
            self.mixing(),
            *(self.shares(name) for name in further if not MEASURES[name].signed),
        ]
        return tuple(chart for chart in found if chart.series)

    def shares(self, measure: str) -> Chart:
        """Which share of a measure each kind of token has."""
        label = MEASURES[measure].label
        series = self._by_kind("shares", measure, most=1.0)
        about = f"{MEASURES[measure].meaning}, as shares by kind of key"
        finding = self._gap() if measure == PAIR[0] else ""
        what = label if {"α", "‖"} & {*label} else f"“{label}”"
        return self._chart(f"share of {what}", about, series, finding, kinds=True)

    def lengths(self) -> Chart:
        """How long the vector is that a token of each kind has to give."""
        label = MEASURES[LENGTH].label
        series = self._by_kind("means", LENGTH)
        about = f"mean {label} of the tokens of each kind, in the model's own units"
        return self._chart(label, about, series, _extremes(series), kinds=True, unit=label)

    def mixing(self) -> Chart:
        """How much of a token's vector comes from other tokens, rung by rung."""
        tallies = [side.profile.tally.means for side in self.sides]
        rungs = [name for name in MEASURES if all((MIXING + name, "all") in t for t in tallies)]
        series = [
            one
            for rung in rungs
            for one in self._curves("means", MIXING + rung, "all", MEASURES[rung].label, most=1.0)
        ]
        about = "mixing ratio: which share of a token's vector comes from other tokens, mean of all"
        ends = [f"{one.name} {_percent(float(np.mean(one.values)))}" for one in series]
        finding = f"From other tokens, mean of layers: {', '.join(ends)}." if ends else ""
        return self._chart("share from other tokens", about, series, finding)

    def _chart(
        self,
        title: str,
        about: str,
        series: Sequence[Series],
        finding: str = "",
        *,
        kinds: bool = False,
        unit: str = "",
    ) -> Chart:
        counts = sorted({side.profile.texts for side in self.sides})
        label = f"mean of {' and '.join(f'{count:,}' for count in counts)} texts"
        if any(one.low for one in series):
            about += "; bands: 95% intervals between texts"
        return Chart(title, about, label, self.layers, tuple(series), finding, unit, kinds)

    def _by_kind(self, table: str, measure: str, most: float = np.inf) -> list[Series]:
        kinds = dict.fromkeys(kind for side in self.sides for kind in side.profile.categories)
        found = (self._curves(table, measure, kind, called(kind), most) for kind in kinds)
        return [one for each in found for one in each]

    def _curves(
        self, table: str, measure: str, kind: str, name: str, most: float
    ) -> Iterator[Series]:
        """The curve of each profile that has one; mixing ratios are grouped by rung."""
        group = measure if measure.startswith(MIXING) else kind
        for side in self.sides:
            held: dict[tuple[str, str], Moments] = getattr(side.profile.tally, table)
            places = [side.profile.layers.index(layer) for layer in self.layers]
            if (measure, kind) in held:
                rows = _banded(held[measure, kind], places, most)
                if np.isfinite(rows[0]).all():
                    values, low, high = (tuple(row.tolist()) for row in rows)
                    curve = Series(side.titled(name), values, group, side.dashed)
                    alone = side.profile.texts < 2  # noqa: PLR2004
                    yield curve if alone else replace(curve, low=low, high=high)

    def _gap(self) -> str:
        """Where α and ‖αf(x)‖ differ most, of each profile."""
        return " ".join(_gap_of(side, self.layers) for side in self.sides).strip()


def _banded(moments: Moments, places: list[int], most: float) -> tuple[np.ndarray, ...]:
    """Means of all heads and their intervals at some layers, within what can be."""
    mean = moments.means[places, -1]
    half = np.nan_to_num(moments.interval[places, -1])
    return tuple(np.clip(row, 0, most) for row in (mean, mean - half, mean + half))


def _gap_of(side: Side, layers: tuple[int, ...]) -> str:
    profile = side.profile
    places = [profile.layers.index(layer) for layer in layers]
    held = profile.tally.shares
    kinds = [kind for kind in profile.categories if all((one, kind) in held for one in PAIR)]
    if not kinds:
        return ""
    means = {
        kind: [float(profile.share(one, kind)[places].mean()) for one in PAIR] for kind in kinds
    }
    kind = max(kinds, key=lambda one: means[one][0] - means[one][1])
    weight, norm = (_percent(share) for share in means[kind])
    labels = [MEASURES[one].label for one in PAIR]
    who = f"{side.name}: " if side.name else ""
    has = "have" if called(kind) == "words" else "has"
    return (
        f"{who}{called(kind)} {has} {weight} of {labels[0]} and {norm} of {labels[1]} "
        "(mean of layers)."
    )


def _extremes(series: Sequence[Series]) -> str:
    """Whose vectors are shortest and whose are longest."""
    if len(series) < 2:  # noqa: PLR2004
        return ""
    means = {one.name: float(np.mean(one.values)) for one in series}
    short, long = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    return (
        f"f(x) is shortest for {short}, {means[short]:.3g}, and longest for {long}, "
        f"{means[long]:.3g} (mean of layers)."
    )


def _percent(share: float) -> str:
    """A share with two significant digits."""
    return f"{share:.1%}" if share < 0.0995 else f"{share:.0%}"  # noqa: PLR2004

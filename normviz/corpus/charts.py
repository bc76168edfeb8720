"""Profiles as curves over the layers: α next to ‖αf(x)‖, for one profile or two."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from normviz.core.catalog import MEASURES, split_statistic, statistic_id
from normviz.core.chart import Chart, Series
from normviz.corpus.moments import Moments
from normviz.corpus.profile import Profile
from normviz.corpus.sums import COMPARED
from normviz.derived.headline import category_label

VALUE_NORM = "value-norm"
MAX_NAME = 16
"""How many letters of a profile's name fit next to a curve."""
MAX_SHARE = 1.0


@dataclass(frozen=True)
class ProfileSeries:
    """One of the profiles drawn together, with the name and the line style of its curves."""

    profile: Profile
    name: str = ""
    dashed: bool = False

    def label(self, curve: str) -> str:
        """Return the label of a curve; of a long name only the end, which differs, is kept."""
        end = self.name.rstrip("/").rpartition("/")[2]
        short = end if len(end) <= MAX_NAME else f"…{end[1 - MAX_NAME :]}"
        return f"{curve} {short}".strip()


@dataclass(frozen=True)
class Panel:
    """The charts of one or two profiles over the same layers."""

    profiles: tuple[ProfileSeries, ...]
    layers: tuple[int, ...]

    def charts(self) -> tuple[Chart, ...]:
        """Return the charts: shares of α and ‖αf(x)‖, ‖f(x)‖, mixing ratios, other shares.

        Measures that may be negative have no shares to draw and are left out, and so is what only
        one of two profiles holds.
        """
        each = ({name for name, _ in one.profile.sums.shares} for one in self.profiles)
        held = set.intersection(*each)
        others = [name for name in MEASURES if name in held and name not in COMPARED]
        charts = [
            *(self.shares(name) for name in COMPARED if name in held),
            self.value_norms(),
            self.mixing(),
            *(self.shares(name) for name in others if not MEASURES[name].signed),
        ]
        return tuple(chart for chart in charts if chart.series)

    def shares(self, measure: str) -> Chart:
        """Return a chart of each category's share of a measure."""
        label = MEASURES[measure].label
        series = self._by_category("shares", measure, limit=MAX_SHARE)
        about = f"{MEASURES[measure].meaning}, as shares of each text by category of the key"
        finding = self._largest_gap() if measure == COMPARED[0] else ""
        quoted = label if {"α", "‖"} & {*label} else f"“{label}”"
        return self._chart(f"share of {quoted}", about, series, finding, by_category=True)

    def value_norms(self) -> Chart:
        """Return a chart of the mean ‖f(x)‖ of each category."""
        label = MEASURES[VALUE_NORM].label
        series = self._by_category("means", VALUE_NORM)
        about = f"mean {label} of the tokens of each category, in the model's own units"
        return self._chart(label, about, series, _extremes(series), by_category=True, unit=label)

    def mixing(self) -> Chart:
        """Return a chart of the mixing ratio of each rung of the ladder."""
        means = [one.profile.sums.means for one in self.profiles]
        rungs = [
            name
            for name in MEASURES
            if all((statistic_id("mixing", name), "all") in held for held in means)
        ]
        series = [
            curve
            for rung in rungs
            for curve in self._curves(
                "means", statistic_id("mixing", rung), "all", MEASURES[rung].label, MAX_SHARE
            )
        ]
        about = "mixing ratio: the share of a token's vector that comes from other tokens, mean"
        means_text = [f"{one.name} {_percent(float(np.mean(one.values)))}" for one in series]
        finding = f"From other tokens, mean of layers: {', '.join(means_text)}." if series else ""
        return self._chart("share from other tokens", about, series, finding)

    def _chart(
        self,
        title: str,
        about: str,
        series: Sequence[Series],
        finding: str = "",
        *,
        by_category: bool = False,
        unit: str = "",
    ) -> Chart:
        counts = sorted({one.profile.texts for one in self.profiles})
        label = f"mean of {' and '.join(f'{count:,}' for count in counts)} texts"
        if any(curve.low for curve in series):
            about += "; bands: 95% intervals between texts"
        return Chart(title, about, label, self.layers, tuple(series), finding, unit, by_category)

    def _by_category(self, table: str, measure: str, limit: float = np.inf) -> list[Series]:
        categories = dict.fromkeys(
            category for one in self.profiles for category in one.profile.categories
        )
        return [
            curve
            for category in categories
            for curve in self._curves(table, measure, category, category_label(category), limit)
        ]

    def _curves(
        self, table: str, measure: str, category: str, name: str, limit: float
    ) -> Iterator[Series]:
        """Yield the curve of each profile that has one; mixing ratios are grouped by rung."""
        group = measure if split_statistic(measure)[0] == "mixing" else category
        for one in self.profiles:
            held: dict[tuple[str, str], Moments] = getattr(one.profile.sums, table)
            indices = [one.profile.layers.index(layer) for layer in self.layers]
            if (measure, category) in held:
                rows = _with_interval(held[measure, category], indices, limit)
                if np.isfinite(rows[0]).all():
                    values, low, high = (tuple(row.tolist()) for row in rows)
                    curve = Series(one.label(name), values, group, one.dashed)
                    single = one.profile.texts < 2  # noqa: PLR2004
                    yield curve if single else replace(curve, low=low, high=high)

    def _largest_gap(self) -> str:
        """Return a sentence for each profile on where α and ‖αf(x)‖ differ most."""
        return " ".join(_largest_gap(one, self.layers) for one in self.profiles).strip()


def _with_interval(moments: Moments, indices: list[int], limit: float) -> tuple[np.ndarray, ...]:
    """Return mean, low and high over all heads at some layers, clipped to what is possible."""
    mean = moments.means[indices, -1]
    half = np.nan_to_num(moments.interval[indices, -1])
    return tuple(np.clip(row, 0, limit) for row in (mean, mean - half, mean + half))


def _largest_gap(one: ProfileSeries, layers: tuple[int, ...]) -> str:
    profile = one.profile
    indices = [profile.layers.index(layer) for layer in layers]
    held = profile.sums.shares
    categories = [
        category for category in profile.categories if all((m, category) in held for m in COMPARED)
    ]
    if not categories:
        return ""
    means = {
        category: [float(profile.share(m, category)[indices].mean()) for m in COMPARED]
        for category in categories
    }
    category = max(categories, key=lambda name: means[name][0] - means[name][1])
    weight, norm = (_percent(share) for share in means[category])
    labels = [MEASURES[measure].label for measure in COMPARED]
    prefix = f"{one.name}: " if one.name else ""
    name = category_label(category)
    verb = "have" if name == "words" else "has"
    return (
        f"{prefix}{name} {verb} {weight} of {labels[0]} and {norm} of {labels[1]} (mean of layers)."
    )


def _extremes(series: Sequence[Series]) -> str:
    """Return a sentence on which category's vectors are shortest, and which are longest."""
    if len(series) < 2:  # noqa: PLR2004
        return ""
    means = {curve.name: float(np.mean(curve.values)) for curve in series}
    short, long = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    return (
        f"f(x) is shortest for {short}, {means[short]:.3g}, and longest for {long}, "
        f"{means[long]:.3g} (mean of layers)."
    )


def _percent(share: float) -> str:
    """Return a share with two significant digits."""
    return f"{share:.1%}" if share < 0.0995 else f"{share:.0%}"  # noqa: PLR2004

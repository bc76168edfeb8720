"""Charts that a flow can hold: curves over the layers, such as the result of a study.

Plain Python: a study or the user makes a chart, and the profile view draws it.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from normviz.errors import BadArrays

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from normviz.core.words import Centimeters


@dataclass(frozen=True)
class Series:
    """One curve: a number for each layer of its chart, none of them negative."""

    name: str
    """The label at its end."""
    values: tuple[float, ...]
    group: str = ""
    """Curves of one group have one hue; without a group, a curve is a group of its own."""
    dashed: bool = False
    """Whether it is the second of a pair of curves."""
    faint: bool = False
    """Whether it is a baseline for the others: a thin gray line."""
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None
    """The band of uncertainty around the values."""

    def __post_init__(self) -> None:
        """Refuse half a band, and values that do not fit on an axis that begins at zero."""
        rows = [row for row in (self.values, self.low, self.high) if row is not None]
        if (self.low is None) != (self.high is None) or len({len(row) for row in rows}) != 1:
            raise BadArrays(
                f"The curve {self.name!r} has rows of {[len(row) for row in rows]} values.",
                "Expected as many low and high as values, or neither.",
                "Pass low and high together.",
            )
        if not all(0 <= value < math.inf for row in rows for value in row):
            raise BadArrays(
                f"The curve {self.name!r} holds a number that is negative or not finite.",
                "Expected numbers from 0 on.",
                "Leave out what is not known; use absolute values where there are signs.",
            )

    @property
    def highest(self) -> float:
        """The largest value of the curve, including its band."""
        return max((*self.values, *(self.high or ())), default=0.0)


@dataclass(frozen=True)
class Chart:
    """Curves over the layers of a model, with their texts."""

    title: str
    about: str
    """What is drawn, in one sentence."""
    label: str
    """The label of the vertical axis."""
    layers: tuple[int, ...]
    """Numbered from 0, as in the model."""
    series: tuple[Series, ...]
    finding: str = ""
    """What the chart shows, in one sentence."""
    unit: str = ""
    """The unit of the numbers; empty for shares of 1, which have the same axis in all charts."""
    kinds: bool = False
    """Whether groups are categories of tokens: these have the same hues in every view."""

    def __post_init__(self) -> None:
        """Refuse unsorted layers, curves of another length, and shares above 1."""
        if not self.layers or list(self.layers) != sorted(set(self.layers)):
            raise BadArrays(
                f"The chart {self.title!r} has the layers {self.layers}.",
                "Expected layers in ascending order, each once.",
                "Sort them.",
            )
        for series in self.series:
            if len(series.values) != len(self.layers):
                raise BadArrays(
                    f"The curve {series.name!r} has {len(series.values)} values.",
                    f"The chart has {len(self.layers)} layers.",
                    "Pass one value for each layer.",
                )
            if not self.unit and series.highest > 1:
                raise BadArrays(
                    f"The curve {series.name!r} holds a number that is not a share.",
                    "Expected shares from 0 to 1.",
                    "Divide by what the numbers are a share of, or give the chart a unit.",
                )

    def to_dict(self) -> dict[str, Any]:
        """Return the chart as JSON can hold it."""
        return asdict(self)

    def plot(self, ax: "Axes | None" = None, *, width_cm: "Centimeters" = 8.5) -> "Axes":
        """Draw the curves on matplotlib axes, by default on new ones `width_cm` wide."""
        from normviz.view.figures.curves import plot_chart

        return plot_chart(self, ax, width_cm=width_cm)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Chart":
        """Return the chart that `to_dict` wrote."""
        series = tuple(Series(**_with_tuples(one)) for one in plain["series"])
        return cls(**{**_with_tuples(plain), "series": series})


def _with_tuples(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values with tuples in place of lists."""
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()
    }

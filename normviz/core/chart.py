"""Charts that a flow can carry: curves over the layers, such as the result of a study.

Plain Python: a chart is made once, by whoever knows the numbers, and drawn by the profile view.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from normviz.errors import BadArrays

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Series:
    """One curve: a number for each layer of its chart, none below zero."""

    name: str
    """What stands at its end."""
    values: tuple[float, ...]
    group: str = ""
    """Curves of one group have one hue; its name, where it has none, is the group."""
    dashed: bool = False
    """Whether it is the other of two that belong together."""
    faint: bool = False
    """Whether it only says what the others are to be measured against: a thin gray line."""
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None
    """Between which values the truth may lie."""

    def __post_init__(self) -> None:
        """Refuse half a band, and what cannot stand on an axis that begins at zero."""
        rows = [row for row in (self.values, self.low, self.high) if row is not None]
        if (self.low is None) != (self.high is None) or len({len(row) for row in rows}) != 1:
            raise BadArrays(
                f"The curve {self.name!r} has rows of {[len(row) for row in rows]} values.",
                "As many low and high as values are wanted, or neither.",
                "Give low and high together.",
            )
        if not all(0 <= value < math.inf for row in rows for value in row):
            raise BadArrays(
                f"The curve {self.name!r} holds a number that is negative or not finite.",
                "Numbers from 0 on are wanted.",
                "Leave out what is not known; draw sizes where there are signs.",
            )

    @property
    def highest(self) -> float:
        """How high the curve reaches, with its band."""
        return max((*self.values, *(self.high or ())), default=0.0)


@dataclass(frozen=True)
class Chart:
    """Curves over the layers of a model, with the words that belong to them."""

    title: str
    about: str
    """What is drawn, in a sentence."""
    label: str
    """What the upright axis shows."""
    layers: tuple[int, ...]
    """Numbered from 0, as in the model."""
    series: tuple[Series, ...]
    finding: str = ""
    """What is to be seen, in a sentence."""
    unit: str = ""
    """What the numbers are counted in; empty for shares of 1, which have one axis in all charts."""
    kinds: bool = False
    """Whether groups are kinds of token: these have the hues they have in every view."""

    def __post_init__(self) -> None:
        """Refuse layers out of order, curves of another length, and what is no share."""
        if not self.layers or list(self.layers) != sorted(set(self.layers)):
            raise BadArrays(
                f"The chart {self.title!r} has the layers {self.layers}.",
                "Layers in order are wanted, each once.",
                "Sort them.",
            )
        for series in self.series:
            if len(series.values) != len(self.layers):
                raise BadArrays(
                    f"The curve {series.name!r} has {len(series.values)} values.",
                    f"The chart has {len(self.layers)} layers.",
                    "Give one value for each layer.",
                )
            if not self.unit and series.highest > 1:
                raise BadArrays(
                    f"The curve {series.name!r} holds a number that is no share.",
                    "Shares are wanted, from 0 to 1.",
                    "Divide by what the numbers are a share of, or give the chart a unit.",
                )

    def to_dict(self) -> dict[str, Any]:
        """The chart in words and numbers that JSON can hold."""
        return asdict(self)

    def plot(self, ax: "Axes | None" = None, **options: Any) -> "Axes":
        """Draw the curves on matplotlib axes, new ones where none are given (`width_cm` wide)."""
        from normviz.view.figures.curves import plot

        return plot(self, ax, **options)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Chart":
        """The chart that `to_dict` wrote."""
        series = tuple(Series(**_locked(one)) for one in plain["series"])
        return cls(**{**_locked(plain), "series": series})


def _locked(plain: Mapping[str, Any]) -> dict[str, Any]:
    """The same with tuples for lists."""
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()
    }

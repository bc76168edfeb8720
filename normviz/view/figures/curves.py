"""A chart of curves over the layers, on matplotlib axes: the figure of a study for a paper."""

from typing import TYPE_CHECKING

from normviz.core.chart import Chart, Series
from normviz.system.optional import require_packages
from normviz.view.figures import Size
from normviz.view.figures.colors import CHROMA, PALETTES, oklch

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HUES = (295, 190, 55, 345, 120, 235)
"""One for each group of curves, as on the screen (`js/src/views/profile/charts.ts`)."""
MARKS = "osD^vP"
INK = PALETTES["light"]
INCH = 2.54
TALL = 0.68
"""How tall a figure is for its width."""


def plot(chart: Chart, ax: "Axes | None" = None, *, width_cm: Size = 8.5) -> "Axes":
    """Draw a chart on these axes, or on new ones in a figure of this width."""
    with require_packages("matplotlib", extra="figures"):
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator, PercentFormatter

    if ax is None:
        size = (width_cm / INCH, width_cm / INCH * TALL)
        ax = Figure(figsize=size, layout="constrained").add_subplot()
    for curve in chart.series:
        _draw(ax, chart, curve)
    ax.set_title(chart.title, fontsize="medium", loc="left")
    ax.set_xlabel("layer")
    ax.set_ylabel(chart.label)
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    if not chart.unit:
        ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.legend(frameon=False, fontsize="small")
    return ax


def _draw(ax: "Axes", chart: Chart, curve: Series) -> None:
    groups = list(dict.fromkeys(one.group or one.name for one in chart.series if not one.faint))
    if curve.faint:
        ax.plot(chart.layers, curve.values, color=INK.soft, lw=0.8, label=curve.name)
        return
    place = groups.index(curve.group or curve.name)
    color = oklch(INK.lightness, CHROMA, HUES[place % len(HUES)])
    if curve.low is not None and curve.high is not None:
        ax.fill_between(chart.layers, curve.low, curve.high, color=color, alpha=0.15, lw=0)
    line, mark = "--" if curve.dashed else "-", MARKS[place % len(MARKS)]
    ax.plot(chart.layers, curve.values, line, color=color, marker=mark, ms=3.5, label=curve.name)

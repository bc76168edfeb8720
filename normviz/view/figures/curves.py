"""The charts of a study (curves over the layers) on matplotlib axes."""

from typing import TYPE_CHECKING

from normviz.core.chart import Chart, Series
from normviz.system.optional import require_packages
from normviz.view.figures import Size
from normviz.view.figures.colors import CHROMA, PALETTES, oklch_to_hex

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HUES = (295, 190, 55, 345, 120, 235)
"""The hue of each group of curves, as in the view (`js/src/views/profile/charts.ts`)."""
MARKS = "osD^vP"
INK = PALETTES["light"]
INCH = 2.54
ASPECT = 0.68
"""The height of a figure, divided by its width."""


def plot_chart(chart: Chart, ax: "Axes | None" = None, *, width_cm: Size = 8.5) -> "Axes":
    """Draw a chart on axes, by default new ones in a figure of this width, and return them."""
    with require_packages("matplotlib", extra="figures"):
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator, PercentFormatter

    if ax is None:
        size = (width_cm / INCH, width_cm / INCH * ASPECT)
        ax = Figure(figsize=size, layout="constrained").add_subplot()
    for series in chart.series:
        _draw_series(ax, chart, series)
    ax.set_title(chart.title, fontsize="medium", loc="left")
    ax.set_xlabel("layer")
    ax.set_ylabel(chart.label)
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    if not chart.unit:
        ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    for spine in ("top", "right"):
        ax.spines[spine].set_visible(False)
    ax.legend(frameon=False, fontsize="small")
    return ax


def _draw_series(ax: "Axes", chart: Chart, series: Series) -> None:
    groups = list(dict.fromkeys(s.group or s.name for s in chart.series if not s.faint))
    if series.faint:
        ax.plot(chart.layers, series.values, color=INK.soft, lw=0.8, label=series.name)
        return
    group = groups.index(series.group or series.name)
    color = oklch_to_hex(INK.lightness, CHROMA, HUES[group % len(HUES)])
    if series.low is not None and series.high is not None:
        ax.fill_between(chart.layers, series.low, series.high, color=color, alpha=0.15, lw=0)
    line, mark = "--" if series.dashed else "-", MARKS[group % len(MARKS)]
    ax.plot(chart.layers, series.values, line, color=color, marker=mark, ms=3.5, label=series.name)

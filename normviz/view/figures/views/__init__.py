"""The views that figures can be made of: what each draws, and what its legend says.

Each module has a function that adds the marks of a pane to a sheet and returns the height of its
bottom, and one that returns the legend.
"""

from collections.abc import Callable
from typing import NamedTuple

from normviz.view.figures import Size
from normviz.view.figures.legend import Legend
from normviz.view.figures.marks import Drawing
from normviz.view.figures.panes import Pane
from normviz.view.figures.views.alignment import draw_alignment, explain_alignment
from normviz.view.figures.views.flow import draw_flow, explain_flow
from normviz.view.figures.views.grid import draw_grid, explain_grid
from normviz.view.figures.views.matrix import draw_matrix, explain_matrix
from normviz.view.figures.views.place import Place
from normviz.view.figures.views.profile import draw_profile, explain_profile
from normviz.view.figures.views.stack import draw_stack, explain_stack
from normviz.view.figures.views.text import draw_text, explain_text


class FigureView(NamedTuple):
    """How a view is drawn, and explained."""

    draw: Callable[[Drawing, Pane, Place], Size]
    explain: Callable[[Pane, Place], Legend]


FIGURE_VIEWS = {
    "flow": FigureView(draw_flow, explain_flow),
    "stack": FigureView(draw_stack, explain_stack),
    "grid": FigureView(draw_grid, explain_grid),
    "matrix": FigureView(draw_matrix, explain_matrix),
    "profile": FigureView(draw_profile, explain_profile),
    "alignment": FigureView(draw_alignment, explain_alignment),
    "text": FigureView(draw_text, explain_text),
}
"""Every view that can be drawn without a browser, by name."""

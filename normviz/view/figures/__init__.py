"""Figures of a flow for a paper, made without a browser.

In comes a flow and a checked `ViewState`; `picture` selects the numbers, `geometry` and `drawing`
place them as marks (`marks`), and `svg` or `matplotlib` write the marks. `files` has the functions
behind `flow.to_svg`, `flow.to_png` and `flow.plot`; `curves` plots the charts of a study.
"""

Size = float | int
"""A length in pixels or centimeters, or a share."""

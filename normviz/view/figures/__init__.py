"""Figures of a flow for a paper, made without a browser.

In comes a flow and a checked `ViewState`, which become `panes`; `picture` and `trace` select the
numbers, `geometry` and the modules of `views` place them as marks (`marks`) on the sheet of
`drawing`, and `svg` or `matplotlib` write the marks. `files` has the functions behind
`flow.to_svg`, `flow.to_pdf`, `flow.to_png` and `flow.plot`; `figure` adds a caption and LaTeX;
`curves` plots the charts of a study.
"""

Size = float | int
"""A length in pixels or centimeters, or a share."""

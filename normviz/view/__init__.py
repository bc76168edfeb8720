"""The view side: a flow as a widget, a page, or a figure.

In comes a `Flow` and what to show of it (`state.ViewOptions`); out come a `FlowWidget` for
notebooks, one self-contained HTML page (`page`), the same page in an iframe (`frame`), or a figure
made without a browser (`figures`). `payload` packs a flow for the TypeScript view as a JSON header
and one buffer of tiles; `report` does the same for the charts of a corpus. No torch here.
"""

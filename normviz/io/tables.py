"""A flow's numbers for those who compute on: dataframes and labeled arrays."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from normviz.core.catalog import MEASURES, require_known
from normviz.core.stream import Stream
from normviz.system.optional import require_packages

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


def dataframe(
    stream: Stream, measure: str, *, layer: int | None = None, head: int | None = None
) -> "pd.DataFrame":
    """One row for each number: the axis words, the pieces of query and key, and the value."""
    with require_packages("pandas", extra="tables"):
        import pandas as pd

    measure = stream.require_held(measure)
    axes = MEASURES[measure].axes
    if head is not None:
        require_known(head, stream.heads if "head" in axes else (), "head")
    if layer is not None:
        require_known(layer, stream.layers, "layer")
    frames = []
    for number in stream.layers if layer is None else (layer,):
        values = stream.at(measure, number)
        labels = [np.array(_labels(stream, axis)) for axis in axes[1:]]
        if head is not None:
            values = values[[stream.heads.index(head)]]
            labels[0] = np.array([head])
        grid = np.meshgrid(*labels, indexing="ij")
        columns: dict[str, Any] = {
            axis: column.ravel() for axis, column in zip(axes[1:], grid, strict=True)
        }
        frames.append(pd.DataFrame({**columns, "value": values.ravel()}))
        frames[-1].insert(0, "layer", number)
    table = pd.concat(frames, ignore_index=True)
    for axis, tokens in (("query", stream.queries), ("key", stream.keys)):
        if axis in table:
            pieces = np.array(tokens.pieces, dtype=object)
            table.insert(len(table.columns) - 1, f"{axis}_piece", pieces[table[axis].to_numpy()])
    return table


def dataarray(stream: Stream, measure: str) -> "xr.DataArray":
    """A measure with the axis words as dimensions, and the pieces as extra coordinates."""
    with require_packages("xarray", extra="tables"):
        import xarray as xr

    measure = stream.require_held(measure)
    values = stream[measure]
    axes = MEASURES[measure].axes
    coordinates: dict[str, tuple[str, list[int] | list[str]]] = {
        axis: (axis, list(_labels(stream, axis))) for axis in axes
    }
    for axis, tokens in (("query", stream.queries), ("key", stream.keys)):
        if axis in axes:
            coordinates[f"{axis}_piece"] = (axis, list(tokens.pieces))
    meaning = MEASURES[measure].meaning
    return xr.DataArray(values, coordinates, axes, measure, {"long_name": meaning})


def tidy(columns: Mapping[str, Sequence[Any] | np.ndarray]) -> "pd.DataFrame":
    """A dataframe of these columns."""
    with require_packages("pandas", extra="tables"):
        import pandas as pd

    return pd.DataFrame(dict(columns))


def _labels(stream: Stream, axis: str) -> range | tuple[int, ...]:
    """What the places along an axis are numbered."""
    if axis == "layer":
        return stream.layers
    return stream.heads if axis == "head" else range(stream.size(axis))

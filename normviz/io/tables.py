"""The numbers of a flow as pandas dataframes and xarray arrays."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from normviz.core.catalog import MEASURES, require_known
from normviz.core.stream import Stream
from normviz.system.optional import require_packages

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


def dataframe_of(columns: Mapping[str, Sequence[Any] | np.ndarray]) -> "pd.DataFrame":
    """Return a dataframe of these columns; every table of normviz is made here."""
    with require_packages("pandas", extra="tables"):
        import pandas as pd

    return pd.DataFrame(dict(columns))


def to_dataframe(
    stream: Stream, measure: str, *, layer: int | None = None, head: int | None = None
) -> "pd.DataFrame":
    """Return one row for each number: axis words, pieces of query and key, and the value."""
    measure = stream.require_held(measure)
    axes = MEASURES[measure].axes
    if head is not None:
        require_known(head, stream.heads if "head" in axes else (), "head")
    if layer is not None:
        require_known(layer, stream.layers, "layer")
    labels = {axis: np.array(_labels(stream, axis)) for axis in axes}
    labels["layer"] = np.array(stream.layers if layer is None else [layer])
    values = np.stack([stream.at(measure, int(number)) for number in labels["layer"]])
    if head is not None:
        values = values[:, [stream.heads.index(head)]]
        labels["head"] = np.array([head])
    grid = np.meshgrid(*labels.values(), indexing="ij")
    columns: dict[str, np.ndarray] = {
        axis: column.ravel() for axis, column in zip(labels, grid, strict=True)
    }
    for axis, tokens in (("query", stream.queries), ("key", stream.keys)):
        if axis in axes:
            columns[f"{axis}_piece"] = np.array(tokens.pieces, dtype=object)[columns[axis]]
    return dataframe_of({**columns, "value": values.ravel()})


def to_xarray(stream: Stream, measure: str) -> "xr.DataArray":
    """Return a measure with the axis words as dimensions, and the pieces as extra coordinates."""
    with require_packages("xarray", extra="tables"):
        import xarray as xr

    measure = stream.require_held(measure)
    axes = MEASURES[measure].axes
    coordinates: dict[str, tuple[str, list[int] | list[str]]] = {
        axis: (axis, list(_labels(stream, axis))) for axis in axes
    }
    for axis, tokens in (("query", stream.queries), ("key", stream.keys)):
        if axis in axes:
            coordinates[f"{axis}_piece"] = (axis, list(tokens.pieces))
    values = np.stack([stream.at(measure, layer) for layer in stream.layers])
    meaning = MEASURES[measure].meaning
    return xr.DataArray(values, coordinates, axes, measure, {"long_name": meaning})


def _labels(stream: Stream, axis: str) -> range | tuple[int, ...]:
    """Return the numbers of the entries along an axis, as in the model."""
    if axis == "layer":
        return stream.layers
    return stream.heads if axis == "head" else range(stream.size(axis))

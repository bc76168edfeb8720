"""Everything one figure shows of a flow: what the view draws (`js/src/data/layer.ts`)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from normviz.core.catalog import MEASURES, Measure
from normviz.core.flow import Flow
from normviz.core.stream import Stream
from normviz.core.tokens import Tokens
from normviz.view.figures import Size
from normviz.view.state import Role, ViewState

Numbers = NDArray[Any]


@dataclass(frozen=True)
class Bars:
    """Bars beside the keys, and the number that a bar of full length stands for."""

    values: Numbers
    """[plane key]"""
    heads: tuple[int | None, ...]
    """The head of each plane, by the model's number; None for all heads together."""
    unit: Size

    @property
    def totals(self) -> Numbers:
        """The number of each whole bar [key]."""
        return np.asarray(self.values.sum(axis=0, dtype=np.float64))


@dataclass(frozen=True)
class Picture:
    """One layer of a measure, as a view shows it."""

    measure: Measure
    layer: int
    scale: str
    heads: tuple[int | None, ...]
    """The head of each plane, by the model's number; None for the mean of all heads."""
    heads_held: int
    """How many heads the stream has; 0 where the measure has none."""
    queries: Tokens
    keys: Tokens
    values: Numbers
    """[plane query key]; no planes where the measure has no query axis.

    Planes add up to the mean over the heads shown.
    """
    sizes: Numbers
    """The widths to draw, before scaling [strand query key]; never negative.

    A strand is a plane; or, of a measure that may be negative, one sign of all planes.
    """
    units: Numbers
    """The number that a full row stands for [query]."""
    smallest_drawn: Size
    """Nothing smaller is drawn."""
    hidden: Size
    """The share of the sum that is hidden with the special tokens."""
    shares: Bars | None
    """Each key's share of all that the visible queries receive; None without queries."""
    norms: Bars | None
    focus: tuple[Role, int] | None
    """The pinned token: its role, and its row there."""

    def pinned_row(self, role: Role) -> int | None:
        """Return the row of the pinned token in a role; None where none is pinned in it."""
        return self.focus[1] if self.focus is not None and self.focus[0] == role else None


def make_picture(flow: Flow, state: ViewState) -> Picture:
    """Return what a state shows of a flow."""
    tokens = flow.stream(state.stream)
    stream = tokens.words() if state.words else tokens
    measure = MEASURES[state.measure]
    rows = {role: visible_rows(side, state.special) for role, side in _by_role(stream).items()}
    values = select_layer(stream, measure, state.layer, state.heads)
    visible = values[:, rows["query"]][:, :, rows["key"]] if values.size else values
    sizes = _split_by_sign(visible) if measure.signed else visible
    by_head = "head" in measure.axes
    shares = _make_shares(stream, measure, state, rows)
    return Picture(
        measure=measure,
        layer=state.layer,
        scale=state.normalize,
        heads=_plane_heads(measure, state.heads),
        heads_held=len(stream.heads) if by_head else 0,
        queries=stream.queries.take(rows["query"]),
        keys=stream.keys.take(rows["key"]),
        values=visible,
        sizes=sizes,
        units=_row_units(sizes, tokens, measure, state),
        smallest_drawn=state.threshold * float(sizes.max(initial=0)),
        hidden=_hidden_share(shares, len(stream.keys)),
        shares=shares,
        norms=_make_norms(stream, tokens, state, rows["key"]),
        focus=_find_focus(tokens, state, rows),
    )


def _split_by_sign(values: Numbers) -> Numbers:
    """Return what all planes have above zero, then what they have below it [sign query key]."""
    return np.stack([np.maximum(sign * values, 0).sum(axis=0) for sign in (1, -1)])


def _plane_heads(measure: Measure, heads: list[int] | None) -> tuple[int | None, ...]:
    return (None,) if heads is None or "head" not in measure.axes else tuple(heads)


def _by_role(stream: Stream) -> dict[Role, Tokens]:
    return {"query": stream.queries, "key": stream.keys}


def visible_rows(tokens: Tokens, special: str) -> list[int]:
    """Return the rows to show; of a text that has only special tokens, all of them."""
    rows = list(range(len(tokens)))
    visible = [row for row in rows if special != "hidden" or not tokens.special[row]]
    return visible or rows


def select_layer(stream: Stream, measure: Measure, layer: int, heads: list[int] | None) -> Numbers:
    """Return a layer of a measure [plane query key]: one plane for each of the chosen heads.

    Without a choice there is one plane, the mean of all heads. The planes of chosen heads are
    divided by their number, so that they add up to their mean.
    """
    if "query" not in measure.axes:
        return np.zeros((0, len(stream.queries), len(stream.keys)), np.float32)
    values = stream.at(measure.id, layer)
    return _mean_planes(values, stream, heads) if "head" in measure.axes else values[None]


def _mean_planes(values: Numbers, stream: Stream, heads: list[int] | None) -> Numbers:
    """Return planes that add up to the mean of the heads: one, or one for each chosen head."""
    if heads is None:
        return np.asarray(values.mean(axis=0, keepdims=True))
    return np.asarray(values[[stream.heads.index(head) for head in heads]] / len(heads))


def _row_units(sizes: Numbers, stream: Stream, measure: Measure, state: ViewState) -> Numbers:
    received = sizes.sum(axis=(0, 2), dtype=np.float64)
    if state.normalize == "query":
        units = received
    elif state.normalize == "absolute":
        units = np.full(len(received), _ceiling(stream, measure, state.heads))
    else:
        units = np.full(len(received), received.max(initial=0))
    return np.where(units > 0, units, 1.0)


def _ceiling(stream: Stream, measure: Measure, heads: list[int] | None) -> Size:
    """Return the most that any token can receive in any layer, as the mean of these heads."""
    tops = []
    for layer in stream.layers:
        values = np.abs(stream.at(measure.id, layer))
        received = values.sum(axis=-1) if "query" in measure.axes else values
        if "head" in measure.axes:
            tops.append(_mean_planes(received.max(axis=-1), stream, heads).sum())
        else:
            tops.append(received.max())
    return float(max(tops))


def _make_shares(
    stream: Stream, measure: Measure, state: ViewState, rows: dict[Role, list[int]]
) -> Bars | None:
    """Return each key's share of what the visible queries receive, as `Stream.shares` counts it.

    Negative numbers count by their absolute value, before heads are added up. Hidden keys are part
    of the whole.
    """
    if "query" not in measure.axes:
        return None
    sizes = np.abs(stream.at(measure.id, state.layer))
    # Where hues stand for signs, they cannot stand for the heads of a bar as well.
    one = measure.signed or "head" not in measure.axes or state.heads is None
    if "head" in measure.axes and state.heads is not None:
        sizes = sizes[[stream.heads.index(head) for head in state.heads]]
    given = sizes.reshape(-1, *sizes.shape[-2:])[:, rows["query"]].sum(axis=1, dtype=np.float64)
    shares = given / (given.sum() or 1.0)  # plane key
    visible = (shares.sum(axis=0, keepdims=True) if one else shares)[:, rows["key"]]
    heads = (None,) if one else tuple(state.heads or ())
    return Bars(visible, heads, float(visible.sum(axis=0).max(initial=0)) or 1.0)


def _hidden_share(shares: Bars | None, keys: int) -> Size:
    if shares is None or len(shares.totals) == keys or not shares.totals.any():
        return 0.0
    return float(1 - shares.totals.sum())


def _make_norms(stream: Stream, tokens: Stream, state: ViewState, keys: list[int]) -> Bars | None:
    if "value-norm" not in stream:
        return None
    measure = MEASURES[state.measure]
    heads = state.heads if "head" in measure.axes else None
    values = _mean_planes(stream.at("value-norm", state.layer), stream, heads)[:, keys]
    if measure.signed:
        values = values.sum(axis=0, keepdims=True)
    unit = float(values.sum(axis=0).max(initial=0))
    if state.normalize == "absolute":
        unit = _ceiling(tokens, MEASURES["value-norm"], heads)
    planes = (None,) if measure.signed or heads is None else tuple(heads)
    return Bars(values, planes, unit or 1.0)


def _find_focus(
    tokens: Stream, state: ViewState, rows: dict[Role, list[int]]
) -> tuple[Role, int] | None:
    token, role = state.token, state.role
    if token is None:
        return None
    row = _by_role(tokens)[role].words[token] if state.words else token
    return (role, rows[role].index(row)) if row in rows[role] else None

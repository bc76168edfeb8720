"""Everything one figure shows of a flow: what the view draws (`js/src/data/layer.ts`)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from normviz.core.catalog import MEASURES, Measure
from normviz.core.flow import Flow
from normviz.core.stream import Stream
from normviz.core.tokens import Tokens
from normviz.view.figures import Size
from normviz.view.state import OTHER_FLOW, Role, ViewState

Numbers = NDArray[Any]


@dataclass(frozen=True)
class Norms:
    """The bars beside the keys, and the number that a bar of full length stands for."""

    values: Numbers
    """[plane key]"""
    heads: tuple[int | None, ...]
    unit: Size


@dataclass(frozen=True)
class Picture:
    """One layer of a measure, as a view shows it."""

    measure: Measure
    layer: int
    scale: str
    heads: tuple[int | None, ...]
    """The head of each plane, by the model's number; None for all heads in one."""
    queries: Tokens
    keys: Tokens
    values: Numbers
    """[plane query key]; no planes where the measure has no query axis."""
    sizes: Numbers
    """The widths to draw, before scaling [strand query key]; never negative.

    A strand is a head; or, of a measure that may be negative, one sign summed over all heads.
    """
    units: Numbers
    """The number that a full row stands for [query]."""
    smallest_drawn: Size
    """Nothing smaller is drawn."""
    hidden: Size
    """The share of the sum that is hidden with the special tokens."""
    norms: Norms | None
    focus: tuple[Role, int] | None
    """The pinned token: its role, and its row there."""


class Pane(NamedTuple):
    """A picture and the title above it, empty where there is only one."""

    title: str
    picture: Picture


def make_picture(flow: Flow, state: ViewState) -> Picture:
    """Return what a state shows of a flow."""
    tokens = flow.stream(state.stream)
    stream = tokens.words() if state.words else tokens
    measure = MEASURES[state.measure]
    rows = {role: _visible_rows(side, state.special) for role, side in _by_role(stream).items()}
    heads = _heads_of(stream, state)
    values = _select_layer(stream, measure, state.layer, heads)
    visible = values[:, rows["query"]][:, :, rows["key"]] if values.size else values
    sizes = _split_by_sign(visible) if measure.signed else visible
    return Picture(
        measure=measure,
        layer=state.layer,
        scale=state.normalize,
        heads=tuple(heads) if "head" in measure.axes else (None,),
        queries=stream.queries.take(rows["query"]),
        keys=stream.keys.take(rows["key"]),
        values=visible,
        sizes=sizes,
        units=_row_units(visible, tokens, measure, heads, state.normalize),
        smallest_drawn=state.threshold * float(sizes.max(initial=0)),
        hidden=_hidden_share(values, rows),
        norms=_make_norms(stream, tokens, state, rows["key"]),
        focus=_find_focus(tokens, state, rows),
    )


def _split_by_sign(values: Numbers) -> Numbers:
    """Return what all heads have above zero, then what they have below it [sign query key]."""
    return np.stack([np.maximum(sign * values, 0).sum(axis=0) for sign in (1, -1)])


def _by_role(stream: Stream) -> dict[Role, Tokens]:
    return {"query": stream.queries, "key": stream.keys}


def _visible_rows(tokens: Tokens, special: str) -> list[int]:
    """Return the rows to show; of a text that has only special tokens, all of them."""
    rows = list(range(len(tokens)))
    visible = [row for row in rows if special != "hidden" or not tokens.special[row]]
    return visible or rows


def _heads_of(stream: Stream, state: ViewState) -> list[int]:
    return list(stream.heads) if state.heads is None else state.heads


def _select_layer(stream: Stream, measure: Measure, layer: int, heads: list[int]) -> Numbers:
    values = stream.at(measure.id, layer)
    if "query" not in measure.axes:
        return np.zeros((0, len(stream.queries), len(stream.keys)), np.float32)
    if "head" not in measure.axes:
        return values[None]
    return values[[stream.heads.index(head) for head in heads]]


def _row_units(
    values: Numbers, stream: Stream, measure: Measure, heads: list[int], scale: str
) -> Numbers:
    received = np.abs(values).sum(axis=(0, 2), dtype=np.float64)
    if scale == "query":
        units = received
    else:
        top = _ceiling(stream, measure, heads) if scale == "absolute" else received.max(initial=0)
        units = np.full(len(received), top)
    return np.where(units > 0, units, 1.0)


def _ceiling(stream: Stream, measure: Measure, heads: list[int]) -> Size:
    """Return the most that any token can receive in any layer through these heads."""
    tops = []
    for layer in stream.layers:
        values = np.abs(stream.at(measure.id, layer))
        received = values.sum(axis=-1) if "query" in measure.axes else values
        if "head" in measure.axes:
            received = received[[stream.heads.index(head) for head in heads]]
            tops.append(received.max(axis=-1).sum())
        else:
            tops.append(received.max())
    return float(max(tops))


def _hidden_share(values: Numbers, rows: dict[Role, list[int]]) -> Size:
    sizes = np.abs(values[:, rows["query"]])
    total = float(sizes.sum(dtype=np.float64))
    visible = float(sizes[:, :, rows["key"]].sum(dtype=np.float64))
    return 1 - visible / total if total > 0 and len(rows["key"]) < values.shape[2] else 0.0


def _make_norms(stream: Stream, tokens: Stream, state: ViewState, keys: list[int]) -> Norms | None:
    if "value-norm" not in stream:
        return None
    measure = MEASURES[state.measure]
    heads = _heads_of(stream, state) if "head" in measure.axes else list(stream.heads)
    values = stream.at("value-norm", state.layer)
    values = values[[stream.heads.index(head) for head in heads]][:, keys]
    summed = values.sum(axis=0, keepdims=True)
    if state.normalize == "absolute":
        unit = _ceiling(tokens, MEASURES["value-norm"], heads)
    else:
        unit = float(summed.max(initial=0))
    # Where hues stand for signs, they cannot stand for the heads of a bar as well.
    if "head" in measure.axes and not measure.signed:
        return Norms(values, tuple(heads), unit or 1.0)
    return Norms(summed, (None,), unit or 1.0)


def _find_focus(
    tokens: Stream, state: ViewState, rows: dict[Role, list[int]]
) -> tuple[Role, int] | None:
    token, role = state.token, state.role
    if token is None:
        return None
    row = _by_role(tokens)[role].words[token] if state.words else token
    return (role, rows[role].index(row)) if row in rows[role] else None


def make_panes(flows: Sequence[Flow], state: ViewState) -> list[Pane]:
    """Return the pictures of a state with their titles: one, or two where it compares."""
    flow, compare = flows[0], state.compare
    first = make_picture(flow, state)
    if compare is None:
        return [Pane("", first)]
    if compare == OTHER_FLOW:
        same_model = len({flow.receipt.model for flow in flows}) == 1
        titles = [flow.title if same_model else flow.receipt.model for flow in flows]
        return [Pane(titles[0], first), Pane(titles[1], make_picture(flows[1], state))]
    if isinstance(compare, str):
        labels = [MEASURES[name].label for name in (state.measure, compare)]
        second = make_picture(flow, replace(state, measure=compare))
        return [Pane(labels[0], first), Pane(labels[1], second)]
    second = make_picture(flow, replace(state, layer=compare))
    return [Pane(f"layer {state.layer}", first), Pane(f"layer {compare}", second)]

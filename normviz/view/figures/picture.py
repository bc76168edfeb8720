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
from normviz.view.state import OTHER

Numbers = NDArray[Any]


@dataclass(frozen=True)
class Norms:
    """The bars beside the keys, and what a bar of full length stands for."""

    values: Numbers
    """[plane key]"""
    heads: tuple[int | None, ...]
    unit: Size


@dataclass(frozen=True)
class Picture:
    """One layer of a measure, as it is looked at."""

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
    """How much there is to draw [strand query key]; never negative.

    A strand is a head; or, of numbers that may be negative, one side of zero through all heads.
    """
    units: Numbers
    """What a full row stands for, at each query."""
    least: Size
    """Nothing smaller is drawn."""
    hidden: Size
    """The share of the sum that is hidden with the special tokens."""
    norms: Norms | None
    focus: tuple[str, int] | None
    """The pinned token: its side, and its row there."""


def picture(flow: Flow, choice: dict[str, Any]) -> Picture:
    """What a checked choice (`normviz.view.state.resolve`) shows of a flow."""
    pieces = flow.stream(choice["stream"])
    stream = pieces.words() if choice["words"] else pieces
    measure = MEASURES[choice["measure"]]
    rows = {side: _shown(tokens, choice["special"]) for side, tokens in _sides(stream).items()}
    heads = _heads(stream, choice["heads"])
    by_head = "head" in measure.axes
    whole = _layer(stream, measure, choice["layer"], heads)
    values = whole[:, rows["query"]][:, :, rows["key"]] if whole.size else whole
    sizes = _by_sign(values) if measure.signed else values
    return Picture(
        measure=measure,
        layer=choice["layer"],
        scale=choice["normalize"],
        heads=tuple(heads) if by_head else (None,),
        queries=stream.queries.take(rows["query"]),
        keys=stream.keys.take(rows["key"]),
        values=values,
        sizes=sizes,
        units=_units(values, pieces, measure, heads, choice["normalize"]),
        least=choice["threshold"] * float(sizes.max(initial=0)),
        hidden=_hidden(whole, rows),
        norms=_norms(stream, pieces, choice, rows["key"], measure),
        focus=_focus(pieces, choice, rows),
    )


def _by_sign(values: Numbers) -> Numbers:
    """What all heads have above zero, then what they have below it."""
    return np.stack([np.maximum(sign * values, 0).sum(axis=0) for sign in (1, -1)])


def _sides(stream: Stream) -> dict[str, Tokens]:
    return {"query": stream.queries, "key": stream.keys}


def _shown(tokens: Tokens, special: str) -> list[int]:
    """The rows of a side; a text of special tokens only is shown as it is."""
    every = list(range(len(tokens)))
    kept = [row for row in every if special != "hidden" or not tokens.special[row]]
    return kept or every


def _heads(stream: Stream, heads: list[int] | None) -> list[int]:
    return list(stream.heads) if heads is None else heads


def _layer(stream: Stream, measure: Measure, layer: int, heads: list[int]) -> Numbers:
    values = stream.at(measure.id, layer)
    if "query" not in measure.axes:
        return np.zeros((0, len(stream.queries), len(stream.keys)), np.float32)
    if "head" not in measure.axes:
        return values[None]
    return values[[stream.heads.index(head) for head in heads]]


def _units(
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
    """The most that any token can receive in any layer, through these heads, by piece."""
    tops = []
    for layer in stream.layers:
        values = np.abs(stream.at(measure.id, layer))
        whole = values.sum(axis=-1) if "query" in measure.axes else values
        if "head" in measure.axes:
            whole = whole[[stream.heads.index(head) for head in heads]]
            tops.append(whole.max(axis=-1).sum())
        else:
            tops.append(whole.max())
    return float(max(tops))


def _hidden(values: Numbers, rows: dict[str, list[int]]) -> Size:
    seen = np.abs(values[:, rows["query"]])
    whole = float(seen.sum(dtype=np.float64))
    kept = float(seen[:, :, rows["key"]].sum(dtype=np.float64))
    return 1 - kept / whole if whole > 0 and len(rows["key"]) < values.shape[2] else 0.0


def _norms(
    stream: Stream,
    pieces: Stream,
    choice: dict[str, Any],
    keys: list[int],
    measure: Measure,
) -> Norms | None:
    if "value-norm" not in stream:
        return None
    chosen = _heads(stream, choice["heads"] if "head" in measure.axes else None)
    values = stream.at("value-norm", choice["layer"])
    values = values[[stream.heads.index(head) for head in chosen]][:, keys]
    summed = values.sum(axis=0, keepdims=True)
    if choice["normalize"] == "absolute":
        unit = _ceiling(pieces, MEASURES["value-norm"], chosen)
    else:
        unit = float(summed.max(initial=0))
    # Where hues stand for signs, the heads of a bar cannot be told apart.
    if "head" in measure.axes and not measure.signed:
        return Norms(values, tuple(chosen), unit or 1.0)
    return Norms(summed, (None,), unit or 1.0)


def _focus(
    pieces: Stream, choice: dict[str, Any], rows: dict[str, list[int]]
) -> tuple[str, int] | None:
    token, side = choice["token"], choice["side"]
    if token is None:
        return None
    row = _sides(pieces)[side].words[token] if choice["words"] else token
    return (side, rows[side].index(row)) if row in rows[side] else None


def panes(flow: Flow, choice: dict[str, Any], *others: Flow) -> list[tuple[str, Picture]]:
    """The pictures of a choice with their titles: one, or two where it compares."""
    compare = choice["compare"]
    first = picture(flow, choice)
    if compare is None:
        return [("", first)]
    if compare == OTHER:
        names = [(f.receipt.model, f.title) for f in (flow, *others)]
        titles = [title if names[0][0] == names[1][0] else model for model, title in names]
        return [(titles[0], first), (titles[1], picture(others[0], choice))]
    if isinstance(compare, str):
        labels = [MEASURES[name].label for name in (choice["measure"], compare)]
        return [(labels[0], first), (labels[1], picture(flow, {**choice, "measure": compare}))]
    beside = picture(flow, {**choice, "layer": compare})
    return [(f"layer {choice['layer']}", first), (f"layer {compare}", beside)]

"""Rollout (Abnar and Zuidema 2020): how much of each input token a measure carries upwards."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float64

from normviz.core.catalog import MEASURES, ROLLOUT_OF, require_known
from normviz.core.flow import Flow
from normviz.core.keywords import nearest_name, refuse_unknown_keywords
from normviz.core.reductions import combine_heads, row_shares
from normviz.core.stream import Layers, Stream
from normviz.core.words import ROW_SCALES
from normviz.errors import BadInput, UnknownName

if TYPE_CHECKING:
    from normviz.core.axes import StreamName
    from normviz.core.catalog import MeasureId
    from normviz.core.words import RowScale

Map = Float64[np.ndarray, "query key"]
"""One layer of a measure, all heads combined, in double precision."""

_RAW_ROWS = ("globenc",)
"""The measures whose rows are left as they are by default, as their authors do."""
_ATTENTION_BLOCK_NOTE = (
    'with rows left as they are (rows="raw"), in BERT it hardly agrees with gradients (Spearman '
    "-.21, -.06 and .08 on SST2, MNLI and HateXplain), where rollouts of attention-residual (.73, "
    ".75, .66) and globenc (.77, .78, .72), also of raw rows, do: Table 1 of Modarressi et al. "
    "2022 (GlobEnc)"
)
_PRODUCT_LIMIT = 1e30
"""Products of raw rows beyond this, or below its inverse, would leave single precision."""
_SCALED_NOTE = (
    "from layer {layer} on divided by a constant, because the products leave single precision; "
    "numbers of one layer compare, those of different layers do not"
)
_NORMALIZED_NOTE = "; rows are normalized here, for which the paper has no number"


@refuse_unknown_keywords
def rollout(
    flow: Flow,
    measure: "MeasureId",
    *,
    identity: bool | None = None,
    rows: "RowScale | None" = None,
    stream: "StreamName | None" = None,
) -> Flow:
    """Return the flow with `rollout:<measure>`: how much of each input token reaches each layer.

    R_0 = A_0 and R_l = A_l R_(l-1), where A_l is the measure in layer l, from the tokens below
    (`key`) to those above (`query`); `weight` is averaged over heads, `weighted-norm` is summed.
    The receipt notes how it was computed.

    Parameters
    ----------
    flow
        A flow that holds the measure in every layer from 0 on.
    measure
        The measure to roll out; rungs that coincide in a model have one rollout.
    identity
        Whether each layer is ½A + ½I, to model the residual connection (Abnar and Zuidema 2020).
        By default only for measures that do not include it: `weight`, `weighted-norm`,
        `attention`, `feed-forward`.
    rows
        `"normalized"` for rows of A that add up to one, before any identity; or `"raw"`. By
        default normalized, except those of `globenc`: its authors multiply the norms as they are.
    stream
        Which self-attention, where there are several.
    """
    _require_rollout(measure)
    if rows is not None:
        require_known(rows, ROW_SCALES, "row scale")
    chosen = require_stacked(flow.stream(stream))
    base = chosen.canonical_id(measure)
    is_raw = base in _RAW_ROWS if rows is None else rows == "raw"
    has_identity = not MEASURES[base].has_residual if identity is None else identity
    maps: list[Map] = []
    scaled: list[int] = []
    for layer in chosen.layers:
        step = combined_map(chosen, base, layer)
        step = step if is_raw else row_shares(step, keep_empty=True)
        step = add_identity(step) if has_identity else step
        step, is_scaled = _fit_precision(step @ maps[-1] if maps else step)
        maps.append(step)
        scaled += [layer] if is_scaled else []
    method = "rows left as they are, " if is_raw else "rows normalized, "
    method += "half identity added" if has_identity else "no identity added"
    notes = [describe_heads(chosen, base) + method + _cross_note(flow, chosen)]
    notes += [_SCALED_NOTE.format(layer=scaled[0])] if scaled else []
    if base == "attention-block":
        notes.append(_ATTENTION_BLOCK_NOTE + ("" if is_raw else _NORMALIZED_NOTE))
    return add_measure(flow, chosen, ROLLOUT_OF[base], maps, notes)


def _fit_precision(step: Map) -> tuple[Map, bool]:
    """Return a map that single precision can hold, and whether it had to be divided for that."""
    largest = float(step.max(initial=0.0))
    if largest >= _PRODUCT_LIMIT or 0 < largest <= 1 / _PRODUCT_LIMIT:
        return step / largest, True
    return step, False


def _require_rollout(measure: str) -> None:
    if measure not in ROLLOUT_OF:
        near = nearest_name(measure, ROLLOUT_OF)
        raise UnknownName(
            f"There is no rollout of {measure!r}.",
            f"There are rollouts of: {', '.join(map(str, ROLLOUT_OF))}.",
            f"Did you mean {near!r}?" if near else "Use one of these measures.",
        )


def require_stacked(stream: Stream) -> Stream:
    """Return the stream if it is self-attention with all layers from 0; else raise `BadInput`."""
    if stream.kind == "cross":
        raise BadInput(
            "The cross stream leads from the encoder's tokens to the decoder's.",
            "Expected self-attention, where each layer reads the output of the one below.",
            'Name another stream: stream="encoder" or stream="decoder".',
        )
    if stream.interruption:
        raise BadInput(
            f"The layers of the {stream.name} stream cannot be chained: {stream.interruption}.",
            "Expected layers in which nothing but attention moves anything between tokens.",
            "Use a measure of single layers, or hidden-attribution, which goes through the whole "
            "model.",
        )
    if len(stream.queries) != len(stream.keys):
        raise BadInput(
            f"The {stream.name} stream has {len(stream.queries)} queries, {len(stream.keys)} keys.",
            "Expected self-attention, where each layer reads the output of the one below.",
            "Use a measure of single layers.",
        )
    if not is_stacked(stream):
        raise BadInput(
            f"The {stream.name} stream holds the layers {', '.join(map(str, stream.layers))}.",
            "Expected every layer from 0 on: without one of them the numbers are wrong.",
            "Analyze without layers=…, and select layers of the result.",
        )
    return stream


def is_stacked(stream: Stream) -> bool:
    """Whether each layer of the stream reads the output of the one before it, from layer 0 on."""
    if stream.kind == "cross" or stream.interruption or len(stream.queries) != len(stream.keys):
        return False
    return stream.layers == tuple(range(len(stream.layers)))


def combined_map(stream: Stream, measure: str, layer: int) -> Map:
    """Return one layer of a measure with its heads combined as the catalog says."""
    values = stream.at(measure, layer).astype(np.float64)
    return combine_heads(values, measure) if MEASURES[measure].over_heads else values


def describe_heads(stream: Stream, measure: str) -> str:
    """Return how heads were combined, for a note; nothing where the measure has no heads."""
    over_heads = MEASURES[measure].over_heads
    return f"{over_heads} over {len(stream.heads)} heads, " if over_heads else ""


def add_identity(step: Map) -> Map:
    """Return ½A + ½I: the residual connection modeled as half of each vector."""
    return 0.5 * step + 0.5 * np.eye(len(step))


def _cross_note(flow: Flow, stream: Stream) -> str:
    crosses = (other.kind == "cross" for other in flow.streams.values())
    has_cross = stream.kind == "decoder" and any(crosses)
    return "; what the decoder reads from the encoder is left out" if has_cross else ""


def add_measure(
    flow: Flow, stream: Stream, name: str, maps: Iterable[Map], notes: Iterable[str]
) -> Flow:
    """Return the flow with one more measure in one of its streams, and these notes about it."""
    layers = Layers(np.asarray(step, dtype=np.float32) for step in maps)
    extended = replace(stream, stored={**stream.stored, name: layers})
    prefix = f"{stream.name}: {name}: "
    kept = [note for note in flow.receipt.notes if not note.startswith(prefix)]
    receipt = replace(flow.receipt, notes=(*kept, *(prefix + note for note in notes)))
    return replace(flow, streams={**flow.streams, stream.name: extended}, receipt=receipt)

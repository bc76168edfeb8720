"""What a measure carries up through the layers: the rollout of Abnar and Zuidema 2020."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from jaxtyping import Float64

from normviz.core.axes import Said
from normviz.core.catalog import MEASURES, require_known
from normviz.core.flow import Flow
from normviz.core.stream import Layers, Stream
from normviz.errors import BadInput

Map = Float64[np.ndarray, "query key"]
"""One layer of a measure, all heads together, in double precision."""

ROLLOUTS = tuple(name for name in MEASURES if name.startswith("rollout:"))
ROWS = ("normalized", "raw")
BARE = ("weight", "weighted-norm", "attention", "feed-forward")
"""Measures that know nothing of the residual, so that an identity must stand for it."""

_POOR = (
    "in BERT it hardly agrees with gradients (Spearman -.21, -.06 and .08 on SST2, MNLI and "
    "HateXplain), where rollout:attention-residual (.73, .75, .66) and rollout:globenc (.77, .78, "
    ".72) do: Table 1 of Modarressi et al. 2022 (GlobEnc)"
)


def rollout(
    flow: Flow,
    measure: str,
    *,
    identity: bool | None = None,
    rows: Said = "normalized",
    stream: str | None = None,
) -> Flow:
    """The same flow with `rollout:<measure>`: how much of each input token reaches each layer.

    R_0 = A_0 and R_l = A_l R_(l-1), where A_l is the measure in layer l, from the tokens below
    (`key`) to those above (`query`); `weight` is averaged over heads, `weighted-norm` added up.
    What was done is noted in the receipt.

    Parameters
    ----------
    flow
        A flow that holds the measure in every layer from 0 on.
    measure
        The measure to roll out; rungs that coincide in a model have one rollout.
    identity
        Whether each layer is ½A + ½I, for the residual (Abnar and Zuidema 2020). By default this
        is so for measures that leave the residual out: `weight`, `weighted-norm`, `attention`,
        `feed-forward`.
    rows
        `"normalized"` for rows of A that add up to one, before any identity; or `"raw"`.
    stream
        Which self-attention, where there are several.
    """
    require_known(f"rollout:{measure}", ROLLOUTS, "rollout")
    require_known(rows, ROWS, "row setting")
    chosen = stacked(flow.stream(stream))
    base = chosen.canonical_id(measure)
    halved = base in BARE if identity is None else identity
    carried: list[Map] = []
    for layer in chosen.layers:
        step = layer_map(chosen, base, layer)
        step = _normalized(step) if rows == "normalized" else step
        step = with_identity(step) if halved else step
        carried.append(step @ carried[-1] if carried else step)
    done = f"rows {'normalized' if rows == 'normalized' else 'left as they are'}, "
    done += "half identity added" if halved else "no identity added"
    notes = [_heads_said(chosen, base) + done + _cut_off(flow, chosen)]
    notes += [_POOR] if base == "attention-block" else []
    return extended(flow, chosen, f"rollout:{base}", carried, notes)


def stacked(stream: Stream) -> Stream:
    """A self-attention with every layer from 0 on, or a sentence that says why it is none."""
    if stream.name == "cross":
        raise BadInput(
            "The cross stream leads from the encoder's tokens to the decoder's.",
            "Only self-attention can be carried up: what one layer makes, the next must read.",
            'Name another stream: stream="encoder" or stream="decoder".',
        )
    if not is_stacked(stream):
        raise BadInput(
            f"The {stream.name} stream holds the layers {', '.join(map(str, stream.layers))}.",
            "Every layer from 0 on is needed: carried past a missing one, the numbers are wrong.",
            "Analyze without layers=…, and choose layers of the result.",
        )
    return stream


def is_stacked(stream: Stream) -> bool:
    """Whether each layer reads what the one before it made."""
    return stream.name != "cross" and stream.layers == tuple(range(len(stream.layers)))


def layer_map(stream: Stream, measure: str, layer: int) -> Map:
    """One layer of a measure, heads averaged where rows add up to one, else added up."""
    values = stream.at(measure, layer).astype(np.float64)
    if "head" not in MEASURES[measure].axes:
        return values
    whole: Map = values.mean(axis=0) if measure == "weight" else values.sum(axis=0)
    return whole


def with_identity(step: Map) -> Map:
    """Half of what attention does and half of what was there: ½A + ½I."""
    return 0.5 * step + 0.5 * np.eye(len(step))


def _normalized(step: Map) -> Map:
    """Rows that add up to one; a row without anything stays as it is."""
    whole = step.sum(axis=-1, keepdims=True)
    return step / np.where(whole > 0, whole, 1.0)


def _heads_said(stream: Stream, measure: str) -> str:
    ways = {"weight": "mean over", "weighted-norm": "sum over"}
    return f"{ways[measure]} {len(stream.heads)} heads, " if measure in ways else ""


def _cut_off(flow: Flow, stream: Stream) -> str:
    crossed = stream.name == "decoder" and len(flow.streams) > 1
    return "; what the decoder reads from the encoder is left out" if crossed else ""


def extended(
    flow: Flow, stream: Stream, name: str, maps: Iterable[Map], notes: Iterable[str]
) -> Flow:
    """The flow with one more measure in one of its streams, and what is to be said of it."""
    layers = Layers(np.asarray(step, dtype=np.float32) for step in maps)
    larger = replace(stream, stored={**stream.stored, name: layers})
    begin = f"{stream.name}: {name}: "
    kept = [note for note in flow.receipt.notes if not note.startswith(begin)]
    receipt = replace(flow.receipt, notes=(*kept, *(begin + note for note in notes)))
    return replace(flow, streams={**flow.streams, stream.name: larger}, receipt=receipt)

"""Every input token followed through all layers at once, without rollout.

The tape of a whole pass is replayed for a few input tokens at a time, layer by layer: a layer's
input is known before the layer is replayed. This is what DecompX does for BERT (Modarressi et al.
2023), here for every architecture that the ladder supports. Biases are assigned as in the ladder
(see `decompose.biases`), so that after the first layer both give the same numbers.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from normviz.errors import UnsupportedModel
from normviz.model.capture import LayerTrace
from normviz.model.decompose import BiasPart, Record, Replay
from normviz.model.decompose.tape import SourceRecord, SourceSequence, require_parts
from normviz.model.measures.ladder.measure import (
    LadderRequest,
    LadderResult,
    LayerSums,
    replay_groups,
    to_numbers,
)
from normviz.model.measures.ladder.sums import RungSums
from normviz.model.types import AttentionKey

NAME = "decomposition"


@dataclass(frozen=True)
class TracedLayer:
    """One layer on a tape that runs through all of them, and the attentions in it."""

    trace: LayerTrace
    keys: tuple[AttentionKey, ...]

    def source_of(self, key: AttentionKey) -> SourceSequence:
        """Return whose input tokens are the sources of an attention here."""
        return "other" if key[0].kind == "cross" else self.trace.sequence


def split_tapes(layers: Iterable[TracedLayer]) -> list[list[TracedLayer]]:
    """Return the layers of each tape: a tower whose input is its own source begins a new one."""
    tapes: list[list[TracedLayer]] = []
    for layer in layers:
        begun = {other.trace.sequence for other in tapes[-1]} if tapes else set()
        is_start = isinstance(layer.trace.input, SourceRecord) and layer.trace.sequence in begun
        if is_start or not tapes:
            tapes.append([])
        tapes[-1].append(layer)
    return tapes


def measure_decomposition(
    layers: Collection[TracedLayer], request: LadderRequest
) -> dict[AttentionKey, LadderResult]:
    """Return the length of every input token's part after each layer, for each attention."""
    inputs = {layer.trace.input: layer.trace.sequence for layer in layers}
    crossed = (layer.trace.cross_input for layer in layers)
    inputs |= {record: "other" for record in crossed if record is not None}
    sums = LayerSums(BiasPart(request.bias_handling, inputs))
    starts: dict[SourceSequence, Record | None] = {}
    for layer in layers:
        require_parts(layer.trace.output)
        starts.setdefault(layer.trace.sequence, layer.trace.input)
        for key in layer.keys:
            sums.rungs[layer.source_of(key), layer.trace.output] = RungSums()
    _require_starts(layers, starts)
    outputs = [layer.trace.output for layer in layers]
    for replays in replay_groups(starts, outputs, sums.bias, request.memory, dense=True):
        for layer in layers:
            _replay_layer(layer.trace, replays, sums)
    return {
        key: to_numbers(layer.source_of(key), {NAME: layer.trace.output}, {}, sums)
        for layer in layers
        for key in layer.keys
    }


def _require_starts(
    layers: Iterable[TracedLayer], starts: Mapping[SourceSequence, Record | None]
) -> None:
    """Refuse cross-attention to vectors that no layer of the tape made: they have no tokens."""
    foreign = [key for layer in layers for key in layer.keys if layer.source_of(key) not in starts]
    if foreign:
        raise UnsupportedModel(
            f"The cross-attention of layer {foreign[0][1]} in {foreign[0][0].tower} reads vectors "
            "that come from outside the layers of its own tower.",
            "The decomposition follows the tokens that enter a tower's first layer through all "
            "of its layers.",
            "Ask for the measures of single layers, such as layer-output.",
        )


def _replay_layer(trace: LayerTrace, replays: Sequence[Replay], sums: LayerSums) -> None:
    """Replay one layer, whose input is known; then forget what no later layer asks for."""
    for replay in replays:
        replay.lengths.clear()  # they are keyed by tensors that are about to be forgotten
        replay.keep = {record for record in (trace.output, trace.cross_input) if record is not None}
    sums.bias.of(trace.output)  # in order, so that no layer asks for all layers below it
    for replay in replays:
        rung = sums.rungs.get((replay.sources.sequence, trace.output))
        if rung is None:
            replay.parts(trace.output)
        else:
            rung.add(trace.output, replay)
    for replay in replays:
        replay.unshared.clear()
        replay.cache = {
            record: replay.cache[record] for record in replay.keep if record in replay.cache
        }

"""Every input token followed through all layers at once, without rolling anything out.

The tape of a whole pass is replayed for a few input tokens at a time, layer by layer: what a layer
was given is known when the layer is asked. This is what DecompX does for BERT (Modarressi et al.
2023), here for every architecture that the ladder knows. Biases stay a source of their own.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from normviz.core.axes import StreamName
from normviz.model.capture import LayerTrace
from normviz.model.decompose import BiasPart, Record, Replay
from normviz.model.decompose.tape import SourceSequence
from normviz.model.measures.ladder.measure import Book, LadderRequest, LadderResult, entries, runs
from normviz.model.measures.ladder.sums import LadderSums

NAME = "decomposition"


@dataclass(frozen=True)
class Carried:
    """One layer on a tape that runs through all of them, and the streams heard in it."""

    taped: LayerTrace
    streams: tuple[StreamName, ...]

    def side(self, stream: StreamName) -> SourceSequence:
        """Whose input tokens are the sources of a stream here."""
        return "other" if stream == "cross" else self.taped.side


def decomposed(
    layers: Collection[Carried], wish: LadderRequest
) -> Iterator[tuple[StreamName, LadderResult]]:
    """The length of every input token's part after each layer, stream by stream, in order."""
    book = Book(BiasPart(wish.biases))
    starts: dict[SourceSequence, Record] = {}
    for layer in layers:
        starts.setdefault(layer.taped.side, layer.taped.entered)
        for stream in layer.streams:
            book.tallies[layer.side(stream), layer.taped.output] = LadderSums()
    outputs = [layer.taped.output for layer in layers]
    for side, entered in starts.items():
        for sources in runs(side, entered, outputs, wish.memory, whole=True):
            replay = Replay(sources, book.free)
            for layer in layers:
                _follow(layer.taped, replay, book)
    for layer in layers:
        for stream in layer.streams:
            yield stream, entries(layer.side(stream), {NAME: layer.taped.output}, {}, book)


def _follow(taped: LayerTrace, replay: Replay, book: Book) -> None:
    """Replay one layer, whose input is known; then forget all that no later layer asks for."""
    replay.lengths.clear()  # they go by tensors that are about to be forgotten
    replay.kept = {taped.output} if taped.other is None else {taped.output, taped.other}
    book.free.of(taped.output)  # in order, so that no layer asks for all layers below it
    tally = book.tallies.get((replay.sources.side, taped.output))
    if tally is None:
        replay.parts(taped.output)
    else:
        tally.enter(taped.output, replay)
    replay.known = {
        record: replay.known[record] for record in replay.kept if record in replay.known
    }

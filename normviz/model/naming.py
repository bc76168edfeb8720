"""What the streams of a pass are called, and which of their sequences are shown."""

from collections import Counter
from collections.abc import Sequence

from normviz.errors import UnsupportedModel
from normviz.model.capture.towers import name_towers
from normviz.model.inputs import ModelInputs, has_encoder
from normviz.model.measures.results import StageResults
from normviz.model.types import StreamId

MAX_SEQUENCES = 16
"""About how many tiles, frames or windows of one tower become streams of their own."""


def select_sequences(
    streams: Sequence[StreamId], prepared: ModelInputs, text: int
) -> tuple[list[tuple[str, StreamId, int]], list[str]]:
    """Return each sequence of a text that is shown, with its stream's name; and notes about it.

    A tower that attends to several tiles, frames or windows has a numbered stream for each.
    """
    bases = name_streams(streams, prepared)
    sequences = {stream: _sequences_of(stream, prepared.batch, text) for stream in streams}
    shown: list[tuple[str, StreamId, int]] = []
    notes = []
    for base in dict.fromkeys(bases.values()):
        alike = [stream for stream in streams if bases[stream] == base]
        most = max(1, MAX_SEQUENCES // len(alike))
        chosen = [(stream, number) for stream in alike for number in sequences[stream][:most]]
        names = [base] if len(chosen) == 1 else [f"{base}.{n + 1}" for n in range(len(chosen))]
        shown += [(name, *one) for name, one in zip(names, chosen, strict=True)]
        count = sum(len(sequences[stream]) for stream in alike)
        if count > 1:
            more = f"; the other {count - len(chosen)} are not shown"
            notes.append(
                f"{base}: {count} sequences of tokens are attended to apart (tiles, frames, "
                f"windows or scales), shown as {names[0]} to {names[-1]}"
                + (more if count > len(chosen) else "")
            )
    return shown, notes


def name_streams(streams: Sequence[StreamId], prepared: ModelInputs) -> dict[StreamId, str]:
    """Return what each stream is called, before its sequences are numbered.

    `encoder`, `decoder` and `cross` where there is one of each; otherwise by tower.
    """
    towers = {(stream.kind, stream.tower) for stream in streams}
    by_kind = Counter(kind for kind, _ in towers)
    is_single = len({tower for _, tower in towers}) == 1
    if (is_single or has_encoder(prepared.model)) and max(by_kind.values()) == 1:
        return {stream: stream.kind for stream in streams}
    names = name_towers(list(dict.fromkeys(stream.tower for stream in streams)))
    return {
        stream: names[stream.tower] + (".cross" if stream.kind == "cross" else "")
        for stream in streams
    }


def _sequences_of(stream: StreamId, batch: int, text: int) -> range:
    """Return the sequences of a stream that belong to one text of the batch."""
    each, rest = divmod(stream.sequences, batch)
    if rest:
        raise UnsupportedModel(
            f"{stream.tower} attends to {stream.sequences} sequences of {stream.keys} tokens, for "
            f"{batch} texts.",
            "Expected the same number of sequences for each text.",
            "Analyze one text at a time.",
        )
    return range(text * each, (text + 1) * each)


def other_layers(stream: StreamId, results: StageResults) -> dict[int, str]:
    """Return the layers of a stream's tower in which it has no attention, and what they have."""
    own = {number for other, number in results.passed if other == stream}
    others = dict(results.other_layers.get(stream.tower, {}))
    for other, number in results.passed:
        is_alike = other.kind == "cross" or stream.kind == "cross"
        if other.tower == stream.tower and number not in own:
            others[number] = f"{other.kind} attention" if is_alike else "attention to other tokens"
    return dict(sorted(others.items()))

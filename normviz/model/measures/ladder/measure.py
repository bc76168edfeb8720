"""The ladder: how much of each token is in the vectors at every rung of a layer, as lengths.

Up to the first activation, a source's part is a combination of few vectors, and lengths come from
their inner products in closed form. Past it, the vectors themselves are needed, `source query
model`: they are computed in runs of sources that fit in a given memory.
"""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor

from normviz.core.catalog import MEASURES, split_statistic, statistic_id
from normviz.model.capture import LayerTrace
from normviz.model.decompose import BiasPart, Record, Replay, SourceRange
from normviz.model.decompose.tape import (
    BiasHandling,
    ElementwiseRecord,
    LinearRecord,
    SourceRecord,
    SourceSequence,
)
from normviz.model.measures.ladder.rungs import behind_copies, find_rungs
from normviz.model.measures.ladder.sums import RungSums, signs_for, token_vectors
from normviz.model.types import at_least_single, row_shares

LARGEST_RUN = 2**28
"""How many bytes a run of sources may take at most: more does not make it faster."""
TENSORS_HELD = 4
"""How many tensors of the widest kind are held at a time."""
MEMORY_SHARE = 1 / 4
"""Which share of the free memory is used by default."""
COINCIDING = {
    name: measure.coincides_with
    for name, measure in MEASURES.items()
    if measure.coincides_with is not None
}
"""Which rung equals another in models where no norm stands between the two."""


@dataclass(frozen=True)
class LadderRequest:
    """What is asked of a layer, and how it is to be computed."""

    measures: Collection[str]
    """Rungs, `alti`, and statistics such as `projection:layer-output`; every rung has `mixing`."""
    memory: int | None = None
    bias_handling: BiasHandling = "source"

    def select_rungs(self, ladder: Mapping[str, Record]) -> dict[str, Record]:
        """Return the rungs asked for; coinciding ones under the lower one's name."""
        aliases = coinciding_rungs(ladder)
        asked_for = {split_statistic(name)[1] for name in self.measures}
        asked_for |= {"attention-block"} if "alti" in asked_for else set()
        names = {aliases.get(name, name) for name in asked_for}
        return {name: record for name, record in ladder.items() if name in names}


@dataclass(frozen=True)
class LadderResult:
    """One layer measured on every rung asked for, by the tokens of one sequence."""

    numbers: dict[str, Tensor]
    errors: dict[str, float]
    """How far the parts are from the model's own numbers, by rung, relative to the largest."""
    bias_share: dict[str, float]
    """Which share of the vectors comes from no token, by rung, averaged over the queries."""
    aliases: dict[str, str]
    """Rungs that coincide here: pre-norm models have no norm between two of them."""
    dtype: str
    """The least exact type that any number between input and output was held in."""

    def merge(self, other: "LadderResult") -> "LadderResult":
        """Return both together; of the types, the less exact."""
        least = max((self.dtype, other.dtype), key=lambda name: torch.finfo(_type(name)).eps)
        return LadderResult(
            self.numbers | other.numbers,
            self.errors | other.errors,
            self.bias_share | other.bias_share,
            self.aliases,
            least,
        )


@dataclass
class LayerSums:
    """The sums of one layer's rungs, by the sequence that the sources belong to."""

    bias: BiasPart
    rungs: dict[tuple[SourceSequence, Record], RungSums] = field(default_factory=dict)

    def part_sum(self, record: Record) -> Tensor:
        """Return a rung's parts summed over all sources of both sequences, in some coordinates."""
        sums = [rung.part_sum for (_, at), rung in self.rungs.items() if at is record]
        return torch.stack([tensor for tensor in sums if tensor is not None]).sum(dim=0)


def measure_ladder(
    trace: LayerTrace,
    request: LadderRequest,
    outputs: Mapping[SourceSequence, Record] | None = None,
) -> dict[SourceSequence, LadderResult]:
    """Measure a layer on the rungs asked for, for each sequence that its attentions read.

    `outputs` has what left its attentions, which is the lowest rung.
    """
    ladders = find_rungs(trace)
    for sequence, ladder in ladders.items():
        if outputs and sequence in outputs:
            ladder["attention"] = behind_copies(outputs[sequence])
    selected = {sequence: request.select_rungs(ladder) for sequence, ladder in ladders.items()}
    sums = LayerSums(BiasPart(request.bias_handling))
    names = {record: name for ladder in selected.values() for name, record in ladder.items()}
    starts: dict[SourceSequence, Record | None] = {"own": trace.input, "other": trace.cross_input}
    for replays in replay_groups(
        starts, names, sums.bias, request.memory, dense="alti" in request.measures
    ):
        for replay in replays:
            replay.keep = set(names)
        for record in sorted(names, key=lambda record: record.number):
            for replay in replays:
                at = replay.sources.sequence, record
                if at not in sums.rungs:
                    sums.rungs[at] = _empty_sums(record, names[record], ladders, request)
                sums.rungs[at].add(record, replay)
    return {
        sequence: to_numbers(sequence, selected[sequence], coinciding_rungs(ladder), sums)
        for sequence, ladder in ladders.items()
    }


def coinciding_rungs(ladder: Mapping[str, Record]) -> dict[str, str]:
    """Return which rungs are one and the same here, the upper by the lower."""
    pairs = {a: b for a, b in COINCIDING.items() if a in ladder and b in ladder}
    return {above: below for above, below in pairs.items() if ladder[above] is ladder[below]}


def _empty_sums(
    record: Record,
    name: str,
    ladders: Mapping[SourceSequence, Mapping[str, Record]],
    request: LadderRequest,
) -> RungSums:
    """Return empty sums that know what to compute besides lengths."""
    names = {name, *(above for above, below in COINCIDING.items() if below == name)}
    blocks = [ladder["attention-block"] for ladder in ladders.values()]
    return RungSums(
        with_projections=any(
            statistic_id("projection", alias) in request.measures for alias in names
        ),
        with_gains="alti" in request.measures and record in blocks,
    )


def replay_groups(
    starts: Mapping[SourceSequence, Record | None],
    records: Collection[Record],
    bias: BiasPart,
    memory: int | None,
    *,
    dense: bool,
) -> Iterator[Sequence[Replay]]:
    """Yield replays of runs of sources that fit in memory, one after the other.

    Where biases are shared out among all sources, yield all replays at once.
    """
    replays = (
        Replay(sources, bias)
        for sequence, start in starts.items()
        for sources in source_runs(sequence, start, records, memory, dense=dense or bias.shares_out)
    )
    if bias.shares_out:
        together = list(replays)
        bias.replays = together
        yield together
        bias.replays = ()  # they hold the vectors of all pairs
    else:
        yield from ([replay] for replay in replays)


def source_runs(
    sequence: SourceSequence,
    start: Record | None,
    records: Collection[Record],
    memory: int | None,
    *,
    dense: bool,
) -> Iterator[SourceRange]:
    """Yield the sources of a sequence in runs whose vectors fit in memory."""
    count = 0 if start is None else start.token_count
    widest = _widest_bytes(records, dense=dense)
    device = next(iter(records)).total.device
    size = max(1, count)
    if widest:
        size = max(1, byte_budget(device, memory) // (TENSORS_HELD * widest))
    for first in range(0, count, size):
        yield SourceRange(sequence, first, min(count, first + size))


def _widest_bytes(records: Collection[Record], *, dense: bool) -> int:
    """Return the most bytes one source's vectors take; 0 where no vectors need to be built."""
    ancestors = list(_with_ancestors(records))
    built = dense or any(
        isinstance(record, ElementwiseRecord)
        or (
            isinstance(record, LinearRecord)
            and record.apply_low_rank is None
            and record.move is None
        )
        for record in ancestors
    )
    return max(at_least_single(record.total).nbytes for record in ancestors) if built else 0


def _with_ancestors(records: Collection[Record]) -> Iterator[Record]:
    """Yield the records and everything they were made of, back to the sources."""
    waiting, seen = list(records), set()
    while waiting:
        record = waiting.pop()
        if record not in seen:
            seen.add(record)
            yield record
            if not isinstance(record, SourceRecord):
                waiting += record.inputs


def byte_budget(device: torch.device, memory: int | None) -> int:
    """Return how many bytes a run may take: as given, or a share of what is free."""
    return min(LARGEST_RUN, int(MEMORY_SHARE * free_memory(device))) if memory is None else memory


def free_memory(device: torch.device) -> int:
    """Return how many bytes are free where the model is."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 2**32


def to_numbers(
    sequence: SourceSequence,
    selected: Mapping[str, Record],
    aliases: dict[str, str],
    sums: LayerSums,
) -> LadderResult:
    """Return the sums of one sequence's sources as measures and checks."""
    numbers: dict[str, Tensor] = {}
    errors, bias_shares = {}, {}
    for name, record in selected.items():
        rung, total = sums.rungs[sequence, record], token_vectors(record)
        bias = sums.bias.of(record)
        bias = torch.zeros_like(total) if bias is None else bias.reshape(total.shape)
        numbers[name] = torch.cat(rung.lengths, dim=-1)[None]
        if rung.with_projections:
            numbers[statistic_id("projection", name)] = torch.cat(rung.projections, dim=-1)[None]
        if rung.with_gains:
            numbers["alti"] = row_shares(torch.cat(rung.gains, dim=-1))[None]
        if sequence == "own":
            own = torch.cat(rung.own_parts)
            numbers[statistic_id("mixing", name)] = mixing_ratio(total - bias, own)[None]
        errors[name] = _relative_error(total, bias, sums.part_sum(record))
        bias_shares[name] = _bias_share(bias, total - bias)
    return LadderResult(numbers, errors, bias_shares, aliases, _least_exact(selected.values()))


def mixing_ratio(
    moved: Float[Tensor, "query model"], own_parts: Float[Tensor, "query model"]
) -> Float[Tensor, " query"]:
    """Return how much of a token's vector comes from other tokens (Kobayashi et al. 2021, eq. 18).

    The length of the *sum* over the context, over that plus the length of the token's own part.
    """
    context = torch.linalg.vector_norm(moved - own_parts, dim=-1)
    return _share(context, torch.linalg.vector_norm(own_parts, dim=-1))


def _share(length: Tensor, rest: Tensor) -> Tensor:
    whole = length + rest
    share: Tensor = length / whole.clamp(min=torch.finfo(whole.dtype).tiny)
    return share


def _relative_error(total: Tensor, bias: Tensor, part_sum: Tensor) -> float:
    signs = signs_for(total)
    seen = total @ signs
    missed = (part_sum + bias @ signs - seen).abs().amax()
    return float(missed / seen.abs().amax().clamp(min=torch.finfo(total.dtype).tiny))


def _bias_share(bias: Tensor, moved: Tensor) -> float:
    lengths = (torch.linalg.vector_norm(vectors, dim=-1) for vectors in (bias, moved))
    return float(_share(*lengths).mean())


def _least_exact(records: Collection[Record]) -> str:
    """Return the least exact type of any number that the records were made of."""
    totals = [record.total for record in _with_ancestors(records)]
    types = {total.dtype for total in totals if total.is_floating_point()}
    least = max(types, key=lambda dtype: torch.finfo(dtype).eps)
    return str(least).removeprefix("torch.")


def _type(name: str) -> torch.dtype:
    return getattr(torch, name)  # type: ignore[no-any-return]

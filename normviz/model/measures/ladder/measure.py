"""The ladder: how much of each token is left at every rung of a layer, in lengths.

Up to the first activation, what a source gives is a mixture of few vectors, and lengths come from
their inner products in closed form. Past it, the vectors themselves are needed, `source query
model`: they are worked through in runs of sources that fit in a given memory.
"""

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor

from normviz.core.catalog import MEASURES
from normviz.model.capture import LayerTrace
from normviz.model.decompose import BiasPart, Record, Replay, Sources
from normviz.model.decompose.tape import (
    Biases,
    ElementwiseRecord,
    LinearRecord,
    SourceRecord,
    SourceSequence,
)
from normviz.model.measures.ladder.rungs import rungs
from normviz.model.measures.ladder.sums import LadderSums, step, vectors_of
from normviz.model.types import at_least_single, shares

LARGEST_RUN = 2**28
"""How many bytes a run of sources may take at most: more does not make it faster."""
HELD = 4
"""How many tensors of the widest kind are held at a time."""
SHARE = 1 / 4
"""Which share of the free memory is used, unless told otherwise."""
COINCIDING = {
    name: measure.coincides_with
    for name, measure in MEASURES.items()
    if measure.coincides_with is not None
}
"""Which rung is another one in models where no norm stands between the two."""


@dataclass(frozen=True)
class LadderRequest:
    """What is wanted of a layer, and how it is to be worked out."""

    measures: Collection[str]
    """Rungs, `alti`, and statistics such as `projection:layer-output`; every rung has `mixing`."""
    memory: int | None = None
    biases: Biases = "source"

    def rungs(self, ladder: Mapping[str, Record]) -> dict[str, Record]:
        """The rungs wanted, those that are one and the same under the lower one's name."""
        same = coinciding(ladder)
        wanted = {name.rpartition(":")[2] for name in self.measures}
        wanted |= {"attention-block"} if "alti" in wanted else set()
        names = {same.get(name, name) for name in wanted}
        return {name: record for name, record in ladder.items() if name in names}


@dataclass(frozen=True)
class LadderResult:
    """One side of one layer, measured on every rung asked for."""

    numbers: dict[str, Tensor]
    errors: dict[str, float]
    """How far the parts are from the model's own numbers, by rung, relative to the largest."""
    bias_share: dict[str, float]
    """Which share of the vectors comes from no token, by rung, averaged over the queries."""
    aliases: dict[str, str]
    """Rungs that are one and the same here: pre-norm models have no norm between two of them."""
    dtype: str
    """The least exact type that any number between input and output was held in."""

    def with_(self, other: "LadderResult") -> "LadderResult":
        """Both together; of the types, the less exact."""
        least = max((self.dtype, other.dtype), key=lambda name: torch.finfo(_type(name)).eps)
        return LadderResult(
            self.numbers | other.numbers,
            self.errors | other.errors,
            self.bias_share | other.bias_share,
            self.aliases,
            least,
        )


@dataclass
class Book:
    """Everything that is noted of one layer."""

    free: BiasPart
    tallies: dict[tuple[SourceSequence, Record], LadderSums] = field(default_factory=dict)

    def added(self, record: Record) -> Tensor:
        """A rung's parts added up over all sources of both sides, in some coordinates."""
        sums = [tally.added for (_, rung), tally in self.tallies.items() if rung is record]
        return torch.stack([one for one in sums if one is not None]).sum(dim=0)


def measure_ladder(taped: LayerTrace, wish: LadderRequest) -> dict[SourceSequence, LadderResult]:
    """Measure a layer on the rungs wanted, for each side its attentions read."""
    found = rungs(taped)
    asked = {side: wish.rungs(ladder) for side, ladder in found.items()}
    book = Book(BiasPart(wish.biases))
    wanted = {record: name for ladder in asked.values() for name, record in ladder.items()}
    sides: tuple[tuple[SourceSequence, Record | None], ...] = (
        ("own", taped.entered),
        ("other", taped.other),
    )
    for side, entered in sides:
        for sources in runs(side, entered, wanted, wish.memory, whole="alti" in wish.measures):
            replay = Replay(sources, book.free, kept=set(wanted))
            for record in sorted(wanted, key=lambda one: one.number):
                if (side, record) not in book.tallies:
                    book.tallies[side, record] = _tally(record, wanted[record], found, wish)
                book.tallies[side, record].enter(record, replay)
    return {side: entries(side, asked[side], coinciding(found[side]), book) for side in found}


def coinciding(ladder: Mapping[str, Record]) -> dict[str, str]:
    """Which rungs are one and the same here."""
    held = {a: b for a, b in COINCIDING.items() if a in ladder and b in ladder}
    return {above: below for above, below in held.items() if ladder[above] is ladder[below]}


def _tally(
    record: Record,
    name: str,
    found: Mapping[SourceSequence, Mapping[str, Record]],
    wish: LadderRequest,
) -> LadderSums:
    """An empty tally that knows what is wanted besides lengths."""
    names = {name, *(above for above, below in COINCIDING.items() if below == name)}
    blocks = [ladder["attention-block"] for ladder in found.values()]
    return LadderSums(
        along=any(f"projection:{one}" in wish.measures for one in names),
        nearer="alti" in wish.measures and record in blocks,
    )


def runs(
    side: SourceSequence,
    entered: Record | None,
    records: Collection[Record],
    memory: int | None,
    *,
    whole: bool,
) -> Iterator[Sources]:
    """The sources in runs whose vectors fit in memory."""
    count = 0 if entered is None else entered.places
    widest = _widest(records, whole=whole)
    device = next(iter(records)).total.device
    most = max(1, budget(device, memory) // (HELD * widest)) if widest else max(1, count)
    for start in range(0, count, most):
        yield Sources(side, start, min(count, start + most))


def _widest(records: Collection[Record], *, whole: bool) -> int:
    """The most bytes that one source's vectors take, where vectors must be built at all."""
    made = list(_made_of(records))
    built = whole or any(
        isinstance(one, ElementwiseRecord)
        or (isinstance(one, LinearRecord) and one.mixed is None and one.move is None)
        for one in made
    )
    return max(at_least_single(one.total).nbytes for one in made) if built else 0


def _made_of(records: Collection[Record]) -> Iterator[Record]:
    """Every record between a layer's attention and the records."""
    waiting, seen = list(records), set()
    while waiting:
        record = waiting.pop()
        if record not in seen:
            seen.add(record)
            yield record
            if not isinstance(record, SourceRecord):
                waiting += record.inputs


def budget(device: torch.device, memory: int | None) -> int:
    """How many bytes a run may take: as many as it was given, or a share of what is free."""
    return min(LARGEST_RUN, int(SHARE * free_memory(device))) if memory is None else memory


def free_memory(device: torch.device) -> int:
    """How many bytes are free where the model is."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 2**32


def entries(
    side: SourceSequence, asked: Mapping[str, Record], aliases: dict[str, str], book: Book
) -> LadderResult:
    """What was noted of one side, as numbers."""
    numbers: dict[str, Tensor] = {}
    errors, sourceless = {}, {}
    for name, record in asked.items():
        tally, total = book.tallies[side, record], vectors_of(record)
        bias = book.free.of(record)
        bias = torch.zeros_like(total) if bias is None else bias.reshape(total.shape)
        numbers[name] = torch.cat(tally.lengths, dim=-1)[None]
        if tally.along:
            numbers[f"projection:{name}"] = torch.cat(tally.alongs, dim=-1)[None]
        if tally.nearer:
            numbers["alti"] = shares(torch.cat(tally.gains, dim=-1))[None]
        if side == "own":
            numbers[f"mixing:{name}"] = mixing(total - bias, torch.cat(tally.selves))[None]
        errors[name] = _error(total, bias, book.added(record))
        sourceless[name] = _share(bias, total - bias)
    return LadderResult(numbers, errors, sourceless, aliases, _dtype(asked.values()))


def mixing(
    moved: Float[Tensor, "query model"], selves: Float[Tensor, "query model"]
) -> Float[Tensor, " query"]:
    """How much of a token's vector comes from other tokens: eq. 18 of Kobayashi et al. 2021.

    The length of the *sum* over the context, over that plus the length of the token's own part.
    """
    context = torch.linalg.vector_norm(moved - selves, dim=-1)
    return _part(context, torch.linalg.vector_norm(selves, dim=-1))


def _part(one: Tensor, rest: Tensor) -> Tensor:
    whole = one + rest
    part: Tensor = one / whole.clamp(min=torch.finfo(whole.dtype).tiny)
    return part


def _error(total: Tensor, bias: Tensor, added: Tensor) -> float:
    some = slice(None, None, step(total))
    missed = (added + bias[:, some] - total[:, some]).abs().amax()
    return float(missed / total[:, some].abs().amax().clamp(min=torch.finfo(total.dtype).tiny))


def _share(bias: Tensor, moved: Tensor) -> float:
    lengths = (torch.linalg.vector_norm(one, dim=-1) for one in (bias, moved))
    return float(_part(*lengths).mean())


def _dtype(records: Collection[Record]) -> str:
    held = {record.total.dtype for record in _made_of(records) if record.total.is_floating_point()}
    least = max(held, key=lambda dtype: torch.finfo(dtype).eps)
    return str(least).removeprefix("torch.")


def _type(name: str) -> torch.dtype:
    return getattr(torch, name)  # type: ignore[no-any-return]

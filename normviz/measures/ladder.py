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

from normviz.capture import Taped
from normviz.catalog import LADDER
from normviz.measures.attention import head_sum_norm
from normviz.measures.rungs import rungs
from normviz.parts import Free, Record, Replay, Sources
from normviz.parts.records import Biases, Own, Side
from normviz.parts.vectors import Heads, Mixed
from normviz.tensors import at_least_single

COORDINATES = 16
"""In how many coordinates of the model's space, evenly spread, parts are added up."""
LARGEST_RUN = 2**28
"""How many bytes a run of sources may take at most: more does not make it faster."""
SHARE = 1 / 4
"""Which share of the free memory is used, unless told otherwise."""


@dataclass(frozen=True)
class Climbed:
    """One side of one layer, measured on every rung asked for."""

    numbers: dict[str, Tensor]
    errors: dict[str, float]
    """How far the parts are from the model's own numbers, by rung, relative to the largest."""
    sourceless: dict[str, float]
    """Which share of the vectors comes from no token, by rung, averaged over the queries."""
    same: dict[str, str]
    """Rungs that are one and the same here: pre-norm models have no norm between two of them."""
    dtype: str
    """The least exact type that any number between input and output was held in."""


@dataclass
class _Tally:
    """What is known of one rung so far."""

    norms: list[Tensor] = field(default_factory=list)
    along: list[Tensor] = field(default_factory=list)
    selves: list[Tensor] = field(default_factory=list)


@dataclass
class _Book:
    """Everything that is being added up for one layer."""

    free: Free
    tallies: dict[tuple[Side, Record], _Tally] = field(default_factory=dict)
    sums: dict[Record, Tensor] = field(default_factory=dict)
    """The parts of each rung added up over all sources, in some coordinates."""

    def enter(self, record: Record, replay: Replay) -> None:
        """Note what some sources gave to a rung."""
        tally = self.tallies.setdefault((replay.sources.side, record), _Tally())
        added = _tallied(tally, record, replay)
        before = self.sums.get(record)
        self.sums[record] = added if before is None else before + added


def climb(
    taped: Taped,
    wanted: Collection[str],
    *,
    memory: int | None = None,
    biases: Biases = "source",
) -> dict[Side, Climbed]:
    """Measure a layer on the rungs wanted, for each side its attentions read."""
    found = rungs(taped)
    asked = {side: _asked(ladder, wanted) for side, ladder in found.items()}
    records = {record for ladder in asked.values() for record in ladder.values()}
    book = _Book(Free(biases))
    sides: tuple[tuple[Side, Record | None], ...] = (("own", taped.entered), ("other", taped.other))
    for side, entered in sides:
        for sources in _runs(side, entered, records, memory):
            replay = Replay(sources, book.free, kept=set(records))
            for record in sorted(records, key=lambda one: one.number):
                book.enter(record, replay)
    return {side: _climbed(side, asked[side], _same(found[side]), book) for side in found}


def _asked(ladder: Mapping[str, Record], wanted: Collection[str]) -> dict[str, Record]:
    """The rungs wanted, those that are one and the same under the lower one's name."""
    same = _same(ladder)
    names = {same.get(name, name) for name in wanted}
    return {name: ladder[name] for name in LADDER if name in names and name in ladder}


def _same(ladder: Mapping[str, Record]) -> dict[str, str]:
    """Which rungs are the rung below them, because no norm stands between the two."""
    pairs = (("attention-residual", "attention-block"), ("feed-forward-residual", "layer"))
    return {above: below for below, above in pairs if ladder[below] is ladder[above]}


def _runs(
    side: Side, entered: Record | None, records: Collection[Record], memory: int | None
) -> Iterator[Sources]:
    """The sources in runs whose vectors fit in memory."""
    count = 0 if entered is None else entered.places
    widest = max(at_least_single(r.total).nbytes for r in _made_of(records))
    device = next(iter(records)).total.device
    budget = min(LARGEST_RUN, int(SHARE * free_memory(device))) if memory is None else memory
    most = max(1, budget // (4 * widest))
    for start in range(0, count, most):
        yield Sources(side, start, min(count, start + most))


def _made_of(records: Collection[Record]) -> Iterator[Record]:
    """Every record between a layer's attention and the records."""
    waiting, seen = list(records), set()
    while waiting:
        record = waiting.pop()
        if record not in seen:
            seen.add(record)
            yield record
            if not isinstance(record, Own):
                waiting += record.inputs


def free_memory(device: torch.device) -> int:
    """How many bytes are free where the model is."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 2**32


def _tallied(tally: _Tally, record: Record, replay: Replay) -> Tensor:
    """Note a run's lengths, and give the sum of its parts in some coordinates."""
    total = at_least_single(record.total).reshape(record.places, -1)  # query model
    direction = torch.nn.functional.normalize(total, dim=-1)
    parts = replay.parts(record)
    start, stop = replay.sources.start, replay.sources.stop
    count, step = stop - start, max(1, total.shape[-1] // COORDINATES)
    pairs = torch.arange(count, device=total.device)
    if parts is None:
        tally.norms.append(total.new_zeros(len(total), count))
        tally.along.append(tally.norms[-1])
        tally.selves.append(total.new_zeros(count, total.shape[-1]))
        return total.new_zeros(())
    if isinstance(parts, Heads):
        parts = parts.dense(record.total.shape)
    if isinstance(parts, Mixed):
        tally.norms.append(head_sum_norm(parts.weight[None], parts.gram())[0])
        tally.along.append(parts.along(direction))
        if replay.sources.side == "own":
            tally.selves.append(parts.at(start + pairs, pairs))
        return parts.added_up(step)
    vectors = parts.reshape(count, *total.shape)  # source query model
    tally.norms.append(torch.linalg.vector_norm(vectors, dim=-1).T)
    tally.along.append(torch.einsum("sqm, qm -> qs", vectors, direction))
    if replay.sources.side == "own":
        tally.selves.append(vectors[pairs, start + pairs])
    return vectors[..., ::step].sum(dim=0)


def _climbed(side: Side, asked: Mapping[str, Record], same: dict[str, str], book: _Book) -> Climbed:
    """The entries of one side, as numbers."""
    numbers: dict[str, Tensor] = {}
    errors, sourceless = {}, {}
    for name, record in asked.items():
        tally = book.tallies[side, record]
        total = at_least_single(record.total).reshape(record.places, -1)
        bias = book.free.of(record)
        bias = torch.zeros_like(total) if bias is None else bias.reshape(total.shape)
        numbers[name] = torch.cat(tally.norms, dim=-1)[None]
        numbers[f"along:{name}"] = torch.cat(tally.along, dim=-1)[None]
        if side == "own":
            numbers[f"mixing:{name}"] = mixing(total - bias, torch.cat(tally.selves))[None]
        errors[name] = _error(total, bias, book.sums[record])
        sourceless[name] = _share(bias, total - bias)
    return Climbed(numbers, errors, sourceless, same, _dtype(asked.values()))


def mixing(
    moved: Float[Tensor, "query model"], selves: Float[Tensor, "query model"]
) -> Float[Tensor, " query"]:
    """How much of a token's vector comes from other tokens: eq. 18 of Kobayashi et al. 2021.

    The length of the *sum* over the context, over that plus the length of the token's own part.
    """
    context = torch.linalg.vector_norm(moved - selves, dim=-1)
    whole = context + torch.linalg.vector_norm(selves, dim=-1)
    ratio: Tensor = context / whole.clamp(min=torch.finfo(whole.dtype).tiny)
    return ratio


def _error(total: Tensor, bias: Tensor, added: Tensor) -> float:
    step = max(1, total.shape[-1] // COORDINATES)
    missed = (added + bias[..., ::step] - total[..., ::step]).abs().amax()
    return float(missed / total[..., ::step].abs().amax().clamp(min=torch.finfo(total.dtype).tiny))


def _share(bias: Tensor, moved: Tensor) -> float:
    length = torch.linalg.vector_norm(bias, dim=-1)
    whole = length + torch.linalg.vector_norm(moved, dim=-1)
    return float((length / whole.clamp(min=torch.finfo(whole.dtype).tiny)).mean())


def _dtype(records: Collection[Record]) -> str:
    held = {record.total.dtype for record in _made_of(records) if record.total.is_floating_point()}
    least = max(held, key=lambda dtype: torch.finfo(dtype).eps)
    return str(least).removeprefix("torch.")

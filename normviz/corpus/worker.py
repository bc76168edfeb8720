"""A model run over texts in batches of like length: what each batch adds to a tally."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any

from normviz.corpus.categories import Kinds
from normviz.corpus.sources import Item
from normviz.corpus.summarize import tallied
from normviz.corpus.sums import Failure, Tally
from normviz.model import inputs as room
from normviz.model.loading import LoadedModel, load_model
from normviz.model.options import Options
from normviz.model.run import run_batch

_LOADING = Lock()
WINDOW = 32
"""How many batches' worth of texts are sorted by length at a time."""


@dataclass(frozen=True)
class Job:
    """What a worker must know; everything in it can be sent to another machine."""

    model: Any
    tokenizer: Any = None
    dtype: Any = None
    measures: tuple[str, ...] = ()
    kinds: Kinds = field(default_factory=lambda: Kinds.asked(None))
    longest: int | None = None
    stream: str | None = None
    heads: bool = True
    """Whether patterns and disagreements are told, head by head."""


@dataclass(frozen=True)
class Outcome:
    """What came of some texts."""

    tally: Tally
    failures: tuple[Failure, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    """The layers, heads and model that were met."""


def batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Texts of like length together, sorted within a window so that memory does not grow."""
    waiting = iter(items)
    while window := list(islice(waiting, WINDOW * size)):
        window.sort(key=lambda item: len(item.text) + len(item.pair or ""))
        for start in range(0, len(window), size):
            yield window[start : start + size]


def measured(job: Job, batch: Sequence[Item]) -> Outcome:
    """What a batch adds; a text that fails is noted with its reason, and the others go on."""
    whole = [item for item in batch if not item.problem]
    failures = [failed(item, item.problem) for item in batch if item.problem]
    tally = Tally()
    facts: dict[str, Any] = {}
    for some in _alike(whole):
        try:
            parts, facts = _run(job, some)
        except Exception:  # noqa: BLE001 - whichever of them it was, the others are not to blame
            parts = []
            for item in some:
                try:
                    one, facts = _run(job, [item])
                    parts += one
                except Exception as error:  # noqa: BLE001 - it is noted with its reason
                    failures.append(failed(item, str(error) or type(error).__name__))
        for part in parts:
            tally = tally + part
    return Outcome(tally, tuple(failures), facts)


def _alike(items: Sequence[Item]) -> Iterator[list[Item]]:
    """Texts and pairs apart: a batch has either."""
    for paired in (False, True):
        some = [item for item in items if (item.pair is not None) == paired]
        if some:
            yield some


def _run(job: Job, items: Sequence[Item]) -> tuple[list[Tally], dict[str, Any]]:
    loaded = loaded_for(job)
    options = Options.asked(job.measures)
    steps = [[item] for item in items] if options.one_by_one else [list(items)]
    found: list[Tally] = []
    facts: dict[str, Any] = {}
    for some in steps:
        prepared = _prepared(loaded, some, job.longest)
        for item, flow in zip(some, run_batch(loaded, prepared, options), strict=True):
            stream = flow.stream(job.stream)
            facts = {"layers": stream.layers, "heads": stream.heads, "model": loaded.name,
                     "stream": stream.name}  # fmt: skip
            found.append(
                tallied(flow, job.kinds, stream=stream.name, text=item.text, heads=job.heads)
            )
    return found, facts


def _prepared(loaded: LoadedModel, items: Sequence[Item], longest: int | None) -> room.ModelInputs:
    pairs = [item.pair or "" for item in items] if items[0].pair is not None else None
    texts = [item.text for item in items]
    cut = longest is not None
    return room.from_texts(loaded.model, loaded.tokenizer, texts, pairs, truncate=cut, most=longest)


def loaded_for(job: Job) -> LoadedModel:
    """The model of a job, loaded once in each process; one that is given is taken as it is."""
    if isinstance(job.model, str | Path):
        with _LOADING:  # threads that ask at once would each load it
            return _by_name(str(job.model), job.tokenizer, job.dtype)
    return load_model(job.model, job.tokenizer, dtype=job.dtype)


@lru_cache(maxsize=1)
def _by_name(model: str, tokenizer: Any, dtype: Any) -> LoadedModel:
    return load_model(model, tokenizer, dtype=dtype)


def failed(item: Item, reason: str) -> Failure:
    """A text that was not measured, with the reason."""
    return Failure(item.number, item.text[:80], reason)

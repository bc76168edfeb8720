"""A model run over batches of texts: the sums and failures of each batch."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from normviz.core.failure import Failure
from normviz.corpus.categories import Categories
from normviz.corpus.sources import Item
from normviz.corpus.summarize import summarize_text
from normviz.corpus.sums import CorpusSums
from normviz.model.batches import each_or_all
from normviz.model.inputs import from_texts
from normviz.model.limits import MaxTokens
from normviz.model.loading import LoadedModel, load_model
from normviz.model.options import Options
from normviz.model.run import run_batch

_LOADING = Lock()


@dataclass(frozen=True)
class Job:
    """What a worker needs to know; everything in it can be sent to another machine."""

    model: Any
    tokenizer: Any = None
    dtype: Any = None
    measures: tuple[str, ...] = ()
    categories: Categories = field(default_factory=lambda: Categories.from_user(None))
    max_tokens: MaxTokens | None = None
    stream: str | None = None
    head_patterns: bool = True
    """Whether patterns and disagreements of single heads are measured."""


@dataclass(frozen=True)
class Outcome:
    """The sums of some texts, and the texts that failed."""

    sums: CorpusSums
    failures: tuple[Failure, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    """The name of the model, its stream, layers and heads, and what counted as punctuation."""


def text_length(item: Item) -> int:
    """Return the number of characters of a text and its pair, to batch similar ones together."""
    return len(item.text) + len(item.pair or "")


def measure_batch(job: Job, batch: Sequence[Item]) -> Outcome:
    """Return the sums of a batch; a text that fails is recorded with its reason."""
    failures = [failure_of(item, item.problem) for item in batch if item.problem]
    sums = CorpusSums()
    facts: dict[str, Any] = {}
    for items in _split_pairs([item for item in batch if not item.problem]):
        results, failed = each_or_all(lambda some: _measure(job, some), items)
        for text_sums, facts in results:  # noqa: B007 - the last ones are kept
            sums = sums + text_sums
        failures += [failure_of(item, str(error) or type(error).__name__) for item, error in failed]
    return Outcome(sums, tuple(failures), facts)


def _split_pairs(items: Sequence[Item]) -> Iterator[list[Item]]:
    """Yield single texts and pairs separately: a batch has only one of the two."""
    for paired in (False, True):
        some = [item for item in items if (item.pair is not None) == paired]
        if some:
            yield some


def _measure(job: Job, items: Sequence[Item]) -> Iterator[tuple[CorpusSums, dict[str, Any]]]:
    """Yield the sums of each text, and the facts of the model."""
    loaded = load_for(job)
    options = Options.from_user(job.measures)
    batches = [[item] for item in items] if options.one_by_one else [list(items)]
    for batch in batches:
        texts = [item.text for item in batch]
        pairs = None if batch[0].pair is None else [item.pair or "" for item in batch]
        inputs = from_texts(loaded.model, loaded.tokenizer, texts, pairs, max_tokens=job.max_tokens)
        for item, flow in zip(batch, run_batch(loaded, inputs, options), strict=True):
            stream = flow.stream(job.stream)
            facts = {"layers": stream.layers, "heads": stream.heads, "model": loaded.name,
                     "stream": stream.name,
                     "punctuation": job.categories.punctuation}  # fmt: skip
            yield summarize_text(
                flow, job.categories, stream=stream.name, text=item.text,
                head_patterns=job.head_patterns,
            ), facts  # fmt: skip


def load_for(job: Job) -> LoadedModel:
    """Return the model of a job, loaded once in each process; a model object is used as it is."""
    if isinstance(job.model, str | Path):
        with _LOADING:  # otherwise several threads would each load it
            return _load_by_name(str(job.model), job.tokenizer, job.dtype)
    return load_model(job.model, job.tokenizer, dtype=job.dtype)


@lru_cache(maxsize=1)
def _load_by_name(model: str, tokenizer: Any, dtype: Any) -> LoadedModel:
    return load_model(model, tokenizer, dtype=dtype)


def failure_of(item: Item, reason: str) -> Failure:
    """Return the failure of a text, with the reason."""
    return Failure(item.number, item.text[:80], reason)

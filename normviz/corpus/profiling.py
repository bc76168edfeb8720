"""A whole corpus in one function: batches out, sums in, on one machine or many."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from normviz.catalog import DEFAULT, chosen
from normviz.corpus.checkpoint import begun
from normviz.corpus.kinds import Kinds
from normviz.corpus.profile import Profile
from normviz.corpus.running import Job, Outcome, batches, measured
from normviz.corpus.sources import Item, items_of
from normviz.errors import BadInput
from normviz.progress import counting

AHEAD = 16
"""How many batches wait for workers: none is idle, and memory does not grow."""


def profile(
    texts: Any,
    model: Any = "demo",
    tokenizer: Any = None,
    *,
    measures: str | Iterable[str] = DEFAULT,
    categories: Any = None,
    column: str | None = None,
    longest: int | None = None,
    batch_size: int = 16,
    stream: str | None = None,
    heads: bool = True,
    dtype: Any = None,
    checkpoint: str | Path | None = None,
    executor: Any = None,
) -> Profile:
    """What a model does on average over a corpus: Experiment 1 of Kobayashi et al. 2020 as a tool.

    Texts are read as they are needed and only sums are kept, so that memory does not grow with
    their number. α and ‖αf(x)‖ are added up over the keys of a category, averaged over queries and
    then over texts; ‖f(x)‖ is averaged over the tokens of a category, then over texts (the paper's
    averaging); intervals are those between texts.

    Parameters
    ----------
    texts
        Texts or pairs of texts, a `Path` to a file (`.txt`: a text on each line, `.jsonl`) or a
        folder of them, a dataset or dataframe with a `column` of texts.
    model, tokenizer, dtype
        As for `analyze`. For other processes, a name or folder: each loads the model once.
    measures
        As for `analyze`. Rungs of the ladder bring their mixing ratios.
    categories
        None for [CLS], [SEP], punctuation and other; a mapping of names to regular expressions that
        words are matched with, in order; or a function that gets the `Tokens` of a text and gives a
        name for each, such as its part of speech.
    column
        The column that holds the texts.
    longest
        After how many tokens a text is cut off; without it, one that is too long fails.
    batch_size
        How many texts of like length go together.
    stream
        Which attention, where the model has several.
    heads
        Whether the heads' patterns and disagreements are told as well; they cost as much as the
        masses.
    checkpoint
        A file that holds how far the run has come: called again after a kill, it goes on there.
    executor
        Any `concurrent.futures.Executor` to run batches in, such as Dask's
        `Client(...).get_executor()`.
    """
    _refuse_nonsense(batch_size, longest)
    job = Job(
        _sendable(model, executor), tokenizer, dtype, chosen(measures), Kinds.asked(categories),
        longest, stream, heads,
    )  # fmt: skip
    sofar = begun(checkpoint, job)
    waiting = (item for item in items_of(texts, column) if not sofar.has(item))
    with counting("texts", _length(texts)) as step:
        step(sofar.count)
        for batch, outcome in _outcomes(job, batches(waiting, batch_size), executor):
            sofar.add(batch, outcome)
            step(len(batch))
    return sofar.finished()


def _outcomes(
    job: Job, work: Iterable[list[Item]], executor: Executor | None
) -> Iterator[tuple[Sequence[Item], Outcome]]:
    """Every batch with what came of it, in any order."""
    if executor is None:
        yield from ((batch, measured(job, batch)) for batch in work)
        return
    running: dict[Future[Outcome], list[Item]] = {}
    for batch in work:
        running[executor.submit(measured, job, batch)] = batch
        if len(running) >= AHEAD:
            yield from _collected(running)
    while running:
        yield from _collected(running)


def _collected(
    running: dict[Future[Outcome], list[Item]],
) -> Iterator[tuple[Sequence[Item], Outcome]]:
    """What is done, taken out of what is running; waits for at least one."""
    done, _ = wait(running, return_when=FIRST_COMPLETED)
    for future in done:
        yield running.pop(future), future.result()


def _sendable(model: Any, executor: Any) -> Any:
    here = executor is None or isinstance(executor, ThreadPoolExecutor)
    if here or isinstance(model, str | Path):
        return model
    raise BadInput(
        f"The model is a {type(model).__name__}, and an executor is to run it elsewhere.",
        "Each worker loads the model itself: texts travel, weights do not.",
        "Save the model to a folder that all workers see, and give its path.",
    )


def _length(texts: Any) -> int | None:
    try:
        return len(texts)
    except TypeError:
        return None


def _refuse_nonsense(batch_size: int, longest: int | None) -> None:
    for name, value in (("batch_size", batch_size), ("longest", longest)):
        if value is not None and value < 1:
            raise BadInput(
                f"{name} is {value}.", "A number of at least one is wanted.", f"Give {name}=16."
            )

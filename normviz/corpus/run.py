"""A whole corpus in one function: batches out, sums in, on one machine or many."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from normviz.core.catalog import DEFAULT, parse_measures
from normviz.corpus.categories import Kinds
from normviz.corpus.checkpoint import begun
from normviz.corpus.executor import outcomes, refuse_unsendable
from normviz.corpus.profile import Profile
from normviz.corpus.sources import items_of
from normviz.corpus.worker import Job, batches
from normviz.errors import BadInput
from normviz.system.progress import track_progress


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
        As for `analyze`. For other processes, names or folders: each loads the model once.
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
        `Client(...).get_executor()`. What is lost with a worker is sent once more, text by text;
        a text that is lost twice is among the failures.
    """
    _refuse_nonsense(batch_size, longest)
    refuse_unsendable(model, tokenizer, executor)
    job = Job(
        model,
        tokenizer,
        dtype,
        parse_measures(measures),
        Kinds.asked(categories),
        longest,
        stream,
        heads,
    )
    sofar = begun(checkpoint, job)
    waiting = (item for item in items_of(texts, column) if not sofar.has(item))
    with track_progress("texts", _length(texts)) as step:
        step(sofar.count)
        for batch, outcome in outcomes(job, batches(waiting, batch_size), executor):
            sofar.add(batch, outcome)
            step(len(batch))
    return sofar.finished()


def _length(texts: Any) -> int | None:
    """How many texts there are, where that is known before they are read."""
    if isinstance(texts, str):  # a path
        return None
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

"""A profile of a whole corpus: batches out, sums in, on one machine or many."""

from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from normviz.core.axes import StreamName
from normviz.core.catalog import DEFAULT, parse_measures
from normviz.core.keywords import refuse_unknown_keywords
from normviz.corpus.arguments import require_at_least, require_model_and_texts
from normviz.corpus.categories import Categories, CategoryRules
from normviz.corpus.checkpoint import open_checkpoint
from normviz.corpus.executor import refuse_unsendable, run_batches
from normviz.corpus.profile import Profile
from normviz.corpus.sources import Texts, read_items
from normviz.corpus.worker import Job, text_length
from normviz.model.batches import batched
from normviz.model.limits import MaxTokens, require_max_tokens
from normviz.system.progress import track_progress

if TYPE_CHECKING:
    import torch

    from normviz.core.words import Punctuation
    from normviz.model.options import Measures
    from normviz.model.types import Model, Tokenizer


@refuse_unknown_keywords
def profile(
    model: "Model",
    texts: "Texts",
    *,
    tokenizer: "Tokenizer | str | Path | None" = None,
    measures: "Measures" = DEFAULT,
    categories: "CategoryRules | None" = None,
    punctuation: "Punctuation" = "unicode",
    column: str | None = None,
    max_tokens: "MaxTokens | None" = None,
    batch_size: int = 16,
    stream: StreamName | None = None,
    head_patterns: bool = True,
    dtype: "str | torch.dtype | None" = None,
    checkpoint: str | Path | None = None,
    executor: Executor | None = None,
) -> Profile:
    """Measure what a model does on average over a corpus (Kobayashi et al. 2020, Experiment 1).

    Texts are read as they are needed and only sums are kept, so that memory does not grow with the
    corpus. α and ‖αf(x)‖ are summed over the keys of a category, averaged over queries and then
    over texts; ‖f(x)‖ is averaged over the tokens of a category, then over texts, as in the paper.
    `Profile.share` says what its shares are. α and ‖f(x)‖ are correlated over all pairs of tokens;
    correlations with frequency use every token, or of more than 200,000 a random sample of that
    size (seed 0). Intervals are those between texts.

    Parameters
    ----------
    model, tokenizer, dtype
        As for `analyze`. For other processes, names or folders: each loads the model once.
    texts
        Texts or pairs of texts, a `Path` to a file (`.txt`: a text on each line, `.jsonl`) or a
        folder of them, a dataset or dataframe with a `column` of texts.
    measures
        As for `analyze`. Rungs of the ladder bring their mixing ratios.
    categories
        None for [CLS], [SEP], punctuation and other; a mapping of names to regular expressions that
        words are matched with, in order; or a function that takes the `Tokens` of a text and
        returns a name for each, such as its part of speech. [UNK] is a word like others.
    punctuation
        Which tokens are in the category of punctuation, also for the patterns of heads: with
        `"unicode"` those of punctuation and symbols only, by Unicode's categories; with `"paper"`
        only “,” and “.”, as in Kobayashi et al. 2020, and the rest are `other`.
    column
        The column that holds the texts.
    max_tokens
        Where longer texts are truncated: a number of tokens, or `"model"` for the model's limit.
        By default a text that the model cannot take is one of the failures.
    batch_size
        How many texts of similar length run together.
    stream
        Which attention, if the model has several.
    head_patterns
        Whether to measure the patterns of single heads and how far α and ‖αf(x)‖ disagree in them;
        they cost as much as everything else.
    checkpoint
        A file that holds the progress of the run: called again after a kill, it continues there.
    executor
        Any `concurrent.futures.Executor` to run batches in, such as Dask's
        `Client(...).get_executor()`. A batch that is lost with a worker is sent once more, text by
        text; a text that is lost twice is one of the failures.

    Returns
    -------
    Profile
        Shares, masses and means by layer, head and category, with tables, charts and a report.
    """
    require_model_and_texts("profile", model, texts, tokenizer)
    require_at_least(1, batch_size=batch_size)
    require_max_tokens(max_tokens)
    refuse_unsendable(model, tokenizer, executor)
    job = Job(
        model,
        tokenizer,
        dtype,
        parse_measures(measures),
        Categories.from_user(categories, punctuation),
        max_tokens,
        stream,
        head_patterns,
    )
    progress = open_checkpoint(checkpoint, job)
    remaining = (item for item in read_items(texts, column) if not progress.has(item))
    batches = batched(remaining, batch_size, text_length)
    with track_progress("texts", _count(texts)) as step:
        step(progress.count)
        for batch, outcome in run_batches(job, batches, executor):
            progress.add(batch, outcome)
            step(len(batch))
    return progress.finish()


def _count(texts: Any) -> int | None:
    """Return the number of texts, if it is known before they are read."""
    if isinstance(texts, str):  # a path
        return None
    try:
        return len(texts)
    except TypeError:
        return None

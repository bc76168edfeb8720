"""Word alignment over a corpus of translations, as in Experiment 2 of Kobayashi et al. 2020."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from normviz.alignment.align import SETTINGS, Grouping, align, grouped
from normviz.alignment.scores import Sentences, golds_of, pairs_of
from normviz.alignment.words import recounted
from normviz.core.flow import Flow
from normviz.core.gold import Link
from normviz.corpus.sums import Failure
from normviz.errors import BadInput, NormvizError
from normviz.model.analyze import analyze_many
from normviz.model.inputs import has_encoder
from normviz.model.loading import LoadedModel, load_model
from normviz.studies.word_alignment.counts import Tally
from normviz.studies.word_alignment.result import Alignments
from normviz.system.progress import track_progress

if TYPE_CHECKING:
    from pathlib import Path

    import torch

Pair = tuple[tuple[str, ...], tuple[str, ...]]
"""A source and a target, in words."""


def alignment(
    model: Any,
    pairs: "Sentences | str | Path",
    gold: Any,
    *,
    tokenizer: Any = None,
    texts: Sequence[tuple[str, str]] | None = None,
    prefix: str = "",
    languages: tuple[str, str] | None = None,
    gold_format: str | None = None,
    batch_size: int = 16,
    dtype: "str | torch.dtype | None" = None,
) -> Alignments:
    """How well words can be aligned by cross-attention: by weight and by norm, layer by layer.

    The protocol of Kobayashi et al. 2020: the decoder is taught the reference; numbers are added
    up over the pieces of a source word and averaged over those of a target word; each target word
    is linked to the source word with most, or to none where a token that is no word has most.

    Parameters
    ----------
    model, tokenizer
        An encoder–decoder, as for `analyze`.
    pairs
        Pairs (source, target) of sentences in the words that the gold set counts: lists, or strings
        with spaces between words; or a file with `source ||| target` in each line.
    gold
        For each pair the links that people drew, as for `aer`: a file, lines, or `Gold` objects.
    texts
        The same sentences as the model is to read them, where that is not with a space between all
        words: they are matched with the words by their characters.
    prefix
        What stands before each source, such as T5's `"translate English to German: "`. Its tokens
        are no words to link.
    languages
        Source and target as the tokenizer names them, for models that translate between many, such
        as `("es_XX", "en_XX")`. The tokenizer comes back as it was.
    gold_format
        `"pharaoh"`, `"talp"` or `"naacl"`, where the file does not tell itself.
    batch_size
        How many pairs go through the model together.
    dtype
        The precision to run in.

    Returns
    -------
    Alignments
        Error rates by measure, setting, layer and head, with a table and charts. A pair that cannot
        be aligned is listed in `.failures`, and the others are counted without it.
    """
    sentences, links = pairs_of(pairs), golds_of(gold, gold_format)
    if len(sentences) != len(links):
        raise BadInput(
            f"There are {len(sentences)} pairs of sentences, and gold links of {len(links)}.",
            "Both must be of the same pairs, in the same order.",
            "Give an empty line for a pair without links.",
        )
    corpus = Corpus(load_model(model, tokenizer, dtype=dtype), sentences, prefix, languages, texts)
    tally, failures = Tally(), list[Failure]()
    for number, flow in corpus.flows(batch_size, failures):
        try:
            words = corpus.grouped(number, flow)
        except BadInput as error:
            failures.append(Failure(number, flow.title, str(error)))
            continue
        tally.add(flow.cross, words, links[number], number + 1)
    if not tally.pairs:
        raise BadInput(
            f"None of {len(sentences)} pairs could be aligned; the first: {failures[0].reason}",
            "At least one is wanted.",
            "See what its words and the tokens of the model have in common.",
        )
    return tally.result(corpus.loaded.name, failures)


def links(
    model: Any,
    pairs: "Sentences | str | Path",
    *,
    tokenizer: Any = None,
    prefix: str = "",
    languages: tuple[str, str] | None = None,
    batch_size: int = 16,
    **where: Any,
) -> tuple[list[frozenset[Link]], tuple[Failure, ...]]:
    """The links of many pairs, in order, and the pairs that have none since they failed.

    `where` is what `align` takes: `measure`, `layer`, `heads`, `setting`.
    """
    sentences = pairs_of(pairs)
    corpus = Corpus(load_model(model, tokenizer), sentences, prefix, languages)
    found: list[frozenset[Link]] = [frozenset()] * len(sentences)
    failures: list[Failure] = []
    for number, flow in corpus.flows(batch_size, failures):
        source, target = sentences[number]
        try:
            words = {"source": source, "target": target, "prefix": prefix}
            found[number] = align(flow, **words, **where).links  # type: ignore[arg-type]
        except BadInput as error:
            failures.append(Failure(number, flow.title, str(error)))
    return found, tuple(sorted(failures, key=lambda one: one.number))


@dataclass(frozen=True)
class Corpus:
    """Translations that a model is to be taught, one after the other."""

    loaded: LoadedModel
    sentences: Sequence[Pair]
    prefix: str = ""
    languages: tuple[str, str] | None = None
    texts: Sequence[tuple[str, str]] | None = None

    def __post_init__(self) -> None:
        """Refuse models that do not translate, and corpora that do not fit together."""
        if not has_encoder(self.loaded.model):
            raise BadInput(
                f"{self.loaded.name} is no encoder–decoder.",
                "Words are aligned by the attention of a decoder to an encoder.",
                "Give a translation model, such as one of the Marian family.",
            )
        if not self.sentences:
            raise BadInput(
                "There are no sentences.", "At least one pair is wanted.", "Give a list of pairs."
            )
        if self.texts is not None and len(self.texts) != len(self.sentences):
            raise BadInput(
                f"There are {len(self.texts)} texts, and {len(self.sentences)} pairs of sentences.",
                "The texts are the same sentences as the model is to read them.",
                "Give one for each pair, or leave texts out.",
            )

    def flows(self, batch_size: int, failures: list[Failure]) -> Iterator[tuple[int, Flow]]:
        """Flows of the pairs with their numbers, like lengths together; and what went wrong."""
        order = sorted(range(len(self.sentences)), key=lambda n: sum(map(len, self.sentences[n])))
        with (
            _speaking(self.loaded.tokenizer, self.languages),
            track_progress("pairs", len(order)) as step,
        ):
            for start in range(0, len(order), batch_size):
                for number, flow in self._batch(order[start : start + batch_size], failures):
                    yield number, flow
                    step()

    def _batch(self, numbers: Sequence[int], failures: list[Failure]) -> list[tuple[int, Flow]]:
        """The flows of some pairs; where one cannot be run, the others are run without it."""
        spoken = [self._spoken(number) for number in numbers]
        sources, targets = ([pair[side] for pair in spoken] for side in (0, 1))
        model, tokenizer = self.loaded.model, self.loaded.tokenizer
        try:
            found = list(
                analyze_many(model, tokenizer, sources, targets=targets, batch_size=len(numbers))
            )
        except NormvizError as error:
            if len(numbers) > 1:
                return [one for number in numbers for one in self._batch([number], failures)]
            failures.append(Failure(numbers[0], sources[0], str(error)))
            return []
        return list(zip(numbers, found, strict=True))

    def grouped(self, number: int, flow: Flow) -> dict[str, Grouping]:
        """The words of a pair in its flow, for each setting."""
        stream = recounted(flow.cross, *self.sentences[number], self.prefix)
        return {setting: grouped(stream, setting) for setting in SETTINGS}

    def _spoken(self, number: int) -> tuple[str, str]:
        """What the model is given: the source behind its prefix, and the target."""
        given = self.sentences[number] if self.texts is None else self.texts[number]
        source, target = (side if isinstance(side, str) else " ".join(side) for side in given)
        return f"{self.prefix}{source}", target


@contextmanager
def _speaking(tokenizer: Any, languages: tuple[str, str] | None) -> Iterator[None]:
    """A tokenizer that knows from which language to which, for the length of a `with`."""
    if languages is None:
        yield
        return
    names = ("src_lang", "tgt_lang")
    if not all(hasattr(tokenizer, name) for name in names):
        raise BadInput(
            f"{type(tokenizer).__name__} knows no languages, and languages is {languages!r}.",
            "languages=… is for tokenizers of many languages (mBART, M2M100, NLLB).",
            "Leave it out.",
        )
    before = [getattr(tokenizer, name) for name in names]
    try:
        for name, language in zip(names, languages, strict=True):
            setattr(tokenizer, name, language)
        yield
    finally:
        for name, language in zip(names, before, strict=True):
            if language is not None:
                setattr(tokenizer, name, language)

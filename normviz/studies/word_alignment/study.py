"""Word alignment over a corpus of translations, as in Experiment 2 of Kobayashi et al. 2020."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from normviz.alignment.align import TARGET_ROWS, TargetRow, WordGrouping, align, group_words
from normviz.alignment.formats import LinkFormat
from normviz.alignment.scores import (
    Links,
    SentencePair,
    Sentences,
    parse_gold,
    read_sentence_pairs,
)
from normviz.alignment.words import regroup_stream, require_cross_stream
from normviz.core.failure import Failure
from normviz.core.flow import Flow
from normviz.core.gold import Link
from normviz.core.keywords import refuse_unknown_keywords
from normviz.corpus.arguments import require_at_least, require_model_and_texts
from normviz.errors import BadInput, NormvizError
from normviz.model.analyze import analyze_many
from normviz.model.batches import batched, each_or_all
from normviz.model.inputs import has_encoder
from normviz.model.loading import LoadedModel, load_model
from normviz.studies.word_alignment.counts import AlignmentCounts
from normviz.studies.word_alignment.result import Alignments
from normviz.system.progress import track_progress

if TYPE_CHECKING:
    from pathlib import Path

    import torch

    from normviz.model.types import Model, Tokenizer


@refuse_unknown_keywords
def alignment(
    model: "Model",
    pairs: "Sentences | str | Path",
    gold: "Links",
    *,
    tokenizer: "Tokenizer | str | Path | None" = None,
    texts: Sequence[tuple[str, str]] | None = None,
    prefix: str = "",
    languages: tuple[str, str] | None = None,
    gold_format: LinkFormat | None = None,
    batch_size: int = 16,
    dtype: "str | torch.dtype | None" = None,
) -> Alignments:
    """Measure how well cross-attention aligns words, by weight and by norm, in every layer.

    The protocol of Kobayashi et al. 2020: the decoder reads the reference translation; values are
    summed over the tokens of a source word and averaged over those of a target word; each target
    word is linked to the source word with the largest value, or to none if a token outside all
    words has a larger one.

    Parameters
    ----------
    model, tokenizer
        An encoder–decoder, as for `analyze`.
    pairs
        Sentence pairs (source, target) in the words of the gold set: lists, or strings with spaces
        between words; or a file with `source ||| target` on each line.
    gold
        The gold links of each pair, as for `aer`: a file, lines, or `Gold` objects.
    texts
        The same sentences as the model reads them, if not with a space between all words: they are
        matched with the words by their characters.
    prefix
        The text before each source, such as T5's `"translate English to German: "`. Its tokens
        get no links.
    languages
        Source and target as the tokenizer names them, for models that translate between many, such
        as `("es_XX", "en_XX")`. The tokenizer's own languages are restored afterwards.
    gold_format
        `"pharaoh"`, `"talp"` or `"naacl"`, if it cannot be detected.
    batch_size
        How many pairs run together.
    dtype
        The precision to run in.

    Returns
    -------
    Alignments
        Error rates by measure, target row, layer and head, with a table and charts. A pair that
        cannot be aligned is listed in `.failures`, and the others are counted without it.
    """
    _check_arguments("alignment", model, pairs, tokenizer, batch_size)
    sentences, golds = read_sentence_pairs(pairs), parse_gold(gold, gold_format)
    if len(sentences) != len(golds):
        raise BadInput(
            f"There are {len(sentences)} sentence pairs, and gold links of {len(golds)}.",
            "Expected both for the same pairs, in the same order.",
            "Use an empty line for a pair without links.",
        )
    loaded = load_model(model, tokenizer, dtype=dtype)
    corpus = TranslationCorpus(loaded, sentences, prefix, languages, texts)
    counts, failures = AlignmentCounts(), list[Failure]()
    for number, flow in corpus.analyze_pairs(batch_size, failures):
        try:
            groupings = corpus.group_words(number, flow)
        except BadInput as error:
            failures.append(Failure(number, flow.title, str(error)))
            continue
        counts.add(require_cross_stream(flow), groupings, golds[number], number + 1)
    if not counts.pairs:
        raise BadInput(
            f"All {len(sentences)} pairs failed; the first: {failures[0].reason}",
            "Expected at least one pair that can be aligned.",
            "Compare its words with the tokens of the model.",
        )
    return counts.result(loaded.name, failures)


def link_words(
    model: "Model",
    pairs: "Sentences | str | Path",
    *,
    tokenizer: "Tokenizer | str | Path | None" = None,
    prefix: str = "",
    languages: tuple[str, str] | None = None,
    batch_size: int = 16,
    measure: str = "weighted-norm",
    layer: int | None = None,
    heads: Collection[int] | None = None,
    target_row: TargetRow = "input",
) -> tuple[list[frozenset[Link]], tuple[Failure, ...]]:
    """Return the links of many pairs, in order, and the failures of pairs without links.

    Parameters
    ----------
    model, pairs, tokenizer, prefix, languages, batch_size
        As for `alignment`.
    measure, layer, heads, target_row
        As for `align`.
    """
    _check_arguments("link_words", model, pairs, tokenizer, batch_size)
    sentences = read_sentence_pairs(pairs)
    corpus = TranslationCorpus(load_model(model, tokenizer), sentences, prefix, languages)
    links: list[frozenset[Link]] = [frozenset()] * len(sentences)
    failures: list[Failure] = []
    for number, flow in corpus.analyze_pairs(batch_size, failures):
        source, target = sentences[number]
        try:
            links[number] = align(
                flow, measure, layer=layer, heads=heads, target_row=target_row, source=source,
                target=target, prefix=prefix,
            ).links  # fmt: skip
        except BadInput as error:
            failures.append(Failure(number, flow.title, str(error)))
    return links, tuple(sorted(failures, key=lambda failure: failure.number))


def _check_arguments(caller: str, model: Any, pairs: Any, tokenizer: Any, batch_size: Any) -> None:
    require_model_and_texts(caller, model, pairs, tokenizer, name="pairs")
    require_at_least(1, batch_size=batch_size)


@dataclass(frozen=True)
class TranslationCorpus:
    """Sentence pairs, and the model whose decoder reads their targets."""

    loaded: LoadedModel
    sentences: Sequence[SentencePair]
    prefix: str = ""
    languages: tuple[str, str] | None = None
    texts: Sequence[tuple[str, str]] | None = None

    def __post_init__(self) -> None:
        """Refuse models that do not translate, and texts that do not match the sentences."""
        if not has_encoder(self.loaded.model):
            raise BadInput(
                f"{self.loaded.name} is not an encoder–decoder.",
                "Expected one: words are aligned by the attention of a decoder to an encoder.",
                "Give a translation model, such as one of the Marian family.",
            )
        if not self.sentences:
            raise BadInput(
                "There are no sentences.", "Expected at least one pair.", "Give a list of pairs."
            )
        if self.texts is not None and len(self.texts) != len(self.sentences):
            raise BadInput(
                f"There are {len(self.texts)} texts, and {len(self.sentences)} sentence pairs.",
                "Expected the same sentences as the model reads them.",
                "Give one for each pair, or leave texts out.",
            )

    def analyze_pairs(self, batch_size: int, failures: list[Failure]) -> Iterator[tuple[int, Flow]]:
        """Yield the flow of each pair with its number, similar lengths together.

        Pairs that fail are added to `failures`.
        """
        order = sorted(range(len(self.sentences)), key=lambda n: sum(map(len, self.sentences[n])))
        with (
            _set_languages(self.loaded.tokenizer, self.languages),
            track_progress("pairs", len(order)) as step,
        ):
            for batch in batched(order, batch_size):
                flows, failed = each_or_all(self._analyze, batch, NormvizError)
                failures += [
                    Failure(number, self._model_texts(number)[0], str(error))
                    for number, error in failed
                ]
                for number, flow in flows:
                    yield number, flow
                    step()

    def _analyze(self, numbers: Sequence[int]) -> Iterator[tuple[int, Flow]]:
        sources, targets = zip(*map(self._model_texts, numbers), strict=True)
        flows = analyze_many(
            self.loaded.model, texts=sources, tokenizer=self.loaded.tokenizer, targets=targets,
            batch_size=len(numbers),
        )  # fmt: skip
        return zip(numbers, flows, strict=True)

    def group_words(self, number: int, flow: Flow) -> dict[str, WordGrouping]:
        """Return the words of a pair in its flow, for each target row."""
        stream = regroup_stream(require_cross_stream(flow), *self.sentences[number], self.prefix)
        return {target_row: group_words(stream, target_row) for target_row in TARGET_ROWS}

    def _model_texts(self, number: int) -> tuple[str, str]:
        """Return the texts that the model reads: the source after its prefix, and the target."""
        pair = self.sentences[number] if self.texts is None else self.texts[number]
        source, target = (text if isinstance(text, str) else " ".join(text) for text in pair)
        return f"{self.prefix}{source}", target


@contextmanager
def _set_languages(tokenizer: Any, languages: tuple[str, str] | None) -> Iterator[None]:
    """Set the languages of a tokenizer within a `with` block."""
    if languages is None:
        yield
        return
    names = ("src_lang", "tgt_lang")
    if not all(hasattr(tokenizer, name) for name in names):
        raise BadInput(
            f"{type(tokenizer).__name__} has no languages, and languages is {languages!r}.",
            "Expected languages=… only for tokenizers of many languages (mBART, M2M100, NLLB).",
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

"""Words of an alignment: the tokenizer's, or those of somebody else's word segmentation."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Literal

from normviz.core.axes import StreamKind
from normviz.core.flow import Flow
from normviz.core.stream import Stream
from normviz.core.token_matching import match_tokens
from normviz.core.tokens import Tokens, is_unknown
from normviz.errors import BadInput

Words = str | Iterable[str]
"""A list of words, or one string with spaces between them."""
LanguageSide = Literal["source", "target"]
LANGUAGE_SIDES: dict[StreamKind | None, tuple[LanguageSide, LanguageSide]] = {
    "encoder": ("source", "source"),
    "decoder": ("target", "target"),
    "cross": ("target", "source"),
}
"""For each stream of a translation, the language of its queries and of its keys."""


def find_cross_stream(flow: Flow) -> Stream | None:
    """Return the first stream that leads from one text to another, whatever its name; or None."""
    return next((stream for stream in flow.streams.values() if stream.kind == "cross"), None)


def require_cross_stream(flow: Flow) -> Stream:
    """Return the stream that words are aligned by; raise `BadInput` where there is none."""
    stream = find_cross_stream(flow)
    if stream is None:
        raise BadInput(
            f"This flow has no cross stream, only: {', '.join(flow.streams)}.",
            "Links join the words of two texts, so expected a stream from one to the other.",
            "Analyze a translation: normviz.analyze(model, text, target=…).",
        )
    return stream


def split_words(words: Words) -> tuple[str, ...]:
    """Return a list of words; a string is split at its spaces."""
    return tuple(words.split()) if isinstance(words, str) else tuple(words)


def word_indices(tokens: Tokens) -> tuple[int | None, ...]:
    """Return the index of each token's word, counted without special tokens, which have None."""
    words = [
        word for word, special in zip(tokens.words, tokens.special, strict=True) if not special
    ]
    order = {word: index for index, word in enumerate(dict.fromkeys(words))}
    return tuple(
        None if special else order[word]
        for word, special in zip(tokens.words, tokens.special, strict=True)
    )


def content_words(tokens: Tokens) -> tuple[str, ...]:
    """Return the words that are not special, in order."""
    indices = zip(word_indices(tokens), tokens.words, strict=True)
    words = {index: tokens.word_texts[word] for index, word in indices}
    return tuple(words[index] for index in sorted(index for index in words if index is not None))


def regroup_stream(
    stream: Stream, source: Words | None, target: Words | None, prefix: str = ""
) -> Stream:
    """Return a stream of a translation with its tokens grouped into these words, where given."""
    words = {"source": (source, prefix), "target": (target, "")}
    queries, keys = (
        tokens if words[side][0] is None else regroup_tokens(tokens, *words[side])  # type: ignore[arg-type]
        for tokens, side in zip(
            (stream.queries, stream.keys), LANGUAGE_SIDES[stream.kind], strict=True
        )
    )
    return replace(stream, queries=queries, keys=keys)


def regroup_tokens(tokens: Tokens, words: Words, prefix: str = "") -> Tokens:
    """Return the same tokens grouped into these words.

    Tokens and words are matched by their characters, whatever the tokenizer's words are. A token
    that lies in two words goes to the one with more of its characters. A piece that is only a space
    (`▁`) belongs to the word after it, an unknown token to the word of its place that no other
    token has. Tokens in no word, such as those of the prefix before a text, become special.
    """
    before, wanted = split_words(prefix), split_words(words)
    indices = [
        None if index is None or index < len(before) else index - len(before)
        for index in _match_words(tokens, (*before, *wanted))
    ]
    missing = [word for index, word in enumerate(wanted) if index not in indices]
    if missing:
        raise BadInput(
            f"The word {missing[0]!r} has no token of its own in {' '.join(tokens)!r}.",
            "Expected at least one token for every word.",
            "Give the words of the text that was analyzed, split as the tokenizer can follow.",
        )
    return _with_words(tokens, indices, wanted)


def _match_words(tokens: Tokens, words: Sequence[str]) -> list[int | None]:
    """Return the index of each token's word, in rising order; None for tokens in no word."""
    matched = match_tokens(tokens, Tokens.plain(words))["there"]
    indices: list[int | None] = [
        None if special else word for word, special in zip(matched, tokens.special, strict=True)
    ]
    _place_unknown(tokens, indices, len(words))
    inside = [token for token, word in enumerate(indices) if word is not None]
    for before, after in pairwise(inside):
        for between in range(before + 1, after):
            # A token without a character in common with any word joins the word before.
            if not tokens.special[between] and not _is_space(tokens.pieces[between]):
                indices[between] = indices[before]
    for token in range(len(tokens) - 2, -1, -1):
        if _is_space(tokens.pieces[token]) and not tokens.special[token]:
            indices[token] = indices[token + 1]
    return indices


def _is_space(piece: str) -> bool:
    """Return whether a piece is nothing but the space before a word."""
    return not piece.strip("▁Ġ \n\t")


def _place_unknown(tokens: Tokens, indices: list[int | None], words: int) -> None:
    """Give unknown tokens the words that no token has between the words on both sides of them.

    Several in one word of the tokenizer are one word here too.
    """
    known = [(token, word) for token, word in enumerate(indices) if word is not None]
    for (before, first), (after, last) in pairwise([(-1, -1), *known, (len(tokens), words)]):
        missing = range(first + 1, last)
        unknown = [
            token
            for token in range(before + 1, after)
            if is_unknown(tokens.pieces[token]) and not tokens.special[token]
        ]
        places = list(dict.fromkeys(tokens.words[token] for token in unknown))
        for token in unknown if missing else ():
            indices[token] = missing[min(places.index(tokens.words[token]), len(missing) - 1)]


def _with_words(tokens: Tokens, indices: Sequence[int | None], words: Sequence[str]) -> Tokens:
    """Return the tokens with new words; each token in no word is a special word of its own."""
    numbers: list[int] = []
    word_texts: list[str] = []
    last: int | None = None
    for piece, index in zip(tokens.pieces, indices, strict=True):
        if index is None or index != last or not numbers:
            word_texts.append(piece if index is None else words[index])
        numbers.append(len(word_texts) - 1)
        last = index
    special = tuple(index is None for index in indices)
    return replace(
        tokens,
        special=special,
        words=tuple(numbers),
        categories=tuple(
            "special" if outside and category == "other" else category
            for category, outside in zip(tokens.categories, special, strict=True)
        ),
        word_texts=tuple(word_texts),
    )

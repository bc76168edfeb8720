"""Words as an alignment counts them: those of the tokenizer, or those that somebody else cut."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from normviz.core.stream import Stream
from normviz.core.token_matching import both_ways
from normviz.core.tokens import Tokens
from normviz.errors import BadInput

Words = str | Iterable[str]
"""Words in a row, or in one string with spaces between them."""
SIDES = {
    "encoder": ("source", "source"),
    "decoder": ("target", "target"),
    "cross": ("target", "source"),
}
"""For each stream of a translation, whose words its queries and its keys are."""


def listed(words: Words) -> tuple[str, ...]:
    """Words one by one; a string is cut at its spaces."""
    return tuple(words.split()) if isinstance(words, str) else tuple(words)


def numbered(tokens: Tokens) -> tuple[int | None, ...]:
    """For each token the number of its word, counted from 0 without special tokens."""
    own = [n for n, word in enumerate(tokens.words) if not tokens.special[n]]
    order = {word: place for place, word in enumerate(dict.fromkeys(tokens.words[n] for n in own))}
    return tuple(
        None if special else order[word]
        for word, special in zip(tokens.words, tokens.special, strict=True)
    )


def spelled(tokens: Tokens) -> tuple[str, ...]:
    """The words that are not special, in order."""
    words = {n: tokens.word_texts[w] for n, w in zip(numbered(tokens), tokens.words, strict=True)}
    return tuple(words[n] for n in sorted(n for n in words if n is not None))


def recounted(
    stream: Stream, source: Words | None, target: Words | None, prefix: str = ""
) -> Stream:
    """A stream of a translation whose tokens are pieces of these words, where there are any."""
    words = {"source": (source, prefix), "target": (target, "")}
    given = (words[side] for side in SIDES[stream.name])
    queries, keys = (
        tokens if own is None else regrouped(tokens, own, before)
        for tokens, (own, before) in zip((stream.queries, stream.keys), given, strict=True)
    )
    return replace(stream, queries=queries, keys=keys)


def regrouped(tokens: Tokens, words: Words, prefix: str = "") -> Tokens:
    """The same tokens as pieces of these words.

    Tokens and words are matched by their characters, so that it does not matter where a tokenizer
    sees words; a token that lies in two words goes to the one that has more of it. What is in none
    of them, such as the prefix that stands before a text, counts as special from here on.
    """
    before, wanted = listed(prefix), listed(words)
    every = _places(tokens, (*before, *wanted))
    place = [None if n is None or n < len(before) else n - len(before) for n in every]
    missing = [word for number, word in enumerate(wanted) if number not in place]
    if missing:
        raise BadInput(
            f"The word {missing[0]!r} has no token of its own in {' '.join(tokens)!r}.",
            "Every word must be made of at least one token.",
            "Give the words of the text that was analyzed, as the tokenizer can tell them apart.",
        )
    return _renumbered(tokens, place, wanted)


def _places(tokens: Tokens, words: Sequence[str]) -> list[int | None]:
    """For each token the word it is a piece of, in rising order; None where there is none."""
    found = both_ways(tokens, Tokens.plain(words))["there"]
    place: list[int | None] = [
        None if special else word for word, special in zip(found, tokens.special, strict=True)
    ]
    held = [n for n, word in enumerate(place) if word is not None]
    for before, after in pairwise(held):
        for between in range(before + 1, after):
            # A token without a letter in common, such as an unknown one, goes where it stands.
            if not tokens.special[between]:
                place[between] = place[before]
    return place


def _renumbered(tokens: Tokens, place: Sequence[int | None], words: Sequence[str]) -> Tokens:
    """The tokens with new words, those outside each a special word of its own."""
    numbers: list[int] = []
    spellings: list[str] = []
    last: int | None = None
    for piece, word in zip(tokens.pieces, place, strict=True):
        if word is None or word != last or not numbers:
            spellings.append(piece if word is None else words[word])
        numbers.append(len(spellings) - 1)
        last = word
    special = tuple(word is None for word in place)
    return replace(
        tokens,
        special=special,
        words=tuple(numbers),
        categories=tuple(
            kind if not out or kind != "other" else "special"
            for kind, out in zip(tokens.categories, special, strict=True)
        ),
        word_texts=tuple(spellings),
    )

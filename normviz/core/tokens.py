"""A text as the model sees it: pieces, ids, special tokens, and the word of each token."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import overload

import numpy as np

from normviz.errors import BadArrays

CATEGORIES = ("[CLS]", "[SEP]", "special", "punctuation", "other")
"""[CLS] and [SEP] whatever the tokenizer calls them, other special tokens, then the text itself.

[UNK] stands for a word of the text, and is `other`.
"""

FIRST_TOKEN = "first token"  # noqa: S105 - no password
"""The category of the first token that a decoder reads."""

NO_ID = -1
"""The id of a token that is in no vocabulary: an image patch, an audio frame, a merged word."""

_UNKNOWN = re.compile(r"[\[<]\|?unk\|?[\]>]", re.IGNORECASE)

REPR_PIECES = 12
"""How many pieces a `repr` shows."""


@dataclass(frozen=True)
class Tokens(Sequence[str]):
    """A sequence of tokens, as columns of equal length; iterating gives the readable pieces."""

    pieces: tuple[str, ...]
    ids: tuple[int, ...]
    special: tuple[bool, ...]
    words: tuple[int, ...]
    """For each token, the index of its word; the tokens of a word are consecutive."""
    categories: tuple[str, ...]
    word_texts: tuple[str, ...]
    """For each word, its text."""

    def __post_init__(self) -> None:
        """Refuse columns that do not fit together."""
        columns = {f.name: len(getattr(self, f.name)) for f in fields(self)[:-1]}
        if len(set(columns.values())) != 1:
            raise BadArrays(
                f"The columns of these tokens differ in length: {columns}.",
                "Expected one entry for each token in every column.",
                "Pass columns of equal length.",
            )
        if sorted(set(self.words)) != list(range(len(self.word_texts))):
            raise BadArrays(
                f"The tokens belong to words {sorted(set(self.words))}.",
                f"There are {len(self.word_texts)} words, counted from 0.",
                "Number the words from 0 without gaps, and pass the text of each.",
            )

    @classmethod
    def plain(cls, labels: Iterable[str], *, special: Iterable[bool] | None = None) -> "Tokens":
        """Return tokens that are only labels, each a word of its own."""
        pieces = tuple(str(label) for label in labels)
        flags = tuple(special) if special is not None else (False,) * len(pieces)
        return cls(
            pieces=pieces,
            ids=(NO_ID,) * len(pieces),
            special=flags,
            words=tuple(range(len(pieces))),
            categories=tuple(categorize(p, special=s) for p, s in zip(pieces, flags, strict=True)),
            word_texts=pieces,
        )

    def __len__(self) -> int:
        """Return the number of tokens."""
        return len(self.pieces)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the readable pieces."""
        return iter(self.pieces)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        """Return one readable piece, or several by a slice."""
        return self.pieces[index]

    def __repr__(self) -> str:
        """Return the first few pieces, and the number of tokens."""
        rest = " …" if len(self) > REPR_PIECES else ""
        return f"<{len(self)} tokens: {' '.join(self.pieces[:REPR_PIECES])}{rest}>"

    def take(self, indices: Iterable[int]) -> "Tokens":
        """Return only these tokens, with the words that remain."""
        kept = list(indices)
        numbers = list(dict.fromkeys(self.words[i] for i in kept))
        return Tokens(
            pieces=tuple(self.pieces[i] for i in kept),
            ids=tuple(self.ids[i] for i in kept),
            special=tuple(self.special[i] for i in kept),
            words=tuple(numbers.index(self.words[i]) for i in kept),
            categories=tuple(self.categories[i] for i in kept),
            word_texts=tuple(self.word_texts[n] for n in numbers),
        )

    def merge_words(self) -> "Tokens":
        """Return one token for each word."""
        first = [self.words.index(n) for n in range(len(self.word_texts))]
        whole = [self.words.count(n) == 1 for n in range(len(self.word_texts))]
        return Tokens(
            pieces=self.word_texts,
            ids=tuple(self.ids[i] if w else NO_ID for i, w in zip(first, whole, strict=True)),
            special=tuple(self.special[i] for i in first),
            words=tuple(range(len(self.word_texts))),
            categories=tuple(self.categories[i] for i in first),
            word_texts=self.word_texts,
        )

    def membership(self) -> np.ndarray:
        """Return 1 where a token belongs to a word, else 0 [token word]."""
        return np.equal.outer(self.words, range(len(self.word_texts))).astype(np.float32)


def is_punctuation(piece: str) -> bool:
    """Whether a piece consists of punctuation and symbols only; emoji do not count as such."""
    kinds = [unicodedata.category(letter) for letter in piece]
    return bool(kinds) and all(kind[0] == "P" or kind in {"Sm", "Sc", "Sk"} for kind in kinds)


def is_unknown(piece: str) -> bool:
    """Whether a piece stands for text that the tokenizer does not know, such as [UNK] or <unk>."""
    return _UNKNOWN.fullmatch(piece) is not None


def categorize(piece: str, *, special: bool, cls: bool = False, sep: bool = False) -> str:
    """Return the category of a token, one of `CATEGORIES`."""
    if cls or sep:
        return "[CLS]" if cls else "[SEP]"
    if special:
        return "special"
    return "punctuation" if is_punctuation(piece) else "other"

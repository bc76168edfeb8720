"""A text as the model sees it: pieces, ids, which are special, which word each belongs to."""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import overload

import numpy as np

from normviz.errors import BadArrays

CATEGORIES = ("[CLS]", "[SEP]", "special", "punctuation", "other")
"""[CLS] and [SEP] whatever the tokenizer calls them, other special tokens, then the text itself."""

NO_ID = -1
"""The id of a token that no vocabulary holds: an image patch, an audio frame, a merged word."""


@dataclass(frozen=True)
class Tokens(Sequence[str]):
    """A sequence of tokens, as columns of equal length; iterating gives the readable pieces."""

    pieces: tuple[str, ...]
    ids: tuple[int, ...]
    special: tuple[bool, ...]
    words: tuple[int, ...]
    """For each token, the number of the word it belongs to; a word's tokens stand together."""
    categories: tuple[str, ...]
    word_texts: tuple[str, ...]
    """For each word, how it is written."""

    def __post_init__(self) -> None:
        """Refuse columns that do not belong together."""
        columns = {f.name: len(getattr(self, f.name)) for f in fields(self)[:-1]}
        if len(set(columns.values())) != 1:
            raise BadArrays(
                f"The columns of these tokens differ in length: {columns}.",
                "Every token needs one entry in each column.",
                "Give columns of one length.",
            )
        if sorted(set(self.words)) != list(range(len(self.word_texts))):
            raise BadArrays(
                f"The tokens name words {sorted(set(self.words))}.",
                f"There are {len(self.word_texts)} words, counted from 0.",
                "Number the words from 0 without gaps, and spell each.",
            )

    @classmethod
    def plain(cls, labels: Iterable[str], *, special: Iterable[bool] | None = None) -> "Tokens":
        """Tokens that are only labels, each a word of its own."""
        pieces = tuple(str(label) for label in labels)
        flags = tuple(special) if special is not None else (False,) * len(pieces)
        return cls(
            pieces=pieces,
            ids=(NO_ID,) * len(pieces),
            special=flags,
            words=tuple(range(len(pieces))),
            categories=tuple(category(p, special=s) for p, s in zip(pieces, flags, strict=True)),
            word_texts=pieces,
        )

    def __len__(self) -> int:
        """How many tokens there are."""
        return len(self.pieces)

    def __iter__(self) -> Iterator[str]:
        """The readable pieces in order."""
        return iter(self.pieces)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        """One readable piece, or several by a slice."""
        return self.pieces[index]

    def __repr__(self) -> str:
        """The first few pieces, and how many there are."""
        shown = " ".join(self.pieces[:12]) + (" …" if len(self) > 12 else "")  # noqa: PLR2004
        return f"<{len(self)} tokens: {shown}>"

    def take(self, indices: Iterable[int]) -> "Tokens":
        """Only these tokens, with the words they still belong to."""
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

    def merged(self) -> "Tokens":
        """One token for each word."""
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
        """Which token belongs to which word, as ones and zeros, token by word."""
        return np.equal.outer(self.words, range(len(self.word_texts))).astype(np.float32)


def is_punctuation(piece: str) -> bool:
    """Whether a piece consists of punctuation and signs alone; pictures such as emoji are not."""
    kinds = [unicodedata.category(letter) for letter in piece]
    return bool(kinds) and all(kind[0] == "P" or kind in {"Sm", "Sc", "Sk"} for kind in kinds)


def category(piece: str, *, special: bool, cls: bool = False, sep: bool = False) -> str:
    """The category a token counts under when shares are added up."""
    if cls or sep:
        return "[CLS]" if cls else "[SEP]"
    if special:
        return "special"
    return "punctuation" if is_punctuation(piece) else "other"

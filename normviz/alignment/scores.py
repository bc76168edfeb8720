"""Alignment error rate (Och and Ney 2003): how far links are from those that people drew."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from normviz.alignment.formats import FORMATS, Counted, as_gold, counted, told
from normviz.alignment.words import Words, listed
from normviz.core.gold import Gold, Link
from normviz.errors import BadInput

Sentences = Sequence[tuple[Words, Words]]
"""Pairs of sentences; a string is cut into words at its spaces."""


@dataclass(frozen=True)
class Scores:
    """How well links agree with sure and possible ones, over a corpus."""

    links: int
    """How many links are judged."""
    sure: int
    """How many links people are sure of."""
    right: int
    """How many of the judged links are sure."""
    allowed: int
    """How many of the judged links are sure or possible."""
    beyond: tuple[str, ...] = ()
    """Links of the gold set that name words their sentences do not have, a sentence for each."""

    @property
    def aer(self) -> float:
        """1 − (|A∩S| + |A∩P|) / (|A| + |S|): 0 is perfect, 1 is all wrong."""
        return 1 - _ratio(self.right + self.allowed, self.links + self.sure)

    @property
    def precision(self) -> float:
        """Which part of the links is at least possible."""
        return _ratio(self.allowed, self.links)

    @property
    def recall(self) -> float:
        """Which part of the sure links was found."""
        return _ratio(self.right, self.sure)

    def __str__(self) -> str:
        """The three in per cent, and over how many links."""
        rates = {"AER": self.aer, "precision": self.precision, "recall": self.recall}
        said = ", ".join(f"{name} {100 * rate:.1f}%" for name, rate in rates.items())
        notes = [f"  {note}" for note in self.beyond]
        return "\n".join([f"{said} ({self.links} links, {self.sure} sure)", *notes])


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else math.nan


def aer(
    links: Any,
    gold: Any,
    *,
    sentences: "Sentences | str | Path | None" = None,
    links_format: str | None = None,
    gold_format: str | None = None,
) -> Scores:
    """Alignment error rate, precision and recall of links, over one pair of sentences or many.

    Parameters
    ----------
    links
        For each pair of sentences an `Alignment` or pairs (source word, target word) from 0; or
        lines of a file, or its path. Possible links among them count like sure ones.
    gold
        The same, or `Gold` objects, or (sure, possible); in lines, `p` marks possible links.
    sentences
        The pairs of sentences, or a file with `source ||| target` in each line: every link is then
        held against their lengths. A judged link beyond them is refused with its line; links of
        the gold set are counted all the same, as published figures count them, and are listed in
        `Scores.beyond`.
    links_format, gold_format
        `"pharaoh"` (from 0), `"talp"` or `"naacl"` (from 1). By default lines tell themselves: word
        0 is Pharaoh's; possible links, or no word 0 in five pairs or more, are Talp's; and lines
        that tell nothing count as the other ones do.

    Returns
    -------
    Scores
        With `.aer`, `.precision` and `.recall`, between 0 and 1; NaN where nothing can be counted.
    """
    found, wanted = _both(_given(links, links_format), _given(gold, gold_format))
    if len(found) != len(wanted):
        raise BadInput(
            f"There are links of {len(found)} pairs of sentences, and gold links of {len(wanted)}.",
            "Both must be of the same pairs, in the same order.",
            "Give an empty line for a pair without links.",
        )
    beyond = _checked(found, wanted, pairs_of(sentences)) if sentences is not None else ()
    judged = [one.possible for one in found]
    return Scores(
        links=sum(map(len, judged)),
        sure=sum(len(one.sure) for one in wanted),
        right=sum(len(own & one.sure) for own, one in zip(judged, wanted, strict=True)),
        allowed=sum(len(own & one.possible) for own, one in zip(judged, wanted, strict=True)),
        beyond=beyond,
    )


def golds_of(gold: Any, form: str | None = None) -> list[Gold]:
    """Gold links in any form that `aer` takes, for each pair of sentences."""
    found = _given(gold, form)
    return found if isinstance(found, list) else told(found)


def _given(links: Any, form: str | None) -> Counted | list[Gold]:
    """Links that count from 0, or lines that have still to be told where they begin."""
    if isinstance(links, Gold) or hasattr(links, "links"):
        return [as_gold(links)]
    if isinstance(links, str | Path):
        return counted(links, form)
    rows = list(links)
    if rows and all(isinstance(row, str) for row in rows):
        return counted(rows, form)
    if isinstance(links, set | frozenset) or (rows and _is_pair(rows[0])):
        return [as_gold(rows)]
    return [as_gold(row) for row in rows]


def _is_pair(row: Any) -> bool:
    """Whether this is a link itself, so that what holds it are the links of one pair."""
    return isinstance(row, tuple) and len(row) == 2 and all(isinstance(n, int) for n in row)  # noqa: PLR2004


def _both(links: Counted | list[Gold], gold: Counted | list[Gold]) -> tuple[list[Gold], list[Gold]]:
    """Both from 0: lines that do not tell where they begin to count do as the others."""
    bases = [one.base if isinstance(one, Counted) else 0 for one in (links, gold)]
    known = next((base for base in bases if base is not None), FORMATS["pharaoh"])
    read = [
        one.from_zero(known if base is None else base) if isinstance(one, Counted) else one
        for one, base in zip((links, gold), bases, strict=True)
    ]
    return read[0], read[1]


def pairs_of(sentences: "Sentences | str | Path") -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Pairs of sentences in words; those of a file stand in lines, `source ||| target`."""
    if not isinstance(sentences, str | Path):
        return [(listed(source), listed(target)) for source, target in sentences]
    pairs = []
    for number, line in enumerate(Path(sentences).read_text(encoding="utf-8").splitlines(), 1):
        source, bar, target = line.partition("|||")
        if not bar:
            raise BadInput(
                f"Line {number} of {Path(sentences).name} is {line!r}.",
                "A source sentence, ||| and its translation are wanted.",
                "Put ||| between them.",
            )
        pairs.append((listed(source), listed(target)))
    return pairs


def _checked(
    found: Sequence[Gold],
    wanted: Sequence[Gold],
    sentences: Sequence[tuple[Sequence[str], Sequence[str]]],
) -> tuple[str, ...]:
    """What the gold set says of words that are not there; a judged link of that kind is refused."""
    if len(sentences) != len(found):
        raise BadInput(
            f"There are links of {len(found)} pairs of sentences, and {len(sentences)} pairs.",
            "Links and sentences must be in the same order, one of each.",
            "Give the sentences that the links are of.",
        )
    notes: list[str] = []
    for number, (own, gold, pair) in enumerate(zip(found, wanted, sentences, strict=True), 1):
        sizes = len(pair[0]), len(pair[1])
        for link in outside(own.possible, sizes):
            raise BadInput(
                f"Line {number} links {_said(link)}.",
                f"The source has {sizes[0]} words and the target {sizes[1]}, counted from 0.",
                "Check the direction of the links, and whether they count from 0 or from 1.",
            )
        notes += beyond(number, gold, sizes)
    return tuple(notes)


def outside(links: Iterable[Link], sizes: tuple[int, int]) -> list[Link]:
    """The links that name words beyond a source and a target of these sizes."""
    return sorted(
        link for link in links if any(n >= size for n, size in zip(link, sizes, strict=True))
    )


def beyond(number: int, gold: Gold, sizes: tuple[int, int]) -> list[str]:
    """A sentence for each link of a gold set that names words which are not there."""
    return [
        f"line {number}: the gold set links {_said(link)}, "
        f"and there are {sizes[0]} source and {sizes[1]} target words"
        for link in outside(gold.possible, sizes)
    ]


def _said(link: Link) -> str:
    return f"source word {link[0]} and target word {link[1]} (from 0)"

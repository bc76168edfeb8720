"""Alignment error rate (Och and Ney 2003): how far links are from gold links."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from normviz.alignment.formats import (
    FORMATS,
    LinkFormat,
    PairLinks,
    ParsedLinks,
    as_gold,
    parse_link_lines,
    require_base,
)
from normviz.alignment.words import Words, split_words
from normviz.core.gold import Gold, Link
from normviz.core.keywords import refuse_unknown_keywords
from normviz.errors import BadInput

Links = PairLinks | Iterable[PairLinks] | str | Path | Iterable[str]
"""Links of one sentence pair or of many, or a file of links, or its lines."""
Sentences = Sequence[tuple[Words, Words]]
"""Sentence pairs; a string is split into words at its spaces."""
SentencePair = tuple[tuple[str, ...], tuple[str, ...]]
"""The words of a source and of a target sentence."""


@dataclass(frozen=True)
class Scores:
    """How well links agree with sure and possible gold links, over a corpus."""

    links: int
    """The number of links scored: |A|."""
    sure: int
    """The number of sure gold links: |S|."""
    matching_sure: int
    """The number of scored links that are sure: |A∩S|."""
    matching_possible: int
    """The number of scored links that are sure or possible: |A∩P|."""
    out_of_range: tuple[str, ...] = ()
    """Gold links to words that their sentences do not have, one sentence for each."""

    @property
    def aer(self) -> float:
        """1 − (|A∩S| + |A∩P|) / (|A| + |S|): 0 is perfect, 1 is all wrong."""
        return 1 - _ratio(self.matching_sure + self.matching_possible, self.links + self.sure)

    @property
    def precision(self) -> float:
        """The share of the links that are sure or possible."""
        return _ratio(self.matching_possible, self.links)

    @property
    def recall(self) -> float:
        """The share of the sure gold links that are among the links."""
        return _ratio(self.matching_sure, self.sure)

    def __str__(self) -> str:
        """Return the three rates in percent, and the number of links."""
        rates = {"AER": self.aer, "precision": self.precision, "recall": self.recall}
        listed = ", ".join(f"{name} {100 * rate:.1f}%" for name, rate in rates.items())
        notes = [f"  {note}" for note in self.out_of_range]
        return "\n".join([f"{listed} ({self.links} links, {self.sure} sure)", *notes])


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else math.nan


@refuse_unknown_keywords
def aer(
    links: "Links",
    gold: "Links",
    *,
    sentences: "Sentences | str | Path | None" = None,
    links_format: LinkFormat | None = None,
    gold_format: LinkFormat | None = None,
) -> Scores:
    """Return alignment error rate, precision and recall of links, for one sentence pair or many.

    Parameters
    ----------
    links
        For each sentence pair an `Alignment` or pairs (source word, target word) from 0; or a file
        of links, or its lines. Possible links among them count like sure ones.
    gold
        The same, or `Gold` objects, or (sure, possible); in lines, `p` marks possible links.
    sentences
        The sentence pairs, or a file with `source ||| target` on each line, to check every link
        against their lengths. A scored link outside its sentence is refused with its line. Gold
        links outside their sentences are counted, as in published results, and listed in
        `Scores.out_of_range`.
    links_format, gold_format
        `"pharaoh"` (from 0), `"talp"` or `"naacl"` (from 1). By default detected: word 0 means
        Pharaoh; possible links, or no word 0 in five pairs or more, mean Talp. Lines that do not
        show it count like the other argument's.

    Returns
    -------
    Scores
        With `.aer`, `.precision` and `.recall`, between 0 and 1; NaN if there is nothing to count.
    """
    scored, golds = _share_base(_parse(links, links_format), _parse(gold, gold_format))
    if len(scored) != len(golds):
        raise BadInput(
            f"There are links of {len(scored)} sentence pairs, and gold links of {len(golds)}.",
            "Expected both for the same pairs, in the same order.",
            "Use an empty line for a pair without links.",
        )
    notes: tuple[str, ...] = ()
    if sentences is not None:
        notes = _check_sentences(scored, golds, read_sentence_pairs(sentences))
    own = [pair.possible for pair in scored]
    return Scores(
        links=sum(map(len, own)),
        sure=sum(len(pair.sure) for pair in golds),
        matching_sure=sum(len(a & pair.sure) for a, pair in zip(own, golds, strict=True)),
        matching_possible=sum(len(a & pair.possible) for a, pair in zip(own, golds, strict=True)),
        out_of_range=notes,
    )


def parse_gold(gold: Links, file_format: str | None = None) -> list[Gold]:
    """Return gold links, in any form that `aer` takes, as one `Gold` for each sentence pair."""
    parsed = _parse(gold, file_format)
    return parsed if isinstance(parsed, list) else require_base(parsed)


def _parse(links: Any, file_format: str | None) -> ParsedLinks | list[Gold]:
    """Return links counted from 0, or parsed lines whose first number may be unknown."""
    if isinstance(links, Gold) or hasattr(links, "links"):
        return [as_gold(links)]
    if isinstance(links, str | Path):
        return parse_link_lines(links, file_format)
    rows = list(links)
    if rows and all(isinstance(row, str) for row in rows):
        return parse_link_lines(rows, file_format)
    if isinstance(links, set | frozenset) or (rows and _is_link(rows[0])):
        return [as_gold(rows)]
    return [as_gold(row) for row in rows]


def _is_link(row: Any) -> bool:
    """Tell a single link from the links of a sentence pair."""
    return isinstance(row, tuple) and len(row) == 2 and all(isinstance(n, int) for n in row)  # noqa: PLR2004


def _share_base(
    links: ParsedLinks | list[Gold], gold: ParsedLinks | list[Gold]
) -> tuple[list[Gold], list[Gold]]:
    """Return both counted from 0; lines of unknown base count like the other argument's."""
    bases = [one.base if isinstance(one, ParsedLinks) else 0 for one in (links, gold)]
    known = next((base for base in bases if base is not None), FORMATS["pharaoh"])
    first, second = (
        one.from_zero(known if base is None else base) if isinstance(one, ParsedLinks) else one
        for one, base in zip((links, gold), bases, strict=True)
    )
    return first, second


def read_sentence_pairs(sentences: Sentences | str | Path) -> list[SentencePair]:
    """Return sentence pairs as words; a file has `source ||| target` on each line."""
    if not isinstance(sentences, str | Path):
        return [(split_words(source), split_words(target)) for source, target in sentences]
    pairs = []
    for number, line in enumerate(Path(sentences).read_text(encoding="utf-8").splitlines(), 1):
        source, bar, target = line.partition("|||")
        if not bar:
            raise BadInput(
                f"Line {number} of {Path(sentences).name} is {line!r}.",
                "Expected a source sentence, ||| and its translation.",
                "Put ||| between them.",
            )
        pairs.append((split_words(source), split_words(target)))
    return pairs


def _check_sentences(
    scored: Sequence[Gold], golds: Sequence[Gold], sentences: Sequence[SentencePair]
) -> tuple[str, ...]:
    """Refuse scored links outside their sentences, and describe such gold links."""
    if len(sentences) != len(scored):
        raise BadInput(
            f"There are links of {len(scored)} sentence pairs, and {len(sentences)} pairs.",
            "Expected links and sentences in the same order, one of each.",
            "Give the sentences that the links belong to.",
        )
    notes: list[str] = []
    for number, (own, gold, pair) in enumerate(zip(scored, golds, sentences, strict=True), 1):
        sizes = len(pair[0]), len(pair[1])
        for link in links_outside(own.possible, sizes):
            raise BadInput(
                f"Line {number} links {_describe(link)}.",
                f"The source has {sizes[0]} words and the target {sizes[1]}, counted from 0.",
                "Check the direction of the links, and whether they count from 0 or from 1.",
            )
        notes += describe_links_outside(number, gold, sizes)
    return tuple(notes)


def links_outside(links: Iterable[Link], sizes: tuple[int, int]) -> list[Link]:
    """Return the links to words that a source and a target of these lengths do not have."""
    return sorted(
        link for link in links if any(n >= size for n, size in zip(link, sizes, strict=True))
    )


def describe_links_outside(number: int, gold: Gold, sizes: tuple[int, int]) -> list[str]:
    """Return a sentence for each gold link to words that the sentences do not have."""
    return [
        f"line {number}: the gold set links {_describe(link)}, "
        f"and there are {sizes[0]} source and {sizes[1]} target words"
        for link in links_outside(gold.possible, sizes)
    ]


def _describe(link: Link) -> str:
    return f"source word {link[0]} and target word {link[1]} (from 0)"

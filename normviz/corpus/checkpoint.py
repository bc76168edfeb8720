"""The progress of a run over a corpus, in memory and in a file that survives a kill."""

import hashlib
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from normviz.corpus import profile_file
from normviz.corpus.profile import Profile
from normviz.corpus.sources import Item
from normviz.corpus.sums import CorpusSums
from normviz.corpus.worker import Job, Outcome
from normviz.errors import BadFile, BadInput

if TYPE_CHECKING:
    from normviz.core.failure import Failure

SAVE_INTERVAL = 5.0
"""How many seconds of work may be lost when a run is killed."""


class Progress:
    """The sums over the texts that are done, and which texts those are."""

    def __init__(self, path: Path | None, job: str) -> None:
        self.path = path
        self.job = job
        self.sums = CorpusSums()
        self.failures: list[Failure] = []
        self.done_up_to = 0
        """All texts with a smaller number are done."""
        self.done_after: set[int] = set()
        """The numbers of the texts that are done after a gap."""
        self.digest = 0
        """The xor of the digests of the texts that are done: another corpus has another."""
        self.unmatched_digest = 0
        """The same for the texts in the checkpoint that this run has not yet read."""
        self.facts: dict[str, Any] = {}
        self.saved_at = time.monotonic()

    @property
    def count(self) -> int:
        """The number of texts that are done."""
        return self.done_up_to + len(self.done_after)

    def has(self, item: Item) -> bool:
        """Return whether a text is done already."""
        if item.number >= self.done_up_to and item.number not in self.done_after:
            return False
        self.unmatched_digest ^= _digest(item)
        return True

    def add(self, batch: Sequence[Item], outcome: Outcome) -> None:
        """Add the outcome of a batch, and save from time to time."""
        self.sums = self.sums + outcome.sums
        self.failures += outcome.failures
        self.facts |= outcome.facts
        self.done_after |= {item.number for item in batch}
        for item in batch:
            self.digest ^= _digest(item)
        while self.done_up_to in self.done_after:
            self.done_after.remove(self.done_up_to)
            self.done_up_to += 1
        if self.path is not None and time.monotonic() - self.saved_at > SAVE_INTERVAL:
            self.save(self.path)

    def finish(self) -> Profile:
        """Return the profile of all texts, and save it."""
        if self.unmatched_digest:
            raise BadInput(
                f"The checkpoint {str(self.path)!r} has texts that are not in this corpus.",
                "Expected the texts that the run began with, in their order.",
                "Give the same texts, or another checkpoint.",
            )
        if not self.sums.texts:
            reasons = "; ".join(dict.fromkeys(failure.reason for failure in self.failures[:3]))
            count = len(self.failures)
            raise BadInput(
                f"All {count} texts failed: {reasons}" if count else "There are no texts.",
                "Expected at least one text that can be measured.",
                "Fix these texts, or truncate long ones with max_tokens=….",
            )
        if self.path is not None:
            self.save(self.path)
        return self.profile()

    def profile(self) -> Profile:
        """Return the profile of the texts that are done."""
        default = {"model": "", "stream": "", "layers": (), "heads": (), "punctuation": "unicode"}
        facts: dict[str, Any] = {**default, **self.facts}
        failures = tuple(sorted(self.failures, key=lambda failure: failure.number))
        return Profile(
            facts["model"], facts["stream"], tuple(facts["layers"]), tuple(facts["heads"]),
            self.sums, failures, facts["punctuation"],
        )  # fmt: skip

    def save(self, path: Path) -> None:
        """Write everything to the file; the old one stays until the new one is complete."""
        progress = {
            "job": self.job, "done_up_to": self.done_up_to, "done_after": sorted(self.done_after),
            "digest": self.digest, "facts": self.facts,
        }  # fmt: skip
        profile_file.save(self.profile(), path, progress=progress)
        self.saved_at = time.monotonic()


def open_checkpoint(checkpoint: str | Path | None, job: Job) -> Progress:
    """Return the progress of a run: from its checkpoint if there is one, else from the start."""
    path = None if checkpoint is None else Path(checkpoint)
    progress = Progress(path, describe_job(job))
    if path is None or not path.exists():
        return progress
    profile, saved = profile_file.load(path)
    if saved.get("job") != progress.job:
        raise BadFile(
            f"The checkpoint {str(path)!r} is of another run: {saved.get('job')}.",
            f"This one is: {progress.job}.",
            "Use the same arguments as before, or name another file.",
        )
    progress.sums, progress.failures = profile.sums, list(profile.failures)
    progress.done_up_to, progress.done_after = saved["done_up_to"], set(saved["done_after"])
    progress.digest = progress.unmatched_digest = saved["digest"]
    progress.facts = saved["facts"]
    return progress


def describe_job(job: Job) -> str:
    """Return the arguments of a run as one line, equal for equal runs."""
    model = job.model if isinstance(job.model, str | Path) else type(job.model).__name__
    function = getattr(job.categories.function, "__qualname__", "default")
    return json.dumps(
        {
            "model": str(model),
            "measures": job.measures,
            "categories": job.categories.rules or function,
            "punctuation": job.categories.punctuation,
            "max_tokens": job.max_tokens,
            "stream": job.stream,
            "head_patterns": job.head_patterns,
            "dtype": str(job.dtype),
        },
        ensure_ascii=False,
    )


def _digest(item: Item) -> int:
    content = json.dumps([item.number, item.text, item.pair]).encode()
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest())

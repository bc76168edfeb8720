"""Writing files whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomically(place: Path) -> Iterator[Path]:
    """A path to write to, which takes its place only when everything went well."""
    place.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
    os.close(handle)
    unfinished = Path(name)
    try:
        yield unfinished
        with unfinished.open("rb") as file:
            os.fsync(file.fileno())
        unfinished.chmod(0o666 & ~_mask())  # temporary files are private; a finished one is not
        unfinished.replace(place)
    finally:
        unfinished.unlink(missing_ok=True)


def _mask() -> int:
    """Which permissions this user takes from new files."""
    mask = os.umask(0)
    os.umask(mask)
    return mask

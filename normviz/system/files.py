"""Writing files and folders whole or not at all; what a file is, by its ending."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from normviz.errors import UnknownName

Kind = TypeVar("Kind")


@contextmanager
def atomic_file(place: Path) -> Iterator[Path]:
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


@contextmanager
def atomic_folder(place: Path) -> Iterator[Path]:
    """A folder to fill, which takes its place only when everything went well.

    Where somebody else was quicker and theirs holds as much, theirs stays.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(dir=place.parent, prefix=f".{place.name}."))
    try:
        yield unfinished
        unfinished.chmod(0o777 & ~_mask())  # temporary folders are private; a finished one is not
        try:
            unfinished.rename(place)
        except OSError:
            if not (place.is_dir() and _names(unfinished) <= _names(place)):
                raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _names(folder: Path) -> set[str]:
    """What lies in a folder."""
    return {path.name for path in folder.iterdir()}


def by_suffix(output: str, kinds: Mapping[str, Kind]) -> Kind:
    """What belongs to the ending of a file's name; other endings are refused."""
    ending = Path(output).suffix.lower()
    if ending not in kinds:
        raise UnknownName(
            f"{output!r} ends in {ending!r}.",
            f"A file can be: {', '.join(kinds)}.",
            "Give the output one of these endings.",
        )
    return kinds[ending]


def _mask() -> int:
    """Which permissions this user takes from new files."""
    mask = os.umask(0)
    os.umask(mask)
    return mask

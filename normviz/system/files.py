"""Write files and folders whole or not at all; choose by the suffix of a file name."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from normviz.errors import UnknownName

Choice = TypeVar("Choice")


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to; it replaces `path` only if nothing is raised."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    unfinished = Path(name)
    try:
        yield unfinished
        with unfinished.open("rb") as file:
            os.fsync(file.fileno())
        unfinished.chmod(0o666 & ~_umask())  # temporary files are private; a finished one is not
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary folder to fill; it becomes `path` only if nothing is raised.

    Where another process has put a folder with at least the same files there, that one stays.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    try:
        yield unfinished
        unfinished.chmod(0o777 & ~_umask())  # temporary folders are private; a finished one is not
        try:
            unfinished.rename(path)
        except OSError:
            if not (path.is_dir() and _file_names(unfinished) <= _file_names(path)):
                raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _file_names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def by_suffix(output: str, choices: Mapping[str, Choice]) -> Choice:
    """Return the choice for the suffix of a file name; raise `UnknownName` for other suffixes."""
    suffix = Path(output).suffix.lower()
    if suffix not in choices:
        raise UnknownName(
            f"{output!r} ends in {suffix!r}.",
            f"A file can be: {', '.join(choices)}.",
            "Give the output one of these endings.",
        )
    return choices[suffix]


def _umask() -> int:
    """Return the permissions that this process removes from new files."""
    mask = os.umask(0)
    os.umask(mask)
    return mask

"""Texts of a corpus, read from lists, files, folders, datasets or dataframes."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from normviz.errors import BadInput

Text = str | tuple[str, str]
"""A text, or a pair of texts that the model reads together."""
DEFAULT_COLUMN = "text"
SUFFIXES = (".txt", ".jsonl")


@dataclass(frozen=True)
class Item:
    """One text of a corpus, or what is wrong with it."""

    number: int
    """Its index in the corpus, from 0."""
    text: str
    pair: str | None = None
    problem: str = ""
    """Why it is not a text; empty if it is one."""


Texts = Iterable[Text | Mapping[str, Any] | Path | Item] | str | Path
"""Texts or pairs, rows with a column of texts, a path to a file or a folder, or several paths."""
Entry = tuple[str, str | None, str]
"""Text, pair and problem of an item."""


def read_items(texts: Any, column: str | None = None) -> Iterator[Item]:
    """Yield the texts of a corpus one by one, as they are needed.

    A file has one text on each line (`.txt`) or one object (`.jsonl`); a folder has such files,
    which are read in the order of their names. Anything else is iterated over: strings, pairs of
    strings, rows with a column, and paths.
    """
    for number, (text, pair, problem) in enumerate(_read_entries(texts, column)):
        yield Item(number, text, pair, problem)


def _read_entries(texts: Any, column: str | None) -> Iterator[Entry]:
    if isinstance(texts, str | os.PathLike):
        yield from _read_path(Path(texts), column)
    elif hasattr(texts, "columns") and hasattr(texts, "iloc"):  # a dataframe iterates its columns
        name = _require_column(texts.columns, column)
        yield from (_parse_entry(value, column) for value in texts[name])
    elif isinstance(texts, Iterable) and not isinstance(texts, Mapping | bytes):
        for entry in texts:
            if isinstance(entry, os.PathLike):
                yield from _read_path(Path(entry), column)
            else:
                yield _parse_entry(entry, column)
    else:
        raise BadInput(
            f"The texts are a {type(texts).__name__}.",
            "Expected texts, pairs of texts, a file, a folder, a dataset or a dataframe.",
            "Write profile(model, [text, …]) or profile(model, Path('corpus.txt')).",
        )


def _require_column(columns: Iterable[Any], column: str | None) -> str:
    names, name = [str(name) for name in columns], column or DEFAULT_COLUMN
    if name not in names:
        raise BadInput(
            f"There is no column {name!r}.",
            f"The columns are: {', '.join(names)}.",
            "Name the one that holds the texts: column=….",
        )
    return name


def _parse_entry(entry: Any, column: str | None) -> Entry:
    """Return one entry of a corpus, of any form, as text, pair and problem."""
    if isinstance(entry, Item):
        return entry.text, entry.pair, entry.problem
    if isinstance(entry, Mapping):
        text, pair = entry.get(column or DEFAULT_COLUMN), entry.get("pair")
        return _parse_entry((text, pair) if pair else text, column)
    if isinstance(entry, str):
        return entry, None, "" if entry.strip() else "it is empty"
    if (
        isinstance(entry, tuple | list)
        and len(entry) == 2  # noqa: PLR2004
        and all(isinstance(text, str) for text in entry)
    ):
        return entry[0], entry[1], ""
    return "", None, f"it is a {type(entry).__name__}, and neither a text nor a pair of texts"


def pair_lines(paths: Iterable[Path], column: str | None = None) -> Iterator[Item]:
    """Yield each two consecutive lines of a file as a pair, `[CLS] a [SEP] b [SEP]`.

    Kobayashi et al. 2020 measured sequences of this form. Headings, which begin with `=`, are
    skipped, and so is a last line without a second.
    """
    for path in paths:
        for file in _list_files(path):
            first = ""
            for text, _, problem in _read_file(file, column):
                if problem:
                    yield Item(0, text, None, problem)
                elif text.startswith("="):
                    continue
                elif first:
                    yield Item(0, first, text)
                    first = ""
                else:
                    first = text


def _read_path(path: Path, column: str | None) -> Iterator[Entry]:
    for file in _list_files(path):
        yield from _read_file(file, column)


def _list_files(path: Path) -> Iterator[Path]:
    """Yield the file itself, or the files in a folder by name."""
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES)
        if not files:
            raise BadInput(
                f"There is no text in {str(path)!r}.",
                f"Expected files that end in {' or '.join(SUFFIXES)}.",
                "Name another folder, or give the files themselves.",
            )
        yield from files
        return
    if not path.is_file():
        raise BadInput(
            f"There is no file or folder {str(path)!r}.",
            "Expected a list of texts, a file or a folder.",
            "Check the path, or put a single text into a list: [text].",
        )
    yield path


def _read_file(path: Path, column: str | None) -> Iterator[Entry]:
    with path.open("rb") as lines:
        for line in lines:
            if line.strip():
                yield _parse_line(line, column, is_json=path.suffix == ".jsonl")


def _parse_line(line: bytes, column: str | None, *, is_json: bool) -> Entry:
    try:
        text = line.decode("utf-8").strip()
        return _parse_entry(json.loads(text) if is_json else text, column)
    except ValueError as error:  # from decoding, or from JSON
        return "", None, f"it cannot be read ({error})"

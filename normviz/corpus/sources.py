"""Texts from wherever they are: lists, files, folders, datasets, columns of tables."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from normviz.errors import BadInput

COLUMN = "text"
ENDINGS = (".txt", ".jsonl")


@dataclass(frozen=True)
class Item:
    """One text of a corpus, or what is wrong with it."""

    number: int
    """Its place in the corpus, from 0."""
    text: str
    pair: str | None = None
    problem: str = ""
    """Why it is no text; empty when it is one."""


def items_of(texts: Any, column: str | None = None) -> Iterator[Item]:
    """The texts of a corpus one after the other, read as they are asked for.

    A path to a file has one text on each line (`.txt`) or one object (`.jsonl`); a folder has such
    files, and they are read by name. Anything else is gone through: strings, pairs of strings, and
    rows with a column.
    """
    for number, (text, pair, problem) in enumerate(_found(texts, column)):
        yield Item(number, text, pair, problem)


Found = tuple[str, str | None, str]


def _found(texts: Any, column: str | None) -> Iterator[Found]:
    if isinstance(texts, str | os.PathLike):
        yield from _file(Path(texts), column)
    elif hasattr(texts, "columns") and hasattr(texts, "iloc"):  # a dataframe goes by its columns
        yield from (_row(value, column) for value in texts[_known(texts.columns, column)])
    elif isinstance(texts, Iterable) and not isinstance(texts, Mapping | bytes):
        for one in texts:
            if isinstance(one, os.PathLike):
                yield from _file(Path(one), column)
            else:
                yield _row(one, column)
    else:
        raise BadInput(
            f"The texts are a {type(texts).__name__}.",
            "Texts, pairs of texts, a file, a folder, a dataset or a dataframe are wanted.",
            "Write profile([text, …]) or profile(Path('corpus.txt')).",
        )


def _known(columns: Iterable[Any], column: str | None) -> str:
    names, wanted = [str(name) for name in columns], column or COLUMN
    if wanted not in names:
        raise BadInput(
            f"There is no column {wanted!r}.",
            f"The columns are: {', '.join(names)}.",
            "Name the one that holds the texts: column=….",
        )
    return wanted


def _row(one: Any, column: str | None) -> Found:
    """One entry of a corpus, whatever it is."""
    if isinstance(one, Item):
        return one.text, one.pair, one.problem
    if isinstance(one, Mapping):
        pair = one.get("pair")
        return _row(
            (one.get(column or COLUMN), pair) if pair else one.get(column or COLUMN), column
        )
    if isinstance(one, str):
        return one, None, "" if one.strip() else "it is empty"
    if isinstance(one, tuple | list) and len(one) == 2 and all(isinstance(t, str) for t in one):  # noqa: PLR2004
        return one[0], one[1], ""
    return "", None, f"it is a {type(one).__name__}, and neither a text nor a pair of texts"


def neighbors(paths: Iterable[Path], column: str | None = None) -> Iterator[Item]:
    """Two lines that follow each other in a file as a pair, `[CLS] a [SEP] b [SEP]`.

    Sequences of this form are what Kobayashi et al. 2020 measured. Headings, which begin with `=`,
    are left out, and so is a last line without a second.
    """
    for path in paths:
        for one in _files(path):
            waiting = ""
            for text, _, problem in _lines(one, column):
                if problem:
                    yield Item(0, text, None, problem)
                elif text.startswith("="):
                    continue
                elif waiting:
                    yield Item(0, waiting, text)
                    waiting = ""
                else:
                    waiting = text


def _file(path: Path, column: str | None) -> Iterator[Found]:
    for one in _files(path):
        yield from _lines(one, column)


def _files(path: Path) -> Iterator[Path]:
    """The file itself, or those in a folder by name."""
    if path.is_dir():
        inside = sorted(one for one in path.rglob("*") if one.suffix in ENDINGS)
        if not inside:
            raise BadInput(
                f"There is no text in {str(path)!r}.",
                f"Files that end in {' or '.join(ENDINGS)} are wanted.",
                "Name another folder, or give the files themselves.",
            )
        yield from inside
        return
    if not path.is_file():
        raise BadInput(
            f"There is no file or folder {str(path)!r}.",
            "A corpus is a list of texts, a file or a folder.",
            "Write profile([text]) for one text.",
        )
    yield path


def _lines(path: Path, column: str | None) -> Iterator[Found]:
    with path.open("rb") as lines:
        for line in lines:
            if line.strip():
                yield _line(line, column, objects=path.suffix == ".jsonl")


def _line(line: bytes, column: str | None, *, objects: bool) -> Found:
    try:
        text = line.decode("utf-8").strip()
        return _row(json.loads(text) if objects else text, column)
    except ValueError as error:  # of the coding, or of JSON
        return "", None, f"it cannot be read ({error})"

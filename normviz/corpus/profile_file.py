"""Profiles in files: what is known of a corpus so far, whole or not at all."""

import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, fields
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from normviz.corpus.moments import Moments
from normviz.corpus.profile import Profile
from normviz.corpus.rank_correlation import Occurrences, Relation
from normviz.corpus.sums import Example, Failure, Tally
from normviz.errors import BadFile
from normviz.system.files import atomic_file

FORMAT = "normviz profile"
VERSION = 1
DESCRIPTION = "profile.json"
NUMBERS = "numbers.npz"
_SUMS = ("masses", "shares", "means", "spreads", "shapes", "apart")
"""The parts of a tally that are moments."""


def save(profile: Profile, path: str | Path, *, more: Mapping[str, Any] | None = None) -> Path:
    """Write a profile to a file; an older one stays whole until the new one is."""
    place = Path(path)
    arrays: dict[str, np.ndarray] = {}
    tally = profile.tally
    names: dict[str, list[Any]] = {}
    for part in _SUMS:
        held: dict[Any, Moments] = getattr(tally, part)
        names[part] = list(held)
        for number, moments in enumerate(held.values()):
            arrays |= {f"{part}.{number}.{n}": array for n, array in vars(moments).items()}
    names["relations"] = list(tally.relations)
    for number, relation in enumerate(tally.relations.values()):
        one, other = np.nonzero(relation.counts)
        arrays[f"relations.{number}"] = np.stack([one, other, relation.counts[one, other]])
    names["occurrences"] = list(tally.occurrences)
    for number, met in enumerate(tally.occurrences.values()):
        rows = [(*key, count) for key, count in met.counts.items()]
        arrays[f"occurrences.{number}"] = np.array(rows, dtype=np.int64).reshape(-1, 3)
    described = {
        "format": FORMAT,
        "version": VERSION,
        "model": profile.model,
        "stream": profile.stream,
        "layers": profile.layers,
        "heads": profile.heads,
        "texts": tally.texts,
        "tokens": tally.tokens,
        "examples": [asdict(one) for one in tally.examples],
        "failures": [asdict(one) for one in profile.failures],
        "names": names,
        "more": dict(more or {}),
    }
    numbers = BytesIO()
    np.savez_compressed(numbers, **arrays)  # type: ignore[arg-type]
    with atomic_file(place) as unfinished, zipfile.ZipFile(unfinished, "w") as archive:
        archive.writestr(DESCRIPTION, json.dumps(described, ensure_ascii=False))
        archive.writestr(NUMBERS, numbers.getvalue())
    return place


def load(path: str | Path) -> tuple[Profile, dict[str, Any]]:
    """A profile that `save` wrote, and what was written beside it."""
    place = Path(path)
    try:
        with zipfile.ZipFile(place) as archive:
            plain = json.loads(archive.read(DESCRIPTION))
            arrays = np.load(BytesIO(archive.read(NUMBERS)), allow_pickle=False)
            _check_format(plain)
            return _profile(plain, arrays), plain["more"]
    except FileNotFoundError as error:
        raise BadFile(
            f"There is no file {str(place)!r}.", "A saved profile is wanted.", "Check the path."
        ) from error
    except (zipfile.BadZipFile, OSError, EOFError, LookupError, TypeError, ValueError) as error:
        raise BadFile(
            f"{str(place)!r} is not a whole profile ({error}).",
            "A file written by profile.save, or a checkpoint, is wanted.",
            "Name another file, or begin again without it.",
        ) from error


def _check_format(plain: Mapping[str, Any]) -> None:
    if plain["format"] != FORMAT or plain["version"] > VERSION:
        message = f"its format is {plain['format']} {plain['version']}"
        raise ValueError(message)


def _profile(plain: Mapping[str, Any], arrays: Any) -> Profile:
    names = plain["names"]
    tally = Tally(plain["texts"], plain["tokens"])
    for part in _SUMS:
        found = {
            tuple(key): Moments(*(arrays[f"{part}.{number}.{one.name}"] for one in fields(Moments)))
            for number, key in enumerate(names[part])
        }
        setattr(tally, part, found)
    for number, kind in enumerate(names["relations"]):
        one, other, count = arrays[f"relations.{number}"]
        counts = np.zeros_like(Relation.of([], []).counts)
        counts[one, other] = count
        tally.relations[kind] = Relation(counts)
    for number, measure in enumerate(names["occurrences"]):
        rows = arrays[f"occurrences.{number}"].tolist()
        tally.occurrences[measure] = Occurrences({(a, b): count for a, b, count in rows})
    tally.examples = [Example(**one) for one in plain["examples"]]
    failures = tuple(Failure(**one) for one in plain["failures"])
    return Profile(
        plain["model"], plain["stream"], tuple(plain["layers"]), tuple(plain["heads"]), tally,
        failures,
    )  # fmt: skip

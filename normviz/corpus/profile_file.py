"""Profiles in files: sums as arrays, everything else as JSON, in one zip archive."""

import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, fields
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from normviz.core.failure import Failure
from normviz.corpus.moments import Moments
from normviz.corpus.profile import Profile
from normviz.corpus.rank_correlation import JointHistogram, TokenSample
from normviz.corpus.sums import CorpusSums, Example
from normviz.errors import BadFile
from normviz.system.files import atomic_file

FORMAT = "normviz profile"
VERSION = 3
DESCRIPTION = "profile.json"
NUMBERS = "numbers.npz"
MOMENTS = (
    "masses",
    "shares",
    "query_shares",
    "means",
    "dispersions",
    "patterns",
    "disagreements",
)
"""The fields of `CorpusSums` that hold moments."""
_DAMAGE = (
    zipfile.BadZipFile,
    OSError,
    EOFError,
    LookupError,
    TypeError,
    ValueError,
    RuntimeError,
)
"""What reading a damaged archive can raise."""


def save(profile: Profile, path: str | Path, *, progress: Mapping[str, Any] | None = None) -> Path:
    """Write a profile to a file and return its path; an old file stays until it is complete.

    Parameters
    ----------
    profile
        The profile.
    path
        The file.
    progress
        What a checkpoint adds to it.
    """
    arrays: dict[str, np.ndarray] = {}
    sums = profile.sums
    names: dict[str, list[Any]] = {}
    for table in MOMENTS:
        held: dict[Any, Moments] = getattr(sums, table)
        names[table] = list(held)
        for number, moments in enumerate(held.values()):
            arrays |= {f"{table}.{number}.{name}": array for name, array in vars(moments).items()}
    names["correlations"] = list(sums.correlations)
    for number, histogram in enumerate(sums.correlations.values()):
        arrays[f"correlations.{number}"] = np.stack([histogram.cells, histogram.counts])
    arrays |= _sample_arrays(sums.occurrences)
    names["occurrences"] = list(sums.occurrences.columns)
    description = {
        "format": FORMAT,
        "version": VERSION,
        "model": profile.model,
        "stream": profile.stream,
        "layers": profile.layers,
        "heads": profile.heads,
        "punctuation": profile.punctuation,
        "texts": sums.texts,
        "tokens": sums.tokens,
        "examples": [asdict(example) for example in sums.examples],
        "failures": [asdict(failure) for failure in profile.failures],
        "names": names,
        "progress": dict(progress or {}),
    }
    numbers = BytesIO()
    np.savez_compressed(numbers, **arrays)  # type: ignore[arg-type]
    with atomic_file(Path(path)) as unfinished, zipfile.ZipFile(unfinished, "w") as archive:
        archive.writestr(DESCRIPTION, json.dumps(description, ensure_ascii=False))
        archive.writestr(NUMBERS, numbers.getvalue())
    return Path(path)


def _sample_arrays(sample: TokenSample) -> dict[str, np.ndarray]:
    """Return the arrays of a sample of tokens, by name."""
    totals = np.array(sorted(sample.totals.items()), dtype=np.int64).reshape(-1, 2)
    columns = {f"occurrences.{n}": column for n, column in enumerate(sample.columns.values())}
    return {
        "occurrences.totals": totals,
        "occurrences.draws": sample.draws,
        "occurrences.ids": sample.ids,
        **columns,
    }


def _read_sample(measures: list[str], arrays: Any) -> TokenSample:
    return TokenSample(
        dict(arrays["occurrences.totals"].tolist()),
        arrays["occurrences.draws"],
        arrays["occurrences.ids"],
        {name: arrays[f"occurrences.{n}"] for n, name in enumerate(measures)},
    )


def load(path: str | Path) -> tuple[Profile, dict[str, Any]]:
    """Return a profile that `save` wrote, and what a checkpoint added to it."""
    try:
        with zipfile.ZipFile(path) as archive:
            description = json.loads(archive.read(DESCRIPTION))
            arrays = np.load(BytesIO(archive.read(NUMBERS)), allow_pickle=False)
            _check_format(description)
            return _read_profile(description, arrays), description["progress"]
    except FileNotFoundError as error:
        raise BadFile(
            f"There is no file {str(path)!r}.", "Expected a saved profile.", "Check the path."
        ) from error
    except _DAMAGE as error:
        raise BadFile(
            f"{str(path)!r} is not a whole profile ({error}).",
            "Expected a file written by profile.save, or a checkpoint.",
            "Name another file, or start again without it.",
        ) from error


def _check_format(description: Mapping[str, Any]) -> None:
    if (description["format"], description["version"]) != (FORMAT, VERSION):
        message = f"its format is {description['format']} {description['version']}"
        raise ValueError(message)


def _read_profile(description: Mapping[str, Any], arrays: Any) -> Profile:
    names = description["names"]
    sums = CorpusSums(description["texts"], description["tokens"])
    for table in MOMENTS:
        moments = {
            tuple(key): Moments(*(arrays[f"{table}.{number}.{f.name}"] for f in fields(Moments)))
            for number, key in enumerate(names[table])
        }
        setattr(sums, table, moments)
    for number, category in enumerate(names["correlations"]):
        sums.correlations[category] = JointHistogram(*arrays[f"correlations.{number}"])
    sums.occurrences = _read_sample(names["occurrences"], arrays)
    sums.examples = [Example(**example) for example in description["examples"]]
    failures = tuple(Failure(**failure) for failure in description["failures"])
    return Profile(
        description["model"], description["stream"], tuple(description["layers"]),
        tuple(description["heads"]), sums, failures, description["punctuation"],
    )  # fmt: skip

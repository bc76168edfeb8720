"""A whole corpus from a shell: `normviz profile`."""

import argparse
import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import normviz
from normviz.core.catalog import DEFAULT
from normviz.corpus.profile import Profile
from normviz.corpus.sources import neighbors
from normviz.system.files import atomic_file, by_suffix
from normviz.system.optional import require_packages

EXAMPLES = """examples:
  normviz profile corpus.txt --longest 512                 a page, profile.html
  normviz profile wiki.txt --pairs --checkpoint wiki.normviz -o wiki.csv
  normviz profile texts/ more.jsonl --column body --model ./my-model --workers 4 -o all.normviz"""

TOLD = 5
"""How many of the texts that failed are printed."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """What may be written after `normviz profile`."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE",
                        help="texts in lines, objects in lines (.jsonl), or a folder")  # fmt: skip
    parser.add_argument("--model", default="demo", help='a name, a folder, or "demo" (the default)')
    parser.add_argument("--tokenizer", help="the tokenizer's name or folder, where it is another")
    parser.add_argument("--measures", nargs="+", metavar="ID", help='what to compute, or "all"')
    parser.add_argument(
        "--longest", type=at_least_one, metavar="TOKENS", help="where texts are cut off"
    )
    parser.add_argument("--batch-size", type=at_least_one, default=16, metavar="NUMBER",
                        help="how many texts go together (16)")  # fmt: skip
    parser.add_argument("--column", metavar="NAME", help="what holds the texts in a .jsonl file")
    parser.add_argument("--pairs", action="store_true",
                        help="two lines that follow each other are one pair of sentences; "
                        "headings, which begin with =, are left out")  # fmt: skip
    parser.add_argument("--checkpoint", metavar="FILE",
                        help="how far a run has come: it goes on from there")  # fmt: skip
    parser.add_argument("--workers", type=at_least_one, metavar="NUMBER",
                        help="processes on this machine, each with a model of its own")  # fmt: skip
    parser.add_argument("-o", "--output", default="profile.html", metavar="FILE",
                        help=f"where to write: {' or '.join(WRITERS)}")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print JSON for a script")


def at_least_one(text: str) -> int:
    """A number from a command line that counts something there must be."""
    if not text.isdigit() or int(text) < 1:
        message = f"{text!r} is no number of at least one"
        raise argparse.ArgumentTypeError(message)
    return int(text)


def run(chosen: argparse.Namespace) -> int:
    """Profile what is in the files; 1 when some of the texts could not be measured."""
    write = by_suffix(chosen.output, WRITERS)  # before the model is loaded, not after
    measures = "all" if chosen.measures == ["all"] else chosen.measures or DEFAULT
    texts = neighbors(chosen.files, chosen.column) if chosen.pairs else iter(chosen.files)
    with _workers(chosen.workers) as executor:
        found = normviz.profile(
            texts, chosen.model, chosen.tokenizer, measures=measures, column=chosen.column,
            longest=chosen.longest, batch_size=chosen.batch_size, checkpoint=chosen.checkpoint,
            executor=executor,
        )  # fmt: skip
    write(found, Path(chosen.output))
    path = Path(chosen.output).resolve()
    print(
        json.dumps(_plain(found, path), ensure_ascii=False) if chosen.json else _said(found, path)
    )
    return 1 if found.failures else 0


@contextmanager
def _workers(count: int | None) -> Iterator[ProcessPoolExecutor | None]:
    """So many processes, which share the machine's cores; none, where none are asked for."""
    if count is None:
        yield None
        return
    cores = max(1, (os.cpu_count() or 1) // count)
    with ProcessPoolExecutor(
        count, mp_context=get_context("spawn"), initializer=_take_cores, initargs=(cores,)
    ) as executor:
        yield executor


def _take_cores(count: int) -> None:
    import torch

    torch.set_num_threads(count)


def _page(found: Any, path: Path) -> None:
    found.to_html(path)


def _archive(found: Profile, path: Path) -> None:
    found.save(path)


def _table(found: Profile, path: Path) -> None:
    """Shares, masses and means below each other, told apart by a column."""
    with require_packages("pandas", extra="tables"):
        import pandas as pd

    tables = {name: found.to_dataframe(name) for name in ("share", "mass", "mean")}
    stacked = pd.concat([one.assign(table=name) for name, one in tables.items() if len(one)])
    stacked["head"] = stacked["head"].astype("Int64")  # whole, or empty for the mean of all
    with atomic_file(path) as unfinished:
        stacked.to_csv(unfinished, index=False)


WRITERS: dict[str, Callable[[Any, Path], None]] = {
    ".html": _page,
    ".normviz": _archive,
    ".csv": _table,
}
"""What writes a file, by its ending; `.normviz` keeps the profile itself."""


def _said(found: Profile, path: Path) -> str:
    lines = [str(found)]
    if found.failures:
        lines.append(f"\n{len(found.failures):,} texts could not be measured:")
        lines += [f"  {one.number}: {one.reason}" for one in found.failures[:TOLD]]
        lines += ["  …"] if len(found.failures) > TOLD else []
    return "\n".join([*lines, f"\nThe profile: {path}"])


def _plain(found: Profile, path: Path) -> dict[str, Any]:
    """The same for a script; shares by measure, kind of token and layer."""
    shares: dict[str, dict[str, list[float]]] = {}
    for measure, kind in found.tally.shares:
        shares.setdefault(measure, {})[kind] = found.share(measure, kind).tolist()
    return {
        "path": str(path),
        "model": found.model,
        "texts": found.texts,
        "tokens": found.tokens,
        "shares": shares,
        "failures": [{"number": one.number, "reason": one.reason} for one in found.failures],
    }

"""The command `normviz profile`: a model over a whole corpus."""

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
from normviz.cli.values import max_tokens, positive_int
from normviz.core.catalog import DEFAULT
from normviz.core.words import PUNCTUATIONS
from normviz.corpus.profile import Profile
from normviz.corpus.sources import pair_lines
from normviz.errors import BadInput
from normviz.io.tables import dataframe_of
from normviz.system.files import atomic_file, by_suffix

EXAMPLES = """examples:
  normviz profile corpus.txt --max-tokens 512              a page, profile.html
  normviz profile wiki.txt --pairs --checkpoint wiki.normviz -o wiki.csv
  normviz profile texts/ more.jsonl --column body --model ./my-model --workers 4 -o all.normviz"""

MAX_PRINTED = 5
"""How many of the texts that failed are printed."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `normviz profile`."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE",
                        help="a text on each line (.txt), an object on each (.jsonl), or a "
                        "folder")  # fmt: skip
    parser.add_argument("--model", default="demo", help='a name, a folder, or "demo" (the default)')
    parser.add_argument("--tokenizer", help="the tokenizer's name or folder, if not the model's")
    parser.add_argument("--measures", nargs="+", metavar="ID", help='what to compute, or "all"')
    parser.add_argument("--punctuation", choices=PUNCTUATIONS, default=PUNCTUATIONS[0],
                        help='what counts as punctuation: all of Unicode\'s (the default), or only '
                        '"," and "." ("paper", as in Kobayashi et al. 2020)')  # fmt: skip
    parser.add_argument("--max-tokens", type=max_tokens, metavar="NUMBER",
                        help='where to truncate long texts, or "model" for the model\'s limit; '
                        "without it, a text that is too long fails")  # fmt: skip
    parser.add_argument("--batch-size", type=positive_int, default=16, metavar="NUMBER",
                        help="how many texts run together (16)")  # fmt: skip
    parser.add_argument("--column", metavar="NAME", help="the key of the texts in a .jsonl file")
    parser.add_argument("--pairs", action="store_true",
                        help="make one sentence pair of each two consecutive lines, and skip "
                        "headings, which begin with =")  # fmt: skip
    parser.add_argument("--checkpoint", metavar="FILE",
                        help="where to save progress, and continue from")  # fmt: skip
    parser.add_argument("--workers", type=positive_int, metavar="NUMBER",
                        help="processes on this machine, each with its own model")  # fmt: skip
    parser.add_argument("-o", "--output", default="profile.html", metavar="FILE",
                        help=f"where to write: {' or '.join(WRITERS)}")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print JSON for a script")


def run(parsed: argparse.Namespace) -> int:
    """Profile the texts in the files; return 1 if some of them could not be measured."""
    write = by_suffix(parsed.output, WRITERS)  # refuses a bad output before the model is loaded
    for path in parsed.files:
        if not path.exists():
            raise BadInput(
                f"There is no file or folder {str(path)!r}.",
                "Expected files of texts, or folders of them.",
                "Check the path.",
            )
    measures = "all" if parsed.measures == ["all"] else parsed.measures or DEFAULT
    texts = pair_lines(parsed.files, parsed.column) if parsed.pairs else iter(parsed.files)
    with _workers(parsed.workers) as executor:
        profile = normviz.profile(
            parsed.model, texts, tokenizer=parsed.tokenizer, measures=measures,
            punctuation=parsed.punctuation, column=parsed.column, max_tokens=parsed.max_tokens,
            batch_size=parsed.batch_size, checkpoint=parsed.checkpoint, executor=executor,
        )  # fmt: skip
    write(profile, Path(parsed.output))
    path = Path(parsed.output).resolve()
    if parsed.json:
        print(json.dumps(_as_json(profile, path), ensure_ascii=False))
    else:
        print(_as_text(profile, path))
    return 1 if profile.failures else 0


@contextmanager
def _workers(count: int | None) -> Iterator[ProcessPoolExecutor | None]:
    """Yield an executor with this many processes, which share the machine's cores."""
    if count is None:
        yield None
        return
    cores = max(1, (os.cpu_count() or 1) // count)
    with ProcessPoolExecutor(
        count, mp_context=get_context("spawn"), initializer=_use_cores, initargs=(cores,)
    ) as executor:
        yield executor


def _use_cores(count: int) -> None:
    import torch

    torch.set_num_threads(count)


def _write_page(profile: Profile, path: Path) -> None:
    profile.to_html(path)


def _save(profile: Profile, path: Path) -> None:
    profile.save(path)


def _write_table(profile: Profile, path: Path) -> None:
    """Write the tables of shares, masses and means one after the other, with a column `table`."""
    tables = {name: profile.to_dataframe(name) for name in ("share", "mass", "mean")}
    filled = [table.assign(table=name) for name, table in tables.items() if len(table)]
    names = list(filled[0]) if filled else []
    stacked = dataframe_of(
        {str(n): [value for table in filled for value in table[n]] for n in names}
    )
    stacked["head"] = stacked["head"].astype("Int64")  # an integer, or empty for the mean of all
    with atomic_file(path) as unfinished:
        stacked.to_csv(unfinished, index=False)


WRITERS: dict[str, Callable[[Profile, Path], None]] = {
    ".html": _write_page,
    ".normviz": _save,
    ".csv": _write_table,
}
"""The function that writes each kind of file, by suffix; `.normviz` holds the profile itself."""


def _as_text(profile: Profile, path: Path) -> str:
    lines = [str(profile)]
    if profile.failures:
        lines.append(f"\n{len(profile.failures):,} texts could not be measured:")
        lines += [f"  {one.number}: {one.reason}" for one in profile.failures[:MAX_PRINTED]]
        lines += ["  …"] if len(profile.failures) > MAX_PRINTED else []
    return "\n".join([*lines, f"\nThe profile: {path}"])


def _as_json(profile: Profile, path: Path) -> dict[str, Any]:
    """Return the result for a script: shares (by text) by measure, category and layer."""
    shares: dict[str, dict[str, list[float]]] = {}
    for measure, category in profile.sums.shares:
        shares.setdefault(measure, {})[category] = profile.share(measure, category).tolist()
    return {
        "path": str(path),
        "model": profile.model,
        "texts": profile.texts,
        "tokens": profile.tokens,
        "shares": shares,
        "failures": [{"number": one.number, "reason": one.reason} for one in profile.failures],
    }

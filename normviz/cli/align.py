"""Word alignment from a shell: `normviz align`."""

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import normviz
from normviz.alignment.align import SETTINGS
from normviz.alignment.formats import FORMATS, write
from normviz.alignment.scores import pairs_of
from normviz.cli.profile import at_least_one
from normviz.corpus.sums import Failure
from normviz.errors import BadInput
from normviz.system.files import atomic_file, by_suffix

EXAMPLES = """examples:
  normviz align --model ./es-en --source test.es --target test.en --gold test.gold -o report.html
  normviz align --model ./es-en --pairs test.es-en --layer 2 --setting input -o links.pharaoh
  normviz align --model google-t5/t5-small --prefix "translate English to German: " \\
    --source test.en --target test.de --gold test.gold --json"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """What may be written after `normviz align`."""
    parser.add_argument("--model", required=True,
                        help='a translator: a name, a folder, or "demo-translator"')  # fmt: skip
    parser.add_argument("--tokenizer", help="the tokenizer's name or folder, where it is another")
    parser.add_argument("--source", type=Path, metavar="FILE", help="sentences, one in each line")
    parser.add_argument("--target", type=Path, metavar="FILE", help="their translations")
    parser.add_argument("--pairs", type=Path, metavar="FILE",
                        help="both in one file instead, as source ||| target")  # fmt: skip
    parser.add_argument("--gold", type=Path, metavar="FILE", help="the links that people drew")
    parser.add_argument("--gold-format", choices=tuple(FORMATS),
                        help="its format, where it does not tell itself")  # fmt: skip
    parser.add_argument("--prefix", default="", help="what stands before each source, as for T5")
    parser.add_argument("--languages", nargs=2, metavar=("SOURCE", "TARGET"),
                        help="as a tokenizer of many languages names them")  # fmt: skip
    parser.add_argument("--batch-size", type=at_least_one, default=16, metavar="NUMBER",
                        help="how many pairs go together (16)")  # fmt: skip
    links = parser.add_argument_group("links in a file (.pharaoh, .talp, .naacl)")
    links.add_argument("--measure", default="weighted-norm", help="what links are drawn by")
    links.add_argument("--layer", type=int, help="a layer of the decoder; the mean of all")
    links.add_argument("--heads", type=int, nargs="+", metavar="HEAD", help="some heads; all")
    links.add_argument("--setting", choices=SETTINGS, default="input",
                       help="the row that reads a word, or the one that predicts it")  # fmt: skip
    parser.add_argument("-o", "--output", default="alignment.html", metavar="FILE",
                        help=f"where to write: {', '.join(WRITERS)}")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print JSON for a script")


def run(chosen: argparse.Namespace) -> int:
    """Align what is in the files; 1 when some of the pairs could not be aligned."""
    write_to = by_suffix(chosen.output, WRITERS)  # before the model is loaded, not after
    failures = write_to(_sentences(chosen), chosen)
    return 1 if failures else 0


def _sentences(chosen: argparse.Namespace) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The pairs, from one file or from two."""
    two = chosen.source is not None and chosen.target is not None
    if two == (chosen.pairs is not None) or (chosen.source is None) != (chosen.target is None):
        raise BadInput(
            "The sentences are not given, or given twice.",
            "Either --source and --target are wanted, or --pairs.",
            "Name two files with a sentence in each line, or one with source ||| target.",
        )
    if not two:
        return pairs_of(chosen.pairs)
    files = (chosen.source, chosen.target)
    sides = [path.read_text(encoding="utf-8").splitlines() for path in files]
    if len(sides[0]) != len(sides[1]):
        counts = [f"{path.name} has {len(side)}" for path, side in zip(files, sides, strict=True)]
        raise BadInput(
            f"Of lines, {' and '.join(counts)}.",
            "Each line of one file must be the translation of the same line of the other.",
            "Give files of as many lines; an empty one where there is nothing.",
        )
    return pairs_of(list(zip(*sides, strict=True)))


def _common(chosen: argparse.Namespace) -> dict[str, Any]:
    """What report and links need alike."""
    return {
        "tokenizer": chosen.tokenizer,
        "prefix": chosen.prefix,
        "languages": tuple(chosen.languages) if chosen.languages else None,
        "batch_size": chosen.batch_size,
    }


def _judged(keep: Callable[[Any, Path], None]) -> Callable[..., tuple[Failure, ...]]:
    """What studies the pairs against their gold links, and keeps the result in its own way."""

    def judge(sentences: Any, chosen: argparse.Namespace) -> tuple[Failure, ...]:
        if chosen.gold is None:
            raise BadInput(
                "There are no gold links.",
                "An error rate needs the links that people drew.",
                "Give --gold FILE, or write links alone: -o links.pharaoh",
            )
        found = normviz.studies.alignment(
            chosen.model, sentences, chosen.gold, gold_format=chosen.gold_format, **_common(chosen)
        )
        path = Path(chosen.output)
        keep(found, path)
        print(_plain(found, path) if chosen.json else f"{found}\n\nThe report: {path.resolve()}")
        return found.failures

    return judge


def _page(found: Any, path: Path) -> None:
    found.to_html(path)


def _table(found: Any, path: Path) -> None:
    with atomic_file(path) as unfinished:
        found.to_dataframe().to_csv(unfinished, index=False)


def _plain(found: Any, path: Path) -> str:
    """The result for a script: error rates by measure, setting and layer."""
    rates: dict[str, dict[str, list[float]]] = {}
    for measure, setting in found.counts:
        rates.setdefault(measure, {})[setting] = found.aer(measure, setting).tolist()
    return json.dumps(
        {"path": str(path.resolve()), "model": found.model, "pairs": found.pairs, "aer": rates,
         "failures": _failed(found.failures)},
        ensure_ascii=False,
    )  # fmt: skip


def _failed(failures: Sequence[Failure]) -> list[dict[str, Any]]:
    """Pairs that could not be aligned, by the lines they stand in."""
    return [{"line": one.number + 1, "reason": one.reason} for one in failures]


def _linked(form: str) -> Callable[..., tuple[Failure, ...]]:
    """What writes the links of one layer to a file of this format."""

    def link(sentences: Any, chosen: argparse.Namespace) -> tuple[Failure, ...]:
        from normviz.studies.word_alignment.study import links

        where = {name: getattr(chosen, name) for name in ("measure", "layer", "heads", "setting")}
        found, failures = links(chosen.model, sentences, **where, **_common(chosen))
        path = write(found, chosen.output, form).resolve()
        failed = _failed(failures)
        if chosen.json:
            told = {"path": str(path), "pairs": len(found), "links": sum(map(len, found))}
            print(json.dumps({**told, "failures": failed}, ensure_ascii=False))
        else:
            print(f"{sum(map(len, found)):,} links of {len(found):,} pairs: {path}")
            for one in failed:
                print(f"  line {one['line']} has none: {one['reason']}")
        return failures

    return link


WRITERS: dict[str, Callable[..., tuple[Failure, ...]]] = {
    ".html": _judged(_page),
    ".csv": _judged(_table),
    **{f".{form}": _linked(form) for form in FORMATS},
}
"""What makes a file, by its ending."""

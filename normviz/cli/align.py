"""The command `normviz align`: word alignment of a corpus of translations."""

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import normviz
from normviz.alignment.align import TARGET_ROWS
from normviz.alignment.formats import LinkFormat, write_links
from normviz.alignment.scores import SentencePair, read_sentence_pairs
from normviz.cli.values import positive_int
from normviz.core.failure import Failure
from normviz.errors import BadInput
from normviz.system.files import atomic_file, by_suffix

if TYPE_CHECKING:
    from normviz.studies import Alignments

EXAMPLES = """examples:
  normviz align --model ./es-en --source test.es --target test.en --gold test.gold -o report.html
  normviz align --model ./es-en --pairs test.es-en --layer 2 --target-row input -o links.pharaoh
  normviz align --model google-t5/t5-small --prefix "translate English to German: " \\
    --source test.en --target test.de --gold test.gold --json"""

LINK_FORMATS: tuple[LinkFormat, ...] = get_args(LinkFormat)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `normviz align`."""
    parser.add_argument("--model", required=True,
                        help='a translation model: name, folder, or "demo-translator"')  # fmt: skip
    parser.add_argument("--tokenizer", help="the tokenizer's name or folder, if not the model's")
    parser.add_argument("--source", type=Path, metavar="FILE", help="a sentence on each line")
    parser.add_argument("--target", type=Path, metavar="FILE", help="their translations")
    parser.add_argument("--pairs", type=Path, metavar="FILE",
                        help="both in one file instead, as source ||| target")  # fmt: skip
    parser.add_argument("--gold", type=Path, metavar="FILE", help="the gold links")
    parser.add_argument("--gold-format", choices=LINK_FORMATS,
                        help="its format, if it cannot be detected")  # fmt: skip
    parser.add_argument("--prefix", default="", help="the text before each source, as for T5")
    parser.add_argument("--languages", nargs=2, metavar=("SOURCE", "TARGET"),
                        help="as a tokenizer of many languages names them")  # fmt: skip
    parser.add_argument("--batch-size", type=positive_int, default=16, metavar="NUMBER",
                        help="how many pairs run together (16)")  # fmt: skip
    links = parser.add_argument_group("links in a file (.pharaoh, .talp, .naacl)")
    links.add_argument("--measure", default="weighted-norm", help="the measure that links words")
    links.add_argument("--layer", type=int, help="a layer of the decoder (default: mean of all)")
    links.add_argument(
        "--heads", type=int, nargs="+", metavar="HEAD", help="some heads (default: all)"
    )
    links.add_argument("--target-row", choices=TARGET_ROWS, default="input",
                       help="the row that reads a word, or the one that predicts it")  # fmt: skip
    parser.add_argument("-o", "--output", default="alignment.html", metavar="FILE",
                        help=f"where to write: {', '.join(WRITERS)}")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print JSON for a script")


def run(parsed: argparse.Namespace) -> int:
    """Align the sentences in the files; return 1 if some pairs could not be aligned."""
    write = by_suffix(parsed.output, WRITERS)  # refuses a bad output before the model is loaded
    failures = write(_read_sentences(parsed), parsed)
    return 1 if failures else 0


def _read_sentences(parsed: argparse.Namespace) -> list[SentencePair]:
    """Return the sentence pairs, from one file or from two."""
    two = parsed.source is not None and parsed.target is not None
    if two == (parsed.pairs is not None) or (parsed.source is None) != (parsed.target is None):
        raise BadInput(
            "The sentences are not given, or given twice.",
            "Expected either --source and --target, or --pairs.",
            "Name two files with a sentence on each line, or one with source ||| target.",
        )
    if not two:
        return read_sentence_pairs(parsed.pairs)
    files = (parsed.source, parsed.target)
    source, target = (path.read_text(encoding="utf-8").splitlines() for path in files)
    if len(source) != len(target):
        raise BadInput(
            f"Of lines, {files[0].name} has {len(source)} and {files[1].name} has {len(target)}.",
            "Expected each line of one file to be the translation of the same line of the other.",
            "Give files of equal length, with an empty line for a missing sentence.",
        )
    return read_sentence_pairs(list(zip(source, target, strict=True)))


def _common_options(parsed: argparse.Namespace) -> dict[str, Any]:
    """Return the options that the report and the links share."""
    return {
        "tokenizer": parsed.tokenizer,
        "prefix": parsed.prefix,
        "languages": tuple(parsed.languages) if parsed.languages else None,
        "batch_size": parsed.batch_size,
    }


Writer = Callable[[list[SentencePair], argparse.Namespace], tuple[Failure, ...]]
"""Aligns sentences, writes the output, and returns the failures."""


def _study_writer(write: Callable[["Alignments", Path], None]) -> Writer:
    """Return a writer that scores the alignment against gold links."""

    def run_study(sentences: list[SentencePair], parsed: argparse.Namespace) -> tuple[Failure, ...]:
        if parsed.gold is None:
            raise BadInput(
                "There are no gold links.",
                "An error rate needs gold links.",
                "Give --gold FILE, or write links alone: -o links.pharaoh",
            )
        study = normviz.studies.alignment(
            parsed.model, sentences, parsed.gold, gold_format=parsed.gold_format,
            **_common_options(parsed),
        )  # fmt: skip
        path = Path(parsed.output)
        write(study, path)
        print(_as_json(study, path) if parsed.json else f"{study}\n\nThe report: {path.resolve()}")
        return study.failures

    return run_study


def _write_page(study: "Alignments", path: Path) -> None:
    study.to_html(path)


def _write_table(study: "Alignments", path: Path) -> None:
    with atomic_file(path) as unfinished:
        study.to_dataframe().to_csv(unfinished, index=False)


def _as_json(study: "Alignments", path: Path) -> str:
    """Return the result for a script: error rates by measure, target row and layer."""
    rates: dict[str, dict[str, list[float]]] = {}
    for measure, target_row in study.counts:
        aer = study.aer(measure, target_row)  # type: ignore[arg-type]
        rates.setdefault(measure, {})[target_row] = aer.tolist()
    return json.dumps(
        {"path": str(path.resolve()), "model": study.model, "pairs": study.pairs, "aer": rates,
         "failures": _failures_as_json(study.failures)},
        ensure_ascii=False,
    )  # fmt: skip


def _failures_as_json(failures: Sequence[Failure]) -> list[dict[str, Any]]:
    """Return the pairs that could not be aligned, by line number."""
    return [{"line": failure.number + 1, "reason": failure.reason} for failure in failures]


def _link_writer(file_format: LinkFormat) -> Writer:
    """Return a writer of the links of one layer in this format."""

    def write(sentences: list[SentencePair], parsed: argparse.Namespace) -> tuple[Failure, ...]:
        from normviz.studies.word_alignment.study import link_words

        options = ("measure", "layer", "heads", "target_row")
        where = {name: getattr(parsed, name) for name in options}
        links, failures = link_words(parsed.model, sentences, **where, **_common_options(parsed))
        path = write_links(links, parsed.output, file_format).resolve()
        count, failed = sum(map(len, links)), _failures_as_json(failures)
        if parsed.json:
            result = {"path": str(path), "pairs": len(links), "links": count, "failures": failed}
            print(json.dumps(result, ensure_ascii=False))
        else:
            print(f"{count:,} links of {len(links):,} pairs: {path}")
            for failure in failed:
                print(f"  line {failure['line']} has none: {failure['reason']}")
        return failures

    return write


WRITERS: dict[str, Writer] = {
    ".html": _study_writer(_write_page),
    ".csv": _study_writer(_write_table),
    **{f".{file_format}": _link_writer(file_format) for file_format in LINK_FORMATS},
}
"""The function that writes each kind of file, by suffix."""

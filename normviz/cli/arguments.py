"""What may be written after `normviz` in a shell."""

import argparse
from collections.abc import Callable, Mapping
from typing import Any

import normviz
from normviz.alignment.align import SETTINGS
from normviz.cli import align as aligning
from normviz.cli import profile as shell
from normviz.errors import NormvizError
from normviz.view.bounds import checked_size
from normviz.view.encoding import PRECISIONS
from normviz.view.state import COLORS, SCALES, SPECIALS, THEMES, VIEWS

EXAMPLES = """examples:
  normviz show "The cat sat." --pair "On a mat."           a page, normviz.html
  normviz show "The cat sat." --measure weight --layer 3 -o figure.svg
  normviz show --file essay.txt --model ./my-model -o essay.normviz
  echo "The cat sat." | normviz show --json | jq .receipt.ok
  normviz view essay.normviz --view stack --open
  normviz profile corpus.txt --longest 512 -o corpus.csv
  normviz align --model ./es-en --pairs test.es-en --gold test.gold -o report.html
  normviz check bert-base-uncased"""

SHELL = {"precision": "--precision", "max_mb": "--max-mb", "width_cm": "--width-cm",
         "dpi": "--dpi", "legend": "--no-legend"}  # fmt: skip
"""How the options of some kinds of file are written in a shell."""

HOW = ("effective", "samples", "seed", "norm", "origin", "rows")
"""Options that are passed on to `analyze` as they are."""


def parser_for(runs: Mapping[str, Callable[[argparse.Namespace], int]]) -> argparse.ArgumentParser:
    """What reads a command line, and names what runs it."""
    style = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="normviz",
        description="What attention really moves.",
        epilog=EXAMPLES,
        formatter_class=style,
    )
    parser.add_argument("--version", action="version", version=normviz.__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    show = commands.add_parser(
        "show", help="run a model on a text and write the picture", epilog=EXAMPLES,
        formatter_class=style,
    )  # fmt: skip
    _show_options(show)
    show.set_defaults(run=runs["show"])
    view = commands.add_parser("view", help="write the picture of a saved flow")
    view.add_argument("flow", metavar="FILE.normviz", help="a file written by flow.save")
    _picture_options(view)
    view.set_defaults(run=runs["view"])
    for name, room, about in (
        ("profile", shell, "run a model over a whole corpus and write what it does on average"),
        ("align", aligning, "align the words of translations, and judge the links"),
    ):
        command = commands.add_parser(name, help=about, epilog=room.EXAMPLES, formatter_class=style)
        room.add_options(command)
        command.set_defaults(run=runs[name])
    check = commands.add_parser(
        "check",
        help="run a model once and print whether its parts add up to its own output",
        epilog="for example: normviz check demo, or normviz check ./my-model",
    )
    check.add_argument("model", metavar="MODEL", help='a name, a folder, or "demo"')
    check.add_argument("--tokenizer", help="the tokenizer's name or folder, where it is another")
    check.add_argument("--json", action="store_true", help="print JSON for a script")
    check.set_defaults(run=runs["check"])
    _demo_options(commands, runs["demo"])
    return parser


def _demo_options(commands: Any, run: Callable[[argparse.Namespace], int]) -> None:
    demo = commands.add_parser("demo", help="the finding of Kobayashi et al. 2020 on a real model")
    demo.add_argument("-o", "--output", default="demo.html", help="where to write the picture")
    demo.add_argument("--open", action="store_true", help="open it where there is a display")
    demo.add_argument("--json", action="store_true", help="print JSON for a script")
    demo.set_defaults(run=run)


def _show_options(show: argparse.ArgumentParser) -> None:
    show.add_argument("text", nargs="?", metavar="TEXT", help='the text; "-" or none: read stdin')
    show.add_argument("--file", help="read the text from a file")
    show.add_argument("--pair", metavar="TEXT", help="a second sentence")
    show.add_argument("--target", metavar="TEXT", help="the translation, for such a model")
    show.add_argument("--model", default="demo", help='a name, a folder, or "demo" (the default)')
    show.add_argument("--tokenizer", help="the tokenizer's name or folder, where it is another")
    show.add_argument("--measures", nargs="+", metavar="ID", help='what to compute, or "all"')
    show.add_argument("--effective", choices=("bias", "paper", "stochastic"), default="bias",
                      help="what effective-weight leaves out of the weights")  # fmt: skip
    show.add_argument("--truncate", action="store_true", help="cut a text the model cannot take")
    show.add_argument("--samples", type=int, metavar="NUMBER",
                      help="random directions for each token, for attributions")  # fmt: skip
    show.add_argument("--seed", type=int, default=0, help="where random directions begin")
    show.add_argument("--norm", default="frobenius", help='of derivatives, or "spectral"')
    show.add_argument("--origin", default="after-norm", metavar="WHERE",
                      help='of derivatives: the input "after-norm" or "before-norm"')  # fmt: skip
    show.add_argument("--rows", default="normalized", help='of attributions, or "raw"')
    _picture_options(show)


def _picture_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", default="normviz.html", metavar="FILE",
                        help="where to write: .html, .svg, .png or .normviz")  # fmt: skip
    parser.add_argument("--open", action="store_true", help="open it where there is a display")
    parser.add_argument("--json", action="store_true", help="print JSON for a script")
    parser.add_argument("--view", choices=VIEWS)
    parser.add_argument("--stream")
    parser.add_argument("--measure", metavar="ID")
    parser.add_argument("--compare", type=_number, metavar="ID|LAYER")
    parser.add_argument("--layer", type=int)
    parser.add_argument("--heads", type=int, nargs="+", metavar="HEAD")
    parser.add_argument("--token", type=int, help="the token to pin, counted from 0")
    parser.add_argument("--side", choices=("query", "key"))
    parser.add_argument("--normalize", choices=SCALES)
    parser.add_argument("--words", action="store_true", default=None)
    parser.add_argument("--special", choices=SPECIALS)
    parser.add_argument("--threshold", type=float)
    parser.add_argument("--color", choices=COLORS, help="of the grid: how far two measures agree")
    parser.add_argument("--setting", choices=SETTINGS, help="of an alignment: whose row counts")
    parser.add_argument("--theme", choices=THEMES)
    parser.add_argument("--precision", choices=PRECISIONS, help="of the numbers in a page")
    for name, about in (
        ("max_mb", "the largest page wanted, in megabytes"),
        ("width_cm", "the width of a figure, in centimeters"),
        ("dpi", "the dots per inch of a PNG"),
    ):
        parser.add_argument(SHELL[name], type=_sized(name), metavar="NUMBER", help=about)
    parser.add_argument("--no-legend", dest="legend", action="store_false", default=None,
                        help="leave out the line below a figure")  # fmt: skip


def _sized(name: str) -> Callable[[str], float]:
    """What reads a size; a bad one is refused before any model is loaded."""

    def read(text: str) -> float:
        try:
            number: object = float(text)
        except ValueError:
            number = text
        try:
            return checked_size(name, number)
        except NormvizError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


def _number(text: str) -> int | str:
    return int(text) if text.isdigit() else text

"""The options of every `normviz` command."""

import argparse
from collections.abc import Callable, Mapping
from typing import Any, get_args

import normviz
from normviz.cli import align, profile
from normviz.cli.messages import option_names, shell_message
from normviz.cli.values import max_tokens
from normviz.core.gradients import Norm, Origin, Rows
from normviz.errors import NormvizError
from normviz.view.bounds import require_size
from normviz.view.encoding import PRECISIONS
from normviz.view.state import ALLOWED

EXAMPLES = """examples:
  normviz show "The cat sat." --pair "On a mat."           a page, normviz.html
  normviz show "The cat sat." --measure weight --layer 3 -o figure.svg
  normviz show --file essay.txt --model ./my-model -o essay.normviz
  echo "The cat sat." | normviz show --json | jq .receipt.ok
  normviz view essay.normviz --view stack --open
  normviz profile corpus.txt --max-tokens 512 -o corpus.csv
  normviz align --model ./es-en --pairs test.es-en --gold test.gold -o report.html
  normviz check bert-base-uncased"""

FILE_OPTIONS = ("precision", "max_mb", "width_cm", "dpi", "title", "legend")
"""Options that only some kinds of files have."""
GRADIENT_OPTIONS = ("samples", "seed", "norm", "origin", "rows")
"""The options that make up `normviz.Gradients`."""

Run = Callable[[argparse.Namespace], int]


def parser_for(runs: Mapping[str, Run]) -> argparse.ArgumentParser:
    """Return the parser of the command line, which sets the function that runs each command."""
    style = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="normviz",
        description="What attention really moves.",
        epilog=EXAMPLES,
        formatter_class=style,
    )
    parser.add_argument("--version", action="version", version=normviz.__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(
        name: str, add_options: Callable[[argparse.ArgumentParser], None], about: str, **more: Any
    ) -> None:
        command = commands.add_parser(name, help=about, **more)
        add_options(command)
        command.set_defaults(run=runs[name], option_names=option_names(command))

    add("show", _add_show_options, "run a model on a text and write the picture",
        epilog=EXAMPLES, formatter_class=style)  # fmt: skip
    add("view", _add_view_options, "write the picture of a saved flow")
    add("profile", profile.add_options, "run a model over a corpus and write its averages",
        epilog=profile.EXAMPLES, formatter_class=style)  # fmt: skip
    add("align", align.add_options, "align the words of translations, and score the links",
        epilog=align.EXAMPLES, formatter_class=style)  # fmt: skip
    add("check", _add_check_options, "run a model once and check that its parts add up",
        epilog="for example: normviz check demo, or normviz check ./my-model")  # fmt: skip
    add("demo", _add_demo_options, "show the finding of Kobayashi et al. 2020 on a real model")
    return parser


def _add_check_options(check: argparse.ArgumentParser) -> None:
    check.add_argument("model", metavar="MODEL", help='a name, a folder, or "demo"')
    check.add_argument("--tokenizer", help="the tokenizer's name or folder, if not the model's")
    check.add_argument("--json", action="store_true", help="print JSON for a script")


def _add_demo_options(demo: argparse.ArgumentParser) -> None:
    demo.add_argument("-o", "--output", default="demo.html", help="where to write the picture")
    demo.add_argument("--open", action="store_true", help="open it, if there is a display")
    demo.add_argument("--json", action="store_true", help="print JSON for a script")


def _add_view_options(view: argparse.ArgumentParser) -> None:
    view.add_argument("flow", metavar="FILE.normviz", help="a file written by flow.save")
    _add_picture_options(view)


def _add_show_options(show: argparse.ArgumentParser) -> None:
    show.add_argument("text", nargs="?", metavar="TEXT",
                      help='the text; "-" or nothing reads stdin')  # fmt: skip
    show.add_argument("--file", help="read the text from a file")
    show.add_argument("--pair", metavar="TEXT", help="a second sentence")
    show.add_argument("--target", metavar="TEXT", help="the translation, for a translation model")
    show.add_argument("--model", default="demo", help='a name, a folder, or "demo" (the default)')
    show.add_argument("--tokenizer", help="the tokenizer's name or folder, if not the model's")
    show.add_argument("--measures", nargs="+", metavar="ID", help='what to compute, or "all"')
    show.add_argument("--max-tokens", type=max_tokens, metavar="NUMBER",
                      help='where to truncate the text, or "model" for its limit')  # fmt: skip
    show.add_argument("--effective-form", choices=("bias", "paper", "stochastic"), default="bias",
                      help="what effective-weight leaves out of the weights")  # fmt: skip
    gradients = show.add_argument_group("attributions by gradient, and value zeroing (--rows)")
    gradients.add_argument("--samples", type=int, metavar="NUMBER",
                           help="random directions for each token (default: all)")  # fmt: skip
    gradients.add_argument("--seed", type=int, help="the seed of the random directions")
    gradients.add_argument("--norm", choices=get_args(Norm), help="of the derivatives")
    gradients.add_argument("--origin", choices=get_args(Origin),
                           help="where the input is taken: after or before the norm of the "
                           "embeddings")  # fmt: skip
    gradients.add_argument("--rows", choices=get_args(Rows), help="whether each row adds up to 1")
    _add_picture_options(show)


def _add_picture_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", default="normviz.html", metavar="FILE",
                        help="where to write: .html, .svg, .pdf, .png or .normviz")  # fmt: skip
    parser.add_argument("--open", action="store_true", help="open it, if there is a display")
    parser.add_argument("--json", action="store_true", help="print JSON for a script")
    state = parser.add_argument_group("what the picture shows")
    state.add_argument("--view", choices=ALLOWED["view"])
    state.add_argument("--stream", help="encoder, decoder, cross, or a tower such as vision")
    state.add_argument("--measure", metavar="ID", help="the measure to draw")
    state.add_argument("--compare", type=_layer_or_measure, metavar="ID|LAYER",
                       help="another measure or layer to draw beside it")  # fmt: skip
    state.add_argument("--layer", type=int, help="the layer, counted from 0")
    state.add_argument(
        "--heads", type=int, nargs="+", metavar="HEAD", help="some heads (default: all)"
    )
    state.add_argument("--token", type=int, help="the token to select, counted from 0")
    state.add_argument("--role", choices=ALLOWED["role"], help="of the selected token")
    state.add_argument("--normalize", choices=ALLOWED["normalize"], help="the scale of the numbers")
    state.add_argument("--words", action="store_true", default=None, help="merge tokens into words")
    state.add_argument("--special", choices=ALLOWED["special"], help="how to draw special tokens")
    state.add_argument("--threshold", type=float, help="hide less than this part of the largest")
    state.add_argument("--color-by", choices=ALLOWED["color_by"],
                       help="color the grid by how far two measures agree")  # fmt: skip
    state.add_argument(
        "--difference",
        action="store_true",
        default=None,
        help="two measures as one picture of their difference",
    )
    state.add_argument("--target-row", choices=ALLOWED["target_row"],
                       help="of an alignment: the row that reads or predicts a word")  # fmt: skip
    state.add_argument("--theme", choices=ALLOWED["theme"])
    file = parser.add_argument_group("the file")
    file.add_argument("--precision", choices=PRECISIONS, help="of the numbers in a page")
    for option, about in (
        ("--max-mb", "the largest page allowed, in megabytes"),
        ("--width-cm", "the width of a figure, in centimeters"),
        ("--dpi", "the dots per inch of a PNG"),
    ):
        file.add_argument(option, type=_size_parser(option), metavar="NUMBER", help=about)
    file.add_argument("--no-title", dest="title", action="store_false", default=None,
                      help="leave out the lines above a figure")  # fmt: skip
    file.add_argument("--no-legend", dest="legend", action="store_false", default=None,
                      help="leave out the lines below a figure")  # fmt: skip


def _size_parser(option: str) -> Callable[[str], float]:
    """Return a function that parses a size, and refuses a bad one before a model is loaded."""
    name = option.removeprefix("--").replace("-", "_")

    def parse(text: str) -> float:
        try:
            number: float | str = float(text)
        except ValueError:
            number = text
        try:
            return require_size(name, number)
        except NormvizError as error:
            raise argparse.ArgumentTypeError(shell_message(error, {name: option})) from None

    return parse


def _layer_or_measure(text: str) -> int | str:
    return int(text) if text.isdigit() else text

"""The same from a shell: `normviz show`, `view`, `check` and `demo`."""

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import normviz
from normviz.catalog import DEFAULT, MEASURES
from normviz.choice import CHOICES, SCALES, SPECIALS, THEMES, VIEWS
from normviz.coding import PRECISIONS
from normviz.errors import NormvizError, UnknownName
from normviz.flow import Flow
from normviz.headline import DEMO_PAIR, DEMO_TEXT, headline, shares
from normviz.sizes import bounded

EXAMPLES = """examples:
  normviz show "The cat sat." --pair "On a mat."           a page, normviz.html
  normviz show "The cat sat." --measure weight --layer 3 -o figure.svg
  normviz show --file essay.txt --model ./my-model -o essay.normviz
  echo "The cat sat." | normviz show --json | jq .receipt.ok
  normviz view essay.normviz --view stack --open
  normviz check bert-base-uncased"""


@dataclass(frozen=True)
class Writer:
    """What writes a file of one kind, and the options of this kind alone."""

    write: Callable[..., Path]
    options: tuple[str, ...]


def _save(flow: Flow, path: str, **_: Any) -> Path:
    return flow.save(path)


WRITERS = {
    ".html": Writer(Flow.to_html, ("precision", "max_mb")),
    ".svg": Writer(Flow.to_svg, ("width_cm", "legend")),
    ".png": Writer(Flow.to_png, ("width_cm", "dpi", "legend")),
    ".normviz": Writer(_save, ()),
}
"""What writes a file, by its ending; `.normviz` keeps the flow itself."""

SHELL = {"precision": "--precision", "max_mb": "--max-mb", "width_cm": "--width-cm",
         "dpi": "--dpi", "legend": "--no-legend"}  # fmt: skip
"""How the options of some kinds of file are written in a shell."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 when all went well, 1 when a check failed, 2 when it could not be done."""
    chosen = _parser().parse_args(arguments)
    try:
        return int(chosen.run(chosen))
    except NormvizError as error:
        print(f"normviz: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"normviz: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("normviz: stopped", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    style = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="normviz",
        description="What attention really moves.",
        epilog=EXAMPLES,
        formatter_class=style,
    )
    parser.add_argument("--version", action="version", version=normviz.__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _show_parser(
        commands.add_parser(
            "show", help="run a model on a text and write the picture", epilog=EXAMPLES,
            formatter_class=style,
        )
    )  # fmt: skip
    view = commands.add_parser("view", help="write the picture of a saved flow")
    view.add_argument("flow", metavar="FILE.normviz", help="a file written by flow.save")
    _picture_options(view)
    view.set_defaults(run=_view)
    check = commands.add_parser(
        "check",
        help="run a model once and print whether its parts add up to its own output",
        epilog="for example: normviz check demo, or normviz check ./my-model",
    )
    check.add_argument("model", metavar="MODEL", help='a name, a folder, or "demo"')
    check.add_argument("--tokenizer", help="the tokenizer's name or folder, where it is another")
    check.add_argument("--json", action="store_true", help="print JSON for a script")
    check.set_defaults(run=_check)
    demo = commands.add_parser("demo", help="the finding of Kobayashi et al. 2020 on a real model")
    demo.add_argument("-o", "--output", default="demo.html", help="where to write the picture")
    demo.add_argument("--open", action="store_true", help="open it where there is a display")
    demo.add_argument("--json", action="store_true", help="print JSON for a script")
    demo.set_defaults(run=_demo)
    return parser


def _show_parser(show: argparse.ArgumentParser) -> None:
    show.add_argument("text", nargs="?", metavar="TEXT", help='the text; "-" or none: read stdin')
    show.add_argument("--file", help="read the text from a file")
    show.add_argument("--pair", metavar="TEXT", help="a second sentence")
    show.add_argument("--target", metavar="TEXT", help="the translation, for such a model")
    show.add_argument("--model", default="demo", help='a name, a folder, or "demo" (the default)')
    show.add_argument("--tokenizer", help="the tokenizer's name or folder, where it is another")
    show.add_argument("--measures", nargs="+", metavar="ID", help='what to compute, or "all"')
    show.add_argument("--truncate", action="store_true", help="cut a text the model cannot take")
    _picture_options(show)
    show.set_defaults(run=_show)


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
    parser.add_argument("--theme", choices=THEMES)
    parser.add_argument("--precision", choices=PRECISIONS, help="of the numbers in a page")
    for name, about in (
        ("max_mb", "the largest page wanted, in megabytes"),
        ("width_cm", "the width of a figure, in centimetres"),
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
            return bounded(name, number)
        except NormvizError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


def _number(text: str) -> int | str:
    return int(text) if text.isdigit() else text


def _show(chosen: argparse.Namespace) -> int:
    _writer(chosen)  # before the model is loaded, not after
    flow = normviz.analyze(
        chosen.model,
        chosen.tokenizer,
        _text(chosen),
        chosen.pair,
        target=chosen.target,
        truncate=chosen.truncate,
        measures=_measures(chosen),
    )
    return _finish(flow, chosen)


def _measures(chosen: argparse.Namespace) -> str | list[str]:
    """What to compute: what is asked for, or the usual with what is to be shown."""
    if chosen.measures == ["all"]:
        return "all"
    shown = [name for name in (chosen.measure, chosen.compare) if name in MEASURES]
    return list(chosen.measures or dict.fromkeys((*DEFAULT, *shown)))


def _text(chosen: argparse.Namespace) -> str:
    """The text, from the command line, a file or a pipe."""
    if chosen.file is not None:
        return Path(chosen.file).read_text(encoding="utf-8").strip()
    if chosen.text not in (None, "-"):
        return str(chosen.text)
    if sys.stdin.isatty() and chosen.text is None:
        raise UnknownName(
            "There is no text.",
            "A text is wanted.",
            'Write it after the command, or use --file PATH, or "-" to type it.',
        )
    return sys.stdin.read().strip()


def _view(chosen: argparse.Namespace) -> int:
    _writer(chosen)
    return _finish(normviz.load(chosen.flow), chosen)


def _finish(flow: Flow, chosen: argparse.Namespace) -> int:
    """Write the picture and say what there is to say."""
    path = _write(flow, chosen).resolve()
    if chosen.json:
        _print_json(flow, path)
    else:
        if "weight" in flow and "weighted-norm" in flow and len(flow.streams) == 1:
            print(headline(flow))
        print(flow.receipt.headline())
        print(f"\nThe picture: {path}" if path.suffix != ".normviz" else f"\nThe flow: {path}")
    if chosen.open:
        _open(path.as_uri())
    return 0 if flow.receipt.ok else 1


def _kind(output: str) -> Writer:
    ending = Path(output).suffix.lower()
    if ending not in WRITERS:
        raise UnknownName(
            f"{output!r} ends in {ending!r}.",
            f"A file can be: {', '.join(WRITERS)}.",
            "Give the output one of these endings.",
        )
    return WRITERS[ending]


def _writer(chosen: argparse.Namespace) -> Writer:
    """What writes the output, if all that was asked for can be written to such a file."""
    writer = _kind(chosen.output)
    for name, option in SHELL.items():
        if getattr(chosen, name) is not None and name not in writer.options:
            kinds = " or ".join(kind for kind, made in WRITERS.items() if name in made.options)
            raise UnknownName(
                f"{option} is given for {chosen.output!r}.",
                f"It is an option for {kinds}.",
                "Leave it out, or write another kind of file.",
            )
    return writer


def _write(flow: Flow, chosen: argparse.Namespace) -> Path:
    writer = _writer(chosen)
    wanted = {name: getattr(chosen, name) for name in (*CHOICES, *writer.options)}
    options = {name: value for name, value in wanted.items() if value is not None}
    return writer.write(flow, chosen.output, **options)


def _check(chosen: argparse.Namespace) -> int:
    receipt = normviz.check(chosen.model, chosen.tokenizer).receipt
    print(json.dumps(receipt.to_dict() | {"ok": receipt.ok}) if chosen.json else receipt)
    return 0 if receipt.ok else 1


def _demo(chosen: argparse.Namespace) -> int:
    writer = _kind(chosen.output)
    flow = normviz.analyze("demo", text=DEMO_TEXT, pair=DEMO_PAIR)
    path = writer.write(flow, chosen.output, measure="weighted-norm", layer=2).resolve()
    if chosen.json:
        _print_json(flow, path)
    else:
        print(headline(flow))
        print(flow.receipt.headline())
        print(f"\nThe picture: {path}")
    if chosen.open:
        _open(path.as_uri())
    return 0 if flow.receipt.ok else 1


def _print_json(flow: Flow, path: Path) -> None:
    receipt = flow.receipt
    found = {
        "path": str(path),
        "model": receipt.model,
        "title": flow.title,
        "shares": shares(flow),
        "receipt": {"ok": receipt.ok, "headline": receipt.headline()},
    }
    print(json.dumps(found, ensure_ascii=False))


def _open(address: str) -> None:
    """Open a page in the reader's browser, where there is a display to open it on."""
    import webbrowser

    visible = sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY")
    if visible or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(address)


if __name__ == "__main__":
    sys.exit(main())

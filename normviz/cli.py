"""The same from a shell: `normviz show`, `view`, `check` and `demo`."""

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import normviz
from normviz.choice import CHOICES, SCALES, SPECIALS, THEMES, VIEWS
from normviz.coding import PRECISIONS
from normviz.errors import NormvizError, UnknownName
from normviz.flow import Flow
from normviz.headline import DEMO_PAIR, DEMO_TEXT, headline, shares

EXAMPLES = """examples:
  normviz show "The cat sat." --pair "On a mat."           a page, normviz.html
  normviz show "The cat sat." --measure weight --layer 3 -o figure.svg
  normviz show --file essay.txt --model ./my-model -o essay.normviz
  echo "The cat sat." | normviz show --json | jq .receipt.ok
  normviz view essay.normviz --view stack --open
  normviz check bert-base-uncased"""

WRITERS: dict[str, Callable[..., Path]] = {
    ".html": Flow.to_html,
    ".svg": Flow.to_svg,
    ".png": Flow.to_png,
}
"""What writes a file, by its ending; `.normviz` keeps the flow itself."""


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
    show.add_argument("--measures", nargs="+", metavar="ID", help="what to compute")
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
    parser.add_argument("--max-mb", type=float, help="the largest page wanted")


def _number(text: str) -> int | str:
    return int(text) if text.isdigit() else text


def _show(chosen: argparse.Namespace) -> int:
    _writer(chosen.output)  # before the model is loaded, not after
    flow = normviz.analyze(
        chosen.model,
        chosen.tokenizer,
        _text(chosen),
        chosen.pair,
        target=chosen.target,
        truncate=chosen.truncate,
        **({"measures": chosen.measures} if chosen.measures else {}),
    )
    return _finish(flow, chosen)


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


def _writer(output: str) -> Callable[..., Path]:
    ending = Path(output).suffix.lower()
    if ending == ".normviz":
        return lambda flow, path, **_: flow.save(path)
    if ending not in WRITERS:
        raise UnknownName(
            f"{output!r} ends in {ending!r}.",
            f"A file can be: {', '.join([*WRITERS, '.normviz'])}.",
            "Give the output one of these endings.",
        )
    return WRITERS[ending]


def _write(flow: Flow, chosen: argparse.Namespace) -> Path:
    wanted = {name: getattr(chosen, name) for name in CHOICES}
    options: dict[str, Any] = {name: value for name, value in wanted.items() if value is not None}
    if Path(chosen.output).suffix.lower() == ".html":
        more = {"precision": chosen.precision, "max_mb": chosen.max_mb}
        options |= {name: value for name, value in more.items() if value is not None}
    return _writer(chosen.output)(flow, chosen.output, **options)


def _check(chosen: argparse.Namespace) -> int:
    receipt = normviz.check(chosen.model, chosen.tokenizer).receipt
    print(json.dumps(receipt.to_dict() | {"ok": receipt.ok}) if chosen.json else receipt)
    return 0 if receipt.ok else 1


def _demo(chosen: argparse.Namespace) -> int:
    flow = normviz.analyze("demo", text=DEMO_TEXT, pair=DEMO_PAIR)
    path = flow.to_html(chosen.output, measure="weighted-norm", layer=2).resolve()
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

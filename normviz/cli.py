"""The same from a shell: `normviz check MODEL`, `normviz demo`."""

import argparse
import sys
from collections.abc import Sequence

import normviz
from normviz.errors import NormvizError
from normviz.headline import DEMO_PAIR, DEMO_TEXT, headline


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 when all went well, 1 when a check failed, 2 when it could not be done."""
    chosen = _parser().parse_args(arguments)
    try:
        return int(chosen.run(chosen))
    except NormvizError as error:
        print(f"normviz: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("normviz: stopped", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="normviz", description="What attention really moves.")
    parser.add_argument("--version", action="version", version=normviz.__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    check = commands.add_parser(
        "check",
        help="run a model once and print whether its parts add up to its own output",
        epilog="for example: normviz check demo, or normviz check ./my-model",
    )
    check.add_argument("model", metavar="MODEL", help='a name, a folder, or "demo"')
    check.add_argument("--tokenizer", help="the tokenizer's name or folder, where it is another")
    check.set_defaults(run=_check)
    demo = commands.add_parser("demo", help="the finding of Kobayashi et al. 2020 on a real model")
    demo.add_argument("-o", "--output", default="demo.html", help="where to write the picture")
    demo.add_argument("--open", action="store_true", help="open it where there is a display")
    demo.set_defaults(run=_demo)
    return parser


def _check(chosen: argparse.Namespace) -> int:
    receipt = normviz.check(chosen.model, chosen.tokenizer).receipt
    print(receipt)
    return 0 if receipt.ok else 1


def _demo(chosen: argparse.Namespace) -> int:
    flow = normviz.analyze("demo", text=DEMO_TEXT, pair=DEMO_PAIR)
    print(headline(flow))
    print(flow.receipt.headline())
    path = flow.to_html(chosen.output, measure="weighted-norm", layer=2).resolve()
    print(f"\nThe picture: {path}")
    if chosen.open:
        _show(path.as_uri())
    return 0 if flow.receipt.ok else 1


def _show(address: str) -> None:
    """Open a page in the reader's browser, where there is a display to open it on."""
    import os
    import webbrowser

    visible = sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY")
    if visible or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(address)


if __name__ == "__main__":
    sys.exit(main())

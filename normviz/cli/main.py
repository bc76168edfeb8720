"""The same from a shell: `show`, `view`, `check`, `demo`; `profile` and `align` have rooms."""

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import normviz
from normviz.cli.align import run as align
from normviz.cli.arguments import HOW, SHELL, parser_for
from normviz.cli.profile import run as profile
from normviz.core.catalog import DEFAULT, MEASURES
from normviz.core.flow import Flow
from normviz.derived.headline import DEMO_PAIR, DEMO_TEXT, headline, shares
from normviz.errors import NormvizError, UnknownName
from normviz.io import flow_file as storage
from normviz.system.files import by_suffix
from normviz.view.state import CHOICES


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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 when all went well, 1 when a check failed, 2 when it could not be done."""
    runs = {"show": _show, "view": _view, "profile": profile, "align": align, "check": _check,
            "demo": _demo}  # fmt: skip
    chosen = parser_for(runs).parse_args(arguments)
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
        **{name: getattr(chosen, name) for name in HOW},
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
    return _finish(storage.load(chosen.flow), chosen)


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


def _writer(chosen: argparse.Namespace) -> Writer:
    """What writes the output, if all that was asked for can be written to such a file."""
    writer = by_suffix(chosen.output, WRITERS)
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
    writer = by_suffix(chosen.output, WRITERS)
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

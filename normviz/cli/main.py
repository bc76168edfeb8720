"""The commands `show`, `view`, `check` and `demo`; `profile` and `align` have their own modules."""

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import normviz
from normviz.cli import align, profile
from normviz.cli.arguments import FILE_OPTIONS, GRADIENT_OPTIONS, parser_for
from normviz.cli.demo_text import DEMO_PAIR, DEMO_TEXT
from normviz.cli.messages import shell_message
from normviz.core.catalog import DEFAULT, MEASURES
from normviz.core.flow import Flow
from normviz.core.gradients import Gradients
from normviz.derived.summary import category_shares, summarize_flow
from normviz.errors import NormvizError, UnknownName
from normviz.io import flow_file
from normviz.system.files import by_suffix
from normviz.view.state import STATE_NAMES


@dataclass(frozen=True)
class Writer:
    """The function that writes files of one kind, and the options of this kind alone."""

    write: Callable[..., Path]
    options: tuple[str, ...]


def _save(flow: Flow, path: str, **_: Any) -> Path:
    return flow.save(path)


WRITERS = {
    ".html": Writer(Flow.to_html, ("precision", "max_mb")),
    ".svg": Writer(Flow.to_svg, ("width_cm", "title", "legend")),
    ".png": Writer(Flow.to_png, ("width_cm", "dpi", "title", "legend")),
    ".pdf": Writer(Flow.to_pdf, ("width_cm", "title", "legend")),
    ".normviz": Writer(_save, ()),
}
"""The writer of each kind of file, by suffix; `.normviz` holds the flow itself."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns 0 on success, 1 if a check failed, 2 if the command could not be run, and 130 if it was
    interrupted.
    """
    runs = {"show": _show, "view": _view, "profile": profile.run, "align": align.run,
            "check": _check, "demo": _demo}  # fmt: skip
    parsed = parser_for(runs).parse_args(arguments)
    try:
        return int(parsed.run(parsed))
    except NormvizError as error:
        print(f"normviz: {shell_message(error, parsed.option_names)}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"normviz: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("normviz: interrupted", file=sys.stderr)
        return 130


def _show(parsed: argparse.Namespace) -> int:
    _writer(parsed)  # refuses a bad output before the model is loaded
    flow = normviz.analyze(
        parsed.model,
        text=_text(parsed),
        tokenizer=parsed.tokenizer,
        pair=parsed.pair,
        target=parsed.target,
        measures=_measures(parsed),
        gradients=_gradients(parsed),
        max_tokens=parsed.max_tokens,
        effective_form=parsed.effective_form,
    )
    return _finish(flow, parsed)


def _measures(parsed: argparse.Namespace) -> str | list[str]:
    """Return the measures to compute: those of `--measures`, or the default and what is drawn."""
    if parsed.measures == ["all"]:
        return "all"
    drawn = [name for name in (parsed.measure, parsed.compare) if name in MEASURES]
    return list(parsed.measures or dict.fromkeys((*DEFAULT, *drawn)))


def _gradients(parsed: argparse.Namespace) -> Gradients | None:
    """Return the options of gradients, or None if none is given."""
    options = {name: getattr(parsed, name) for name in GRADIENT_OPTIONS}
    given = {name: value for name, value in options.items() if value is not None}
    return Gradients(**given) if given else None


def _text(parsed: argparse.Namespace) -> str:
    """Return the text, from the command line, a file or a pipe."""
    if parsed.file is not None:
        return Path(parsed.file).read_text(encoding="utf-8").strip()
    if parsed.text not in (None, "-"):
        return str(parsed.text)
    if sys.stdin.isatty() and parsed.text is None:
        raise UnknownName(
            "There is no text.",
            "Expected a text.",
            'Write it after the command, or use --file PATH, or "-" to type it.',
        )
    return sys.stdin.read().strip()


def _view(parsed: argparse.Namespace) -> int:
    _writer(parsed)
    return _finish(flow_file.load(parsed.flow), parsed)


def _finish(flow: Flow, parsed: argparse.Namespace) -> int:
    """Write the picture, print the finding, and return the exit code."""
    writer = _writer(parsed)
    options = {name: getattr(parsed, name) for name in (*STATE_NAMES, *writer.options)}
    given = {name: value for name, value in options.items() if value is not None}
    path = writer.write(flow, parsed.output, **given).resolve()
    return _report(flow, path, parsed)


def _report(flow: Flow, path: Path, parsed: argparse.Namespace) -> int:
    """Print the finding and where the file is, and return the exit code."""
    if parsed.json:
        _print_json(flow, path)
    else:
        if "weight" in flow and "weighted-norm" in flow and len(flow.streams) == 1:
            print(summarize_flow(flow))
        print(flow.receipt.headline())
        print(f"\nThe picture: {path}" if path.suffix != ".normviz" else f"\nThe flow: {path}")
    if parsed.open:
        _open(path.as_uri())
    return 0 if flow.receipt.ok else 1


def _writer(parsed: argparse.Namespace) -> Writer:
    """Return the writer of the output; refuse options that its kind of file does not have."""
    writer = by_suffix(parsed.output, WRITERS)
    for name in FILE_OPTIONS:
        if getattr(parsed, name) is not None and name not in writer.options:
            suffixes = " or ".join(suffix for suffix, w in WRITERS.items() if name in w.options)
            raise UnknownName(
                f"{parsed.option_names[name]} is given for {parsed.output!r}.",
                f"It is an option for {suffixes}.",
                "Leave it out, or write another kind of file.",
            )
    return writer


def _check(parsed: argparse.Namespace) -> int:
    receipt = normviz.check(parsed.model, tokenizer=parsed.tokenizer).receipt
    print(json.dumps(receipt.to_dict() | {"ok": receipt.ok}) if parsed.json else receipt)
    return 0 if receipt.ok else 1


def _demo(parsed: argparse.Namespace) -> int:
    writer = by_suffix(parsed.output, WRITERS)
    flow = normviz.analyze("demo", text=DEMO_TEXT, pair=DEMO_PAIR)
    path = writer.write(flow, parsed.output).resolve()
    return _report(flow, path, parsed)


def _print_json(flow: Flow, path: Path) -> None:
    receipt = flow.receipt
    result = {
        "path": str(path),
        "model": receipt.model,
        "title": flow.title,
        "shares": category_shares(flow),
        "receipt": {"ok": receipt.ok, "headline": receipt.headline()},
    }
    print(json.dumps(result, ensure_ascii=False))


def _open(url: str) -> None:
    """Open a page in the user's browser, if there is a display."""
    import webbrowser

    has_display = sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY")
    if has_display or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(url)


if __name__ == "__main__":
    sys.exit(main())

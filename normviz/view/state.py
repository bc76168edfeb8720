"""What a reader may choose in a view: the names, the values allowed, and the defaults."""

import math
from collections.abc import Callable, Iterable
from typing import Any

from traitlets import TraitError

from normviz.alignment.align import SETTINGS
from normviz.core.catalog import require_index, require_known
from normviz.core.flow import Flow
from normviz.core.stream import Stream
from normviz.derived.agreement import BEST
from normviz.errors import NormvizError, UnknownName

VIEWS = ("flow", "stack", "grid", "matrix", "profile", "alignment")
ACROSS = "alignment"
"""The view that shows what goes from one text to another, and only that."""
SIDES = ("query", "key")
SCALES = ("absolute", "query", "layer")
SPECIALS = ("shown", "dimmed", "hidden")
COLORS = ("none", *BEST)
THEMES = ("auto", "light", "dark")

OTHER = "other"
"""What `compare` is called when it is another flow."""


class BadChoice(UnknownName, TraitError, TypeError):
    """A choice that no view has, or a value that this flow cannot show.

    It is a `TypeError` as well, since that is what Python raises for an unknown keyword.
    """


def split(given: dict[str, Any]) -> tuple[dict[str, Any], tuple[Flow, ...]]:
    """The choice, and apart from it the other flow that it compares with, if there is one."""
    other = given.get("compare")
    return ({**given, "compare": OTHER}, (other,)) if isinstance(other, Flow) else (given, ())


def resolve(flow: Flow, given: dict[str, Any]) -> dict[str, Any]:
    """Every choice, checked: what was given, and for the rest what suits this flow."""
    for name in given:
        _refuse(require_known, name, CHOICES, "choice")
    wanted = {name: value for name, value in given.items() if value is not None}
    stream = _refuse(flow.stream, wanted.get("stream", _usual_stream(flow, wanted.get("view"))))
    if not (stream.measures and stream.layers):
        raise BadChoice(
            f"The {stream.name} stream holds no numbers.",
            "At least one measure in one layer is needed.",
            "Analyze the text again and name a measure.",
        )
    choice = {**defaults(stream), **wanted}
    return {name: check(name, choice[name], stream, choice["side"]) for name in CHOICES}


def _usual_stream(flow: Flow, view: Any) -> str | None:
    """The stream that a view opens with: the first, unless the view is about another."""
    return "cross" if view == ACROSS and "cross" in flow.streams else next(iter(flow.streams), None)


def defaults(stream: Stream) -> dict[str, Any]:
    """What a view of this stream shows before anyone has chosen."""
    default = "weighted-norm" if "weighted-norm" in stream else stream.measures[0]
    return {
        "view": "flow",
        "stream": stream.name,
        "measure": default,
        "compare": None,
        "layer": stream.layers[0],
        "heads": None,
        "token": None,
        "side": "query",
        "normalize": "layer",
        "words": False,
        "special": "shown",
        "threshold": 0.0,
        "color": "none",
        "setting": "input",
        "theme": "auto",
    }


def check(name: str, value: Any, stream: Stream, side: str = "query") -> Any:
    """A value as the view wants it, or an error that lists what there is."""
    return _refuse(CHOICES[name], value, stream, side)


def _refuse(work: Callable[..., Any], *given: Any) -> Any:
    """Let a refusal also be what traitlets raises, which then undoes the assignment."""
    try:
        return work(*given)
    except NormvizError as error:
        raise BadChoice(error.found, error.expected, error.do) from None


def _named(kind: str, names: Iterable[str]) -> Callable[[Any, Stream, str], Any]:
    def checked(value: Any, _stream: Stream, _side: str) -> Any:
        require_known(value, names, kind)
        return value

    return checked


def _view(value: Any, stream: Stream, _side: str) -> str:
    require_known(value, VIEWS, "view")
    if value == ACROSS and stream.name != "cross":
        raise UnknownName(
            f"The view {ACROSS!r} is asked for, and the stream is {stream.name!r}.",
            "It shows how the words of two texts are aligned, so it needs the cross stream.",
            'Choose stream="cross" where there is one, or another view.',
        )
    return str(value)


def _stream(value: Any, stream: Stream, _side: str) -> str:
    require_known(value, (stream.name,), "stream")
    return stream.name


def _measure(value: Any, stream: Stream, _side: str) -> str:
    """A measure held; one that coincides with another here goes by the other's name."""
    return stream.require_held(value)


def _compare(value: Any, stream: Stream, _side: str) -> str | int | None:
    """None, another measure, another layer, or the word for another flow."""
    if value is None or value == OTHER:
        return value  # type: ignore[no-any-return]
    if isinstance(value, Flow):
        raise UnknownName(
            "Another flow is assigned to a view that was made without it.",
            "A view gets both flows when it is made.",
            "Make it with flow.widget(compare=other).",
        )
    if isinstance(value, str):
        return _measure(value, stream, _side)
    return require_index(value, stream.layers, "measure or layer")


def yes_or_no(value: Any, name: str) -> bool:
    """A value that is True or False, or an error that names what it was given for."""
    _refuse(require_known, value, (False, True), f"value for {name}")
    return bool(value)


def _words(value: Any, _stream: Stream, _side: str) -> bool:
    return yes_or_no(value, "words")


def _threshold(value: Any, _stream: Stream, _side: str) -> float:
    """A part of the largest, from 0 to 1."""
    try:
        part = float(value)
    except (TypeError, ValueError):
        part = math.nan
    if not 0 <= part <= 1:
        raise UnknownName(
            f"The threshold is {value!r}.",
            "It is a part of the largest number drawn, from 0 to 1.",
            "Give 0 to draw as much as there is room for.",
        )
    return part


def _layer(value: Any, stream: Stream, _side: str) -> int:
    return require_index(value, stream.layers, "layer")


def _heads(value: Any, stream: Stream, _side: str) -> list[int] | None:
    """None for all heads; otherwise the heads named, in the order of the model."""
    return None if value is None else stream.named_heads(value)


def _token(value: Any, stream: Stream, side: str) -> int | None:
    count = stream.size(side if side in SIDES else "query")
    return None if value is None else require_index(value, range(count), "token")


CHOICES: dict[str, Callable[[Any, Stream, str], Any]] = {
    "view": _view,
    "stream": _stream,
    "measure": _measure,
    "compare": _compare,
    "layer": _layer,
    "heads": _heads,
    "token": _token,
    "side": _named("side", SIDES),
    "normalize": _named("normalize", SCALES),
    "words": _words,
    "special": _named("treatment of special token", SPECIALS),
    "threshold": _threshold,
    "color": _named("coloring", COLORS),
    "setting": _named("setting", SETTINGS),
    "theme": _named("theme", THEMES),
}
"""For each choice, what turns a value into one this stream can show."""

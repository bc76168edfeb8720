"""The state of a view: its names, allowed values and defaults, stated once for Python and JS.

Options that a user passes (`ViewOptions`) are checked against a flow and completed to a
`ViewState`. The allowed values and the defaults travel to the view in the header.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, ParamSpec, TypedDict, TypeVar, get_args

from traitlets import TraitError

from normviz.alignment.align import TARGET_ROWS, TargetRow
from normviz.core.axes import StreamName
from normviz.core.catalog import MeasureId, require_index, require_known
from normviz.core.flow import Flow
from normviz.core.keywords import require_keywords
from normviz.core.stream import Stream
from normviz.derived.agreement import PERFECT
from normviz.derived.headline import COMPARED, opening_stream, strongest_headline
from normviz.errors import NormvizError, UnknownName
from normviz.view.encoding import Precision
from normviz.view.opening import stack_defaults

P = ParamSpec("P")
R = TypeVar("R")

ViewName = Literal["flow", "text", "stack", "grid", "matrix", "profile", "alignment"]
Role = Literal["query", "key"]
Scale = Literal["absolute", "layer", "query"]
Special = Literal["shown", "dimmed", "hidden"]
ColorBy = Literal["none", "rank", "overlap", "distance"]
Theme = Literal["auto", "light", "dark"]

VIEWS: tuple[ViewName, ...] = get_args(ViewName)
ROLES: tuple[Role, ...] = get_args(Role)
SCALES: tuple[Scale, ...] = get_args(Scale)
SPECIALS: tuple[Special, ...] = get_args(Special)
COLORINGS = ("none", *PERFECT)
THEMES: tuple[Theme, ...] = get_args(Theme)

ALLOWED = {
    "view": VIEWS,
    "role": ROLES,
    "normalize": SCALES,
    "special": SPECIALS,
    "color_by": COLORINGS,
    "target_row": TARGET_ROWS,
    "theme": THEMES,
}
"""The allowed values of each part of the state that has a fixed list."""

CROSS_ONLY_VIEW: ViewName = "alignment"
"""The view that needs cross-attention: it aligns the words of two texts."""

OTHER_FLOW = "other"
"""The value of `compare` for the second flow of a view."""


@dataclass(frozen=True)
class ViewState:
    """What a view shows, checked against its flow; the docstrings of `FlowWidget` say more."""

    view: ViewName
    stream: StreamName
    measure: str
    compare: str | int | None
    layer: int
    heads: list[int] | None
    token: int | None
    role: Role
    normalize: Scale
    words: bool
    special: Special
    threshold: float
    color_by: ColorBy
    target_row: TargetRow
    difference: bool
    theme: Theme


STATE_NAMES = tuple(field.name for field in fields(ViewState))


class ViewOptions(TypedDict, total=False):
    """What a view opens with; what is left out or None is chosen to suit the flow."""

    view: ViewName | None
    stream: StreamName | None
    measure: MeasureId | str | None
    compare: MeasureId | str | int | Flow | None
    layer: int | None
    heads: int | Iterable[int] | None
    token: int | None
    role: Role | None
    normalize: Scale | None
    words: bool | None
    special: Special | None
    threshold: float | None
    color_by: ColorBy | None
    target_row: TargetRow | None
    difference: bool | None
    theme: Theme | None


class WidgetOptions(ViewOptions, total=False):
    """The options of `flow.widget`."""

    precision: Precision


class PageOptions(WidgetOptions, total=False):
    """The options of `flow.to_html`."""

    max_mb: float | None


class FrameOptions(PageOptions, total=False):
    """The options of `flow.frame`."""

    height: float


class FigureOptions(ViewOptions, total=False):
    """The options of every figure of a flow; `dpi` is for PNG alone."""

    width_cm: float | None
    title: str | bool | None
    legend: bool
    dpi: float


class BadChoice(UnknownName, TraitError, TypeError):
    """A state that no view has, or a value that this flow cannot show.

    It is a `TraitError`, so that traitlets undoes the assignment, and a `TypeError`, since that is
    what Python raises for an unknown keyword.
    """


def require_options(caller: str, options: Mapping[str, object], known: Iterable[str]) -> None:
    """Raise `BadChoice` for an option that the caller does not have, naming the nearest one."""
    _as_bad_choice(require_keywords, caller, options, known)


def split_flows(flow: Flow, options: ViewOptions) -> tuple[tuple[Flow, ...], ViewOptions]:
    """Return the flows of a view, and its options with `"other"` in place of the second flow."""
    compare = options.get("compare")
    if not isinstance(compare, Flow):
        return (flow,), options
    return (flow, compare), {**options, "compare": OTHER_FLOW}


def require_other_flow(compare: object, flows: tuple[Flow, ...], call: str) -> None:
    """Raise `BadChoice` where a view of one flow is to be compared with another."""
    if compare == OTHER_FLOW and len(flows) == 1:
        raise BadChoice(
            "There is no other flow here.",
            'compare="other" needs a view of two flows.',
            f"Pass the second flow: {call}.",
        )


def resolve_state(flow: Flow, options: ViewOptions) -> ViewState:
    """Return the whole state of a view: the options, checked, and defaults for the rest."""
    require_options("The view", options, STATE_NAMES)
    name = options.get("stream")
    stream = _as_bad_choice(flow.stream, _first_stream(flow, options) if name is None else name)
    if not has_numbers(stream):
        raise BadChoice(
            f"The {stream.name} stream holds no numbers.",
            "Expected at least one measure in one layer.",
            "Analyze the text again and name a measure.",
        )
    defaults = default_state(stream)
    # Another flow may not hold the measure that suits this one.
    if options.get("view") == "stack" and options.get("compare") != OTHER_FLOW:
        defaults = replace(defaults, **stack_defaults(stream))
    role = options.get("role") or defaults.role
    given = {name: value for name, value in options.items() if value is not None}
    if "measure" in given:  # what is asked for by name is shown alone
        defaults = replace(defaults, compare=None)
    checked = {
        name: check_value(name, given[name], stream, role) for name in STATE_NAMES if name in given
    }
    return replace(defaults, **checked)


def _first_stream(flow: Flow, options: ViewOptions) -> str | None:
    """Return the stream a view opens with: the first that holds what is asked for."""
    if options.get("view") == CROSS_ONLY_VIEW and (cross := first_cross_name(flow)) is not None:
        return cross
    first = opening_stream(flow)
    if first is None:
        return next(iter(flow.streams), None)
    measure, layer = options.get("measure"), options.get("layer")

    def holds(stream: Stream) -> bool:
        has_measure = measure is None or measure in stream
        return has_measure and (layer is None or layer in stream.layers)

    fitting = (stream for stream in (first, *flow.streams.values()) if holds(stream))
    return next(fitting, first).name


def first_cross_name(flow: Flow) -> str | None:
    """Return the name of the first cross-attention that holds numbers, or None."""
    crosses = (s.name for s in flow.streams.values() if s.kind == "cross" and has_numbers(s))
    return next(crosses, None)


def has_numbers(stream: Stream) -> bool:
    """Return whether a stream holds any measure in any layer, so that it can be shown."""
    return bool(stream.measures and stream.layers)


def default_state(stream: Stream) -> ViewState:
    """Return what a view of this stream shows before anything is chosen: its finding.

    That is weight beside norm, in the layer where the two differ most; of a translation, how its
    words are aligned.
    """
    held = [name for name in COMPARED if name in stream] or [stream.measures[0]]
    found = strongest_headline(stream)
    return ViewState(
        view=CROSS_ONLY_VIEW if stream.name == "cross" else "flow",
        stream=stream.name,
        measure=held[0],
        compare=held[1] if len(held) > 1 else None,
        layer=stream.layers[0] if found is None else found.layer,
        heads=None,
        token=None,
        role="query",
        normalize="query",
        words=False,
        special="shown",
        threshold=0.0,
        color_by="none",
        target_row="input",
        difference=False,
        theme="auto",
    )


def describe_state(flow: Flow) -> dict[str, object]:
    """Return the allowed values and, for each stream, the defaults, as the header sends them."""
    shown = [stream for stream in flow.streams.values() if has_numbers(stream)]
    return {
        "allowed": {name: list(values) for name, values in ALLOWED.items()},
        "defaults": {stream.name: asdict(default_state(stream)) for stream in shown},
    }


def check_value(name: str, value: object, stream: Stream, role: str = "query") -> Any:
    """Return a value as the view needs it, or raise `BadChoice` with what there is."""
    return _as_bad_choice(_CHECKS[name], value, stream, role)


def require_bool(value: object, name: str) -> bool:
    """Return a value that is True or False; raise `BadChoice` for any other."""
    _as_bad_choice(require_known, value, (False, True), f"value for {name}")
    return bool(value)


def _as_bad_choice(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a function and raise its refusal as `BadChoice`."""
    try:
        return function(*args, **kwargs)
    except NormvizError as error:
        raise BadChoice(error.found, error.expected, error.do) from None


def _check_word(name: str, kind: str) -> Callable[[Any, Stream, str], Any]:
    def check(value: Any, _stream: Stream, _role: str) -> Any:
        require_known(value, ALLOWED[name], kind)
        return value

    return check


def _check_view(value: Any, stream: Stream, _role: str) -> str:
    require_known(value, VIEWS, "view")
    if value == CROSS_ONLY_VIEW and stream.kind != "cross":
        raise UnknownName(
            f"The view is {CROSS_ONLY_VIEW!r}, and the stream is {stream.name!r}.",
            "It shows how the words of two texts are aligned, so it needs cross-attention.",
            'Choose a stream of that kind (stream="cross") where there is one, or another view.',
        )
    return str(value)


def _check_stream(value: Any, stream: Stream, _role: str) -> str:
    require_known(value, (stream.name,), "stream")
    return stream.name


def _check_measure(value: Any, stream: Stream, _role: str) -> str:
    """Return the id under which the stream holds the measure."""
    return stream.require_held(value)


def _check_compare(value: Any, stream: Stream, role: str) -> str | int | None:
    """Return None, a measure, a layer, or the word for the second flow."""
    if value is None or value == OTHER_FLOW:
        return value  # type: ignore[no-any-return]
    if isinstance(value, Flow):
        raise UnknownName(
            "A flow is assigned to the `compare` of an existing view.",
            "A view gets both flows when it is created.",
            "Pass the second flow: flow.widget(compare=other).",
        )
    if isinstance(value, str):
        return _check_measure(value, stream, role)
    return require_index(value, stream.layers, "measure or layer")


def _check_layer(value: Any, stream: Stream, _role: str) -> int:
    """Return a layer that the stream holds; a layer without attention has nothing to show."""
    if isinstance(value, int) and value in stream.other_layers:
        raise UnknownName(
            f"Layer {value} has no attention in the {stream.name} stream, "
            f"but {stream.other_layers[value]}.",
            f"The layers with attention are: {', '.join(map(str, stream.layers))}.",
            "Choose one of these.",
        )
    return require_index(value, stream.layers, "layer")


def _check_heads(value: Any, stream: Stream, _role: str) -> list[int] | None:
    """Return None for all heads, or the heads in the order of the model."""
    return None if value is None else stream.require_heads(value)


def _check_token(value: Any, stream: Stream, role: str) -> int | None:
    count = stream.size(role if role in ROLES else "query")
    return None if value is None else require_index(value, range(count), "token")


def _check_bool(name: str) -> Callable[[Any, Stream, str], bool]:
    def check(value: Any, _stream: Stream, _role: str) -> bool:
        return require_bool(value, name)

    return check


def _check_threshold(value: Any, _stream: Stream, _role: str) -> float:
    try:
        share = float(value)
    except (TypeError, ValueError):
        share = math.nan
    if not 0 <= share <= 1:
        raise UnknownName(
            f"The threshold is {value!r}.",
            "Expected a share of the largest number, from 0 to 1.",
            "Use 0 to draw as much as fits.",
        )
    return share


_CHECKS: dict[str, Callable[[Any, Stream, str], Any]] = {
    "view": _check_view,
    "stream": _check_stream,
    "measure": _check_measure,
    "compare": _check_compare,
    "layer": _check_layer,
    "heads": _check_heads,
    "token": _check_token,
    "role": _check_word("role", "role"),
    "normalize": _check_word("normalize", "scale"),
    "words": _check_bool("words"),
    "special": _check_word("special", "treatment of special token"),
    "threshold": _check_threshold,
    "color_by": _check_word("color_by", "coloring"),
    "target_row": _check_word("target_row", "target row"),
    "difference": _check_bool("difference"),
    "theme": _check_word("theme", "theme"),
}
"""For each part of the state, the function that returns a value the stream can show, or refuses."""

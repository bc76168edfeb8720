"""Every measure by name: what it is called, which axes it has, and where it comes from."""

from collections.abc import Iterable
from dataclasses import dataclass

from normviz.axes import Axis
from normviz.errors import UnknownName


@dataclass(frozen=True)
class Measure:
    """One way of saying how much a token gave to another."""

    id: str
    label: str
    axes: tuple[Axis, ...]
    source: str
    meaning: str


_ALL = (
    Measure(
        "weight",
        "α",
        ("layer", "head", "query", "key"),
        "attention",
        "how much of the query's attention each key gets",
    ),
    Measure(
        "value-norm",
        "‖f(x)‖",
        ("layer", "head", "key"),
        "Kobayashi et al. 2020",
        "the length of the vector each key has to give",
    ),
    Measure(
        "weighted-norm",
        "‖αf(x)‖",
        ("layer", "head", "query", "key"),
        "Kobayashi et al. 2020",
        "the length of the vector each key really gives",
    ),
    Measure(
        "attention",
        "‖Σ αf(x)‖",
        ("layer", "query", "key"),
        "Kobayashi et al. 2020, 2021",
        "the length of what each key gives through all heads together",
    ),
)

MEASURES = {measure.id: measure for measure in _ALL}
DEFAULT = tuple(MEASURES)


def one_of(name: object, names: Iterable[object], kind: str) -> None:
    """Refuse a name that is not among the names, listing them."""
    known = list(names)
    if name not in known:
        listed = ", ".join(str(n) for n in known) or "none"
        raise UnknownName(
            f"There is no {kind} {name!r} here.",
            f"The {kind}s are: {listed}.",
            "Use one of these names.",
        )


def chosen(measures: str | Iterable[str]) -> tuple[str, ...]:
    """The measures asked for, by id, list of ids or "all", in the order of the catalog."""
    asked = list(MEASURES) if measures == "all" else measures
    asked = [asked] if isinstance(asked, str) else list(asked)
    for name in asked:
        one_of(name, MEASURES, "measure")
    return tuple(name for name in MEASURES if name in asked)

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


def _rung(name: str, label: str, source: str, meaning: str) -> Measure:
    """A measure of whole vectors, all heads together."""
    return Measure(name, label, ("layer", "query", "key"), source, meaning)


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
    _rung(
        "attention-residual",
        "+ residual",
        "Kobayashi et al. 2021",
        "what each key gives, with what the token was before",
    ),
    _rung(
        "attention-block",
        "+ LayerNorm",
        "Kobayashi et al. 2021",
        "what each key gives, after the norm that follows",
    ),
    _rung(
        "feed-forward",
        "through FF",
        "Kobayashi et al. 2024",
        "what each key gives through the feed-forward block",
    ),
    _rung(
        "feed-forward-residual",
        "+ residual 2",
        "Kobayashi et al. 2024",
        "what each key gives through the feed-forward block and past it",
    ),
    _rung(
        "layer",
        "whole layer",
        "Kobayashi et al. 2024",
        "what each key gives to the layer's output",
    ),
)


def _rollout(of: Measure) -> Measure:
    """A measure multiplied from layer to layer, so that it reaches back to the input."""
    return Measure(
        f"rollout:{of.id}",
        f"rollout of {of.label}",
        ("layer", "query", "key"),
        "Abnar and Zuidema 2020",
        "how much of each input token the measure carries up to a layer",
    )


_CARRIED = (
    *(_rollout(measure) for measure in _ALL if "query" in measure.axes),
    Measure(
        "decomposition",
        "decomposition",
        ("layer", "query", "key"),
        "Modarressi et al. 2023 (DecompX)",
        "how much of each input token is in the vector, carried through all layers",
    ),
)

MEASURES = {measure.id: measure for measure in (*_ALL, *_CARRIED)}
CARRIED = tuple(measure.id for measure in _CARRIED)
"""The measures whose keys are the input's tokens in every layer."""
DEFAULT = ("weight", "value-norm", "weighted-norm", "attention")
"""The measures that cost next to nothing."""
LADDER = (
    "attention",
    "attention-residual",
    "attention-block",
    "feed-forward",
    "feed-forward-residual",
    "layer",
)
"""The rungs from attention to the whole layer: each takes in one more component."""
READINGS: dict[str, tuple[Axis, ...]] = {
    "along": ("layer", "query", "key"),
    "mixing": ("layer", "query"),
}
"""What is kept of every rung besides its lengths; see `Stream.reading`."""


def axes_of(name: str) -> tuple[Axis, ...]:
    """The axes of a measure, or of a reading such as `mixing:layer`."""
    kind, _, rung = name.partition(":")
    return READINGS[kind] if rung and kind in READINGS else MEASURES[name].axes


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
    """The measures asked for, by id, list of ids or "all", in the order of the catalog.

    What is carried through the layers is held and shown where a flow has it, not computed here.
    """
    computed = [name for name in MEASURES if name not in CARRIED]
    asked = computed if measures == "all" else measures
    asked = [asked] if isinstance(asked, str) else list(asked)
    for name in asked:
        one_of(name, computed, "measure")
    return tuple(name for name in computed if name in asked)

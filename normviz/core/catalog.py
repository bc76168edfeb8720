"""Every measure by name: what it is called, which axes it has, and where it comes from."""

from collections.abc import Iterable
from dataclasses import dataclass
from operator import index
from typing import Any

from normviz.core.axes import Axis
from normviz.errors import UnknownName


@dataclass(frozen=True)
class Measure:
    """One way of saying how much a token gave to another."""

    id: str
    label: str
    axes: tuple[Axis, ...]
    source: str
    meaning: str
    signed: bool = False
    """Whether its numbers may be negative: views then show sizes, and signs in two hues."""


@dataclass(frozen=True)
class Reading:
    """What else is known of some measures, besides their own numbers."""

    axes: tuple[Axis, ...]
    """None at all: those of its measure."""
    of: tuple[str, ...]
    """The measures it may be asked for; none, where it comes by itself."""


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
    Measure(
        "effective-weight",
        "α⊥",
        ("layer", "head", "query", "key"),
        "Brunner et al. 2020",
        "α without what cannot reach the head's output; it may be negative",
        signed=True,
    ),
    _rung(
        "globenc",
        "layer without FF",
        "Modarressi et al. 2022 (GlobEnc)",
        "what each key gives to the layer's output past the feed-forward block",
    ),
    _rung(
        "alti",
        "L1 contribution",
        "Ferrando et al. 2022 (ALTI)",
        "how much nearer each key brings the attention block's output, by L1 distance",
    ),
    _rung(
        "hidden-attribution",
        "‖∂e/∂x‖",
        "Brunner et al. 2020, Pascual et al. 2021",
        "how much a token's vector after the layer depends on each input token",
    ),
    Measure(
        "head-attribution",
        "‖∂head/∂x‖",
        ("layer", "head", "query", "key"),
        "Pascual et al. 2021",
        "how much what a head puts out depends on each input token",
    ),
    Measure(
        "head-attribution-local",
        "‖∂head/∂layer input‖",
        ("layer", "head", "query", "key"),
        "Pascual et al. 2021",
        "how much what a head puts out depends on each token as it enters the layer",
    ),
    _rung(
        "value-zeroing",
        "value zeroing",
        "Mohebbi et al. 2023",
        "how far the layer's output turns when the key's value vectors are set to zero",
    ),
    _rung(
        "value-zeroing-output",
        "value zeroing, at the end",
        "after Mohebbi et al. 2023",
        "how far the last layer's output turns when the key's value vectors are set to zero here",
    ),
    _rung(
        "decomposition",
        "decomposition",
        "Modarressi et al. 2023 (DecompX)",
        "how much of each input token is in the vector, carried through all layers",
    ),
)
LADDER = (
    "attention",
    "attention-residual",
    "attention-block",
    "feed-forward",
    "feed-forward-residual",
    "layer",
)
"""The rungs from attention to the whole layer: each takes in one more component."""
ATTRIBUTIONS = ("hidden-attribution", "head-attribution", "head-attribution-local")
"""What is measured by gradients."""
ZEROINGS = ("value-zeroing", "value-zeroing-output")
"""What is measured by taking a token's values away."""
MEASURES = {measure.id: measure for measure in _ALL}
MEASURES |= {
    f"rollout:{name}": _rung(
        f"rollout:{name}",
        f"rollout of {MEASURES[name].label}",
        "Abnar and Zuidema 2020",
        "how much of each input token the measure carries up to a layer",
    )
    for name in ("weight", "weighted-norm", *LADDER, "globenc", "alti")
}
MEASURES["attention-flow"] = _rung(
    "attention-flow",
    "max-flow",
    "Abnar and Zuidema 2020",
    "how much could flow from each input token, with weights as the capacities of pipes",
)
DEFAULT = ("weight", "value-norm", "weighted-norm", "attention")
"""The measures that cost next to nothing."""
ON_REQUEST = ("attention-flow", *ATTRIBUTIONS, "value-zeroing-output")
"""What `"all"` does not mean, because it takes minutes for more than a few dozen tokens."""
READINGS = {
    "along": Reading(("layer", "query", "key"), LADDER),
    "mixing": Reading(("layer", "query"), LADDER),
    "rank": Reading(("layer", "head"), ("effective-weight",)),
    "null-space": Reading(("layer", "head"), ("effective-weight",)),
    "error": Reading((), ()),
}
"""What is kept of some measures besides their own numbers; see `Stream.reading`."""


def is_climbed(name: str) -> bool:
    """Whether a measure or reading is taken on the rungs of a layer."""
    kind, rung = read_of(name)
    return (rung in LADDER and kind in ("", *READINGS)) or name in ("globenc", "alti")


def read_of(name: str) -> tuple[str, str]:
    """The kind of a reading such as `mixing:layer` and its measure; a measure has no kind."""
    kind, _, measure = name.partition(":")
    return (kind, measure) if kind in READINGS and measure else ("", name)


def axes_of(name: str) -> tuple[Axis, ...]:
    """The axes of a measure, or of a reading such as `mixing:layer`."""
    kind, measure = read_of(name)
    return (kind and READINGS[kind].axes) or MEASURES[measure].axes


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


def number_of(value: Any, numbers: Iterable[int], kind: str) -> int:
    """A whole number of whatever make, or a refusal that lists the numbers there are."""
    try:
        number = index(value)
    except TypeError:
        number = value
    one_of(number, numbers, kind)
    return number


def chosen(measures: str | Iterable[str]) -> tuple[str, ...]:
    """The measures asked for, by id, list of ids or `"all"`, in the order of the catalog.

    Readings such as `along:layer` may be asked for too; `"all"` means them as well.
    """
    readings = [f"{kind}:{name}" for kind, reading in READINGS.items() for name in reading.of]
    known = [*MEASURES, *readings]
    everything = [name for name in known if name not in ON_REQUEST]
    asked = everything if measures == "all" else measures
    asked = [asked] if isinstance(asked, str) else list(asked)
    for name in asked:
        one_of(name, known, "measure")
    return tuple(name for name in known if name in asked)

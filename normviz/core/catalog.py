"""Every measure by id, with all its facts: the one source for Python and for the view.

To add a measure, add its id to `MeasureId` and an entry to the catalog; everything else reads the
fields of `Measure`, which also travel to the view.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from operator import index
from typing import Any, Literal

from normviz.core.axes import Axis
from normviz.core.keywords import nearest_name
from normviz.errors import UnknownName

Family = Literal[
    "attention",
    "ladder",
    "effective",
    "contribution",
    "attribution",
    "value-zeroing",
    "decomposition",
    "rollout",
    "max-flow",
]
"""How a measure is computed."""

MeasureId = Literal[
    "weight",
    "value-norm",
    "weighted-norm",
    "attention",
    "attention-residual",
    "attention-block",
    "feed-forward",
    "feed-forward-residual",
    "layer-output",
    "effective-weight",
    "globenc",
    "alti",
    "hidden-attribution",
    "head-attribution",
    "head-attribution-local",
    "value-zeroing",
    "value-zeroing-output",
    "decomposition",
    "rollout:weight",
    "rollout:weighted-norm",
    "rollout:attention",
    "rollout:attention-residual",
    "rollout:attention-block",
    "rollout:feed-forward",
    "rollout:feed-forward-residual",
    "rollout:layer-output",
    "rollout:globenc",
    "rollout:alti",
    "rollout:value-zeroing",
    "attention-flow",
]
"""The ids of the catalog, for editors and type checkers."""


@dataclass(frozen=True)
class Measure:
    """One way to measure how much a token contributes to another."""

    id: str
    label: str
    axes: tuple[Axis, ...]
    source: str
    meaning: str
    family: Family
    signed: bool = False
    """Whether its numbers may be negative: views then draw their sizes, with signs in two hues."""
    base: str | None = None
    """The measure it is computed from after the model has run; None where it needs the model."""
    reaches: Literal["layer", "input"] = "layer"
    """Whether its keys are the tokens as they enter the layer, or as they enter the model."""
    has_residual: bool = False
    """Whether it includes what the residual connection carries past attention or feed-forward."""
    over_heads: Literal["mean", "sum"] | None = None
    """How its heads are combined into one number; None where it has no heads."""
    on_request: bool = False
    """Whether it must be requested by id: `"all"` leaves it out, because it takes minutes."""
    coincides_with: str | None = None
    """The measure it equals in models that have no norm between the two."""
    short: str = ""
    """What it says in a few words, for a button; empty where its label says it."""
    of_weights: bool = False
    """Whether it is made of attention weights alone: weights have one hue, vectors another."""


@dataclass(frozen=True)
class Statistic:
    """Further numbers that belong to some measures; see `Stream.statistic`."""

    axes: tuple[Axis, ...]
    """Empty for the axes of the measure itself."""
    of: tuple[str, ...]
    """The measures it can be requested for; empty where it comes with a measure by itself."""


_PAIRS: tuple[Axis, ...] = ("layer", "query", "key")
_HEADS: tuple[Axis, ...] = ("layer", "head", "query", "key")
_ALL = (
    Measure(
        "weight",
        "α",
        _HEADS,
        "attention",
        "how much of the query's attention each key gets",
        "attention",
        over_heads="mean",
        short="where it looks",
        of_weights=True,
    ),
    Measure(
        "value-norm",
        "‖f(x)‖",
        ("layer", "head", "key"),
        "Kobayashi et al. 2020",
        "the norm of the transformed value vector of each key",
        "attention",
        over_heads="sum",
        short="what it holds",
    ),
    Measure(
        "weighted-norm",
        "‖αf(x)‖",
        _HEADS,
        "Kobayashi et al. 2020",
        "the norm of the weighted vector that each key contributes",
        "attention",
        over_heads="sum",
        short="what it moves",
    ),
    Measure(
        "attention",
        "‖Σ αf(x)‖",
        _PAIRS,
        "Kobayashi et al. 2020, 2021",
        "the norm of what each key contributes through all heads together",
        "ladder",
    ),
    Measure(
        "attention-residual",
        "+ residual",
        _PAIRS,
        "Kobayashi et al. 2021",
        "what each key contributes, including the residual connection",
        "ladder",
        has_residual=True,
    ),
    Measure(
        "attention-block",
        "+ LayerNorm",
        _PAIRS,
        "Kobayashi et al. 2021",
        "what each key contributes, after the norm that follows",
        "ladder",
        has_residual=True,
        coincides_with="attention-residual",
    ),
    Measure(
        "feed-forward",
        "through FF",
        _PAIRS,
        "Kobayashi et al. 2024",
        "what each key contributes through the feed-forward block",
        "ladder",
    ),
    Measure(
        "feed-forward-residual",
        "+ residual 2",
        _PAIRS,
        "Kobayashi et al. 2024",
        "what each key contributes through the feed-forward block and past it",
        "ladder",
        has_residual=True,
    ),
    Measure(
        "layer-output",
        "whole layer",
        _PAIRS,
        "Kobayashi et al. 2024",
        "what each key contributes to the layer's output",
        "ladder",
        has_residual=True,
        coincides_with="feed-forward-residual",
    ),
    Measure(
        "effective-weight",
        "α⊥",
        _HEADS,
        "Brunner et al. 2020",
        "α without what cannot reach the head's output; it may be negative",
        "effective",
        signed=True,
        over_heads="mean",
        of_weights=True,
    ),
    Measure(
        "globenc",
        "layer without FF",
        _PAIRS,
        "Modarressi et al. 2022 (GlobEnc)",
        "what each key contributes to the layer's output past the feed-forward block",
        "contribution",
        has_residual=True,
        coincides_with="attention-residual",
    ),
    Measure(
        "alti",
        "L1 contribution",
        _PAIRS,
        "Ferrando et al. 2022 (ALTI)",
        "how much nearer each key brings the attention block's output, by L1 distance",
        "contribution",
        has_residual=True,
    ),
    Measure(
        "hidden-attribution",
        "‖∂e/∂x‖",
        _PAIRS,
        "Brunner et al. 2020, Pascual et al. 2021",
        "how much a token's vector after the layer depends on each input token",
        "attribution",
        reaches="input",
        has_residual=True,
        on_request=True,
    ),
    Measure(
        "head-attribution",
        "‖∂head/∂x‖",
        _HEADS,
        "Pascual et al. 2021",
        "how much a head's output depends on each input token",
        "attribution",
        reaches="input",
        over_heads="sum",
        on_request=True,
    ),
    Measure(
        "head-attribution-local",
        "‖∂head/∂layer input‖",
        _HEADS,
        "Pascual et al. 2021",
        "how much a head's output depends on each token as it enters the layer",
        "attribution",
        over_heads="sum",
        on_request=True,
    ),
    Measure(
        "value-zeroing",
        "value zeroing",
        _PAIRS,
        "Mohebbi et al. 2023",
        "how far the layer's output turns when the key's value vectors are set to zero",
        "value-zeroing",
        has_residual=True,
    ),
    Measure(
        "value-zeroing-output",
        "value zeroing, at the end",
        _PAIRS,
        "after Mohebbi et al. 2023",
        "how far the last layer's output turns when the key's value vectors are set to zero here",
        "value-zeroing",
        has_residual=True,
        on_request=True,
    ),
    Measure(
        "decomposition",
        "decomposition",
        _PAIRS,
        "Modarressi et al. 2023 (DecompX)",
        "how much of each input token is in the vector, carried through all layers",
        "decomposition",
        reaches="input",
        has_residual=True,
    ),
)


def _rollout_of(measure: Measure) -> Measure:
    return Measure(
        f"rollout:{measure.id}",
        f"rollout of {measure.label}",
        _PAIRS,
        "Abnar and Zuidema 2020",
        "how much of each input token the measure carries up to a layer",
        "rollout",
        base=measure.id,
        reaches="input",
        has_residual=True,
        coincides_with=measure.coincides_with and f"rollout:{measure.coincides_with}",
        of_weights=measure.of_weights,
    )


_ROLLED_OUT = ("weight", "weighted-norm", "value-zeroing")
MEASURES = {
    measure.id: measure
    for measure in (
        *_ALL,
        *(
            _rollout_of(measure)
            for measure in _ALL
            if measure.family in ("ladder", "contribution") or measure.id in _ROLLED_OUT
        ),
        Measure(
            "attention-flow",
            "max-flow",
            _PAIRS,
            "Abnar and Zuidema 2020",
            "how much could flow from each input token, with weights as the capacities of pipes",
            "max-flow",
            base="weight",
            reaches="input",
            has_residual=True,
            on_request=True,
            of_weights=True,
        ),
    )
}


def ids_of(*families: Family) -> tuple[str, ...]:
    """Return the ids of all measures of these families, in the order of the catalog."""
    return tuple(name for name, measure in MEASURES.items() if measure.family in families)


LADDER = ids_of("ladder")
"""The rungs from attention to the whole layer: each includes one more component."""
ATTRIBUTIONS = ids_of("attribution")
"""The measures by gradients."""
ZEROINGS = ids_of("value-zeroing")
"""The measures by setting a token's values to zero."""
ON_REQUEST = tuple(name for name, measure in MEASURES.items() if measure.on_request)
"""What `"all"` leaves out, because it takes minutes for more than a few dozen tokens."""
ROLLOUT_OF = {
    measure.base: name
    for name, measure in MEASURES.items()
    if measure.family == "rollout" and measure.base
}
"""For each measure that can be rolled out, the id of its rollout."""
DEFAULT: tuple[MeasureId, ...] = ("weight", "value-norm", "weighted-norm", "attention")
"""The measures that cost next to nothing."""
STATISTICS = {
    "projection": Statistic(_PAIRS, LADDER),
    "mixing": Statistic(("layer", "query"), LADDER),
    "rank": Statistic(("layer", "head"), ("effective-weight",)),
    "null-space": Statistic(("layer", "head"), ("effective-weight",)),
    "error": Statistic((), ()),
}
"""The statistics that accompany some measures; see `Stream.statistic`."""


def is_ladder_measure(name: str) -> bool:
    """Whether a measure or statistic is measured on the rungs of a layer."""
    kind, measure = split_statistic(name)
    family = MEASURES[measure].family if measure in MEASURES else None
    return family == "ladder" or (not kind and family == "contribution")


def split_statistic(name: str) -> tuple[str, str]:
    """Split a statistic such as `mixing:layer-output` into kind and measure; else `("", name)`."""
    kind, _, measure = name.partition(":")
    return (kind, measure) if kind in STATISTICS and measure else ("", name)


def statistic_id(kind: str, measure: str) -> str:
    """Return the id of a statistic of a measure; without a kind, that of the measure itself."""
    return f"{kind}:{measure}" if kind else measure


def axes_of(name: str) -> tuple[Axis, ...]:
    """Return the axes of a measure, or of a statistic such as `mixing:layer-output`."""
    kind, measure = split_statistic(name)
    return (kind and STATISTICS[kind].axes) or MEASURES[measure].axes


def base_of(measure: str) -> str:
    """Return the measure that another is computed from; itself, where it needs the model."""
    return (MEASURES[measure].base if measure in MEASURES else None) or measure


def require_known(name: object, names: Iterable[object], kind: str) -> None:
    """Raise `UnknownName`, with the known names and the nearest, for a name that is not known."""
    known = list(names)
    if name not in known:
        listed = ", ".join(str(n) for n in known) or "none"
        near = nearest_name(name, known)
        raise UnknownName(
            f"There is no {kind} {name!r} here.",
            f"The {kind}s are: {listed}.",
            f"Use one of these names, perhaps {near!r}." if near else "Use one of these names.",
        )


def require_held(measure: str, held: Iterable[str]) -> None:
    """Raise `UnknownName` for a measure that is not held, saying how to get it."""
    names = list(held)
    if measure not in names:
        raise UnknownName(
            f"There is no measure {measure!r} here.",
            f"The measures are: {', '.join(names) or 'none'}.",
            _how_to_get(measure) if measure in MEASURES else _did_you_mean(measure, names),
        )


def _did_you_mean(name: str, held: list[str]) -> str:
    """Return the nearest measure to a name that is none, and how to get it if it is not held."""
    near = nearest_name(name, held) or nearest_name(name, MEASURES)
    if near is None:
        return "normviz.MEASURES lists every measure there is."
    return f"Did you mean {near!r}?" + ("" if near in held else f" {_how_to_get(near)}")


def _how_to_get(measure: str) -> str:
    """Return how a flow comes to hold a measure of the catalog."""
    analyze = f'Analyze with measures=["{measure}"]'
    family, base = MEASURES[measure].family, MEASURES[measure].base
    if family == "rollout":
        return f'{analyze}, or compute it: normviz.rollout(flow, "{base}").'
    if family == "max-flow":
        return f"{analyze}, or compute it: normviz.attention_flow(flow)."
    return f"{analyze}."


def require_index(value: Any, numbers: Iterable[int], kind: str) -> int:
    """Return a whole number of any integer type; refuse it where it is not among the numbers."""
    try:
        number = index(value)
    except TypeError:
        number = value
    require_known(number, numbers, kind)
    return number


def parse_measures(measures: str | Iterable[str]) -> tuple[str, ...]:
    """Return the requested measures (an id, several, or `"all"`) in the order of the catalog.

    Statistics such as `projection:layer-output` can be requested too; `"all"` includes them.
    """
    statistics = [statistic_id(kind, n) for kind, known in STATISTICS.items() for n in known.of]
    known = [*MEASURES, *statistics]
    everything = [name for name in known if name not in ON_REQUEST]
    requested = everything if measures == "all" else measures
    requested = [requested] if isinstance(requested, str) else list(requested)
    for name in requested:
        require_known(name, known, "measure")
    return tuple(name for name in known if name in requested)

"""What is asked of an analysis, checked before a model runs."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, get_args

from normviz.core.catalog import (
    ATTRIBUTIONS,
    ZEROINGS,
    is_ladder_measure,
    parse_measures,
    require_known,
)
from normviz.derived.complete import is_derived, required_measures
from normviz.errors import BadInput
from normviz.model.decompose.tape import Biases
from normviz.model.measures.effective import FORMS, Form
from normviz.model.measures.gradients.chain import Origin
from normviz.model.measures.gradients.jacobian_norms import GradientOptions, Norm, Rows

FEWEST = 2
"""How many random directions it takes to say how far they differ."""


@dataclass(frozen=True)
class Options:
    """Which measures of which layers and heads, and how they are worked out."""

    measures: tuple[str, ...]
    layers: Collection[int] | None = None
    heads: Collection[int] | None = None
    memory: int | None = None
    biases: Biases = "source"
    effective: Form = "bias"
    slope: GradientOptions = field(default_factory=GradientOptions)
    by_name: bool = True
    """Whether each measure was named, and not merely meant by `"all"`."""

    @classmethod
    def asked(
        cls,
        measures: str | Iterable[str],
        layers: Collection[int] | None = None,
        heads: Collection[int] | None = None,
        memory: Any = None,
        biases: Any = "source",
        *,
        effective: Any = "bias",
        **slope: Any,
    ) -> "Options":
        """The options a person gave, or a sentence that says what is wrong with them."""
        require_known(biases, ("source", "constant"), "treatment of biases")
        require_known(effective, FORMS, "effective form")
        whole = isinstance(memory, int | float) and not isinstance(memory, bool)
        if memory is not None and not (whole and 0 < memory < float("inf")):
            raise BadInput(
                f"memory is {memory!r}.",
                "A number of bytes above zero is wanted, or None for a share of what is free.",
                "Write memory=2 * 2**30 for two gibibytes.",
            )
        budget = None if memory is None else int(memory)
        how = GradientOptions(memory=budget, **_sensible(slope))
        named = measures != "all"
        wanted = parse_measures(measures)
        return cls(wanted, layers, heads, budget, biases, effective, how, by_name=named)

    @property
    def run_for(self) -> tuple[str, ...]:
        """The measures a model must be run for; others are made of them afterwards."""
        return required_measures(self.measures)

    @property
    def run_layers(self) -> Collection[int] | None:
        """The layers to measure: up to the highest, where something is carried through them."""
        if self.layers is None or not self.by_name or not any(map(is_derived, self.measures)):
            return self.layers
        return range(max(self.layers, default=-1) + 1)

    @property
    def one_by_one(self) -> bool:
        """Whether texts must be run alone: parts are kept apart by token, not by text."""
        alone = {name for name in self.run_for if is_ladder_measure(name)} - {"attention"}
        again = {"decomposition", *ATTRIBUTIONS, *ZEROINGS}
        return bool(alone) or not again.isdisjoint(self.run_for)


def _sensible(slope: dict[str, Any]) -> dict[str, Any]:
    """What was asked of gradients, or a sentence that says what is wrong with it."""
    for name, known in (("norm", Norm), ("origin", Origin), ("rows", Rows)):
        if name in slope:
            require_known(slope[name], get_args(known), name)
    samples, seed = slope.get("samples"), slope.get("seed", 0)
    whole = isinstance(samples, int) and not isinstance(samples, bool)
    if samples is not None and not (whole and samples >= FEWEST):
        raise BadInput(
            f"samples is {samples!r}.",
            "A whole number of random directions for each token is wanted, 2 or more: one alone "
            "says nothing of its error. None takes every direction there is.",
            "Write samples=64.",
        )
    if samples is not None and slope.get("norm") == "spectral":
        raise BadInput(
            "Both samples and norm='spectral' are given.",
            "Random directions estimate the Frobenius norm; the spectral norm needs all of them.",
            "Leave out one of the two.",
        )
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise BadInput(f"seed is {seed!r}.", "A whole number is wanted.", "Write seed=0.")
    return slope

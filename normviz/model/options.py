"""What a user asks of an analysis, checked before a model runs."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from normviz.core.catalog import (
    ATTRIBUTIONS,
    ZEROINGS,
    MeasureId,
    is_ladder_measure,
    parse_measures,
    require_known,
    split_statistic,
)
from normviz.core.gradients import Gradients
from normviz.derived.complete import is_derived, required_measures
from normviz.errors import BadInput
from normviz.model.decompose.tape import BiasHandling
from normviz.model.measures.effective import FORMS, EffectiveForm

Measures = MeasureId | Literal["all"] | Iterable[MeasureId | str]
"""One id, several, or `"all"`; statistics such as `"projection:layer-output"` count as ids."""


@dataclass(frozen=True)
class Options:
    """Which measures of which layers and heads, and how they are computed."""

    measures: tuple[str, ...]
    layers: Collection[int] | None = None
    heads: Collection[int] | None = None
    memory: int | None = None
    bias_handling: BiasHandling = "source"
    effective_form: EffectiveForm = "bias"
    gradients: Gradients = field(default_factory=Gradients)
    by_name: bool = True
    """Whether each measure was named, and not merely included in `"all"`."""

    @classmethod
    def from_user(
        cls,
        measures: Any,
        layers: Collection[int] | None = None,
        heads: Collection[int] | None = None,
        *,
        memory: Any = None,
        bias_handling: Any = "source",
        effective_form: Any = "bias",
        gradients: Any = None,
    ) -> "Options":
        """Return the options a user gave; refuse wrong ones and those that have no effect."""
        require_known(bias_handling, get_args(BiasHandling), "bias handling")
        require_known(effective_form, FORMS, "effective form")
        if gradients is not None and not isinstance(gradients, Gradients):
            raise BadInput(
                f"gradients is {gradients!r}.",
                "Expected normviz.Gradients(…), or None.",
                "Write gradients=normviz.Gradients(samples=64).",
            )
        options = cls(
            parse_measures(measures),
            layers,
            heads,
            _parse_memory(memory),
            bias_handling,
            effective_form,
            gradients or Gradients(),
            by_name=not (isinstance(measures, str) and measures == "all"),
        )
        options.refuse_unused(gradients)
        return options

    @property
    def run_for(self) -> tuple[str, ...]:
        """The measures a model must be run for; others are derived from them afterwards."""
        return required_measures(self.measures)

    @property
    def run_layers(self) -> Collection[int] | None:
        """The layers to measure: all up to the highest, where a measure adds up over layers."""
        if self.layers is None or not self.by_name or not any(map(is_derived, self.measures)):
            return self.layers
        return range(max(self.layers, default=-1) + 1)

    @property
    def needs_parts(self) -> bool:
        """Whether vectors must be decomposed into the tokens' parts; `attention` needs none."""
        ladder = {name for name in self.run_for if is_ladder_measure(name)} - {"attention"}
        return bool(ladder) or "decomposition" in self.run_for

    @property
    def one_by_one(self) -> bool:
        """Whether texts must be run alone: parts are kept apart by token, not by text."""
        return self.needs_parts or not {*ATTRIBUTIONS, *ZEROINGS}.isdisjoint(self.run_for)

    def refuse_unused(self, gradients: Gradients | None) -> None:
        """Refuse an option that has no effect on any of the measures asked for."""
        if self.memory is not None and not self.one_by_one:
            _refuse("memory", "the ladder above attention, decomposition and attributions")
        if self.bias_handling != "source" and not self.needs_parts:
            _refuse("bias_handling", "the ladder above attention and decomposition")
        effective = any(split_statistic(name)[1] == "effective-weight" for name in self.run_for)
        if self.effective_form != "bias" and not effective:
            _refuse("effective_form", "effective-weight")
        if gradients is None or not {*ATTRIBUTIONS}.isdisjoint(self.run_for):
            return
        if {*ZEROINGS}.isdisjoint(self.run_for):
            _refuse("gradients", f"{', '.join(ATTRIBUTIONS)} and, by its rows, value-zeroing")
        default = Gradients()
        for option in fields(Gradients):
            if option.name != "rows" and getattr(gradients, option.name) != getattr(
                default, option.name
            ):
                _refuse(f"gradients.{option.name}", ", ".join(ATTRIBUTIONS))


def _refuse(option: str, applies_to: str) -> None:
    raise BadInput(
        f"{option} is given, and has no effect on the measures asked for.",
        f"It applies to: {applies_to}.",
        f"Leave {option} out, or ask for such a measure with measures=[…].",
    )


def _parse_memory(memory: Any) -> int | None:
    """Return a number of bytes, or None for a share of the free memory."""
    if memory is None:
        return None
    number = isinstance(memory, int | float) and not isinstance(memory, bool)
    if not (number and 0 < memory < float("inf")):
        raise BadInput(
            f"memory is {memory!r}.",
            "Expected a number of bytes above zero, or None for a share of the free memory.",
            "Write memory=2 * 2**30 for two gibibytes.",
        )
    return int(memory)

"""What is asked of an analysis, checked before a model runs."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from normviz.catalog import chosen, is_climbed, one_of
from normviz.derived import bases, is_derived
from normviz.errors import BadInput
from normviz.measures.effective import FORMS, Form
from normviz.parts.records import Biases


@dataclass(frozen=True)
class Options:
    """Which measures of which layers and heads, and how they are worked out."""

    measures: tuple[str, ...]
    layers: Collection[int] | None = None
    heads: Collection[int] | None = None
    memory: int | None = None
    biases: Biases = "source"
    effective: Form = "bias"
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
    ) -> "Options":
        """The options a person gave, or a sentence that says what is wrong with them."""
        one_of(biases, ("source", "constant"), "treatment of biases")
        one_of(effective, FORMS, "effective form")
        whole = isinstance(memory, int | float) and not isinstance(memory, bool)
        if memory is not None and not (whole and 0 < memory < float("inf")):
            raise BadInput(
                f"memory is {memory!r}.",
                "A number of bytes above zero is wanted, or None for a share of what is free.",
                "Write memory=2 * 2**30 for two gibibytes.",
            )
        budget = None if memory is None else int(memory)
        named = measures != "all"
        return cls(chosen(measures), layers, heads, budget, biases, effective, by_name=named)

    @property
    def run_for(self) -> tuple[str, ...]:
        """The measures a model must be run for; others are made of them afterwards."""
        return bases(self.measures)

    @property
    def run_layers(self) -> Collection[int] | None:
        """The layers to measure: up to the highest, where something is carried through them."""
        if self.layers is None or not self.by_name or not any(map(is_derived, self.measures)):
            return self.layers
        return range(max(self.layers, default=-1) + 1)

    @property
    def one_by_one(self) -> bool:
        """Whether texts must be run alone: parts are kept apart by token, not by text."""
        alone = {name for name in self.run_for if is_climbed(name)} - {"attention"}
        return bool(alone) or "decomposition" in self.run_for

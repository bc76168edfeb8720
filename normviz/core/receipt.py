"""The checks that a flow was subjected to, and their results."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

ROW_SUM_SLACK = {
    "float64": 1e-6,
    "float32": 1e-4,
    "float16": 1e-2,
    "bfloat16": 5e-2,
    "int8": 5e-2,
}
"""How far the sum of a row of weights may be from one.

Half precision rounds each weight before they are added; many models compute the softmax in float32
whatever precision they run in.
"""

TOLERANCE = {"float64": 1e-12, "float32": 1e-5, "float16": 1e-2, "bfloat16": 5e-2, "int8": 5e-2}
"""How far the sum of the parts may be from the model's own output, relative to its largest number.

A projection in eight bits rounds its input, so its output is not an exact sum.
"""


GRADIENT_SLACK = 100
"""How many times larger the error of a derivative may be: it grows with every layer."""


DEMO_NAMES = {
    "demo": "MiniLM-L6",
    "demo-decoder": "SmolLM2-135M",
    "demo-translator": "Spanish to English",
}
"""What the models behind the short names are called."""


@dataclass(frozen=True)
class LayerCheck:
    """The checks of one attention layer: whether its parts add up to the model's own output."""

    stream: str
    layer: int
    module: str
    """The module that maps the heads to what leaves the attention block."""
    dtype: str
    error: float | None
    """The largest |sum of parts - output| divided by the largest |output|; None if not checked.

    The output is what leaves the attention block. Over all queries, on sixteen random directions
    of the model's space, each of which has every coordinate in it.
    """
    least_row: float
    greatest_row: float
    leak: float
    """The largest weight at a position that the mask forbids."""
    bias_share: float | None
    """The share of the output that comes from the projection's bias, not from any token."""
    sink: bool = False
    """Whether the model has a learned attention sink, so that rows may add up to less than one."""
    least_weight: float = 0.0
    """The least weight of any key: ‖αf(x)‖ = α‖f(x)‖ holds only if none is negative."""

    @property
    def failures(self) -> tuple[str, ...]:
        """One sentence for each check that failed."""
        where = f"{self.stream} layer {self.layer}"
        failures = []
        allowed = TOLERANCE[self.dtype]
        if self.error is not None and not self.error <= allowed:
            failures.append(
                f"{where}: the parts miss the model's own output by {self.error:.1e} "
                f"(allowed {allowed:.0e} in {self.dtype})"
            )
        slack = ROW_SUM_SLACK[self.dtype]
        enough = self.least_row >= 1 - slack or (self.sink and self.least_row >= 0)
        if not (enough and self.greatest_row <= 1 + slack):
            failures.append(
                f"{where}: the weights of a query add up to {self.least_row:.4g} … "
                f"{self.greatest_row:.4g} instead of 1"
            )
        if not self.least_weight >= 0:
            failures.append(f"{where}: a weight is {self.least_weight:.2g}, which is negative")
        if self.leak != 0:
            failures.append(f"{where}: a masked position has weight {self.leak:.1e} instead of 0")
        return tuple(failures)


@dataclass(frozen=True)
class RungCheck:
    """The check of one rung in one layer: whether its parts add up to the model's own vectors."""

    stream: str
    layer: int
    rung: str
    dtype: str
    """The least precise dtype that any intermediate number had."""
    error: float
    bias_share: float
    """The share of the vectors that comes from biases, not from any token."""

    @property
    def failures(self) -> tuple[str, ...]:
        """One sentence for each check that failed."""
        allowed = TOLERANCE[self.dtype]
        failure = (
            f"{self.stream} layer {self.layer}: on the rung {self.rung!r} the parts miss the "
            f"model's own vectors by {self.error:.1e} (allowed {allowed:.0e} in {self.dtype})"
        )
        return () if self.error <= allowed else (failure,)


@dataclass(frozen=True)
class GradientCheck:
    """The check of one layer's attribution by gradients: whether it is the model's derivative."""

    stream: str
    layer: int
    measure: str
    dtype: str
    error: float | None
    """How far the derivative in a random direction is from the model's own backward pass.

    None for derivatives with respect to the layer's own input, which are not checked.
    """
    directions: int
    """How many directions were computed for each token."""
    width: int
    """How many directions there are: with all of them, nothing is estimated."""
    standard_error: float | None
    """The relative standard error (of root mean squares), where directions were sampled."""

    @property
    def failures(self) -> tuple[str, ...]:
        """One sentence for each check that failed."""
        allowed = GRADIENT_SLACK * TOLERANCE[self.dtype]
        if self.error is None or self.error <= allowed:
            return ()
        failure = (
            f"{self.stream} layer {self.layer}: {self.measure} is off the model's own derivative "
            f"by {self.error:.1e} (allowed {allowed:.0e} in {self.dtype})"
        )
        return (failure,)


@dataclass(frozen=True)
class Receipt:
    """The results of all checks of a flow, and what it was computed with."""

    checks: tuple[LayerCheck, ...]
    model: str
    attention: str
    """The attention implementation that the model was loaded with; normviz runs its eager one."""
    dtype: str
    device: str
    inputs: str
    """A hash of the model's inputs."""
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    rungs: tuple[RungCheck, ...] = ()
    """The checks of the ladder, where it was measured."""
    gradients: tuple[GradientCheck, ...] = ()
    """The checks of attributions by gradients, where they were measured."""
    missed: tuple[str, ...] = ()
    """The attentions of the model that ran and were not captured, by the name of their module."""

    @property
    def failures(self) -> tuple[str, ...]:
        """One sentence for each check that failed."""
        every: tuple[LayerCheck | RungCheck | GradientCheck, ...]
        every = (*self.checks, *self.rungs, *self.gradients)
        missed = (f"the attention in {name} was not captured" for name in self.missed)
        return (*(failure for check in every for failure in check.failures), *missed)

    @property
    def ok(self) -> bool:
        """Whether every check passed."""
        return not self.failures

    @property
    def error(self) -> float | None:
        """The largest relative error of any layer; None if no sums were checked."""
        errors = [check.error for check in self.checks if check.error is not None]
        errors += [check.error for check in self.rungs]
        return max(errors) if errors else None

    def bias_share(self, stream: str, layers: Sequence[int]) -> dict[str, list[float]]:
        """Return, for each rung of a stream, the share of biases in each layer."""
        by_rung: dict[str, dict[int, float]] = {}
        for check in self.rungs:
            if check.stream == stream:
                by_rung.setdefault(check.rung, {})[check.layer] = float(f"{check.bias_share:.4g}")
        return {
            rung: [shares[n] for n in layers]
            for rung, shares in by_rung.items()
            if shares.keys() >= {*layers}
        }

    @property
    def model_name(self) -> str:
        """The model as a reader would call it: without its owner, and the demos by their names."""
        return DEMO_NAMES.get(self.model, self.model.rstrip("/").rpartition("/")[2] or self.model)

    def headline(self) -> str:
        """Return the receipt in one line."""
        if not self.ok:
            more = f" (and {len(self.failures) - 1} more)" if len(self.failures) > 1 else ""
            return f"✗ {self.failures[0]}{more}"
        if self.error is None:
            return "✓ rows add up to one; the parts were not checked (no model was run)"
        precision = f"within {self.error:.1e}" if self.error else "exactly"
        sampled = [c.standard_error for c in self.gradients if c.standard_error is not None]
        more = f"; gradients sampled, standard error up to {max(sampled):.1%}" if sampled else ""
        return f"✓ the parts add up to the model's own output {precision}{more}"

    def __str__(self) -> str:
        """Return the whole receipt as tables for a terminal."""
        lines = [self.headline(), "", *self._facts(), "", *self._layer_table()]
        lines += ["", *self._rung_table()] if self.rungs else []
        lines += ["", *self._gradient_table()] if self.gradients else []
        return "\n".join(lines)

    __repr__ = __str__

    def _facts(self) -> list[str]:
        facts = {
            "model": self.model,
            "attention": self.attention,
            "dtype": self.dtype,
            "device": self.device,
            "inputs": self.inputs,
            "versions": ", ".join(f"{name} {version}" for name, version in self.versions.items()),
        }
        lines = [f"{name:<10} {value}" for name, value in facts.items()]
        lines += [f"{'note':<10} {note}" for note in self.notes]
        return lines + [f"{'failed':<10} {failure}" for failure in self.failures]

    def _layer_table(self) -> list[str]:
        rows = ["stream   layer     error   row sums          masked   bias   output projection"]
        for c in self.checks:
            error = "—" if c.error is None else f"{c.error:.1e}"
            bias = "—" if c.bias_share is None else f"{c.bias_share:.1%}"
            rows.append(
                f"{c.stream:<8} {c.layer:>5}  {error:>8}   {c.least_row:.5f} … "
                f"{c.greatest_row:.5f}  {c.leak:>7.1g}  {bias:>5}   {c.module}"
            )
        return rows

    def _rung_table(self) -> list[str]:
        rows = ["stream   layer     error    bias   dtype     rung"]
        for c in self.rungs:
            numbers = f"{c.error:>8.1e}  {c.bias_share:>6.1%}"
            rows.append(f"{c.stream:<8} {c.layer:>5}  {numbers}   {c.dtype:<8}  {c.rung}")
        return rows

    def _gradient_table(self) -> list[str]:
        rows = ["stream   layer     error   directions  std. error   measure"]
        for c in self.gradients:
            error = "—" if c.error is None else f"{c.error:.1e}"
            spread = "—" if c.standard_error is None else f"{c.standard_error:.2%}"
            tried = f"{c.directions}/{c.width}"
            rows.append(
                f"{c.stream:<8} {c.layer:>5}  {error:>8}   {tried:>10}  {spread:>10}   {c.measure}"
            )
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return the receipt as JSON can hold it, for a file or the view."""
        return asdict(self)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Receipt":
        """Return the receipt that `to_dict` wrote."""
        checks = tuple(LayerCheck(**check) for check in plain["checks"])
        rungs = tuple(RungCheck(**check) for check in plain.get("rungs", ()))
        gradients = tuple(GradientCheck(**check) for check in plain.get("gradients", ()))
        parsed = {"checks": checks, "rungs": rungs, "gradients": gradients}
        lists = {name: tuple(plain.get(name, ())) for name in ("notes", "missed")}
        return cls(**{**plain, **parsed, **lists})

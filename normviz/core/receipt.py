"""What was checked about a flow, and how well it held."""

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
"""How far a row of weights may be from one.

Halves round each weight before they are added; many models take their softmax in float32 whatever
they are run in.
"""

TOLERANCE = {"float64": 1e-12, "float32": 1e-5, "float16": 1e-2, "bfloat16": 5e-2, "int8": 5e-2}
"""How far the parts may be from the model's own output, relative to its largest number.

A projection in eight bits rounds what it is given, so that its output is no exact sum.
"""


GRADIENT_SLACK = 100
"""How many times less exact a derivative may be: errors grow with every layer it goes through."""


@dataclass(frozen=True)
class LayerCheck:
    """One attention layer: do its parts add up to what the model itself put out?"""

    stream: str
    layer: int
    module: str
    """The output projection whose output the parts must add up to."""
    dtype: str
    error: float | None
    """The largest |sum of parts - own output| over the largest |own output|; None: not checked.

    Over all queries, in sixteen coordinates of the model's space.
    """
    least_row: float
    greatest_row: float
    leak: float
    """The largest weight at a place that the mask forbids."""
    bias_share: float | None
    """The share of the output that comes from no token: the projection's bias."""
    sink: bool = False
    """Whether the model lets a learned sink take weight, so that rows may add up to less."""

    @property
    def failures(self) -> tuple[str, ...]:
        """What does not hold here, in words; empty when all is well."""
        where = f"{self.stream} layer {self.layer}"
        found = []
        allowed = TOLERANCE[self.dtype]
        if self.error is not None and not self.error <= allowed:
            found.append(
                f"{where}: the parts miss the model's own output by {self.error:.1e} "
                f"(allowed {allowed:.0e} in {self.dtype})"
            )
        slack = ROW_SUM_SLACK[self.dtype]
        low = self.least_row >= 1 - slack or (self.sink and self.least_row >= 0)
        if not (low and self.greatest_row <= 1 + slack):
            found.append(
                f"{where}: the weights of a query add up to {self.least_row:.4g} … "
                f"{self.greatest_row:.4g} instead of 1"
            )
        if self.leak != 0:
            found.append(f"{where}: a masked place has weight {self.leak:.1e} instead of 0")
        return tuple(found)


@dataclass(frozen=True)
class RungCheck:
    """One rung of one layer's ladder: do its parts add up to the model's own vectors?"""

    stream: str
    layer: int
    rung: str
    dtype: str
    """The least exact type that any number on the way was held in."""
    error: float
    bias_share: float
    """The share of the vectors that comes from no token: biases, and what becomes of them."""

    @property
    def failures(self) -> tuple[str, ...]:
        """What does not hold here, in words; empty when all is well."""
        allowed = TOLERANCE[self.dtype]
        missed = (
            f"{self.stream} layer {self.layer}: on the rung {self.rung!r} the parts miss the "
            f"model's own vectors by {self.error:.1e} (allowed {allowed:.0e} in {self.dtype})"
        )
        return () if self.error <= allowed else (missed,)


@dataclass(frozen=True)
class GradientCheck:
    """One layer's attribution by gradients: is it the model's own derivative, and how sure?"""

    stream: str
    layer: int
    measure: str
    dtype: str
    error: float | None
    """How far a random change, pushed forward, is from the model's own backward pass.

    None for derivatives by a layer's own input, which lie within one layer.
    """
    directions: int
    """How many directions were tried for each token."""
    width: int
    """How many there are: with all of them, nothing is estimated."""
    standard_error: float | None
    """The standard error beside the numbers (root mean squares), where directions were sampled."""

    @property
    def failures(self) -> tuple[str, ...]:
        """What does not hold here, in words; empty when all is well."""
        allowed = GRADIENT_SLACK * TOLERANCE[self.dtype]
        if self.error is None or self.error <= allowed:
            return ()
        off = (
            f"{self.stream} layer {self.layer}: {self.measure} is off the model's own derivative "
            f"by {self.error:.1e} (allowed {allowed:.0e} in {self.dtype})"
        )
        return (off,)


@dataclass(frozen=True)
class Receipt:
    """The proof that travels with every flow."""

    checks: tuple[LayerCheck, ...]
    model: str
    attention: str
    """The attention implementation the model was found with; normviz listens to its eager one."""
    dtype: str
    device: str
    inputs: str
    """A hash of the model's inputs."""
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    rungs: tuple[RungCheck, ...] = ()
    """The ladder's checks, where it was asked for."""
    gradients: tuple[GradientCheck, ...] = ()
    """The checks of gradients, where they were asked for."""

    @property
    def failures(self) -> tuple[str, ...]:
        """Everything that does not hold, in words."""
        every: tuple[LayerCheck | RungCheck | GradientCheck, ...]
        every = (*self.checks, *self.rungs, *self.gradients)
        return tuple(failure for check in every for failure in check.failures)

    @property
    def ok(self) -> bool:
        """Whether everything that was checked held."""
        return not self.failures

    @property
    def error(self) -> float | None:
        """The largest relative error of any layer; None where the parts were not checked."""
        errors = [check.error for check in self.checks if check.error is not None]
        errors += [check.error for check in self.rungs]
        return max(errors) if errors else None

    def bias_share(self, stream: str, layers: Sequence[int]) -> dict[str, list[float]]:
        """For each rung of a stream: the share that comes from no token, by layer."""
        found: dict[str, dict[int, float]] = {}
        for check in self.rungs:
            if check.stream == stream:
                found.setdefault(check.rung, {})[check.layer] = float(f"{check.bias_share:.4g}")
        return {
            rung: [by[n] for n in layers] for rung, by in found.items() if by.keys() >= {*layers}
        }

    def headline(self) -> str:
        """The receipt in one line."""
        if not self.ok:
            more = f" (and {len(self.failures) - 1} more)" if len(self.failures) > 1 else ""
            return f"✗ {self.failures[0]}{more}"
        if self.error is None:
            return "✓ rows add up to one; the parts were not checked (no model was run)"
        how = f"within {self.error:.1e}" if self.error else "exactly"
        sampled = [one.standard_error for one in self.gradients if one.standard_error is not None]
        more = f"; gradients sampled, standard error up to {max(sampled):.1%}" if sampled else ""
        return f"✓ the parts add up to the model's own output {how}{more}"

    def __str__(self) -> str:
        """The whole receipt as a table for a terminal."""
        parts = [self.headline(), "", *self._facts(), "", *self._table()]
        parts += ["", *self._ladder()] if self.rungs else []
        return "\n".join([*parts, "", *self._gradients()] if self.gradients else parts)

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

    def _table(self) -> list[str]:
        rows = ["stream   layer     error   row sums          masked   bias   output projection"]
        for c in self.checks:
            error = "—" if c.error is None else f"{c.error:.1e}"
            bias = "—" if c.bias_share is None else f"{c.bias_share:.1%}"
            rows.append(
                f"{c.stream:<8} {c.layer:>5}  {error:>8}   {c.least_row:.5f} … "
                f"{c.greatest_row:.5f}  {c.leak:>7.1g}  {bias:>5}   {c.module}"
            )
        return rows

    def _ladder(self) -> list[str]:
        rows = ["stream   layer     error    bias   dtype     rung"]
        for c in self.rungs:
            numbers = f"{c.error:>8.1e}  {c.bias_share:>6.1%}"
            rows.append(f"{c.stream:<8} {c.layer:>5}  {numbers}   {c.dtype:<8}  {c.rung}")
        return rows

    def _gradients(self) -> list[str]:
        rows = ["stream   layer     error   directions  std. error   measure"]
        for c in self.gradients:
            error = "—" if c.error is None else f"{c.error:.1e}"
            sure = "—" if c.standard_error is None else f"{c.standard_error:.2%}"
            tried = f"{c.directions}/{c.width}"
            rows.append(
                f"{c.stream:<8} {c.layer:>5}  {error:>8}   {tried:>10}  {sure:>10}   {c.measure}"
            )
        return rows

    def to_dict(self) -> dict[str, Any]:
        """The receipt as plain values, for a file or the view."""
        return asdict(self)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Receipt":
        """The receipt that `to_dict` wrote."""
        checks = tuple(LayerCheck(**check) for check in plain["checks"])
        rungs = tuple(RungCheck(**check) for check in plain.get("rungs", ()))
        slopes = tuple(GradientCheck(**check) for check in plain.get("gradients", ()))
        rest = {
            "checks": checks,
            "rungs": rungs,
            "gradients": slopes,
            "notes": tuple(plain["notes"]),
        }
        return cls(**{**plain, **rest})

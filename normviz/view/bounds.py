"""Allowed sizes of figures, frames and files: centimeters, dots, pixels and megabytes."""

import math
import reprlib
from dataclasses import dataclass
from numbers import Real

from normviz.view.state import BadChoice

Number = float | int


@dataclass(frozen=True)
class Bounds:
    """The smallest and largest value of a size, its unit, and a value that suits most people."""

    smallest: Number
    largest: Number
    unit: str
    advice: str


BOUNDS = {
    "width_cm": Bounds(1, 200, "centimeters", "Use 8.5 for a column of a paper, 17 for two."),
    "dpi": Bounds(10, 2400, "dots per inch", "Use 300 for print, 100 for a screen."),
    "height": Bounds(50, 20_000, "pixels", "Use 640 for the controls and twenty tokens."),
    "max_mb": Bounds(0.001, 100_000, "megabytes", "Leave it out for a file of any size."),
}

MAX_DOTS_PER_SIDE, MAX_DOTS = 2**16 - 1, 10**8
"""The largest PNG that common programs can open: dots along one side, and in all."""


def require_size(name: str, value: object) -> float:
    """Return a size as a float; raise `BadChoice` where it is no number within its bounds."""
    bounds = BOUNDS[name]
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if is_number and bounds.smallest <= value <= bounds.largest:  # type: ignore[operator]
        return float(value)  # type: ignore[arg-type]
    raise BadChoice(
        f"{name} is {reprlib.repr(value)}.",
        f"Expected a number of {bounds.unit} from {bounds.smallest:g} to {bounds.largest:,.0f}.",
        bounds.advice,
    )


def require_few_dots(width: Number, height: Number, dpi: Number) -> None:
    """Raise `BadChoice` for a picture, in centimeters, with more dots than a program can open."""
    across, down = (math.ceil(length / 2.54 * dpi) for length in (width, height))
    if max(across, down) > MAX_DOTS_PER_SIDE or across * down > MAX_DOTS:
        raise BadChoice(
            f"At dpi {dpi:g} the picture has {across:,} × {down:,} dots.",
            f"Expected at most {MAX_DOTS_PER_SIDE:,} on a side, and {MAX_DOTS:,} in all.",
            "Use a smaller dpi or width_cm, or write SVG, which has no dots.",
        )

"""Sizes that may be asked for: centimeters, dots, pixels and megabytes, within reason."""

import math
import reprlib
from dataclasses import dataclass
from numbers import Real

from normviz.view.state import BadChoice

Number = float | int


@dataclass(frozen=True)
class Bounds:
    """From where to where a size may go, in which unit, and a size that serves most people."""

    least: Number
    most: Number
    unit: str
    advice: str


BOUNDS = {
    "width_cm": Bounds(1, 200, "centimeters", "Give 8.5 for a column of a paper, 17 for two."),
    "dpi": Bounds(10, 2400, "dots per inch", "Give 300 for print, 100 for a screen."),
    "height": Bounds(50, 20_000, "pixels", "Give 640 for the controls and twenty tokens."),
    "max_mb": Bounds(0.001, 100_000, "megabytes", "Leave it out for a file of any size."),
}

LONGEST, LARGEST = 2**16 - 1, 10**8
"""The most dots that a PNG may have on one side, and in all."""


def checked_size(name: str, value: object) -> float:
    """A size as a plain number, or an error that says how large it may be."""
    bounds = BOUNDS[name]
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if is_number and bounds.least <= value <= bounds.most:  # type: ignore[operator]
        return float(value)  # type: ignore[arg-type]
    raise BadChoice(
        f"{name} is {reprlib.repr(value)}.",
        f"A number of {bounds.unit} is wanted, from {bounds.least:g} to {bounds.most:,.0f}.",
        bounds.advice,
    )


def bounded_dots(width: Number, height: Number, dpi: Number) -> None:
    """Refuse a picture, in centimeters, with more dots than a program can open."""
    across, down = (math.ceil(side / 2.54 * dpi) for side in (width, height))
    if max(across, down) > LONGEST or across * down > LARGEST:
        raise BadChoice(
            f"At dpi {dpi:g} the picture has {across:,} × {down:,} dots.",
            f"At most {LONGEST:,} on a side are wanted, and {LARGEST:,} in all.",
            "Give a smaller dpi or width_cm, or write SVG, which has no dots.",
        )

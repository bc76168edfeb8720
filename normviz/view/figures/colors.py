"""Colors of the heads, the same in a figure as on the screen (`js/src/draw/colors.ts`)."""

import math
from dataclasses import dataclass

from normviz.view.figures import Size

CHROMA = 0.15
FIRST_HUE = 255
BELOW = 45
"""The hue of what is below zero: orange, across from the blue of what is above."""
TURN = 137.508
"""Turning by the golden angle keeps any number of hues apart, and neighbors furthest."""

STEPS = (0, -0.09, 0.07)
"""Small steps of lightness, for eyes that cannot tell the hues."""


ROUNDING = 1e-4
STRAIGHT = 0.0031308
"""Below this, a channel of sRGB is a straight line."""


def oklch(lightness: Size, chroma: Size, hue: Size) -> str:
    """An OKLCH color as #rrggbb, with as much of its chroma as a screen can show."""
    angle = hue * math.pi / 180
    c = chroma
    while c > 0:
        channels = _linear(lightness, c, angle)
        if all(-ROUNDING <= channel <= 1 + ROUNDING for channel in channels):
            return _hex(channels)
        c -= 0.004
    return _hex(_linear(lightness, 0, 0))


def _linear(lightness: Size, chroma: Size, angle: Size) -> tuple[Size, Size, Size]:
    a, b = chroma * math.cos(angle), chroma * math.sin(angle)
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3
    return (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short,
    )


def _hex(channels: tuple[Size, Size, Size]) -> str:
    text = "#"
    for channel in channels:
        bounded = min(1.0, max(0.0, channel))
        low = bounded <= STRAIGHT
        curved = 12.92 * bounded if low else 1.055 * bounded ** (1 / 2.4) - 0.055
        text += f"{math.floor(curved * 255 + 0.5):02x}"
    return text


@dataclass(frozen=True)
class Palette:
    """The paper and ink of a theme, and how light its heads are."""

    paper: str
    ink: str
    soft: str
    lightness: Size
    plain: str
    signs: tuple[str, str]
    """For numbers that may be negative: those above zero, and those below."""

    def head(self, head: int | None) -> str:
        """The color of a head, the same with whatever other heads it is shown."""
        if head is None:
            return self.plain
        step = STEPS[head % len(STEPS)]
        return oklch(self.lightness + step, CHROMA, (FIRST_HUE + head * TURN) % 360)


def _signs(lightness: Size) -> tuple[str, str]:
    return oklch(lightness, CHROMA, FIRST_HUE), oklch(lightness, CHROMA, BELOW)


PALETTES = {
    "light": Palette("#ffffff", "#1d2125", "#59636d", 0.62, oklch(0.5, 0.09, 255), _signs(0.58)),
    "dark": Palette("#15181c", "#e4e7ea", "#9aa5b0", 0.72, oklch(0.74, 0.09, 255), _signs(0.72)),
}


HEAT = {"light": (0.972, 0.38), "dark": (0.255, 0.9)}
"""The lightness of nothing and of all in a heatmap (`js/src/draw/heat.ts`)."""


def heat(theme: str, hue: Size = FIRST_HUE) -> list[str]:
    """The 256 colors of a heatmap, from nothing to all; `BELOW` is the hue below zero."""
    nothing, full = HEAT[theme]
    parts = [step / 255 for step in range(256)]
    return [
        oklch(nothing + (full - nothing) * part, 0.006 + CHROMA * part**0.7, hue) for part in parts
    ]

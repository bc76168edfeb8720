"""Colors of measures and heads, as on the screen (`js/src/draw/colors.ts`)."""

import math
from dataclasses import dataclass

from normviz.core.catalog import Measure
from normviz.view.figures import Size

CHROMA = 0.15
FIRST_HUE = 255
BELOW = 45
"""The hue of negative numbers: orange, opposite to the blue of positive ones."""
NORM_HUE = 50
"""The hue of the norms of vectors; measures made of weights are blue."""
TURN = 137.508
"""Degrees between the hues of neighboring heads: the golden angle keeps any number apart."""

STEPS = (0, -0.09, 0.07)
"""Small steps of lightness, for readers who do not see the hues."""

ROUNDING = 1e-4
LINEAR_BELOW = 0.0031308
"""Below this value, a channel of sRGB is linear."""


def oklch_to_hex(lightness: Size, chroma: Size, hue: Size) -> str:
    """Return an OKLCH color as #rrggbb, with as much of its chroma as sRGB can show."""
    angle = hue * math.pi / 180
    while chroma > 0:
        channels = _linear_rgb(lightness, chroma, angle)
        if all(-ROUNDING <= channel <= 1 + ROUNDING for channel in channels):
            return _to_hex(channels)
        chroma -= 0.004
    return _to_hex(_linear_rgb(lightness, 0, 0))


def _linear_rgb(lightness: Size, chroma: Size, angle: Size) -> tuple[Size, Size, Size]:
    a, b = chroma * math.cos(angle), chroma * math.sin(angle)
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3
    return (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short,
    )


def _to_hex(channels: tuple[Size, Size, Size]) -> str:
    text = "#"
    for channel in channels:
        bounded = min(1.0, max(0.0, channel))
        is_linear = bounded <= LINEAR_BELOW
        encoded = 12.92 * bounded if is_linear else 1.055 * bounded ** (1 / 2.4) - 0.055
        text += f"{math.floor(encoded * 255 + 0.5):02x}"
    return text


@dataclass(frozen=True)
class Palette:
    """The background and ink of a theme, and the lightness of its heads."""

    paper: str
    ink: str
    soft: str
    lightness: Size
    plain: str
    hues: tuple[str, str]
    """The colors of measures made of weights, and of the norms of vectors."""
    signs: tuple[str, str]
    """The colors of positive and of negative numbers."""

    def measure(self, measure: Measure) -> str:
        """Return the color of a measure where all heads are shown together."""
        return self.hues[0 if measure.of_weights else 1]

    def head(self, head: int | None) -> str:
        """Return the color of a head, which does not depend on the other heads shown."""
        if head is None:
            return self.plain
        step = STEPS[head % len(STEPS)]
        return oklch_to_hex(self.lightness + step, CHROMA, (FIRST_HUE + head * TURN) % 360)


def _sign_colors(lightness: Size) -> tuple[str, str]:
    return oklch_to_hex(lightness, CHROMA, FIRST_HUE), oklch_to_hex(lightness, CHROMA, BELOW)


PALETTES = {
    "light": Palette(
        *("#ffffff", "#1d2125", "#59636d", 0.62, oklch_to_hex(0.5, 0.09, 255)),
        hues=(oklch_to_hex(0.53, 0.13, FIRST_HUE), oklch_to_hex(0.57, 0.15, NORM_HUE)),
        signs=_sign_colors(0.58),
    ),
    "dark": Palette(
        *("#15181c", "#e4e7ea", "#9aa5b0", 0.72, oklch_to_hex(0.74, 0.09, 255)),
        hues=(oklch_to_hex(0.74, 0.12, FIRST_HUE), oklch_to_hex(0.76, 0.13, 60)),
        signs=_sign_colors(0.72),
    ),
}

HEAT = {"light": (0.972, 0.38), "dark": (0.255, 0.9)}
"""The lightness of the lowest and of the highest share in a heatmap (`js/src/draw/heat.ts`)."""


def heat_hue(measure: Measure) -> Size:
    """Return the hue of a measure's heatmap; of a signed one, that of its positive numbers."""
    return FIRST_HUE if measure.of_weights or measure.signed else NORM_HUE


def heat_colors(theme: str, hue: Size = FIRST_HUE) -> list[str]:
    """Return the 256 colors of a heatmap from 0 to 1; `BELOW` is the hue of negative numbers."""
    lowest, highest = HEAT[theme]
    shares = [step / 255 for step in range(256)]
    return [
        oklch_to_hex(lowest + (highest - lowest) * share, 0.006 + CHROMA * share**0.7, hue)
        for share in shares
    ]


def blend(color: str, paper: str, share: Size) -> str:
    """Return a color over paper, as if this share of it were opaque."""
    pairs = [(int(color[at : at + 2], 16), int(paper[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in pairs)

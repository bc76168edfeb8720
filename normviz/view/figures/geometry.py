"""Where rows, ribbons and bars go, in pixels: the view's geometry (`js/src/data/ribbons.ts`)."""

from dataclasses import dataclass

import numpy as np

from normviz.view.figures import Size
from normviz.view.figures.picture import Norms, Numbers, Picture

FILL = 0.84
"""How much of a row the ribbons of one token may fill."""

PITCH = (12, 20)
FONT = (9, 13)
HEIGHT = 640
"""The height that a text should fit before its rows stop shrinking."""

SHARE, LIMIT = 0.95, 8000
"""Ribbons are drawn, strongest first, until this share of the sum or this many."""

SEEN, MOST, HAIR = 3, 12, 0.02
"""How wide the strongest pair in focus should be, how far to go for it, and what nobody sees."""

SHIFT = 19
"""A positive float's upper bits sort as the number does, so they serve as bins: 16 per octave."""


@dataclass(frozen=True)
class Ribbons:
    """What is drawn, weakest first, in columns of equal length."""

    plane: Numbers
    query: Numbers
    key: Numbers
    width: Numbers
    start: Numbers
    """The height of a ribbon's middle at the key's end."""
    end: Numbers
    """… and at the query's."""
    shown: Size
    """The share of the sum that is drawn."""
    zoom: int = 1
    """How many times wider than to scale."""

    def __len__(self) -> int:
        """How many ribbons there are."""
        return len(self.width)


def rows_for(count: int, height: int = HEIGHT) -> tuple[int, int]:
    """The pitch of the rows and the size of their letters."""
    pitch = min(PITCH[1], max(PITCH[0], height // max(1, count)))
    grown = (pitch - PITCH[0]) / (PITCH[1] - PITCH[0])
    return pitch, int(FONT[0] + grown * (FONT[1] - FONT[0]) + 0.5)


def middle(row: Numbers | Size, pitch: Size) -> Numbers:
    """The middle of each row."""
    return np.asarray((np.asarray(row) + 0.5) * pitch)


def ribbons(picture: Picture, pitch: Size, share: Size = SHARE, limit: int = LIMIT) -> Ribbons:
    """The strongest ribbons, stacked at both ends as the view stacks them."""
    per_row = (pitch * FILL / picture.units)[None, :, None]
    sizes = scaled = picture.sizes
    if picture.scale == "query":
        scaled = (sizes / picture.units[None, :, None]).astype(np.float32)
    in_order = scaled.transpose(1, 2, 0).ravel()  # query key plane
    wanted = strongest(in_order, share, limit).reshape(scaled.transpose(1, 2, 0).shape)
    wanted &= sizes.transpose(1, 2, 0) >= picture.least
    query, key, plane = np.nonzero(wanted)
    widths = sizes.astype(np.float64) * per_row
    width = widths[plane, query, key]
    before, whole = _stacked(widths.transpose(2, 1, 0))  # by key: query plane
    start = middle(key, pitch) + width / 2
    start += _squeezed(before[key, query, plane], width, whole[key], pitch * FILL)
    left, rows = _stacked(widths.transpose(1, 2, 0))  # by query: key plane
    end = middle(query, pitch) - rows[query] / 2 + left[query, key, plane] + width / 2
    order = np.argsort(width, kind="stable")
    total = widths.sum()
    shown = float(width.sum() / total) if total > 0 else 1.0
    place = (plane[order], query[order], key[order])
    return Ribbons(*place, width[order], start[order], end[order], shown)


def _stacked(widths: Numbers) -> tuple[Numbers, Numbers]:
    """For each strip how much lies before it in its row, and each row's whole."""
    flat = widths.reshape(len(widths), -1)
    after = flat.cumsum(axis=1)
    whole = after[:, -1] if flat.shape[1] else np.zeros(len(flat))
    return (after - flat).reshape(widths.shape), whole


def _squeezed(before: Numbers, width: Numbers, whole: Numbers, room: Size) -> Numbers:
    """Where strips begin, from the middle of a row that has room for only part of the whole."""
    rest = whole - width
    spread = np.divide(before, rest, out=np.zeros_like(before), where=rest > 0)
    return np.where(whole <= room, before - whole / 2, spread * (room - width) - room / 2)


def strongest(values: Numbers, share: Size, limit: int) -> Numbers:
    """Which numbers to draw: the greatest, until enough of their sum is covered.

    Within the last bin an even sample is taken, in the order given.
    """
    positive = values > 0
    bins = np.where(positive, values, 0).astype(np.float32).view(np.uint32) >> SHIFT
    count = int(bins.max(initial=0)) + 1
    counts = np.bincount(bins[positive], minlength=count)
    masses = np.bincount(bins[positive], weights=values[positive], minlength=count)
    whole = masses.sum()
    mass, room = share * whole, float(limit)
    for index in np.nonzero(counts)[0][::-1]:
        sample = min(mass / masses[index], room / counts[index], 1.0)
        if sample < 1:
            return np.asarray((bins > index) & positive | _sampled(bins == index, sample))
        mass, room = mass - masses[index], room - counts[index]
        if mass <= 1e-9 * whole or room <= 0:
            return np.asarray((bins >= index) & positive)
    return np.asarray(positive)


def _sampled(candidates: Numbers, sample: Size) -> Numbers:
    """Every so many of the candidates."""
    due = np.floor(0.5 + sample * np.arange(int(candidates.sum()) + 1))
    chosen = np.zeros_like(candidates)
    chosen[candidates] = np.diff(due) > 0
    return chosen


def focused(picture: Picture, pitch: Size, limit: int = LIMIT) -> Ribbons:
    """All ribbons of the pinned token, so many times wider that the strongest can be seen."""
    side, row = picture.focus or ("query", 0)
    takes = side == "query"
    sizes = picture.sizes
    widths = sizes.astype(np.float64) * (pitch * FILL / picture.units)[None, :, None]
    own = widths[:, row] if takes else widths[:, :, row]  # plane other
    pairs = own.sum(axis=0)
    top = float(pairs.max(initial=0)) or SEEN
    zoom = int(min(MOST, max(1, SEEN // top)))
    wide = own.T * zoom  # other plane
    flat = wide.ravel()
    before = flat.cumsum() - flat
    whole, room = flat.sum(), min(flat.sum(), pitch * FILL * zoom)
    height = pitch * max(picture.values.shape[1:])
    center = _within(float(middle(row, pitch)), room / 2, height)
    near = center + _squeezed(before, flat, np.full_like(flat, whole), room) + flat / 2
    other, plane = (place.ravel() for place in np.indices(wide.shape))
    inside = wide.cumsum(axis=1) - wide
    far = middle(other, pitch) - wide.sum(axis=1)[other] / 2 + inside.ravel() + flat / 2
    numbers = sizes[:, row] if takes else sizes[:, :, row]
    kept = np.nonzero((flat >= HAIR) & (numbers.T.ravel() >= picture.least))[0]
    kept = kept[np.argsort(flat[kept], kind="stable")][-limit:]
    ends = (far, near) if takes else (near, far)
    mine = np.full(len(kept), row)
    query, key = (mine, other[kept]) if takes else (other[kept], mine)
    shown = float(flat[kept].sum() / whole) if whole > 0 else 1.0
    return Ribbons(plane[kept], query, key, flat[kept], ends[0][kept], ends[1][kept], shown, zoom)


def _within(wanted: Size, half: Size, height: Size) -> Size:
    """A middle moved so far that half a height fits on both sides of it."""
    return height / 2 if half * 2 > height else min(height - half, max(half, wanted))


def bars(norms: Norms) -> tuple[Numbers, Numbers]:
    """For each plane and key, where its part of the key's bar starts and ends, of the longest."""
    ends = norms.values.astype(np.float64).cumsum(axis=0) / norms.unit
    return ends - norms.values / norms.unit, ends

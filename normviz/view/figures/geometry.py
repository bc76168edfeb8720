"""The positions of rows, ribbons and bars in pixels, as in the view (`js/src/data/ribbons.ts`)."""

from dataclasses import dataclass

import numpy as np

from normviz.view.figures import Size
from normviz.view.figures.picture import Bars, Numbers, Picture

FILL = 0.84
"""The share of a row that the ribbons of one token may fill."""

PITCH = (12, 20)
FONT = (9, 13)
HEIGHT = 640
"""The height that a text should fit into, as long as its rows can shrink."""

SHARE, MAX_RIBBONS = 0.95, 8000
"""Ribbons are drawn, strongest first, until this share of the sum or this many."""

VISIBLE_WIDTH, MAX_ZOOM, HAIR = 3, 12, 0.02
"""The width to give the strongest pair in focus, the most zoom for it, and what is invisible."""

SHIFT = 19
"""The upper bits of positive floats sort like the numbers, so they serve as 16 bins per octave."""


@dataclass(frozen=True)
class Ribbons:
    """The ribbons to draw, weakest first, in columns of equal length."""

    plane: Numbers
    query: Numbers
    key: Numbers
    width: Numbers
    start: Numbers
    """The height of a ribbon's center at the key."""
    end: Numbers
    """The height of a ribbon's center at the query."""
    shown: Size
    """The share of the sum that is drawn."""
    zoom: int = 1
    """The factor by which all widths are enlarged."""

    def __len__(self) -> int:
        """Return the number of ribbons."""
        return len(self.width)


def row_sizes(count: int, height: int = HEIGHT) -> tuple[int, int]:
    """Return the pitch of the rows and the size of their letters."""
    pitch = min(PITCH[1], max(PITCH[0], height // max(1, count)))
    growth = (pitch - PITCH[0]) / (PITCH[1] - PITCH[0])
    return pitch, int(FONT[0] + growth * (FONT[1] - FONT[0]) + 0.5)


def row_centers(row: Numbers | Size, pitch: Size) -> Numbers:
    """Return the height of each row's center."""
    return np.asarray((np.asarray(row) + 0.5) * pitch)


def place_ribbons(
    picture: Picture, pitch: Size, share: Size = SHARE, limit: int = MAX_RIBBONS
) -> Ribbons:
    """Return the strongest ribbons, stacked at both ends as in the view."""
    per_row = (pitch * FILL / picture.units)[None, :, None]
    sizes = scaled = picture.sizes
    if picture.scale == "query":
        scaled = (sizes / picture.units[None, :, None]).astype(np.float32)
    in_order = scaled.transpose(1, 2, 0).ravel()  # query key plane
    drawn = select_strongest(in_order, share, limit).reshape(scaled.transpose(1, 2, 0).shape)
    drawn &= sizes.transpose(1, 2, 0) >= picture.smallest_drawn
    query, key, plane = np.nonzero(drawn)
    widths = sizes.astype(np.float64) * per_row
    width = widths[plane, query, key]
    before, total = _stack(widths.transpose(2, 1, 0))  # by key: query plane
    start = row_centers(key, pitch) + width / 2
    start += _squeeze(before[key, query, plane], width, total[key], pitch * FILL)
    before, total = _stack(widths.transpose(1, 2, 0))  # by query: key plane
    end = row_centers(query, pitch) - total[query] / 2 + before[query, key, plane] + width / 2
    order = np.argsort(width, kind="stable")
    all_widths = widths.sum()
    shown = float(width.sum() / all_widths) if all_widths > 0 else 1.0
    plane, query, key = plane[order], query[order], key[order]
    return Ribbons(plane, query, key, width[order], start[order], end[order], shown)


def _stack(widths: Numbers) -> tuple[Numbers, Numbers]:
    """Return for each strip how much lies before it in its row, and the total of each row."""
    flat = widths.reshape(len(widths), -1)
    after = flat.cumsum(axis=1)
    total = after[:, -1] if flat.shape[1] else np.zeros(len(flat))
    return (after - flat).reshape(widths.shape), total


def _squeeze(before: Numbers, width: Numbers, total: Numbers, space: Size) -> Numbers:
    """Return where strips begin, from the center of a row; they overlap where space is short."""
    rest = total - width
    spread = np.divide(before, rest, out=np.zeros_like(before), where=rest > 0)
    return np.where(total <= space, before - total / 2, spread * (space - width) - space / 2)


def select_strongest(values: Numbers, share: Size, limit: int) -> Numbers:
    """Return a mask of the numbers to draw: the greatest, until enough of their sum is covered.

    Within the last bin an even sample is taken, in the order given.
    """
    positive = values > 0
    bins = np.where(positive, values, 0).astype(np.float32).view(np.uint32) >> SHIFT
    count = int(bins.max(initial=0)) + 1
    counts = np.bincount(bins[positive], minlength=count)
    masses = np.bincount(bins[positive], weights=values[positive], minlength=count)
    total = masses.sum()
    mass, space = share * total, float(limit)
    for index in np.nonzero(counts)[0][::-1]:
        sample = min(mass / masses[index], space / counts[index], 1.0)
        if sample < 1:
            return np.asarray((bins > index) & positive | _sample_evenly(bins == index, sample))
        mass, space = mass - masses[index], space - counts[index]
        if mass <= 1e-9 * total or space <= 0:
            return np.asarray((bins >= index) & positive)
    return np.asarray(positive)


def _sample_evenly(candidates: Numbers, share: Size) -> Numbers:
    """Return a mask of this share of the candidates, evenly spaced."""
    due = np.floor(0.5 + share * np.arange(int(candidates.sum()) + 1))
    chosen = np.zeros_like(candidates)
    chosen[candidates] = np.diff(due) > 0
    return chosen


def place_focused_ribbons(picture: Picture, pitch: Size, limit: int = MAX_RIBBONS) -> Ribbons:
    """Return all ribbons of the pinned token, enlarged until the strongest is visible."""
    role, row = picture.focus or ("query", 0)
    is_query = role == "query"
    sizes = picture.sizes
    widths = sizes.astype(np.float64) * (pitch * FILL / picture.units)[None, :, None]
    own = widths[:, row] if is_query else widths[:, :, row]  # plane other
    pairs = own.sum(axis=0)
    top = float(pairs.max(initial=0)) or VISIBLE_WIDTH
    zoom = int(min(MAX_ZOOM, max(1, VISIBLE_WIDTH // top)))
    zoomed = own.T * zoom  # other plane
    flat = zoomed.ravel()
    before = flat.cumsum() - flat
    total, space = flat.sum(), min(flat.sum(), pitch * FILL * zoom)
    height = pitch * max(picture.values.shape[1:])
    center = _move_inside(float(row_centers(row, pitch)), space / 2, height)
    near = center + _squeeze(before, flat, np.full_like(flat, total), space) + flat / 2
    other, plane = (index.ravel() for index in np.indices(zoomed.shape))
    inside = zoomed.cumsum(axis=1) - zoomed
    far = row_centers(other, pitch) - zoomed.sum(axis=1)[other] / 2 + inside.ravel() + flat / 2
    numbers = sizes[:, row] if is_query else sizes[:, :, row]
    kept = np.nonzero((flat >= HAIR) & (numbers.T.ravel() >= picture.smallest_drawn))[0]
    kept = kept[np.argsort(flat[kept], kind="stable")][-limit:]
    start, end = (far, near) if is_query else (near, far)
    pinned = np.full(len(kept), row)
    query, key = (pinned, other[kept]) if is_query else (other[kept], pinned)
    shown = float(flat[kept].sum() / total) if total > 0 else 1.0
    return Ribbons(plane[kept], query, key, flat[kept], start[kept], end[kept], shown, zoom)


def _move_inside(center: Size, half: Size, height: Size) -> Size:
    """Return a center, moved until half a width fits on both sides of it within the height."""
    return height / 2 if half * 2 > height else min(height - half, max(half, center))


def place_bars(bars: Bars) -> tuple[Numbers, Numbers]:
    """Return where each plane's part of each key's bar starts and ends, of 1 [plane key]."""
    ends = bars.values.astype(np.float64).cumsum(axis=0) / bars.unit
    return ends - bars.values / bars.unit, ends

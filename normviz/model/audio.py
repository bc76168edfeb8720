"""Audio encoders: the time that each position stands for."""

import math
from collections.abc import Mapping
from typing import Any

from normviz.core.tokens import Tokens

HOP = 0.01
"""Seconds from one frame of mel features to the next, in Whisper and in Kaldi's filter banks."""

RATE = 16_000
"""Samples per second, for every speech model whose configuration does not state it."""


def frame_times(inputs: Mapping[str, Any], config: Any, length: int) -> Tokens | None:
    """Return positions labeled by when they begin, such as `0.42 s`; None where that is unknown."""
    config = getattr(config, "encoder", config)
    step = _step_by_frames(inputs.get("input_features"), config, length)
    if step is None and getattr(inputs.get("input_values"), "ndim", 0) == 2:  # noqa: PLR2004
        step = _step_by_samples(config)
    if step is None or not length:
        return None
    digits = max(2, math.ceil(-math.log10(step)))
    return Tokens.plain(f"{position * step:.{digits}f} s" for position in range(length))


def _step_by_frames(features: Any, config: Any, length: int) -> float | None:
    """Return the seconds between positions, from how many frames of features became one."""
    shape = tuple(getattr(features, "shape", ()))
    if len(shape) != 3 or not length:  # noqa: PLR2004
        return None
    if shape[1] == getattr(config, "num_mel_bins", None):
        frames = shape[2]
    elif shape[2] == getattr(config, "input_feat_per_channel", None):
        frames = shape[1]
    else:
        return None
    return HOP * round(int(frames) / length)


def _step_by_samples(config: Any) -> float | None:
    """Return the seconds between positions, where the configuration states how many samples."""
    samples = getattr(config, "inputs_to_logits_ratio", None)
    return None if not samples else float(samples) / getattr(config, "sampling_rate", RATE)

"""Numbers as bytes for the view, and back."""

import numpy as np

from normviz.axes import Array

PRECISIONS = ("log16", "float32")
"""How numbers may be written: within 0.16% in two bytes, or exactly in four."""

STEPS = 320
"""How many codes `log16` has for each factor of e: neighbours are 0.31% apart."""

LOWEST = 104
"""exp(-104) is below the least positive float32, so every positive number has a code above 0."""


def encode(values: Array, precision: str) -> tuple[str, bytes]:
    """Numbers as bytes, and the name of the code they are written in.

    Weights after a softmax span dozens of decades and float16 only nine, so `log16` keeps the
    logarithm: an unsigned integer, zero for zero. Every positive float32 comes back within 0.16%.
    The upper bytes stand before the lower ones, because apart they compress better.
    """
    if precision == "float32" or (values < 0).any():
        return "float32", values.astype("<f4").tobytes()
    codes = np.zeros(values.size, dtype=np.uint16)
    positive = values.ravel() > 0
    logarithms = np.log(values.ravel()[positive], dtype=np.float64)
    codes[positive] = np.rint((logarithms + LOWEST) * STEPS)
    return "log16", np.concatenate([codes >> 8, codes & 255]).astype(np.uint8).tobytes()


def decode(dtype: str, chunk: bytes) -> Array:
    """The numbers that `encode` wrote."""
    if dtype == "float32":
        return np.frombuffer(chunk, dtype="<f4").astype(np.float32)
    upper, lower = np.frombuffer(chunk, dtype=np.uint8).reshape(2, -1).astype(np.uint16)
    codes = (upper << 8) + lower
    return np.where(codes == 0, 0, np.exp(codes / STEPS - LOWEST)).astype(np.float32)

"""Numbers as bytes for the view, and back."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from normviz.core.axes import Array

Precision = Literal["log16", "float32", "uint8"]

PRECISIONS = {
    "log16": "within 0.2% (two bytes each)",
    "float32": "exactly (four bytes each)",
    "uint8": "within 3.7% (one byte each; less than 1.6e-8 of a layer's largest is drawn as 0)",
}
"""How numbers can be encoded, and how exactly they come back."""

STEPS = 256
"""How many codes `log16` has for each factor of e: neighbors are 0.39% apart."""

LOWEST = 104
"""exp(-104) is below the least positive float32, so every positive number has a code above 0."""

STEPS8 = 14
LOWEST8 = 18
"""The same for one byte, of numbers that are at most one."""


@dataclass(frozen=True)
class EncodedArray:
    """Numbers as bytes, the name of their encoding, and the factor of each decoded number."""

    dtype: str
    data: bytes
    scale: float = 1.0


def encode(values: Array, precision: str) -> EncodedArray:
    """Encode an array of any shape as bytes.

    Weights after a softmax span dozens of decades and float16 only nine, so `log16` keeps the
    logarithm: an unsigned integer, zero for zero. Every positive float32 comes back within 0.2%.
    The upper bytes stand before the lower ones, because apart they compress better. `uint8` keeps
    the logarithm of each number's ratio to the largest. Negative numbers have no logarithm and
    stay float32.
    """
    if precision == "float32" or (values < 0).any():
        return EncodedArray("float32", values.astype("<f4").tobytes())
    if precision == "uint8":
        largest = float(values.max(initial=0)) or 1.0
        codes = _log_codes(values / largest, STEPS8, LOWEST8, "u1")
        return EncodedArray("log8", codes.tobytes(), largest)
    codes = _log_codes(values, STEPS, LOWEST, "u2")
    two_bytes = np.concatenate([codes >> 8, codes & 255]).astype(np.uint8)
    return EncodedArray("log16", two_bytes.tobytes())


def _log_codes(values: Array, steps: int, lowest: int, dtype: str) -> NDArray[Any]:
    codes = np.zeros(values.size, dtype=dtype)
    positive = values.ravel() > 0
    logarithms = np.log(values.ravel()[positive], dtype=np.float64)
    codes[positive] = np.maximum(0, np.rint((logarithms + lowest) * steps))
    return codes


def decode(encoded: EncodedArray) -> Array:
    """Return the numbers that `encode` wrote, in one dimension."""
    if encoded.dtype == "float32":
        return np.frombuffer(encoded.data, dtype="<f4").astype(np.float32)
    codes = np.frombuffer(encoded.data, dtype=np.uint8)
    if encoded.dtype == "log8":
        return _from_log_codes(codes, STEPS8, LOWEST8) * np.float32(encoded.scale)
    upper, lower = codes.reshape(2, -1).astype(np.uint16)
    return _from_log_codes((upper << 8) + lower, STEPS, LOWEST)


def _from_log_codes(codes: NDArray[Any], steps: int, lowest: int) -> Array:
    return np.where(codes == 0, 0, np.exp(codes / steps - lowest)).astype(np.float32)

"""Numbers as bytes for the view, and back."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from normviz.core.axes import Array

PRECISIONS = {
    "log16": "within 0.2% (two bytes each)",
    "float32": "exactly (four bytes each)",
    "uint8": "within 3.7% (one byte each; less than 1.6e-8 of a layer's largest is drawn as 0)",
}
"""How numbers may be written, and how well they come back."""

STEPS = 256
"""How many codes `log16` has for each factor of e: neighbors are 0.39% apart."""

LOWEST = 104
"""exp(-104) is below the least positive float32, so every positive number has a code above 0."""

STEPS8 = 14
LOWEST8 = 18
"""The same for one byte, of numbers that are at most one."""


@dataclass(frozen=True)
class Coded:
    """Numbers as bytes, the name of their code, and what each is to be multiplied with."""

    dtype: str
    data: bytes
    scale: float = 1.0


def encode(values: Array, precision: str) -> Coded:
    """Numbers as bytes.

    Weights after a softmax span dozens of decades and float16 only nine, so `log16` keeps the
    logarithm: an unsigned integer, zero for zero. Every positive float32 comes back within 0.2%.
    The upper bytes stand before the lower ones, because apart they compress better. In one byte,
    numbers are written as parts of the largest. Negative numbers have no logarithm and stay whole.
    """
    if precision == "float32" or (values < 0).any():
        return Coded("float32", values.astype("<f4").tobytes())
    if precision == "uint8":
        top = float(values.max(initial=0)) or 1.0
        codes = _logarithms(values / top, STEPS8, LOWEST8, "u1")
        return Coded("log8", codes.tobytes(), top)
    codes = _logarithms(values, STEPS, LOWEST, "u2")
    return Coded("log16", np.concatenate([codes >> 8, codes & 255]).astype(np.uint8).tobytes())


def _logarithms(values: Array, steps: int, lowest: int, kind: str) -> NDArray[Any]:
    codes = np.zeros(values.size, dtype=kind)
    positive = values.ravel() > 0
    logarithms = np.log(values.ravel()[positive], dtype=np.float64)
    codes[positive] = np.maximum(0, np.rint((logarithms + lowest) * steps))
    return codes


def decode(coded: Coded) -> Array:
    """The numbers that `encode` wrote."""
    if coded.dtype == "float32":
        return np.frombuffer(coded.data, dtype="<f4").astype(np.float32)
    read = np.frombuffer(coded.data, dtype=np.uint8)
    if coded.dtype == "log8":
        return _powers(read, STEPS8, LOWEST8) * np.float32(coded.scale)
    upper, lower = read.reshape(2, -1).astype(np.uint16)
    return _powers((upper << 8) + lower, STEPS, LOWEST)


def _powers(codes: NDArray[Any], steps: int, lowest: int) -> Array:
    return np.where(codes == 0, 0, np.exp(codes / steps - lowest)).astype(np.float32)

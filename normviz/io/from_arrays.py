"""Make a flow of numbers that were computed elsewhere."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from normviz.core.axes import STREAM_KINDS, Array
from normviz.core.catalog import require_known
from normviz.core.flow import Flow
from normviz.core.keywords import refuse_unknown_keywords
from normviz.core.receipt import ROW_SUM_SLACK, LayerCheck, Receipt
from normviz.core.stream import Layers, Stream
from normviz.core.tokens import Tokens
from normviz.errors import BadArrays

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from normviz.core.axes import StreamName


@refuse_unknown_keywords
def from_arrays(
    weights: "ArrayLike",
    tokens: Tokens | Iterable[str],
    *,
    value_norms: "ArrayLike | None" = None,
    target_tokens: Tokens | Iterable[str] | None = None,
    stream: "StreamName | None" = None,
    title: str = "",
) -> Flow:
    """Return a flow of attention weights (and norms) from any source.

    Parameters
    ----------
    weights
        `layer head query key`; numpy, torch on any device and in any precision, or nested lists.
    tokens
        The keys: strings, or `Tokens`. They are the queries too, unless you pass `target_tokens`.
    value_norms
        ‖f(x)‖ as `layer head key`. With it the flow also holds `weighted-norm`.
    target_tokens
        The queries of a cross-attention.
    stream
        `encoder`, `decoder` or `cross`; by default it is inferred from the weights.
    title
        A line to show above the picture.
    """
    alpha = _parse_array(weights, "weights", ("layer", "head", "query", "key"))
    keys = _parse_tokens(tokens)
    queries = _parse_tokens(target_tokens) if target_tokens is not None else keys
    layers, heads = (tuple(range(n)) for n in alpha.shape[:2])
    if stream is not None:
        require_known(stream, STREAM_KINDS, "stream")
    name = stream or _infer_stream(alpha, is_cross=target_tokens is not None)
    _check_shape(alpha.shape[2:], (len(queries), len(keys)))
    stored = {"weight": Layers(alpha)}
    if value_norms is not None:
        norms = _parse_array(value_norms, "value_norms", ("layer", "head", "key"))
        _check_shape(norms.shape, (alpha.shape[0], alpha.shape[1], alpha.shape[3]), "value_norms")
        stored["value-norm"] = Layers(norms)
    _check_rows(alpha)
    receipt = Receipt(
        checks=tuple(_check_layer(name, layer, alpha[layer]) for layer in layers),
        model="numbers from elsewhere",
        attention="given",
        dtype="float32",
        device="none",
        inputs="none",
    )
    return Flow({name: Stream(name, queries, keys, layers, heads, stored)}, receipt, title)


def _parse_tokens(tokens: Tokens | Iterable[str]) -> Tokens:
    if isinstance(tokens, str):
        raise BadArrays(
            "The tokens are one string.",
            "Expected one label for each query and key.",
            "Pass a list of strings.",
        )
    return tokens if isinstance(tokens, Tokens) else Tokens.plain(tokens)


def _parse_array(numbers: "ArrayLike", name: str, axes: tuple[str, ...]) -> Array:
    """Return a float32 copy of numbers from any library."""
    if hasattr(numbers, "detach"):  # torch, without importing it: numpy has no bfloat16
        numbers = numbers.detach().cpu().float().numpy()
    try:
        array = np.array(numbers, dtype=np.float32, order="C")
    except (TypeError, ValueError) as error:
        raise BadArrays(
            f"{name} cannot be read as numbers ({error}).",
            f"Expected an array with the axes {', '.join(axes)}.",
            "Stack the layers into one array; they must have equal shapes.",
        ) from error
    if array.ndim != len(axes) or 0 in array.shape:
        raise BadArrays(
            f"{name} has shape {array.shape}.",
            f"Expected the axes {', '.join(axes)}, none of them empty.",
            "Add the missing axes; drop a batch axis of one with weights[:, 0].",
        )
    if not np.isfinite(array).all():
        raise BadArrays(
            f"{name} holds NaN or infinite numbers.",
            "Expected finite numbers.",
            "Look for the layer that produced them, or drop fully masked rows.",
        )
    if (array < 0).any():
        raise BadArrays(
            f"{name} holds negative numbers (the lowest is {array.min():.3g}).",
            "Weights after softmax and norms are never negative.",
            "Pass the weights after the softmax.",
        )
    return array


def _check_shape(shape: tuple[int, ...], expected: tuple[int, ...], name: str = "weights") -> None:
    if shape != expected:
        raise BadArrays(
            f"{name} has {' × '.join(map(str, shape))} entries.",
            f"Expected {' × '.join(map(str, expected))}, from the tokens and weights.",
            "Pass one label for each query and key, in the order of the weights.",
        )


def _check_rows(alpha: Array) -> None:
    sums = alpha.sum(axis=-1, dtype=np.float64)
    if (np.abs(sums - 1) > ROW_SUM_SLACK["bfloat16"]).any():
        layer, head, query = np.unravel_index(np.abs(sums - 1).argmax(), sums.shape)
        raise BadArrays(
            f"The weights of layer {layer}, head {head}, query {query} "
            f"add up to {sums[layer, head, query]:.4g}.",
            "Expected the weights of each query to add up to 1 over the keys.",
            "Pass the weights after the softmax, with axes layer head query key.",
        )


def _infer_stream(alpha: Array, *, is_cross: bool) -> "StreamName":
    if is_cross:
        return "cross"
    above = np.triu(np.ones(alpha.shape[2:], dtype=bool), k=1)
    causal = above.any() and not alpha[..., above].any()
    return "decoder" if causal else "encoder"


def _check_layer(name: "StreamName", layer: int, alpha: Array) -> LayerCheck:
    sums = alpha.sum(axis=-1, dtype=np.float64)
    least, greatest = float(sums.min()), float(sums.max())
    exact = max(1 - least, greatest - 1) <= ROW_SUM_SLACK["float32"]
    return LayerCheck(
        stream=name,
        layer=layer,
        module="none",
        dtype="float32" if exact else "bfloat16",
        error=None,
        least_row=least,
        greatest_row=greatest,
        leak=0.0,
        bias_share=None,
    )

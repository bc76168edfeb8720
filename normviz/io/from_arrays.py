"""A flow from numbers that were computed elsewhere."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from normviz.core.axes import STREAMS, Array, Said, StreamName
from normviz.core.catalog import require_known
from normviz.core.flow import Flow
from normviz.core.receipt import ROW_SUM_SLACK, LayerCheck, Receipt
from normviz.core.stream import Layers, Stream
from normviz.core.tokens import Tokens
from normviz.errors import BadArrays


def from_arrays(
    weights: Any,
    tokens: Tokens | Iterable[str],
    *,
    value_norms: Any = None,
    target_tokens: Tokens | Iterable[str] | None = None,
    stream: Said | None = None,
    title: str = "",
) -> Flow:
    """A flow from attention weights (and norms) of any origin.

    Parameters
    ----------
    weights
        `layer head query key`; numpy, torch on any device and in any precision, or nested lists.
    tokens
        The keys: strings, or `Tokens`. They are the queries too, unless `target_tokens` is given.
    value_norms
        ‖f(x)‖ as `layer head key`. With it the flow also holds `weighted-norm`.
    target_tokens
        The queries of a cross-attention.
    stream
        `encoder`, `decoder` or `cross`; found from the weights where it is not given.
    title
        A line to show above the picture.
    """
    alpha = _array(weights, "weights", ("layer", "head", "query", "key"))
    keys = _tokens(tokens)
    queries = _tokens(target_tokens) if target_tokens is not None else keys
    layers, heads = (tuple(range(n)) for n in alpha.shape[:2])
    if stream is not None:
        require_known(stream, STREAMS, "stream")
    guess = _guess(alpha, crossing=target_tokens is not None)
    name = next((known for known in STREAMS if known == stream), guess)
    _fits(alpha.shape[2:], (len(queries), len(keys)))
    stored = {"weight": Layers(alpha)}
    if value_norms is not None:
        norms = _array(value_norms, "value_norms", ("layer", "head", "key"))
        _fits(norms.shape, (alpha.shape[0], alpha.shape[1], alpha.shape[3]), "value_norms")
        stored["value-norm"] = Layers(norms)
    _check_rows(alpha)
    receipt = Receipt(
        checks=tuple(_checked(name, layer, alpha[layer]) for layer in layers),
        model="numbers from elsewhere",
        attention="given",
        dtype="float32",
        device="none",
        inputs="none",
    )
    return Flow({name: Stream(name, queries, keys, layers, heads, stored)}, receipt, title)


def _tokens(tokens: Tokens | Iterable[str]) -> Tokens:
    if isinstance(tokens, str):
        raise BadArrays(
            "The tokens are one string.",
            "Each query and key needs a label of its own.",
            "Give a list of strings.",
        )
    return tokens if isinstance(tokens, Tokens) else Tokens.plain(tokens)


def _array(given: Any, name: str, axes: tuple[str, ...]) -> Array:
    """A private float32 copy, whatever library the numbers come from."""
    if hasattr(given, "detach"):  # torch, without importing it: numpy knows no bfloat16
        given = given.detach().cpu().float().numpy()
    try:
        array = np.array(given, dtype=np.float32, order="C")
    except (TypeError, ValueError) as error:
        raise BadArrays(
            f"{name} cannot be read as numbers ({error}).",
            f"An array with the axes {', '.join(axes)} is needed.",
            "Stack the layers into one array; they must have equal shapes.",
        ) from error
    if array.ndim != len(axes) or 0 in array.shape:
        raise BadArrays(
            f"{name} has shape {array.shape}.",
            f"Its axes must be {', '.join(axes)}, none of them empty.",
            "Add the missing axes; drop a batch axis of one with weights[:, 0].",
        )
    if not np.isfinite(array).all():
        raise BadArrays(
            f"{name} holds NaN or infinite numbers.",
            "Every entry must be finite.",
            "Look for the layer that made them, or drop fully masked rows.",
        )
    if (array < 0).any():
        raise BadArrays(
            f"{name} holds negative numbers (least: {array.min():.3g}).",
            "Weights after softmax and norms are never negative.",
            "Give the weights after the softmax.",
        )
    return array


def _fits(found: tuple[int, ...], wanted: tuple[int, ...], name: str = "weights") -> None:
    if found != wanted:
        raise BadArrays(
            f"{name} has {' × '.join(map(str, found))} places.",
            f"The tokens and weights ask for {' × '.join(map(str, wanted))}.",
            "Give one label for each query and key, in the order of the weights.",
        )


def _check_rows(alpha: Array) -> None:
    sums = alpha.sum(axis=-1, dtype=np.float64)
    if (np.abs(sums - 1) > ROW_SUM_SLACK["bfloat16"]).any():
        layer, head, query = np.unravel_index(np.abs(sums - 1).argmax(), sums.shape)
        raise BadArrays(
            f"The weights of layer {layer}, head {head}, query {query} "
            f"add up to {sums[layer, head, query]:.4g}.",
            "The weights of each query must add up to 1 over the keys.",
            "Give the weights after the softmax, with axes layer head query key.",
        )


def _guess(alpha: Array, *, crossing: bool) -> StreamName:
    if crossing:
        return "cross"
    above = np.triu(np.ones(alpha.shape[2:], dtype=bool), k=1)
    causal = above.any() and not alpha[..., above].any()
    return "decoder" if causal else "encoder"


def _checked(name: StreamName, layer: int, alpha: Array) -> LayerCheck:
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

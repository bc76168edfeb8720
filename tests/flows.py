"""Small flows with known numbers, for tests of everything that shows a flow."""

from collections.abc import Sequence

import numpy as np

from normviz.arrays import from_arrays
from normviz.axes import Array
from normviz.flow import Flow
from normviz.receipt import LayerCheck, Receipt
from normviz.stream import Layers, Stream
from normviz.tokens import Tokens

SENTENCE = ["[CLS]", "the", "animal", "was", "tired", "[SEP]"]

NASTY = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<!--",
    "${alert(1)}",
    "\x00",
    "\ud800",
    "\u202egnal\u202c",
    "مرحبا",
    "漢字",
    "\n",
    "",
    "a" * 200,
)
"""Token texts that break a careless page."""


def softmax(logits: Array) -> Array:
    """Rows that add up to one over the last axis."""
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return (powers / powers.sum(axis=-1, keepdims=True)).astype(np.float32)


def random_flow(tokens: Sequence[str] = SENTENCE, *, layers: int = 3, heads: int = 4) -> Flow:
    """A flow of weights and norms drawn from a seeded generator."""
    draw = np.random.default_rng(0)
    count = len(tokens)
    weights = softmax(draw.normal(0, 2, (layers, heads, count, count)))
    norms = draw.gamma(5, 0.3, (layers, heads, count))
    labels = Tokens.plain(tokens, special=[token.startswith("[") for token in tokens])
    return from_arrays(weights, labels, value_norms=norms, title=" ".join(tokens[:6]))


def wordy_flow() -> Flow:
    """A text whose words have one, two and three pieces, and a special token at each end."""
    draw = np.random.default_rng(1)
    tokens = Tokens(
        pieces=("[CLS]", "un", "##believ", "##able", "cat", "##s", "[SEP]"),
        ids=(101, 1, 2, 3, 4, 5, 102),
        special=(True, False, False, False, False, False, True),
        words=(0, 1, 1, 1, 2, 2, 3),
        categories=("[CLS]", "other", "other", "other", "other", "other", "[SEP]"),
        spellings=("[CLS]", "unbelievable", "cats", "[SEP]"),
    )
    weights = softmax(draw.normal(0, 2, (2, 2, 7, 7)))
    return from_arrays(weights, tokens, value_norms=draw.gamma(5, 0.3, (2, 2, 7)))


def two_streams() -> Flow:
    """A translation: an encoder with every measure, and a cross-attention with other numbers.

    Only some layers and heads are held, and the two streams do not hold the same ones.
    """
    source, target = Tokens.plain(["le", "chat", "</s>"]), Tokens.plain(["the", "cat"])
    encoder = Stream(
        "encoder",
        source,
        source,
        layers=(0, 2),
        heads=(1, 3),
        stored={
            "weight": Layers(softmax(np.arange(36, dtype=np.float32).reshape(2, 2, 3, 3) % 7)),
            "value-norm": Layers((np.arange(12, dtype=np.float32).reshape(2, 2, 3) + 1) / 4),
            "attention": Layers((np.arange(18, dtype=np.float32).reshape(2, 3, 3) + 1) / 3),
        },
    )
    cross = Stream(
        "cross",
        target,
        source,
        layers=(1,),
        heads=(0,),
        stored={"weight": Layers(softmax(np.float32([[[[0, -90, 1], [3, 2, -30]]]])))},
    )
    checks = [check(stream.name, layer) for stream in (encoder, cross) for layer in stream.layers]
    return Flow({"encoder": encoder, "cross": cross}, receipt(checks), "le chat")


def check(stream: str, layer: int, error: float = 2.5e-7) -> LayerCheck:
    """One layer that adds up, unless the error says otherwise."""
    return LayerCheck(stream, layer, "out", "float32", error, 1.0, 1.0, 0.0, 0.01)


def receipt(checks: Sequence[LayerCheck]) -> Receipt:
    """A receipt that names nothing but its checks."""
    return Receipt(tuple(checks), "tiny", "eager", "float32", "cpu", "none")


WEIGHTS_ONLY = from_arrays([[[[0.25, 0.75], [0.5, 0.5]]]], ["a", "b"])
"""A flow that knows nothing of norms."""

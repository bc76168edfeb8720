"""Small flows with known numbers, for tests of everything that shows a flow."""

import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from normviz.core.axes import Array
from normviz.core.catalog import LADDER, MEASURES
from normviz.core.chart import Chart, Series
from normviz.core.flow import Flow
from normviz.core.receipt import LayerCheck, Receipt, RungCheck
from normviz.core.stream import Layers, Stream
from normviz.core.tokens import Tokens
from normviz.io.from_arrays import from_arrays
from normviz.view.state import ACROSS, VIEWS

SENTENCE = ["[CLS]", "the", "animal", "was", "tired", "[SEP]"]

VIEWS_OF_A_TEXT = tuple(view for view in VIEWS if view != ACROSS)
"""The views that every flow has; the others need two texts."""

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
        word_texts=("[CLS]", "unbelievable", "cats", "[SEP]"),
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


SOURCE = Tokens(
    pieces=("Ten", "go", "tres", "gat", "os", ".", "</s>"),
    ids=(3, 4, 5, 6, 7, 8, 0),
    special=(False, False, False, False, False, False, True),
    words=(0, 0, 1, 2, 2, 3, 4),
    categories=("other",) * 5 + ("punctuation", "[SEP]"),
    word_texts=("Tengo", "tres", "gatos", ".", "</s>"),
)
TARGET = Tokens(
    pieces=("<pad>", "I", "have", "three", "cat", "s", "."),
    ids=(1, 9, 10, 11, 12, 13, 8),
    special=(True, False, False, False, False, False, False),
    words=(0, 1, 2, 3, 4, 4, 5),
    categories=("special", "other", "other", "other", "other", "other", "punctuation"),
    word_texts=("<pad>", "I", "have", "three", "cats", "."),
)


def translation_flow() -> Flow:
    """A translation with every stream: words of several pieces, an end and a start token."""
    draw = np.random.default_rng(8)
    ends = {"encoder": (SOURCE, SOURCE), "decoder": (TARGET, TARGET), "cross": (TARGET, SOURCE)}
    streams = {}
    for name, (queries, keys) in ends.items():
        size = (2, 3, len(queries), len(keys))
        stored = {
            "weight": Layers(softmax(draw.normal(0, 2, size))),
            "value-norm": Layers(draw.gamma(5, 0.3, (2, 3, len(keys))).astype(np.float32)),
            "attention": Layers(draw.gamma(1, 1, (2, *size[2:])).astype(np.float32)),
        }
        streams[name] = Stream(name, queries, keys, (0, 1), (0, 1, 2), stored)
    checks = [check(name, layer) for name in streams for layer in (0, 1)]
    return Flow(streams, receipt(checks), "Tengo tres gatos. → I have three cats.")


def check(stream: str, layer: int, error: float = 2.5e-7) -> LayerCheck:
    """One layer that adds up, unless the error says otherwise."""
    return LayerCheck(stream, layer, "out", "float32", error, 1.0, 1.0, 0.0, 0.01)


def receipt(checks: Sequence[LayerCheck]) -> Receipt:
    """A receipt that names nothing but its checks."""
    return Receipt(tuple(checks), "tiny", "eager", "float32", "cpu", "none")


def flow_of(
    measures: Mapping[str, object], tokens: Tokens | Sequence[str], *, stream: str = "encoder"
) -> Flow:
    """A self-attention that holds these arrays, whatever is in them, under names of the catalog."""
    arrays = {name: np.array(values, np.float32) for name, values in measures.items()}
    labels = tokens if isinstance(tokens, Tokens) else Tokens.plain(tokens)
    layers = range(len(next(iter(arrays.values()))))
    headed = [array for name, array in arrays.items() if "head" in MEASURES[name].axes]
    heads = tuple(range(headed[0].shape[1] if headed else 1))
    stored = {name: Layers(array) for name, array in arrays.items()}
    held = Stream(stream, labels, labels, tuple(layers), heads, stored)
    return Flow({stream: held}, receipt([check(stream, layer) for layer in layers]))


def rewritten(path: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """A saved flow with its description changed."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    plain = json.loads(members["flow.json"])
    change(plain)
    members["flow.json"] = json.dumps(plain).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


WEIGHTS_ONLY = from_arrays([[[[0.25, 0.75], [0.5, 0.5]]]], ["a", "b"])
"""A flow that knows nothing of norms."""


def ladder_flow(
    tokens: Sequence[str] = SENTENCE, *, layers: int = 2, prenorm: bool = False
) -> Flow:
    """A flow with the whole ladder, made of vectors drawn from a seeded generator.

    Of a pre-norm model two pairs of rungs coincide, and only the lower of each pair is held.
    """
    plain = random_flow(tokens, layers=layers, heads=2)
    encoder, draw, count = plain.encoder, np.random.default_rng(2), len(tokens)
    same = {"attention-block": "attention-residual", "layer-output": "feed-forward-residual"}
    rungs = [rung for rung in LADDER if not (prenorm and rung in same)]
    stored, readings = dict(encoder.stored), {}
    for rung in rungs:
        parts = draw.normal(0, 1, (layers, count, count, 8)) / (1 + draw.gamma(1, 3, (count, 1)))
        bias = draw.normal(0, 0.1, (layers, count, 8))
        whole = parts.sum(axis=2) + bias
        along = np.einsum(
            "lqkd, lqd -> lqk", parts, whole / np.linalg.norm(whole, axis=-1)[..., None]
        )
        stored[rung] = Layers(np.linalg.norm(parts, axis=-1).astype(np.float32))
        readings[f"projection:{rung}"] = Layers(along.astype(np.float32))
        readings[f"mixing:{rung}"] = Layers(
            draw.uniform(0.1, 0.9, (layers, count)).astype(np.float32)
        )
    ladder = replace(encoder, stored=stored, statistics=readings, aliases=same if prenorm else {})
    checks = [check("encoder", layer) for layer in encoder.layers]
    climbed = tuple(
        RungCheck("encoder", layer, rung, "float32", 2.5e-7, 0.05 * (place + 1) + 0.01 * layer)
        for place, rung in enumerate(rungs)
        for layer in encoder.layers
    )
    return Flow({"encoder": ladder}, replace(receipt(checks), rungs=climbed), plain.title)


def signed_flow(tokens: Sequence[str] = SENTENCE, *, layers: int = 2) -> Flow:
    """A flow with effective attention: values of two dimensions, so that much can be removed."""
    plain = random_flow(tokens, layers=layers, heads=2)
    encoder, draw = plain.encoder, np.random.default_rng(19)
    values = draw.normal(0, 1, (layers, 2, len(tokens), 2))
    basis = np.linalg.svd(values, full_matrices=False).U
    less = (encoder["weight"] @ basis @ basis.swapaxes(-1, -2)).astype(np.float32)
    sizes = {"rank": 2, "null-space": len(tokens) - 2}
    readings = {
        f"{kind}:effective-weight": Layers(np.full((layers, 2), size, np.float32))
        for kind, size in sizes.items()
    }
    stored = {**encoder.stored, "effective-weight": Layers(less)}
    return replace(plain, streams={"encoder": replace(encoder, stored=stored, statistics=readings)})


def carried_flow(tokens: Sequence[str] = SENTENCE, *, layers: int = 3) -> Flow:
    """A flow that also says how much of each input token is in every vector, layer by layer."""
    flow = random_flow(tokens, layers=layers, heads=2)
    encoder = flow.encoder
    stored = dict(encoder.stored)
    for measure in ("weight", "weighted-norm"):
        values = encoder[measure].sum(axis=1)
        divided = values / values.sum(axis=-1, keepdims=True)
        stored[f"rollout:{measure}"] = Layers(_products(divided + np.eye(len(tokens))))
    lengths = np.random.default_rng(3).gamma(2, 1, (layers, len(tokens), len(tokens)))
    stored["decomposition"] = Layers(lengths.astype(np.float32))
    return replace(flow, streams={"encoder": replace(encoder, stored=stored)})


def chart() -> Chart:
    """Two probes by two distances over four layers, with bands, and what chance would find."""
    names = [(probe, by) for probe in ("naive", "linear") for by in ("cosine", "L2")]
    curves = []
    for at, (probe, by) in enumerate(names):
        values = tuple(round(0.9 - 0.1 * at - 0.15 * layer, 3) for layer in range(4))
        low, high = (tuple(v + step for v in values) for step in (-0.04, 0.04))
        name = f"{probe} {by}"
        curves.append(Series(name, values, probe, dashed=by == "L2", low=low, high=high))
    chance = Series("chance", (0.05,) * 4, faint=True)
    return Chart(
        title="token identifiability",
        about="how often a token is found",
        label="tokens found",
        layers=(0, 1, 2, 3),
        series=(*curves, chance),
        finding="The angle finds more.",
    )


def _products(matrices: Array) -> Array:
    """The product of the first one, two, three … matrices, rows adding up to one."""
    found = [np.eye(matrices.shape[-1])]
    for matrix in matrices:
        found.append(matrix / matrix.sum(axis=-1, keepdims=True) @ found[-1])
    return np.stack(found[1:]).astype(np.float32)

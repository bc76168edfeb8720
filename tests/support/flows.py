"""Small flows with known numbers, for tests of everything that reads a flow."""

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
from normviz.view.state import CROSS_ONLY_VIEW, VIEWS

SENTENCE = ["[CLS]", "the", "animal", "was", "tired", "[SEP]"]

VIEWS_OF_A_TEXT = tuple(view for view in VIEWS if view != CROSS_ONLY_VIEW)
"""The views of flows with one text; the others need two."""

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
    """Return the softmax over the last axis."""
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return (powers / powers.sum(axis=-1, keepdims=True)).astype(np.float32)


def random_flow(tokens: Sequence[str] = SENTENCE, *, layers: int = 3, heads: int = 4) -> Flow:
    """Return a flow of weights and norms drawn from a seeded generator."""
    draw = np.random.default_rng(0)
    count = len(tokens)
    weights = softmax(draw.normal(0, 2, (layers, heads, count, count)))
    norms = draw.gamma(5, 0.3, (layers, heads, count))
    labels = Tokens.plain(tokens, special=[token.startswith("[") for token in tokens])
    return from_arrays(weights, labels, value_norms=norms, title=" ".join(tokens[:6]))


def wordy_flow() -> Flow:
    """Return a flow whose words have one to three pieces, with special tokens at both ends."""
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
    """Return a translation with an encoder stream and a cross stream.

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
    """Return a translation with all three streams, words of several pieces and special tokens."""
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


def hybrid_flow() -> Flow:
    """Return a decoder of seven layers, of which only layers 1 and 4 have attention."""
    draw = np.random.default_rng(11)
    tokens = Tokens.plain(["The", "animal", "was", "tired", "."])
    stored = {
        "weight": Layers(softmax(draw.normal(0, 2, (2, 3, 5, 5)) - 99 * (1 - np.tri(5)))),
        "value-norm": Layers(draw.gamma(5, 0.3, (2, 3, 5)).astype(np.float32)),
    }
    others = dict.fromkeys((0, 2, 3), "JambaMambaMixer") | {5: "Conv", 6: "Conv"}
    parts = "JambaMambaMixer, Conv"
    decoder = Stream(
        *("decoder", tokens, tokens, (1, 4), (0, 1, 2), stored),
        other_layers=others,
        interruption=f"there is no attention of this stream in layer 0, 2, 3, 5, 6 ({parts})",
    )
    return Flow({"decoder": decoder}, receipt([check("decoder", n) for n in (1, 4)]), "tired")


TOWERS = {
    "vision": ("encoder", (SOURCE, SOURCE)),
    "text": ("decoder", (TARGET, TARGET)),
    "text.cross": ("cross", (TARGET, SOURCE)),
}
"""The streams of `towers_flow`: their kinds, and their queries and keys."""


def towers_flow(*, more: int = 0) -> Flow:
    """Return a flow of two towers, with cross-attention between them in its second layer only.

    There may be `more` vision towers, named by number.
    """
    draw = np.random.default_rng(12)
    streams = {}
    numbered = {f"vision.{number}": TOWERS["vision"] for number in range(2, more + 2)}
    for name, (kind, (queries, keys)) in (TOWERS | numbered).items():
        layers = (1,) if kind == "cross" else (0, 1)
        size = (len(layers), 2, len(queries), len(keys))
        stored = {
            "weight": Layers(softmax(draw.normal(0, 2, size))),
            "value-norm": Layers(draw.gamma(5, 0.3, (*size[:2], len(keys))).astype(np.float32)),
            "attention": Layers(draw.gamma(1, 1, (size[0], *size[2:])).astype(np.float32)),
        }
        others = {0: "a gated layer"} if kind == "cross" else {}
        streams[name] = Stream(
            *(name, queries, keys, layers, (0, 1), stored), kind=kind, other_layers=others
        )
    checks = [check(name, 1) for name in streams]
    return Flow(streams, receipt(checks), "a picture and its caption")


def assert_same_flow(flow: Flow, other: Flow) -> None:
    """Assert that two flows hold the same tokens, numbers and receipt."""
    assert flow.receipt == other.receipt
    assert flow.title == other.title
    assert list(flow.streams) == list(other.streams)
    for name, stream in flow.streams.items():
        twin = other.streams[name]
        assert (stream.queries, stream.keys) == (twin.queries, twin.keys)
        assert (stream.layers, stream.heads) == (twin.layers, twin.heads)
        assert stream.measures == twin.measures
        assert (stream.kind, stream.interruption) == (twin.kind, twin.interruption)
        assert stream.layer_contents == twin.layer_contents
        for measure in stream:
            np.testing.assert_array_equal(stream[measure], twin[measure])


def check(stream: str, layer: int, error: float = 2.5e-7) -> LayerCheck:
    """Return the check of a layer that adds up, unless `error` is too large."""
    return LayerCheck(stream, layer, "out", "float32", error, 1.0, 1.0, 0.0, 0.01)


def receipt(checks: Sequence[LayerCheck]) -> Receipt:
    """Return a receipt with only these checks."""
    return Receipt(tuple(checks), "tiny", "eager", "float32", "cpu", "none")


def flow_of(
    measures: Mapping[str, object], tokens: Tokens | Sequence[str], *, stream: str = "encoder"
) -> Flow:
    """Return a flow with one self-attention stream that holds these arrays, by measure id."""
    arrays = {name: np.array(values, np.float32) for name, values in measures.items()}
    labels = tokens if isinstance(tokens, Tokens) else Tokens.plain(tokens)
    layers = range(len(next(iter(arrays.values()))))
    headed = [array for name, array in arrays.items() if "head" in MEASURES[name].axes]
    heads = tuple(range(headed[0].shape[1] if headed else 1))
    stored = {name: Layers(array) for name, array in arrays.items()}
    held = Stream(stream, labels, labels, tuple(layers), heads, stored)
    return Flow({stream: held}, receipt([check(stream, layer) for layer in layers]))


def rewrite_description(path: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """Apply a change to the description of a saved flow, and return its path."""
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
"""A flow without norms."""


def ladder_flow(
    tokens: Sequence[str] = SENTENCE, *, layers: int = 2, prenorm: bool = False
) -> Flow:
    """Return a flow with the whole ladder, of vectors drawn from a seeded generator.

    In a pre-norm model two pairs of rungs coincide, and only the lower of each pair is held.
    """
    plain = random_flow(tokens, layers=layers, heads=2)
    encoder, draw, count = plain.encoder, np.random.default_rng(2), len(tokens)
    aliases = {"attention-block": "attention-residual", "layer-output": "feed-forward-residual"}
    rungs = [rung for rung in LADDER if not (prenorm and rung in aliases)]
    stored, statistics = dict(encoder.stored), {}
    for rung in rungs:
        parts = draw.normal(0, 1, (layers, count, count, 8)) / (1 + draw.gamma(1, 3, (count, 1)))
        bias = draw.normal(0, 0.1, (layers, count, 8))
        whole = parts.sum(axis=2) + bias
        projection = np.einsum(
            "lqkd, lqd -> lqk", parts, whole / np.linalg.norm(whole, axis=-1)[..., None]
        )
        stored[rung] = Layers(np.linalg.norm(parts, axis=-1).astype(np.float32))
        statistics[f"projection:{rung}"] = Layers(projection.astype(np.float32))
        statistics[f"mixing:{rung}"] = Layers(
            draw.uniform(0.1, 0.9, (layers, count)).astype(np.float32)
        )
    aliases = aliases if prenorm else {}
    ladder = replace(encoder, stored=stored, statistics=statistics, aliases=aliases)
    checks = [check("encoder", layer) for layer in encoder.layers]
    rung_checks = tuple(
        RungCheck("encoder", layer, rung, "float32", 2.5e-7, 0.05 * (index + 1) + 0.01 * layer)
        for index, rung in enumerate(rungs)
        for layer in encoder.layers
    )
    return Flow({"encoder": ladder}, replace(receipt(checks), rungs=rung_checks), plain.title)


def signed_flow(tokens: Sequence[str] = SENTENCE, *, layers: int = 2) -> Flow:
    """Return a flow with effective attention, of value vectors with two dimensions."""
    plain = random_flow(tokens, layers=layers, heads=2)
    encoder, draw = plain.encoder, np.random.default_rng(19)
    values = draw.normal(0, 1, (layers, 2, len(tokens), 2))
    basis = np.linalg.svd(values, full_matrices=False).U
    less = (encoder["weight"] @ basis @ basis.swapaxes(-1, -2)).astype(np.float32)
    sizes = {"rank": 2, "null-space": len(tokens) - 2}
    statistics = {
        f"{kind}:effective-weight": Layers(np.full((layers, 2), size, np.float32))
        for kind, size in sizes.items()
    }
    stored = {**encoder.stored, "effective-weight": Layers(less)}
    return replace(
        plain, streams={"encoder": replace(encoder, stored=stored, statistics=statistics)}
    )


def carried_flow(tokens: Sequence[str] = SENTENCE, *, layers: int = 3) -> Flow:
    """Return a flow with measures that reach back to the input: rollouts and decomposition."""
    flow = random_flow(tokens, layers=layers, heads=2)
    encoder = flow.encoder
    stored = dict(encoder.stored)
    for measure in ("weight", "weighted-norm"):
        values = encoder[measure].sum(axis=1)
        shares = values / values.sum(axis=-1, keepdims=True)
        stored[f"rollout:{measure}"] = Layers(_products(shares + np.eye(len(tokens))))
    lengths = np.random.default_rng(3).gamma(2, 1, (layers, len(tokens), len(tokens)))
    stored["decomposition"] = Layers(lengths.astype(np.float32))
    return replace(flow, streams={"encoder": replace(encoder, stored=stored)})


def chart() -> Chart:
    """Return a chart of two probes by two distances over four layers, with bands and chance."""
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
    """Return the product of the first one, two, three … matrices, with normalized rows."""
    products = [np.eye(matrices.shape[-1])]
    for matrix in matrices:
        products.append(matrix / matrix.sum(axis=-1, keepdims=True) @ products[-1])
    return np.stack(products[1:]).astype(np.float32)


def plain_state(flow: Flow, state: dict[str, Any]) -> dict[str, Any]:
    """A state with one measure of the first stream and layer, unless it says otherwise.

    Flows open on two measures in the layer where they differ most; `opening={}` leaves that.
    """
    if "opening" in state:
        return state["opening"]
    held = [s for s in flow.streams.values() if s.measures and s.layers]
    name = state.get(
        "stream", None if state.get("view") == "alignment" or not held else held[0].name
    )
    stream = flow.streams.get(name) if name else None
    if stream is None:
        return state
    measure = "weighted-norm" if "weighted-norm" in stream else stream.measures[0]
    plain = {"stream": name, "measure": measure, "layer": stream.layers[0], "normalize": "layer"}
    return plain | {"view": "flow"} | state

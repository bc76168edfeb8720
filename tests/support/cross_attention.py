"""A cross-attention between two short sentences, with words of several pieces."""

from dataclasses import replace

import numpy as np
from flows import two_streams

from normviz.core.stream import Layers, Stream
from normviz.core.tokens import Tokens

LAYERS, HEADS = (0, 1), (0, 1, 2)


def tokens(*pieces, words, word_texts, special):
    """Return tokens with these words; ids count up."""
    return Tokens(
        pieces=pieces,
        ids=tuple(range(len(pieces))),
        special=tuple(at in special for at in range(len(pieces))),
        words=words,
        categories=tuple("special" if at in special else "other" for at in range(len(pieces))),
        word_texts=word_texts,
    )


SOURCE = tokens(
    "los", "gat", "os", "duermen", "</s>",
    words=(0, 1, 1, 2, 3), word_texts=("los", "gatos", "duermen", "</s>"), special={4},
)  # fmt: skip
TARGET = tokens(
    "<pad>", "the", "ca", "ts", "sleep",
    words=(0, 1, 2, 2, 3), word_texts=("<pad>", "the", "cats", "sleep"), special={0},
)  # fmt: skip


def translation(seed=0, queries=TARGET, keys=SOURCE, **fixed):
    """Return a flow of cross-attention between these tokens, with random or fixed numbers."""
    generator = np.random.default_rng(seed)
    shape = (len(LAYERS), len(HEADS), len(queries), len(keys))
    arrays = {
        "weight": generator.dirichlet(np.ones(len(keys)), shape[:-1]),
        "value-norm": generator.gamma(3, 1, (shape[0], shape[1], shape[3])),
        "attention": generator.gamma(3, 1, (shape[0], *shape[2:])),
    }
    stored = {name: Layers(np.float32(array)) for name, array in (arrays | fixed).items()}
    stream = Stream("cross", queries, keys, LAYERS, HEADS, stored)
    return replace(two_streams(), streams={"cross": stream})

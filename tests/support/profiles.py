"""Small profiles for tests, made of random flows without any model."""

from functools import reduce
from operator import add

import numpy as np
from flows import flow_of

from normviz.core.tokens import Tokens
from normviz.corpus.categories import Kinds
from normviz.corpus.moments import Moments
from normviz.corpus.profile import Profile
from normviz.corpus.summarize import tallied

WORDS = ("[CLS]", "the", "cat", ",", "12", "[SEP]")
KINDS = ("[CLS]", "other", "other", "punctuation", "other", "[SEP]")


def random_profile(seed=0, *, model="small", texts=5, layers=3, failures=(), mixing=False):
    """A profile of random texts, in which [CLS] has much weight and short vectors."""
    draw = np.random.default_rng(seed)
    plain = Tokens.plain(WORDS, special=[word.startswith("[") for word in WORDS])
    named = {name: getattr(plain, name) for name in ("pieces", "special", "words", "word_texts")}
    tokens = Tokens(**named, ids=tuple(range(6)), categories=KINDS)
    tallies = []
    for _ in range(texts):
        weight = draw.dirichlet([9, 2, 2, 2, 2, 2], size=(layers, 2, 6))
        norm = draw.gamma(20.0, size=(layers, 2, 6)) * [0.05, 1, 1, 1, 1, 0.5]
        one = tallied(flow_of({"weight": weight, "value-norm": norm}, tokens), Kinds.asked(None))
        if mixing:
            ratios = draw.uniform(0.2, 0.4, size=(layers, 1))
            one.means["mixing:attention-block", "all"] = Moments.of(ratios)
        tallies.append(one)
    numbers = tuple(range(layers))
    return Profile(model, "self", numbers, (0, 1), reduce(add, tallies), tuple(failures))


TEXTS = [
    "The cat sat on the mat.",
    "A dog, and a cat, ran.",
    ("Where is it?", "It is here."),
    "Nobody knows what the old man in the boat was thinking of, when he went out to sea.",
    "Stop!",
    "He has 12 apples, 3 pears and no bread at all.",
    ("One sentence is short.", "Another one, on the other hand, goes on for quite a while."),
]


def same(one, other):
    """Two profiles of one corpus; in single precision a model rounds otherwise in other company."""
    assert (one.texts, one.tokens) == (other.texts, other.tokens)
    for part in ("masses", "shares", "means", "spreads", "shapes", "apart"):
        held = getattr(one.tally, part)
        assert held.keys() == getattr(other.tally, part).keys()
        for key, moments in held.items():
            against = getattr(other.tally, part)[key]
            np.testing.assert_array_equal(moments.count, against.count)
            np.testing.assert_allclose(moments.means, against.means, rtol=1e-4, atol=1e-6)
    for kind, relation in one.tally.relations.items():
        assert relation.pairs == other.tally.relations[kind].pairs

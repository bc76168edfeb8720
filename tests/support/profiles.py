"""Small profiles of random flows for tests, without a model."""

from functools import reduce
from operator import add

import numpy as np
from flows import flow_of

from normviz.core.tokens import Tokens
from normviz.corpus.categories import Categories
from normviz.corpus.moments import Moments
from normviz.corpus.profile import Profile
from normviz.corpus.profile_file import MOMENTS
from normviz.corpus.summarize import summarize_text

WORDS = ("[CLS]", "the", "cat", ",", "12", "[SEP]")
CATEGORIES = ("[CLS]", "other", "other", "punctuation", "other", "[SEP]")


def random_profile(seed=0, *, model="small", texts=5, layers=3, failures=(), mixing=False):
    """Return a profile of random texts, in which [CLS] has much weight and short vectors."""
    draw = np.random.default_rng(seed)
    plain = Tokens.plain(WORDS, special=[word.startswith("[") for word in WORDS])
    fields = {name: getattr(plain, name) for name in ("pieces", "special", "words", "word_texts")}
    tokens = Tokens(**fields, ids=tuple(range(6)), categories=CATEGORIES)
    sums = []
    for _ in range(texts):
        weight = draw.dirichlet([9, 2, 2, 2, 2, 2], size=(layers, 2, 6))
        norm = draw.gamma(20.0, size=(layers, 2, 6)) * [0.05, 1, 1, 1, 1, 0.5]
        flow = flow_of({"weight": weight, "value-norm": norm}, tokens)
        one = summarize_text(flow, Categories.from_user(None))
        if mixing:
            ratios = draw.uniform(0.2, 0.4, size=(layers, 1))
            one.means["mixing:attention-block", "all"] = Moments.of(ratios)
        sums.append(one)
    numbers = tuple(range(layers))
    return Profile(model, "self", numbers, (0, 1), reduce(add, sums), tuple(failures))


TEXTS = [
    "The cat sat on the mat.",
    "A dog, and a cat, ran.",
    ("Where is it?", "It is here."),
    "Nobody knows what the old man in the boat was thinking of, when he went out to sea.",
    "Stop!",
    "He has 12 apples, 3 pears and no bread at all.",
    ("One sentence is short.", "Another one, on the other hand, goes on for quite a while."),
]


def assert_same_profile(first, second):
    """Compare two profiles of one corpus; in float32, results depend slightly on the batch."""
    assert (first.texts, first.tokens) == (second.texts, second.tokens)
    for table in MOMENTS:
        held, expected = getattr(first.sums, table), getattr(second.sums, table)
        assert held.keys() == expected.keys()
        for key, moments in held.items():
            np.testing.assert_array_equal(moments.count, expected[key].count)
            np.testing.assert_allclose(moments.means, expected[key].means, rtol=1e-4, atol=1e-6)
    for category, histogram in first.sums.correlations.items():
        assert histogram.pairs == second.sums.correlations[category].pairs

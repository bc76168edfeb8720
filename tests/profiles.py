"""Small profiles for tests, made of random flows without any model."""

from functools import reduce
from operator import add

import numpy as np
from flows import flow_of

from normviz.corpus.kinds import Kinds
from normviz.corpus.moments import Moments
from normviz.corpus.profile import Profile
from normviz.corpus.telling import tallied
from normviz.tokens import Tokens

WORDS = ("[CLS]", "the", "cat", ",", "12", "[SEP]")
KINDS = ("[CLS]", "other", "other", "punctuation", "other", "[SEP]")


def random_profile(seed=0, *, model="small", texts=5, layers=3, failures=(), mixing=False):
    """A profile of random texts, in which [CLS] has much weight and short vectors."""
    draw = np.random.default_rng(seed)
    plain = Tokens.plain(WORDS, special=[word.startswith("[") for word in WORDS])
    named = {name: getattr(plain, name) for name in ("pieces", "special", "words", "spellings")}
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

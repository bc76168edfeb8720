"""A made-up pair of languages, in which it is known which word became which.

The source says `subject verb object place time`, and adjectives before their noun. The target says
`time subject place object verb`, adjectives after their noun and prepositions after it all, with an
article before every noun and a mark before every object. Most words are translated one by one. Some
become two or three words, and of a verb's the first then stays behind the subject; some become
nothing; some verbs have a particle, beyond their object, and become one word together with it; some
adjectives have two translations, between which their noun decides.
"""

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate

from normviz.core.gold import Gold

Words = tuple[str, ...]
Numbers = tuple[int, ...]
SHORTEST, LONGEST = 4, 14
"""How many words a source sentence has, at least and at most."""
SOURCE_SOUNDS, TARGET_SOUNDS = ("bdgkmprt", "aiou"), ("fhjlnsvwz", "aeiy")
"""Consonants and vowels; no consonant is in both languages, so no word is."""


@dataclass(frozen=True)
class Kind:
    """A class of words: how many there are, how long they are, how many words they become.

    Fertilities go down the ranks of a class in turn, so that each has frequent words and rare ones.
    """

    count: int
    syllables: Numbers
    fertilities: Numbers = (1,)


KINDS = {
    "noun": Kind(100, (2, 3, 3, 4), (1, 1, 1, 2)),
    "adjective": Kind(40, (2, 3, 3, 4), (1, 1, 1, 1, 2)),
    "verb": Kind(50, (2, 3, 3, 4), (1, 1, 2, 1, 1, 3)),
    "adverb": Kind(20, (2, 3, 4), (1, 1, 2, 3)),
    "time": Kind(12, (2, 3, 4), (1, 2, 1)),
    "preposition": Kind(8, (1, 2)),
    "conjunction": Kind(3, (1,)),
    "filler": Kind(4, (1, 2), (0,)),
}


@dataclass(frozen=True)
class Entry:
    """What is said in the source, and what it becomes beside a noun of either gender."""

    source: Words
    forms: tuple[Words, Words]
    gender: int = 0
    """Which of two articles a noun has, and which form its adjectives take."""


@dataclass(frozen=True)
class Language:
    """The words of both languages, the most frequent of each class first."""

    entries: dict[str, list[Entry]]
    articles: Words
    mark: str
    """What stands before an object, and comes from no word of the source."""


@dataclass(frozen=True)
class Sentence:
    """A sentence and its translation, words cut at spaces, and which became which."""

    source: str
    target: str
    gold: Gold


def corpus(seed: int, learned: int, held_out: int) -> tuple[list[Sentence], list[Sentence]]:
    """Sentences to learn from and sentences to judge by; no two are the same, on either side."""
    spoken, draw = language(seed), random.Random(seed)  # noqa: S311 (no secret)
    found: list[Sentence] = []
    seen: set[str] = set()
    while len(found) < learned + held_out:
        new = sentence(spoken, draw)
        if seen.isdisjoint((new.source, new.target)):
            seen |= {new.source, new.target}
            found.append(new)
    return found[held_out:], found[:held_out]


def language(seed: int) -> Language:
    """The languages of a seed."""
    draw = random.Random(seed)  # noqa: S311 (no secret)
    source, target = Mint(draw, *SOURCE_SOUNDS), Mint(draw, *TARGET_SOUNDS)
    articles, mark = (target.word(1), target.word(1)), target.word(1)
    particles = [source.word(1) for _ in range(3)]
    entries: dict[str, list[Entry]] = {}
    for name, kind in KINDS.items():
        entries[name] = []
        for rank in range(kind.count):
            said = source.words(1, kind.syllables)
            if name == "verb" and rank % 5 == 1:
                said += (draw.choice(particles),)
            fertility = kind.fertilities[rank % len(kind.fertilities)]
            form = target.words(fertility, kind.syllables)
            decided = name == "adjective" and rank % 3 == 1
            other = target.words(fertility, kind.syllables) if decided else form
            entries[name].append(Entry(said, (form, other), gender=draw.randrange(2)))
    return Language(entries, articles, mark)


@dataclass
class Mint:
    """Coins words that can be pronounced, none of them twice."""

    draw: random.Random
    consonants: str
    vowels: str
    coined: set[str] = field(default_factory=set)

    def word(self, syllables: int) -> str:
        """A new word of so many syllables."""
        sounds = (self.consonants, self.vowels) * syllables
        while (word := "".join(map(self.draw.choice, sounds))) in self.coined:
            pass
        self.coined.add(word)
        return word

    def words(self, count: int, syllables: Numbers) -> Words:
        """So many new words, each as long as one of these."""
        return tuple(self.word(self.draw.choice(syllables)) for _ in range(count))


@dataclass(frozen=True)
class Told:
    """A word of the target, and the places of the source words that it comes from."""

    word: str
    sure: Numbers = ()
    possible: Numbers = ()


@dataclass
class Speaker:
    """Says words of the source one after the other, and tells them in the target's order."""

    language: Language
    draw: random.Random
    said: list[str] = field(default_factory=list)

    def clause(self) -> list[Told]:
        """Say a whole clause."""
        subject = self.phrase()
        self.filler()
        verb = self.chosen("verb")
        stem, *particle = verb.source
        places = self.say(stem)
        how = self.told("adverb") if self.happens(0.3) else []
        what = [Told(self.language.mark), *self.phrase()] if self.happens(0.7) else []
        places += self.say(*particle)
        where = self.beside() if self.happens(0.3) else []
        when = self.told("time") if self.happens(0.3) else []
        doing = [Told(word, places) for word in verb.forms[0]]
        apart = min(1, len(doing) - 1)
        return [*when, *subject, *doing[:apart], *where, *what, *how, *doing[apart:]]

    def phrase(self) -> list[Told]:
        """Say a noun with its adjectives."""
        noun = self.chosen("noun")
        after: list[Told] = []
        for _ in range(self.draw.choice((0, 0, 1, 1, 2))):
            self.filler()
            after = self.told("adjective", noun.gender) + after
        places = self.say(*noun.source)
        article = Told(self.language.articles[noun.gender], possible=places)
        return [article, *(Told(word, places) for word in noun.forms[0]), *after]

    def beside(self) -> list[Told]:
        """Say a preposition with its noun."""
        preposition = self.told("preposition")
        return self.phrase() + preposition

    def filler(self) -> None:
        """Say, at times, a word that becomes nothing."""
        if self.happens(0.15):
            self.told("filler")

    def told(self, kind: str, gender: int = 0) -> list[Told]:
        """Say a word of this class, and tell it in the form that goes with a gender."""
        entry = self.chosen(kind)
        places = self.say(*entry.source)
        return [Told(word, places) for word in entry.forms[gender]]

    def say(self, *words: str) -> Numbers:
        """Say words of the source: the places where they stand."""
        self.said += words
        return tuple(range(len(self.said) - len(words), len(self.said)))

    def chosen(self, kind: str) -> Entry:
        """A word of this class, one of the first more often than one of the last."""
        entries = self.language.entries[kind]
        return self.draw.choices(entries, cum_weights=_zipf(len(entries)))[0]

    def happens(self, probability: float) -> bool:
        """Whether something happens that does so with this probability."""
        return self.draw.random() < probability


def sentence(spoken: Language, draw: random.Random) -> Sentence:
    """A sentence of one clause or two that is neither too short nor too long."""
    while True:
        speaker = Speaker(spoken, draw)
        told = speaker.clause()
        if speaker.happens(0.3):
            told += speaker.told("conjunction") + speaker.clause()
        if SHORTEST <= len(speaker.said) <= LONGEST:
            target = " ".join(word.word for word in told)
            sure = _links(word.sure for word in told)
            return Sentence(
                " ".join(speaker.said), target, Gold(sure, _links(word.possible for word in told))
            )


def _links(places: Iterable[Numbers]) -> frozenset[tuple[int, int]]:
    """Links to target words in order, from the places of each one's source words."""
    return frozenset((source, target) for target, row in enumerate(places) for source in row)


@cache
def _zipf(count: int) -> tuple[float, ...]:
    """Weights that fall with the rank, added up."""
    return tuple(accumulate(1 / (rank + 2) for rank in range(count)))

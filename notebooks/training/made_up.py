"""Generate sentence pairs of a made-up language and its translation, with known word alignments.

The order of the source is `subject verb object place time`, with adjectives before their noun. The
order of the target is `time subject place object verb`, with adjectives after their noun and
prepositions after the noun phrase, an article before every noun and a marker before every object.
Most words are translated one by one. Some become two or three words; the first word of such a verb
then follows the subject. Some words are dropped. Some verbs have a particle after their object and
are translated together with it as one word. Some adjectives have two translations; the gender of
their noun decides which is used.
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
"""The least and the greatest number of words in a source sentence."""
SOURCE_SOUNDS, TARGET_SOUNDS = ("bdgkmprt", "aiou"), ("fhjlnsvwz", "aeiy")
"""Consonants and vowels. The languages share no consonant, and therefore no word."""


@dataclass(frozen=True)
class WordClass:
    """A class of words: their number, lengths in syllables, and numbers of target words.

    Fertilities are assigned cyclically by rank, so that each has frequent and rare words.
    """

    count: int
    syllables: Numbers
    fertilities: Numbers = (1,)


WORD_CLASSES = {
    "noun": WordClass(100, (2, 3, 3, 4), (1, 1, 1, 2)),
    "adjective": WordClass(40, (2, 3, 3, 4), (1, 1, 1, 1, 2)),
    "verb": WordClass(50, (2, 3, 3, 4), (1, 1, 2, 1, 1, 3)),
    "adverb": WordClass(20, (2, 3, 4), (1, 1, 2, 3)),
    "time": WordClass(12, (2, 3, 4), (1, 2, 1)),
    "preposition": WordClass(8, (1, 2)),
    "conjunction": WordClass(3, (1,)),
    "filler": WordClass(4, (1, 2), (0,)),
}


@dataclass(frozen=True)
class Entry:
    """A source word or phrase, and its translation with a noun of either gender."""

    source: Words
    forms: tuple[Words, Words]
    gender: int = 0
    """Which of two articles a noun has, and which form its adjectives take."""


@dataclass(frozen=True)
class Language:
    """The vocabulary of both languages, the most frequent words of each class first."""

    entries: dict[str, list[Entry]]
    articles: Words
    object_marker: str
    """A target word before every object, without a source word."""


@dataclass(frozen=True)
class Sentence:
    """A sentence and its translation, with words separated by spaces, and their alignment."""

    source: str
    target: str
    gold: Gold


def make_corpus(seed: int, learned: int, held_out: int) -> tuple[list[Sentence], list[Sentence]]:
    """Return training and test sentences; no source or target sentence occurs twice."""
    language, rng = make_language(seed), random.Random(seed)  # noqa: S311 (no secret)
    sentences: list[Sentence] = []
    seen: set[str] = set()
    while len(sentences) < learned + held_out:
        new = make_sentence(language, rng)
        if seen.isdisjoint((new.source, new.target)):
            seen |= {new.source, new.target}
            sentences.append(new)
    return sentences[held_out:], sentences[:held_out]


def make_language(seed: int) -> Language:
    """Return the vocabulary of both languages for a seed."""
    rng = random.Random(seed)  # noqa: S311 (no secret)
    source, target = WordGenerator(rng, *SOURCE_SOUNDS), WordGenerator(rng, *TARGET_SOUNDS)
    articles, object_marker = (target.new_word(1), target.new_word(1)), target.new_word(1)
    particles = [source.new_word(1) for _ in range(3)]
    entries: dict[str, list[Entry]] = {}
    for name, word_class in WORD_CLASSES.items():
        entries[name] = []
        for rank in range(word_class.count):
            words = source.new_words(1, word_class.syllables)
            if name == "verb" and rank % 5 == 1:
                words += (rng.choice(particles),)
            fertility = word_class.fertilities[rank % len(word_class.fertilities)]
            form = target.new_words(fertility, word_class.syllables)
            has_two_forms = name == "adjective" and rank % 3 == 1
            second = target.new_words(fertility, word_class.syllables) if has_two_forms else form
            entries[name].append(Entry(words, (form, second), gender=rng.randrange(2)))
    return Language(entries, articles, object_marker)


@dataclass
class WordGenerator:
    """Generates pronounceable words without repetition."""

    rng: random.Random
    consonants: str
    vowels: str
    used: set[str] = field(default_factory=set)

    def new_word(self, syllables: int) -> str:
        """Return a new word with this number of syllables."""
        sounds = (self.consonants, self.vowels) * syllables
        while (word := "".join(map(self.rng.choice, sounds))) in self.used:
            pass
        self.used.add(word)
        return word

    def new_words(self, count: int, syllables: Numbers) -> Words:
        """Return new words; each has one of these numbers of syllables."""
        return tuple(self.new_word(self.rng.choice(syllables)) for _ in range(count))


@dataclass(frozen=True)
class TargetWord:
    """A target word, and the positions of the source words it translates."""

    word: str
    sure: Numbers = ()
    possible: Numbers = ()


@dataclass
class SentenceBuilder:
    """Appends words to the source, and returns their translations in the order of the target."""

    language: Language
    rng: random.Random
    source: list[str] = field(default_factory=list)

    def add_clause(self) -> list[TargetWord]:
        """Append a whole clause."""
        subject = self.add_noun_phrase()
        self.maybe_add_filler()
        verb = self.draw_entry("verb")
        stem, *particle = verb.source
        positions = self.append(stem)
        adverb = self.add_word("adverb") if self.happens(0.3) else []
        marker = TargetWord(self.language.object_marker)
        obj = [marker, *self.add_noun_phrase()] if self.happens(0.7) else []
        positions += self.append(*particle)
        place = self.add_prepositional_phrase() if self.happens(0.3) else []
        time = self.add_word("time") if self.happens(0.3) else []
        verbs = [TargetWord(word, positions) for word in verb.forms[0]]
        fronted = min(1, len(verbs) - 1)
        return [*time, *subject, *verbs[:fronted], *place, *obj, *adverb, *verbs[fronted:]]

    def add_noun_phrase(self) -> list[TargetWord]:
        """Append a noun with its adjectives."""
        noun = self.draw_entry("noun")
        adjectives: list[TargetWord] = []
        for _ in range(self.rng.choice((0, 0, 1, 1, 2))):
            self.maybe_add_filler()
            adjectives = self.add_word("adjective", noun.gender) + adjectives
        positions = self.append(*noun.source)
        article = TargetWord(self.language.articles[noun.gender], possible=positions)
        return [article, *(TargetWord(word, positions) for word in noun.forms[0]), *adjectives]

    def add_prepositional_phrase(self) -> list[TargetWord]:
        """Append a preposition with its noun."""
        preposition = self.add_word("preposition")
        return self.add_noun_phrase() + preposition

    def maybe_add_filler(self) -> None:
        """Append, with some probability, a word that is not translated."""
        if self.happens(0.15):
            self.add_word("filler")

    def add_word(self, word_class: str, gender: int = 0) -> list[TargetWord]:
        """Append a word of this class, and return its translation for a gender."""
        entry = self.draw_entry(word_class)
        positions = self.append(*entry.source)
        return [TargetWord(word, positions) for word in entry.forms[gender]]

    def append(self, *words: str) -> Numbers:
        """Append words to the source, and return their positions."""
        self.source += words
        return tuple(range(len(self.source) - len(words), len(self.source)))

    def draw_entry(self, word_class: str) -> Entry:
        """Return a random word of this class; frequencies fall with the rank."""
        entries = self.language.entries[word_class]
        return self.rng.choices(entries, cum_weights=_zipf(len(entries)))[0]

    def happens(self, probability: float) -> bool:
        """Return True with this probability."""
        return self.rng.random() < probability


def make_sentence(language: Language, rng: random.Random) -> Sentence:
    """Return a random sentence of one or two clauses within the limits of length."""
    while True:
        builder = SentenceBuilder(language, rng)
        words = builder.add_clause()
        if builder.happens(0.3):
            words += builder.add_word("conjunction") + builder.add_clause()
        if SHORTEST <= len(builder.source) <= LONGEST:
            gold = Gold(_links(w.sure for w in words), _links(w.possible for w in words))
            return Sentence(" ".join(builder.source), " ".join(w.word for w in words), gold)


def _links(positions: Iterable[Numbers]) -> frozenset[tuple[int, int]]:
    """Return links (source, target), from the source positions of each target word in order."""
    return frozenset((source, target) for target, row in enumerate(positions) for source in row)


@cache
def _zipf(count: int) -> tuple[float, ...]:
    """Return cumulative weights that fall with the rank."""
    return tuple(accumulate(1 / (rank + 2) for rank in range(count)))

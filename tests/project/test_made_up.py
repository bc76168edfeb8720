"""The made-up languages: the gold links are the true word alignments."""

import hashlib
import random
import re
import sys
from collections import Counter, defaultdict
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import ROOT

sys.path.append(str(ROOT / "notebooks" / "training"))

import made_up

LANGUAGE = made_up.make_language(0)
seeds = st.integers(0, 2**32)
few_examples = settings(max_examples=50, deadline=None)


def sentence_of(seed):
    return made_up.make_sentence(LANGUAGE, random.Random(seed))


def aligned_groups(gold):
    """Map groups of source words that are translated together to their target words, in order."""
    sources = defaultdict(set)
    for source, target in gold.sure:
        sources[target].add(source)
    together = defaultdict(list)
    for target in sorted(sources):
        together[tuple(sorted(sources[target]))].append(target)
    return dict(together)


@pytest.fixture(scope="module")
def dictionary():
    translations = defaultdict(set)
    for entries in LANGUAGE.entries.values():
        for entry in entries:
            translations[entry.source] |= set(entry.forms)
    return translations


@pytest.fixture(scope="module")
def sentences():
    learned, held_out = made_up.make_corpus(0, learned=700, held_out=300)
    return learned + held_out


@few_examples
@given(seeds)
def test_every_link_is_inside_its_sentences(seed):
    pair = sentence_of(seed)
    assert pair.gold.sure
    for source, target in pair.gold.possible:
        assert source < len(pair.source.split())
        assert target < len(pair.target.split())


@few_examples
@given(seeds)
def test_source_sentences_have_4_to_14_words(seed):
    assert 4 <= len(sentence_of(seed).source.split()) <= 14


def test_the_dictionary_applied_along_the_links_gives_the_target(sentences, dictionary):
    for pair in sentences:
        source, target = pair.source.split(), pair.target.split()
        translated = [None] * len(target)
        for sources, targets in aligned_groups(pair.gold).items():
            words = tuple(target[position] for position in targets)
            assert words in dictionary[tuple(source[position] for position in sources)]
            for position, word in zip(targets, words, strict=True):
                assert translated[position] is None
                translated[position] = word
        rest = {word for word, own in zip(target, translated, strict=True) if own is None}
        assert rest <= {LANGUAGE.object_marker, *LANGUAGE.articles}


def test_words_without_a_link_are_those_that_are_not_translated(sentences):
    entries = LANGUAGE.entries.values()
    fillers = {
        entry.source[0] for word_class in entries for entry in word_class if not any(entry.forms)
    }
    for pair in sentences:
        linked = {source for source, _ in pair.gold.possible}
        alone = {word for n, word in enumerate(pair.source.split()) if n not in linked}
        assert alone <= fillers
        assert not {pair.source.split()[n] for n in linked} & fillers


def test_inserted_words_have_no_sure_link_and_articles_a_possible_one_to_their_noun(sentences):
    genders = {noun.source[0]: noun.gender for noun in LANGUAGE.entries["noun"]}
    for pair in sentences:
        sure = {target for _, target in pair.gold.sure}
        nouns = {target: source for source, target in pair.gold.possible - pair.gold.sure}
        for position, word in enumerate(pair.target.split()):
            assert (position in sure) != (word in {LANGUAGE.object_marker, *LANGUAGE.articles})
            assert (position in nouns) == (word in LANGUAGE.articles)
            if position in nouns:
                noun = pair.source.split()[nouns[position]]
                assert word == LANGUAGE.articles[genders[noun]]


def test_a_noun_decides_between_two_translations_of_its_adjectives(sentences):
    forms = {entry.source[0]: entry.forms for entry in LANGUAGE.entries["adjective"]}
    genders = {noun.source[0]: noun.gender for noun in LANGUAGE.entries["noun"]}
    seen = Counter()
    for pair in sentences:
        source, target = pair.source.split(), pair.target.split()
        for (first, *_), targets in aligned_groups(pair.gold).items():
            if source[first] in forms and len(set(forms[source[first]])) == 2:
                noun = next(word for word in source[first:] if word in genders)
                words = tuple(target[position] for position in targets)
                assert words == forms[source[first]][genders[noun]]
                seen[genders[noun]] += 1
    assert min(seen[0], seen[1]) > 50


def test_everything_that_makes_alignment_hard_occurs(sentences):
    seen = Counter()
    for pair in sentences:
        source, links = pair.source.split(), pair.gold.sure
        for sources, targets in aligned_groups(pair.gold).items():
            seen[f"{len(sources)} to {len(targets)}"] += 1
            seen["apart in the source"] += sources[-1] - sources[0] >= len(sources)
            seen["apart in the target"] += targets[-1] - targets[0] >= len(targets)
        seen["to none"] += len(source) - len({position for position, _ in pair.gold.possible})
        seen["crossing"] += any(a < c and b > d for a, b in links for c, d in links)
        last = max(target for position, target in links if position == len(source) - 1)
        seen["from the end to the beginning"] += last < 3 and len(source) > 8
        seen["repeated"] += len(set(source)) < len(source)
    expected = {"1 to 1", "1 to 2", "1 to 3", "2 to 1", "to none", "crossing", "repeated"}
    expected |= {"apart in the source", "apart in the target", "from the end to the beginning"}
    assert {case for case in expected if seen[case] > 20} == expected


def test_frequencies_fall_with_the_rank(sentences):
    counts = Counter(word for pair in sentences for word in pair.source.split())
    nouns = [counts[noun.source[0]] for noun in LANGUAGE.entries["noun"]]
    assert sum(nouns[:10]) > sum(nouns[10:30]) > sum(nouns[70:]) > 0


def test_no_word_is_in_both_languages_or_has_two_meanings():
    entries = [entry for word_class in LANGUAGE.entries.values() for entry in word_class]
    source = [entry.source[0] for entry in entries]
    target = [word for entry in entries for form in set(entry.forms) for word in form]
    target += [LANGUAGE.object_marker, *LANGUAGE.articles]
    assert len(set(source)) == len(source)
    assert len(set(target)) == len(target)
    assert not set(source) & set(target)
    assert all(re.fullmatch("([a-z][aeiouy])+", word) for word in source + target)


@few_examples
@given(seeds)
def test_a_seed_gives_the_same_corpus_and_another_seed_another(seed):
    assert made_up.make_corpus(seed, 3, 2) == made_up.make_corpus(seed, 3, 2)
    assert made_up.make_corpus(seed, 3, 2) != made_up.make_corpus(seed + 1, 3, 2)


def test_a_corpus_has_the_same_bytes_in_every_process(sentences):
    lines = [
        f"{pair.source}\t{pair.target}\t{sorted(pair.gold.sure)}\t{sorted(pair.gold.possible)}"
        for pair in sentences
    ]
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    assert digest.startswith("9e424581a815d4f1"), "the stored results are of a different corpus"


def test_no_sentence_occurs_twice(monkeypatch):
    few = {name: replace(word_class, count=2) for name, word_class in made_up.WORD_CLASSES.items()}
    monkeypatch.setattr(made_up, "WORD_CLASSES", few)
    learned, held_out = made_up.make_corpus(0, 1000, 100)
    for name in ("source", "target"):
        assert len({getattr(pair, name) for pair in learned + held_out}) == 1100


def test_what_is_held_out_stays_so_whatever_is_learned(sentences):
    learned, held_out = made_up.make_corpus(0, learned=900, held_out=300)
    assert sentences[700:] == held_out
    assert sentences[:700] == learned[:700]

"""The made-up languages: what is said to be aligned was translated so."""

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

SPOKEN = made_up.language(0)
seeds = st.integers(0, 2**32)
unhurried = settings(max_examples=50, deadline=None)


def sentence_of(seed):
    return made_up.sentence(SPOKEN, random.Random(seed))


def unions(gold):
    """Source words that became something together, with what they became, in order."""
    sources = defaultdict(set)
    for source, target in gold.sure:
        sources[target].add(source)
    together = defaultdict(list)
    for target in sorted(sources):
        together[tuple(sorted(sources[target]))].append(target)
    return dict(together)


@pytest.fixture(scope="module")
def dictionary():
    found = defaultdict(set)
    for entries in SPOKEN.entries.values():
        for entry in entries:
            found[entry.source] |= set(entry.forms)
    return found


@pytest.fixture(scope="module")
def sentences():
    learned, held_out = made_up.corpus(0, learned=700, held_out=300)
    return learned + held_out


@unhurried
@given(seeds)
def test_every_link_is_inside_its_sentences(seed):
    said = sentence_of(seed)
    assert said.gold.sure
    for source, target in said.gold.possible:
        assert source < len(said.source.split())
        assert target < len(said.target.split())


@unhurried
@given(seeds)
def test_source_sentences_have_4_to_14_words(seed):
    assert 4 <= len(sentence_of(seed).source.split()) <= 14


def test_the_dictionary_applied_along_the_links_gives_the_target(sentences, dictionary):
    for said in sentences:
        source, target = said.source.split(), said.target.split()
        written = [None] * len(target)
        for sources, targets in unions(said.gold).items():
            words = tuple(target[place] for place in targets)
            assert words in dictionary[tuple(source[place] for place in sources)]
            for place, word in zip(targets, words, strict=True):
                assert written[place] is None
                written[place] = word
        rest = {word for word, own in zip(target, written, strict=True) if own is None}
        assert rest <= {SPOKEN.mark, *SPOKEN.articles}


def test_words_without_a_link_are_those_that_become_nothing(sentences):
    entries = SPOKEN.entries.values()
    fillers = {entry.source[0] for kind in entries for entry in kind if not any(entry.forms)}
    for said in sentences:
        linked = {source for source, _ in said.gold.possible}
        alone = {word for n, word in enumerate(said.source.split()) if n not in linked}
        assert alone <= fillers
        assert not {said.source.split()[n] for n in linked} & fillers


def test_inserted_words_have_no_sure_link_and_articles_a_possible_one_to_their_noun(sentences):
    genders = {noun.source[0]: noun.gender for noun in SPOKEN.entries["noun"]}
    for said in sentences:
        sure = {target for _, target in said.gold.sure}
        nouns = {target: source for source, target in said.gold.possible - said.gold.sure}
        for place, word in enumerate(said.target.split()):
            assert (place in sure) != (word in {SPOKEN.mark, *SPOKEN.articles})
            assert (place in nouns) == (word in SPOKEN.articles)
            if place in nouns:
                noun = said.source.split()[nouns[place]]
                assert word == SPOKEN.articles[genders[noun]]


def test_a_noun_decides_between_two_translations_of_its_adjectives(sentences):
    forms = {entry.source[0]: entry.forms for entry in SPOKEN.entries["adjective"]}
    genders = {noun.source[0]: noun.gender for noun in SPOKEN.entries["noun"]}
    seen = Counter()
    for said in sentences:
        source, target = said.source.split(), said.target.split()
        for (first, *_), targets in unions(said.gold).items():
            if source[first] in forms and len(set(forms[source[first]])) == 2:
                noun = next(word for word in source[first:] if word in genders)
                words = tuple(target[place] for place in targets)
                assert words == forms[source[first]][genders[noun]]
                seen[genders[noun]] += 1
    assert min(seen[0], seen[1]) > 50


def test_all_that_makes_alignment_hard_occurs(sentences):
    seen = Counter()
    for said in sentences:
        source, links = said.source.split(), said.gold.sure
        for sources, targets in unions(said.gold).items():
            seen[f"{len(sources)} to {len(targets)}"] += 1
            seen["apart in the source"] += sources[-1] - sources[0] >= len(sources)
            seen["apart in the target"] += targets[-1] - targets[0] >= len(targets)
        seen["to none"] += len(source) - len({place for place, _ in said.gold.possible})
        seen["crossing"] += any(a < c and b > d for a, b in links for c, d in links)
        last = max(target for place, target in links if place == len(source) - 1)
        seen["from the end to the beginning"] += last < 3 and len(source) > 8
        seen["repeated"] += len(set(source)) < len(source)
    wanted = {"1 to 1", "1 to 2", "1 to 3", "2 to 1", "to none", "crossing", "repeated"}
    wanted |= {"apart in the source", "apart in the target", "from the end to the beginning"}
    assert {one for one in wanted if seen[one] > 20} == wanted


def test_frequencies_fall_with_the_rank(sentences):
    counts = Counter(word for said in sentences for word in said.source.split())
    nouns = [counts[noun.source[0]] for noun in SPOKEN.entries["noun"]]
    assert sum(nouns[:10]) > sum(nouns[10:30]) > sum(nouns[70:]) > 0


def test_no_word_is_in_both_languages_or_stands_for_two_things():
    entries = [entry for kind in SPOKEN.entries.values() for entry in kind]
    source = [entry.source[0] for entry in entries]
    target = [word for entry in entries for form in set(entry.forms) for word in form]
    target += [SPOKEN.mark, *SPOKEN.articles]
    assert len(set(source)) == len(source)
    assert len(set(target)) == len(target)
    assert not set(source) & set(target)
    assert all(re.fullmatch("([a-z][aeiouy])+", word) for word in source + target)


@unhurried
@given(seeds)
def test_a_seed_gives_the_same_corpus_and_another_seed_another(seed):
    assert made_up.corpus(seed, 3, 2) == made_up.corpus(seed, 3, 2)
    assert made_up.corpus(seed, 3, 2) != made_up.corpus(seed + 1, 3, 2)


def test_a_corpus_has_the_same_bytes_in_every_process(sentences):
    lines = [
        f"{said.source}\t{said.target}\t{sorted(said.gold.sure)}\t{sorted(said.gold.possible)}"
        for said in sentences
    ]
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    assert digest.startswith("9e424581a815d4f1"), "kept results are of another corpus now"


def test_no_sentence_is_said_twice(monkeypatch):
    few = {name: replace(kind, count=2) for name, kind in made_up.KINDS.items()}
    monkeypatch.setattr(made_up, "KINDS", few)
    learned, held_out = made_up.corpus(0, 1000, 100)
    for side in ("source", "target"):
        assert len({getattr(said, side) for said in learned + held_out}) == 1100


def test_what_is_held_out_stays_so_whatever_is_learned(sentences):
    learned, held_out = made_up.corpus(0, learned=900, held_out=300)
    assert sentences[700:] == held_out
    assert sentences[:700] == learned[:700]

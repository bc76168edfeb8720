"""The Spanish–English gold alignments of the notebooks are well-formed, and as described."""

import csv
import importlib
import re

from paths import ROOT
from tokenizers import Regex, pre_tokenizers

NOTEBOOKS = ROOT / "notebooks"
DATA = NOTEBOOKS / "data"
LINK = re.compile(r"([1-9]\d*)([-p])([1-9]\d*)")


def lines(name):
    return (DATA / name).read_text(encoding="utf-8").splitlines()


PAIRS = [tuple(text.split(" ") for text in line.split(" ||| ")) for line in lines("es-en.src-tgt")]
GOLD = [[LINK.fullmatch(link).groups() for link in line.split(" ")] for line in lines("es-en.gold")]


def test_there_are_enough_pairs_and_each_has_its_links():
    assert len(PAIRS) == len(GOLD) >= 60
    assert all(len(pair) == 2 for pair in PAIRS)
    assert all("-" in [kind for _, kind, _ in links] for links in GOLD)


def test_no_pair_occurs_twice():
    assert len(set(lines("es-en.src-tgt"))) == len(PAIRS)


def test_every_link_joins_words_of_its_pair():
    for (source, target), links in zip(PAIRS, GOLD, strict=True):
        assert all(int(i) <= len(source) and int(j) <= len(target) for i, _, j in links), source


def test_links_are_sorted_and_none_is_both_sure_and_possible():
    for links in GOLD:
        joined = [(int(i), int(j)) for i, _, j in links]
        assert joined == sorted(set(joined))


def test_sentences_are_split_where_the_translator_splits_words(monkeypatch):
    monkeypatch.syspath_prepend(str(NOTEBOOKS / "training"))
    marian = importlib.import_module("marian")
    splitter = pre_tokenizers.Split(Regex(marian.WORD), "removed", invert=True)
    for words in (words for pair in PAIRS for words in pair):
        assert [word for word, _ in splitter.pre_tokenize_str(" ".join(words))] == words


def test_every_pair_names_the_authors_of_both_sentences():
    rows = list(csv.DictReader(lines("es-en.attribution.tsv"), delimiter="\t"))
    assert [int(row["line"]) for row in rows] == list(range(1, len(PAIRS) + 1))
    for row in rows:
        assert row["spanish"].isdigit()
        assert row["english"].isdigit()
        assert row["spanish_author"].strip()
        assert row["english_author"].strip()


def count_unlinked(language):
    """Return the number of words in one language (0 source, 1 target) without a link."""
    linked = sum(len({link[2 * language] for link in links}) for links in GOLD)
    return sum(len(pair[language]) for pair in PAIRS) - linked


def test_the_counts_in_the_guidelines_are_those_of_the_files():
    table = dict(
        re.findall(r"^\| ([\w ]+) \| (\d+) \|$", "\n".join(lines("README.md")), re.MULTILINE)
    )
    kinds = [kind for links in GOLD for _, kind, _ in links]
    assert {name: int(number) for name, number in table.items()} == {
        "pairs": len(PAIRS),
        "Spanish words": sum(len(source) for source, _ in PAIRS),
        "English words": sum(len(target) for _, target in PAIRS),
        "sure links": kinds.count("-"),
        "possible links": kinds.count("p"),
        "Spanish words without a link": count_unlinked(0),
        "English words without a link": count_unlinked(1),
    }

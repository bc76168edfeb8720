"""Alignment error rate, files of links, and links of two directions combined."""

import itertools
import math

import pytest
from cross_attention import translation
from hypothesis import given
from hypothesis import strategies as st
from paths import ROOT

import normviz
from normviz.alignment import Gold, read_links, write_links
from normviz.alignment.formats import format_links
from normviz.errors import BadInput, NormvizError, UnknownName

pairs = st.frozensets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=12)
golds = st.builds(Gold, pairs, pairs)
HANSARDS = ROOT.parent / "shared" / "data"


def test_the_rate_is_that_of_och_and_ney():
    gold = Gold({(0, 0), (1, 1)}, {(2, 1)})
    scores = normviz.aer({(0, 0), (2, 1), (2, 2)}, gold)
    # A = 3, S = 2, A∩S = 1, A∩P = 2
    assert scores.aer == pytest.approx(1 - (1 + 2) / (3 + 2))
    assert (scores.precision, scores.recall) == pytest.approx((2 / 3, 1 / 2))


def test_counts_are_added_up_over_the_corpus_before_they_are_divided():
    links = [{(0, 0)}, {(0, 0), (1, 1), (2, 2)}]
    gold = [{(0, 1)}, {(0, 0), (1, 1), (2, 2)}]
    assert normviz.aer(links, gold).aer == pytest.approx(1 - 6 / 8)


@given(golds)
def test_sure_links_have_no_error_and_possible_ones_no_false_one(gold):
    if gold.sure:
        assert normviz.aer([gold.sure], [gold]).aer == 0
    if gold.possible:
        found = normviz.aer([gold.possible], [gold])
        assert found.precision == 1
        assert found.aer == 0


@given(st.lists(st.tuples(pairs, golds), min_size=1, max_size=4))
def test_the_rate_lies_between_zero_and_one(rows):
    links, gold = zip(*rows, strict=True)
    found = normviz.aer(list(links), list(gold)).aer
    assert math.isnan(found) or 0 <= found <= 1


def test_nothing_to_count_is_no_number():
    found = normviz.aer([set()], [set()])
    assert all(math.isnan(rate) for rate in (found.aer, found.precision, found.recall))


def test_every_form_of_the_same_links_scores_the_same():
    links, gold = {(0, 0), (1, 2)}, Gold({(0, 0)}, {(1, 1)})
    expected = normviz.aer([links], [gold]).aer
    assert normviz.aer(["0-0 1-2"], ["1-1 2p2"]).aer == expected
    assert normviz.aer("0-0 1-2", ["0-0 1p1"]).aer == expected
    assert normviz.aer(links, gold).aer == expected
    assert normviz.aer([[(0, 0), (1, 2)]], [({(0, 0)}, {(1, 1)})]).aer == expected
    assert normviz.aer(["0-0 1-2"], ["1 1 1 S", "1 2 2 P"], gold_format="naacl").aer == expected


def test_lines_that_do_not_show_their_first_number_count_like_the_others():
    assert normviz.aer(["1-1 2-2"], ["1-1 2p2"]).aer == 0
    assert normviz.aer(["1-1 2-2"], ["1-1 2-2 0-0"]).recall == pytest.approx(2 / 3)


def test_five_lines_without_a_first_word_count_from_one():
    lines = ["1-1 2-2"] * 5
    assert read_links(lines)[0] == Gold({(0, 0), (1, 1)})
    with pytest.raises(BadInput, match="no word 0 and no possible link"):
        read_links(lines[:4])
    assert read_links(lines[:4], "pharaoh")[0] == Gold({(1, 1), (2, 2)})


@pytest.mark.parametrize("form", ["pharaoh", "talp", "naacl"])
@given(gold=st.lists(golds, min_size=1, max_size=5))
def test_written_links_are_read_again(form, gold):
    found = read_links(format_links(gold, form), form)
    expected = [Gold(one.sure) if form == "pharaoh" else one for one in gold]
    while form == "naacl" and expected and not expected[-1].possible:
        expected.pop()  # a file that lists links knows nothing of pairs behind the last
    assert found == expected


def test_a_file_is_written_whole_and_read_by_its_path(tmp_path):
    gold = [Gold({(0, 0)}, {(2, 1)}), Gold(frozenset())]
    path = write_links(gold, tmp_path / "links.talp", "talp")
    assert path.read_text() == "1-1 3p2\n\n"
    assert read_links(path) == read_links(str(path)) == gold


BAD_LINES = [
    (["0-0", "1:2"], None, "Line 2 has '1:2'"),
    (["1 1"], "naacl", "Line 1 has '1 1'"),
    (["0 1 1 S"], "naacl", "pairs from 1"),
    (["0-0 1-1"], "talp", "word 0 in a format that counts from 1"),
]


@pytest.mark.parametrize(("lines", "form", "said"), BAD_LINES)
def test_a_line_that_is_no_link_is_named(lines, form, said):
    with pytest.raises(BadInput, match=said):
        read_links(lines, form)


def test_a_missing_file_and_an_unknown_format_are_refused(tmp_path):
    with pytest.raises(BadInput, match="There is no file"):
        read_links(tmp_path / "no.gold")
    with pytest.raises(UnknownName, match="moses"):
        read_links(["0-0"], "moses")


def test_links_and_gold_of_different_length_are_refused():
    with pytest.raises(BadInput, match="links of 1 sentence pairs, and gold links of 2"):
        normviz.aer([{(0, 0)}], [{(0, 0)}, {(1, 1)}])


def test_other_objects_than_links_are_refused():
    with pytest.raises(BadInput, match="'a'"):
        normviz.aer([{(0, "a")}], [{(0, 0)}])
    with pytest.raises(NormvizError, match="-1"):
        Gold({(0, -1)})


SENTENCES = [("a b", "x y"), ("c", "z")]


def test_a_link_beyond_its_sentence_is_refused_with_its_line():
    with pytest.raises(BadInput, match="Line 2 links source word 1 and target word 0"):
        normviz.aer([{(0, 0)}, {(1, 0)}], [{(0, 0)}, {(0, 0)}], sentences=SENTENCES)


def test_a_gold_link_beyond_its_sentence_is_reported_and_counted():
    gold = [Gold({(0, 0)}, {(1, 2)}), Gold({(0, 0), (0, 3)})]
    found = normviz.aer([{(0, 0)}, {(0, 0)}], gold, sentences=SENTENCES)
    assert [note.split(":")[0] for note in found.out_of_range] == ["line 1", "line 2"]
    assert found.recall == pytest.approx(2 / 3)
    assert "target word 3" in str(found)


def test_sentences_can_come_from_a_file(tmp_path):
    path = tmp_path / "pairs.txt"
    path.write_text("a b ||| x y\nc ||| z\n")
    assert normviz.aer([{(0, 0)}, {(0, 0)}], [{(0, 0)}, {(0, 0)}], sentences=path).aer == 0
    path.write_text("a b ||| x y\nc z\n")
    with pytest.raises(BadInput, match=r"Line 2 of pairs\.txt"):
        normviz.aer([{(0, 0)}, set()], [{(0, 0)}, set()], sentences=path)


def test_sentences_of_another_corpus_are_refused():
    with pytest.raises(BadInput, match="and 1 pairs"):
        normviz.aer([{(0, 0)}, set()], [{(0, 0)}, set()], sentences=SENTENCES[:1])


@pytest.mark.skipif(not HANSARDS.exists(), reason="the Hansards do not lie beside the project")
def test_the_hansards_score_as_they_must():
    gold, sentences = read_links(HANSARDS / "enfr.gold"), HANSARDS / "enfr.src-tgt"
    assert (len(gold), sum(len(g.sure) for g in gold)) == (447, 4038)
    same = normviz.aer([g.sure for g in gold], HANSARDS / "enfr.gold", sentences=sentences)
    assert (same.aer, same.out_of_range) == (0, ())
    fewer = [frozenset(sorted(g.sure)[1:]) for g in gold]
    lost = sum(len(g.sure) for g in gold) - sum(map(len, fewer))
    # A = S − lost, all of it sure and possible.
    kept = 4038 - lost
    assert normviz.aer(fewer, gold).aer == pytest.approx(1 - 2 * kept / (kept + 4038))
    moved = [frozenset((s + 1000, t) for s, t in g.sure) for g in gold]
    assert normviz.aer(moved, gold).aer == 1


# --- two directions -------------------------------------------------------------------------------


@given(pairs, pairs)
def test_grown_links_lie_between_intersection_and_union(forward, backward):
    grown = normviz.symmetrize(forward, backward)
    assert forward & backward <= grown <= forward | backward
    assert normviz.symmetrize(forward, backward, "intersection") == forward & backward
    assert normviz.symmetrize(forward, backward, "union") == forward | backward


@given(pairs)
def test_two_directions_that_agree_stay_what_they_are(links):
    assert normviz.symmetrize(links, links) == links


def test_links_grow_to_neighbors_that_bring_in_a_word():
    forward, backward = {(0, 0), (1, 1), (1, 2)}, {(0, 0), (2, 2), (5, 5)}
    # (1, 1) touches (0, 0); then (1, 2) and (2, 2) touch it; (5, 5) has two free words.
    assert normviz.symmetrize(forward, backward) == {(0, 0), (1, 1), (1, 2), (2, 2), (5, 5)}


def test_links_do_not_grow_between_words_that_have_links():
    forward, backward = {(0, 0), (1, 1), (0, 1)}, {(0, 0), (1, 1), (1, 0)}
    assert normviz.symmetrize(forward, backward) == {(0, 0), (1, 1)}


def test_a_far_link_needs_two_free_words():
    forward, backward = {(0, 0), (0, 5)}, {(0, 0), (7, 0)}
    assert normviz.symmetrize(forward, backward) == {(0, 0)}


def test_every_order_of_given_links_gives_the_same():
    links = [(0, 0), (0, 1), (1, 2), (3, 3)]
    found = {normviz.symmetrize(order, links[1:]) for order in itertools.permutations(links)}
    assert len(found) == 1


def test_alignments_of_two_directions_must_have_the_same_source():
    there = normviz.align(translation(), layer=0, source="los gat os duermen")
    back = there.swapped()
    with pytest.raises(BadInput, match="swapped"):
        normviz.symmetrize(there, back)
    assert normviz.symmetrize(there, back.swapped(), "intersection") == there.links
    with pytest.raises(UnknownName, match="sum"):
        normviz.symmetrize(there, there, "sum")

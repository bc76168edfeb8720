"""Word links from cross-attention, by the protocol of Kobayashi et al. 2020."""

from dataclasses import replace

import numpy as np
import pytest
from cross_attention import LAYERS, SOURCE, TARGET, translation
from flows import two_streams
from hypothesis import given
from hypothesis import strategies as st

import normviz
from normviz.alignment.align import group_words
from normviz.alignment.words import regroup_tokens, word_indices
from normviz.core.flow import Flow
from normviz.core.tokens import Tokens
from normviz.errors import BadInput, NormvizError, UnknownKeyword, UnknownName


def by_hand(matrix, target_row):
    """The links of one matrix [query key], word by word, as the paper's protocol says it."""
    rows = {"the": [1], "cats": [2, 3], "sleep": [4]}
    columns = {"los": [0], "gatos": [1, 2], "duermen": [3], "</s>": [4]}
    back = 0 if target_row == "input" else 1
    links = set()
    for t, places in enumerate(rows.values()):
        totals = [
            np.mean([sum(matrix[row - back][key] for key in keys) for row in places])
            for keys in columns.values()
        ]
        if (best := int(np.argmax(totals))) < 3:
            links.add((best, t))
    return links


CHOICES = [
    ("weight", None, lambda s, layer: s.at("weight", layer).mean(axis=0)),
    ("weight", 2, lambda s, layer: s.at("weight", layer)[2]),
    ("weight", [0, 2], lambda s, layer: s.at("weight", layer)[[0, 2]].mean(axis=0)),
    ("weighted-norm", None, lambda s, layer: s.at("attention", layer)),
    ("attention", None, lambda s, layer: s.at("attention", layer)),
    ("weighted-norm", 1, lambda s, layer: s.at("weighted-norm", layer)[1]),
    ("weighted-norm", [1, 2], lambda s, layer: s.at("weighted-norm", layer)[1:].sum(axis=0)),
]


@pytest.mark.parametrize("target_row", ["input", "output"])
@pytest.mark.parametrize(("measure", "heads", "matrix"), CHOICES)
def test_links_are_those_of_the_protocol_written_out(measure, heads, matrix, target_row):
    for seed in range(20):
        flow = translation(seed)
        for layer in LAYERS:
            found = normviz.align(flow, measure, layer=layer, heads=heads, target_row=target_row)
            assert found.links == by_hand(matrix(flow.cross, layer), target_row)


def test_without_a_layer_all_layers_are_averaged():
    flow = translation(3)
    mean = flow.cross["attention"].mean(axis=0)
    assert normviz.align(flow).links == by_hand(mean, "input")


def test_most_on_the_end_of_the_sentence_means_no_link():
    norms = np.ones((2, 5, 5)) / 10
    norms[:, :, 4] = 1
    found = normviz.align(translation(attention=norms))
    assert (found.links, str(found)) == (frozenset(), "")
    assert found.null_share == pytest.approx(1 / 1.4)


def test_two_special_tokens_do_not_outvote_a_word_together():
    keys = replace(SOURCE, special=(False, False, False, True, True))
    row = [0.0, 0.2, 0.3, 0.4, 0.4]
    found = normviz.align(translation(keys=keys, attention=np.tile(row, (2, 5, 1))), layer=0)
    assert found.links == {(1, 0), (1, 1), (1, 2)}
    assert found.null_share == pytest.approx(0.8 / 1.3)


def test_a_word_that_takes_nothing_gets_no_link():
    assert not normviz.align(translation(attention=np.zeros((2, 5, 5)))).links


def test_soft_shares_and_the_null_share_add_up_to_one():
    found = normviz.align(translation(), "weight", layer=1)
    assert found.soft.shape == (3, 3)
    assert found.soft.sum(axis=1) + found.null_share == pytest.approx(1)
    table = found.to_dataframe()
    assert table.linked.sum() == len(found)
    assert table.share.sum() == pytest.approx(found.soft.sum())


def test_an_alignment_reads_in_words_and_as_a_line():
    norms = np.zeros((2, 5, 5))
    norms[:, [1, 2, 3, 4], [0, 1, 2, 3]] = 1
    found = normviz.align(translation(attention=norms), layer=0)
    assert str(found) == "0-0 1-1 2-2"
    assert list(found) == [(0, 0), (1, 1), (2, 2)]
    assert "gatos–cats" in repr(found)
    assert "attention" not in repr(found)


def test_a_swapped_alignment_has_swapped_links_and_shares_that_add_up():
    found = normviz.align(translation(1), "weight", layer=0)
    turned = found.swapped()
    assert turned.links == {(t, s) for s, t in found.links}
    assert turned.source == found.target
    assert turned.soft.sum(axis=1) == pytest.approx(1)


# --- words ----------------------------------------------------------------------------------------


def test_words_of_another_segmentation_are_matched_by_their_characters():
    pieces = Tokens.plain(["don", "'", "t", "GO", "!"])
    assert word_indices(regroup_tokens(pieces, "don't go !")) == (0, 0, 0, 1, 2)
    assert regroup_tokens(pieces, ["don", "'t", "go!"]).words == (0, 1, 1, 2, 2)


def test_a_prefix_is_no_word_to_link_even_where_the_text_repeats_it():
    pieces = Tokens.plain(["to", "German", ":", "to", "be", "German"])
    found = regroup_tokens(pieces, "to be German", prefix="to German :")
    assert word_indices(found) == (None, None, None, 0, 1, 2)
    assert found.special == (True, True, True, False, False, False)


def test_a_token_that_shares_no_character_stays_with_the_word_it_stands_in():
    pieces = Tokens.plain(["x", "<unk>", "y", "z"])
    assert word_indices(regroup_tokens(pieces, "x✓y z")) == (0, 0, 0, 1)


def test_a_piece_that_is_only_a_space_belongs_to_the_word_after_it():
    for space in ("▁", " "):
        pieces = Tokens.plain([space, "a", space, "c", "</s>"], special=[False] * 4 + [True])
        assert word_indices(regroup_tokens(pieces, "a c")) == (0, 0, 1, 1, None)


def test_an_unknown_token_is_the_word_in_its_place():
    pieces = Tokens.plain(
        ["[CLS]", "[UNK]", "unk", "[UNK]", "sat", "[UNK]"], special=[True] + [False] * 5
    )
    found = regroup_tokens(pieces, "✓ unk ☃ sat !?")
    assert word_indices(found) == (None, 0, 1, 2, 3, 4)
    assert found.word_texts == ("[CLS]", "✓", "unk", "☃", "sat", "!?")
    split = Tokens.plain(["▁", "<unk>", "▁b", "▁", "<unk>"])
    assert word_indices(regroup_tokens(split, ["✓", "b", "☃"])) == (0, 0, 1, 2, 2)


def test_a_token_of_another_word_is_not_taken_for_an_unknown_one():
    with pytest.raises(BadInput, match="'dog' has no token of its own"):
        regroup_tokens(Tokens.plain(["the", "cat"]), "the dog")


def test_a_word_without_a_token_is_named():
    with pytest.raises(BadInput, match="'dog' has no token of its own in 'the cat'"):
        regroup_tokens(Tokens.plain(["the", "cat"]), "the cat dog")


@given(st.lists(st.text("abc", min_size=1, max_size=5), min_size=1, max_size=6), st.data())
def test_pieces_of_words_find_their_words_however_they_are_cut(words, data):
    pieces, expected = [], []
    for number, word in enumerate(words):
        at = data.draw(st.integers(1, len(word)))
        cut = [part for part in (word[:at], word[at:]) if part]
        pieces += cut
        expected += [number] * len(cut)
    assert word_indices(regroup_tokens(Tokens.plain(pieces), words)) == tuple(expected)


def test_given_words_replace_the_tokenizers():
    flow = translation(5)
    found = normviz.align(
        flow, layer=0, source="los gat os duermen", target=["the", "cats", "sleep"]
    )
    assert found.source == ("los", "gat", "os", "duermen")
    assert found.soft.shape == (3, 4)


# --- what goes wrong ------------------------------------------------------------------------------


def test_a_flow_without_cross_attention_is_refused():
    encoder = two_streams().streams["encoder"]
    with pytest.raises(UnknownName, match="cross"):
        normviz.align(replace(two_streams(), streams={"encoder": encoder}))


WRONG = [
    ({"measure": "value-norm"}, "has no values for pairs"),
    ({"measure": "nothing"}, "nothing"),
    ({"layer": 7}, "7"),
    ({"heads": 9}, "9"),
    ({"heads": []}, "No head is named"),
    ({"target_row": "both"}, "both"),
]


@pytest.mark.parametrize(("options", "said"), WRONG)
def test_unknown_measures_layers_heads_and_rows_are_refused_by_name(options, said):
    with pytest.raises(NormvizError, match=said):
        normviz.align(translation(), **{"measure": "weight", **options})


def test_misspelled_keywords_and_other_objects_than_flows_are_refused():
    with pytest.raises(UnknownKeyword, match="Write target_row=… instead"):
        normviz.align(translation(), target_rows="input")
    with pytest.raises(BadInput, match="The flow is a list"):
        normviz.align([translation()])


def test_norms_of_all_heads_need_the_length_of_their_sum():
    stream = translation().cross
    stored = {name: stream.stored[name] for name in ("weight", "value-norm")}
    flow = replace(two_streams(), streams={"cross": replace(stream, stored=stored)})
    with pytest.raises(UnknownName, match="does not hold"):
        normviz.align(flow)
    assert normviz.align(flow, heads=[0, 1, 2]).target == ("the", "cats", "sleep")


def test_a_decoder_that_begins_with_a_word_has_no_row_that_predicts_it():
    queries = replace(TARGET, special=(False,) * 5)
    flow = translation(queries=queries)
    with pytest.raises(BadInput, match="first token of the decoder is '<pad>'"):
        normviz.align(flow, target_row="output")
    assert isinstance(flow, Flow)


def test_a_text_without_words_is_refused():
    keys = replace(SOURCE, special=(True,) * 5)
    with pytest.raises(BadInput, match="no word"):
        group_words(translation(keys=keys).cross, "input")


def test_tokens_of_speech_are_linked_to_frames_of_sound(tiny):
    import architectures

    flow = normviz.analyze(tiny("whisper"), inputs=architectures.whisper_inputs())
    found = normviz.align(flow, "weight", layer=1, heads=0)
    rows = flow.cross.at("weight", 1)[0]
    assert found.links == {(int(row.argmax()), t) for t, row in enumerate(rows)}
    assert len(found.source) == flow.cross.size("key") == 12

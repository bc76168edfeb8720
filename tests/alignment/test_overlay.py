"""Gold links of a flow: in the words of the gold set, checked, saved and sent."""

import json

import pytest
from flows import random_flow, rewrite_description, translation_flow

from normviz import Gold, load
from normviz.errors import BadFile, BadInput
from normviz.view.payload import pack

GOLD = Gold({(0, 1), (1, 2), (2, 3)}, {(0, 0)})


def test_links_may_be_pairs_and_are_then_all_sure():
    flow = translation_flow().with_gold([(0, 1), [2, 3]])
    assert flow.gold == Gold({(0, 1), (2, 3)})
    assert translation_flow().gold is None
    assert translation_flow().with_gold(GOLD).gold == GOLD


def test_tokens_become_pieces_of_the_words_that_the_links_count_in():
    plain = translation_flow()
    flow = plain.with_gold(
        [(1, 4)], source="Ten go tres gatos.", target=["I", "have", "three", "cat", "s."]
    )
    source, target = (0, 1, 2, 3, 3, 3, 4), (0, 1, 2, 3, 4, 5, 5)
    for name, queries, keys in (
        ("encoder", source, source),
        ("decoder", target, target),
        ("cross", target, source),
    ):
        stream = flow.stream(name)
        assert (stream.queries.words, stream.keys.words) == (queries, keys)
        assert stream["weight"] is plain.stream(name)["weight"]
    assert flow.cross.keys.word_texts == ("Ten", "go", "tres", "gatos.", "</s>")
    assert flow.decoder.queries.word_texts[-2:] == ("cat", "s.")


def test_what_stood_before_the_source_is_no_word_of_it():
    flow = translation_flow().with_gold([(0, 0)], source="tres gatos.", prefix="Tengo")
    assert flow.cross.keys.word_texts[-3:] == ("tres", "gatos.", "</s>")
    assert flow.cross.keys.special[:2] == (True, True)


@pytest.mark.parametrize(
    ("link", "sentences"),
    [
        ((4, 0), ("names source word 4", "has 4 source words", "source=…")),
        ((0, 5), ("names target word 5", "has 5 target words", "target=…")),
    ],
)
@pytest.mark.parametrize("kind", ["sure", "possible"])
def test_links_beyond_the_words_are_refused(link, sentences, kind):
    gold = Gold({link}) if kind == "sure" else Gold({(0, 0)}, {link})
    with pytest.raises(BadInput) as error:
        translation_flow().with_gold(gold)
    for part, sentence in zip(
        (error.value.found, error.value.expected, error.value.do), sentences, strict=True
    ):
        assert sentence in part


def test_one_text_has_nothing_to_align():
    with pytest.raises(BadInput, match=r"no cross stream, only: encoder\. Links join.*target=…"):
        random_flow().with_gold([(0, 0)])


def test_gold_is_kept_by_all_that_changes_a_flow(tmp_path):
    flow = translation_flow().with_gold(GOLD)
    for other in (flow.words(), flow.nearest_layers(0, 1)[0], load(flow.save(tmp_path / "f"))):
        assert other.gold == GOLD


def test_a_file_without_gold_opens(tmp_path):
    path = translation_flow().with_gold(GOLD).save(tmp_path / "flow.normviz")
    assert load(rewrite_description(path, lambda plain: plain.pop("gold"))).gold is None


@pytest.mark.parametrize(
    "gold",
    [
        {"sure": [[9, 9]]},
        {"sure": [[0, "x"]]},
        {"sure": [[0, float("inf")]]},
        {"sure": 3},
        {"possible": [[0, 0]]},
        [[0, 0]],
        7,
    ],
)
def test_damaged_gold_is_refused(tmp_path, gold):
    path = translation_flow().with_gold(GOLD).save(tmp_path / "flow.normviz")
    with pytest.raises(BadFile, match=r"flow\.normviz"):
        load(rewrite_description(path, lambda plain: plain.update(gold=gold)))


def test_gold_is_sent_in_order_and_what_is_sure_only_once():
    sent = [
        about["gold"]
        for about in pack(translation_flow().with_gold(GOLD), translation_flow()).header["flows"]
    ]
    assert sent == [{"sure": [[0, 1], [1, 2], [2, 3]], "possible": [[0, 0]]}, None]
    json.dumps(sent)

"""Patterns of heads: pure patterns, chance, and the layers in which they persist."""

import math

import numpy as np
import pytest
from flows import flow_of, ladder_flow, random_flow, two_streams
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import normviz
from normviz.core.tokens import Tokens, categorize
from normviz.derived.patterns import PATTERNS, longest_run, segments
from normviz.errors import UnknownName

PIECES = ["[CLS]", "so", ",", "he", "[SEP]", "it", "is", "[SEP]"]
SIZE = len(PIECES)


def tokens_of(pieces):
    """Return tokens in which those with brackets are special, with their categories."""
    plain = Tokens.plain(pieces, special=[piece.startswith("[") for piece in pieces])
    categories = tuple(
        categorize(p, special=s, cls=p == "[CLS]", sep=p == "[SEP]")
        for p, s in zip(pieces, plain.special, strict=True)
    )
    return Tokens(plain.pieces, plain.ids, plain.special, plain.words, categories, plain.word_texts)


def flow_with(*maps, pieces=PIECES, stream="encoder"):
    """Return a flow of one head whose layers are these maps."""
    return flow_of({"weight": np.array(maps)[:, None]}, tokens_of(pieces), stream=stream)


def scores_of(values, **options):
    """Return the scores of a single map, by pattern."""
    found = normviz.patterns(flow_with(values, **options))
    return {name: float(scores[0, 0]) for name, scores in found.scores.items()}


def column(*keys):
    found = np.zeros((SIZE, SIZE))
    found[:, keys] = 1
    return found


PURE = {
    "diagonal": np.eye(SIZE),
    "previous": np.eye(SIZE, k=-1),
    "next": np.eye(SIZE, k=1),
    "special": column(0, 4, 7),
    "punctuation": column(2),
    "vertical": column(5),
    "block": np.equal.outer(np.arange(SIZE) < 5, np.arange(SIZE) < 5).astype(float),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_in_its_purest_form_scores_one(name):
    assert scores_of(PURE[name])[name] == pytest.approx(1)


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("diagonal", ("previous", "next")),
        ("previous", ("diagonal", "next")),
        ("next", ("diagonal", "previous")),
        ("special", ("punctuation",)),
        ("punctuation", ("special",)),
        ("vertical", ("special", "punctuation")),
    ],
)
def test_nothing_of_a_pure_pattern_lies_in_patterns_that_share_no_cell_with_it(name, others):
    found = scores_of(PURE[name])
    assert [found[other] for other in others] == [0] * len(others)


def slow_score(shares, cells):
    """Return the mean share in the cells, over nonempty rows that have such a cell."""
    rows = [
        sum(share for share, inside in zip(row, mine, strict=True) if inside)
        for row, mine in zip(shares, cells, strict=True)
        if any(mine) and sum(row)
    ]
    return sum(rows) / len(rows) if rows else math.nan


numbers = st.sampled_from([0.0, 0.0, 0.5, 1.0, 3.0, -2.0])


@given(arrays(np.float64, (SIZE, SIZE), elements=numbers))
def test_scores_are_those_of_slow_loops(values):
    sizes = np.abs(values)
    shares = [[v / sum(row) if sum(row) else 0.0 for v in row] for row in sizes.tolist()]
    part = [0, 0, 0, 0, 0, 1, 1, 1]
    rules = {
        "diagonal": lambda q, k: q == k,
        "previous": lambda q, k: k == q - 1,
        "next": lambda q, k: k == q + 1,
        "special": lambda _, k: PIECES[k].startswith("["),
        "punctuation": lambda _, k: PIECES[k] == ",",
        "block": lambda q, k: part[q] == part[k],
    }
    found = scores_of(values)
    for name, rule in rules.items():
        cells = [[rule(q, k) for k in range(SIZE)] for q in range(SIZE)]
        assert found[name] == pytest.approx(slow_score(shares, cells), nan_ok=True)
        assert math.isnan(found[name]) or 0 <= found[name] <= 1 + 1e-9
    taking = [row for row in shares if sum(row)]
    most = max(map(sum, zip(*taking, strict=True)), default=math.nan) / max(len(taking), 1)
    assert found["vertical"] == pytest.approx(most, nan_ok=True)


def test_even_rows_score_chance():
    for stream, values in (("encoder", np.ones((SIZE, SIZE))), ("decoder", np.tri(SIZE))):
        found = normviz.patterns(flow_with(values, stream=stream))
        for name in PATTERNS:
            score = found.scores[name][0, 0]
            assert found.chance[name] == pytest.approx(score, nan_ok=True)
            assert np.nan_to_num(found.excess(name)[0, 0]) == pytest.approx(0)
        assert found.best(0, 0) is None


def test_a_decoder_sees_nothing_after_itself():
    found = normviz.patterns(flow_with(np.tri(SIZE), stream="decoder"))
    assert math.isnan(found.scores["next"][0, 0])
    assert math.isnan(found.chance["next"])
    assert found.chance["diagonal"] == pytest.approx(np.mean(1 / np.arange(1, SIZE + 1)))
    prefix = np.tri(SIZE)
    prefix[:4, :4] = 1  # a prefix that sees both ways
    seen = normviz.patterns(flow_with(prefix, stream="decoder"))
    assert seen.chance["next"] == pytest.approx(0.25)


def test_excess_is_one_for_a_pure_pattern_and_best_names_it():
    for name in ("diagonal", "previous", "next", "block"):
        found = normviz.patterns(flow_with(PURE[name]))
        assert found.excess(name)[0, 0] == pytest.approx(1)
        assert found.best(0, 0) == name
    assert normviz.patterns(flow_with(PURE["punctuation"])).best(0, 0) == "punctuation"
    assert normviz.patterns(flow_with(PURE["vertical"])).best(0, 0) == "vertical"


def test_vertical_names_its_column():
    assert normviz.patterns(flow_with(PURE["vertical"])).column.tolist() == [[5]]


def test_segments_end_with_sep_and_two_seps_end_one():
    assert segments(tokens_of(PIECES)) == (0, 0, 0, 0, 0, 1, 1, 1)
    doubled = ["[CLS]", "a", "[SEP]", "[SEP]", "b", "[SEP]"]
    assert segments(tokens_of(doubled)) == (0, 0, 0, 0, 1, 1)


def test_one_segment_is_not_a_block_and_missing_tokens_make_no_column():
    found = scores_of(np.eye(3), pieces=["a", "b", "c"])
    for name in ("block", "special", "punctuation"):
        assert math.isnan(found[name])
    text = str(normviz.patterns(flow_with(np.eye(3), pieces=["a", "b", "c"])))
    assert "there is none in this text" in text


def test_patterns_persist_in_layers_that_follow_each_other():
    diagonal, other = PURE["diagonal"], PURE["vertical"]
    found = normviz.patterns(flow_with(diagonal, other, diagonal, diagonal, other))
    assert found.persistent()["diagonal"] == ((0, 2, 3), (2, 3))
    assert found.persistent()["vertical"] == ((1, 4), (1,))
    assert found.persistent()["previous"] == ((), ())
    weak = normviz.patterns(flow_with(diagonal + 0.1))
    assert weak.persistent(0.5)["diagonal"].layers == (0,)
    assert weak.persistent(0.95)["diagonal"].layers == ()


def test_a_layer_that_is_not_held_breaks_a_run():
    assert longest_run((0, 1, 3, 4, 5, 9)) == (3, 4, 5)
    assert longest_run((0, 2)) == (0,)
    assert longest_run(()) == ()


def test_empty_rows_are_left_out():
    half = PURE["diagonal"].copy()
    half[4:] = 0
    assert scores_of(half)["diagonal"] == pytest.approx(1)
    nothing = normviz.patterns(flow_with(np.zeros((SIZE, SIZE))))
    assert all(math.isnan(nothing.scores[name][0, 0]) for name in PATTERNS)
    assert nothing.best(0, 0) is None


def test_measures_with_and_without_heads_or_queries_are_all_scores_of():
    flow = ladder_flow()
    assert normviz.patterns(flow, "layer-output").heads == (None,)
    assert normviz.patterns(flow, "layer-output").scores["diagonal"].shape == (2, 1)
    assert normviz.patterns(flow, "weighted-norm").scores["diagonal"].shape == (2, 2)
    norms = flow["value-norm"].astype(float)
    expected = (norms / norms.sum(axis=-1, keepdims=True)).max(axis=-1)
    np.testing.assert_allclose(normviz.patterns(flow, "value-norm").scores["vertical"], expected)


def test_across_two_texts_there_are_columns_only():
    found = normviz.patterns(two_streams(), stream="cross")
    for name in ("diagonal", "previous", "next", "block"):
        assert np.isnan(found.scores[name]).all()
    expected = two_streams().cross["weight"][0, 0].mean(axis=0).max()
    assert found.scores["vertical"][0, 0] == pytest.approx(expected)


def test_the_table_has_a_row_for_each_head_and_pattern():
    found = normviz.patterns(random_flow())
    table = found.to_dataframe()
    assert list(table.columns) == ["layer", "head", "pattern", "score", "chance", "excess"]
    row = table[(table["layer"] == 2) & (table["head"] == 3) & (table["pattern"] == "previous")]
    assert row["score"].item() == found.scores["previous"][2, 3]
    assert row["excess"].item() == found.excess("previous")[2, 3]
    assert "head" not in normviz.patterns(ladder_flow(), "layer-output").to_dataframe()


def test_the_text_names_the_head_with_the_highest_score():
    found = normviz.patterns(flow_with(PURE["vertical"], PURE["previous"]))
    line = next(line for line in str(found).splitlines() if line.startswith("previous"))
    assert line.split() == ["previous", "1.00", "0.12", "layer", "1,", "head", "0", "1"]
    assert repr(found) == str(found)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda f: normviz.patterns(f, "wait"), "no measure 'wait' here"),
        (lambda f: normviz.patterns(f).excess("zigzag"), "The patterns are: diagonal, previous"),
        (lambda f: normviz.patterns(f).best(7, 0), "no layer 7 here"),
        (lambda f: normviz.patterns(f).best(0, 7), "no head 7 here"),
    ],
)
def test_unknown_names_are_refused_with_a_sentence(ask, words):
    with pytest.raises(UnknownName, match=words):
        ask(random_flow())

"""How far two measures agree: the same as slow loops, and the laws that follow."""

import math

import numpy as np
import pytest
import reference
from flows import flow_of, ladder_flow, random_flow, two_streams
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import normviz
from normviz.errors import BadInput, UnknownName

TOKENS = ["a", "b", "c", "d", "e"]

numbers = st.sampled_from([0.0, 0.0, 0.25, 0.5, 1.0, 2.0, 3.5, 7.0])
maps = arrays(np.float32, (1, 2, 5, 5), elements=numbers)
signed = arrays(np.float32, (1, 2, 5, 5), elements=numbers | st.sampled_from([-0.5, -2.0]))


def flow_of_two(one, other, **options):
    """Return a flow of one layer that holds two maps as two of its measures."""
    return flow_of({"weight": one, "weighted-norm": other}, TOKENS, **options)


def compare(one, other, **options):
    return normviz.agreement(flow_of_two(one, other), "weight", "weighted-norm", **options)


def slow_distance(one, other):
    """Return the square root of the Jensen-Shannon divergence of two rows, term by term."""
    if not any(one) or not any(other):
        return math.nan
    first = [abs(value) / sum(map(abs, one)) for value in one]
    second = [abs(value) / sum(map(abs, other)) for value in other]
    divergence = 0.0
    for p, q in zip(first, second, strict=True):
        divergence += p / 2 * math.log2(2 * p / (p + q)) if p else 0
        divergence += q / 2 * math.log2(2 * q / (p + q)) if q else 0
    return math.sqrt(max(0, divergence))


def slow_overlap(one, other, top):
    """Return the share of top keys in common; of equal keys the earlier comes first."""
    size = min(top, len(one) - 1)
    first, second = (
        set(sorted(range(len(row)), key=lambda key, row=row: -row[key])[:size])
        for row in (one, other)
    )
    return len(first & second) / size


def slow(one, other, top):
    """Return the three numbers of one head, query by query."""
    found = {"rank": [], "overlap": [], "distance": []}
    for row, opposite in zip(one.tolist(), other.tolist(), strict=True):
        seen = [(a, b) for a, b in zip(row, opposite, strict=True) if a or b]
        if len(seen) < 2:
            continue
        first, second = zip(*seen, strict=True)
        found["distance"].append(slow_distance(first, second))
        if len(set(first)) > 1 and len(set(second)) > 1:
            found["rank"].append(reference.spearman(first, second))
            found["overlap"].append(slow_overlap(first, second, top))
    known = {name: [v for v in values if not math.isnan(v)] for name, values in found.items()}
    return {name: sum(v) / len(v) if v else math.nan for name, v in known.items()}


@given(signed, signed, st.integers(1, 7))
def test_the_three_numbers_are_those_of_slow_loops(one, other, top):
    found = compare(one, other, top=top)
    for head in range(2):
        expected = slow(one[0, head], other[0, head], top)
        for name, value in expected.items():
            assert getattr(found, name)[0, head] == pytest.approx(value, abs=1e-7, nan_ok=True)


@given(signed, signed)
def test_agreement_is_mutual_and_within_its_bounds(one, other):
    found, back = compare(one, other), compare(other, one)
    for name, (least, most) in {"rank": (-1, 1), "overlap": (0, 1), "distance": (0, 1)}.items():
        values = getattr(found, name)
        np.testing.assert_allclose(values, getattr(back, name), atol=1e-7)
        known = values[~np.isnan(values)]
        assert (known >= least - 1e-9).all()
        assert (known <= most + 1e-9).all()


@given(maps, maps, arrays(np.float32, (1, 2, 5, 1), elements=st.sampled_from([0.5, 2.0, 8.0])))
def test_scaling_a_row_changes_nothing(one, other, factor):
    found, scaled = compare(one, other), compare(one * factor, other)
    for name in ("rank", "overlap", "distance"):
        np.testing.assert_allclose(getattr(found, name), getattr(scaled, name), atol=1e-7)


def test_a_measure_agrees_with_itself():
    found = normviz.agreement(random_flow(), "weight", "weight")
    np.testing.assert_allclose(found.rank, 1)
    np.testing.assert_allclose(found.overlap, 1)
    np.testing.assert_allclose(found.distance, 0)


def test_opposite_orders_and_separate_keys_are_as_far_apart_as_can_be():
    one = np.float32([[[[4, 3, 2, 1, 0]] * 5]])
    other = np.float32([[[[0, 1, 2, 3, 4]] * 5]])
    assert compare(one, other).rank[0, 0] == pytest.approx(-1)
    assert compare(one, other, top=2).overlap[0, 0] == 0
    apart = compare(np.float32([[[[1, 2, 0, 0, 0]] * 5]]), np.float32([[[[0, 0, 0, 3, 4]] * 5]]))
    assert apart.distance[0, 0] == pytest.approx(1)


def test_queries_without_an_order_have_no_rank_but_a_distance():
    even, peaked = np.ones((1, 1, 5, 5), np.float32), np.float32([[[[1, 2, 3, 4, 5]] * 5]])
    found = compare(even, peaked)
    assert math.isnan(found.rank[0, 0])
    assert math.isnan(found.overlap[0, 0])
    assert 0 < found.distance[0, 0] < 1
    even[0, 0, 0] = [5, 4, 3, 2, 1]  # now one query has an order, and counts alone
    assert compare(even, peaked).rank[0, 0] == pytest.approx(-1)
    assert "nan" in str(compare(peaked * 0, peaked))


def test_masked_pairs_do_not_count_as_agreement():
    causal = np.tri(5, dtype=np.float32)
    draw = np.random.default_rng(0)
    one, other = (draw.uniform(1, 2, (1, 1, 5, 5)).astype(np.float32) * causal for _ in range(2))
    short = [
        slow(one[0, 0, [q], : q + 1], other[0, 0, [q], : q + 1], 3)["rank"] for q in range(1, 5)
    ]
    assert compare(one, other).rank[0, 0] == pytest.approx(np.mean(short))


def test_a_measure_without_queries_counts_for_each_query_and_only_for_keys_it_sees():
    draw = np.random.default_rng(1)
    weight = draw.uniform(1, 2, (1, 2, 5, 5)).astype(np.float32) * np.tri(5, dtype=np.float32)
    norm = draw.uniform(1, 2, (1, 2, 5)).astype(np.float32)
    flow = flow_of({"weight": weight, "value-norm": norm}, TOKENS, stream="decoder")
    spread = norm[:, :, None, :] * np.tri(5, dtype=np.float32)
    found = normviz.agreement(flow, "weight", "value-norm")
    np.testing.assert_allclose(found.rank, compare(weight, spread).rank)
    np.testing.assert_allclose(found.distance, compare(weight, spread).distance)
    alone = normviz.agreement(flow, "value-norm", "value-norm")
    np.testing.assert_allclose(alone.rank, 1)


def test_a_measure_without_heads_is_compared_with_each_head():
    flow = two_streams()
    stream = flow.encoder
    found = normviz.agreement(flow, "attention", "weight", stream="encoder")
    assert found.heads == (1, 3)
    assert found.layers == (0, 2)
    expected = slow(stream["attention"][1], stream["weight"][1, 1], 3)
    for name, value in expected.items():
        assert getattr(found, name)[1, 1] == pytest.approx(value, abs=1e-6)
    assert found.at(2, 3).rank == found.rank[1, 1]


def test_two_measures_without_heads_have_one_column():
    found = normviz.agreement(ladder_flow(), "attention", "layer-output")
    assert found.heads == (None,)
    assert found.rank.shape == (2, 1)
    assert list(found.to_dataframe().columns) == ["layer", "rank", "overlap", "distance"]
    assert "all heads together" in str(found)


def test_aliases_are_understood():
    flow = ladder_flow(prenorm=True)
    found = normviz.agreement(flow, "attention-block", "attention-residual")
    assert found.first == found.second == "attention-residual"


def test_the_heads_that_differ_most_come_first():
    found = normviz.agreement(random_flow(), "weight", "weighted-norm")
    for by, sign in (("rank", 1), ("overlap", 1), ("distance", -1)):
        listed = found.most_different(12, by=by)
        values = [sign * getattr(head, by) for head in listed]
        assert values == sorted(values)
        assert len({(head.layer, head.head) for head in listed}) == 12
    worst = found.most_different(1)[0]
    assert worst.rank == found.rank.min()
    assert len(found.most_different()) == 5


def test_heads_without_a_number_are_not_called_different():
    even = np.ones((1, 1, 5, 5), np.float32)
    assert compare(even, even).most_different() == []


def test_the_tokens_where_they_differ_are_named():
    flow = random_flow()
    found = normviz.agreement(flow, "weight", "weighted-norm")
    differences = found.where(0, 3, count=6)
    distances = [difference.distance for difference in differences]
    assert distances == sorted(distances, reverse=True)
    assert np.mean(distances) == pytest.approx(found.distance[0, 3])
    worst = differences[0]
    one, other = (
        flow[name][0, 3, worst.query].astype(float) for name in ("weight", "weighted-norm")
    )
    one, other = one / one.sum(), other / other.sum()
    assert worst.key == np.abs(one - other).argmax()
    assert worst.first_share == pytest.approx(one[worst.key])
    assert worst.second_share == pytest.approx(other[worst.key])
    assert worst.query_piece == flow.tokens[worst.query]
    assert worst.key_piece == flow.tokens[worst.key]
    ranked = found.where(0, 3, count=6, by="rank")
    assert ranked[0].rank == min(difference.rank for difference in differences)


def test_ties_are_broken_by_distance():
    one = np.float32([[[[1, 2, 3, 4, 5], [1, 2, 3, 4, 50], *[[1, 2, 3, 4, 5]] * 3]]])
    other = np.float32([[[[1, 2, 3, 4, 5]] * 5]])
    assert compare(one, other, top=2).overlap[0, 0] == 1
    found = normviz.agreement(flow_of_two(one, other), "weight", "weighted-norm").where(
        0, 0, by="overlap"
    )
    assert found[0].query == 1


def test_the_table_has_a_row_for_each_head():
    found = normviz.agreement(random_flow(), "weight", "weighted-norm")
    table = found.to_dataframe()
    assert list(table.columns) == ["layer", "head", "rank", "overlap", "distance"]
    assert table["rank"].tolist() == found.rank.ravel().tolist()
    assert table["head"].tolist() == [0, 1, 2, 3] * 3


def test_the_text_names_the_measures_and_the_worst_heads():
    found = normviz.agreement(random_flow(), "weight", "weighted-norm")
    worst = found.most_different(1)[0]
    lines = str(found).splitlines()
    assert lines[0] == "weight against weighted-norm (encoder, 3 layers × 4 heads)"
    assert f"rank correlation {found.rank.mean():.2f}, overlap of the top 3 keys" in lines[1]
    assert lines[4].split()[:3] == [str(worst.layer), str(worst.head), f"{worst.rank:.2f}"]
    assert repr(found) == str(found)


def test_streams_are_chosen_by_name():
    flow = two_streams()
    with pytest.raises(UnknownName, match="Expected the name of a stream"):
        normviz.agreement(flow, "weight", "weight")
    assert normviz.agreement(flow, "weight", "weight", stream="cross").layers == (1,)


@pytest.mark.parametrize(
    ("ask", "kind", "words"),
    [
        (lambda f: normviz.agreement(f, "wait", "weight"), UnknownName, "no measure 'wait' here"),
        (
            lambda f: normviz.agreement(f, "weight", "layer-output"),
            UnknownName,
            "no measure 'layer-output' here",
        ),
        (
            lambda f: normviz.agreement(f, "weight", "weight", top=0),
            BadInput,
            "Expected at least one key",
        ),
        (lambda f: itself(f).at(9, 0), UnknownName, "no layer 9 here"),
        (lambda f: itself(f).where(0, 9), UnknownName, "no head 9 here"),
        (lambda f: itself(f).where(0), UnknownName, "no head None here"),
        (
            lambda f: itself(f).where(0, 0, by="x"),
            UnknownName,
            "The comparisons are: rank, overlap, distance",
        ),
        (lambda f: itself(f).most_different(by="x"), UnknownName, "no comparison 'x'"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_a_sentence(ask, kind, words):
    with pytest.raises(kind, match=words):
        ask(random_flow())


def itself(flow):
    return normviz.agreement(flow, "weight", "weight")

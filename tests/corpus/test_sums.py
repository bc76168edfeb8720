"""Sums over a corpus are the paper's averages, and the same however it is split."""

import json
import math
from itertools import pairwise

import numpy as np
import pytest
from flows import flow_of
from hypothesis import given, settings
from hypothesis import strategies as st

from normviz.core.tokens import Tokens
from normviz.corpus import rank_correlation
from normviz.corpus.categories import Categories
from normviz.corpus.moments import Moments
from normviz.corpus.profile import Profile
from normviz.corpus.profile_file import MOMENTS
from normviz.corpus.rank_correlation import (
    SAMPLE_SIZE,
    JointHistogram,
    TokenSample,
    bin_indices,
    counted_spearman,
)
from normviz.corpus.run import profile
from normviz.corpus.sources import pair_lines, read_items
from normviz.corpus.summarize import summarize_text
from normviz.corpus.sums import MAX_EXAMPLES, CorpusSums, Example
from normviz.errors import BadInput, UnknownName

WORDS = ["[CLS]", "the", "cat", ",", "12", "[SEP]"]


def tokens(labels=tuple(WORDS)):
    flags = [label.startswith("[") for label in labels]
    plain = Tokens.plain(labels, special=flags)
    every = zip(labels, flags, plain.categories, strict=True)
    kinds = [label if flag else kind for label, flag, kind in every]
    columns = {name: getattr(plain, name) for name in ("pieces", "special", "words", "word_texts")}
    return Tokens(**columns, ids=tuple(range(len(labels))), categories=tuple(kinds))


def flow(seed, labels=tuple(WORDS), *, heads=3):
    draw = np.random.default_rng(seed)
    count = len(labels)
    weight = draw.dirichlet(np.ones(count), size=(2, heads, count))
    norm = draw.gamma(2.0, size=(2, heads, count))
    return flow_of({"weight": weight, "value-norm": norm}, tokens(labels))


class TestMoments:
    def test_they_are_the_mean_and_the_deviation_of_what_was_seen(self):
        values = np.random.default_rng(0).normal(1e6, 1.0, size=(50, 2, 3))
        whole = sum((Moments.of(one) for one in values[1:]), Moments.of(values[0]))
        np.testing.assert_allclose(whole.means, values.mean(axis=0), rtol=1e-14)
        np.testing.assert_allclose(whole.deviation, values.std(axis=0, ddof=1), rtol=1e-9)
        half = 1.96 * values.std(axis=0, ddof=1) / math.sqrt(50)
        np.testing.assert_allclose(whole.interval, half, rtol=1e-9)

    def test_what_was_not_seen_does_not_count(self):
        both = Moments.of([1.0, math.nan]) + Moments.of([3.0, math.nan])
        np.testing.assert_array_equal(both.count, [2, 0])
        np.testing.assert_array_equal(both.means, [2.0, math.nan])
        assert np.isnan(both.deviation[1])

    def test_many_at_once_are_as_one_by_one(self):
        values = np.random.default_rng(5).normal(size=(2, 7))
        singly = sum((Moments.of(values[:, n]) for n in range(1, 7)), Moments.of(values[:, 0]))
        at_once = Moments.over_last_axis(values)
        np.testing.assert_array_equal(at_once.count, singly.count)
        np.testing.assert_allclose(at_once.means, singly.means)
        np.testing.assert_allclose(at_once.deviation, singly.deviation)

    @given(
        st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40),
        st.lists(st.integers(0, 40), max_size=6),
    )
    def test_any_split_gives_the_same(self, values, cuts):
        places = sorted({0, len(values), *(cut for cut in cuts if cut < len(values))})
        parts = [values[a:b] for a, b in pairwise(places)]
        merged = [sum((Moments.of([v]) for v in part[1:]), Moments.of([part[0]])) for part in parts]
        whole = sum(merged[1:], merged[0])
        scale = max(1.0, *map(abs, values))
        assert whole.means[0] == pytest.approx(np.mean(values), abs=1e-9 * scale)
        assert whole.deviation[0] == pytest.approx(np.std(values, ddof=1), abs=1e-7 * scale)


class TestRankCorrelation:
    def test_counted_pairs_correlate_as_single_ones_do(self):
        draw = np.random.default_rng(1)
        one, other = draw.integers(0, 5, 300), draw.integers(0, 7, 300)
        pairs, counts = np.unique(np.stack([one, other]), axis=1, return_counts=True)
        ranks = [_average_ranks(values) for values in (one, other)]
        expected = np.corrcoef(*ranks)[0, 1]
        assert counted_spearman(pairs[0], pairs[1], counts) == pytest.approx(expected, abs=1e-12)

    def test_bins_change_a_correlation_by_less_than_a_thousandth(self):
        draw = np.random.default_rng(2)
        one = draw.lognormal(size=4000)
        other = one**-0.5 * draw.lognormal(sigma=0.5, size=4000)
        exact = np.corrcoef(_average_ranks(one), _average_ranks(other))[0, 1]
        parts = [JointHistogram.of(one[n::3], other[n::3]) for n in range(3)]
        whole = parts[0] + parts[1] + parts[2]
        assert whole.pairs == 4000
        assert whole.spearman == pytest.approx(exact, abs=0.001)

    def test_zero_and_what_is_out_of_range_have_bins_too(self):
        places = bin_indices([0.0, 1e-300, 1e-8, 1.0, 1.2, 1e300])
        assert places[0] == places[1] == 0
        assert (np.diff(places[1:]) > 0).all()
        assert places[-1] < rank_correlation.CELL_BINS

    def test_without_order_there_is_no_correlation(self):
        assert math.isnan(JointHistogram.of([], []).spearman)
        assert math.isnan(JointHistogram.of([1.0, 1.0], [1.0, 2.0]).spearman)

    def test_frequent_words_come_first_by_count_or_by_a_given_rank(self):
        met = TokenSample.of("x", [7, 7, 7, 8, 8, 9], {"m": [1, 1, 1, 4, 4, 16]})
        assert met.totals == {7: 3, 8: 2, 9: 1}
        assert met.spearman("m") == pytest.approx(1)
        assert met.spearman("m", {7: 3, 8: 2, 9: 1}) == pytest.approx(-1)
        assert met.spearman("m", {7: 1}, without={9}) == pytest.approx(1)  # unseen: last
        assert math.isnan(met.spearman("m", without={7, 8, 9}))

    def test_frequency_ranks_are_exact_where_values_differ_in_the_third_digit(self):
        draw = np.random.default_rng(3)
        ids = draw.zipf(1.5, 3000) % 50
        values = 1 + 0.001 * ids + 0.01 * draw.random(3000)  # all in one bin of an eighth octave
        met = sum(
            (TokenSample.of(str(n), ids[n::7].tolist(), {"m": values[n::7]}) for n in range(7)),
            TokenSample(),
        )
        counts = np.bincount(ids)
        expected = np.corrcoef(_average_ranks(-counts[ids]), _average_ranks(values))[0, 1]
        assert met.spearman("m") == pytest.approx(expected, abs=1e-12)
        assert met.note == ""


class TestTokenSample:
    def parts(self, count=40):
        draw = np.random.default_rng(4)
        return [
            TokenSample.of(f"text {n}", range(n, n + 10), {"m": draw.random(10)})
            for n in range(count)
        ]

    def test_it_is_the_same_in_any_order_and_any_split(self, monkeypatch):
        monkeypatch.setattr(rank_correlation, "SAMPLE_SIZE", 90)
        parts = self.parts()
        whole = sum(parts[1:], parts[0])
        for order in (parts[::-1], parts[20:] + parts[:20]):
            other = sum(order[1:7], order[0]) + sum(order[8:], order[7])
            assert sorted(other.columns["m"]) == sorted(whole.columns["m"])
            assert other.totals == whole.totals
            assert other.spearman("m") == pytest.approx(whole.spearman("m"))

    def test_of_a_large_corpus_it_has_a_stated_size_and_each_token_the_same_chance(
        self, monkeypatch
    ):
        monkeypatch.setattr(rank_correlation, "SAMPLE_SIZE", 2000)
        parts = [TokenSample.of(str(n), range(20), {"m": range(20)}) for n in range(1000)]
        whole = sum(parts[1:], parts[0])
        assert len(whole.ids) == 2000
        assert whole.tokens == 20_000
        assert whole.note == (
            "Correlations with frequency rank are from a random sample of 2,000 of 20,000 tokens "
            "(seed 0)."
        )
        by_position = np.bincount(whole.ids, minlength=20)  # about 100 ± 10 each
        assert by_position.min() > 60
        assert by_position.max() < 140

    def test_measures_that_only_one_part_has_are_of_its_tokens(self):
        one, other = (TokenSample.of(n, [1, 2], {n: [3.0, 4.0]}) for n in ("a", "b"))
        assert (one + other).spearman("a", {1: 1, 2: 2}) == pytest.approx(1)

    def test_the_docs_state_the_size_and_the_seed(self):
        for text in (profile.__doc__, Profile.frequency.__doc__):
            assert f"{SAMPLE_SIZE:,}" in text
            assert f"seed {rank_correlation.SAMPLE_SEED}" in text


def _average_ranks(values):
    _, where, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[where]


class TestCorpusSums:
    def test_masses_are_added_up_over_keys_and_averaged_over_queries(self):
        one = flow(0)
        sums = summarize_text(one, Categories.from_user(None), text="x")
        stream = one.stream()
        for kind, members in {
            "[CLS]": [0],
            "[SEP]": [5],
            "punctuation": [3],
            "other": [1, 2, 4],
        }.items():
            for layer in range(2):
                for head in range(3):
                    for measure, values in (
                        ("weight", one["weight"]),
                        ("weighted-norm", one["weighted-norm"]),
                    ):
                        rows = [sum(values[layer, head, q, k] for k in members) for q in range(6)]
                        found = sums.masses[measure, kind].means[layer, head]
                        assert found == pytest.approx(np.mean(rows), rel=1e-6)
                    norms = [stream["value-norm"][layer, head, k] for k in members]
                    found = sums.means["value-norm", kind].means[layer, head]
                    assert found == pytest.approx(np.mean(norms), rel=1e-6)
                of_all = sums.masses["weight", kind].means[layer]
                assert of_all[-1] == pytest.approx(of_all[:-1].mean())
        shares = sum(
            sums.shares["weighted-norm", kind].means for kind in Categories.from_user(None).names
        )
        np.testing.assert_allclose(shares, 1)

    def test_weight_and_norm_correlate_over_all_queries(self):
        labels = ("[CLS]", *(f"w{n}" for n in range(30)), "[SEP]")
        one = flow(9, labels)
        sums = summarize_text(one, Categories.from_user(None))
        inside = np.array([label.startswith("w") for label in labels])
        weight = one["weight"][..., inside].astype(np.float64)
        norm = np.broadcast_to(one["value-norm"][:, :, None, inside], weight.shape)
        exact = np.corrcoef(_average_ranks(weight.ravel()), _average_ranks(norm.ravel()))[0, 1]
        assert sums.correlations["other"].pairs == 2 * 3 * 32 * 30
        assert sums.correlations["[CLS]"].pairs == 2 * 3 * 32
        assert sums.correlations["other"].spearman == pytest.approx(exact, abs=0.001)

    def test_masked_pairs_are_no_pairs(self):
        weight = np.tril(np.ones((1, 1, 6, 6))) / np.arange(1, 7)[:, None]
        masked = flow_of({"weight": weight, "value-norm": np.ones((1, 1, 6))}, tokens())
        sums = summarize_text(masked, Categories.from_user(None))
        assert sum(one.pairs for one in sums.correlations.values()) == 21

    def test_measures_disagree_by_the_mean_of_all_queries(self):
        one = flow(10, ("[CLS]", *"abcdefghijklmnopqrst", "[SEP]"))
        sums = summarize_text(one, Categories.from_user(None))
        found = sums.disagreements["weight", "weighted-norm"].means
        for layer, head in np.ndindex(found.shape):
            each = []
            for query in range(22):
                weight = one["weight"][layer, head, query].astype(np.float64)
                moved = weight * one["value-norm"][layer, head]
                moved /= moved.sum()
                middle = (weight + moved) / 2
                both = [(p * np.log2(p / middle)).sum() for p in (weight, moved)]
                each.append(math.sqrt(sum(both) / 2))
            assert found[layer, head] == pytest.approx(np.mean(each), rel=1e-5)

    def test_shares_are_of_texts_of_single_queries_or_of_the_corpus(self):
        flows = [flow(11), flow(12, ("[CLS]", "a", "b", "[SEP]"))]
        sums = [summarize_text(one, Categories.from_user(None)) for one in flows]
        whole = Profile("m", "self", (0, 1), (0, 1, 2), sums[0] + sums[1])
        taken = [  # what each query takes from [CLS], and from all keys [layer head query]
            (norms[..., 0], norms.sum(axis=-1))
            for norms in (one["weighted-norm"].astype(np.float64) for one in flows)
        ]
        per_text = [c.sum(axis=(1, 2)) / total.sum(axis=(1, 2)) for c, total in taken]
        per_query = [(c / total).mean(axis=(1, 2)) for c, total in taken]
        corpus = [sum(each[n].mean(axis=(1, 2)) for each in taken) for n in (0, 1)]
        share = whole.share
        expected = {
            "text": np.mean(per_text, axis=0),
            "query": np.mean(per_query, axis=0),
            "corpus": corpus[0] / corpus[1],
        }
        for per, values in expected.items():
            np.testing.assert_allclose(share("weighted-norm", "[CLS]", per=per), values, rtol=1e-5)
        assert len({round(float(values[0]), 6) for values in expected.values()}) == 3
        np.testing.assert_array_equal(share("weighted-norm", "[CLS]"),
                                      share("weighted-norm", "[CLS]", per="text"))  # fmt: skip
        for per in expected:  # the categories share out everything
            names = whole.categories
            np.testing.assert_allclose(sum(share("weighted-norm", n, per=per) for n in names), 1)
        with pytest.raises(UnknownName, match="The share units are: query, text, corpus"):
            share("weight", "[CLS]", per="token")

    def test_a_query_that_takes_nothing_has_no_share(self):
        weight = np.full((1, 1, 6, 6), 1 / 6)
        weight[0, 0, 2] = 0.0
        sums = summarize_text(
            flow_of({"weight": weight, "value-norm": np.ones((1, 1, 6))}, tokens()),
            Categories.from_user(None),
        )
        np.testing.assert_allclose(sums.query_shares["weight", "[CLS]"].means, 1 / 6)

    def test_a_text_without_a_category_has_a_mass_of_zero_and_no_mean_of_it(self):
        without = ("[CLS]", "the", "cat", "[SEP]")
        both = summarize_text(flow(1), Categories.from_user(None)) + summarize_text(
            flow(2, without), Categories.from_user(None)
        )
        alone = summarize_text(flow(1), Categories.from_user(None))
        mass, mean = ("weight", "punctuation"), ("value-norm", "punctuation")
        np.testing.assert_allclose(both.masses[mass].means, alone.masses[mass].means / 2)
        np.testing.assert_allclose(both.means[mean].means, alone.means[mean].means)
        np.testing.assert_array_equal(both.means[mean].count, 1)

    def test_a_category_that_occurs_later_counts_as_zero_before(self):
        kinds = Categories.from_user(
            lambda tokens: ["12" if piece == "12" else "rest" for piece in tokens]
        )
        plain = summarize_text(flow(3, ("[CLS]", "the", "[SEP]")), kinds)
        late = summarize_text(flow(4), kinds)
        for both in (plain + late, late + plain):
            assert both.masses["weight", "12"].count.min() == 2
            expected = late.masses["weight", "12"].means / 2
            np.testing.assert_allclose(both.masses["weight", "12"].means, expected)

    @settings(max_examples=15, deadline=None)
    @given(st.permutations(range(6)), st.integers(1, 5))
    def test_any_split_and_any_order_give_the_same(self, order, cut):
        every = [
            summarize_text(flow(seed), Categories.from_user(None), text=str(seed))
            for seed in range(6)
        ]
        expected = sum(every[1:], every[0])
        first = sum((every[n] for n in order[1:cut]), every[order[0]])
        second = sum((every[n] for n in order[cut + 1 :]), every[order[cut]])
        found = first + second
        assert (found.texts, found.tokens) == (expected.texts, expected.tokens) == (6, 36)
        for table in MOMENTS:
            for key, moments in getattr(expected, table).items():
                other = getattr(found, table)[key]
                np.testing.assert_allclose(other.means, moments.means, rtol=1e-9, atol=1e-12)
                np.testing.assert_allclose(other.deviation, moments.deviation, rtol=1e-9, atol=1e-9)
        for category, histogram in expected.correlations.items():
            np.testing.assert_array_equal(found.correlations[category].cells, histogram.cells)
            np.testing.assert_array_equal(found.correlations[category].counts, histogram.counts)
        assert found.occurrences.totals == expected.occurrences.totals
        for measure, column in expected.occurrences.columns.items():
            assert sorted(found.occurrences.columns[measure]) == sorted(column)
        assert sorted(found.examples) == sorted(expected.examples)

    def test_only_the_worst_examples_are_kept(self):
        many = [CorpusSums(examples=[Example(n / 100, 0, 0, str(n))]) for n in range(60)]
        kept = sum(many[1:], many[0]).examples
        assert len(kept) == MAX_EXAMPLES
        assert min(kept).distance == pytest.approx(0.4)


class TestCategories:
    def test_the_default_ones_are_those_of_the_tokens(self):
        assert Categories.from_user(None).of(tokens()) == tokens().categories

    def test_words_are_matched_in_order_and_special_tokens_are_not(self):
        kinds = Categories.from_user({"number": r"\d+", "any": r".+"})
        assert kinds.of(tokens()) == ("[CLS]", "any", "any", "any", "number", "[SEP]")

    def test_the_papers_punctuation_is_comma_and_full_stop(self):
        labels = ("[CLS]", ",", ".", ";", "!", "...", "cat", "[SEP]")
        one = flow(0, labels)
        kinds = Categories.from_user(None, "paper")
        found = kinds.of(kinds.with_punctuation(one).stream().keys)
        other = ("other",) * 4
        assert found == ("[CLS]", "punctuation", "punctuation", *other, "[SEP]")
        whole = Categories.from_user(None)
        assert whole.of(whole.with_punctuation(one).stream().keys).count("punctuation") == 5
        masses = summarize_text(one, kinds).masses
        found = masses["weight", "punctuation"].means[0, 0]
        assert found == pytest.approx(one["weight"][0, 0, :, 1:3].sum(axis=-1).mean(), rel=1e-5)

    def test_another_set_of_punctuation_is_refused_with_those_there_are(self):
        with pytest.raises(UnknownName, match="The punctuation sets are: unicode, paper"):
            Categories.from_user(None, ",;")

    def test_a_function_returns_any_names(self):
        found = Categories.from_user(lambda given: [str(len(piece)) for piece in given]).of(
            tokens()
        )
        assert found == ("5", "3", "3", "1", "2", "5")

    @pytest.mark.parametrize(
        ("wrong", "said"),
        [({"x": "("}, "'('"), ([1], "[1]"), ({}, "{}")],
    )
    def test_bad_categories_are_refused(self, wrong, said):
        with pytest.raises(BadInput) as caught:
            Categories.from_user(wrong)
        assert said in caught.value.found

    def test_a_function_that_forgets_tokens_is_refused(self):
        with pytest.raises(BadInput, match="2 categories for 6 tokens"):
            Categories.from_user(lambda _: ["a", "b"]).of(tokens())


class TestSources:
    def read(self, texts, **how):
        return [(item.text, item.pair, bool(item.problem)) for item in read_items(texts, **how)]

    def test_texts_and_pairs_are_taken_as_they_come(self):
        found = self.read(iter(["a", ("b", "c"), ["d", "e"]]))
        assert found == [("a", None, False), ("b", "c", False), ("d", "e", False)]

    def test_rows_have_a_column(self):
        rows = [{"text": "a"}, {"text": "b", "pair": "c"}, {"other": "d"}]
        assert self.read(rows)[:2] == [("a", None, False), ("b", "c", False)]
        assert self.read(rows)[2][2]
        assert self.read([{"body": "a"}], column="body") == [("a", None, False)]

    def test_a_dataframe_goes_by_its_column(self):
        pandas = pytest.importorskip("pandas")
        table = pandas.DataFrame({"body": ["a", "b"], "n": [1, 2]})
        assert self.read(table, column="body") == [("a", None, False), ("b", None, False)]
        assert self.read(table["body"]) == [("a", None, False), ("b", None, False)]
        with pytest.raises(BadInput, match="no column 'text'"):
            self.read(table)

    def test_files_and_folders_are_read_line_by_line(self, tmp_path):
        (tmp_path / "b.txt").write_text("one\n\n two \n", encoding="utf-8")
        (tmp_path / "a.jsonl").write_text(json.dumps({"text": "zero", "pair": "p"}) + "\n[1\n")
        (tmp_path / "c.bin").write_bytes(b"no")
        found = self.read(tmp_path)
        assert found == [
            ("zero", "p", False),
            ("", None, True),
            ("one", None, False),
            ("two", None, False),
        ]
        assert self.read(str(tmp_path / "b.txt")) == found[2:]
        assert self.read([tmp_path / "b.txt"]) == found[2:]

    def test_a_line_that_cannot_be_decoded_has_a_problem_and_the_rest_is_read(self, tmp_path):
        (tmp_path / "x.txt").write_bytes(b"good\n\xff\xfe bad\nalso good\n")
        found = list(read_items(tmp_path / "x.txt"))
        assert [bool(item.problem) for item in found] == [False, True, False]
        assert "cannot be read" in found[1].problem

    @pytest.mark.parametrize("wrong", [3, b"bytes", {"a": 1}, "no such file"])
    def test_other_objects_than_a_corpus_are_refused(self, wrong):
        with pytest.raises(BadInput):
            self.read(wrong)

    def test_an_empty_folder_is_refused(self, tmp_path):
        with pytest.raises(BadInput, match="no text in"):
            self.read(tmp_path)


class TestPairLines:
    def read(self, *paths):
        return [(one.text, one.pair, bool(one.problem)) for one in read_items(pair_lines(paths))]

    def test_two_consecutive_lines_are_a_pair_and_headings_are_skipped(self, tmp_path):
        place = tmp_path / "wiki.txt"
        place.write_text("= A =\none\n\ntwo\n== B ==\nthree\n= C =\nfour\nfive\n")
        assert self.read(place) == [("one", "two", False), ("three", "four", False)]

    def test_no_pair_has_lines_of_two_files(self, tmp_path):
        for name in ("a", "b"):
            (tmp_path / f"{name}.txt").write_text(f"{name}1\n{name}2\n{name}3\n")
        assert self.read(tmp_path) == [("a1", "a2", False), ("b1", "b2", False)]

    def test_a_line_that_cannot_be_read_has_a_problem(self, tmp_path):
        (tmp_path / "x.txt").write_bytes(b"one\n\xff\ntwo\n")
        assert self.read(tmp_path / "x.txt") == [("", None, True), ("one", "two", False)]

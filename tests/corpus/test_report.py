"""Profiles as charts and pages, and two of them compared."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from profiles import random_profile

from normviz.core.failure import Failure
from normviz.errors import BadInput, UnknownName

FAILED = Failure(7, "too long", "it has 900 tokens, and the model takes 512")


def read_data(page):
    """Return the data that a page holds for its script."""
    return json.loads(re.search(r'<script type="application/json">(.*?)</script>', page)[1])


def values_by_group(chart):
    return {one.group: np.array(one.values) for one in chart.series}


class TestCharts:
    def test_weight_and_norm_come_first_with_the_same_kinds_in_the_same_order(self):
        weight, norm, *_ = random_profile().charts()
        assert (weight.title, norm.title) == ("share of α", "share of ‖αf(x)‖")
        groups = [one.group for one in weight.series]
        assert groups == ["[CLS]", "[SEP]", "punctuation", "other"]
        assert [one.group for one in norm.series] == groups
        assert weight.kinds
        assert norm.kinds
        assert weight.unit == norm.unit == ""

    def test_the_curves_are_the_profile_s_own_numbers_with_its_intervals(self):
        found = random_profile()
        table = found.to_dataframe("share")
        for measure, chart in zip(("weight", "weighted-norm"), found.charts(), strict=False):
            for one in chart.series:
                np.testing.assert_allclose(one.values, found.share(measure, one.group))
                of_it = (table["measure"] == measure) & (table["category"] == one.group)
                rows = table[of_it & table["head"].isna()].sort_values("layer")
                np.testing.assert_allclose(one.low, rows["low"].clip(0, 1))
                np.testing.assert_allclose(one.high, rows["high"].clip(0, 1))

    def test_lengths_have_a_unit_and_are_no_shares(self):
        found = random_profile()
        lengths = found.charts()[2]
        assert (lengths.title, lengths.unit) == ("‖f(x)‖", "‖f(x)‖")
        assert max(one.highest for one in lengths.series) > 1
        for kind, values in values_by_group(lengths).items():
            np.testing.assert_allclose(values, found.mean("value-norm", kind))
        assert lengths.finding.startswith("f(x) is shortest for [CLS], ")

    def test_mixing_ratios_are_drawn_where_they_are_known(self):
        assert "share from other tokens" not in [one.title for one in random_profile().charts()]
        found = random_profile(mixing=True)
        chart = next(one for one in found.charts() if one.title == "share from other tokens")
        (curve,) = chart.series
        np.testing.assert_allclose(curve.values, found.mean("mixing:attention-block", "all"))
        assert not chart.kinds

    def test_ratios_of_all_tokens_are_no_kind_of_token(self):
        found = random_profile(mixing=True)
        assert "all" not in found.categories
        assert " all" not in str(found)

    def test_the_finding_is_where_weight_and_norm_differ_most(self):
        found = random_profile()
        weight, norm = (found.share(one, "[CLS]").mean() for one in ("weight", "weighted-norm"))
        assert found.charts()[0].finding == (
            f"[CLS] has {weight:.0%} of α and {norm:.1%} of ‖αf(x)‖ (mean of layers)."
        )

    def test_one_text_has_no_band(self):
        assert all(one.low is None for one in random_profile(texts=1).charts()[0].series)

    def test_a_measure_that_is_not_held_is_refused(self):
        with pytest.raises(UnknownName, match="no measure 'layer-output' here"):
            random_profile().chart("layer-output")


class TestPage:
    def test_the_path_comes_back_and_the_same_profile_gives_the_same_bytes(self, tmp_path):
        path = random_profile().to_html(tmp_path / "a.html")
        assert path == tmp_path / "a.html"
        other = random_profile().to_html(tmp_path / "b.html")
        assert path.read_bytes() == other.read_bytes()
        path.read_text(encoding="ascii")

    def test_the_page_says_over_what_it_is_and_what_failed(self):
        found = random_profile(failures=[FAILED, FAILED])
        page = found.report().page()
        assert "<title>normviz: small (self), 5 texts, 30 tokens</title>" in page
        data = read_data(page)
        assert data["notes"] == [
            f"2 texts could not be measured; the first: {FAILED.reason}",
        ]
        assert [one["title"] for one in data["charts"]] == [one.title for one in found.charts()]
        assert read_data(random_profile().report().page())["notes"] == []

    def test_the_policy_lets_in_nothing_from_elsewhere(self):
        page = random_profile().report().page()
        assert "default-src 'none'; script-src 'sha256-" in page
        assert "unsafe" not in page.partition("</head>")[0].partition("<style>")[0]

    def test_no_name_can_leave_its_block(self):
        page = random_profile(model="</script><b>").report().page()
        assert "<b>" not in page.partition("<body>")[2].partition("<script>")[0]
        assert read_data(page)["title"] == "</script><b> (self)"

    def test_a_notebook_gets_the_page_in_a_frame_and_the_table_as_text(self):
        found = random_profile()
        assert found._repr_html_().startswith('<iframe title="normviz: small (self)"')
        assert repr(found.frame()) == str(found)
        assert 'height="300"' in found.frame(height=300).html


class TestComparison:
    def test_both_are_in_every_chart_in_one_hue_solid_and_dashed(self):
        one, other = random_profile(), random_profile(1, model="other")
        for chart in one.compare(other).charts():
            groups = {}
            for curve in chart.series:
                groups.setdefault(curve.group, []).append((curve.name, curve.dashed))
            for named in groups.values():
                assert [dashed for _, dashed in named] == [False, True]
                assert [name.split()[-1] for name, _ in named] == ["small", "other"]

    def test_of_a_long_name_the_end_stands_beside_the_curves(self):
        one = random_profile(model="someone/run/a-checkpoint-of-many-0100")
        other = random_profile(1, model="someone/run/a-checkpoint-of-many-0200")
        both = one.compare(other)
        names = [curve.name for curve in both.charts()[0].series][:2]
        assert names == ["[CLS] …nt-of-many-0100", "[CLS] …nt-of-many-0200"]
        assert one.model in both.report().title
        assert other.model in both.to_dataframe()

    def test_differences_are_of_the_means_with_both_intervals(self):
        one, other = random_profile(), random_profile(1, model="other")
        table = one.compare(other).to_dataframe("share")
        rows = table[(table["measure"] == "weight") & (table["category"] == "[CLS]")]
        mine, theirs = (p.share("weight", "[CLS]") for p in (one, other))
        np.testing.assert_allclose(rows["small"], mine)
        np.testing.assert_allclose(rows["other"], theirs)
        np.testing.assert_allclose(rows["difference"], theirs - mine)
        halves = [p.sums.shares["weight", "[CLS]"].interval[:, -1] for p in (one, other)]
        half = np.sqrt(halves[0] ** 2 + halves[1] ** 2)
        np.testing.assert_allclose(rows["high"] - rows["difference"], half)
        np.testing.assert_allclose(rows["difference"] - rows["low"], half)
        assert len(one.compare(other).to_dataframe("mean"))

    def test_a_profile_does_not_differ_from_itself(self):
        found = random_profile()
        table = found.compare(found, names=("a", "b")).to_dataframe()
        assert (table["difference"] == 0).all()

    def test_layers_that_only_one_has_are_left_out_and_named(self):
        one, other = random_profile(layers=4), random_profile(1, model="other", layers=2)
        both = one.compare(other)
        assert both.layers == (0, 1)
        assert all(chart.layers == (0, 1) for chart in both.charts())
        note = "Only small has 2 more layers, not drawn: 2, 3."
        assert note in both.report().notes
        assert note in str(both)
        np.testing.assert_allclose(
            values_by_group(both.charts()[0])["[CLS]"], other.share("weight", "[CLS]")
        )

    def test_what_only_one_knows_is_not_compared(self):
        one, other = random_profile(mixing=True), random_profile(1, model="other")
        titles = [chart.title for chart in one.compare(other).charts()]
        assert titles == [chart.title for chart in other.charts()]

    def test_corpora_of_different_size_are_noted(self):
        both = random_profile(texts=4).compare(random_profile(model="other", failures=[FAILED]))
        assert both.report().notes == (
            f"other: 1 text could not be measured; the first: {FAILED.reason}",
            "The two profiles have different numbers of texts.",
        )
        assert both.charts()[0].label == "mean of 4 and 5 texts"

    def test_two_of_one_name_are_refused(self):
        with pytest.raises(BadInput, match=r"Both .* called 'small'.*two names.*names=\("):
            random_profile().compare(random_profile(1))

    def test_without_layers_in_common_there_is_nothing_to_compare(self):
        one = random_profile(layers=2)
        other = replace(random_profile(1, model="other", layers=2), layers=(5, 6))
        with pytest.raises(BadInput, match=r"has the layers \(0, 1\) and other \(5, 6\)"):
            one.compare(other)

    def test_only_means_are_compared(self):
        with pytest.raises(UnknownName, match="no table 'pattern' here"):
            random_profile().compare(random_profile(1, model="other")).to_dataframe("pattern")

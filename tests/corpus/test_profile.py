"""A model over a corpus: the same numbers in any company, after any kill, in any process."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import numpy as np
import pytest
from profiles import TEXTS, same

import normviz
from normviz.corpus import checkpoint
from normviz.corpus import profile_file as archive
from normviz.corpus.run import profile
from normviz.derived.ranks import spearman
from normviz.errors import BadFile, BadInput
from normviz.model.analyze import analyze


@pytest.fixture(scope="module")
def double():
    """The demo model in double precision, in which company makes no difference."""
    from normviz.model.loading import load_model

    loaded = load_model("demo", dtype="float64")
    return loaded.model, loaded.tokenizer


class TestNumbers:
    def test_they_are_averages_of_what_single_texts_give(self, double):
        found = profile(TEXTS, *double)
        flows = [
            analyze(*double, text, pair)
            for text, pair in (one if isinstance(one, tuple) else (one, None) for one in TEXTS)
        ]
        assert found.texts == len(TEXTS)
        assert found.tokens == sum(len(flow.tokens) for flow in flows)
        for measure in ("weight", "weighted-norm", "attention"):
            for kind in ("[CLS]", "[SEP]", "punctuation", "other"):
                each = []
                for flow in flows:
                    of_kind = np.array(flow.tokens.categories) == kind
                    values = flow[measure].astype(np.float64)
                    taken = values[..., of_kind].sum(axis=-1).mean(axis=-1)
                    each.append(taken.mean(axis=1) if taken.ndim == 2 else taken)
                np.testing.assert_allclose(
                    found.mass(measure, kind), np.mean(each, axis=0), rtol=1e-5
                )
        lengths = [
            flow["value-norm"][:, :, np.array(flow.tokens.categories) == "[SEP]"].mean(axis=(1, 2))
            for flow in flows
        ]
        np.testing.assert_allclose(
            found.mean("value-norm", "[SEP]"), np.mean(lengths, 0), rtol=1e-5
        )

    @pytest.mark.parametrize("size", [1, 3])
    def test_neither_the_batch_nor_the_order_makes_a_difference(self, double, size):
        whole, other = profile(TEXTS, *double), profile(TEXTS[::-1], *double, batch_size=size)
        same(whole, other)
        for key, moments in whole.tally.masses.items():
            np.testing.assert_allclose(other.tally.masses[key].means, moments.means, rtol=1e-6)

    def test_halves_of_a_corpus_add_up_to_the_whole(self, double):
        whole = profile(TEXTS, *double)
        first, second = profile(TEXTS[:3], *double), profile(TEXTS[3:], *double)
        joined = (first + second).tally
        same(first + second, whole)
        for key, moments in whole.tally.masses.items():
            np.testing.assert_allclose(joined.masses[key].means, moments.means, rtol=1e-6)
            np.testing.assert_array_equal(joined.masses[key].count, moments.count)

    def test_parts_of_other_models_do_not_add_up(self, demo):
        one = profile(TEXTS[:2], *demo)
        other = replace(one, layers=one.layers[:-1])
        with pytest.raises(BadInput) as caught:
            one + other
        assert "other layers" in caught.value.found
        assert "compare" in caught.value.do

    def test_the_ladder_brings_its_mixing_ratios(self, double):
        rungs = ["attention", "attention-residual", "attention-block"]
        found = profile(TEXTS[:2], *double, measures=rungs, heads=False)
        flows = [analyze(*double, text, measures=rungs) for text in TEXTS[:2]]
        wanted = np.mean([flow.mixing("attention-block").mean(axis=-1) for flow in flows], axis=0)
        np.testing.assert_allclose(found.mean("mixing:attention-block", "all"), wanted, rtol=1e-5)

    def test_special_tokens_have_weight_but_move_little(self, demo):
        found = profile(TEXTS, *demo)
        weight, norm = (found.share(name, "[CLS]").mean() for name in ("weight", "weighted-norm"))
        assert weight > 3 * norm
        assert found.correlation("[CLS]") < 0

    def test_frequency_and_dispersion_are_those_of_single_tokens(self, double):
        rungs = ["weight", "value-norm", "attention-residual"]
        found = profile(TEXTS, *double, measures=rungs, heads=False)
        ids, norms, every = [], [], []
        for one in TEXTS:
            text, pair = one if isinstance(one, tuple) else (one, None)
            flow = analyze(*double, text, pair, measures=["value-norm"])
            ids += flow.tokens.ids
            norms += flow["value-norm"].mean(axis=(0, 1)).tolist()
            every.append(flow["value-norm"])
        ranks = {number: place for place, number in enumerate(sorted(set(ids)), 1)}
        places = np.array([ranks[number] for number in ids])
        wanted = spearman(places, norms)
        assert found.frequency(ranks)["value-norm"] == pytest.approx(wanted, abs=0.02)
        assert {"weight", "value-norm", "mixing:attention-residual"} <= found.frequency().keys()
        joined = np.concatenate(every, axis=-1)
        spread = joined.std(axis=-1, ddof=1) / joined.mean(axis=-1)
        np.testing.assert_allclose(found.dispersion(), spread, rtol=1e-5)

    def test_a_table_has_a_row_for_every_layer_and_head_and_their_mean(self, demo):
        found = profile(TEXTS[:3], *demo)
        table = found.to_dataframe("share")
        some = table[(table["measure"] == "weight") & (table["category"] == "[CLS]")]
        assert len(some) == 6 * 13
        of_all = some[some["head"].isna()].sort_values("layer")
        np.testing.assert_allclose(of_all["mean"], found.share("weight", "[CLS]"))
        assert (some["low"] <= some["mean"]).all()
        for name in ("mass", "mean", "relation", "pattern", "disagreement"):
            assert len(found.to_dataframe(name))
        assert "3 texts" in str(found)

    def test_the_curves_of_a_profile_fit_a_flow(self, demo):
        found = profile(TEXTS[:3], *demo)
        chart = found.chart("weight")
        assert [one.group for one in chart.series] == list(found.categories)
        flow = analyze(*demo, "The cat sat.").with_chart(chart)
        assert flow.charts[0].layers == tuple(range(6))

    def test_examples_are_the_texts_that_disagree_most(self, demo):
        found = profile(TEXTS, *demo)
        distances = [one.distance for one in found.examples]
        assert distances == sorted(distances, reverse=True)
        said = {text if isinstance(text, str) else text[0] for text in TEXTS}
        assert {one.text for one in found.examples} == said


class TestFailures:
    def test_a_text_that_fails_is_told_with_its_reason_and_the_others_count(self, demo):
        texts = ["The cat sat.", "", "word " * 600, None, "A dog ran."]
        found = profile(texts, *demo)
        assert found.texts == 2
        assert [one.number for one in found.failures] == [1, 2, 3]
        reasons = [one.reason for one in found.failures]
        assert "empty" in reasons[0]
        assert "602" in reasons[1]
        assert "NoneType" in reasons[2]
        assert "3 failed" in str(found)
        assert list(found.to_dataframe("failure")["number"]) == [1, 2, 3]
        same(found, profile([texts[0], texts[4]], *demo))

    def test_a_text_is_cut_where_it_may_be(self, demo):
        assert profile(["word " * 600], *demo, longest=32).tokens == 32

    def test_a_corpus_of_which_nothing_can_be_measured_is_refused(self, demo):
        with pytest.raises(BadInput) as caught:
            profile(["", " "], *demo)
        assert "None of the 2 texts" in caught.value.found

    def test_nonsense_is_refused_before_a_model_runs(self):
        with pytest.raises(BadInput, match="batch_size is 0"):
            profile(TEXTS, batch_size=0)
        with pytest.raises(BadInput, match="longest is -1"):
            profile(TEXTS, longest=-1)


class Stop(BaseException):
    """What a kill is to a run."""


class TestCheckpoints:
    def test_a_run_goes_on_where_it_was_and_counts_no_text_twice(self, demo, tmp_path, monkeypatch):
        monkeypatch.setattr(checkpoint, "PATIENCE", 0.0)
        place, wanted = tmp_path / "run.normviz", profile(TEXTS, *demo, batch_size=2)
        for most in (1, 1, 1):
            with pytest.raises(Stop):
                profile(stopping(TEXTS, monkeypatch, most), *demo, batch_size=2, checkpoint=place)
            monkeypatch.undo()
            monkeypatch.setattr(checkpoint, "PATIENCE", 0.0)
        found = profile(TEXTS, *demo, batch_size=2, checkpoint=place)
        same(found, wanted)
        again = profile(TEXTS, *demo, batch_size=2, checkpoint=place)  # nothing is left to do
        same(again, wanted)

    def test_other_texts_or_another_question_are_refused(self, demo, tmp_path):
        place = tmp_path / "run.normviz"
        profile(TEXTS[:3], *demo, checkpoint=place)
        with pytest.raises(BadInput, match="not in this corpus"):
            profile(["Other.", *TEXTS[1:]], *demo, checkpoint=place)
        with pytest.raises(BadFile, match="another run"):
            profile(TEXTS, *demo, measures=["weight"], checkpoint=place)

    def test_a_corpus_may_grow_at_its_end(self, demo, tmp_path):
        place = tmp_path / "run.normviz"
        profile(TEXTS[:3], *demo, checkpoint=place)
        same(profile(TEXTS, *demo, checkpoint=place), profile(TEXTS, *demo))

    def test_a_file_that_is_no_checkpoint_is_refused_and_left_alone(self, demo, tmp_path):
        place = tmp_path / "run.normviz"
        place.write_text("my thesis")
        with pytest.raises(BadFile, match="not a whole profile"):
            profile(TEXTS, *demo, checkpoint=place)
        assert place.read_text() == "my thesis"

    def test_a_saved_profile_is_read_again(self, demo, tmp_path):
        found = profile([*TEXTS, ""], *demo)
        loaded = normviz.load(found.save(tmp_path / "x.normviz"))
        same(loaded, found)
        assert loaded.failures == found.failures
        assert loaded.examples == found.examples
        for measure, met in found.tally.occurrences.items():
            assert loaded.tally.occurrences[measure].counts == met.counts
        assert loaded.correlation("other") == found.correlation("other")

    @pytest.mark.parametrize("kept", [0.5, 0.99])
    def test_a_saved_profile_that_was_cut_off_is_refused(self, demo, tmp_path, kept):
        place = profile(TEXTS[:1], *demo, heads=False).save(tmp_path / "x.normviz")
        whole = place.read_bytes()
        place.write_bytes(whole[: int(kept * len(whole))])
        with pytest.raises(BadFile, match="not a whole"):
            normviz.load(place)

    def test_a_killed_process_loses_seconds_and_nothing_else(self, tmp_path):
        place = tmp_path / "run.normviz"
        script = tmp_path / "run.py"
        script.write_text(
            textwrap.dedent(f"""
            from normviz.corpus import checkpoint
            from normviz.corpus.run import profile
            checkpoint.PATIENCE = 0.0
            texts = [f"Sentence number {{n}} of many." for n in range(4000)]
            profile(texts, batch_size=4, heads=False, checkpoint={str(place)!r})
            """)
        )
        running = subprocess.Popen([sys.executable, "-W", "ignore", script])
        deadline = time.monotonic() + 120
        while not place.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        os.kill(running.pid, signal.SIGKILL)
        running.wait()
        kept, more = archive.load(place)
        assert 0 < kept.texts == more["below"] + len(more["beyond"]) < 4000
        texts = [f"Sentence number {n} of many." for n in range(4000)][: kept.texts + 40]
        numbers = set(range(more["below"])) | set(more["beyond"])
        if max(numbers) < len(texts):
            found = profile(texts, batch_size=4, heads=False, checkpoint=place)
            assert found.texts == len(texts)


def stopping(texts, monkeypatch, batches):
    """The same texts, for a run that is killed after so many batches."""
    from normviz.corpus import executor as sending

    real, count = sending.measured, []

    def measured(job, batch):
        if len(count) == batches:
            raise Stop
        count.append(batch)
        return real(job, batch)

    monkeypatch.setattr(sending, "measured", measured)
    return texts


class TestExecutors:
    def test_threads_give_what_one_gives(self, demo):
        with ThreadPoolExecutor(3) as executor:
            found = profile(TEXTS, *demo, batch_size=2, executor=executor)
        same(found, profile(TEXTS, *demo, batch_size=2))

    def test_processes_give_what_one_gives(self):
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
            found = profile(TEXTS, batch_size=2, executor=executor)
        same(found, profile(TEXTS, batch_size=2))

    def test_a_model_object_does_not_travel(self, demo):
        with (
            ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor,
            pytest.raises(BadInput) as caught,
        ):
            profile(TEXTS, *demo, executor=executor)
        assert "BertModel" in caught.value.found
        assert "folder" in caught.value.do

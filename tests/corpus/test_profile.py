"""Profiles: the same numbers in any batch, after any kill, in any process."""

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
from profiles import TEXTS, assert_same_profile, random_profile

import normviz
from normviz.corpus import checkpoint, profile_file, rank_correlation
from normviz.corpus.run import profile
from normviz.derived.ranks import spearman
from normviz.errors import BadFile, BadInput, UnknownKeyword
from normviz.model.analyze import analyze


@pytest.fixture(scope="module")
def double():
    """The demo model in double precision, in which batches make no difference."""
    from normviz.model.loading import load_model

    loaded = load_model("demo", dtype="float64")
    return loaded.model, loaded.tokenizer


class TestNumbers:
    def test_they_are_averages_of_what_single_texts_give(self, double):
        found = profile(double[0], TEXTS, tokenizer=double[1])
        flows = [
            analyze(double[0], text, pair=pair, tokenizer=double[1])
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
        whole, other = (
            profile(double[0], TEXTS, tokenizer=double[1]),
            profile(double[0], TEXTS[::-1], tokenizer=double[1], batch_size=size),
        )
        assert_same_profile(whole, other)
        for key, moments in whole.sums.masses.items():
            np.testing.assert_allclose(other.sums.masses[key].means, moments.means, rtol=1e-6)

    def test_halves_of_a_corpus_add_up_to_the_whole(self, double):
        whole = profile(double[0], TEXTS, tokenizer=double[1])
        first, second = (
            profile(double[0], TEXTS[:3], tokenizer=double[1]),
            profile(double[0], TEXTS[3:], tokenizer=double[1]),
        )
        joined = (first + second).sums
        assert_same_profile(first + second, whole)
        for key, moments in whole.sums.masses.items():
            np.testing.assert_allclose(joined.masses[key].means, moments.means, rtol=1e-6)
            np.testing.assert_array_equal(joined.masses[key].count, moments.count)

    def test_punctuation_is_selectable_noted_and_kept(self, demo, tmp_path):
        texts = ["Stop! Go; no, wait."]
        whole, paper = (
            profile(demo[0], texts, tokenizer=demo[1], punctuation=name)
            for name in ("unicode", "paper")
        )
        assert (whole.punctuation, paper.punctuation) == ("unicode", "paper")
        assert (whole.mass("weight", "punctuation") > paper.mass("weight", "punctuation")).all()
        assert whole.notes == ()
        assert paper.notes == ("Punctuation is only “,” and “.”, as in Kobayashi et al. 2020.",)
        loaded = normviz.load(paper.save(tmp_path / "x.normviz"))
        assert loaded.punctuation == "paper"
        with pytest.raises(BadInput, match="'unicode' in one profile and 'paper' in the other"):
            whole + paper
        both = whole.compare(paper, names=("a", "b"))
        assert "Other tokens count as punctuation" in str(both)
        patterns = [
            one.to_dataframe("pattern").set_index("pattern").loc["punctuation", "mean"].to_numpy()
            for one in (whole, paper)
        ]
        assert not np.allclose(*patterns, equal_nan=True)

    def test_another_punctuation_is_another_run(self, demo, tmp_path):
        path = tmp_path / "run.normviz"
        profile(demo[0], TEXTS[:1], tokenizer=demo[1], checkpoint=path)
        with pytest.raises(BadFile, match="another run"):
            profile(demo[0], TEXTS, tokenizer=demo[1], punctuation="paper", checkpoint=path)

    def test_a_sample_is_noted(self, demo, monkeypatch):
        monkeypatch.setattr(rank_correlation, "SAMPLE_SIZE", 30)
        found = profile(demo[0], TEXTS, tokenizer=demo[1], head_patterns=False)
        again = profile(demo[0], TEXTS[::-1], tokenizer=demo[1], head_patterns=False, batch_size=2)
        (note,) = found.report().notes
        assert note == (
            "Correlations with frequency rank are from a random sample of 30 of "
            f"{found.tokens} tokens (seed 0)."
        )
        assert again.frequency() == pytest.approx(found.frequency(), abs=1e-3)

    def test_parts_of_other_models_do_not_add_up(self, demo):
        one = profile(demo[0], TEXTS[:2], tokenizer=demo[1])
        other = replace(one, layers=one.layers[:-1])
        with pytest.raises(BadInput) as caught:
            one + other
        assert "other layers" in caught.value.found
        assert "compare" in caught.value.do

    def test_the_ladder_brings_its_mixing_ratios(self, double):
        rungs = ["attention", "attention-residual", "attention-block"]
        found = profile(
            double[0], TEXTS[:2], tokenizer=double[1], measures=rungs, head_patterns=False
        )
        flows = [
            analyze(double[0], text, tokenizer=double[1], measures=rungs) for text in TEXTS[:2]
        ]
        expected = np.mean([flow.mixing("attention-block").mean(axis=-1) for flow in flows], axis=0)
        np.testing.assert_allclose(found.mean("mixing:attention-block", "all"), expected, rtol=1e-5)

    def test_special_tokens_have_weight_but_move_little(self, demo):
        found = profile(demo[0], TEXTS, tokenizer=demo[1])
        weight, norm = (found.share(name, "[CLS]").mean() for name in ("weight", "weighted-norm"))
        assert weight > 3 * norm
        assert found.correlation("[CLS]") < 0

    def test_frequency_and_dispersion_are_those_of_single_tokens(self, double):
        rungs = ["weight", "value-norm", "attention-residual"]
        found = profile(double[0], TEXTS, tokenizer=double[1], measures=rungs, head_patterns=False)
        ids, norms, every = [], [], []
        for one in TEXTS:
            text, pair = one if isinstance(one, tuple) else (one, None)
            flow = analyze(double[0], text, pair=pair, tokenizer=double[1], measures=["value-norm"])
            ids += flow.tokens.ids
            norms += flow["value-norm"].mean(axis=(0, 1)).tolist()
            every.append(flow["value-norm"])
        ranks = {number: path for path, number in enumerate(sorted(set(ids)), 1)}
        places = np.array([ranks[number] for number in ids])
        expected = spearman(places, norms)
        assert found.frequency(ranks)["value-norm"] == pytest.approx(expected, abs=1e-6)
        assert {"weight", "value-norm", "mixing:attention-residual"} <= found.frequency().keys()
        joined = np.concatenate(every, axis=-1)
        spread = joined.std(axis=-1, ddof=1) / joined.mean(axis=-1)
        np.testing.assert_allclose(found.dispersion(), spread, rtol=1e-5)

    def test_a_table_has_a_row_for_every_layer_and_head_and_their_mean(self, demo):
        found = profile(demo[0], TEXTS[:3], tokenizer=demo[1])
        table = found.to_dataframe("share")
        some = table[(table["measure"] == "weight") & (table["category"] == "[CLS]")]
        assert len(some) == 6 * 13
        of_all = some[some["head"].isna()].sort_values("layer")
        np.testing.assert_allclose(of_all["mean"], found.share("weight", "[CLS]"))
        assert (some["low"] <= some["mean"]).all()
        for per in ("query", "corpus"):
            table = found.to_dataframe("share", per=per)
            some = table[(table["measure"] == "weighted-norm") & (table["category"] == "[CLS]")]
            of_all = some[some["head"].isna()].sort_values("layer")
            expected = found.share("weighted-norm", "[CLS]", per=per)
            np.testing.assert_allclose(of_all["mean"], expected)
            assert some["low"].isna().all() == (per == "corpus")
        with pytest.raises(BadInput, match="per='query' was given for the table 'mass'"):
            found.to_dataframe("mass", per="query")
        for name in ("mass", "mean", "correlation", "pattern", "disagreement"):
            assert len(found.to_dataframe(name))
        assert "3 texts" in str(found)

    def test_the_curves_of_a_profile_fit_a_flow(self, demo):
        found = profile(demo[0], TEXTS[:3], tokenizer=demo[1])
        chart = found.chart("weight")
        assert [one.group for one in chart.series] == list(found.categories)
        flow = analyze(demo[0], "The cat sat.", tokenizer=demo[1]).with_chart(chart)
        assert flow.charts[0].layers == tuple(range(6))

    def test_examples_are_the_texts_that_disagree_most(self, demo):
        found = profile(demo[0], TEXTS, tokenizer=demo[1])
        distances = [one.distance for one in found.examples]
        assert distances == sorted(distances, reverse=True)
        said = {text if isinstance(text, str) else text[0] for text in TEXTS}
        assert {one.text for one in found.examples} == said


class TestFailures:
    def test_a_text_that_fails_is_recorded_with_its_reason_and_the_others_count(self, demo):
        texts = ["The cat sat.", "", "word " * 600, None, "A dog ran."]
        found = profile(demo[0], texts, tokenizer=demo[1])
        assert found.texts == 2
        assert [one.number for one in found.failures] == [1, 2, 3]
        reasons = [one.reason for one in found.failures]
        assert "empty" in reasons[0]
        assert "602" in reasons[1]
        assert "NoneType" in reasons[2]
        assert "3 failed" in str(found)
        assert list(found.to_dataframe("failure")["number"]) == [1, 2, 3]
        assert_same_profile(found, profile(demo[0], [texts[0], texts[4]], tokenizer=demo[1]))

    def test_a_long_text_is_truncated_where_allowed(self, demo):
        long = ["word " * 600]
        assert profile(demo[0], long, tokenizer=demo[1], max_tokens=32).tokens == 32
        assert profile(demo[0], long, tokenizer=demo[1], max_tokens="model").tokens == 512
        assert profile(demo[0], long, tokenizer=demo[1], max_tokens=900).tokens == 512

    def test_a_corpus_without_a_text_that_can_be_measured_is_refused(self, demo):
        with pytest.raises(BadInput) as caught:
            profile(demo[0], ["", " "], tokenizer=demo[1])
        assert "All 2 texts failed: it is empty" in caught.value.found

    def test_bad_numbers_are_refused_before_a_model_runs(self):
        with pytest.raises(BadInput, match="batch_size is 0"):
            profile("demo", TEXTS, batch_size=0)
        with pytest.raises(BadInput, match="max_tokens is -1"):
            profile("demo", TEXTS, max_tokens=-1)


class TestArguments:
    def test_swapped_arguments_are_refused_before_a_model_runs(self, demo):
        model, tokenizer = demo
        for texts in (TEXTS, iter(TEXTS), None):
            with pytest.raises(BadInput, match=r"The model is a .*Write profile\(model, texts, "):
                profile(texts, model)
        with pytest.raises(BadInput, match="The texts are a BertModel"):
            profile("demo", model)
        with pytest.raises(BadInput, match=r"a BertTokenizer.*tokenizer is a keyword"):
            profile(model, tokenizer)
        with pytest.raises(BadInput, match="The model is a BertTokenizer"):
            profile(tokenizer, TEXTS)
        for wrong in (TEXTS, model):
            with pytest.raises(BadInput, match="tokenizer is a"):
                profile("demo", TEXTS, tokenizer=wrong)

    def test_a_single_text_is_not_a_corpus(self):
        with pytest.raises(BadInput, match=r"no file or folder 'The cat sat\.'.*\[text\]"):
            profile("demo", "The cat sat.")

    def test_a_misspelled_keyword_is_refused_with_the_right_one(self):
        with pytest.raises(UnknownKeyword, match="Write max_tokens=… instead"):
            profile("demo", TEXTS, max_token=3)


class Stop(BaseException):
    """Stands for a kill of the process."""


class TestCheckpoints:
    def test_a_run_continues_where_it_was_and_counts_no_text_twice(
        self, demo, tmp_path, monkeypatch
    ):
        monkeypatch.setattr(checkpoint, "SAVE_INTERVAL", 0.0)
        path, expected = (
            tmp_path / "run.normviz",
            profile(demo[0], TEXTS, tokenizer=demo[1], batch_size=2),
        )
        for most in (1, 1, 1):
            with pytest.raises(Stop):
                profile(
                    demo[0],
                    stop_after(TEXTS, monkeypatch, most),
                    tokenizer=demo[1],
                    batch_size=2,
                    checkpoint=path,
                )
            monkeypatch.undo()
            monkeypatch.setattr(checkpoint, "SAVE_INTERVAL", 0.0)
        found = profile(demo[0], TEXTS, tokenizer=demo[1], batch_size=2, checkpoint=path)
        assert_same_profile(found, expected)
        again = profile(
            demo[0], TEXTS, tokenizer=demo[1], batch_size=2, checkpoint=path
        )  # nothing is left to do
        assert_same_profile(again, expected)

    def test_other_texts_or_other_arguments_are_refused(self, demo, tmp_path):
        path = tmp_path / "run.normviz"
        profile(demo[0], TEXTS[:3], tokenizer=demo[1], checkpoint=path)
        with pytest.raises(BadInput, match="not in this corpus"):
            profile(demo[0], ["Other.", *TEXTS[1:]], tokenizer=demo[1], checkpoint=path)
        with pytest.raises(BadFile, match="another run"):
            profile(demo[0], TEXTS, tokenizer=demo[1], measures=["weight"], checkpoint=path)

    def test_a_corpus_may_grow_at_its_end(self, demo, tmp_path):
        path = tmp_path / "run.normviz"
        profile(demo[0], TEXTS[:3], tokenizer=demo[1], checkpoint=path)
        assert_same_profile(
            profile(demo[0], TEXTS, tokenizer=demo[1], checkpoint=path),
            profile(demo[0], TEXTS, tokenizer=demo[1]),
        )

    def test_a_file_that_is_not_a_checkpoint_is_refused_and_not_changed(self, demo, tmp_path):
        path = tmp_path / "run.normviz"
        path.write_text("my thesis")
        with pytest.raises(BadFile, match="not a whole profile"):
            profile(demo[0], TEXTS, tokenizer=demo[1], checkpoint=path)
        assert path.read_text() == "my thesis"

    def test_a_saved_profile_is_read_again(self, demo, tmp_path):
        found = profile(demo[0], [*TEXTS, ""], tokenizer=demo[1])
        loaded = normviz.load(found.save(tmp_path / "x.normviz"))
        assert_same_profile(loaded, found)
        assert loaded.failures == found.failures
        assert loaded.examples == found.examples
        assert loaded.frequency() == found.frequency()
        assert loaded.sums.occurrences.totals == found.sums.occurrences.totals
        assert loaded.share("weighted-norm", "[CLS]", per="query").tolist() == (
            found.share("weighted-norm", "[CLS]", per="query").tolist()
        )
        assert loaded.correlation("other") == found.correlation("other")

    def test_a_profile_of_an_older_version_is_refused(self, demo, tmp_path, monkeypatch):
        found = profile(demo[0], TEXTS[:1], tokenizer=demo[1], head_patterns=False)
        with monkeypatch.context() as before:
            before.setattr(profile_file, "VERSION", 2)
            path = found.save(tmp_path / "x.normviz")
        with pytest.raises(BadFile, match="its format is normviz profile 2"):
            normviz.load(path)

    def test_a_profile_in_an_archive_of_a_later_version_of_zip_is_refused(self, tmp_path):
        path = random_profile().save(tmp_path / "x.normviz")
        whole = bytearray(path.read_bytes())
        whole[whole.rindex(b"PK\x01\x02") + 6] = 109  # the last: arrays are an archive too
        path.write_bytes(whole)
        with pytest.raises(BadFile, match="not a whole profile"):
            profile_file.load(path)

    @pytest.mark.parametrize("kept", [0.5, 0.99])
    def test_a_saved_profile_that_was_cut_off_is_refused(self, demo, tmp_path, kept):
        path = profile(demo[0], TEXTS[:1], tokenizer=demo[1], head_patterns=False).save(
            tmp_path / "x.normviz"
        )
        whole = path.read_bytes()
        path.write_bytes(whole[: int(kept * len(whole))])
        with pytest.raises(BadFile, match="not a whole"):
            normviz.load(path)

    def test_a_killed_process_loses_seconds_and_nothing_else(self, tmp_path):
        path = tmp_path / "run.normviz"
        script = tmp_path / "run.py"
        script.write_text(
            textwrap.dedent(f"""
            from normviz.corpus import checkpoint
            from normviz.corpus.run import profile
            checkpoint.SAVE_INTERVAL = 0.0
            texts = [f"Sentence number {{n}} of many." for n in range(4000)]
            profile("demo", texts, batch_size=4, head_patterns=False, checkpoint={str(path)!r})
            """)
        )
        running = subprocess.Popen([sys.executable, "-W", "ignore", script])
        deadline = time.monotonic() + 120
        while not path.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        os.kill(running.pid, signal.SIGKILL)
        running.wait()
        kept, progress = profile_file.load(path)
        assert 0 < kept.texts == progress["done_up_to"] + len(progress["done_after"]) < 4000
        texts = [f"Sentence number {n} of many." for n in range(4000)][: kept.texts + 40]
        numbers = set(range(progress["done_up_to"])) | set(progress["done_after"])
        if max(numbers) < len(texts):
            found = profile("demo", texts, batch_size=4, head_patterns=False, checkpoint=path)
            assert found.texts == len(texts)


def stop_after(texts, monkeypatch, batches):
    """Return the texts, for a run that is killed after so many batches."""
    from normviz.corpus import executor

    real, count = executor.measure_batch, []

    def measure_batch(job, batch):
        if len(count) == batches:
            raise Stop
        count.append(batch)
        return real(job, batch)

    monkeypatch.setattr(executor, "measure_batch", measure_batch)
    return texts


class TestExecutors:
    def test_threads_give_what_one_gives(self, demo):
        with ThreadPoolExecutor(3) as executor:
            found = profile(demo[0], TEXTS, tokenizer=demo[1], batch_size=2, executor=executor)
        assert_same_profile(found, profile(demo[0], TEXTS, tokenizer=demo[1], batch_size=2))

    def test_processes_give_what_one_gives(self):
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
            found = profile("demo", TEXTS, batch_size=2, executor=executor)
        assert_same_profile(found, profile("demo", TEXTS, batch_size=2))

    def test_a_model_object_does_not_travel(self, demo):
        with (
            ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor,
            pytest.raises(BadInput) as caught,
        ):
            profile(demo[0], TEXTS, tokenizer=demo[1], executor=executor)
        assert "BertModel" in caught.value.found
        assert "folder" in caught.value.do

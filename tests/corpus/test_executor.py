"""Workers in other threads, processes and machines: the same numbers, even if they are lost."""

import os
import pickle
import signal
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

import pytest
from profiles import TEXTS, assert_same_profile

import normviz
from normviz.corpus import checkpoint, worker
from normviz.corpus import executor as corpus_executor
from normviz.corpus.run import profile
from normviz.errors import BadInput, LostWorkers

MANY = [
    f"{one} It is number {n}." if isinstance(one, str) else one for n in range(3) for one in TEXTS
]


def count_loads():
    """Return the id of this process, and how often it has loaded a model."""
    return os.getpid(), worker._load_by_name.cache_info().misses


@pytest.fixture(scope="module")
def client():
    """A client of a Dask cluster of two processes."""
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=2, processes=True, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


class TestDask:
    def test_a_cluster_gives_what_one_process_gives(self, client):
        options = {"batch_size": 2, "head_patterns": False, "dtype": "float64"}
        found = profile("demo", MANY, executor=client.get_executor(), **options)
        assert_same_profile(found, profile("demo", MANY, **options))

    def test_each_worker_loads_the_model_once(self, client):
        profile(
            "demo",
            MANY,
            executor=client.get_executor(),
            batch_size=2,
            head_patterns=False,
            dtype="float64",
        )
        known = dict(client.run(count_loads).values())
        assert len(known) == 2
        assert set(known.values()) == {1}
        assert os.getpid() not in known

    def test_a_worker_that_is_killed_takes_nothing_with_it(self, client, monkeypatch):
        options = {"batch_size": 1, "head_patterns": False, "dtype": "float64"}
        expected = profile("demo", MANY, **options)
        address, (victim, _) = next(iter(client.run(count_loads).items()))
        monkeypatch.setattr(corpus_executor, "MAX_IN_FLIGHT", 8)
        add, killed = checkpoint.Progress.add, []

        def add_and_kill(progress, batch, outcome):
            add(progress, batch, outcome)
            if not killed and client.processing()[address]:
                os.kill(victim, signal.SIGKILL)
                killed.append(progress.count)

        monkeypatch.setattr(checkpoint.Progress, "add", add_and_kill)
        found = profile("demo", MANY, executor=client.get_executor(), **options)
        assert 0 < killed[0] < len(MANY)
        assert_same_profile(found, expected)
        assert found.failures == ()


class Faulty(ThreadPoolExecutor):
    """An executor that loses some batches, when they are sent or with their worker."""

    def __init__(self, lost, *, refuses=False):
        super().__init__(1)
        self.lost = lost
        self.refuses = refuses
        self.sent = []

    def submit(self, function, job, batch):
        self.sent.append(batch)
        if not self.lost(len(self.sent), batch):
            return super().submit(function, job, batch)
        if self.refuses:
            raise BrokenProcessPool("a process was killed")
        future = Future()
        future.set_exception(BrokenProcessPool("a process was killed"))
        return future


class TestLoss:
    def test_a_batch_that_is_lost_is_sent_again_text_by_text(self, demo):
        with Faulty(lambda count, _: count == 1) as executor:
            found = profile(demo[0], TEXTS, tokenizer=demo[1], batch_size=3, executor=executor)
        assert [len(batch) for batch in executor.sent] == [3, 3, 1, 1, 1, 1]
        assert found.failures == ()
        assert_same_profile(found, profile(demo[0], TEXTS, tokenizer=demo[1], batch_size=3))

    def test_an_executor_that_refuses_once_is_asked_again(self, demo):
        with Faulty(lambda count, _: count == 1, refuses=True) as executor:
            found = profile(demo[0], TEXTS, tokenizer=demo[1], batch_size=3, executor=executor)
        assert [len(batch) for batch in executor.sent] == [3, 3, 3, 1]
        assert_same_profile(found, profile(demo[0], TEXTS, tokenizer=demo[1], batch_size=3))

    def test_a_text_that_is_lost_twice_is_a_failure_and_the_others_count(self, demo):
        with Faulty(lambda _, batch: any(one.text == "Stop!" for one in batch)) as executor:
            found = profile(demo[0], TEXTS, tokenizer=demo[1], batch_size=3, executor=executor)
        (failure,) = found.failures
        assert (failure.number, failure.text) == (TEXTS.index("Stop!"), "Stop!")
        assert "lost twice (a process was killed)" in failure.reason
        assert_same_profile(
            found,
            profile(
                demo[0], [one for one in TEXTS if one != "Stop!"], tokenizer=demo[1], batch_size=3
            ),
        )

    def test_a_run_without_workers_stops_and_continues_from_its_checkpoint(
        self, demo, tmp_path, monkeypatch
    ):
        monkeypatch.setattr(checkpoint, "SAVE_INTERVAL", 0.0)
        monkeypatch.setattr(corpus_executor, "MAX_IN_FLIGHT", 1)
        options = {"batch_size": 2, "checkpoint": tmp_path / "run.normviz"}
        with (
            Faulty(lambda count, _: count > 2, refuses=True) as executor,
            pytest.raises(LostWorkers) as caught,
        ):
            profile(demo[0], TEXTS, tokenizer=demo[1], executor=executor, **options)
        assert "takes no more work (a process was killed)" in caught.value.found
        assert "checkpoint" in caught.value.do
        assert normviz.load(options["checkpoint"]).texts == 4
        assert_same_profile(
            profile(demo[0], TEXTS, tokenizer=demo[1], **options),
            profile(demo[0], TEXTS, tokenizer=demo[1]),
        )

    def test_a_pool_whose_process_is_killed_is_reported(self):
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
            os.kill(executor.submit(os.getpid).result(), signal.SIGKILL)
            with pytest.raises(LostWorkers):
                profile("demo", TEXTS, executor=executor)

    def test_a_run_that_stops_cancels_its_remaining_batches(self):
        waiting = []

        class Slow(Executor):
            def submit(self, *arguments):
                if len(waiting) == 2:
                    raise KeyboardInterrupt
                waiting.append(Future())
                return waiting[-1]

        with pytest.raises(KeyboardInterrupt):
            profile("demo", TEXTS, batch_size=2, executor=Slow())
        assert [future.cancelled() for future in waiting] == [True, True]


class TestSending:
    def test_texts_travel_and_tensors_do_not(self, demo):
        sizes = []

        class Weighing(ThreadPoolExecutor):
            def submit(self, function, *arguments):
                sizes.append(len(pickle.dumps((function, *arguments))))
                return super().submit(function, *arguments)

        with Weighing(1) as executor:
            profile("demo", ["word " * 100] * 4, batch_size=2, executor=executor)
        assert len(sizes) == 2
        assert all(500 < size < 3000 for size in sizes)  # two texts, and names

    def test_threads_that_ask_at_once_load_a_model_once(self):
        worker._load_by_name.cache_clear()
        with ThreadPoolExecutor(3) as executor:
            profile(
                "demo", TEXTS, batch_size=1, executor=executor, dtype="float64", head_patterns=False
            )
        assert worker._load_by_name.cache_info().misses == 1

    @pytest.mark.parametrize("wrong", [4, "dask", ThreadPoolExecutor])
    def test_other_objects_than_executors_are_refused(self, wrong):
        with pytest.raises(BadInput) as caught:
            profile("demo", TEXTS, executor=wrong)
        assert f"executor is a {type(wrong).__name__}." in caught.value.found
        assert "get_executor()" in caught.value.do

    def test_a_tokenizer_object_does_not_travel(self, demo):
        with (
            ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor,
            pytest.raises(BadInput, match="The tokenizer is a"),
        ):
            profile("demo", TEXTS, tokenizer=demo[1], executor=executor)

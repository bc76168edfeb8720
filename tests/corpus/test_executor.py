"""Workers elsewhere: the same numbers, whatever becomes of them."""

import os
import pickle
import signal
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

import pytest
from profiles import TEXTS, same

import normviz
from normviz.corpus import checkpoint
from normviz.corpus import executor as sending
from normviz.corpus import worker as running
from normviz.corpus.run import profile
from normviz.errors import BadInput, LostWorkers

MANY = [
    f"{one} It is number {n}." if isinstance(one, str) else one for n in range(3) for one in TEXTS
]


def loads():
    """Which process this is, and how often it has loaded a model."""
    return os.getpid(), running._by_name.cache_info().misses


@pytest.fixture(scope="module")
def client():
    """A Dask cluster of two processes, and a way to it."""
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=2, processes=True, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as found,
    ):
        yield found


class TestDask:
    def test_a_cluster_gives_what_one_process_gives(self, client):
        asked = {"batch_size": 2, "heads": False, "dtype": "float64"}
        found = profile(MANY, executor=client.get_executor(), **asked)
        same(found, profile(MANY, **asked))

    def test_each_worker_loads_the_model_once(self, client):
        profile(MANY, executor=client.get_executor(), batch_size=2, heads=False, dtype="float64")
        known = dict(client.run(loads).values())
        assert len(known) == 2
        assert set(known.values()) == {1}
        assert os.getpid() not in known

    def test_a_worker_that_is_killed_takes_nothing_with_it(self, client, monkeypatch):
        asked = {"batch_size": 1, "heads": False, "dtype": "float64"}
        wanted = profile(MANY, **asked)
        address, (victim, _) = next(iter(client.run(loads).items()))
        monkeypatch.setattr(sending, "AHEAD", 8)
        add, killed = checkpoint.Sofar.add, []

        def adding(sofar, batch, outcome):
            add(sofar, batch, outcome)
            if not killed and client.processing()[address]:
                os.kill(victim, signal.SIGKILL)
                killed.append(sofar.count)

        monkeypatch.setattr(checkpoint.Sofar, "add", adding)
        found = profile(MANY, executor=client.get_executor(), **asked)
        assert 0 < killed[0] < len(MANY)
        same(found, wanted)
        assert found.failures == ()


class Faulty(ThreadPoolExecutor):
    """An executor that loses some of what is sent to it, on the way there or with its worker."""

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
            found = profile(TEXTS, *demo, batch_size=3, executor=executor)
        assert [len(batch) for batch in executor.sent] == [3, 3, 1, 1, 1, 1]
        assert found.failures == ()
        same(found, profile(TEXTS, *demo, batch_size=3))

    def test_an_executor_that_refuses_once_is_asked_again(self, demo):
        with Faulty(lambda count, _: count == 1, refuses=True) as executor:
            found = profile(TEXTS, *demo, batch_size=3, executor=executor)
        assert [len(batch) for batch in executor.sent] == [3, 3, 3, 1]
        same(found, profile(TEXTS, *demo, batch_size=3))

    def test_a_text_that_is_lost_twice_is_told_and_the_others_count(self, demo):
        with Faulty(lambda _, batch: any(one.text == "Stop!" for one in batch)) as executor:
            found = profile(TEXTS, *demo, batch_size=3, executor=executor)
        (failure,) = found.failures
        assert (failure.number, failure.text) == (TEXTS.index("Stop!"), "Stop!")
        assert "lost twice (a process was killed)" in failure.reason
        same(found, profile([one for one in TEXTS if one != "Stop!"], *demo, batch_size=3))

    def test_when_all_workers_are_gone_the_run_says_so_and_goes_on_from_its_checkpoint(
        self, demo, tmp_path, monkeypatch
    ):
        monkeypatch.setattr(checkpoint, "PATIENCE", 0.0)
        monkeypatch.setattr(sending, "AHEAD", 1)
        asked = {"batch_size": 2, "checkpoint": tmp_path / "run.normviz"}
        with (
            Faulty(lambda count, _: count > 2, refuses=True) as executor,
            pytest.raises(LostWorkers) as caught,
        ):
            profile(TEXTS, *demo, executor=executor, **asked)
        assert "takes no more work (a process was killed)" in caught.value.found
        assert "checkpoint" in caught.value.do
        assert normviz.load(asked["checkpoint"]).texts == 4
        same(profile(TEXTS, *demo, **asked), profile(TEXTS, *demo))

    def test_a_pool_whose_process_is_killed_is_not_passed_over(self):
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
            os.kill(executor.submit(os.getpid).result(), signal.SIGKILL)
            with pytest.raises(LostWorkers):
                profile(TEXTS, executor=executor)

    def test_a_run_that_stops_takes_back_what_nobody_has_begun(self):
        waiting = []

        class Slow(Executor):
            def submit(self, *given):
                if len(waiting) == 2:
                    raise KeyboardInterrupt
                waiting.append(Future())
                return waiting[-1]

        with pytest.raises(KeyboardInterrupt):
            profile(TEXTS, batch_size=2, executor=Slow())
        assert [future.cancelled() for future in waiting] == [True, True]


class TestSending:
    def test_texts_travel_and_tensors_do_not(self, demo):
        sizes = []

        class Weighing(ThreadPoolExecutor):
            def submit(self, function, *given):
                sizes.append(len(pickle.dumps((function, *given))))
                return super().submit(function, *given)

        with Weighing(1) as executor:
            profile(["word " * 100] * 4, batch_size=2, executor=executor)
        assert len(sizes) == 2
        assert all(500 < size < 3000 for size in sizes)  # two texts, and names

    def test_threads_that_ask_at_once_load_a_model_once(self):
        running._by_name.cache_clear()
        with ThreadPoolExecutor(3) as executor:
            profile(TEXTS, batch_size=1, executor=executor, dtype="float64", heads=False)
        assert running._by_name.cache_info().misses == 1

    @pytest.mark.parametrize("wrong", [4, "dask", ThreadPoolExecutor])
    def test_what_is_no_executor_is_refused(self, wrong):
        with pytest.raises(BadInput) as caught:
            profile(TEXTS, executor=wrong)
        assert f"executor is a {type(wrong).__name__}." in caught.value.found
        assert "get_executor()" in caught.value.do

    def test_a_tokenizer_object_does_not_travel(self, demo):
        with (
            ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor,
            pytest.raises(BadInput, match="The tokenizer is a"),
        ):
            profile(TEXTS, "demo", demo[1], executor=executor)

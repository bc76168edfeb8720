"""Batches sent to workers, here or on other machines; none is lost when a worker is."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from normviz.corpus.sources import Item
from normviz.corpus.sums import Tally
from normviz.corpus.worker import Job, Outcome, failed, measured
from normviz.errors import BadInput, LostWorkers

AHEAD = 64
"""How many batches are with the workers: few of them are idle, and memory does not grow."""

Done = tuple[Sequence[Item], Outcome]


def outcomes(job: Job, work: Iterable[list[Item]], executor: Executor | None) -> Iterator[Done]:
    """Every batch with what came of it, in any order."""
    if executor is None:
        yield from ((batch, measured(job, batch)) for batch in work)
        return
    sent = Sent(job, executor)
    try:
        for batch in work:
            sent.send(batch)
            if len(sent.running) >= AHEAD:
                yield from sent.collected()
        while sent.running:
            yield from sent.collected()
    finally:  # a run that is stopped keeps nobody waiting for what it had still to do
        for future in sent.running:
            future.cancel()


class Sent:
    """The batches that are with the workers.

    One that is lost, with its worker or on the way, is sent once more, text by text: whichever
    brought the worker down, the others are not to blame. A text that is lost twice is noted.
    """

    def __init__(self, job: Job, executor: Executor) -> None:
        self.job = job
        self.executor = executor
        self.running: dict[Future[Outcome], list[Item]] = {}
        self.again: set[int] = set()
        """The numbers of the texts that were lost once."""

    def send(self, batch: list[Item]) -> None:
        """Hand a batch to the workers; an executor that refuses is asked a second time."""
        try:
            future = self.executor.submit(measured, self.job, batch)
        except Exception:  # noqa: BLE001 - whatever it was, it may have passed
            try:
                future = self.executor.submit(measured, self.job, batch)
            except Exception as error:
                raise LostWorkers(
                    f"The executor takes no more work ({_reason(error)}).",
                    "It must be open, and its workers alive, until all texts are measured.",
                    "Call again with a new executor; with a checkpoint, the run goes on from it.",
                ) from error
        self.running[future] = batch

    def collected(self) -> Iterator[Done]:
        """What is done, taken out of what is running; waits for at least one."""
        done, _ = wait(self.running, return_when=FIRST_COMPLETED)
        lost: list[tuple[list[Item], str]] = []
        for future in done:
            batch = self.running.pop(future)
            try:
                outcome = future.result()
            except Exception as error:  # noqa: BLE001 - it is sent again, or noted with its reason
                lost.append((batch, _reason(error)))
            else:
                yield batch, outcome
        for batch, reason in lost:  # after what is done: nothing of it is lost if sending fails
            yield from self._sent_again(batch, reason)

    def _sent_again(self, batch: list[Item], reason: str) -> Iterator[Done]:
        for item in batch:
            if item.number in self.again:
                failure = failed(item, f"its worker was lost twice ({reason})")
                yield [item], Outcome(Tally(), (failure,))
            else:
                self.again.add(item.number)
                self.send([item])


def _reason(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__


def refuse_unsendable(model: Any, tokenizer: Any, executor: Any) -> None:
    """Refuse what is no executor, and what it cannot take to where it runs."""
    if executor is None:
        return
    if not isinstance(executor, Executor):
        raise BadInput(
            f"executor is a {type(executor).__name__}.",
            "A concurrent.futures.Executor is wanted.",
            "Give a ProcessPoolExecutor, or client.get_executor() of a Dask client.",
        )
    if isinstance(executor, ThreadPoolExecutor):
        return
    for name, given in (("model", model), ("tokenizer", tokenizer)):
        if not isinstance(given, str | Path | None):
            raise BadInput(
                f"The {name} is a {type(given).__name__}, and an executor is to run it elsewhere.",
                "Each worker loads the model itself: texts travel, weights do not.",
                f"Save the {name} to a folder that all workers see, and give its path.",
            )

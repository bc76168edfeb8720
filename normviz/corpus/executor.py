"""Batches sent to workers, here or on other machines, and sent again if a worker is lost."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from normviz.corpus.sources import Item
from normviz.corpus.sums import CorpusSums
from normviz.corpus.worker import Job, Outcome, failure_of, measure_batch
from normviz.errors import BadInput, LostWorkers

MAX_IN_FLIGHT = 64
"""How many batches are with the workers at once: enough to keep them busy, and no more."""

BatchOutcome = tuple[Sequence[Item], Outcome]


def run_batches(
    job: Job, batches: Iterable[list[Item]], executor: Executor | None
) -> Iterator[BatchOutcome]:
    """Yield every batch with its outcome, in any order."""
    if executor is None:
        yield from ((batch, measure_batch(job, batch)) for batch in batches)
        return
    pending = PendingBatches(job, executor)
    try:
        for batch in batches:
            pending.send(batch)
            if len(pending.running) >= MAX_IN_FLIGHT:
                yield from pending.collect()
        while pending.running:
            yield from pending.collect()
    finally:  # a run that stops does not leave its remaining work with the workers
        for future in pending.running:
            future.cancel()


class PendingBatches:
    """The batches that are with the workers.

    A batch that is lost, with its worker or on the way, is sent once more, text by text, so that
    the text that stopped the worker does not take the others with it. A text that is lost twice is
    a failure.
    """

    def __init__(self, job: Job, executor: Executor) -> None:
        self.job = job
        self.executor = executor
        self.running: dict[Future[Outcome], list[Item]] = {}
        self.resent: set[int] = set()
        """The numbers of the texts that were lost once."""

    def send(self, batch: list[Item]) -> None:
        """Submit a batch to the executor; if it refuses, try once more."""
        try:
            future = self.executor.submit(measure_batch, self.job, batch)
        except Exception:  # noqa: BLE001 - the cause may be gone the second time
            try:
                future = self.executor.submit(measure_batch, self.job, batch)
            except Exception as error:
                raise LostWorkers(
                    f"The executor takes no more work ({_reason(error)}).",
                    "Expected an open executor with live workers until all texts are measured.",
                    "Call again with a new executor; with a checkpoint, the run continues from it.",
                ) from error
        self.running[future] = batch

    def collect(self) -> Iterator[BatchOutcome]:
        """Wait for at least one batch, and yield all that are done."""
        done, _ = wait(self.running, return_when=FIRST_COMPLETED)
        lost: list[tuple[list[Item], str]] = []
        for future in done:
            batch = self.running.pop(future)
            try:
                outcome = future.result()
            except Exception as error:  # noqa: BLE001 - it is sent again, or recorded as a failure
                lost.append((batch, _reason(error)))
            else:
                yield batch, outcome
        for batch, reason in lost:  # last, so that no outcome is lost if sending fails
            yield from self._resend(batch, reason)

    def _resend(self, batch: list[Item], reason: str) -> Iterator[BatchOutcome]:
        for item in batch:
            if item.number in self.resent:
                failure = failure_of(item, f"its worker was lost twice ({reason})")
                yield [item], Outcome(CorpusSums(), (failure,))
            else:
                self.resent.add(item.number)
                self.send([item])


def _reason(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__


def refuse_unsendable(model: Any, tokenizer: Any, executor: Any) -> None:
    """Refuse what is not an executor, and model objects that it would send to other processes."""
    if executor is None:
        return
    if not isinstance(executor, Executor):
        raise BadInput(
            f"executor is a {type(executor).__name__}.",
            "Expected a concurrent.futures.Executor.",
            "Give a ProcessPoolExecutor, or client.get_executor() of a Dask client.",
        )
    if isinstance(executor, ThreadPoolExecutor):
        return
    for name, value in (("model", model), ("tokenizer", tokenizer)):
        if not isinstance(value, str | Path | None):
            raise BadInput(
                f"The {name} is a {type(value).__name__}, and the executor runs elsewhere.",
                "Expected a name or a folder: each worker loads the model itself.",
                f"Save the {name} to a folder that all workers see, and give its path.",
            )

"""Measuring: contenders in turn, ratios round by round, peaks of memory, and what it ran on."""

import ctypes
import gc
import json
import math
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RESULTS = HERE / "results"
Task = Callable[[], object]
Seconds = dict[str, list[float]]


def in_turn(
    tasks: Mapping[str, Task], *, rounds: int, patience: float = math.inf, warm: bool = True
) -> Seconds:
    """Seconds of each contender, in turn; a first round that does not count, where it is to warm.

    No round begins after so many seconds of patience, once there are three.
    """
    if warm:
        for task in tasks.values():
            task()
    seconds: Seconds = {name: [] for name in tasks}
    began = time.perf_counter()
    for turn in range(rounds):
        if turn >= 3 and time.perf_counter() - began > patience:
            break
        for name, task in tasks.items():
            gc.collect()
            start = time.perf_counter()
            task()
            seconds[name].append(time.perf_counter() - start)
    return seconds


def spread(values: Sequence[float], digits: int = 3) -> dict[str, float]:
    """A median with its quartiles; of a single number, that number."""
    if len(values) == 1:
        low = middle = high = values[0]
    else:
        low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    rounded = {"median": middle, "low": low, "high": high}
    return {name: float(f"{value:.{digits}g}") for name, value in rounded.items()}


def ratio(seconds: Seconds, name: str, to: str) -> dict[str, float]:
    """The median and quartiles of the ratio of two contenders, round by round."""
    return spread([a / b for a, b in zip(seconds[name], seconds[to], strict=True)])


def medians(seconds: Seconds) -> dict[str, float]:
    """Each contender's median seconds."""
    return {name: float(f"{statistics.median(each):.4g}") for name, each in seconds.items()}


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """The p in values ∝ sizes^p, by least squares between logarithms."""
    x, y = ([math.log(one) for one in each] for each in (sizes, values))
    slope, _ = statistics.linear_regression(x, y)
    return round(slope, 2)


def peak(task: Task) -> int:
    """How many bytes a contender needs at its most, beyond what was there before it.

    What it gives back is in it: the result is held until the peak is read.
    """
    gc.collect()
    with suppress(OSError, AttributeError):  # other C libraries give memory back by themselves
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of what came before
    before = high_water()
    kept = task()
    found = high_water() - before
    del kept
    return found


def high_water() -> int:
    """The most memory this process has held, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def machine() -> dict[str, object]:
    """What the numbers were measured on."""
    import torch  # takes its time to load, and views are measured without it

    names = ("normviz", "torch", "transformers", "numpy")
    return {
        "processor": platform.processor() or platform.machine(),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        **{name: version(name) for name in names},
    }


def keep(name: str, results: Mapping[str, Any]) -> Path:
    """Write results under a name."""
    RESULTS.mkdir(exist_ok=True)
    place = RESULTS / f"{name}.json"
    place.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    return place

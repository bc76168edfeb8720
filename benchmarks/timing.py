"""Measure contenders in turn, ratios by round, and peak memory; describe the machine."""

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


def time_in_turn(
    tasks: Mapping[str, Task], *, rounds: int, budget: float = math.inf, warm: bool = True
) -> Seconds:
    """Return the seconds of each contender in each round; a warm-up round does not count.

    After three rounds, no round starts once the budget of seconds is used up.
    """
    if warm:
        for task in tasks.values():
            task()
    seconds: Seconds = {name: [] for name in tasks}
    start_all = time.perf_counter()
    for turn in range(rounds):
        if turn >= 3 and time.perf_counter() - start_all > budget:
            break
        for name, task in tasks.items():
            gc.collect()
            start = time.perf_counter()
            task()
            seconds[name].append(time.perf_counter() - start)
    return seconds


def median_and_quartiles(values: Sequence[float], digits: int = 3) -> dict[str, float]:
    """Return the median and quartiles; a single number is all three."""
    if len(values) == 1:
        low = middle = high = values[0]
    else:
        low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    rounded = {"median": middle, "low": low, "high": high}
    return {name: float(f"{value:.{digits}g}") for name, value in rounded.items()}


def ratio_by_round(seconds: Seconds, name: str, to: str) -> dict[str, float]:
    """Return the median and quartiles of the ratio of two contenders within each round."""
    return median_and_quartiles([a / b for a, b in zip(seconds[name], seconds[to], strict=True)])


def medians(seconds: Seconds) -> dict[str, float]:
    """Return the median seconds of each contender."""
    return {name: float(f"{statistics.median(each):.4g}") for name, each in seconds.items()}


def fit_exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Return the p in values ∝ sizes^p, by least squares on logarithms."""
    x, y = ([math.log(number) for number in row] for row in (sizes, values))
    slope, _ = statistics.linear_regression(x, y)
    return round(slope, 2)


def peak_memory(task: Task) -> int:
    """Return the peak memory of a task in bytes, beyond what was allocated before.

    The result is included: it is kept until the peak is read.
    """
    gc.collect()
    with suppress(OSError, AttributeError):  # other C libraries release memory by themselves
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # reset the peak
    before = read_high_water()
    result = task()
    peak = read_high_water() - before
    del result
    return peak


def read_high_water() -> int:
    """Return the peak memory of this process in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def describe_machine() -> dict[str, object]:
    """Return the processor, threads and versions that the numbers were measured with."""
    import torch  # slow to import, and the view benchmarks do not need it

    names = ("normviz", "torch", "transformers", "numpy")
    return {
        "processor": platform.processor() or platform.machine(),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        **{name: version(name) for name in names},
    }


def write_results(name: str, results: Mapping[str, Any]) -> Path:
    """Write results to a JSON file with this name."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    return path

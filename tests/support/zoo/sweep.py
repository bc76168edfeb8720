"""Measures every type, in processes of their own, and prints or writes what became of each.

python tests/support/zoo/sweep.py --family attention --types bert,llava
python tests/support/zoo/sweep.py --write        the whole table
python tests/support/zoo/sweep.py --compare      fails where it differs from the table
"""

import argparse
import json
import os
import queue
import re
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
if __name__ == "__main__":  # run as a script: this folder is not where modules are imported from
    sys.path[:] = [str(ROOT), str(HERE.parent), *(p for p in sys.path if Path(p).resolve() != HERE)]
    os.environ |= {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}

from zoo.results import FAMILY_NAMES, read_table, write_table  # noqa: E402

PATIENCE = 6
"""How many times the time limit a process may take by the clock before it is ended."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command, and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--family", action="append", choices=FAMILY_NAMES)
    parser.add_argument("--types", help="names, separated by commas; all by default")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--limit", type=float, default=60.0, help="seconds of work for one measurement"
    )
    parser.add_argument("--write", action="store_true", help="write the table of outcomes")
    parser.add_argument("--compare", action="store_true", help="fail where the table differs")
    parser.add_argument("--details", action="store_true", help="print the whole message of each")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.worker:
        return work(options.limit)
    import zoo

    families = options.family or list(FAMILY_NAMES)
    types = options.types.split(",") if options.types else list(zoo.TYPES)
    started = time.monotonic()
    results = run(types, families, options.processes, options.limit)
    for family in families:
        print("\n".join(summarize(family, results)))
    if options.details:
        print(
            "\n".join(
                f"{n} {f}: {r[f]} {r.get(f + ' detail', '')}"
                for n, r in sorted(results.items())
                for f in families
            )
        )
    print(f"{len(types)} types in {time.monotonic() - started:.0f} s")
    if options.write:
        write_table(results, families, whole=options.types is None)
    if options.compare:
        return report_differences(results, families)
    return 0


# --- processes -----------------------------------------------------------------------------------


def run(
    types: list[str], families: list[str], processes: int, limit: float
) -> dict[str, dict[str, Any]]:
    """Return the outcomes of all types; a crash or a hang costs only its own measurement."""
    jobs: queue.Queue[tuple[str, str]] = queue.Queue()
    for name in types:
        for family in families:
            jobs.put((name, family))
    results: dict[str, dict[str, Any]] = defaultdict(dict)
    threads = [
        threading.Thread(target=serve, args=(jobs, results, limit)) for _ in range(processes)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return dict(results)


def serve(jobs: queue.Queue, results: dict[str, dict[str, Any]], limit: float) -> None:
    """Give jobs to one process until none is left, and start another where it ends."""
    process = None
    while True:
        try:
            name, family = jobs.get_nowait()
        except queue.Empty:
            break
        process = process or start(limit)
        answer = ask(process, name, family, limit)
        if answer is None:
            process.kill()
            code = process.wait()
            process = None
            answer = {
                family: "slow: over the limit" if code == -9 else f"crashed: exit code {code}"
            }
        results[name] |= answer
        if sys.stderr.isatty():
            print(f"\r{jobs.qsize():5} to go", end="", file=sys.stderr)
    if process is not None:
        process.stdin.close()
        process.wait()


def start(limit: float) -> subprocess.Popen:
    """Start a process that measures types as it is told to."""
    command = [sys.executable, "-W", "ignore", __file__, "--worker", "--limit", str(limit)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )


def ask(process: subprocess.Popen, name: str, family: str, limit: float) -> dict[str, Any] | None:
    """Return what a process answers, or None where it hangs or is gone."""
    timer = threading.Timer(PATIENCE * limit, process.kill)
    timer.start()
    try:
        process.stdin.write(json.dumps([name, family]) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        return json.loads(line) if line.endswith("\n") else None
    except (BrokenPipeError, json.JSONDecodeError):
        return None
    finally:
        timer.cancel()


def work(limit: float) -> int:
    """Answer each line of the input with the outcome of one type."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what models print is no answer
    import torch
    from jaxtyping import install_import_hook

    install_import_hook("normviz", "beartype.beartype")  # as in the tests: annotations are run
    torch.set_num_threads(1)
    from zoo.outcomes import count_of, find_outcome

    for line in sys.stdin:
        name, family = json.loads(line)
        answer: dict[str, Any] = {}
        try:
            answer["attentions"] = count_of(name)
            outcome = find_outcome(name, family, limit)
            answer |= {family: str(outcome), f"{family} detail": outcome.detail}
        except Exception as error:  # noqa: BLE001 (one type must not stop the others)
            answer[family] = f"not built: {type(error).__name__}: {str(error)[:200]}"
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
    return 0


# --- reports -------------------------------------------------------------------------------------


def summarize(family: str, results: dict[str, dict[str, Any]]) -> list[str]:
    """Return a table of the outcomes of one family, the most frequent first."""
    groups = defaultdict(list)
    for name, result in results.items():
        groups[result.get(family, "not run")].append(name)
    kinds = Counter(
        outcome.partition(":")[0] for r in results.values() if (outcome := r.get(family))
    )
    details = [r.get(f"{family} detail", "") for r in results.values() if r.get(family) == "pass"]
    compared = sum(bool(re.match(r"[1-9]\d* of", detail)) for detail in details)
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    lines = [f"## {family}: {counts}", "", "| count | outcome | types |", "|---|---|---|"]
    for outcome, names in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])):
        shown = "" if outcome == "pass" and len(names) > 20 else ", ".join(sorted(names))
        lines.append(f"| {len(names)} | {outcome} | {shown} |")
    lines.append(f"\n{compared} that pass were compared with weights that the model reports")
    return [*lines, ""]


def report_differences(results: dict[str, dict[str, Any]], families: list[str]) -> int:
    """Print where outcomes differ from the table; return 1 where any does."""
    table = read_table()
    found = 0
    for name, result in sorted(results.items()):
        for family in families:
            expected = table.get(name, {}).get(family, "not in the table")
            if result[family].partition(":")[0] != expected.partition(":")[0]:
                found += 1
                print(f"{name}, {family}: {result[family]}, where the table has {expected}")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())

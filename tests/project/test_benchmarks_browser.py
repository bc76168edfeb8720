"""The browser benchmarks run, and count correctly."""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest
from paths import ROOT

BENCHMARKS = ROOT / "benchmarks"
sys.path.append(str(BENCHMARKS))
import contenders  # noqa: E402
import sidebyside  # noqa: E402
import sidebyside_report  # noqa: E402
import transport  # noqa: E402


def quick(script):
    """Return the last line of a quick run: the number of tokens, and the results."""
    command = [sys.executable, "-W", "ignore", BENCHMARKS / script, "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    tokens, row = done.stdout.strip().splitlines()[-1].split(" ", 1)
    return tokens, json.loads(row)


def test_all_contenders_run_side_by_side_on_a_small_text():
    tokens, row = quick("sidebyside.py")
    assert tokens == "16"
    assert row.keys() == contenders.MAKERS.keys()
    kinds = {"size", "make", "first", "layer", "hover", "head", "nodes", "heap"}
    for name, found in row.items():
        assert "gave up" not in found
        assert kinds - found.keys() == ({"layer"} if name == "circuitsvis" else set())
        assert all(found[kind]["median"] > 0 for kind in kinds & found.keys())


def test_the_transport_from_a_kernel_to_the_picture_is_measured_on_a_small_text():
    tokens, row = quick("transport.py")
    assert tokens == "24"
    numbers = 12 * 24 * 24 + 12 * 24
    first, again = (row[f"bytes, {when}"]["Received"]["median"] for when in ("first", "again"))
    assert first > 2 * numbers > again
    assert all(found["median"] > 0 for name, found in row.items() if not name.startswith("bytes"))


def test_a_page_of_bertviz_holds_its_numbers_twice(tmp_path):
    weights = np.array([0.123456, 0.876544], dtype=np.float32).reshape(1, 1, 1, 2).repeat(2, axis=2)
    contenders.bertviz(weights, np.ones((1, 1, 2)), tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    rows = json.dumps(weights[0].tolist())
    assert page.count(rows) == 2
    assert page.count("// HACK: {") == 1  # the second time in a comment


STUBBORN = """
import subprocess, sys, time
print('{"make": 5}', flush=True)
if sys.argv[1] == "stubborn":
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    print('{"child": %d}' % child.pid, flush=True)
    time.sleep(600)
if sys.argv[1] == "broken":
    raise SystemExit("It broke.")
"""


@pytest.fixture
def stubborn(tmp_path, monkeypatch):
    """Contenders some of which never end."""
    script = tmp_path / "stubborn.py"
    script.write_text(STUBBORN)
    monkeypatch.setattr(contenders, "__file__", str(script))


def test_a_contender_past_its_timeout_is_ended_with_its_children_and_the_others_continue(stubborn):
    names = ["stubborn", "quick", "broken"]
    runs = sidebyside.run_rounds(names, Path("none"), 2, timeout=3)
    (found,) = runs["stubborn"]
    assert found["gave up"] == "not done after 3 s, while opening it"
    assert found["make"] == 5
    deadline = time.monotonic() + 5
    while psutil.pid_exists(found["child"]) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not psutil.pid_exists(found["child"])
    assert [run["gave up"] for run in runs["broken"]] == ["It broke., while opening it"]
    assert [run["make"] for run in runs["quick"]] == [5, 5]
    assert "gave up" in sidebyside.summarize(runs["stubborn"])


def test_ratios_are_taken_within_a_round():
    runs = {
        "bertviz": [{"first": 10.0}, {"first": 100.0}, {"first": 9.0, "gave up": "…"}],
        "snapshot": [{"first": 1.0}, {"first": 50.0}, {"first": 3.0, "layer": 2.0}],
    }
    found = sidebyside.ratios_by_round(runs, "bertviz", "snapshot")
    assert found == {"first": {"median": 3.0, "low": 2.0, "high": 10.0}}


@pytest.mark.parametrize(
    ("name", "report"),
    [("browser", sidebyside_report.markdown), ("transport", transport.markdown)],
)
def test_the_readme_has_the_stored_results(name, report):
    results = json.loads((BENCHMARKS / "results" / f"{name}.json").read_text())
    assert {"python", "cores", "normviz"} <= results["machine"].keys()
    assert report(results) in (BENCHMARKS / "README.md").read_text()

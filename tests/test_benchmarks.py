"""The benchmarks still run."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


def test_the_attention_benchmark_runs_on_a_small_shape():
    command = [sys.executable, "-W", "ignore", BENCHMARKS / "attention.py", "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    tokens, row = done.stdout.strip().splitlines()[-1].split(" ", 1)
    assert tokens == "32"
    assert json.loads(row)["time"]["median"] > 0


def test_the_benchmark_of_the_view_runs_on_a_small_text():
    command = [sys.executable, "-W", "ignore", BENCHMARKS / "view.py", "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    tokens, row = done.stdout.strip().splitlines()[-1].split(" ", 1)
    assert tokens == "24"
    assert {"first", "layer", "measure", "head", "view stack"} <= set(json.loads(row))


def test_the_benchmark_of_the_file_runs_on_a_small_text():
    command = [sys.executable, "-W", "ignore", BENCHMARKS / "snapshot.py", "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    tokens, row = done.stdout.strip().splitlines()[-1].split(" ", 1)
    assert tokens == "24"
    assert set(json.loads(row)["milliseconds"]) == {"first", "layer", "measure", "token"}


def test_the_table_of_mixing_ratios_runs_on_a_small_text(tmp_path):
    text, output = tmp_path / "text.txt", tmp_path / "mixing.json"
    text.write_text("= Heading =\nA cat sat on a mat.\nIt slept.\nA dog ran.\nIt barked.\n")
    command = [sys.executable, "-W", "ignore", BENCHMARKS / "mixing.py", text, "--output", output]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "demo: 2 texts" in done.stdout
    kept = json.loads((BENCHMARKS / "results" / "mixing.json").read_text())
    assert kept.keys() == json.loads(output.read_text()).keys()


def test_the_table_of_identifiability_runs_on_a_small_text(tmp_path):
    text, output = tmp_path / "text.txt", tmp_path / "identifiability.json"
    text.write_text("\n".join(f"A cat sat on mat {n}.\nIt slept until {n}." for n in range(5)))
    command = [sys.executable, "-W", "ignore", BENCHMARKS / "identifiability.py", text]
    done = subprocess.run(
        [*command, "--output", output], capture_output=True, text=True, check=True
    )
    assert "demo: 5 texts" in done.stdout
    kept = json.loads((BENCHMARKS / "results" / "identifiability.json").read_text())
    assert kept.keys() == json.loads(output.read_text()).keys()
    assert len(kept["accuracies"]) == 6 * 3 * 2


def test_the_finding_over_a_corpus_runs_on_a_small_text(tmp_path):
    text, output = tmp_path / "text.txt", tmp_path / "corpus.json"
    text.write_text("= Heading =\nA cat sat, on a mat.\nIt slept.\nA dog ran.\nIt barked.\n")
    command = [sys.executable, "-W", "ignore", BENCHMARKS / "corpus.py", text, "--output", output]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "2 texts" in done.stdout
    found = json.loads(output.read_text())
    kept = json.loads((BENCHMARKS / "results" / "corpus.json").read_text())
    assert kept["demo"].keys() == found["demo"].keys()
    assert kept["demo"]["segments"] >= 992
    assert output.with_suffix(".svg").read_text().startswith("<?xml")


def test_error_rates_of_alignment_run_on_a_few_sentences_and_keep_what_was_kept(tmp_path):
    output = tmp_path / "alignment.json"
    output.write_text('{"another model": {}}')
    command = [sys.executable, "-W", "ignore", BENCHMARKS / "alignment.py", "--output", output]
    few = ["--seeds", "2", "--epochs", "1", "--sentences", "20"]
    done = subprocess.run([*command, *few], capture_output=True, text=True, check=True)
    assert "| seed 1 |" in done.stdout
    kept = json.loads(output.read_text())
    assert kept.keys() == {"another model", "made-up"}
    found = kept["made-up"]
    for setting in ("input", "output"):
        rates = [found["runs"][seed]["aer"][setting]["weight"]["layer 2"] for seed in "01"]
        told = found["summary"][setting]["layer 2"]["weight"]["mean"]
        assert told == pytest.approx(sum(rates) / 2, abs=1e-5)
    assert 0 < found["yardsticks"]["all right, one for each target word"] < 0.1
    assert output.with_suffix(".svg").read_text().startswith("<?xml")


def test_error_rates_of_alignment_run_on_a_model_with_links_of_people(tmp_path):
    sys.path.append(str(BENCHMARKS.parent / "notebooks" / "training"))
    from marian import Recipe, model_of, save, tokenizer_of

    pairs, gold, output = (tmp_path / name for name in ("pairs", "gold", "alignment.json"))
    pairs.write_text("el gato ||| the cat\nun perro ||| a dog\n")
    gold.write_text("1p1 2-2\n1-1 2-2\n")
    tokenizer = tokenizer_of([("el gato un perro", "the cat a dog")] * 2, 40)
    recipe = Recipe(width=16, inner=16, heads=2, encoder_layers=1, decoder_layers=2)
    save(model_of(recipe, tokenizer), tokenizer, tmp_path / "es-en")
    command = [sys.executable, "-W", "ignore", BENCHMARKS / "alignment.py", "--output", output]
    given = ["--model", tmp_path / "es-en", "--pairs", pairs, "--gold", gold]
    subprocess.run([*command, *given], capture_output=True, text=True, check=True)
    (run,) = json.loads(output.read_text())["es-en"]["runs"].values()
    assert run["pairs"] == 2
    assert set(run["aer"]["output"]["weighted-norm"]) >= {"layer 0", "layer 1", "best head"}


def test_the_benchmark_of_gradients_runs_on_a_small_text():
    command = [sys.executable, "-W", "ignore", BENCHMARKS / "gradient.py", "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    speed, sketch = (line.split(" ", 1) for line in done.stdout.strip().splitlines()[-2:])
    assert speed[0] == "6"
    assert json.loads(speed[1])["times faster"][0] > 0
    found = json.loads(sketch[1])["demo"]["samples"]["8"]
    assert 0 < found["true error"] < 3 * found["stated error"]


def test_the_kept_results_are_readable_and_name_their_machine():
    kept = json.loads((BENCHMARKS / "results" / "attention.json").read_text())
    assert set(kept["tokens"]) == {"128", "512"}
    assert {"torch", "transformers", "threads"} <= set(kept["machine"])


def test_the_kept_times_of_the_view_are_those_of_the_goals():
    kept = json.loads((BENCHMARKS / "results" / "view.json").read_text())
    assert set(kept["milliseconds"]) == set(kept["goals"]) == {"128", "512"}


def test_the_kept_file_is_as_small_and_quick_as_its_goals():
    kept = json.loads((BENCHMARKS / "results" / "snapshot.json").read_text())
    goal = kept["goals"]["128"]
    assert kept["128"]["megabytes"] <= goal["megabytes"]
    assert kept["128"]["milliseconds"]["first"]["median"] <= goal["first"]
    assert kept["512"]["milliseconds"]["layer"]["median"] > 0


def test_the_benchmark_of_the_ladder_runs_on_a_small_shape():
    command = [sys.executable, "-W", "ignore", BENCHMARKS / "ladder.py", "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    tokens, row = done.stdout.strip().splitlines()[-1].split(" ", 1)
    assert tokens == "32"
    assert json.loads(row)["whole, x products"]["median"] > 0

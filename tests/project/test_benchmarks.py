"""The benchmarks run."""

import json
import subprocess
import sys

import pytest
from paths import ROOT

BENCHMARKS = ROOT / "benchmarks"


def quick(script, *options):
    """Return the lines that a benchmark prints in a quick run."""
    command = [sys.executable, "-W", "ignore", BENCHMARKS / script, *options, "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    return done.stdout.strip().splitlines()


def test_the_sweep_runs_on_a_tiny_model():
    rows = [line.split(" ", 3) for line in quick("sweep.py")]
    found = {name: json.loads(row) for _, name, _, row in rows}
    assert set(found) == {"float32", "four", "whole", "effective", "attribution", "bfloat16"}
    for dtype in ("float32", "bfloat16"):
        assert found[dtype]["x plain"]["four"]["median"] > 0
        assert set(found[dtype]["x limits"]["block"]) == {"arithmetic", "memory"}
    for name in ("four", "whole", "effective"):
        assert found[name]["literal, x normviz"]["median"] > 0
        assert found[name]["bytes"] > 0
    assert found["whole"]["x unavoidable products"]["median"] > 0
    total, run = (found["attribution"][f"backward passes {word}"] for word in ("wanted", "run"))
    assert total > run > 0
    assert found["attribution"]["x arithmetic of its own products"]["median"] > 0
    assert found["whole"]["x limits"]["arithmetic"]["median"] > 0


def test_the_stages_add_up_to_an_analysis():
    (line,) = quick("stages.py")
    found = json.loads(line)
    assert next(iter(found["way, seconds"])) == "import normviz"
    stages = found["inside, milliseconds"]["16"]
    assert {"plain", "normviz", "the head sum"} <= set(stages)
    assert all(stages[name]["median"] > 0 for name in ("plain", "normviz", "the head sum"))


def test_the_throughput_over_a_corpus_is_measured_without_a_text():
    (line,) = quick("corpus.py", "--speed")
    found = json.loads(line)
    assert found["segments"] == 4
    assert found["x plain"]["plain"]["median"] == 1
    assert found["x plain"]["masses"]["median"] > 0
    assert found["two workers, x one"]["median"] > 0


def test_the_study_of_a_corpus_needs_a_text():
    command = [sys.executable, "-W", "ignore", BENCHMARKS / "corpus.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "expected a text file" in done.stderr


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


def test_the_study_of_a_corpus_runs_on_a_small_text(tmp_path):
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


def test_alignment_error_rates_run_on_a_few_sentences_and_keep_other_results(tmp_path):
    output = tmp_path / "alignment.json"
    output.write_text('{"another model": {}}')
    command = [sys.executable, "-W", "ignore", BENCHMARKS / "alignment.py", "--output", output]
    few = ["--seeds", "2", "--epochs", "1", "--sentences", "20"]
    done = subprocess.run([*command, *few], capture_output=True, text=True, check=True)
    assert "| seed 1 |" in done.stdout
    kept = json.loads(output.read_text())
    assert kept.keys() == {"another model", "made-up"}
    found = kept["made-up"]
    for target_row in ("input", "output"):
        rates = [found["runs"][seed]["aer"][target_row]["weight"]["layer 2"] for seed in "01"]
        mean = found["summary"][target_row]["layer 2"]["weight"]["mean"]
        assert mean == pytest.approx(sum(rates) / 2, abs=1e-5)
    assert 0 < found["yardsticks"]["all right, one for each target word"] < 0.1
    assert output.with_suffix(".svg").read_text().startswith("<?xml")


def test_alignment_error_rates_run_on_a_model_with_gold_links(tmp_path):
    sys.path.append(str(BENCHMARKS.parent / "notebooks" / "training"))
    from marian import Recipe, build_model, save, train_tokenizer

    pairs, gold, output = (tmp_path / name for name in ("pairs", "gold", "alignment.json"))
    pairs.write_text("el gato ||| the cat\nun perro ||| a dog\n")
    gold.write_text("1p1 2-2\n1-1 2-2\n")
    tokenizer = train_tokenizer([("el gato un perro", "the cat a dog")] * 2, 40)
    recipe = Recipe(width=16, inner=16, heads=2, encoder_layers=1, decoder_layers=2)
    save(build_model(recipe, tokenizer), tokenizer, tmp_path / "es-en")
    command = [sys.executable, "-W", "ignore", BENCHMARKS / "alignment.py", "--output", output]
    options = ["--model", tmp_path / "es-en", "--pairs", pairs, "--gold", gold]
    subprocess.run([*command, *options], capture_output=True, text=True, check=True)
    (run,) = json.loads(output.read_text())["es-en"]["runs"].values()
    assert run["pairs"] == 2
    assert set(run["aer"]["output"]["weighted-norm"]) >= {"layer 0", "layer 1", "best head"}


def test_the_benchmark_of_gradients_runs_on_a_small_text():
    speed, sketch = (line.split(" ", 1) for line in quick("gradient.py")[-2:])
    assert speed[0] == "6"
    assert json.loads(speed[1])["times faster"][0] > 0
    found = json.loads(sketch[1])["samples"]["8"]
    assert 0 < found["true error"] < 3 * found["stated error"]


def test_the_stored_times_of_the_view_have_goals():
    kept = json.loads((BENCHMARKS / "results" / "view.json").read_text())
    assert set(kept["milliseconds"]) == set(kept["goals"]) == {"128", "512"}


def test_the_stored_file_meets_its_goals():
    kept = json.loads((BENCHMARKS / "results" / "snapshot.json").read_text())
    goal = kept["goals"]["128"]
    assert kept["128"]["megabytes"] <= goal["megabytes"]
    assert kept["128"]["milliseconds"]["first"]["median"] <= goal["first"]
    assert kept["512"]["milliseconds"]["layer"]["median"] > 0

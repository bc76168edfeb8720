"""The benchmarks compare what they claim to: same numbers, counted operations, correct reports."""

import json
import sys

import numpy as np
import pytest
import torch
from paths import ROOT
from torch.utils.flop_counter import FlopCounterMode
from transformers import BertConfig, BertModel, GPT2Config, GPT2Model, LlamaConfig, LlamaModel

import normviz
from normviz.core.catalog import LADDER

BENCHMARKS = ROOT / "benchmarks"
sys.path.append(str(BENCHMARKS))
import corpus  # noqa: E402
import gradient  # noqa: E402
import literal  # noqa: E402
import shapes  # noqa: E402
import snapshot  # noqa: E402
import stages  # noqa: E402
import sweep_report  # noqa: E402
import tables  # noqa: E402
import timing  # noqa: E402
import view  # noqa: E402
from limits import (  # noqa: E402
    OPERATIONS,
    OperationCounter,
    Yardstick,
    least_seconds,
    moved_bytes,
    pass_operations,
)
from shapes import Sizes  # noqa: E402

EAGER = {"attn_implementation": "eager"}


def bert():
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_attention_heads": 4, "intermediate_size": 40}
    config = BertConfig(num_hidden_layers=2, vocab_size=50, **sizes, **EAGER)
    return BertModel(config, add_pooling_layer=False).double().eval()


def gpt2():
    torch.manual_seed(0)
    config = GPT2Config(n_embd=16, n_layer=2, n_head=4, vocab_size=50, **EAGER)
    return GPT2Model(config).double().eval()


def llama():
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_attention_heads": 4, "intermediate_size": 40}
    shared = {"num_key_value_heads": 2, "num_hidden_layers": 2, "vocab_size": 50}
    return LlamaModel(LlamaConfig(**sizes, **shared, **EAGER)).double().eval()


MODELS = {"bert": bert, "gpt2": gpt2, "llama": llama}
INPUTS = {"input_ids": torch.tensor([[7, 3, 9, 3, 12, 40, 1]])}


# --- the formulas taken literally ----------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_the_literal_formulas_give_the_numbers_of_normviz(name):
    model = MODELS[name]()
    flow = normviz.analyze(model, inputs=INPUTS)
    every = literal.compute_four(model, INPUTS)
    assert len(every) == 2
    for layer, rows in enumerate(every):
        names = ("value-norm", "weighted-norm", "attention")
        for measure, numbers in zip(names, rows, strict=True):
            np.testing.assert_allclose(flow[measure][layer], numbers, rtol=1e-5, atol=1e-7)


def test_the_literal_ladder_gives_the_rungs_of_normviz():
    model = bert()
    with torch.no_grad():  # biases of random models are zero, which would hide mistakes
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    flow = normviz.analyze(model, inputs=INPUTS, measures=LADDER)
    every = literal.compute_ladder(model, INPUTS, whole=True)
    assert len(every) == 2
    for layer, rungs in enumerate(every):
        for measure, numbers in zip(LADDER, rungs, strict=True):
            np.testing.assert_allclose(flow[measure][layer], numbers, rtol=1e-5, atol=1e-7)


def test_the_literal_null_space_gives_the_effective_weights_of_normviz():
    model = bert()
    flow = normviz.analyze(model, inputs=INPUTS, measures=["weight", "effective-weight"])
    assert not np.allclose(flow["weight"], flow["effective-weight"])
    found = torch.stack(literal.compute_effective(model, INPUTS))
    np.testing.assert_allclose(flow["effective-weight"], found, rtol=1e-4, atol=1e-6)


def test_single_backward_passes_are_run_for_every_layer():
    assert len(literal.time_backward_passes(bert().float(), INPUTS, each=3)) == 2 * 3


def test_the_trained_model_returns_its_weights_and_runs_to_its_last_layer():
    model = shapes.load_minilm()
    assert len(literal.compute_four(model, INPUTS)) == model.config.num_hidden_layers == 6
    model.set_attn_implementation("sdpa")
    with pytest.raises(ValueError, match="shorter"):
        literal.compute_four(model, INPUTS)


# --- operations and limits -----------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("tokens", [3, 8])
def test_the_operations_of_a_pass_are_those_that_torch_counts(name, tokens):
    model = MODELS[name]()
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(input_ids=torch.ones(1, tokens, dtype=torch.long))
    assert pass_operations(Sizes.of(model), tokens) == counter.get_total_flops()
    with torch.no_grad(), OperationCounter() as counted:
        model(input_ids=torch.ones(1, tokens, dtype=torch.long))
    assert counted.total == counter.get_total_flops()


def test_each_measure_needs_more_operations_than_the_one_below_it():
    sizes = Sizes.of(bert())
    counts = [OPERATIONS[name](sizes, 64) for name in ("four", "block", "whole")]
    assert counts == sorted(counts)
    assert counts[0] > 0


def test_limits_are_counts_at_the_rate_of_the_yardsticks():
    sizes = Sizes.of(bert())
    found = least_seconds("plain", sizes, 10, 4, product=2.0, move=3.0)
    assert found["arithmetic"] == 2.0 * pass_operations(sizes, 10) / Yardstick.operations
    assert found["memory"] == 3.0 * moved_bytes(sizes, 10, 4, "plain") / Yardstick.bytes


# --- time, memory and growth ---------------------------------------------------------------------


def test_contenders_take_turns_and_the_first_round_does_not_count():
    order = []
    tasks = {name: lambda name=name: order.append(name) for name in "ab"}
    seconds = timing.time_in_turn(tasks, rounds=2)
    assert order == ["a", "b"] * 3
    assert {name: len(took) for name, took in seconds.items()} == {"a": 2, "b": 2}


def test_no_round_starts_after_the_time_budget_but_three_are_run():
    count = []
    timing.time_in_turn({"a": lambda: count.append(1)}, rounds=50, budget=0, warm=False)
    assert len(count) == 3


def test_ratios_are_taken_within_a_round():
    seconds = {"a": [1.0, 20.0, 3.0], "b": [1.0, 10.0, 1.0]}
    assert timing.ratio_by_round(seconds, "a", "b") == {"median": 2.0, "low": 1.5, "high": 2.5}


def test_peak_memory_is_the_most_that_a_task_holds():
    megabyte = 2**20

    def task():
        gone = np.ones(60 * megabyte, dtype=np.uint8)
        return np.ones(20 * megabyte, dtype=np.uint8) + gone[:1]

    found = [timing.peak_memory(task) / megabyte for _ in range(2)]
    assert found == pytest.approx([100, 100], abs=25)  # two of 20 and one of 60


def test_the_exponent_of_a_power_is_that_power():
    assert timing.fit_exponent([8, 16, 64], [3 * n**1.5 for n in (8, 16, 64)]) == 1.5


# --- reports ------------------------------------------------------------------------------------


def test_goals_are_judged_by_the_numbers():
    assert tables.judge_goal("a", 1.2, 1.25) == "- a: at most 1.25 ×, measured 1.20 ×: met."
    assert "**missed by 20%**" in tables.judge_goal("a", 1.5, 1.25)
    assert "**missed by 50%**" in tables.judge_goal("a", 10.0, 20.0, at_least=True)
    assert tables.judge_goal("a", 20.0, 20.0, at_least=True).endswith("met.")


def test_results_are_written_between_their_marks_in_the_readme(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text("before\n<!-- x -->\nold\n<!-- /x -->\nafter\n")
    tables.write_section(readme, "x", tables.format_table(["a", "b"], [[1, r"\2"]]))
    assert readme.read_text() == (
        "before\n<!-- x -->\n\n| a | b |\n| --- | --- |\n| 1 | \\2 |\n\n<!-- /x -->\nafter\n"
    )
    with pytest.raises(ValueError, match="needs exactly one section 'y'"):
        tables.write_section(readme, "y", "")


REPORTS = {
    "sweep": sweep_report.report,
    "stages": stages.report,
    "gradient": gradient.report,
    "corpus-speed": corpus.report,
    "view": view.report,
    "snapshot": snapshot.report,
}


@pytest.mark.parametrize("name", REPORTS)
def test_the_readme_has_the_stored_results(name, tmp_path, monkeypatch):
    monkeypatch.setattr(sweep_report, "RESULTS", tmp_path)
    readme = tmp_path / "README.md"
    kept = (BENCHMARKS / "README.md").read_text(encoding="utf-8")
    readme.write_text(kept, encoding="utf-8")
    results = json.loads((BENCHMARKS / "results" / f"{name}.json").read_text())
    assert {"torch", "transformers", "threads"} <= set(results["machine"])
    REPORTS[name](results, readme)
    assert readme.read_text(encoding="utf-8") == kept

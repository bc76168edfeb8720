"""The four attention measures against the model's own pass, and the formulas taken literally.

Each contender runs in turn, many rounds, in one process; what is reported is the median of the
rounds' ratios to the plain pass, with its quartiles. Peak memory is measured in processes of their
own for each contender, as growth over the loaded model; the median of five.

    python benchmarks/attention.py            about four minutes on two cores
    python benchmarks/attention.py --quick    one small shape, to see that it runs
"""

import argparse
import gc
import json
import platform
import statistics
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import torch
import transformers
from transformers import BertConfig, BertModel

import normviz

HERE = Path(__file__).parent
GOALS = {"time": 1.25, "memory": 1.3, "literal": 20.0}


def model(*, quick: bool = False) -> BertModel:
    """A model of the shape of BERT-base, with random weights."""
    torch.manual_seed(0)
    size = {"num_hidden_layers": 2} if quick else {}
    config = BertConfig(attn_implementation="eager", **size)
    return BertModel(config, add_pooling_layer=False).eval()


def ids(tokens: int) -> torch.Tensor:
    """A text of so many random tokens, always the same."""
    return torch.randint(1000, 30000, (1, tokens), generator=torch.Generator().manual_seed(1))


def plain(bert: BertModel, tokens: int):
    """The model's own eager pass, keeping its attention."""
    with torch.no_grad():
        return bert(ids(tokens), output_attentions=True).attentions


def measured(bert: BertModel, tokens: int):
    """normviz: the pass, the four measures, the receipt, the result in numpy."""
    return normviz.analyze(bert, inputs={"input_ids": ids(tokens)})


def literal(bert: BertModel, tokens: int):
    """The papers' formulas as they stand: every moved vector is built, for every head and pair."""
    with torch.no_grad():
        out = bert(ids(tokens), output_attentions=True, output_hidden_states=True)
        results = []
        heads, width = bert.config.num_attention_heads, bert.config.hidden_size
        for layer, alpha, hidden in zip(
            bert.encoder.layer, out.attentions, out.hidden_states, strict=False
        ):
            value = layer.attention.self.value(hidden[0]).view(tokens, heads, -1)
            dense = layer.attention.output.dense.weight.view(width, heads, -1)
            moved = torch.einsum("khd,mhd->hkm", value, dense)
            weighted = alpha[0, :, :, :, None] * moved[:, None]  # head query key model
            results.append(
                (moved.norm(dim=-1), weighted.norm(dim=-1), weighted.sum(dim=0).norm(dim=-1))
            )
        return results


CONTENDERS = {"plain": plain, "normviz": measured, "literal": literal}


def timed(
    bert: BertModel, tokens: int, names: list[str], rounds: int, contenders=CONTENDERS
) -> dict[str, list[float]]:
    """Seconds of each contender, in turn, after one run that does not count."""
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(rounds + 1):
        for name in names:
            gc.collect()
            start = time.perf_counter()
            contenders[name](bert, tokens)
            if turn:
                seconds[name].append(time.perf_counter() - start)
    return seconds


def ratio(seconds: dict[str, list[float]], name: str, to: str) -> dict[str, float]:
    """The median and quartiles of the ratio of two contenders, round by round."""
    ratios = [a / b for a, b in zip(seconds[name], seconds[to], strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4)
    return {"median": round(middle, 3), "low": round(low, 3), "high": round(high, 3)}


def alone(seconds: dict[str, list[float]]) -> float:
    """How much longer the literal formulas take than normviz, the model's own pass taken off."""
    middle = {name: statistics.median(values) for name, values in seconds.items()}
    return round((middle["literal"] - middle["plain"]) / (middle["normviz"] - middle["plain"]), 1)


def alone_in_a_process(script: str, name: str, tokens: int) -> int:
    """How many bytes a contender needs beyond the loaded model: the median of five processes."""
    command = [sys.executable, "-W", "ignore", script, "--peak", name, "--tokens", str(tokens)]
    found = []
    for _ in range(5):
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found.append(int(done.stdout.strip().splitlines()[-1]))
    return int(statistics.median(found))


def measure_peak(name: str, tokens: int, contenders=CONTENDERS) -> None:
    """Run one contender in this process and print how much memory it took."""
    bert = model()
    plain(bert, 8)  # libraries allocate on first use; that is not the contender's memory
    measured(bert, 8)
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of building the model
    before = high_water()
    kept = contenders[name](bert, tokens)
    print(high_water() - before)
    del kept


def high_water() -> int:
    """The most memory this process has held, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def machine() -> dict[str, object]:
    """What the numbers were measured on."""
    names = ("normviz", "torch", "transformers", "numpy")
    return {
        "processor": platform.processor() or platform.machine(),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        **{name: version(name) for name in names},
    }


def run(*, quick: bool) -> dict[str, object]:
    """Every shape in turn, printed as it is done."""
    bert = model(quick=quick)
    shapes = {32: 3} if quick else {128: 21, 512: 13}
    results: dict[str, object] = {"machine": machine(), "goals": GOALS, "tokens": {}}
    for tokens, rounds in shapes.items():
        names = ["plain", "normviz"] if tokens > 128 else ["plain", "normviz", "literal"]
        if "literal" in names and not quick:  # slow: a few rounds are enough
            few = timed(bert, tokens, names, 4)
            literally = {
                "with the pass": ratio(few, "literal", "normviz"),
                "without the pass": alone(few),
            }
        else:
            literally = None
        seconds = timed(bert, tokens, ["plain", "normviz"], rounds)
        row = {
            "time": ratio(seconds, "normviz", "plain"),
            "seconds": {n: round(statistics.median(s), 4) for n, s in seconds.items()},
            "literal": literally,
        }
        if not quick:
            names = ("plain", "normviz")
            bytes_grown = {name: alone_in_a_process(__file__, name, tokens) for name in names}
            row["memory"] = round(bytes_grown["normviz"] / bytes_grown["plain"], 3)
            row["bytes"] = bytes_grown
        results["tokens"][str(tokens)] = row
        print(tokens, json.dumps(row))
    return results


def command(run, contenders, name: str) -> None:
    """Measure, and keep the result under a name unless it was only a quick look."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="one small shape, nothing kept")
    parser.add_argument("--peak", help="run one contender and print the memory it took")
    parser.add_argument("--tokens", type=int, default=128)
    chosen = parser.parse_args()
    transformers.logging.set_verbosity_error()
    if chosen.peak:
        measure_peak(chosen.peak, chosen.tokens, contenders)
        return
    results = run(quick=chosen.quick)
    if not chosen.quick:
        place = HERE / "results" / f"{name}.json"
        place.parent.mkdir(exist_ok=True)
        place.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    command(run, CONTENDERS, "attention")

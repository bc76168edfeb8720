"""Alignment error rates by weight and by norm, with known word alignments.

Trains small translators of a made-up pair of languages (`notebooks/training/made_up.py`), one for
each seed, with the code that trains the notebooks' translator, and scores the links of their
cross-attention on unseen sentences. A seed changes a model's initialization, its dropout and the
order of its texts; the languages and all sentences stay the same.

    python benchmarks/alignment.py                       five seeds: 19 minutes on two cores
    python benchmarks/alignment.py --seeds 2 --epochs 1 --sentences 100      a smoke test
    python benchmarks/alignment.py --model notebooks/models/es-en
        --pairs notebooks/data/es-en.src-tgt --gold notebooks/data/es-en.gold     your own model
"""

import argparse
import json
import math
import os
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from time import process_time
from typing import Any

import torch
from timing import HERE, describe_machine

sys.path.append(str(HERE.parent / "notebooks" / "training"))

from made_up import Sentence, make_corpus
from marian import Recipe, encode_pairs, held_out_loss, train_model, train_tokenizer, translate

import normviz
from normviz import studies
from normviz.alignment.align import TARGET_ROWS
from normviz.studies.word_alignment.result import MEASURES

RECIPE = Recipe(
    width=96, inner=192, heads=4, encoder_layers=3, decoder_layers=3, vocabulary=400,
    rate=2e-3, warmup=300, epochs=8, tokens=1000,
)  # fmt: skip
LANGUAGE_SEED, MAX_TEST = 0, 300
"""The seed of the languages and their sentences; the maximum number of test sentences."""
LABELS = {"weight": "α", "weighted-norm": "‖Σ αf(x)‖"}
"""The measures over all heads together, which the rates of the layers use."""
Runs = Mapping[str, Mapping[str, Any]]
"""The results by seed."""


def make_sentences(learned: int) -> tuple[list[Sentence], list[Sentence]]:
    """Return training and test sentences."""
    return make_corpus(LANGUAGE_SEED, learned, min(MAX_TEST, learned))


def text_pairs(sentences: Sequence[Sentence]) -> list[tuple[str, str]]:
    """Return sentences with their translations as texts."""
    return [(sentence.source, sentence.target) for sentence in sentences]


def run_seeds(seeds: int, count: int, epochs: int) -> dict[str, Any]:
    """Run every seed, in as many processes of one thread as there are processors."""
    # A small model gains little from a second thread, and sums do not depend on their number.
    workers = min(seeds, os.cpu_count() or 1)
    run = partial(run_seed, count=count, epochs=epochs)
    torch.set_num_threads(1)
    with ProcessPoolExecutor(workers, get_context("spawn"), torch.set_num_threads, (1,)) as pool:
        return dict(zip(map(str, range(seeds)), pool.map(run, range(seeds)), strict=True))


def run_seed(seed: int, count: int, epochs: int) -> dict[str, Any]:
    """Train a model, check whether it translates, and score its links."""
    training, test = make_sentences(count)
    recipe = replace(RECIPE, seed=seed, epochs=epochs)
    start = process_time()
    tokenizer = train_tokenizer(text_pairs(training), recipe.vocabulary)
    model = train_model(recipe, tokenizer, text_pairs(training))
    seconds = process_time() - start
    hypotheses = translate(model, tokenizer, [sentence.source for sentence in test])
    exact = sum(h == sentence.target for h, sentence in zip(hypotheses, test, strict=True))
    gold = [sentence.gold for sentence in test]
    return {
        "core minutes of training": seconds / 60,
        "translated exactly": exact / len(test),
        "nats for each token": held_out_loss(model, encode_pairs(tokenizer, text_pairs(test))),
        **summarize_study(studies.alignment(model, text_pairs(test), gold, tokenizer=tokenizer)),
    }


def summarize_study(study: studies.Alignments) -> dict[str, Any]:
    """Return the results of a study as plain values."""
    return {
        "pairs": study.pairs,
        "failed": len(study.failures),
        "aer": {s: {m: table_column(study, m, s) for m in MEASURES} for s in TARGET_ROWS},
        "best head": {s: {m: asdict(study.best_head(m, s)) for m in MEASURES} for s in TARGET_ROWS},
        "layer that moves most": {s: asdict(study.largest_norm_layer(s)) for s in TARGET_ROWS},
        "head that moves most": {s: asdict(study.largest_norm_head(s)) for s in TARGET_ROWS},
        "AER of heads and their mean norm": {s: study.correlation(s) for s in TARGET_ROWS},
        "share from no word": {
            s: {m: study.null_share[m, s][:, -1].tolist() for m in MEASURES} for s in TARGET_ROWS
        },
    }


def table_column(study: studies.Alignments, measure: str, target_row: str) -> dict[str, float]:
    """Return a column of the table: every layer, their mean, the best layer and head."""
    rates = study.aer(measure, target_row)
    layers = zip(study.layers, rates, strict=True)
    return {
        **{f"layer {layer}": float(rate) for layer, rate in layers},
        "layer mean": float(rates.mean()),
        "best layer": study.best_layer(measure, target_row).aer,
        "best head": study.best_head(measure, target_row).aer,
    }


def baselines(test: Sequence[Sentence]) -> dict[str, float]:
    """Return the AER of one correct link per target word, and of links by position alone."""
    gold = [sentence.gold for sentence in test]
    sizes = [(len(s.source.split()), len(s.target.split())) for s in test]
    best = [{target: (source, target) for source, target in g.sure}.values() for g in gold]
    straight = [[(t * source // target, t) for t in range(target)] for source, target in sizes]
    return {
        "all right, one for each target word": normviz.aer(map(list, best), gold).aer,
        "straight from place to place": normviz.aer(straight, gold).aer,
    }


def summarize(runs: Runs) -> dict[str, Any]:
    """Return both measures over all seeds by target row and table row, and where the norm wins."""
    summary: dict[str, Any] = {}
    for target_row in TARGET_ROWS:
        columns = {m: [run["aer"][target_row][m] for run in runs.values()] for m in MEASURES}
        summary[target_row] = {}
        for row in columns["weight"][0]:
            values = {m: [column[row] for column in columns[m]] for m in MEASURES}
            pairs = zip(runs, values["weight"], values["weighted-norm"], strict=True)
            summary[target_row][row] = {
                **{
                    m: {"mean": statistics.mean(v), "spread": deviation(v)}
                    for m, v in values.items()
                },
                "norm is better with seeds": [
                    seed for seed, weight, norm in pairs if norm < weight
                ],
            }
    return summary


def deviation(values: Sequence[float]) -> float:
    """Return the standard deviation over seeds; 0 for a single one."""
    return statistics.stdev(values) if len(values) > 1 else 0.0


def format_summary(summary: Mapping[str, Any], runs: int) -> Iterator[str]:
    """Yield the summary in percent, as lines of Markdown."""
    heads = [f"{s}: {label}" for s in TARGET_ROWS for label in (*LABELS.values(), "norm is better")]
    yield f"| AER, % | {' | '.join(heads)} |"
    yield "|---" * (1 + len(heads)) + "|"
    for row in summary[TARGET_ROWS[0]]:
        cells = [row]
        for target_row in TARGET_ROWS:
            results = summary[target_row][row]
            for measure in MEASURES:
                values = results[measure]
                spread = f" ± {100 * values['spread']:.1f}" if runs > 1 else ""
                cells.append(f"{100 * values['mean']:.1f}{spread}")
            cells.append(f"{len(results['norm is better with seeds'])} of {runs}")
        yield f"| {' | '.join(cells)} |"


def layer_rows(runs: Runs) -> list[str]:
    """Return the table rows of single layers."""
    rows = next(iter(runs.values()))["aer"][TARGET_ROWS[0]]["weight"]
    return [row for row in rows if row.removeprefix("layer ").isdigit()]


def format_differences(runs: Runs) -> Iterator[str]:
    """Yield a table: by how many points the norm is better (+) or worse (−) than the weight."""
    layers = layer_rows(runs)
    heads = [f"{target_row}: {row}" for target_row in TARGET_ROWS for row in layers]
    yield f"| α − ‖Σ αf(x)‖, points | {' | '.join(heads)} |"
    yield "|---" * (1 + len(heads)) + "|"
    for seed, run in runs.items():
        pairs = [[run["aer"][s][m][row] for m in MEASURES] for s in TARGET_ROWS for row in layers]
        cells = [f"{100 * (weight - norm):+.1f}".replace("-", "−") for weight, norm in pairs]
        yield f"| seed {seed} | {' | '.join(cells)} |"


def draw_figure(runs: Runs, path: Path) -> None:
    """Draw error rates by layer: a point for each seed, and lines through the means."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "normviz"  # the same numbers give the same file
    styles = {"weight": ("#6b7280", "s", -0.04), "weighted-norm": ("#3b66c4", "o", 0.04)}
    layers = layer_rows(runs)
    sheet = Figure(figsize=(7.2, 2.9), layout="constrained")
    for axes, target_row in zip(sheet.subplots(1, 2, sharey=True), TARGET_ROWS, strict=True):
        for measure, (color, marker, offset) in styles.items():
            columns = [run["aer"][target_row][measure] for run in runs.values()]
            values = [[100 * column[row] for column in columns] for row in layers]
            positions = [number + offset for number in range(len(layers))]
            axes.plot(positions, [*map(statistics.mean, values)], color=color, linewidth=1.4)
            axes.plot(positions, values, marker, color=color, markersize=4, alpha=0.6)
            axes.plot([], [], marker=marker, color=color, label=LABELS[measure], markersize=4)
        axes.set_xticks(range(len(layers)))
        axes.set(title=f"alignment with {target_row}: AER, %", xlabel="layer", ylim=(0, 100))
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", alpha=0.25)
    axes.legend(frameon=False, fontsize=8)
    sheet.savefig(path, metadata={"Date": None})


def round_floats(value: Any) -> Any:
    """Return the value with all floats rounded to five decimals."""
    if isinstance(value, Mapping):
        return {name: round_floats(each) for name, each in value.items()}
    if isinstance(value, list):
        return [round_floats(each) for each in value]
    if isinstance(value, float):
        return round(value, 5) if math.isfinite(value) else None  # JSON has no NaN
    return value


def main() -> None:
    """Run the selected study, and add its results to the stored ones."""
    args = _arguments()
    path = args.output or HERE / "results" / "alignment.json"
    stored = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if args.model is None:
        name, runs = "made-up", run_seeds(args.seeds, args.sentences, args.epochs)
        about = {
            "recipe": asdict(RECIPE) | {"epochs": args.epochs, "seed": list(map(int, runs))},
            "sentences": args.sentences,
            "yardsticks": baselines(make_sentences(args.sentences)[1]),
        }
        draw_figure(runs, path.with_suffix(".svg"))
    else:
        study = studies.alignment(args.model, args.pairs, args.gold)
        name, runs, about = Path(args.model).name, {"as it is": summarize_study(study)}, {}
    means = summarize(runs)
    stored |= {
        name: round_floats({"machine": describe_machine(), **about, "runs": runs, "summary": means})
    }
    path.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(name, *format_summary(means, len(runs)), "", *format_differences(runs), sep="\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5, help="number of models to train")
    parser.add_argument("--sentences", type=int, default=20000, help="number of training sentences")
    parser.add_argument("--epochs", type=int, default=RECIPE.epochs, help="number of epochs")
    parser.add_argument("--output", type=Path, help="a JSON file for the numbers")
    parser.add_argument("--model", help="your own translator, instead of made-up languages")
    parser.add_argument("--pairs", type=Path, help="its sentences: lines of 'source ||| target'")
    parser.add_argument("--gold", type=Path, help="the gold links of these sentences")
    args = parser.parse_args()
    if args.model is not None and None in {args.pairs, args.gold}:
        parser.error("--model needs --pairs and --gold")
    return args


if __name__ == "__main__":
    main()

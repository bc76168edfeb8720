"""Alignment error rates by weight and by norm, where it is known which word became which.

Small translators of a made-up pair of languages (`notebooks/training/made_up.py`) are trained, one
for each seed, by the code that trains the notebooks' translator; the links of their cross-attention
are judged on sentences that they have not seen. A seed changes where a model begins, its dropout
and the order of its texts; the languages and all sentences stay the same.

    python benchmarks/alignment.py                       five seeds: 19 minutes on two cores
    python benchmarks/alignment.py --seeds 2 --epochs 1 --sentences 100      to see that it runs
    python benchmarks/alignment.py --model notebooks/models/es-en
        --pairs notebooks/data/es-en.src-tgt --gold notebooks/data/es-en.gold     a given model
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
from timing import HERE, machine

sys.path.append(str(HERE.parent / "notebooks" / "training"))

from made_up import Sentence, corpus
from marian import Recipe, encoded, surprise, tokenizer_of, trained, translations

import normviz
from normviz import studies
from normviz.alignment.align import SETTINGS
from normviz.studies.word_alignment.result import MEASURES

RECIPE = Recipe(
    width=96, inner=192, heads=4, encoder_layers=3, decoder_layers=3, vocabulary=400,
    rate=2e-3, warmup=300, epochs=8, tokens=1000,
)  # fmt: skip
LANGUAGE, JUDGED = 0, 300
"""The seed of the languages and their sentences; how many of these are held out, at most."""
LABELS = {"weight": "α", "weighted-norm": "‖Σ αf(x)‖"}
"""What the measures are with all heads together, on which the layers' rates rest."""
Runs = Mapping[str, Mapping[str, Any]]
"""What was found, by seed."""


def sentences(learned: int) -> tuple[list[Sentence], list[Sentence]]:
    """Sentences to learn from, and those to judge by."""
    return corpus(LANGUAGE, learned, min(JUDGED, learned))


def texts(said: Sequence[Sentence]) -> list[tuple[str, str]]:
    """Sentences with their translations."""
    return [(one.source, one.target) for one in said]


def seeded(seeds: int, count: int, epochs: int) -> dict[str, Any]:
    """Every seed's run, in as many processes of one thread as there are processors."""
    # A small model gains little from a second thread; and sums go alike, however many there are.
    workers = min(seeds, os.cpu_count() or 1)
    one = partial(run, count=count, epochs=epochs)
    torch.set_num_threads(1)
    with ProcessPoolExecutor(workers, get_context("spawn"), torch.set_num_threads, (1,)) as pool:
        return dict(zip(map(str, range(seeds)), pool.map(one, range(seeds)), strict=True))


def run(seed: int, count: int, epochs: int) -> dict[str, Any]:
    """Train a model, see whether it translates, and judge its links."""
    learned, judged = sentences(count)
    recipe = replace(RECIPE, seed=seed, epochs=epochs)
    began = process_time()
    tokenizer = tokenizer_of(texts(learned), recipe.vocabulary)
    model = trained(recipe, tokenizer, texts(learned))
    took = process_time() - began
    written = translations(model, tokenizer, [one.source for one in judged])
    right = sum(said == one.target for said, one in zip(written, judged, strict=True))
    gold = [one.gold for one in judged]
    return {
        "core minutes of training": took / 60,
        "translated exactly": right / len(judged),
        "nats for each token": surprise(model, encoded(tokenizer, texts(judged))),
        **told(studies.alignment(model, texts(judged), gold, tokenizer=tokenizer)),
    }


def told(found: studies.Alignments) -> dict[str, Any]:
    """What is kept of a study."""
    return {
        "pairs": found.pairs,
        "failed": len(found.failures),
        "aer": {s: {m: rows(found, m, s) for m in MEASURES} for s in SETTINGS},
        "best head": {s: {m: asdict(found.best_head(m, s)) for m in MEASURES} for s in SETTINGS},
        "layer that moves most": {s: asdict(found.loudest_layer(s)) for s in SETTINGS},
        "head that moves most": {s: asdict(found.loudest_head(s)) for s in SETTINGS},
        "AER of heads and their mean norm": {s: found.correlation(s) for s in SETTINGS},
        "share from no word": {
            s: {m: found.nowhere[m, s][:, -1].tolist() for m in MEASURES} for s in SETTINGS
        },
    }


def rows(found: studies.Alignments, measure: str, setting: str) -> dict[str, float]:
    """A column of the table: every layer, all of them in the mean, and the best."""
    rates = found.aer(measure, setting)
    layers = zip(found.layers, rates, strict=True)
    return {
        **{f"layer {layer}": float(rate) for layer, rate in layers},
        "layer mean": float(rates.mean()),
        "best layer": found.best_layer(measure, setting).aer,
        "best head": found.best_head(measure, setting).aer,
    }


def yardsticks(judged: Sequence[Sentence]) -> dict[str, float]:
    """What links would get that are all right, but one for each word; and those by place alone."""
    gold = [one.gold for one in judged]
    sizes = [(len(one.source.split()), len(one.target.split())) for one in judged]
    best = [{target: (source, target) for source, target in one.sure}.values() for one in gold]
    straight = [[(t * source // target, t) for t in range(target)] for source, target in sizes]
    return {
        "all right, one for each target word": normviz.aer(map(list, best), gold).aer,
        "straight from place to place": normviz.aer(straight, gold).aer,
    }


def summary(runs: Runs) -> dict[str, Any]:
    """For each setting and row, both measures over all seeds, and the seeds where norm wins."""
    found: dict[str, Any] = {}
    for setting in SETTINGS:
        columns = {m: [one["aer"][setting][m] for one in runs.values()] for m in MEASURES}
        found[setting] = {}
        for row in columns["weight"][0]:
            values = {m: [column[row] for column in columns[m]] for m in MEASURES}
            pairs = zip(runs, values["weight"], values["weighted-norm"], strict=True)
            found[setting][row] = {
                **{m: {"mean": statistics.mean(v), "spread": spread(v)} for m, v in values.items()},
                "norm is better with seeds": [
                    seed for seed, weight, norm in pairs if norm < weight
                ],
            }
    return found


def spread(values: Sequence[float]) -> float:
    """The standard deviation over seeds; nothing where there is but one."""
    return statistics.stdev(values) if len(values) > 1 else 0.0


def table(found: Mapping[str, Any], runs: int) -> Iterator[str]:
    """The summary in per cent, as lines of Markdown."""
    heads = [f"{s}: {label}" for s in SETTINGS for label in (*LABELS.values(), "norm is better")]
    yield f"| AER, % | {' | '.join(heads)} |"
    yield "|---" * (1 + len(heads)) + "|"
    for row in found[SETTINGS[0]]:
        cells = [row]
        for setting in SETTINGS:
            one = found[setting][row]
            for measure in MEASURES:
                ours = one[measure]
                around = f" ± {100 * ours['spread']:.1f}" if runs > 1 else ""
                cells.append(f"{100 * ours['mean']:.1f}{around}")
            cells.append(f"{len(one['norm is better with seeds'])} of {runs}")
        yield f"| {' | '.join(cells)} |"


def layered(runs: Runs) -> list[str]:
    """The rows of the table that are single layers."""
    rows = next(iter(runs.values()))["aer"][SETTINGS[0]]["weight"]
    return [row for row in rows if row.removeprefix("layer ").isdigit()]


def leads(runs: Runs) -> Iterator[str]:
    """By how many points norm is better than weight (+) or worse (−), by seed and layer."""
    layers = layered(runs)
    heads = [f"{setting}: {row}" for setting in SETTINGS for row in layers]
    yield f"| α − ‖Σ αf(x)‖, points | {' | '.join(heads)} |"
    yield "|---" * (1 + len(heads)) + "|"
    for seed, one in runs.items():
        pairs = [[one["aer"][s][m][row] for m in MEASURES] for s in SETTINGS for row in layers]
        cells = [f"{100 * (weight - norm):+.1f}".replace("-", "−") for weight, norm in pairs]
        yield f"| seed {seed} | {' | '.join(cells)} |"


def figure(runs: Runs, place: Path) -> None:
    """Error rates by layer: each seed a point, and lines through the means."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "normviz"  # the same numbers give the same file
    looks = {"weight": ("#6b7280", "s", -0.04), "weighted-norm": ("#3b66c4", "o", 0.04)}
    layers = layered(runs)
    sheet = Figure(figsize=(7.2, 2.9), layout="constrained")
    for axes, setting in zip(sheet.subplots(1, 2, sharey=True), SETTINGS, strict=True):
        for measure, (color, marker, aside) in looks.items():
            columns = [one["aer"][setting][measure] for one in runs.values()]
            values = [[100 * column[row] for column in columns] for row in layers]
            places = [number + aside for number in range(len(layers))]
            axes.plot(places, [*map(statistics.mean, values)], color=color, linewidth=1.4)
            axes.plot(places, values, marker, color=color, markersize=4, alpha=0.6)
            axes.plot([], [], marker=marker, color=color, label=LABELS[measure], markersize=4)
        axes.set_xticks(range(len(layers)))
        axes.set(title=f"alignment with {setting}: AER, %", xlabel="layer", ylim=(0, 100))
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", alpha=0.25)
    axes.legend(frameon=False, fontsize=8)
    sheet.savefig(place, metadata={"Date": None})


def rounded(found: Any) -> Any:
    """The same with five digits behind the point."""
    if isinstance(found, Mapping):
        return {name: rounded(one) for name, one in found.items()}
    if isinstance(found, list):
        return [rounded(one) for one in found]
    if isinstance(found, float):
        return round(found, 5) if math.isfinite(found) else None  # JSON has no NaN
    return found


def main() -> None:
    """Judge what was asked for, and keep it beside what was judged before."""
    chosen = _arguments()
    place = chosen.output or HERE / "results" / "alignment.json"
    kept = json.loads(place.read_text(encoding="utf-8")) if place.exists() else {}
    if chosen.model is None:
        name, runs = "made-up", seeded(chosen.seeds, chosen.sentences, chosen.epochs)
        about = {
            "recipe": asdict(RECIPE) | {"epochs": chosen.epochs, "seed": list(map(int, runs))},
            "sentences": chosen.sentences,
            "yardsticks": yardsticks(sentences(chosen.sentences)[1]),
        }
        figure(runs, place.with_suffix(".svg"))
    else:
        found = studies.alignment(chosen.model, chosen.pairs, chosen.gold)
        name, runs, about = Path(chosen.model).name, {"as it is": told(found)}, {}
    means = summary(runs)
    kept |= {name: rounded({"machine": machine(), **about, "runs": runs, "summary": means})}
    place.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(name, *table(means, len(runs)), "", *leads(runs), sep="\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5, help="how many models are trained")
    parser.add_argument("--sentences", type=int, default=20000, help="how many they learn from")
    parser.add_argument("--epochs", type=int, default=RECIPE.epochs, help="how often")
    parser.add_argument("--output", type=Path, help="a JSON file for the numbers")
    parser.add_argument("--model", help="a translator of one's own, instead of made-up languages")
    parser.add_argument("--pairs", type=Path, help="its sentences: lines of 'source ||| target'")
    parser.add_argument("--gold", type=Path, help="their links, as people see them")
    chosen = parser.parse_args()
    if chosen.model is not None and None in {chosen.pairs, chosen.gold}:
        parser.error("a model of one's own needs --pairs and --gold")
    return chosen


if __name__ == "__main__":
    main()

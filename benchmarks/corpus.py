"""Experiment 1 of Kobayashi et al. 2020 on whole corpora: what special tokens get and move.

The text file has one paragraph on a line; two neighbors make a segment `[CLS] a [SEP] b [SEP]`,
cut off after 128 tokens, as in the paper. Lines that begin with `=` are headings: left out.

    python benchmarks/corpus.py wikipedia.txt                    demo, then demo-decoder
    python benchmarks/corpus.py wikipedia.txt --ranks ranks.txt  with lines of rank, count and id
    python benchmarks/corpus.py --speed                          throughput, x the plain pass
"""

import json
import random
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch
from mixing import arguments, segments
from tables import README, judged, table, times, write
from timing import HERE, in_turn, keep, machine, spread

import normviz
from normviz.core.tokens import Tokens
from normviz.corpus.profile import Profile
from normviz.corpus.sources import items_of
from normviz.corpus.worker import batches
from normviz.model import inputs as room
from normviz.model.loading import load_model

LONGEST = 128
SIZE = 16
GAP = 6.0
"""How far apart the names of two curves stand at least, in per cent."""
GOALS = {"segments per second, x the plain pass": 0.7}


def first_or_not(tokens: Tokens) -> list[str]:
    """Where a language model's attention sinks: the first token against all others."""
    return ["first token" if place == 0 else "rest" for place in range(len(tokens))]


def shares(found: Profile) -> dict[str, Any]:
    """The share of each kind of token under each measure, by layer and in the mean."""
    return {
        measure: {
            kind: {
                "mean of layers": round(float(found.share(measure, kind).mean()), 5),
                "layers": [round(float(one), 5) for one in found.share(measure, kind)],
            }
            for kind in found.categories
        }
        for measure in ("weight", "weighted-norm", "attention")
    }


def frequency(
    found: Profile, ranks: Mapping[int, int] | None, special: list[int]
) -> dict[str, Any]:
    """Spearman of frequency rank with what a token gets of α, and has of ‖f(x)‖."""
    every, fewer = found.frequency(ranks), found.frequency(ranks, without=special)
    return {
        measure: {"all": round(rho, 4), "without special tokens": round(fewer[measure], 4)}
        for measure, rho in every.items()
    }


def finding(texts: list[tuple[str, str]], ranks: Mapping[int, int] | None) -> dict[str, Any]:
    """The trained BERT, as in the paper."""
    loaded = load_model("demo")
    found = normviz.profile(texts, "demo", longest=LONGEST)
    print(found)
    return {
        "segments": found.texts,
        "tokens": found.tokens,
        "failed": len(found.failures),
        "shares": shares(found),
        "spearman of α and ‖f(x)‖": {
            kind: round(found.correlation(kind), 4) for kind in found.tally.relations
        },
        "spearman with frequency rank": frequency(found, ranks, loaded.tokenizer.all_special_ids),
    }


def sinks(texts: list[str]) -> dict[str, Any]:
    """The trained Llama: does the first token move what it is looked at for?"""
    found = normviz.profile(
        texts, "demo-decoder", longest=LONGEST, categories=first_or_not, heads=False, batch_size=4
    )
    print(found)
    return {"segments": found.texts, "tokens": found.tokens, "shares": shares(found)}


def figure(found: Mapping[str, Any], place: Path) -> None:
    """The paper's curves: what each kind of token has of α, and beside it of ‖αf(x)‖."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "normviz"  # the same numbers give the same file
    panels = (("weight", "α"), ("weighted-norm", "‖αf(x)‖"))
    looks = {"[CLS]": ("#3b66c4", "s"), "[SEP]": ("#c0392b", "^"),
             "punctuation": ("#1e7d4f", "D"), "other": ("#6b7280", "o")}  # fmt: skip
    sheet = Figure(figsize=(7.2, 2.9), layout="constrained")
    for axes, (measure, label) in zip(sheet.subplots(1, 2, sharey=True), panels, strict=True):
        ends: dict[str, float] = {}
        for kind, (color, marker) in looks.items():
            values = [100 * one for one in found["shares"][measure][kind]["layers"]]
            axes.plot(values, color=color, marker=marker, markersize=4.5, linewidth=1.4)
            ends[kind] = values[-1]
        height = -GAP
        for kind, end in sorted(ends.items(), key=lambda one: one[1]):
            height = max(end - 1, height + GAP)
            axes.text(len(values) - 0.75, height, kind, color=looks[kind][0], fontsize=8)
        axes.set_xticks(range(len(values)))
        axes.set(title=f"share of {label}, %", xlabel="layer", ylim=(0, 100))
        axes.set_xlim(-0.3, len(values) + 0.6)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", alpha=0.25)
    sheet.savefig(place, metadata={"Date": None})


def plain(texts: list[tuple[str, str]]) -> None:
    """The model's own pass over the same batches."""
    loaded = load_model("demo")
    for batch in batches(items_of(texts), SIZE):
        prepared = room.from_texts(
            loaded.model, loaded.tokenizer, [item.text for item in batch],
            [item.pair or "" for item in batch], truncate=True, most=LONGEST,
        )  # fmt: skip
        loaded.model.set_attn_implementation("eager")
        with torch.no_grad():
            loaded.model(**prepared.for_forward(), output_attentions=True)


def made(count: int) -> list[tuple[str, str]]:
    """Segments of random words, as long as the paper's: how fast they go does not hang on sense."""
    chance = random.Random(0)  # noqa: S311 (no secret)
    words = sorted(filter(str.isalpha, load_model("demo").tokenizer.get_vocab()))
    paragraph = lambda: " ".join(chance.choices(words, k=chance.randint(40, 80)))  # noqa: E731
    return [(paragraph(), paragraph()) for _ in range(count)]


def speed(texts: list[tuple[str, str]], rounds: int) -> dict[str, Any]:
    """Segments per second of the plain pass, of a profile, and of one in two processes."""
    loaded = load_model("demo")
    given = {"model": loaded.model, "tokenizer": loaded.tokenizer, "longest": LONGEST}
    runs: dict[str, Callable[[], Any]] = {
        "plain": lambda: plain(texts),
        "masses": lambda: normviz.profile(texts, **given, batch_size=SIZE, heads=False),
        "masses and heads": lambda: normviz.profile(texts, **given, batch_size=SIZE),
    }
    seconds = in_turn(runs, rounds=rounds)
    rates = {name: [len(texts) / one for one in took] for name, took in seconds.items()}
    return {
        "segments": len(texts),
        "segments per second": {name: spread(each) for name, each in rates.items()},
        "x plain": {
            name: spread([a / b for a, b in zip(each, rates["plain"], strict=True)])
            for name, each in rates.items()
        },
        "two workers, x one": spread([in_two(texts) for _ in range(rounds)]),
    }


def in_two(texts: list[tuple[str, str]]) -> float:
    """How much faster two processes are than one, each with one thread and a model of its own."""
    took = []
    for count in (1, 2):
        spawn = get_context("spawn")
        with ProcessPoolExecutor(count, spawn, torch.set_num_threads, (1,)) as pool:
            list(pool.map(load_model, ["demo"] * count))
            start = time.perf_counter()
            normviz.profile(texts, "demo", longest=LONGEST, heads=False, executor=pool)
            took.append(time.perf_counter() - start)
    return took[0] / took[1]


def report(results: dict[str, Any], readme: Path = README) -> None:
    """Throughput over a corpus, as a table and a judgment."""
    names = {
        "plain": "plain",
        "masses": "masses, relations and frequency",
        "masses and heads": "the same with patterns and disagreement of all heads (the default)",
    }
    rates, against = results["segments per second"], results["x plain"]
    rows = [
        [said, times(rates[name]), "1" if name == "plain" else times(against[name])]
        for name, said in names.items()
    ]
    goal = results["goals"]["segments per second, x the plain pass"]
    judgment = judged("the measures", against["masses"]["median"], goal, at_least=True)
    workers = f"- two workers of one thread each: {times(results['two workers, x one'])} × one."
    head = ["", "segments per second", "× the plain pass"]
    write(readme, "corpus-speed", f"{table(head, rows)}\n\n{judgment}\n{workers}")


def main() -> None:
    """Measure what was asked for, and keep it."""
    parser = arguments(__doc__, texts=992, needed=False)
    parser.add_argument("--ranks", type=Path, help="frequency ranks: rank, count, token id")
    parser.add_argument("--speed", action="store_true", help="measure throughput instead")
    parser.add_argument("--quick", action="store_true", help="of a few segments, nothing kept")
    chosen = parser.parse_args()
    if chosen.speed:
        found = speed(made(4 if chosen.quick else 64), rounds=1 if chosen.quick else 3)
        print(json.dumps(found))
        if not chosen.quick:
            results = {"machine": machine(), "goals": GOALS} | found
            keep("corpus-speed", results)
            report(results)
        return
    if chosen.text is None:
        parser.error("a text file is wanted, one paragraph on a line; only --speed does without")
    texts = segments(chosen.text, chosen.texts)
    rows = chosen.ranks.read_text().splitlines() if chosen.ranks else []
    ranks = {int(line.split()[2]): int(line.split()[0]) for line in rows} or None
    firsts = [" ".join(pair) for pair in texts[:100]]
    results = {"demo": finding(texts, ranks), "demo-decoder": sinks(firsts)}
    place = chosen.output or HERE / "results" / "corpus.json"
    place.write_text(json.dumps({"machine": machine()} | results, indent=1) + "\n")
    figure(results["demo"], place.with_suffix(".svg"))
    print(json.dumps(results)[:400])


if __name__ == "__main__":
    main()

"""Experiment 1 of Kobayashi et al. 2020 on whole corpora: what special tokens receive and move.

The text file has one paragraph per line; two adjacent paragraphs make a segment
`[CLS] a [SEP] b [SEP]` of at most 128 tokens, as in the paper. Lines that begin with `=` are
headings and are left out.

    python benchmarks/corpus.py wikipedia.txt                    demo, then demo-decoder
    python benchmarks/corpus.py wikipedia.txt --ranks ranks.txt  lines: rank, count, token id
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
from mixing import make_parser, read_segments
from tables import README, format_spread, format_table, judge_goal, write_section
from timing import HERE, describe_machine, median_and_quartiles, time_in_turn, write_results

import normviz
from normviz.core.tokens import Tokens
from normviz.corpus.profile import Profile
from normviz.corpus.sources import read_items
from normviz.corpus.worker import text_length
from normviz.model.batches import batched
from normviz.model.detokenize import special_ids
from normviz.model.inputs import from_texts
from normviz.model.loading import load_model

MAX_TOKENS = 128
BATCH_SIZE = 16
LABEL_GAP = 6.0
"""The least distance between the labels of two curves, in percent."""
GOALS = {"segments per second, x the plain pass": 0.7}


def by_position(tokens: Tokens) -> list[str]:
    """Return the category of each token: the first one, where the sink is, or the rest."""
    return ["first token" if position == 0 else "rest" for position in range(len(tokens))]


def category_shares(profile: Profile) -> dict[str, Any]:
    """Return the share of each category by each measure, by layer and averaged over layers."""
    return {
        measure: {
            category: {
                "mean of layers": round(float(profile.share(measure, category).mean()), 5),
                "layers": [round(float(share), 5) for share in profile.share(measure, category)],
            }
            for category in profile.categories
        }
        for measure in ("weight", "weighted-norm", "attention")
    }


def frequency_correlations(
    profile: Profile, ranks: Mapping[int, int] | None, special: list[int]
) -> dict[str, Any]:
    """Return Spearman correlations of the frequency rank with a token's α and ‖f(x)‖."""
    every, fewer = profile.frequency(ranks), profile.frequency(ranks, without=special)
    return {
        measure: {"all": round(rho, 4), "without special tokens": round(fewer[measure], 4)}
        for measure, rho in every.items()
    }


def profile_encoder(
    texts: list[tuple[str, str]], ranks: Mapping[int, int] | None
) -> dict[str, Any]:
    """Return the results of the trained BERT, as in the paper."""
    loaded = load_model("demo")
    profile = normviz.profile("demo", texts, max_tokens=MAX_TOKENS)
    print(profile)
    return {
        "segments": profile.texts,
        "tokens": profile.tokens,
        "failed": len(profile.failures),
        "shares": category_shares(profile),
        "spearman of α and ‖f(x)‖": {
            category: round(profile.correlation(category), 4)
            for category in profile.sums.correlations
        },
        "spearman with frequency rank": frequency_correlations(
            profile, ranks, sorted(special_ids(loaded.tokenizer))
        ),
    }


def profile_decoder(texts: list[str]) -> dict[str, Any]:
    """Return the results of the trained Llama: what the first token receives and moves."""
    profile = normviz.profile(
        "demo-decoder",
        texts,
        max_tokens=MAX_TOKENS,
        categories=by_position,
        head_patterns=False,
        batch_size=4,
    )
    print(profile)
    return {"segments": profile.texts, "tokens": profile.tokens, "shares": category_shares(profile)}


def draw_figure(results: Mapping[str, Any], path: Path) -> None:
    """Draw the paper's curves: the share of each category of α, and next to it of ‖αf(x)‖."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "normviz"  # the same numbers give the same file
    panels = (("weight", "α"), ("weighted-norm", "‖αf(x)‖"))
    styles = {"[CLS]": ("#3b66c4", "s"), "[SEP]": ("#c0392b", "^"),
             "punctuation": ("#1e7d4f", "D"), "other": ("#6b7280", "o")}  # fmt: skip
    sheet = Figure(figsize=(7.2, 2.9), layout="constrained")
    for axes, (measure, label) in zip(sheet.subplots(1, 2, sharey=True), panels, strict=True):
        ends: dict[str, float] = {}
        for kind, (color, marker) in styles.items():
            values = [100 * one for one in results["shares"][measure][kind]["layers"]]
            axes.plot(values, color=color, marker=marker, markersize=4.5, linewidth=1.4)
            ends[kind] = values[-1]
        height = -LABEL_GAP
        for kind, end in sorted(ends.items(), key=lambda one: one[1]):
            height = max(end - 1, height + LABEL_GAP)
            axes.text(len(values) - 0.75, height, kind, color=styles[kind][0], fontsize=8)
        axes.set_xticks(range(len(values)))
        axes.set(title=f"share of {label}, %", xlabel="layer", ylim=(0, 100))
        axes.set_xlim(-0.3, len(values) + 0.6)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", alpha=0.25)
    sheet.savefig(path, metadata={"Date": None})


def run_plain_pass(texts: list[tuple[str, str]]) -> None:
    """Run the model's own pass over the same batches."""
    loaded = load_model("demo")
    for batch in batched(read_items(texts), BATCH_SIZE, text_length):
        prepared = from_texts(
            loaded.model, loaded.tokenizer, [item.text for item in batch],
            [item.pair or "" for item in batch], max_tokens=MAX_TOKENS,
        )  # fmt: skip
        loaded.model.set_attn_implementation("eager")
        with torch.no_grad():
            loaded.model(**prepared.for_forward(), output_attentions=True)


def random_segments(count: int) -> list[tuple[str, str]]:
    """Return segments of random words of the paper's length; speed does not depend on meaning."""
    rng = random.Random(0)  # noqa: S311 (no secret)
    words = sorted(filter(str.isalpha, load_model("demo").tokenizer.get_vocab()))
    paragraph = lambda: " ".join(rng.choices(words, k=rng.randint(40, 80)))  # noqa: E731
    return [(paragraph(), paragraph()) for _ in range(count)]


def measure_speed(texts: list[tuple[str, str]], rounds: int) -> dict[str, Any]:
    """Return the segments per second of the plain pass and of a profile, and with two workers."""
    loaded = load_model("demo")
    options = {"tokenizer": loaded.tokenizer, "max_tokens": MAX_TOKENS, "batch_size": BATCH_SIZE}
    runs: dict[str, Callable[[], Any]] = {
        "plain": lambda: run_plain_pass(texts),
        "masses": lambda: normviz.profile(loaded.model, texts, **options, head_patterns=False),
        "masses and heads": lambda: normviz.profile(loaded.model, texts, **options),
    }
    seconds = time_in_turn(runs, rounds=rounds)
    rates = {name: [len(texts) / one for one in took] for name, took in seconds.items()}
    return {
        "segments": len(texts),
        "segments per second": {name: median_and_quartiles(each) for name, each in rates.items()},
        "x plain": {
            name: median_and_quartiles([a / b for a, b in zip(each, rates["plain"], strict=True)])
            for name, each in rates.items()
        },
        "two workers, x one": median_and_quartiles(
            [time_two_workers(texts) for _ in range(rounds)]
        ),
    }


def time_two_workers(texts: list[tuple[str, str]]) -> float:
    """Return how much faster two processes are than one; each has one thread and its own model."""
    seconds = []
    for count in (1, 2):
        spawn = get_context("spawn")
        with ProcessPoolExecutor(count, spawn, torch.set_num_threads, (1,)) as pool:
            list(pool.map(load_model, ["demo"] * count))
            start = time.perf_counter()
            normviz.profile(
                "demo", texts, max_tokens=MAX_TOKENS, head_patterns=False, executor=pool
            )
            seconds.append(time.perf_counter() - start)
    return seconds[0] / seconds[1]


def report(results: dict[str, Any], readme: Path = README) -> None:
    """Write the throughput over a corpus into the README, as a table with its goal."""
    names = {
        "plain": "plain",
        "masses": "masses, correlations and frequency",
        "masses and heads": "the same, with patterns and disagreement of all heads (the default)",
    }
    rates, against = results["segments per second"], results["x plain"]
    rows = [
        [
            label,
            format_spread(rates[name]),
            "1" if name == "plain" else format_spread(against[name]),
        ]
        for name, label in names.items()
    ]
    goal = results["goals"]["segments per second, x the plain pass"]
    goal_line = judge_goal("the measures", against["masses"]["median"], goal, at_least=True)
    workers = (
        f"- two workers with one thread each: {format_spread(results['two workers, x one'])} × one."
    )
    head = ["", "segments per second", "× the plain pass"]
    write_section(readme, "corpus-speed", f"{format_table(head, rows)}\n\n{goal_line}\n{workers}")


def main() -> None:
    """Run the selected measurement, and write its results."""
    parser = make_parser(__doc__, texts=992, text_required=False)
    parser.add_argument("--ranks", type=Path, help="frequency ranks: rank, count, token id")
    parser.add_argument("--speed", action="store_true", help="measure throughput instead")
    parser.add_argument("--quick", action="store_true", help="a few segments, nothing written")
    args = parser.parse_args()
    if args.speed:
        results = measure_speed(
            random_segments(4 if args.quick else 64), rounds=1 if args.quick else 3
        )
        print(json.dumps(results))
        if not args.quick:
            results = {"machine": describe_machine(), "goals": GOALS} | results
            write_results("corpus-speed", results)
            report(results)
        return
    if args.text is None:
        parser.error(
            "expected a text file with one paragraph per line (only --speed works without)"
        )
    texts = read_segments(args.text, args.texts)
    rows = args.ranks.read_text().splitlines() if args.ranks else []
    ranks = {int(line.split()[2]): int(line.split()[0]) for line in rows} or None
    first_texts = [" ".join(pair) for pair in texts[:100]]
    results = {"demo": profile_encoder(texts, ranks), "demo-decoder": profile_decoder(first_texts)}
    path = args.output or HERE / "results" / "corpus.json"
    path.write_text(json.dumps({"machine": describe_machine()} | results, indent=1) + "\n")
    draw_figure(results["demo"], path.with_suffix(".svg"))
    print(json.dumps(results)[:400])


if __name__ == "__main__":
    main()

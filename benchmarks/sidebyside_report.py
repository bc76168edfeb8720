"""The results of `sidebyside.py` as tables, sentences and a plot."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tables import format_number, judge_goal

NAMES = {
    "bertviz": "BertViz",
    "circuitsvis": "CircuitsVis, one layer",
    "snapshot": "normviz, file",
    "widget": "normviz, widget",
}
STYLES = {
    "bertviz": ("#c0392b", "s"),
    "circuitsvis": ("#1e7d4f", "^"),
    "snapshot": ("#3b66c4", "o"),
    "widget": ("#7fa3e6", "D"),
}
ROWS = {
    "size": ("size", 1e6, "MB"),
    "make": ("making it, in Python", 1, "ms"),
    "first": ("first picture", 1, "ms"),
    "layer": ("layer", 1, "ms"),
    "whole layer": ("layer, until fully painted", 1, "ms"),
    "head": ("head", 1, "ms"),
    "hover": ("hover", 1, "ms"),
    "nodes": ("DOM nodes", 1, ""),
    "heap": ("heap", 1, "MB"),
}
"""The rows of the table: a label, a divisor and a unit."""

Results = Mapping[str, Any]


def format_cell(row: Results, name: str, kind: str) -> str:
    """Return a median with its range, or why there is none."""
    results = row.get(name)
    if results is None:
        return "not tried"
    if kind not in results:
        return "none" if name == "circuitsvis" and "layer" in kind else "gave up"
    _, divisor, unit = ROWS[kind]
    middle, low, high = (
        format_number(results[kind][name] / divisor) for name in ("median", "low", "high")
    )
    return f"{middle} {unit}".strip() + (f" ({low} … {high})" if low != high else "")


def format_length(tokens: str, results: Results) -> Iterator[str]:
    """Yield the table of all results at one length, with a column for each contender."""
    row, against = results["tokens"][tokens], results["ratios to the file"][tokens]
    yield f"| {tokens} tokens | {' | '.join(NAMES.values())} | BertViz, × the file |"
    yield "|---" * (len(NAMES) + 2) + "|"
    for kind, (label, _, _) in ROWS.items():
        ratio = against.get("bertviz", {}).get(kind)
        cells = [format_cell(row, name, kind) for name in NAMES]
        cells.append(format_ratio(ratio) if ratio else "")
        yield f"| {label} | {' | '.join(cells)} |"


def format_ratio(ratio: Results) -> str:
    """Return a ratio with its range."""
    middle, low, high = (format_number(ratio[name]) for name in ("median", "low", "high"))
    return middle + (f" ({low} … {high})" if low != high else "")


def format_lengths(results: Results) -> Iterator[str]:
    """Yield the table of size, first picture and layer switch for all lengths."""
    kinds = ("size", "first", "layer")
    yield f"| tokens | {' | '.join(NAMES.values())} |"
    yield "|---" * (len(NAMES) + 1) + "|"
    for tokens, row in results["tokens"].items():
        lines = [dict.fromkeys(format_cell(row, name, kind) for kind in kinds) for name in NAMES]
        cells = ["<br>".join(line) for line in lines]
        yield f"| {tokens} | {' | '.join(cells)} |"


def judge_goals(results: Results) -> Iterator[str]:
    """Yield a line for each goal: met, or missed by how much."""
    goals, ratio = results["goals"], results["ratios to the file"]["128"].get("bertviz", {})
    keys = {"size": "times smaller", "first": "times sooner", "layer": "times faster"}
    phrases = {
        "size": "the file is smaller than BertViz",
        "first": "the file's first picture is sooner than BertViz's",
        "layer": "the file switches layers faster than BertViz",
    }
    for kind, name in keys.items():
        label = f"{phrases[kind]} at 128 tokens"
        if kind in ratio:
            yield judge_goal(label, ratio[kind]["median"], goals[name], at_least=True)
        else:
            yield f"- {label}: BertViz did not get that far."
    if "whole layer" in ratio:
        whole = format_number(ratio["whole layer"]["median"])
        yield f"- Until fully painted, the file switches layers {whole} × faster."
    for name in ("snapshot", "widget"):
        row = results["tokens"]["512"][name]
        slowest = max(row[kind]["median"] for kind in ("layer", "head", "hover"))
        label = f"{NAMES[name]}, the slowest response at 512 tokens"
        yield judge_goal(label, slowest, goals["answer, ms"], unit="ms")


def describe_floor(results: Results) -> str:
    """Return a sentence about the part of each time that does not depend on the length."""
    rows = [results["tokens"][tokens]["snapshot"] for tokens in ("128", "16")]
    first, layer = (
        [format_number(row[kind]["median"]) for row in rows] for kind in ("first", "layer")
    )
    return (
        f"Of the {first[0]} ms of the file's first picture at 128 tokens, {first[1]} ms are also "
        "needed at 16 tokens, for the page, its script and its controls. "
        f"Of the {layer[0]} ms of a layer switch, {layer[1]} ms are; a frame is 17 ms."
    )


def describe_failures(results: Results) -> Iterator[str]:
    """Yield a line for each contender that gave up, or ran fewer rounds."""
    rounds = max(found["rounds"] for row in results["tokens"].values() for found in row.values())
    for tokens, row in results["tokens"].items():
        for name, found in row.items():
            if "gave up" in found:
                yield f"{NAMES[name]}: gave up at {tokens} tokens, {found['gave up']}."
            elif found["rounds"] < rounds:
                yield f"{NAMES[name]}: ran {found['rounds']} × at {tokens} tokens, being slow."


def markdown(results: Results) -> str:
    """Return all tables and sentences for the README."""
    about = results["machine"]
    names = ("chromium", "bertviz", "circuitsvis", "normviz", "playwright", "python")
    versions = ", ".join(f"{name} {about[name]}" for name in names)
    load = (
        f"{about['cores']} cores ({about['processor']}), load {about['load before']} before the run"
    )
    sections = [
        "\n".join(format_length("128", results)),
        "Size, first picture and layer switch (one per line) by text length:",
        "\n".join(format_lengths(results)),
        "\n".join(f"- {line}" for line in describe_failures(results)),
        f"Measured with {versions}, on {load}.",
        "**Goals.**",
        "\n".join(judge_goals(results)),
        describe_floor(results),
    ]
    return "\n\n".join(sections)


def draw_figure(rows: Results, path: Path) -> None:
    """Draw size, first picture and layer switch over the number of tokens; a cross: gave up."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "normviz"  # the same numbers give the same file
    panels = {"size": "size, MB", "first": "first picture, ms", "layer": "layer switch, ms"}
    sheet = Figure(figsize=(9.6, 3.2), layout="constrained")
    for axes, (kind, title) in zip(sheet.subplots(1, 3), panels.items(), strict=True):
        for name, (color, marker) in STYLES.items():
            lengths = [t for t, row in rows.items() if kind in row.get(name, {})]
            values = [rows[t][name][kind]["median"] / ROWS[kind][1] for t in lengths]
            style = {"color": color, "linewidth": 1.4, "markersize": 4.5}
            axes.plot([*map(int, lengths)], values, marker=marker, label=NAMES[name], **style)
            last = rows[lengths[-1]][name] if lengths else {}
            if "gave up" in last or (lengths and lengths[-1] != list(rows)[-1]):
                axes.plot(int(lengths[-1]), values[-1], "x", color=color, markersize=11)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xticks([*map(int, rows)], list(rows))
        axes.set(title=title, xlabel="tokens")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", alpha=0.25)
    sheet.legend(
        *sheet.axes[0].get_legend_handles_labels(),
        loc="outside lower center", ncols=4, frameon=False, fontsize=8,
    )  # fmt: skip
    sheet.savefig(path, metadata={"Date": None})

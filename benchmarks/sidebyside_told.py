"""What `sidebyside.py` found, as tables, sentences and a plot."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tables import judged, shown

NAMES = {
    "bertviz": "BertViz",
    "circuitsvis": "CircuitsVis, one layer",
    "snapshot": "normviz, file",
    "widget": "normviz, widget",
}
LOOKS = {
    "bertviz": ("#c0392b", "s"),
    "circuitsvis": ("#1e7d4f", "^"),
    "snapshot": ("#3b66c4", "o"),
    "widget": ("#7fa3e6", "D"),
}
ROWS = {
    "size": ("size", 1e6, "MB"),
    "make": ("Python, to make it", 1, "ms"),
    "first": ("first picture", 1, "ms"),
    "layer": ("layer", 1, "ms"),
    "whole layer": ("layer, until all of it is painted", 1, "ms"),
    "head": ("head", 1, "ms"),
    "hover": ("hover", 1, "ms"),
    "nodes": ("DOM nodes", 1, ""),
    "heap": ("held by scripts", 1, "MB"),
}
"""What is told of each contender: its name, what it is divided by, its unit."""

Found = Mapping[str, Any]


def cell(row: Found, name: str, kind: str) -> str:
    """A median with its spread, or why there is none."""
    found = row.get(name)
    if found is None:
        return "not tried"
    if kind not in found:
        return "none" if name == "circuitsvis" and "layer" in kind else "gave up"
    _, by, unit = ROWS[kind]
    middle, low, high = (shown(found[kind][name] / by) for name in ("median", "low", "high"))
    return f"{middle} {unit}".strip() + (f" ({low} … {high})" if low != high else "")


def at(tokens: str, results: Found) -> Iterator[str]:
    """Everything that was found at one length, a contender in each column."""
    row, against = results["tokens"][tokens], results["ratios to the file"][tokens]
    yield f"| {tokens} tokens | {' | '.join(NAMES.values())} | BertViz, × the file |"
    yield "|---" * (len(NAMES) + 2) + "|"
    for kind, (label, _, _) in ROWS.items():
        ratio = against.get("bertviz", {}).get(kind)
        times = times_of(ratio) if ratio else ""
        yield f"| {label} | {' | '.join(cell(row, name, kind) for name in NAMES)} | {times} |"


def times_of(ratio: Found) -> str:
    """A ratio with its spread."""
    middle, low, high = (shown(ratio[name]) for name in ("median", "low", "high"))
    return middle + (f" ({low} … {high})" if low != high else "")


def by_length(results: Found) -> Iterator[str]:
    """The size, the first picture and the layer, over all lengths."""
    kinds = ("size", "first", "layer")
    yield f"| tokens | {' | '.join(NAMES.values())} |"
    yield "|---" * (len(NAMES) + 1) + "|"
    for tokens, row in results["tokens"].items():
        told = [dict.fromkeys(cell(row, name, kind) for kind in kinds) for name in NAMES]
        cells = ["<br>".join(one) for one in told]
        yield f"| {tokens} | {' | '.join(cells)} |"


def verdicts(results: Found) -> Iterator[str]:
    """Each goal, and what came of it."""
    goals, ratio = results["goals"], results["ratios to the file"]["128"].get("bertviz", {})
    words = {"size": "times smaller", "first": "times sooner", "layer": "times faster"}
    told = {"size": "smaller", "first": "sooner", "layer": "faster at switching a layer"}
    for kind, name in words.items():
        label = f"the file {told[kind]} than BertViz at 128 tokens"
        if kind in ratio:
            yield judged(label, ratio[kind]["median"], goals[name], at_least=True)
        else:
            yield f"- {label}: BertViz did not come so far."
    if "whole layer" in ratio:
        whole = shown(ratio["whole layer"]["median"])
        yield f"- Until all of it is painted, a layer is {whole} × faster."
    for name in ("snapshot", "widget"):
        row = results["tokens"]["512"][name]
        slowest = max(row[kind]["median"] for kind in ("layer", "head", "hover"))
        label = f"{NAMES[name]}, the slowest answer at 512 tokens"
        yield judged(label, slowest, goals["answer, ms"], unit="ms")


def floors(results: Found) -> str:
    """How much of a time is there whatever is shown."""
    rows = [results["tokens"][tokens]["snapshot"] for tokens in ("128", "16")]
    first, layer = ([shown(row[kind]["median"]) for row in rows] for kind in ("first", "layer"))
    return (
        f"Of the file's first picture at 128 tokens, {first[0]} ms, it takes {first[1]} at 16 too: "
        "the page, its script and its controls. "
        f"Of its change of layer, {layer[0]} ms, it takes {layer[1]}; a frame is 17 ms."
    )


def ends(results: Found) -> Iterator[str]:
    """Who gave up, where and why; and who ran fewer rounds."""
    most = max(found["rounds"] for row in results["tokens"].values() for found in row.values())
    for tokens, row in results["tokens"].items():
        for name, found in row.items():
            if "gave up" in found:
                yield f"{NAMES[name]}, gave up at {tokens} tokens: {found['gave up']}."
            elif found["rounds"] < most:
                yield f"{NAMES[name]}, was run {found['rounds']} × at {tokens} tokens, being slow."


def markdown(results: Found) -> str:
    """All of it, for the README."""
    about = results["machine"]
    names = ("chromium", "bertviz", "circuitsvis", "normviz", "playwright", "python")
    said = ", ".join(f"{name} {about[name]}" for name in names)
    load = f"{about['cores']} cores ({about['processor']}), load {about['load before']} before it"
    parts = [
        "\n".join(at("128", results)),
        "Size, first picture and layer, one below the other, over lengths:",
        "\n".join(by_length(results)),
        "\n".join(f"- {line}" for line in ends(results)),
        f"Measured with {said}, on {load}.",
        "**Goals.**",
        "\n".join(verdicts(results)),
        floors(results),
    ]
    return "\n\n".join(parts)


def figure(rows: Found, place: Path) -> None:
    """Size, first picture and layer over the number of tokens; a cross where one gave up."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "normviz"  # the same numbers give the same file
    panels = {"size": "size, MB", "first": "first picture, ms", "layer": "layer switch, ms"}
    sheet = Figure(figsize=(9.6, 3.2), layout="constrained")
    for axes, (kind, title) in zip(sheet.subplots(1, 3), panels.items(), strict=True):
        for name, (color, marker) in LOOKS.items():
            there = [t for t, row in rows.items() if kind in row.get(name, {})]
            values = [rows[t][name][kind]["median"] / ROWS[kind][1] for t in there]
            look = {"color": color, "linewidth": 1.4, "markersize": 4.5}
            axes.plot([*map(int, there)], values, marker=marker, label=NAMES[name], **look)
            last = rows[there[-1]][name] if there else {}
            if "gave up" in last or (there and there[-1] != list(rows)[-1]):
                axes.plot(int(there[-1]), values[-1], "x", color=color, markersize=11)
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
    sheet.savefig(place, metadata={"Date": None})

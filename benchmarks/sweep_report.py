"""The sweep as the README's tables, judgments and plot."""

from pathlib import Path
from typing import Any

from tables import README, judged, shown, table, times, write
from timing import RESULTS

GIB = 2**30
COLORS = {"minilm": "#3b66c4", "bert": "#c0392b", "gpt2": "#1e7d4f", "llama": "#8a5a00"}
SHORT = {"minilm": "MiniLM", "bert": "BERT-base", "gpt2": "GPT-2", "llama": "Llama slice"}


def report(results: dict[str, Any], readme: Path = README) -> None:
    """The sweep as tables, judgments and a plot."""
    shapes = results["shapes"]
    parts = [_versions(results["machine"]), _light(shapes, "float32"), _bfloat(shapes)]
    write(readme, "sweep", "\n\n".join(parts))
    write(readme, "sweep-heavy", _heavy(shapes))
    write(readme, "sweep-growth", _growth(results["growth"]))
    if "bert" in shapes:
        write(readme, "sweep-goals", _goals(shapes["bert"], results["goals"]))
    figure(shapes, RESULTS / "sweep.svg")


def _versions(machine: dict[str, Any]) -> str:
    return (
        f"Measured with {machine['threads']} threads ({machine['processor']}), torch "
        f"{machine['torch']}, transformers {machine['transformers']}, Python {machine['python']}."
    )


def _light(shapes: dict[str, Any], dtype: str) -> str:
    head = [
        "model", "tokens", "plain, ms", "four, × plain", "block, × plain", "α⊥, × plain",
        "memory: four, block, × plain", "× arithmetic: plain, four", "× memory: plain, four",
    ]  # fmt: skip
    rows = []
    for name, shape in shapes.items():
        for tokens, row in shape[dtype].items():
            against, limits = row["x plain"], row["x limits"]
            bounds = [
                ", ".join(shown(limits[one][kind]["median"]) for one in ("plain", "four"))
                for kind in ("arithmetic", "memory")
            ]
            memory = [shown(row["memory, x plain"][one]) for one in ("four", "block")]
            rows.append(
                [
                    SHORT[name], f"{int(tokens):,}", shown(1000 * row["seconds"]["plain"]),
                    *(times(against.get(one)) for one in ("four", "block", "effective")),
                    ", ".join(memory), *bounds,
                ]
            )  # fmt: skip
    return table(head, rows)


def _bfloat(shapes: dict[str, Any]) -> str:
    rows = [
        [
            SHORT[name],
            f"{int(tokens):,}",
            shown(row["seconds"]["plain"] / shape["float32"][tokens]["seconds"]["plain"]),
            *(times(row["x plain"][one]) for one in ("four", "block")),
            ", ".join(shown(row["memory, x plain"][one]) for one in ("four", "block")),
        ]
        for name, shape in shapes.items()
        for tokens, row in shape["bfloat16"].items()
    ]
    head = ["bfloat16", "tokens", "plain, × float32", "four, × plain", "block, × plain"]
    return table([*head, "memory: four, block, × plain"], rows)


TITLES = {
    "four": "four measures",
    "whole": "all six rungs",
    "effective": "α⊥",
    "attribution": "‖∂e/∂x‖, exact",
}


def _heavy(shapes: dict[str, Any]) -> str:
    rows = []
    for measure, title in TITLES.items():
        for name, shape in shapes.items():
            row = shape["heavy"].get(measure)
            if row is None:
                continue
            without = row.get("the same without the pass")
            unavoidable = row.get("x unavoidable products")
            rows.append(
                [
                    title, SHORT[name], row["tokens"], times(row["x plain"]),
                    times(row.get("literal, x normviz")), shown(without) if without else "",
                    " / ".join(
                        f"{row[one] / GIB:.2f}" for one in ("bytes", "bytes, literal") if one in row
                    ),
                    times(unavoidable),
                    _arithmetic(row),
                ]
            )  # fmt: skip
    head = ["", "model", "tokens", "normviz, × plain", "literal, × normviz", "without the pass"]
    more = ["GiB: normviz / literal", "× unavoidable products", "× arithmetic"]
    return table([*head, *more], rows)


def _arithmetic(row: dict[str, Any]) -> str:
    """How many times the limit of arithmetic a measure takes, where it can be said."""
    own = row.get("x arithmetic of its own products")
    return times(own or row.get("x limits", {}).get("arithmetic"))


def _growth(growth: dict[str, Any]) -> str:
    rows = []
    for name, found in growth["tokens"].items():
        sizes = f"{found['sizes'][0]:,} to {found['sizes'][-1]:,}"
        cells = [
            ", ".join(f"{found[kind][one]:.2f}" for one in ("plain", "four", "block"))
            for kind in ("time", "bytes")
        ]
        rows.append([f"tokens, {sizes}", SHORT[name], *cells])
    for axis in ("layers", "heads"):
        found = growth[axis]
        sizes = f"{found['sizes'][0]} to {found['sizes'][-1]}"
        cells = [f"{found[kind]['four']:.2f} (four)" for kind in ("time", "bytes")]
        rows.append([f"{axis}, {sizes}", "BERT-base, 128 tokens", *cells])
    return table(["over", "model", "time: plain, four, block", "memory: plain, four, block"], rows)


def _goals(bert: dict[str, Any], goals: dict[str, float]) -> str:
    lines = []
    for tokens in ("128", "512"):
        row = bert["float32"][tokens]
        four, block = (row["x plain"][name]["median"] for name in ("four", "block"))
        memory = row["memory, x plain"]["four"]
        said = f"BERT-base, {tokens} tokens"
        lines += [
            judged(f"{said}: four measures, time", four, goals["four, x plain"]),
            judged(f"{said}: four measures, memory", memory, goals["memory of four, x plain"]),
            judged(f"{said}: up to `attention-block`, time", block, goals["block, x plain"]),
        ]
    literal = bert["heavy"]["four"]
    without = literal["the same without the pass"]
    whole = bert["heavy"]["whole"]["x unavoidable products"]["median"]
    least = goals["literal four, x four"]
    lines += [
        judged(
            "the literal formulas against the four measures, the pass counted on both sides",
            literal["literal, x normviz"]["median"], least, at_least=True,
        ),
        judged("the same without the pass", without, least, at_least=True),
        judged(
            "all six rungs against the products that cannot be avoided",
            whole, goals["whole, x unavoidable products"],
        ),
    ]  # fmt: skip
    return "\n".join(lines)


def figure(shapes: dict[str, Any], place: Path) -> None:
    """Time against the plain pass, and against the limit of arithmetic, over tokens."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "normviz"  # the same numbers give the same file
    sheet = Figure(figsize=(7.2, 3.2), layout="constrained")
    left, right = sheet.subplots(1, 2)
    for name, shape in shapes.items():
        rows = shape["float32"]
        tokens, look = [int(n) for n in rows], {"color": COLORS[name], "marker": "o"}
        for measure, line in (("four", "-"), ("block", "--")):
            values = [row["x plain"][measure]["median"] for row in rows.values()]
            label = SHORT[name] if measure == "four" else None
            left.plot(tokens, values, line, label=label, markersize=4, linewidth=1.4, **look)
        for contender, line in (("plain", ":"), ("four", "-")):
            limits = [row["x limits"][contender] for row in rows.values()]
            # The limit that takes longer binds, and of that one a contender is fewer times.
            nearest = [min(one[kind]["median"] for kind in one) for one in limits]
            right.plot(tokens, nearest, line, markersize=4, linewidth=1.4, **look)
    left.set_title("time, × the plain pass (— four, - - block)", fontsize=9)
    right.set_title("time, × the nearer limit (⋯ plain, — four)", fontsize=9)
    for axes in (left, right):
        axes.set_xscale("log", base=2)
        axes.set_xticks([32, 128, 512, 2048], ["32", "128", "512", "2,048"])
        axes.set(xlabel="tokens", ylim=(0, None))
        axes.axhline(1, color="#6b7280", linewidth=0.8)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", alpha=0.25)
    left.legend(frameon=False, fontsize=8)
    sheet.savefig(place, metadata={"Date": None})

"""The results of the sweep as tables, goals and a plot."""

from pathlib import Path
from typing import Any

from tables import README, format_number, format_spread, format_table, judge_goal, write_section
from timing import RESULTS

GIB = 2**30
COLORS = {"minilm": "#3b66c4", "bert": "#c0392b", "gpt2": "#1e7d4f", "llama": "#8a5a00"}
SHORT = {"minilm": "MiniLM", "bert": "BERT-base", "gpt2": "GPT-2", "llama": "Llama slice"}


def report(results: dict[str, Any], readme: Path = README) -> None:
    """Write tables and goals into the README, and draw the plot."""
    shapes = results["shapes"]
    sections = [_versions(results["machine"]), _light(shapes, "float32"), _bfloat(shapes)]
    write_section(readme, "sweep", "\n\n".join(sections))
    write_section(readme, "sweep-heavy", _heavy(shapes))
    write_section(readme, "sweep-growth", _growth(results["growth"]))
    if "bert" in shapes:
        write_section(readme, "sweep-goals", _goals(shapes["bert"], results["goals"]))
    draw_figure(shapes, RESULTS / "sweep.svg")


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
                ", ".join(format_number(limits[one][kind]["median"]) for one in ("plain", "four"))
                for kind in ("arithmetic", "memory")
            ]
            memory = [format_number(row["memory, x plain"][one]) for one in ("four", "block")]
            rows.append(
                [
                    SHORT[name], f"{int(tokens):,}", format_number(1000 * row["seconds"]["plain"]),
                    *(format_spread(against.get(one)) for one in ("four", "block", "effective")),
                    ", ".join(memory), *bounds,
                ]
            )  # fmt: skip
    return format_table(head, rows)


def _bfloat(shapes: dict[str, Any]) -> str:
    rows = [
        [
            SHORT[name],
            f"{int(tokens):,}",
            format_number(row["seconds"]["plain"] / shape["float32"][tokens]["seconds"]["plain"]),
            *(format_spread(row["x plain"][one]) for one in ("four", "block")),
            ", ".join(format_number(row["memory, x plain"][one]) for one in ("four", "block")),
        ]
        for name, shape in shapes.items()
        for tokens, row in shape["bfloat16"].items()
    ]
    head = ["bfloat16", "tokens", "plain, × float32", "four, × plain", "block, × plain"]
    return format_table([*head, "memory: four, block, × plain"], rows)


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
                    title, SHORT[name], row["tokens"], format_spread(row["x plain"]),
                    format_spread(row.get("literal, x normviz")),
                    format_number(without) if without else "",
                    " / ".join(
                        f"{row[one] / GIB:.2f}" for one in ("bytes", "bytes, literal") if one in row
                    ),
                    format_spread(unavoidable),
                    _arithmetic(row),
                ]
            )  # fmt: skip
    head = ["", "model", "tokens", "normviz, × plain", "literal, × normviz", "without the pass"]
    more = ["GiB: normviz / literal", "× unavoidable products", "× arithmetic"]
    return format_table([*head, *more], rows)


def _arithmetic(row: dict[str, Any]) -> str:
    """Return the ratio to the bound of arithmetic, if there is one."""
    own = row.get("x arithmetic of its own products")
    return format_spread(own or row.get("x limits", {}).get("arithmetic"))


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
    return format_table(
        ["over", "model", "time: plain, four, block", "memory: plain, four, block"], rows
    )


def _goals(bert: dict[str, Any], goals: dict[str, float]) -> str:
    lines = []
    for tokens in ("128", "512"):
        row = bert["float32"][tokens]
        four, block = (row["x plain"][name]["median"] for name in ("four", "block"))
        memory = row["memory, x plain"]["four"]
        label = f"BERT-base, {tokens} tokens"
        lines += [
            judge_goal(f"{label}: four measures, time", four, goals["four, x plain"]),
            judge_goal(f"{label}: four measures, memory", memory, goals["memory of four, x plain"]),
            judge_goal(f"{label}: up to `attention-block`, time", block, goals["block, x plain"]),
        ]
    literal = bert["heavy"]["four"]
    without = literal["the same without the pass"]
    whole = bert["heavy"]["whole"]["x unavoidable products"]["median"]
    least = goals["literal four, x four"]
    lines += [
        judge_goal(
            "the literal formulas compared with the four measures, both including the pass",
            literal["literal, x normviz"]["median"], least, at_least=True,
        ),
        judge_goal("the same, both without the pass", without, least, at_least=True),
        judge_goal(
            "all six rungs compared with the unavoidable products",
            whole, goals["whole, x unavoidable products"],
        ),
    ]  # fmt: skip
    return "\n".join(lines)


def draw_figure(shapes: dict[str, Any], path: Path) -> None:
    """Draw the time relative to the plain pass, and to the nearer bound, over tokens."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "normviz"  # the same numbers give the same file
    sheet = Figure(figsize=(7.2, 3.2), layout="constrained")
    left, right = sheet.subplots(1, 2)
    for name, shape in shapes.items():
        rows = shape["float32"]
        tokens, style = [int(n) for n in rows], {"color": COLORS[name], "marker": "o"}
        for measure, line in (("four", "-"), ("block", "--")):
            values = [row["x plain"][measure]["median"] for row in rows.values()]
            label = SHORT[name] if measure == "four" else None
            left.plot(tokens, values, line, label=label, markersize=4, linewidth=1.4, **style)
        for contender, line in (("plain", ":"), ("four", "-")):
            limits = [row["x limits"][contender] for row in rows.values()]
            # The larger of the two bounds is the one that holds.
            nearest = [min(one[kind]["median"] for kind in one) for one in limits]
            right.plot(tokens, nearest, line, markersize=4, linewidth=1.4, **style)
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
    sheet.savefig(path, metadata={"Date": None})

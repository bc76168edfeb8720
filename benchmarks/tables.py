"""Format results as Markdown: numbers, tables and goals; write them into the README."""

import re
from collections.abc import Iterable
from pathlib import Path

README = Path(__file__).parent / "README.md"


def format_table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a Markdown table."""
    names = list(head)
    lines = [names, ["---"] * len(names), *([str(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write_section(readme: Path, name: str, markdown: str) -> None:
    """Replace the text between `<!-- name -->` and `<!-- /name -->` by new results."""
    text = readme.read_text(encoding="utf-8")
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if len(pattern.findall(text)) != 1:
        raise ValueError(
            f"{readme.name} needs exactly one section {name!r}: write {begin} and {end}."
        )
    new = f"{begin}\n\n{markdown.strip()}\n\n{end}"
    readme.write_text(pattern.sub(lambda _: new, text), encoding="utf-8")


def format_spread(spread: dict[str, float] | None) -> str:
    """Return a median with its quartiles, with at most three digits."""
    if spread is None:
        return ""
    median, low, high = (format_number(spread[name]) for name in ("median", "low", "high"))
    return median if low == high else f"{median} ({low} … {high})"


def format_number(value: float) -> str:
    """Return a number with at most three digits and no exponent."""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}"


def judge_goal(
    name: str, value: float, goal: float, *, at_least: bool = False, unit: str = "×"
) -> str:
    """Return a sentence that says whether a goal was met, or by how much it was missed."""
    met = value >= goal if at_least else value <= goal
    bound = "at least" if at_least else "at most"
    verdict = "met" if met else f"**missed by {abs(value / goal - 1):.0%}**"
    return f"- {name}: {bound} {goal:,g} {unit}, measured {format_number(value)} {unit}: {verdict}."

"""Results in Markdown: numbers, tables, goals judged, and where in the README they stand."""

import re
from collections.abc import Iterable
from pathlib import Path

README = Path(__file__).parent / "README.md"


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A table, a line each."""
    names = list(head)
    lines = [names, ["---"] * len(names), *([str(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write(readme: Path, name: str, markdown: str) -> None:
    """Put results where `<!-- name -->` and `<!-- /name -->` stand, in place of what was there."""
    text = readme.read_text(encoding="utf-8")
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if len(pattern.findall(text)) != 1:
        raise ValueError(f"{readme.name} has no one place for {name!r}: write {begin} and {end}.")
    new = f"{begin}\n\n{markdown.strip()}\n\n{end}"
    readme.write_text(pattern.sub(lambda _: new, text), encoding="utf-8")


def times(found: dict[str, float] | None) -> str:
    """A median with its quartiles, in as many digits as they carry."""
    if found is None:
        return ""
    median, low, high = (shown(found[name]) for name in ("median", "low", "high"))
    return median if low == high else f"{median} ({low} … {high})"


def shown(value: float) -> str:
    """Three digits at most, and no exponents."""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}"


def judged(name: str, value: float, goal: float, *, at_least: bool = False, unit: str = "×") -> str:
    """A goal in a sentence: met, or missed by so much."""
    met = value >= goal if at_least else value <= goal
    bound = "at least" if at_least else "at most"
    verdict = "met" if met else f"**missed by {abs(value / goal - 1):.0%}**"
    return f"- {name}: {bound} {goal:,g} {unit}, measured {shown(value)} {unit}: {verdict}."

"""The page of supported models, made from the outcomes of the zoo of tiny models."""

import html
import json
import re
import runpy
from collections.abc import Iterator, Mapping
from typing import Any

from making.links import ROOT

ZOO = ROOT / "tests" / "support" / "zoo"
FAMILIES = {
    "attention": "the four attention measures",
    "all": '`"all"`',
    "gradients": "`hidden-attribution`",
}
WORKS, PARTLY, FAILS = "✓", "◐", "–"
SIGNS = {"pass": WORKS, "left out": PARTLY, "incomplete": PARTLY}
REASONS = {
    "left out": "",
    "incomplete": "some attentions are not captured; the receipt names them",
    "missing": "some attentions are not captured",
    "wrong": "the weights differ from the model's own",
    "foreign": "stops with an error",
    "changed": "the model does not come back as it was",
    "slow": "takes too long",
}
"""What is said of an outcome, where its cause says nothing to a reader."""

INTRODUCTION = """# Supported models

Every model type of transformers that can be built from its configuration is built, tiny and with
random weights, run on inputs that fit it (text, images, sound, time series, or several of them) and
measured. {built} types have softmax attention. Of these work:

{counts}

A measurement counts as working if the receipt is green, the weights are those that the model itself
reports (where it reports any), no attention is missing, and the model is left as it was. ◐ means
that it works for a part, and that the receipt says which. The tests measure every type again and
compare ([how](../../tests/support/zoo/outcomes.py)). A type stands for its usual classes: `llava`
for `LlavaModel` and `LlavaForConditionalGeneration`.

"""


def read_outcomes() -> dict[str, dict[str, Any]]:
    """Return the outcomes of each type, by the family of measures."""
    return json.loads((ZOO / "outcomes.json").read_text(encoding="utf-8"))


def page() -> str:
    """Return the page as Markdown: counts, a table for each letter, and what has no attention."""
    table = read_outcomes()
    measured = {name: row for name, row in table.items() if row["attention"] != "none"}
    counts = "\n".join(_count(family, measured) for family in FAMILIES)
    text = INTRODUCTION.format(built=len(measured), counts=counts)
    for letter in sorted({name[0].upper() for name in measured}):
        rows = {n: row for n, row in sorted(measured.items()) if n[0].upper() == letter}
        text += f"## {letter}\n\n" + "\n".join(_rows(rows)) + "\n\n"
    without = [f"`{name}`" for name in sorted(table) if name not in measured]
    text += "## Without softmax attention\n\nThese have no softmax attention, and are refused:\n"
    text += ", ".join(without) + ".\n\n## Not tried\n\n" + "\n".join(_not_tried()) + "\n"
    return text


def _count(family: str, rows: Mapping[str, dict[str, Any]]) -> str:
    signs = [_sign(row[family]) for row in rows.values()]
    partly = f", and {signs.count(PARTLY)} in part" if PARTLY in signs else ""
    return f"- {FAMILIES[family]}: **{signs.count(WORKS)}**{partly}"


def _rows(rows: Mapping[str, dict[str, Any]]) -> Iterator[str]:
    yield '| type | attention | "all" | hidden-attribution | |'
    yield "|---|:-:|:-:|:-:|---|"
    for name, row in rows.items():
        signs = " | ".join(_sign(row[family]) for family in FAMILIES)
        reasons = dict.fromkeys(_reason(row[family]) for family in FAMILIES)
        yield f"| `{name}` | {signs} | {'<br>'.join(filter(None, reasons))} |"


def _sign(outcome: str) -> str:
    return SIGNS.get(outcome.partition(":")[0], FAILS)


def _reason(outcome: str) -> str:
    """Return why a measurement does not work, or '' if it does."""
    kind, _, cause = outcome.partition(": ")
    if REASONS.get(kind):
        return REASONS[kind]
    cause = re.sub(r"^[A-Z]\w+: ", "", cause)
    cause = re.sub(r" ?\(<\w+>\)", "", cause)
    return html.escape(re.sub(r"<\w+>", "…", cause)).replace("|", "\\|")


def _not_tried() -> Iterator[str]:
    """Yield the types that cannot be built without further packages or other models."""
    not_built = runpy.run_path(str(ZOO / "not_built.py"))["NOT_BUILT_FOR"]
    for reason, names in not_built.items():
        yield f"- {reason}: " + ", ".join(f"`{name}`" for name in names.split())

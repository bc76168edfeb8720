"""The table of outcomes: one line for each type, so that a change of one is a change of a line."""

import json
from pathlib import Path
from typing import Any

PATH = Path(__file__).parent / "outcomes.json"
FAMILY_NAMES = ("attention", "all", "gradients")


def read_table() -> dict[str, dict[str, Any]]:
    """Return the outcomes of each type, by the family of measures."""
    return json.loads(PATH.read_text(encoding="utf-8")) if PATH.exists() else {}


def write_table(results: dict[str, dict[str, Any]], families: list[str], *, whole: bool) -> None:
    """Write outcomes into the table; a whole sweep also removes types that are gone."""
    table = read_table()
    kept = {name: row for name, row in table.items() if not whole or name in results}
    for name, result in results.items():
        row = kept.get(name, {}) | {f: result[f] for f in families if f in result}
        row["attentions"] = result.get("attentions", row.get("attentions", 0))
        kept[name] = {key: row[key] for key in ("attentions", *FAMILY_NAMES) if key in row}
    lines = [f"{json.dumps(n)}: {json.dumps(kept[n], ensure_ascii=False)}" for n in sorted(kept)]
    PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")

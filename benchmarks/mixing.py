"""Table 2 of Kobayashi et al. 2021 on any model: how much of a token comes from other tokens.

The text file has one paragraph on a line; two neighbors make a segment, cut off after 128 tokens.
Lines that begin with `=` are headings and are left out.

    python benchmarks/mixing.py wikipedia.txt --model bert-base-uncased --texts 992
"""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from normviz import studies
from normviz.model.run import versions


def segments(path: Path, count: int) -> list[tuple[str, str]]:
    """Two paragraphs at a time, without headings."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    paragraphs = [line for line in lines if line and not line.startswith("=")]
    return list(zip(paragraphs[::2], paragraphs[1::2], strict=False))[:count]


def arguments(about: str | None, texts: int, *, needed: bool = True) -> argparse.ArgumentParser:
    """What a benchmark over a text file is told; so many segments, unless it is told otherwise."""
    parser = argparse.ArgumentParser(description=about)
    count = None if needed else "?"
    parser.add_argument("text", type=Path, nargs=count, help="a text, one paragraph on a line")
    parser.add_argument("--texts", type=int, default=texts, help="how many segments, at most")
    parser.add_argument("--output", type=Path, help="a JSON file for the numbers")
    return parser


def main() -> None:
    """Run the study, print its table, and write it where it was asked for."""
    parser = arguments(__doc__, texts=100)
    parser.add_argument("--model", default="demo")
    chosen = parser.parse_args()
    found = studies.mixing(chosen.model, segments(chosen.text, chosen.texts))
    print(found)
    if chosen.output is not None:
        kept = {
            "command": f"python benchmarks/mixing.py {chosen.text.name} --model {chosen.model} "
            f"--texts {chosen.texts}",
            "model": found.model,
            "texts": found.texts,
            "tokens": found.tokens,
            "masked": found.masked,
            "ratios": {name: asdict(ratio) for name, ratio in found.ratios.items()},
            "versions": versions(),
        }
        chosen.output.write_text(json.dumps(kept, indent=2) + "\n")


if __name__ == "__main__":
    main()

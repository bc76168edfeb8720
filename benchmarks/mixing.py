"""Table 2 of Kobayashi et al. 2021 for any model: how much of a token comes from other tokens.

The text file has one paragraph per line; two adjacent paragraphs make a segment of at most 128
tokens. Lines that begin with `=` are headings and are left out.

    python benchmarks/mixing.py wikipedia.txt --model bert-base-uncased --texts 992
"""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from normviz import studies
from normviz.model.run import versions


def read_segments(path: Path, count: int) -> list[tuple[str, str]]:
    """Return pairs of adjacent paragraphs, without headings."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    paragraphs = [line for line in lines if line and not line.startswith("=")]
    return list(zip(paragraphs[::2], paragraphs[1::2], strict=False))[:count]


def make_parser(
    about: str | None, texts: int, *, text_required: bool = True
) -> argparse.ArgumentParser:
    """Return the argument parser of a benchmark over a text file; `texts` is a default."""
    parser = argparse.ArgumentParser(description=about)
    count = None if text_required else "?"
    parser.add_argument("text", type=Path, nargs=count, help="a text file, one paragraph per line")
    parser.add_argument("--texts", type=int, default=texts, help="the maximum number of segments")
    parser.add_argument("--output", type=Path, help="a JSON file for the numbers")
    return parser


def main() -> None:
    """Run the study, print its table, and write it to the output file if there is one."""
    parser = make_parser(__doc__, texts=100)
    parser.add_argument("--model", default="demo")
    args = parser.parse_args()
    study = studies.mixing(args.model, read_segments(args.text, args.texts))
    print(study)
    if args.output is not None:
        results = {
            "command": f"python benchmarks/mixing.py {args.text.name} --model {args.model} "
            f"--texts {args.texts}",
            "model": study.model,
            "texts": study.texts,
            "tokens": study.tokens,
            "masked": study.masked,
            "ratios": {name: asdict(ratio) for name, ratio in study.ratios.items()},
            "versions": versions(),
        }
        args.output.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()

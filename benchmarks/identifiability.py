"""Token identifiability (Brunner et al. 2020, §4) for any model: is a token still in its state?

Reads a text file like `mixing.py`: one paragraph per line, two adjacent lines make a segment.

    python benchmarks/identifiability.py wikipedia.txt --model bert-base-uncased --texts 200
"""

import json
from dataclasses import asdict

from mixing import make_parser, read_segments

from normviz import studies
from normviz.model.run import versions


def main() -> None:
    """Run the study, print its table, and write it to the output file if there is one."""
    parser = make_parser(__doc__, texts=200)
    parser.add_argument("--model", default="demo")
    args = parser.parse_args()
    study = studies.identifiability(args.model, read_segments(args.text, args.texts))
    print(study)
    if args.output is not None:
        results = {
            "command": f"python benchmarks/identifiability.py {args.text.name} "
            f"--model {args.model} --texts {args.texts}",
            "model": study.model,
            "texts": study.texts,
            "tokens": study.tokens,
            "folds": study.folds,
            "chance": study.chance,
            "ridges": {str(layer): strengths for layer, strengths in study.ridges.items()},
            "accuracies": [asdict(row) for row in study.accuracies],
            "cosine minus l2": [asdict(gain) for gain in study.gains],
            "versions": versions(),
        }
        args.output.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()

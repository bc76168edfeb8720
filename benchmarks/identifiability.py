"""Token identifiability (Brunner et al. 2020, §4) on any model: is a token still in its state?

Reads a text file as `mixing.py` does: one paragraph on a line, two neighbors make a segment.

    python benchmarks/identifiability.py wikipedia.txt --model bert-base-uncased --texts 200
"""

import json
from dataclasses import asdict

from mixing import arguments, segments

from normviz import studies
from normviz.model.run import versions


def main() -> None:
    """Run the study, print its table, and write it where it was asked for."""
    parser = arguments(__doc__, texts=200)
    parser.add_argument("--model", default="demo")
    chosen = parser.parse_args()
    found = studies.identifiability(chosen.model, segments(chosen.text, chosen.texts))
    print(found)
    if chosen.output is not None:
        kept = {
            "command": f"python benchmarks/identifiability.py {chosen.text.name} "
            f"--model {chosen.model} --texts {chosen.texts}",
            "model": found.model,
            "texts": found.texts,
            "tokens": found.tokens,
            "folds": found.folds,
            "chance": found.chance,
            "ridges": {str(layer): strengths for layer, strengths in found.ridges.items()},
            "accuracies": [asdict(row) for row in found.accuracies],
            "cosine minus l2": [asdict(lead) for lead in found.leads],
            "versions": versions(),
        }
        chosen.output.write_text(json.dumps(kept, indent=2) + "\n")


if __name__ == "__main__":
    main()

"""The ladder against the model's own pass, and against the products it cannot do without.

Contenders take turns in one process; what is reported is the median of the rounds' ratios, with
quartiles. The products that cannot be avoided are those of every token's part with W_2 of the
feed-forward block, `query · key × inner × model`: the factor of the activation differs for every
query, so that nothing can be shared. Everything before it has a closed form.

    python benchmarks/ladder.py            about four minutes on two cores
    python benchmarks/ladder.py --quick    one small shape, to see that it runs
"""

import json
import statistics

import torch
from attention import alone_in_a_process, command, ids, machine, model, plain, ratio, timed
from transformers import BertModel

import normviz
from normviz.catalog import LADDER

BLOCK = LADDER[:3]
GOALS = {"block": 2.0, "products": 2.0}


def block(bert: BertModel, tokens: int):
    """The ladder up to `attention-block`: closed forms only."""
    return normviz.analyze(bert, inputs={"input_ids": ids(tokens)}, measures=BLOCK)


def whole(bert: BertModel, tokens: int):
    """All six rungs."""
    return normviz.analyze(bert, inputs={"input_ids": ids(tokens)}, measures=LADDER)


def products(bert: BertModel, tokens: int):
    """Only what cannot be avoided: every part of every query through W_2, layer by layer."""
    with torch.no_grad():
        run = 32  # as many sources at a time as keep memory small
        parts = torch.ones(run * tokens, bert.config.intermediate_size)
        for layer in bert.encoder.layer:
            for _ in range(0, tokens, run):
                torch.nn.functional.linear(parts, layer.output.dense.weight)


CONTENDERS = {"plain": plain, "block": block, "whole": whole, "products": products}


def row(bert: BertModel, tokens: int, names: list[str], rounds: int) -> dict[str, object]:
    """The ratios of some contenders at one length."""
    seconds = timed(bert, tokens, names, rounds, CONTENDERS)
    found: dict[str, object] = {
        "seconds": {name: round(statistics.median(each), 3) for name, each in seconds.items()},
        "block, x plain": ratio(seconds, "block", "plain"),
    }
    if "whole" in names:
        found["whole, x plain"] = ratio(seconds, "whole", "plain")
        found["whole, x products"] = ratio(seconds, "whole", "products")
    return found


def run(*, quick: bool) -> dict[str, object]:
    """Every shape in turn, printed as it is done."""
    bert = model(quick=quick)
    every = list(CONTENDERS)
    shapes = {32: (every, 3)} if quick else {128: (every, 5), 512: (every[:2], 9)}
    results: dict[str, object] = {"machine": machine(), "goals": GOALS, "tokens": {}}
    for tokens, (names, rounds) in shapes.items():
        found = row(bert, tokens, names, rounds)
        if not quick and "whole" in names:
            found["bytes"] = {n: alone_in_a_process(__file__, n, tokens) for n in every[:3]}
        results["tokens"][str(tokens)] = found
        print(tokens, json.dumps(found))
    return results


if __name__ == "__main__":
    command(run, CONTENDERS, "ladder")

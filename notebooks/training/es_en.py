"""Train the Spanish–English model of the notebooks, judge it, and write its card.

    pip install 'normviz[training]'
    python notebooks/training/es_en.py --precision bfloat16

Without a processor that has bfloat16, leave the precision out. On Linux it is a quarter quicker
where freed memory is kept: MALLOC_TRIM_THRESHOLD_=4294967296 MALLOC_MMAP_THRESHOLD_=4294967296.
"""

import argparse
import json
import os
from dataclasses import asdict, replace
from pathlib import Path
from time import perf_counter, process_time

import torch
from card import card
from marian import Recipe, encoded, surprise, tokenizer_of, trained, translations
from sacrebleu.metrics import BLEU, CHRF
from tatoeba import Pair, fetched, read, split
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

MODELS = Path(__file__).parents[1] / "models"
SPLIT = 0
"""Where the choice of held-out pairs begins: the same whatever the model's seed."""
EXAMPLES = (
    "Hola.",
    "¿Dónde está la biblioteca?",
    "Tengo tres gatos y un perro.",
    "Ella no quiere ir al colegio mañana.",
    "Me gusta leer libros por la noche.",
    "¿Cuánto cuesta este coche rojo?",
    "Mi hermano mayor vive en Madrid con su mujer.",
    "Si llueve, nos quedaremos en casa.",
)


def main() -> None:
    """Fetch the pairs, train, judge on held-out pairs, write the model and its card."""
    asked = _arguments()
    torch.set_num_threads(asked.threads)
    pairs = read(fetched(asked.archive))
    learned, watched, judged = split(pairs, SPLIT)
    recipe = replace(Recipe(), epochs=asked.epochs, seed=asked.seed, precision=asked.precision)
    began, busy = perf_counter(), process_time()
    tokenizer = tokenizer_of(_texts(learned), recipe.vocabulary)
    model = trained(recipe, tokenizer, _texts(learned), _texts(watched), asked.output)
    took = {
        "minutes": (perf_counter() - began) / 60,
        "core_minutes": (process_time() - busy) / 60,
        "threads": asked.threads,
    }
    report = {
        "recipe": asdict(recipe),
        "parameters": sum(tensor.numel() for tensor in model.parameters()),
        "pairs": {"learned": len(learned), "watched": len(watched), "judged": len(judged)},
        **took,
        **_judged(asked.output, judged),
        "torch": torch.__version__,
    }
    (asked.output / "training.json").write_text(
        json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    (asked.output / "README.md").write_text(card(report), encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--output", type=Path, default=MODELS / "es-en")
    parser.add_argument("--archive", type=Path, default=MODELS / "nmt-0.0.6.tar.gz")
    parser.add_argument("--epochs", type=int, default=Recipe.epochs)
    parser.add_argument("--seed", type=int, default=Recipe.seed)
    parser.add_argument("--precision", choices=("float32", "bfloat16"), default=Recipe.precision)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


def _texts(pairs: list[Pair]) -> list[tuple[str, str]]:
    return [(pair.source, pair.target) for pair in pairs]


def _judged(folder: Path, pairs: list[Pair]) -> dict[str, object]:
    """How good the model is, as it was written to the disk."""
    model = AutoModelForSeq2SeqLM.from_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    references = [[pair.target for pair in pairs]]
    written = translations(model, tokenizer, [pair.source for pair in pairs])
    bleu, chrf = BLEU(), CHRF()
    return {
        "bleu": bleu.corpus_score(written, references).score,
        "bleu_signature": str(bleu.get_signature()),
        "chrf": chrf.corpus_score(written, references).score,
        "chrf_signature": str(chrf.get_signature()),
        "nats": surprise(model, encoded(tokenizer, _texts(pairs))),
        "examples": dict(zip(EXAMPLES, translations(model, tokenizer, EXAMPLES), strict=True)),
    }


if __name__ == "__main__":
    main()

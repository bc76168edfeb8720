"""Train the Spanish–English model of the notebooks, evaluate it, and write its model card.

    pip install 'normviz[training]'
    python notebooks/training/es_en.py --precision bfloat16

Omit the precision if the processor does not support bfloat16. On Linux it is a quarter faster if
freed memory is kept: MALLOC_TRIM_THRESHOLD_=4294967296 MALLOC_MMAP_THRESHOLD_=4294967296.
"""

import argparse
import json
import os
from dataclasses import asdict, replace
from pathlib import Path
from time import perf_counter, process_time

import torch
from card import format_card
from marian import Recipe, encode_pairs, held_out_loss, train_model, train_tokenizer, translate
from sacrebleu.metrics import BLEU, CHRF
from tatoeba import Pair, fetch_archive, read_pairs, split_pairs
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

MODELS = Path(__file__).parents[1] / "models"
SPLIT_SEED = 0
"""The seed of the split, which is independent of the model's seed."""
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
    """Download the pairs, train, evaluate on held-out pairs, and write the model and its card."""
    args = _arguments()
    torch.set_num_threads(args.threads)
    pairs = read_pairs(fetch_archive(args.archive))
    training, validation, test = split_pairs(pairs, SPLIT_SEED)
    recipe = replace(Recipe(), epochs=args.epochs, seed=args.seed, precision=args.precision)
    start, cpu_start = perf_counter(), process_time()
    tokenizer = train_tokenizer(_texts(training), recipe.vocabulary)
    model = train_model(recipe, tokenizer, _texts(training), _texts(validation), args.output)
    cost = {
        "minutes": (perf_counter() - start) / 60,
        "core_minutes": (process_time() - cpu_start) / 60,
        "threads": args.threads,
    }
    report = {
        "recipe": asdict(recipe),
        "parameters": sum(tensor.numel() for tensor in model.parameters()),
        "pairs": {"learned": len(training), "watched": len(validation), "judged": len(test)},
        **cost,
        **_evaluate(args.output, test),
        "torch": torch.__version__,
    }
    (args.output / "training.json").write_text(
        json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    (args.output / "README.md").write_text(format_card(report), encoding="utf-8")


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


def _evaluate(folder: Path, pairs: list[Pair]) -> dict[str, object]:
    """Return the scores of the saved model on these pairs."""
    model = AutoModelForSeq2SeqLM.from_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    references = [[pair.target for pair in pairs]]
    hypotheses = translate(model, tokenizer, [pair.source for pair in pairs])
    bleu, chrf = BLEU(), CHRF()
    return {
        "bleu": bleu.corpus_score(hypotheses, references).score,
        "bleu_signature": str(bleu.get_signature()),
        "chrf": chrf.corpus_score(hypotheses, references).score,
        "chrf_signature": str(chrf.get_signature()),
        "nats": held_out_loss(model, encode_pairs(tokenizer, _texts(pairs))),
        "examples": dict(zip(EXAMPLES, translate(model, tokenizer, EXAMPLES), strict=True)),
    }


if __name__ == "__main__":
    main()

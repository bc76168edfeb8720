"""The translator that is stored with the notebooks, and the script that trains it."""

import json
import random
import sys

import pytest
from paths import ROOT

import normviz

NOTEBOOKS = ROOT / "notebooks"
sys.path.insert(0, str(NOTEBOOKS / "training"))

import marian  # noqa: E402
from card import format_card  # noqa: E402
from tatoeba import HELD_OUT, Pair, split_pairs  # noqa: E402

MODEL = NOTEBOOKS / "models" / "es-en"


@pytest.fixture(scope="module")
def translator():
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    return AutoModelForSeq2SeqLM.from_pretrained(MODEL), AutoTokenizer.from_pretrained(MODEL)


SIMPLE = {
    "Hola.": {"Hello.", "Hi."},
    "¿Dónde está la biblioteca?": {"Where is the library?", "Where's the library?"},
    "Tengo tres gatos.": {"I have three cats.", "I've got three cats."},
    "Ella no quiere ir.": {"She doesn't want to go."},
    "Me gusta leer libros.": {"I like to read books.", "I like reading books."},
    "Tom es mi hermano.": {"Tom is my brother.", "Tom's my brother."},
}


def test_simple_sentences_are_translated_correctly(translator):
    found = marian.translate(*translator, list(SIMPLE))
    assert {s: t for s, t in zip(SIMPLE, found, strict=True) if t not in SIMPLE[s]} == {}


def test_spaces_before_punctuation_make_no_difference(translator):
    _, tokenizer = translator
    assert tokenizer("¿Qué es esto, Tom?") == tokenizer("¿ Qué es esto , Tom ?")
    assert tokenizer.decode(tokenizer("¿ Qué ?").input_ids, skip_special_tokens=True) == "¿Qué?"


def test_it_is_small_and_stored_in_half_precision_but_loaded_in_single(translator):
    assert sum(path.stat().st_size for path in MODEL.iterdir()) <= 12e6
    assert {str(tensor.dtype) for tensor in translator[0].parameters()} == {"torch.float32"}


def test_the_model_card_is_generated_from_the_training_report():
    report = json.loads((MODEL / "training.json").read_text(encoding="utf-8"))
    assert (MODEL / "README.md").read_text(encoding="utf-8") == format_card(report)
    assert report["pairs"]["judged"] == HELD_OUT
    assert report["bleu"] > 30


def test_its_words_are_aligned_far_better_than_by_chance(translator):
    model, tokenizer = translator
    pairs, gold = NOTEBOOKS / "data" / "es-en.src-tgt", NOTEBOOKS / "data" / "es-en.gold"
    study = normviz.studies.alignment(model, pairs, gold, tokenizer=tokenizer, batch_size=50)
    assert study.failures == study.out_of_range == ()
    for measure in ("weight", "weighted-norm"):
        assert study.best_layer(measure, "input").aer < 0.5


def test_its_parts_add_up(translator):
    model, tokenizer = translator
    flow = normviz.analyze(
        model, "Tengo tres gatos.", tokenizer=tokenizer, target="I have three cats."
    )
    assert flow.receipt.ok


# --- the script -----------------------------------------------------------------------------------


def test_held_out_sentences_are_in_no_other_part():
    rng = random.Random(0)
    words = [f"word{n}" for n in range(3000)]
    pairs = [Pair(f"{w}!", f"it is {w.title()}") for w in words]
    pairs += [Pair(rng.choice(words).upper(), f"again {n}") for n in range(500)]
    parts = split_pairs(pairs, 0)
    assert [len(part) for part in parts] == [1500, HELD_OUT, HELD_OUT]
    seen = [{p.source.casefold().strip("!") for p in part} for part in parts]
    assert not seen[1] & seen[2]
    assert not seen[0] & (seen[1] | seen[2])
    assert split_pairs(pairs, 0) == parts
    assert split_pairs(pairs, 1) != parts


def test_batches_hold_every_pair_once_within_their_token_limit():
    rng = random.Random(1)
    ids = [([0] * rng.randint(1, 20), [n] * rng.randint(1, 20)) for n in range(200)]
    batches = list(marian.iterate_batches(ids, 100, random.Random(2)))
    assert sorted(id(pair) for batch in batches for pair in batch) == sorted(map(id, ids))
    assert all(len(b) * max(len(ids) for pair in b for ids in pair) <= 100 for b in batches)
    assert batches != list(marian.iterate_batches(ids, 100, random.Random(3)))


def test_padding_and_batching_do_not_change_the_loss_of_a_pair():
    pairs = [("uno dos", "one two"), ("tres cuatro cinco", "three four five"), ("uno", "one")] * 3
    tokenizer = marian.train_tokenizer(pairs, 60)
    recipe = marian.Recipe(width=16, inner=16, heads=2, encoder_layers=1, decoder_layers=1)
    model = marian.build_model(recipe, tokenizer).eval()
    ids = marian.encode_pairs(tokenizer, pairs[:3])
    alone = [marian.compute_loss(model, [pair], 0.0).item() * len(pair[1]) for pair in ids]
    together = marian.compute_loss(model, ids, 0.0).item() * sum(len(t) for _, t in ids)
    assert together == pytest.approx(sum(alone), rel=1e-4)


def test_training_learns_and_is_repeatable(tmp_path, capsys):
    numbers = {"uno": "one", "dos": "two", "tres": "three", "cuatro": "four"}
    pairs = [(f"{a} {b}", f"{numbers[a]} {numbers[b]}") for a in numbers for b in numbers] * 8
    tokenizer = marian.train_tokenizer(pairs, 60)
    recipe = marian.Recipe(
        width=32, inner=32, heads=2, encoder_layers=1, decoder_layers=1, dropout=0.0,
        smoothing=0.0, rate=0.01, warmup=10, epochs=12, tokens=200,
    )  # fmt: skip
    model = marian.train_model(recipe, tokenizer, pairs, pairs[:16], tmp_path)
    assert marian.translate(model, tokenizer, ["tres uno", "dos cuatro"]) == [
        "three one",
        "two four",
    ]
    assert "epoch 12 of 12" in capsys.readouterr().out
    second = marian.train_model(recipe, tokenizer, pairs)
    assert all(a.equal(b) for a, b in zip(model.parameters(), second.parameters(), strict=True))
    assert (tmp_path / "model.safetensors").exists()

"""The papers' experiments, on small models and few texts."""

import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import normviz
from normviz import analyze, studies
from normviz.errors import BadInput, ModelNotFound, TextTooLong, UnknownKeyword
from normviz.model.loading import LoadedModel, load_model
from normviz.studies import mixing_ratios

TEXTS = [
    "The quick brown fox slept until noon, and nobody woke it.",
    ("A cat sat on the mat.", "It had been there for years, and it knew every thread of it."),
    "Most rivers of the island rise in its mountains and flow to the south.",
]


@pytest.fixture(scope="module")
def mixed(demo):
    model, tokenizer = demo
    return studies.mixing(model, TEXTS, tokenizer=tokenizer)


def test_a_trained_model_mixes_in_the_papers_order(mixed):
    mean = {name: ratio.mean for name, ratio in mixed.ratios.items()}
    assert list(mean) == ["ATTN-W", "ATTN-N", "ATTNRES-W", "ATTNRES-N", "ATTNRESLN-N"]
    assert list(mean.values()) == sorted(mean.values(), reverse=True)
    assert mean["ATTNRES-W"] == pytest.approx(mean["ATTN-W"] / 2)
    for ratio in mixed.ratios.values():
        assert 0 <= ratio.min < ratio.mean < ratio.max <= 1


def test_every_token_of_every_layer_counts_once(demo):
    model, tokenizer = demo
    whole = studies.mixing(model, TEXTS, tokenizer=tokenizer, masked=0)
    assert whole.masked == 0
    found = []
    for text in TEXTS:
        one, pair = (text, None) if isinstance(text, str) else text
        flow = analyze(
            model, one, pair=pair, tokenizer=tokenizer, measures=["attention", "attention-residual"]
        )
        found.append(flow.mixing("attention-residual").ravel())
    ratios = np.concatenate(found)
    assert whole.tokens * 6 == len(ratios)
    ratio = whole.ratios["ATTNRES-N"]
    assert ratio.mean == pytest.approx(ratios.mean(), abs=1e-5)
    assert ratio.max == pytest.approx(ratios.max(), abs=1e-5)
    assert ratio.min == pytest.approx(ratios.min(), abs=1e-5)


def test_twelve_per_cent_are_masked_and_the_same_ones_again(demo):
    _, tokenizer = demo
    loaded = LoadedModel(*demo, "demo")
    text = " ".join(["river"] * 50)
    first, count = mixing_ratios._mask_tokens(loaded, text, 0.12, 128, random.Random(0))
    second, _ = mixing_ratios._mask_tokens(loaded, text, 0.12, 128, random.Random(0))
    other, _ = mixing_ratios._mask_tokens(loaded, text, 0.12, 128, random.Random(1))
    ids = first["input_ids"][0].tolist()
    assert count == 6
    assert ids.count(tokenizer.mask_token_id) == 6
    assert ids[0] == tokenizer.cls_token_id
    assert ids[-1] == tokenizer.sep_token_id
    assert ids == second["input_ids"][0].tolist()
    assert ids != other["input_ids"][0].tolist()
    expected = sorted(random.Random(0).sample(list(range(1, 51)), 6))
    assert [n for n, one in enumerate(ids) if one == tokenizer.mask_token_id] == expected
    _, one = mixing_ratios._mask_tokens(loaded, "Yes.", 0.12, 128, random.Random(0))
    assert one == 1
    _, none = mixing_ratios._mask_tokens(loaded, "", 0.12, 128, random.Random(0))
    assert none == 0


def test_long_texts_are_truncated(demo):
    model, tokenizer = demo
    found = studies.mixing(model, [" ".join(["river"] * 300)], tokenizer=tokenizer, max_tokens=16)
    assert found.tokens == 16
    long = [" ".join(["river"] * 600)]
    assert studies.mixing(model, long, tokenizer=tokenizer, max_tokens="model").tokens == 512
    with pytest.raises(TextTooLong, match=r"602 tokens.*512"):
        studies.mixing(model, long, tokenizer=tokenizer, max_tokens=None)


def test_the_table_reads_like_the_papers(mixed):
    lines = str(mixed).splitlines()
    assert "3 texts" in lines[0]
    assert lines[1].split() == ["mixing", "ratio,", "%", "mean", "max", "min"]
    assert [line.split()[0] for line in lines[2:]] == list(mixed.ratios)
    assert lines[2].split()[1] == f"{100 * mixed.ratios['ATTN-W'].mean:.1f}"
    table = mixed.to_dataframe()
    assert list(table.columns) == ["ratio", "mean", "max", "min"]
    assert table["mean"].tolist() == [ratio.mean for ratio in mixed.ratios.values()]
    with pytest.raises(TypeError):
        mixed.ratios["ATTN-W"] = None


def test_swapped_arguments_and_unknown_keywords_are_refused(demo):
    model, tokenizer = demo
    with pytest.raises(BadInput, match=r"The model is a list.*Write mixing\(model, texts, "):
        studies.mixing(TEXTS, model)
    with pytest.raises(BadInput, match="The texts are a BertTokenizer"):
        studies.mixing(model, tokenizer)
    with pytest.raises(BadInput, match="The model is a BertTokenizer"):
        studies.mixing(tokenizer, TEXTS)
    with pytest.raises(BadInput, match="tokenizer is a list"):
        studies.mixing(model, TEXTS, tokenizer=TEXTS)
    with pytest.raises(BadInput, match="max_tokens is 'all'"):
        studies.mixing(model, TEXTS, tokenizer=tokenizer, max_tokens="all")
    with pytest.raises(UnknownKeyword, match="Write max_tokens=… instead"):
        studies.mixing(model, TEXTS, tokenizer=tokenizer, max_token=16)


def test_bad_arguments_are_refused(demo, smollm2, tiny):
    model, tokenizer = demo
    with pytest.raises(BadInput, match="The texts are one string"):
        studies.mixing(model, "A cat.", tokenizer=tokenizer)
    for share in (12, -0.1, float("nan"), "12%"):
        with pytest.raises(BadInput, match="from 0 to 1"):
            studies.mixing(model, ["A cat."], tokenizer=tokenizer, masked=share)
    with pytest.raises(BadInput, match="There are no texts"):
        studies.mixing(model, [], tokenizer=tokenizer)
    with pytest.raises(BadInput, match=r"no tokenizer.*Give tokenizer="):
        studies.mixing(tiny("bert"), ["A cat."])
    with pytest.raises(BadInput, match=r"has no mask.*masked=0"):
        studies.mixing(smollm2[0], ["A cat."], tokenizer=smollm2[1])


def test_a_model_without_a_mask_can_be_studied_whole(smollm2):
    found = studies.mixing(smollm2[0], ["A cat sat."], tokenizer=smollm2[1], masked=0)
    assert found.ratios["ATTNRES-N"] == found.ratios["ATTNRESLN-N"]  # no norm stands between them


def test_studies_are_imported_only_when_used():
    code = """
import sys, normviz
assert "normviz.studies" not in sys.modules and "torch" not in sys.modules
assert callable(normviz.studies.mixing) and callable(normviz.rollout)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    assert normviz.studies is studies


def segments(path, count=992):
    """Two paragraphs at a time, without headings."""
    lines = [line.strip() for line in Path(path).read_text(encoding="utf-8").splitlines()]
    paragraphs = [line for line in lines if line and not line.startswith("=")]
    return list(zip(paragraphs[::2], paragraphs[1::2], strict=False))[:count]


def test_the_published_ratios_come_out_on_the_papers_model():
    text = os.environ.get("NORMVIZ_WIKIPEDIA")
    if text is None:
        pytest.skip("NORMVIZ_WIKIPEDIA names no file of Wikipedia text")
    try:
        loaded = load_model("bert-base-uncased")
    except ModelNotFound:
        pytest.skip("bert-base-uncased cannot be loaded here")
    found = studies.mixing(loaded.model, segments(text), tokenizer=loaded.tokenizer)
    published = {"ATTN-N": 85.2, "ATTNRES-N": 22.3, "ATTNRESLN-N": 18.8}
    for name, percent in published.items():
        assert 100 * found.ratios[name].mean == pytest.approx(percent, abs=1), found

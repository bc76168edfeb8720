"""Tiny translation models with tokenizers of their families, for tests of alignment."""

import json
from functools import cache
from pathlib import Path
from string import ascii_lowercase
from tempfile import mkdtemp
from typing import Any

import torch
import transformers

SOURCES = ["los gatos duermen .", "ella come", "no veo los gatos"]
TARGETS = ["the cats sleep .", "she eats", "i do not see the cats"]
PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", *ascii_lowercase, ".", ":", "os", "▁l"]
SIZES = {
    "vocab_size": 256,
    "d_model": 16,
    "encoder_layers": 1,
    "decoder_layers": 2,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 24,
    "decoder_ffn_dim": 24,
    "max_position_embeddings": 48,
    "init_std": 0.5,
    "bos_token_id": 0,
    "pad_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 2,
    "forced_eos_token_id": None,
}
T5_SIZES = {
    "vocab_size": 256,
    "d_model": 16,
    "d_kv": 8,
    "d_ff": 24,
    "num_layers": 1,
    "num_decoder_layers": 2,
    "num_heads": 2,
    "pad_token_id": 0,
    "eos_token_id": 1,
    "decoder_start_token_id": 0,
}


def _with_scores(pieces: list[str], special: int) -> list[tuple[str, float]]:
    return [(piece, 0.0 if at < special else -float(at)) for at, piece in enumerate(pieces)]


def _unigram() -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

    tokenizer = Tokenizer(models.Unigram(_with_scores(PIECES, 4), unk_id=3))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        "$A </s>", special_tokens=[("</s>", 2)]
    )
    names = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)


def _mbart() -> Any:
    return transformers.MBartTokenizer(
        vocab=_with_scores(PIECES, 4), src_lang="es_XX", tgt_lang="en_XX"
    )


def _nllb() -> Any:
    vocabulary = {piece: at for at, piece in enumerate(PIECES)}
    merges = [("▁", "l"), ("o", "s")]
    languages = {"src_lang": "spa_Latn", "tgt_lang": "eng_Latn"}
    return transformers.NllbTokenizer(vocab=vocabulary, merges=merges, **languages)


def _opus() -> Any:
    """Return Marian's tokenizer: a SentencePiece model for each language, one vocabulary."""
    import sentencepiece

    folder = Path(mkdtemp())
    names = {"</s>": 0, "<pad>": 1, "<unk>": 2}
    for language, texts in (("source", SOURCES), ("target", TARGETS)):
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(texts * 4), model_prefix=str(folder / language), vocab_size=30,
            bos_id=-1, eos_id=0, unk_id=1, hard_vocab_limit=False, minloglevel=2,
        )  # fmt: skip
        pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / f"{language}.model"))
        for number in range(pieces.get_piece_size()):
            names.setdefault(pieces.id_to_piece(number), len(names))
    (folder / "vocab.json").write_text(json.dumps(names))
    files = {
        f"{language}_spm": str(folder / f"{language}.model") for language in ("source", "target")
    }
    return transformers.MarianTokenizer(vocab=str(folder / "vocab.json"), **files)


def _t5() -> Any:
    pieces = ["<pad>", "</s>", "<unk>", *PIECES[4:]]
    return transformers.T5Tokenizer(vocab=_with_scores(pieces, 3), extra_ids=0)


OPUS = {**SIZES, "eos_token_id": 0, "decoder_start_token_id": 1}
KINDS = {
    "opus": (transformers.MarianMTModel, OPUS, _opus),
    "marian": (transformers.MarianMTModel, SIZES, _unigram),
    "bart": (transformers.BartForConditionalGeneration, SIZES, _unigram),
    "mbart": (transformers.MBartForConditionalGeneration, SIZES, _mbart),
    "m2m_100": (transformers.M2M100ForConditionalGeneration, SIZES, _nllb),
    "t5": (transformers.T5ForConditionalGeneration, T5_SIZES, _t5),
}


@cache
def translator(kind: str) -> tuple[Any, Any]:
    """Return a random model of this kind and its tokenizer; built once."""
    model, sizes, tokenizer = KINDS[kind]
    torch.manual_seed(0)
    return model(model.config_class(**sizes)).eval(), tokenizer()

"""A small translation model of the Marian architecture, trained on pairs of sentences."""

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import torch
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from tokenizers.trainers import BpeTrainer
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import MarianConfig, MarianMTModel, PreTrainedTokenizerFast

Texts = Sequence[tuple[str, str]]
"""Sentences to translate, each with its translation."""
WORD = r"[\p{L}\p{M}\p{N}]+(?:['’\-][\p{L}\p{M}\p{N}]+)*|[^\s\p{L}\p{M}\p{N}]"
"""A word is a run of letters and digits, which apostrophes and hyphens may join; or one sign."""
PAD, END, UNKNOWN = "<pad>", "</s>", "<unk>"
IGNORED = -100


@dataclass(frozen=True)
class Recipe:
    """How large a model is, and how it is trained."""

    width: int = 256
    inner: int = 512
    heads: int = 4
    encoder_layers: int = 3
    decoder_layers: int = 4
    vocabulary: int = 4000
    dropout: float = 0.1
    smoothing: float = 0.1
    rate: float = 1.2e-3
    warmup: int = 600
    epochs: int = 9
    tokens: int = 2500
    """How many tokens of either side a batch may hold, padding included."""
    precision: str = "float32"
    """What products are computed in; `bfloat16` is quicker on processors that have it."""
    seed: int = 0


def tokenizer_of(texts: Texts, size: int) -> PreTrainedTokenizerFast:
    """Byte-pair pieces that both languages share; no piece reaches over the edge of a word.

    Spaces only part words, so that `Hola.` and `Hola .` are the same to the model.
    """
    tokenizer = Tokenizer(models.BPE(unk_token=UNKNOWN))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(WORD), "removed", invert=True),
            pre_tokenizers.Metaspace(prepend_scheme="always"),
        ]
    )
    trainer = BpeTrainer(
        vocab_size=size, special_tokens=[PAD, END, UNKNOWN], show_progress=False, min_frequency=2
    )
    tokenizer.train_from_iterator((side for pair in texts for side in pair), trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"$A {END}", special_tokens=[(END, tokenizer.token_to_id(END))]
    )
    together = [decoders.Metaspace(), decoders.Fuse()]
    closed = [decoders.Replace(f" {sign}", sign) for sign in ".,;:!?%"]
    opened = [decoders.Replace(f"{sign} ", sign) for sign in "¿¡"]
    tokenizer.decoder = decoders.Sequence(together + closed + opened)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=128,
        model_input_names=["input_ids", "attention_mask"],
        pad_token=PAD,
        eos_token=END,
        unk_token=UNKNOWN,
    )


def model_of(recipe: Recipe, tokenizer: PreTrainedTokenizerFast) -> MarianMTModel:
    """The model before it has learned anything; its embeddings serve three times."""
    torch.manual_seed(recipe.seed)
    pad, end = tokenizer.pad_token_id, tokenizer.eos_token_id
    config = MarianConfig(
        vocab_size=len(tokenizer),
        d_model=recipe.width,
        encoder_layers=recipe.encoder_layers,
        decoder_layers=recipe.decoder_layers,
        encoder_attention_heads=recipe.heads,
        decoder_attention_heads=recipe.heads,
        encoder_ffn_dim=recipe.inner,
        decoder_ffn_dim=recipe.inner,
        max_position_embeddings=128,
        dropout=recipe.dropout,
        activation_function="swish",
        scale_embedding=True,
        pad_token_id=pad,
        eos_token_id=end,
        forced_eos_token_id=end,
        decoder_start_token_id=pad,
        bos_token_id=None,
        tie_word_embeddings=True,
        share_encoder_decoder_embeddings=True,
        init_std=recipe.width**-0.5,
    )
    return MarianMTModel(config)


Ids = tuple[list[int], list[int]]


def batches(ids: Sequence[Ids], most: int, draw: random.Random) -> Iterator[list[Ids]]:
    """Pairs of about the same length together, in an order that is new each time."""
    order = sorted(ids, key=lambda pair: (max(map(len, pair)), draw.random()))
    found: list[list[Ids]] = [[]]
    for pair in order:
        if (len(found[-1]) + 1) * max(map(len, pair)) > most:
            found.append([])
        found[-1].append(pair)
    draw.shuffle(found)
    yield from found


def padded(rows: Sequence[Sequence[int]], fill: int) -> Tensor:
    """Rows of different lengths as one tensor."""
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[fill] * (longest - len(row))] for row in rows])


def loss_of(model: MarianMTModel, batch: Sequence[Ids], smoothing: float) -> Tensor:
    """How surprised the model is by the translations, in nats for each token."""
    pad = model.config.pad_token_id
    source = padded([source for source, _ in batch], pad)
    target = padded([target for _, target in batch], IGNORED)
    start = torch.full((len(batch), 1), model.config.decoder_start_token_id)
    given = torch.cat([start, target[:, :-1].masked_fill(target[:, :-1] == IGNORED, pad)], dim=1)
    logits = model(
        input_ids=source, attention_mask=(source != pad).long(), decoder_input_ids=given
    ).logits
    return cross_entropy(
        logits.flatten(0, 1), target.flatten(), ignore_index=IGNORED, label_smoothing=smoothing
    )


def encoded(tokenizer: PreTrainedTokenizerFast, texts: Texts) -> list[Ids]:
    """Sentences and translations as numbers, each with its end."""
    sources, targets = (tokenizer(list(side))["input_ids"] for side in zip(*texts, strict=True))
    return list(zip(sources, targets, strict=True))


def trained(
    recipe: Recipe,
    tokenizer: PreTrainedTokenizerFast,
    texts: Texts,
    watched: Texts = (),
    into: Path | None = None,
) -> MarianMTModel:
    """A model that has read the texts `recipe.epochs` times, kept after each of them.

    Prints how far it has come, and how it does on texts it is watched by.
    """
    model = model_of(recipe, tokenizer)
    ids, held_out = encoded(tokenizer, texts), encoded(tokenizer, watched) if watched else []
    draw = random.Random(recipe.seed)  # noqa: S311 (no secret)
    steps = recipe.epochs * sum(1 for _ in batches(ids, recipe.tokens, random.Random(0)))  # noqa: S311
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=recipe.rate, betas=(0.9, 0.98), weight_decay=0.01
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: _rate(step + 1, recipe.warmup, steps)
    )
    began, step = perf_counter(), 0
    quicker = recipe.precision != "float32"
    for epoch in range(recipe.epochs):
        model.train()
        heard = []
        for batch in batches(ids, recipe.tokens, draw):
            with torch.autocast("cpu", getattr(torch, recipe.precision), enabled=quicker):
                loss = loss_of(model, batch, recipe.smoothing)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            schedule.step()
            heard.append(loss.item())
            step += 1
        said = f"epoch {epoch + 1} of {recipe.epochs}: {sum(heard) / len(heard):.3f} in training"
        if held_out:
            said += f", {surprise(model, held_out):.3f} nats held out"
        print(f"{said}, step {step}, {(perf_counter() - began) / 60:.1f} min", flush=True)
        if into is not None:
            save(model, tokenizer, into)
    return model.eval()


def save(model: MarianMTModel, tokenizer: PreTrainedTokenizerFast, into: Path) -> None:
    """Write a model in half precision, to be computed with in single."""
    tensors = model.state_dict()
    # The embeddings go by several names and are written once: their halves must be one tensor too.
    halves = {tensor.data_ptr(): tensor.half() for tensor in tensors.values()}
    shared = {name: halves[tensor.data_ptr()] for name, tensor in tensors.items()}
    model.save_pretrained(into, state_dict=shared)
    tokenizer.save_pretrained(into)


def _rate(step: int, warmup: int, steps: int) -> float:
    """The learning rate's share: a straight climb, then half a wave down to nothing."""
    if step <= warmup:
        return step / warmup
    return 0.5 * (1 + math.cos(math.pi * min(1.0, (step - warmup) / max(1, steps - warmup))))


@torch.inference_mode()
def surprise(model: MarianMTModel, ids: Sequence[Ids]) -> float:
    """Nats for each token of translations the model has not seen."""
    model.eval()
    total = count = 0.0
    for batch in batches(ids, 4000, random.Random(0)):  # noqa: S311 (no secret)
        tokens = sum(len(target) for _, target in batch)
        total += loss_of(model, batch, 0.0).item() * tokens
        count += tokens
    return total / count


@torch.inference_mode()
def translations(
    model: MarianMTModel,
    tokenizer: PreTrainedTokenizerFast,
    sentences: Sequence[str],
    beams: int = 4,
) -> list[str]:
    """What the model makes of sentences, by beam search."""
    model.eval()
    found: list[str] = []
    for start in range(0, len(sentences), 50):
        given = tokenizer(list(sentences[start : start + 50]), padding=True, return_tensors="pt")
        written = model.generate(
            input_ids=given["input_ids"],
            attention_mask=given["attention_mask"],
            num_beams=beams,
            max_new_tokens=60,
        )
        found += tokenizer.batch_decode(written, skip_special_tokens=True)
    return found

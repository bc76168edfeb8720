"""Train a small translation model of the Marian architecture on sentence pairs."""

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
"""Pairs of a source sentence and its translation."""
WORD = r"[\p{L}\p{M}\p{N}]+(?:['’\-][\p{L}\p{M}\p{N}]+)*|[^\s\p{L}\p{M}\p{N}]"
"""A word: a run of letters and digits, joined by apostrophes or hyphens, or a single sign."""
PAD, END, UNKNOWN = "<pad>", "</s>", "<unk>"
IGNORED = -100


@dataclass(frozen=True)
class Recipe:
    """The size of a model and the settings of its training."""

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
    """The most source tokens, or target tokens, in a batch, including padding."""
    precision: str = "float32"
    """The dtype of matrix products; `bfloat16` is faster on processors that support it."""
    seed: int = 0


def train_tokenizer(texts: Texts, size: int) -> PreTrainedTokenizerFast:
    """Train a byte-pair tokenizer for both languages, whose pieces never cross word boundaries.

    Spaces only separate words, so that `Hola.` and `Hola .` are the same to the model.
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
    tokenizer.train_from_iterator((text for pair in texts for text in pair), trainer)
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


def build_model(recipe: Recipe, tokenizer: PreTrainedTokenizerFast) -> MarianMTModel:
    """Build an untrained model whose three embedding matrices are tied."""
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


def iterate_batches(ids: Sequence[Ids], max_tokens: int, rng: random.Random) -> Iterator[list[Ids]]:
    """Yield batches of pairs of similar length, in a new random order each time."""
    order = sorted(ids, key=lambda pair: (max(map(len, pair)), rng.random()))
    batches: list[list[Ids]] = [[]]
    for pair in order:
        if (len(batches[-1]) + 1) * max(map(len, pair)) > max_tokens:
            batches.append([])
        batches[-1].append(pair)
    rng.shuffle(batches)
    yield from batches


def pad_rows(rows: Sequence[Sequence[int]], fill: int) -> Tensor:
    """Pad rows of different lengths to one tensor."""
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[fill] * (longest - len(row))] for row in rows])


def compute_loss(model: MarianMTModel, batch: Sequence[Ids], smoothing: float) -> Tensor:
    """Return the cross-entropy of the translations, in nats per token."""
    pad = model.config.pad_token_id
    source = pad_rows([source for source, _ in batch], pad)
    target = pad_rows([target for _, target in batch], IGNORED)
    start = torch.full((len(batch), 1), model.config.decoder_start_token_id)
    previous = target[:, :-1].masked_fill(target[:, :-1] == IGNORED, pad)
    decoder_ids = torch.cat([start, previous], dim=1)
    logits = model(
        input_ids=source, attention_mask=(source != pad).long(), decoder_input_ids=decoder_ids
    ).logits
    return cross_entropy(
        logits.flatten(0, 1), target.flatten(), ignore_index=IGNORED, label_smoothing=smoothing
    )


def encode_pairs(tokenizer: PreTrainedTokenizerFast, texts: Texts) -> list[Ids]:
    """Return the token ids of sentences and translations, each with an end token."""
    sources, targets = (tokenizer(list(column))["input_ids"] for column in zip(*texts, strict=True))
    return list(zip(sources, targets, strict=True))


def train_model(
    recipe: Recipe,
    tokenizer: PreTrainedTokenizerFast,
    texts: Texts,
    validation: Texts = (),
    folder: Path | None = None,
) -> MarianMTModel:
    """Train a model for `recipe.epochs` epochs, and save it after each if there is a folder.

    Prints the progress and the loss on the validation texts.
    """
    model = build_model(recipe, tokenizer)
    ids = encode_pairs(tokenizer, texts)
    held_out = encode_pairs(tokenizer, validation) if validation else []
    rng = random.Random(recipe.seed)  # noqa: S311 (no secret)
    steps = recipe.epochs * sum(1 for _ in iterate_batches(ids, recipe.tokens, random.Random(0)))  # noqa: S311
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=recipe.rate, betas=(0.9, 0.98), weight_decay=0.01
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: _rate(step + 1, recipe.warmup, steps)
    )
    start, step = perf_counter(), 0
    autocast = recipe.precision != "float32"
    for epoch in range(recipe.epochs):
        model.train()
        losses = []
        for batch in iterate_batches(ids, recipe.tokens, rng):
            with torch.autocast("cpu", getattr(torch, recipe.precision), enabled=autocast):
                loss = compute_loss(model, batch, recipe.smoothing)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            schedule.step()
            losses.append(loss.item())
            step += 1
        mean = sum(losses) / len(losses)
        message = f"epoch {epoch + 1} of {recipe.epochs}: {mean:.3f} in training"
        if held_out:
            message += f", {held_out_loss(model, held_out):.3f} nats held out"
        print(f"{message}, step {step}, {(perf_counter() - start) / 60:.1f} min", flush=True)
        if folder is not None:
            save(model, tokenizer, folder)
    return model.eval()


def save(model: MarianMTModel, tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """Save a model in half precision; it is loaded in single precision."""
    tensors = model.state_dict()
    # Tied embeddings have several names and are saved once, so their halves must be one tensor too.
    halves = {tensor.data_ptr(): tensor.half() for tensor in tensors.values()}
    shared = {name: halves[tensor.data_ptr()] for name, tensor in tensors.items()}
    model.save_pretrained(folder, state_dict=shared)
    tokenizer.save_pretrained(folder)


def _rate(step: int, warmup: int, steps: int) -> float:
    """Return the learning rate factor: linear warmup, then cosine decay to zero."""
    if step <= warmup:
        return step / warmup
    return 0.5 * (1 + math.cos(math.pi * min(1.0, (step - warmup) / max(1, steps - warmup))))


@torch.inference_mode()
def held_out_loss(model: MarianMTModel, ids: Sequence[Ids]) -> float:
    """Return the cross-entropy of unseen translations, in nats per token."""
    model.eval()
    total = count = 0.0
    for batch in iterate_batches(ids, 4000, random.Random(0)):  # noqa: S311 (no secret)
        tokens = sum(len(target) for _, target in batch)
        total += compute_loss(model, batch, 0.0).item() * tokens
        count += tokens
    return total / count


@torch.inference_mode()
def translate(
    model: MarianMTModel,
    tokenizer: PreTrainedTokenizerFast,
    sentences: Sequence[str],
    beams: int = 4,
) -> list[str]:
    """Translate sentences by beam search."""
    model.eval()
    translations: list[str] = []
    for start in range(0, len(sentences), 50):
        inputs = tokenizer(list(sentences[start : start + 50]), padding=True, return_tensors="pt")
        generated = model.generate(
            input_ids=inputs["input_ids"],
            attention_mask=inputs["attention_mask"],
            num_beams=beams,
            max_new_tokens=60,
        )
        translations += tokenizer.batch_decode(generated, skip_special_tokens=True)
    return translations

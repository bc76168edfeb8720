"""The public entry: a model and a text in, a flow out."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

import torch

from normviz.core.catalog import DEFAULT
from normviz.core.flow import Flow
from normviz.core.gradients import Gradients
from normviz.core.keywords import refuse_unknown_keywords
from normviz.errors import BadInput
from normviz.model.batches import batched
from normviz.model.capture.patching import eval_mode
from normviz.model.decompose.tape import BiasHandling
from normviz.model.inputs import (
    ModelInputs,
    from_inputs,
    from_texts,
    has_encoder,
    needs_decoder_input,
)
from normviz.model.limits import MaxTokens, require_max_tokens
from normviz.model.loading import LoadedModel, load_model
from normviz.model.measures.effective import EffectiveForm
from normviz.model.options import Measures, Options
from normviz.model.run import run_batch
from normviz.model.targets import with_continuation, with_generation, with_target
from normviz.model.types import Model, Tokenizer


# `Measures` is quoted so that `help` shows its name instead of every id.
@refuse_unknown_keywords
def analyze(
    model: Model,
    text: str | None = None,
    *,
    tokenizer: Tokenizer | str | Path | None = None,
    pair: str | None = None,
    target: str | None = None,
    generate: int = 0,
    inputs: Mapping[str, Any] | None = None,
    measures: "Measures" = DEFAULT,
    layers: Collection[int] | None = None,
    heads: Collection[int] | None = None,
    gradients: Gradients | None = None,
    dtype: str | torch.dtype | None = None,
    max_tokens: MaxTokens | None = None,
    memory: float | None = None,
    bias_handling: BiasHandling = "source",
    effective_form: EffectiveForm = "bias",
) -> Flow:
    """Run a model on a text, and measure what its attention moves.

        flow = normviz.analyze("demo", "The cat sat on the mat.")

    Parameters
    ----------
    model
        A transformers model, its name, a folder, `"demo"` (a trained BERT), `"demo-decoder"` (a
        trained Llama) or `"demo-translator"` (a small Marian from Spanish to English). A model
        object is left exactly as it was.
    text
        The text that the model reads.
    tokenizer
        The model's tokenizer, or its name. Not needed where the model is named, or is an object
        that knows where it was loaded from.
    pair
        A second text, for models that read pairs.
    target
        What the model is assumed to have written: the translation for an encoder–decoder, the
        continuation for a language model.
    generate
        How many tokens the model writes itself (greedily), instead of `target`.
    inputs
        Ready model inputs of any modality, instead of `text`; no tokenizer is required.
    measures
        Ids from `normviz.MEASURES`, or `"all"`. The default four cost next to nothing; the rungs
        of the ladder from `feed-forward` on cost about as many passes as there are tokens.
        Derived measures such as `rollout:layer-output` bring what they are derived from. `"all"`
        leaves out what takes minutes: `attention-flow`, the attributions by gradient (as many
        passes as there are tokens times the width of the model, or `samples`) and
        `value-zeroing-output`.
    layers, heads
        Which layers and heads to keep, numbered from 0; all by default.
    gradients
        `normviz.Gradients(...)`: how the attributions by gradient are computed. Its `rows` also
        applies to value zeroing.
    dtype
        The precision to run in, such as `"float64"`.
    max_tokens
        Cut a longer text after this many tokens, or with `"model"` at what the model takes. By
        default a text that is too long for the model is refused.
    memory
        How many bytes the vectors of the ladder, of `decomposition` and of the attributions may
        take; by default a share of what is free.
    bias_handling
        Which token a bias belongs to, in the ladder and in `decomposition`. What an attention reads
        at a position, f(x), belongs to the token there with the biases in it, above all the value
        bias; every other bias belongs to no token, in sequential and in parallel blocks. Inside an
        activation it is a `"source"` beside the tokens, whose part grows and shrinks like theirs,
        or a `"constant"`, so that only tokens are followed. `"bias-token"` is `"source"`, except
        that from the second layer of `decomposition` on value biases belong to no token either
        (DecompX with a bias token). `"decompx"` shares every bias out among the tokens by
        |⟨part, bias⟩|, as DecompX does by default; it holds the vectors of all pairs of tokens at
        once, whatever `memory` says. All four add up.
    effective_form
        What `effective-weight` removes from α (Brunner et al. 2020): `"bias"`, everything that
        cannot reach the head's output, given the model's own values; `"paper"`, the same for the
        values without their bias, so that the real output may change; `"stochastic"`, only as
        much as leaves each row its sum.

    Returns
    -------
    Flow
        The measures, the tokens and a receipt.

    Raises
    ------
    NormvizError
        Says what was found, what was expected and what to do.
    """
    options = Options.from_user(
        measures,
        layers,
        heads,
        memory=memory,
        bias_handling=bias_handling,
        effective_form=effective_form,
        gradients=gradients,
    )
    _require_text_or_inputs(text, inputs)
    _require_string(pair, "pair")
    _require_string(target, "target")
    require_max_tokens(max_tokens)
    _refuse_with_inputs(inputs, pair=pair, max_tokens=max_tokens)
    reads_text = inputs is None or target is not None
    loaded = load_model(model, tokenizer, dtype=dtype, needs_tokenizer=reads_text)
    if inputs is not None:
        prepared = from_inputs(loaded.model, loaded.tokenizer, inputs)
    else:
        prepared = _encode(loaded, str(text), pair, max_tokens)
    return _run_one(loaded, _with_written_text(prepared, target, generate), options)


@refuse_unknown_keywords
def analyze_many(
    model: Model,
    texts: Iterable[str],
    *,
    tokenizer: Tokenizer | str | Path | None = None,
    targets: Iterable[str] | None = None,
    batch_size: int = 8,
    measures: "Measures" = DEFAULT,
    layers: Collection[int] | None = None,
    heads: Collection[int] | None = None,
    gradients: Gradients | None = None,
    dtype: str | torch.dtype | None = None,
    max_tokens: MaxTokens | None = None,
    memory: float | None = None,
    bias_handling: BiasHandling = "source",
    effective_form: EffectiveForm = "bias",
) -> Iterator[Flow]:
    """Analyze texts in padded batches; yields one flow for each, in order, without padding.

    Parameters
    ----------
    model, tokenizer
        As for `analyze`.
    texts
        Any iterable of strings; it is read as the flows are asked for.
    targets
        For an encoder–decoder: a translation of each text, in the same order.
    batch_size
        How many texts are run together; measures that follow tokens through the layers run them
        one by one.
    measures, layers, heads, gradients, dtype, max_tokens, memory, bias_handling, effective_form
        As for `analyze`.

    Returns
    -------
    Iterator[Flow]
        One flow for each text.
    """
    options = Options.from_user(
        measures,
        layers,
        heads,
        memory=memory,
        bias_handling=bias_handling,
        effective_form=effective_form,
        gradients=gradients,
    )
    _require_iterable(texts, "texts")
    if targets is not None:
        _require_iterable(targets, "targets")
    require_max_tokens(max_tokens)
    if not isinstance(batch_size, int) or batch_size < 1:
        raise BadInput(
            f"batch_size is {batch_size!r}.",
            "Expected a whole number of at least 1.",
            "Write batch_size=8.",
        )
    loaded = load_model(model, tokenizer, dtype=dtype)
    pairs = _with_targets(loaded, texts, targets)
    size = 1 if options.one_by_one else batch_size
    return _run_batches(loaded, pairs, size, options, max_tokens)


@refuse_unknown_keywords
def check(
    model: Model,
    *,
    tokenizer: Tokenizer | str | Path | None = None,
    measures: "Measures" = DEFAULT,
) -> Flow:
    """Analyze a short text (and a target, for an encoder–decoder), for its receipt.

    Parameters
    ----------
    model, tokenizer
        As for `analyze`.
    measures
        What to check: by default attention alone; `"all"` also checks the ladder.

    Returns
    -------
    Flow
        A flow whose `receipt` says whether the parts add up to the model's own numbers.
    """
    options = Options.from_user(measures)
    loaded = load_model(model, tokenizer)
    prepared = _encode(loaded, "The quick brown fox jumps over the lazy dog.", None, None)
    target = "It runs." if has_encoder(loaded.model) else None
    return _run_one(loaded, _with_written_text(prepared, target, 0), options)


def _run_one(loaded: LoadedModel, prepared: ModelInputs, options: Options) -> Flow:
    if prepared.batch != 1:
        raise BadInput(
            f"The inputs hold {prepared.batch} sequences.",
            "analyze takes one.",
            "Use normviz.analyze_many for several.",
        )
    return next(run_batch(loaded, prepared, options))


def _run_batches(
    loaded: LoadedModel,
    pairs: Iterator[tuple[str, str | None]],
    size: int,
    options: Options,
    max_tokens: MaxTokens | None,
) -> Iterator[Flow]:
    """Yield the flow of each text, titled by the text and its target."""
    for batch in batched(pairs, size):
        texts = [text for text, _ in batch]
        targets = [target for _, target in batch if target is not None]
        prepared = from_texts(loaded.model, loaded.tokenizer, texts, max_tokens=max_tokens)
        if targets:
            prepared = with_target(prepared, targets)
        for flow, (text, target) in zip(run_batch(loaded, prepared, options), batch, strict=True):
            yield Flow(flow.streams, flow.receipt, f"{text} → {target}" if target else text)


def _with_targets(
    loaded: LoadedModel, texts: Iterable[Any], targets: Iterable[Any] | None
) -> Iterator[tuple[str, str | None]]:
    """Return each text with its target, or with None where the model takes no targets."""
    if has_encoder(loaded.model) != (targets is not None):
        found = "is an encoder–decoder, and there are no" if targets is None else "has no use for"
        raise BadInput(
            f"{loaded.name} {found} targets.",
            "An encoder–decoder needs a target for each text; other models have none.",
            "Give targets=…, one for each text." if targets is None else "Leave targets out.",
        )
    return _zip_targets(texts, targets)


def _zip_targets(
    texts: Iterable[Any], targets: Iterable[Any] | None
) -> Iterator[tuple[str, str | None]]:
    """Yield each text with its target; refuse whatever is not a string."""
    if targets is None:
        for text in texts:
            _require_string(text, "text")
            yield text, None
        return
    for text, target in zip_longest(texts, targets):
        if text is None or target is None:
            raise BadInput(
                "There are fewer texts than targets."
                if text is None
                else "There are fewer targets than texts.",
                "Every text needs a target of its own.",
                "Give as many targets as texts, in the same order.",
            )
        _require_string(text, "text")
        _require_string(target, "target")
        yield text, target


def _encode(
    loaded: LoadedModel, text: str, pair: str | None, max_tokens: MaxTokens | None
) -> ModelInputs:
    pairs = None if pair is None else [pair]
    return from_texts(loaded.model, loaded.tokenizer, [text], pairs, max_tokens=max_tokens)


def _with_written_text(prepared: ModelInputs, target: str | None, generate: int) -> ModelInputs:
    """Return the inputs with the text that the model writes, given or generated."""
    if target is not None and generate:
        raise BadInput(
            "Both target and generate are given.",
            "The text the model has written is either given or generated.",
            "Give one of the two.",
        )
    if generate:
        with eval_mode(list(prepared.model.modules())):
            return with_generation(prepared, generate)
    if target is None:
        if needs_decoder_input(prepared):
            raise BadInput(
                "This model is an encoder–decoder, and there is nothing for its decoder.",
                "The decoder needs a text of its own.",
                "Give target=… (its translation), or generate=… (how many tokens to write).",
            )
        return prepared
    if has_encoder(prepared.model):
        return with_target(prepared, [target])
    return with_continuation(prepared, target)


def _require_text_or_inputs(text: Any, inputs: Any) -> None:
    """Refuse anything but one string, or ready inputs instead of it."""
    if isinstance(text, Tokenizer):
        raise BadInput(
            "The second argument is a tokenizer.",
            "The second argument is the text; the tokenizer is a keyword.",
            "Write analyze(model, text, tokenizer=tokenizer).",
        )
    if isinstance(text, Mapping):
        raise BadInput(
            f"The text is a {type(text).__name__}.",
            "Expected one string; ready model inputs are a keyword.",
            "Write analyze(model, inputs=…).",
        )
    _require_string(text, "text")
    if (text is None) == (inputs is None):
        raise BadInput(
            "There are both a text and inputs." if text is not None else "There is no text.",
            "Expected either a text or ready inputs.",
            "Write analyze(model, text) or analyze(model, inputs=…).",
        )
    if inputs is not None and not isinstance(inputs, Mapping):
        raise BadInput(
            f"inputs is a {type(inputs).__name__}.",
            "Expected a mapping of the model's own inputs, such as input_ids.",
            "Give what the tokenizer or processor returned: inputs=processor(…).",
        )


def _require_string(value: Any, name: str) -> None:
    if value is not None and not isinstance(value, str):
        raise BadInput(
            f"The {name} is a {type(value).__name__}.",
            "Expected one string.",
            "Use normviz.analyze_many for several texts.",
        )


def _require_iterable(values: Any, name: str) -> None:
    """Refuse one string, a tokenizer, or nothing to iterate over, where texts belong."""
    if isinstance(values, str):
        raise BadInput(
            f"{name} is one string.",
            "Expected an iterable of strings.",
            f"Write [{name.removesuffix('s')}], or use normviz.analyze for one text.",
        )
    if isinstance(values, Tokenizer):
        raise BadInput(
            f"{name} is a tokenizer.",
            "The second argument is the texts; the tokenizer is a keyword.",
            "Write analyze_many(model, texts, tokenizer=tokenizer).",
        )
    if not isinstance(values, Iterable):
        raise BadInput(
            f"{name} is a {type(values).__name__}.",
            "Expected an iterable of strings.",
            f"Give a list: {name}=[…].",
        )


def _refuse_with_inputs(inputs: Any, **options: Any) -> None:
    """Refuse options that only concern a text, beside ready inputs."""
    for name, value in options.items():
        if inputs is not None and value is not None:
            raise BadInput(
                f"{name} is given beside inputs.",
                f"Ready inputs are used as they are; {name} is for a text.",
                f"Leave {name} out, or give a text instead of inputs.",
            )

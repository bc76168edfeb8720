"""The story in one function: a model and a text in, a flow out."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice, zip_longest
from typing import Any

import torch

from normviz.core.axes import Said
from normviz.core.catalog import DEFAULT
from normviz.core.flow import Flow
from normviz.errors import BadInput
from normviz.model import inputs as room
from normviz.model.capture.patching import eval_mode
from normviz.model.inputs import ModelInputs, has_encoder
from normviz.model.loading import LoadedModel, load_model
from normviz.model.options import Options
from normviz.model.run import run_batch
from normviz.model.targets import with_continuation, with_generation, with_target


def analyze(
    model: Any,
    tokenizer: Any = None,
    text: Said | None = None,
    pair: str | None = None,
    *,
    target: str | None = None,
    generate: int = 0,
    inputs: Mapping[str, Any] | None = None,
    measures: str | Iterable[str] = DEFAULT,
    layers: Collection[int] | None = None,
    heads: Collection[int] | None = None,
    dtype: str | torch.dtype | None = None,
    truncate: bool = False,
    memory: Any = None,
    biases: str = "source",
    effective: str = "bias",
    samples: Any = None,
    seed: Any = 0,
    norm: str = "frobenius",
    origin: str = "after-norm",
    rows: str = "normalized",
) -> Flow:
    """Run a model once on a text, and measure what its attention moved.

    Parameters
    ----------
    model
        A transformers model, its name, a folder, `"demo"` (a trained BERT), `"demo-decoder"` (a
        trained Llama) or `"demo-translator"` (a small Marian from Spanish to English). The model
        comes back exactly as it was.
    tokenizer
        The model's tokenizer, or its name. Not needed where the model is named; the text may then
        stand in its place: `analyze("demo", "The cat sat.")`.
    text, pair
        The text, and a second one for models that read pairs.
    target
        What the model is to have written: the translation for an encoder–decoder, the continuation
        for a language model. It is read in one pass, as if the model had written it.
    generate
        How many tokens the model is to write itself (greedily), instead of `target`.
    inputs
        Ready model inputs of any modality, instead of `text`.
    measures
        Ids from the catalog, or `"all"`. The first four cost next to nothing; the rungs of the
        ladder from `feed-forward` on cost about as many passes as there are tokens. What is made
        of other measures (`rollout:layer-output`) needs only its own name. `"all"` is all that the
        model has, but for what takes minutes: `attention-flow`, the attributions by gradient (as many
        passes as there are tokens times the width of the model, or `samples`) and
        `value-zeroing-output`.
    layers, heads
        Which layers and heads to keep, numbered from 0; all by default.
    dtype
        The precision to run in, such as `"float64"`.
    truncate
        Cut a text that is too long instead of refusing it.
    memory
        How many bytes the ladder's vectors may take; by default a share of what is free.
    biases
        What a bias is to an activation: a `"source"` among others, whose part grows and shrinks
        like any other, or a `"constant"`, so that only tokens are followed. Both add up.
    effective
        What `effective-weight` leaves out of α (Brunner et al. 2020): `"bias"`, all that cannot
        reach the head's output, of the model's own values; `"paper"`, the same of the values
        without their bias, so that the real output may change; `"stochastic"`, only as much as
        leaves each row its sum.
    samples, seed
        For the attributions by gradient: how many random directions to try for each token, instead
        of every direction there is, and where the random numbers begin. The squared norm is
        estimated without bias; the receipt states the standard error.
    norm
        The norm of a derivative: `"frobenius"`, or `"spectral"` (slow: a singular value for each
        pair of tokens).
    origin
        Where the input is taken: `"after-norm"`, what enters the first layer, or `"before-norm"`,
        what the norm of the embeddings is given, where a model has one.
    rows
        `"normalized"`, so that each query's attributions add up to one, or `"raw"`; also for
        value zeroing.

    Returns
    -------
    Flow
        The measures, the tokens and a receipt.

    Raises
    ------
    NormvizError
        One of its kinds, saying what was found, what was wanted and what to do.
    """
    slope = {"samples": samples, "seed": seed, "norm": norm, "origin": origin, "rows": rows}
    options = Options.asked(measures, layers, heads, memory, biases, effective=effective, **slope)
    if text is None and inputs is None and isinstance(tokenizer, str):
        text, tokenizer = tokenizer, None
    loaded = load_model(model, tokenizer, dtype=dtype)
    prepared = _prepared(loaded, text, pair, inputs, truncate=truncate)
    return _one(loaded, _finished(prepared, target, generate), options)


def _one(loaded: LoadedModel, prepared: ModelInputs, options: Options) -> Flow:
    if prepared.batch != 1:
        raise BadInput(
            f"The inputs hold {prepared.batch} sequences.",
            "analyze takes one.",
            "Use normviz.analyze_many for several.",
        )
    return next(run_batch(loaded, prepared, options))


def analyze_many(
    model: Any,
    tokenizer: Any = None,
    texts: Iterable[str] = (),
    *,
    targets: Iterable[str] | None = None,
    batch_size: int = 8,
    measures: str | Iterable[str] = DEFAULT,
    layers: Collection[int] | None = None,
    heads: Collection[int] | None = None,
    dtype: str | torch.dtype | None = None,
    truncate: bool = False,
    memory: Any = None,
    biases: str = "source",
    effective: str = "bias",
    **slope: Any,
) -> Iterator[Flow]:
    """Analyze texts in padded batches; yields one flow for each, in order, padding dropped.

    Takes what `analyze` takes; above attention, texts are run one by one.

    Parameters
    ----------
    model, tokenizer
        As for `analyze`.
    texts
        Any iterable; it is read as the flows are asked for.
    targets
        For an encoder–decoder: as many, a translation of each text.
    batch_size
        How many texts are run together.
    measures, layers, heads, dtype, truncate, memory, biases, effective
        As for `analyze`.
    **slope
        What `analyze` says of gradients: `samples`, `seed`, `norm`, `origin`, `rows`.
    """
    options = Options.asked(measures, layers, heads, memory, biases, effective=effective, **slope)
    loaded = load_model(model, tokenizer, dtype=dtype)
    waiting = _with_targets(loaded, texts, targets)
    while batch := list(islice(waiting, 1 if options.one_by_one else batch_size)):
        said = [text for text, _ in batch]
        prepared = room.from_texts(loaded.model, loaded.tokenizer, said, truncate=truncate)
        if targets is not None:
            prepared = with_target(prepared, [target for _, target in batch])
        for flow, (text, target) in zip(run_batch(loaded, prepared, options), batch, strict=True):
            yield Flow(flow.streams, flow.receipt, f"{text} → {target}" if target else text)


def _with_targets(
    loaded: LoadedModel, texts: Iterable[str], targets: Iterable[str] | None
) -> Iterator[tuple[str, str]]:
    """Each text with its target, or with an empty one where there are to be none."""
    if has_encoder(loaded.model) != (targets is not None):
        said = "is an encoder–decoder, and there are no" if targets is None else "has no use for"
        raise BadInput(
            f"{loaded.name} {said} targets.",
            "An encoder–decoder needs a target for each text; other models have none.",
            "Give targets=…, one for each text." if targets is None else "Leave targets out.",
        )
    if targets is None:
        return ((text, "") for text in texts)
    return _paired(texts, targets)


def _paired(texts: Iterable[str], targets: Iterable[str]) -> Iterator[tuple[str, str]]:
    for text, target in zip_longest(texts, targets):
        if text is None or target is None:
            raise BadInput(
                f"There are fewer {'texts' if text is None else 'targets'} than the other.",
                "Every text needs a target of its own.",
                "Give as many targets as texts, in the same order.",
            )
        yield text, target


def _prepared(
    loaded: LoadedModel,
    text: Said | None,
    pair: str | None,
    inputs: Mapping[str, Any] | None,
    *,
    truncate: bool,
) -> ModelInputs:
    if (text is None) == (inputs is None):
        raise BadInput(
            "There are both a text and inputs." if text is not None else "There is no text.",
            "Either a text or ready inputs are wanted.",
            "Write analyze(model, tokenizer, text) or analyze(model, inputs=…).",
        )
    if inputs is not None:
        return room.from_inputs(loaded.model, loaded.tokenizer, inputs)
    if not isinstance(text, str):
        raise BadInput(
            f"The text is a {type(text).__name__}.",
            "One string is wanted.",
            "Use normviz.analyze_many for several texts.",
        )
    pairs = None if pair is None else [pair]
    return room.from_texts(loaded.model, loaded.tokenizer, [text], pairs, truncate=truncate)


def _finished(prepared: ModelInputs, target: str | None, generate: int) -> ModelInputs:
    """The inputs with what the model has written, or is to have written."""
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
        if has_encoder(prepared.model) and prepared.ids("decoder") is None:
            raise BadInput(
                "This model is an encoder–decoder, and there is nothing for its decoder.",
                "The decoder needs a text of its own.",
                "Give target=… (its translation), or generate=… (how many tokens to write).",
            )
        return prepared
    if has_encoder(prepared.model):
        return with_target(prepared, [target])
    return with_continuation(prepared, target)


def check(model: Any, tokenizer: Any = None, *, measures: str | Iterable[str] = DEFAULT) -> Flow:
    """The flow of a short text (and its target) through a model, for its receipt's sake.

    Parameters
    ----------
    model, tokenizer
        As for `analyze`.
    measures
        What to check: by default attention alone; `"all"` climbs the ladder too.
    """
    text, answer = "The quick brown fox jumps over the lazy dog.", "It runs."
    loaded = load_model(model, tokenizer)
    prepared = _prepared(loaded, text, None, None, truncate=False)
    target = answer if has_encoder(loaded.model) else None
    return _one(loaded, _finished(prepared, target, 0), Options.asked(measures))

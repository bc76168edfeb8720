"""A name, a folder, a model object or `demo`, turned into a model with its tokenizer."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import nn
from transformers.utils import logging

from normviz.errors import BadInput, ModelNotFound
from normviz.model import demo
from normviz.model.limits import origin_of
from normviz.system import progress


@dataclass(frozen=True)
class LoadedModel:
    """A model ready to run, its tokenizer where there is one, and what to call it."""

    model: nn.Module
    tokenizer: Any
    name: str


def load_model(
    model: Any,
    tokenizer: Any = None,
    *,
    dtype: str | torch.dtype | None = None,
    needs_tokenizer: bool = True,
) -> LoadedModel:
    """Return the model and its tokenizer, from a name, a folder or a model object.

    A model object is never changed; with another `dtype`, a copy of it runs. Its tokenizer is
    looked for where it was loaded from, if one is needed and none is given.
    """
    require_tokenizer_like(tokenizer)
    precision = _dtype(dtype)
    if isinstance(model, nn.Module):
        return _load_object(model, tokenizer, precision, needs_tokenizer=needs_tokenizer)
    if isinstance(model, str | Path):
        return _load_named(str(model), tokenizer, precision)
    raise BadInput(
        f"The model is a {type(model).__name__}.",
        'Expected a transformers model, its name, a folder, or "demo".',
        "Give the model object itself, not its outputs or weights.",
    )


def require_tokenizer_like(tokenizer: Any) -> None:
    """Refuse what cannot be a tokenizer or the name of one, such as a text."""
    if tokenizer is None or callable(tokenizer):
        return
    is_name = isinstance(tokenizer, str | Path)
    if is_name and (len(str(tokenizer).split()) == 1 or Path(tokenizer).is_dir()):
        return
    raise BadInput(
        f"The tokenizer is {tokenizer!r}."
        if is_name
        else f"The tokenizer is a {type(tokenizer).__name__}.",
        "Expected a tokenizer object, its name, or a folder.",
        "Give the text as the second argument: analyze(model, text, tokenizer=tokenizer).",
    )


def _dtype(dtype: str | torch.dtype | None) -> torch.dtype | None:
    known = getattr(torch, dtype, None) if isinstance(dtype, str) else dtype
    if dtype is not None and not (isinstance(known, torch.dtype) and known.is_floating_point):
        raise BadInput(
            f"dtype is {dtype!r}.",
            "Expected a floating-point type of torch.",
            'Use "float64", "float32", "bfloat16" or "float16".',
        )
    return known


def _load_object(
    model: nn.Module, tokenizer: Any, dtype: torch.dtype | None, *, needs_tokenizer: bool
) -> LoadedModel:
    model = getattr(model, "_orig_mod", model)  # a compiled model hides the one with the modules
    origin = origin_of(model)
    name = str(getattr(model, "name_or_path", "") or type(model).__name__)
    name = "/".join(Path(name).parts[-2:]) if Path(name).is_absolute() else name
    if dtype is not None and any(p.dtype != dtype for p in model.parameters()):
        model = copy.deepcopy(model).to(dtype)
    if isinstance(tokenizer, str | Path):
        tokenizer = _load_tokenizer(str(tokenizer))
    elif tokenizer is None and needs_tokenizer and origin:
        with quiet_progress_bars():
            tokenizer = _find_tokenizer(origin)
    return LoadedModel(model, tokenizer, name)


def _load_named(name: str, tokenizer: Any, dtype: torch.dtype | None) -> LoadedModel:
    options = {} if dtype is None else {"dtype": dtype}
    try:
        with quiet_progress_bars():
            if name in demo.DEMOS:
                model, own = demo.load_demo(name, **options)
            else:
                model_class = _class_of(transformers.AutoConfig.from_pretrained(name))
                model = model_class.from_pretrained(name, **options)
                own = _find_tokenizer(name) if tokenizer is None else None
    except (OSError, ValueError) as error:
        raise ModelNotFound(
            f"No model could be loaded as {name!r} ({_first_line(error)}).",
            "Expected a hub name that can be reached, a folder with config.json and weights, a "
            'model object, or "demo".',
            "Check the spelling and the connection, or load the model yourself and give it here.",
        ) from error
    if isinstance(tokenizer, str | Path):
        tokenizer = _load_tokenizer(str(tokenizer))
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return LoadedModel(model.to(device).eval(), own if tokenizer is None else tokenizer, name)


@contextmanager
def quiet_progress_bars() -> Iterator[None]:
    """Hide transformers' progress bars inside the block, unless somebody is looking."""
    hide = logging.is_progress_bar_enabled() and not progress.is_interactive()
    if hide:
        logging.disable_progress_bar()
    try:
        yield
    finally:
        if hide:
            logging.enable_progress_bar()


def _class_of(config: Any) -> Any:
    """Return the class a checkpoint was saved from, so that it keeps its head."""
    architectures = getattr(config, "architectures", None) or [""]
    return getattr(transformers, architectures[0], transformers.AutoModel)


def _find_tokenizer(origin: str) -> Any:
    """Return the tokenizer beside a model, or None: models of images and audio have none."""
    try:
        return _load_tokenizer(origin)
    except ModelNotFound:
        return None


def _load_tokenizer(name: str) -> Any:
    try:
        return transformers.AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError) as error:
        raise ModelNotFound(
            f"No tokenizer could be loaded as {name!r} ({_first_line(error)}).",
            "Expected a hub name that can be reached, or a folder with a tokenizer.",
            "Give the tokenizer object, or ready model inputs with inputs=….",
        ) from error


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]

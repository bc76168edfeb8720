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
from normviz.system import progress


@dataclass(frozen=True)
class LoadedModel:
    """A model ready to run, its tokenizer where there is one, and what to call it."""

    model: nn.Module
    tokenizer: Any
    name: str


def load_model(
    model: Any, tokenizer: Any = None, *, dtype: str | torch.dtype | None = None
) -> LoadedModel:
    """The model and tokenizer behind whatever was given.

    A model object is used as it is, never changed; with another `dtype`, a copy of it runs.
    """
    wanted = _dtype(dtype)
    if isinstance(model, nn.Module):
        return _given(model, tokenizer, wanted)
    if isinstance(model, str | Path):
        return _named(str(model), tokenizer, wanted)
    raise BadInput(
        f"The model is a {type(model).__name__}.",
        'A transformers model, its name, a folder, or "demo" is wanted.',
        "Give the model object itself, not its outputs or weights.",
    )


def _dtype(dtype: str | torch.dtype | None) -> torch.dtype | None:
    found = getattr(torch, dtype, None) if isinstance(dtype, str) else dtype
    if dtype is not None and not (isinstance(found, torch.dtype) and found.is_floating_point):
        raise BadInput(
            f"dtype is {dtype!r}.",
            "A floating-point type of torch is wanted.",
            'Use "float64", "float32", "bfloat16" or "float16".',
        )
    return found


def _given(model: nn.Module, tokenizer: Any, dtype: torch.dtype | None) -> LoadedModel:
    model = getattr(model, "_orig_mod", model)  # a compiled model hides the one that can be heard
    name = str(getattr(model, "name_or_path", "") or type(model).__name__)
    name = "/".join(Path(name).parts[-2:]) if Path(name).is_absolute() else name
    if dtype is not None and any(p.dtype != dtype for p in model.parameters()):
        model = copy.deepcopy(model).to(dtype)
    if isinstance(tokenizer, str | Path):
        tokenizer = _tokenizer(str(tokenizer))
    return LoadedModel(model, tokenizer, name)


def _named(name: str, tokenizer: Any, dtype: torch.dtype | None) -> LoadedModel:
    options = {} if dtype is None else {"dtype": dtype}
    try:
        with loading():
            if name in demo.DEMOS:
                model, own = demo.load(name, **options)
            else:
                kind = _class_of(transformers.AutoConfig.from_pretrained(name))
                model = kind.from_pretrained(name, **options)
                own = _own_tokenizer(name) if tokenizer is None else None
    except (OSError, ValueError) as error:
        raise ModelNotFound(
            f"No model could be loaded as {name!r} ({_first_line(error)}).",
            "A hub name that can be reached, a folder with config.json and weights, a model "
            'object, or "demo" is wanted.',
            "Check the spelling and the connection, or load the model yourself and give it here.",
        ) from error
    if isinstance(tokenizer, str | Path):
        tokenizer = _tokenizer(str(tokenizer))
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return LoadedModel(model.to(device).eval(), own if tokenizer is None else tokenizer, name)


@contextmanager
def loading() -> Iterator[None]:
    """Let transformers show its own bars only where somebody is looking."""
    hush = logging.is_progress_bar_enabled() and not progress.seen()
    if hush:
        logging.disable_progress_bar()
    try:
        yield
    finally:
        if hush:
            logging.enable_progress_bar()


def _class_of(config: Any) -> Any:
    """The class a checkpoint was saved from, so that it can generate where it could before."""
    architectures = getattr(config, "architectures", None) or [""]
    return getattr(transformers, architectures[0], transformers.AutoModel)


def _own_tokenizer(name: str) -> Any:
    """The tokenizer beside a model; models of pictures and sounds have none."""
    try:
        return _tokenizer(name)
    except ModelNotFound:
        return None


def _tokenizer(name: str) -> Any:
    try:
        return transformers.AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError) as error:
        raise ModelNotFound(
            f"No tokenizer could be loaded as {name!r} ({_first_line(error)}).",
            "A hub name that can be reached, or a folder with a tokenizer, is wanted.",
            "Give the tokenizer object, or ready model inputs with inputs=….",
        ) from error


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]

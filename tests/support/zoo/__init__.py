"""One tiny random model of every type that transformers knows, with inputs that fit it.

    specimen = zoo.build("llava")
    specimen.model(**specimen.inputs)

Nothing is imported before it is needed: building one type does not import the others.
"""

import contextlib
import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import nn

    TYPES: tuple[str, ...]
    """The names of all types that can be built, variants included."""
    NOT_BUILT: dict[str, str]
    """The types that cannot be built here, and why."""


@dataclass(frozen=True)
class Specimen:
    """A tiny model in evaluation mode, and inputs for it."""

    name: str
    model: "nn.Module"
    inputs: dict[str, Any]

    @property
    def tokens(self) -> int:
        """How many tokens its text has, placeholders of images and sounds included; 0 without."""
        ids = self.inputs.get("input_ids")
        return 0 if ids is None else int(ids.shape[-1])


def __getattr__(name: str) -> Any:
    if name == "TYPES":
        from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

        from .not_built import NOT_BUILT
        from .table import ENTRIES

        names = {*CONFIG_MAPPING_NAMES, *ENTRIES} - {*NOT_BUILT}
        return tuple(sorted(names))
    if name == "NOT_BUILT":
        from .not_built import NOT_BUILT

        return NOT_BUILT
    raise AttributeError(name)


def build(name: str, *, attention: str | None = None) -> Specimen:
    """Return a tiny model of a type, always the same one, and inputs for it."""
    import torch
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    from .inputs import make_inputs
    from .shrink import shrink
    from .table import ENTRIES, Entry
    from .weights import spread_weights

    entry = ENTRIES.get(name, Entry())
    kind = entry.kind or name
    cls = CONFIG_MAPPING[kind]
    config = shrink(cls, entry.sizes)
    torch.manual_seed(0)
    model_class = find_model_class(kind, cls, entry.model)
    options = {"attn_implementation": attention} if attention else {}
    with pretending(entry.pretend):
        model = model_class._from_config(config, **options).float().eval()
    spread_weights(model, name)
    given = entry.inputs(model) if entry.inputs is not None else {}
    inputs = given if entry.only else make_inputs(model, given)
    return Specimen(name, model, inputs)


@contextlib.contextmanager
def pretending(packages: tuple[str, ...]) -> "Iterator[None]":
    """Let transformers believe that packages are installed."""
    from transformers.utils.import_utils import BACKENDS_MAPPING

    before = {name: BACKENDS_MAPPING[name] for name in packages}
    BACKENDS_MAPPING.update({name: (lambda: True, "") for name in packages})
    try:
        yield
    finally:
        BACKENDS_MAPPING.update(before)


def find_model_class(kind: str, config_class: type, name: str = "") -> Any:
    """Return the class of the plain model, or of the one with the most common head."""
    name = name or find_auto_class(kind)
    module = config_class.__module__.replace("configuration_", "modeling_")
    if name:
        import transformers

        return getattr(transformers, name, None) or getattr(importlib.import_module(module), name)
    from transformers import PreTrainedModel

    found = [
        cls
        for cls in vars(importlib.import_module(module)).values()
        if isinstance(cls, type)
        and issubclass(cls, PreTrainedModel)
        and cls.config_class is config_class
        and not cls.__name__.endswith("PreTrainedModel")
    ]
    if not found:
        raise LookupError(f"no model class has the configuration {config_class.__name__}")
    return next((cls for cls in found if cls.__name__.endswith("Model")), found[0])


def find_auto_class(kind: str) -> str:
    """Return the name of the class that an Auto class of transformers has for a type, or ''."""
    from transformers.models.auto import modeling_auto

    mappings = [n for n in vars(modeling_auto) if n.startswith("MODEL_") and n.endswith("_NAMES")]
    for mapping in ("MODEL_MAPPING_NAMES", *mappings):
        if found := getattr(modeling_auto, mapping).get(kind):
            return found if isinstance(found, str) else found[0]
    return ""

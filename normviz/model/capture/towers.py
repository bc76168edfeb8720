"""The towers of a model: which list of layers an attention is in, and what a tower is called."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from torch import nn

MODALITIES = {
    "vision": ("vision", "visual", "image", "pixel", "vit", "video"),
    "audio": ("audio", "speech", "acoustic", "wav"),
    "text": ("text", "language", "llm", "lm"),
}
"""The words in module names that say what a tower reads."""
COMMON = {
    "model", "base_model", "encoder", "decoder", "layers", "layer", "blocks", "block", "h",
    "attention", "transformer", "resblocks",
}  # fmt: skip
"""The words in module names that do not tell towers apart."""


@dataclass(frozen=True, eq=False)
class LayerPosition:
    """Where a module stands in a list of modules."""

    tower: str
    """The path of the list."""
    number: int
    owner: nn.Module
    """The module that has the list."""
    is_uniform: bool
    """Whether the list has several modules, all of one class."""


class LayerLists:
    """Knows every module of a model that is an element of a list, and where it stands."""

    def __init__(self, model: nn.Module) -> None:
        self.lists: dict[str, nn.Module] = {}
        self.positions: dict[nn.Module, LayerPosition] = {}
        modules = dict(model.named_modules())
        for path, module in modules.items():
            if not isinstance(module, nn.ModuleList | nn.Sequential) or not len(module):
                continue
            owner_path = path
            while isinstance(modules[owner_path], nn.ModuleList) and owner_path:
                owner_path = owner_path.rpartition(".")[0]
            uniform = len(module) > 1 and len({type(element) for element in module}) == 1
            self.lists[path] = module
            for number, element in enumerate(module):
                position = LayerPosition(path, number, modules[owner_path], uniform)
                self.positions.setdefault(element, position)
        self.owners = {position.owner for position in self.positions.values()}

    def find_layer(self, running: Iterable[nn.Module], attention: nn.Module) -> nn.Module | None:
        """Return which of the running modules is the layer of an attention.

        The innermost element of a list of like modules, other than the attention itself; else the
        outermost element of any list.
        """
        elements = [module for module in running if module in self.positions]
        like = [m for m in elements if self.positions[m].is_uniform and m is not attention]
        return like[-1] if like else elements[0] if elements else None

    def describe_others(self, tower: str, numbers: Iterable[int]) -> dict[int, str]:
        """Return the layers of a tower that are not among these, with what they have instead."""
        layers = list(self.lists[tower].children()) if tower in self.lists else []
        present = {number for number in numbers if number < len(layers)}
        usual = {name for number in present for name in _part_names(layers[number])}
        others = {}
        for number, layer in enumerate(layers):
            if number not in present:
                own = [name for name in _part_names(layer) if name not in usual]
                mixers = [name for name in own if not re.search("Norm|Mlp|MLP", name)]
                others[number] = ", ".join(mixers or own) or type(layer).__name__
        return others


def _part_names(layer: nn.Module) -> list[str]:
    """Return the classes of a layer's own parts."""
    return list(dict.fromkeys(type(part).__name__ for part in layer.children()))


def modality_of(path: str) -> str | None:
    """Return what a tower reads, where its path says so."""
    parts = re.split(r"[._]", path)
    for modality, words in MODALITIES.items():
        if any(word in parts for word in words):
            return modality
    return None


def name_towers(paths: Sequence[str]) -> Mapping[str, str]:
    """Return a short name for each tower: what it reads, and what else tells it from the others."""
    short = {path: modality_of(path) or "" for path in paths}
    for path in paths:
        alike = [other for other in paths if short[other] == short[path] and other != path]
        if alike or not short[path]:
            short[path] = _distinguish(path, [other for other in paths if other != path])
    names: dict[str, str] = {}
    for path in paths:
        count, name = 2, short[path]
        while name in names.values():
            name, count = f"{short[path]}.{count}", count + 1
        names[path] = name
    return names


def _distinguish(path: str, others: Sequence[str]) -> str:
    """Return the modality and the parts of a path that no other path has in the same place."""
    parts = path.split(".")
    taken = [other.split(".") for other in others]
    own = [
        part
        for place, part in enumerate(parts)
        if not all(place < len(other) and other[place] == part for other in taken)
    ]
    telling = [part for part in own if part not in COMMON] or own[:1] or parts[-1:]
    modality = modality_of(path)
    words = [part for part in telling if modality is None or modality_of(part) != modality]
    return ".".join([modality, *words] if modality else words)

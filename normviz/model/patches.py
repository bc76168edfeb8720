"""Finding which token of a tower is which patch of an image, by changing one patch at a time."""

from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from normviz.model.capture.early_stop import StopForward
from normviz.model.capture.hooks import hook
from normviz.model.capture.patching import eval_mode

IMAGE_AXES = 4
"""An image of which patches are known has the axes of a batch: image, channel, row, column."""


@dataclass(frozen=True)
class TokenOrder:
    """Where the tokens of a text and the patches of an image lie in what enters a tower."""

    patches: int | None
    """The position of the first patch; the others follow row by row. None if that is not so."""
    text: int | None
    """The position of the first token of the text; None if the tower does not read it in order."""
    count: int = 0
    """How many tokens enter the tower."""


def locate_tokens(
    model: nn.Module, inputs: Mapping[str, Any], tower: str, grid: tuple[int, int] | None
) -> TokenOrder:
    """Return where text and patches lie in a tower, by changing some of them one at a time.

    A patch or a token of text must change exactly one of the vectors that enter the first layer,
    the one in its place. Where several change, or others, the order is not known.
    """
    try:
        first = model.get_submodule(f"{tower}.0")
    except AttributeError:
        return TokenOrder(None, None)
    prober = _Prober(model, inputs, first)
    return TokenOrder(
        patches=None if grid is None else prober.locate_patches(*grid),
        text=prober.locate_text(),
        count=0 if prober.unchanged is None else prober.unchanged.shape[-2],
    )


class _Prober:
    """Runs a model up to the first layer of a tower, with one thing changed in its inputs."""

    def __init__(self, model: nn.Module, inputs: Mapping[str, Any], first: nn.Module) -> None:
        self.model = model
        self.inputs = inputs
        self.first = first
        self.unchanged = self._enter(inputs)

    def locate_patches(self, rows: int, columns: int) -> int | None:
        """Return the position of the first patch of a grid, if all patches follow it in order."""
        pixels: Tensor = self.inputs["pixel_values"]
        height, width = pixels.shape[-2] // rows, pixels.shape[-1] // columns
        starts = set()
        for row, column in {(0, 0), (rows // 2, columns // 2), (rows - 1, columns - 1)}:
            changed = pixels.clone()
            changed[
                ..., row * height : (row + 1) * height, column * width : (column + 1) * width
            ] += 1
            position = self._changed_position("pixel_values", changed)
            starts.add(None if position is None else position - (row * columns + column))
        return starts.pop() if len(starts) == 1 else None

    def locate_text(self) -> int | None:
        """Return the position of the first token of the text, if all tokens follow it in order."""
        ids = self.inputs.get("input_ids")
        if not isinstance(ids, Tensor):
            return None
        starts = set()
        for index in {0, ids.shape[1] // 2, ids.shape[1] - 1}:
            changed = ids.clone()
            changed[:, index] = torch.where(changed[:, index] > 0, changed[:, index] - 1, 1)
            position = self._changed_position("input_ids", changed)
            starts.add(None if position is None else position - index)
        return starts.pop() if len(starts) == 1 else None

    def _changed_position(self, name: str, value: Tensor) -> int | None:
        """Return the only position whose vector is another with a changed input; else None."""
        entered = self._enter({**self.inputs, name: value})
        if self.unchanged is None or entered is None or entered.shape != self.unchanged.shape:
            return None
        differs = (entered != self.unchanged).any(dim=-1).flatten(0, -2).any(dim=0)
        positions = torch.nonzero(differs).flatten().tolist()
        return positions[0] if len(positions) == 1 else None

    def _enter(self, inputs: Mapping[str, Any]) -> Tensor | None:
        """Return the vectors that enter the first layer."""
        entered: list[Tensor] = []

        def stop(_layer: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            entered.extend(a for a in (*args, *kwargs.values()) if isinstance(a, Tensor))
            raise StopForward

        with ExitStack() as stack:
            stack.enter_context(eval_mode(list(self.model.modules())))
            hook(stack, self.first.register_forward_pre_hook, stop, with_kwargs=True)
            # A changed text may be refused by the model, such as one without its image tokens.
            with suppress(StopForward, ValueError, RuntimeError, IndexError):
                self.model(**inputs)
        return entered[0] if entered and entered[0].ndim == 3 else None  # noqa: PLR2004
